//! What one thread of a kernel does at one grain, counted from the parallel form.
//!
//! A count says how often the warp of a thread runs an operation: conditions that no formula decides count one half for
//! each side, a side that only some threads take counts for their whole warp. Dividing by [`Statistics::original_threads`]
//! gives counts for each thread that the program wrote.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::expr::{Expr, number};
use crate::grain::Grain;

/// Kinds of operations that are not loads or stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Integer arithmetic, comparisons and addresses.
    Integer,
    /// 32-bit floating-point arithmetic; a fused multiplication and addition is one.
    F32,
    /// 64-bit floating-point arithmetic.
    F64,
    /// 16-bit floating-point arithmetic.
    F16,
    /// Integer divisions and remainders by what is no power of two.
    IntegerDivision,
    /// Floating-point divisions and square roots of 16 or 32 bits.
    FloatDivision,
    /// Divisions, roots and functions of 64 bits.
    F64Special,
    /// Functions of 16 or 32 bits: exponentials, logarithms, trigonometry.
    Special,
    /// Conversions between integers and floats, and between floats.
    Conversion,
    /// Choices without a branch.
    Select,
    /// Barriers of the block.
    Barrier,
    /// Shuffles, votes and other exchange within a warp.
    Warp,
    /// Branches that all threads of a warp take alike.
    UniformBranch,
    /// Branches that threads of a warp may take apart.
    DivergentBranch,
    /// Calls of functions that are not looked into.
    Call,
    /// Anything else.
    Other,
}

impl Kind {
    /// All kinds in the order of tables.
    pub const ALL: [Self; 16] = [
        Self::Integer,
        Self::F32,
        Self::F64,
        Self::F16,
        Self::IntegerDivision,
        Self::FloatDivision,
        Self::F64Special,
        Self::Special,
        Self::Conversion,
        Self::Select,
        Self::Barrier,
        Self::Warp,
        Self::UniformBranch,
        Self::DivergentBranch,
        Self::Call,
        Self::Other,
    ];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::F16 => "f16",
            Self::IntegerDivision => "integer division",
            Self::FloatDivision => "f32 division",
            Self::F64Special => "f64 special",
            Self::Special => "f32 special",
            Self::Conversion => "conversion",
            Self::Select => "select",
            Self::Barrier => "barrier",
            Self::Warp => "warp operation",
            Self::UniformBranch => "uniform branch",
            Self::DivergentBranch => "divergent branch",
            Self::Call => "call",
            Self::Other => "other",
        }
    }
}

/// Where memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Space {
    /// Memory of the device.
    Global,
    /// Memory of a block.
    Shared,
    /// Constants and kernel arguments.
    Constant,
    /// Memory of a thread.
    Local,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes in one step.
    Atomic,
}

/// How the addresses of the threads of a warp lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// All the same.
    Uniform,
    /// Neighbours are next to each other (or the same, or the next row begins).
    Coalesced,
    /// Neighbours are this many bytes apart; 0 where the distance is the same for all but not a constant.
    Strided(i64),
    /// No formula says it.
    Gather,
}

/// Accesses that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessGroup {
    /// Where.
    pub space: Space,
    /// What.
    pub access: Access,
    /// How the addresses of a warp lie.
    pub pattern: Pattern,
    /// Bytes of each access of a thread.
    pub bytes: u32,
    /// How often a thread does it.
    pub count: Expr,
    /// 32-byte sectors that a warp touches each time (global and local memory); parts of the cost in shared memory: how many
    /// times the banks are busy (1 without conflicts).
    pub transactions: f64,
    /// 128-byte lines that a warp touches each time; 1 in shared memory.
    pub lines: f64,
    /// The part of [`Self::count`] that is in a cache already: sectors that an access before it, or another warp of the block
    /// in the same access, has brought in.
    pub reused: Expr,
}

/// A loop of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loop {
    /// The name of its symbol, as `trip.0`.
    pub symbol: String,
    /// How often its body runs each time that it is entered.
    pub trip: Expr,
    /// Loops around it.
    pub depth: u32,
    /// Whether a barrier is in it.
    pub has_barrier: bool,
}

/// What one thread of a kernel does at one grain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// The kernel's name.
    pub kernel: String,
    /// Original blocks in a block, by dimension.
    pub blocks: [i64; 3],
    /// Original threads of one block in a thread, by dimension.
    pub threads: [i64; 3],
    /// Whether this runs what a coarser launch leaves over.
    pub epilogue: bool,
    /// Sizes of the grid, at this grain.
    pub grid: [Expr; 3],
    /// Sizes of a block, at this grain.
    pub block: [Expr; 3],
    /// Operations of a thread that are no loads or stores.
    pub counts: BTreeMap<Kind, Expr>,
    /// Memory accesses of a thread.
    pub memory: Vec<AccessGroup>,
    /// Loops, in the order of the program.
    pub loops: Vec<Loop>,
    /// How often a thread waits for loads of global memory: runs of loads without a use in between count once.
    pub global_waits: Expr,
    /// How often a thread waits for loads of shared memory.
    pub shared_waits: Expr,
    /// The longest run of loads before the first of them is used: loads in flight.
    pub longest_run: u32,
    /// Operations in the body, each counted once.
    pub size: u32,
    /// 32-bit values that are alive at once at the worst place.
    pub live: u32,
    /// Likewise between barriers, of values that differ between threads.
    pub live_in_segment: u32,
    /// Bytes of static shared memory of a block.
    pub static_shared: u64,
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: Expr,
    /// Bytes of a thread's own memory (arrays).
    pub local: u64,
}

impl Default for Statistics {
    /// Nothing, at the original grain.
    fn default() -> Self {
        let one = || [1.0, 1.0, 1.0].map(Expr::constant);
        Self {
            kernel: String::new(),
            blocks: [1; 3],
            threads: [1; 3],
            epilogue: false,
            grid: one(),
            block: one(),
            counts: BTreeMap::new(),
            memory: Vec::new(),
            loops: Vec::new(),
            global_waits: Expr::zero(),
            shared_waits: Expr::zero(),
            longest_run: 0,
            size: 0,
            live: 0,
            live_in_segment: 0,
            static_shared: 0,
            dynamic_shared: Expr::zero(),
            local: 0,
        }
    }
}

impl Statistics {
    /// The grain, which says nothing of tasks.
    pub fn grain(&self) -> Grain {
        Grain { blocks: self.blocks, threads: self.threads, tasks: None }
    }

    /// Original threads that a thread does the work of.
    pub fn original_threads(&self) -> i64 {
        self.grain().block_total() * self.grain().thread_total()
    }

    /// How often a thread runs operations of a kind.
    pub fn count(&self, kind: Kind) -> Expr {
        self.counts.get(&kind).cloned().unwrap_or_default()
    }

    /// How often a thread accesses memory in a way.
    pub fn accesses(&self, wanted: impl Fn(&AccessGroup) -> bool) -> Expr {
        let mut sum = Expr::zero();
        self.memory.iter().filter(|memory| wanted(memory)).for_each(|memory| sum += &memory.count);
        sum
    }

    /// Adds to the operations of a kind.
    pub fn add(&mut self, kind: Kind, count: &Expr) {
        *self.counts.entry(kind).or_default() += count;
    }

    /// Adds memory accesses, to those that are alike if there are any.
    pub fn add_memory(&mut self, memory: AccessGroup) {
        let alike = |other: &&mut AccessGroup| {
            (other.space, other.access, other.pattern, other.bytes)
                == (memory.space, memory.access, memory.pattern, memory.bytes)
                && (other.transactions - memory.transactions).abs() < 1e-9
                && (other.lines - memory.lines).abs() < 1e-9
        };
        match self.memory.iter_mut().find(alike) {
            Some(same) => {
                same.count += &memory.count;
                same.reused += &memory.reused;
            }
            None => self.memory.push(memory),
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Constant => "constant",
            Self::Local => "local",
        })
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic",
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.pad("uniform"),
            Self::Coalesced => f.pad("coalesced"),
            Self::Strided(0) => f.pad("strided by a variable"),
            Self::Strided(bytes) => f.pad(&format!("strided by {bytes} bytes")),
            Self::Gather => f.pad("gather"),
        }
    }
}

/// A table: one line for each count, for a thread, and for an original thread where that differs.
impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per = self.original_threads();
        let line = |f: &mut fmt::Formatter<'_>, name: &str, count: &Expr, rest: &str| {
            write!(f, "\n  {name}: {count}{rest}")?;
            if per > 1 { write!(f, "; per original thread {}", count.scaled(1.0 / per as f64)) } else { Ok(()) }
        };
        let [gx, gy, gz] = &self.grid;
        let [bx, by, bz] = &self.block;
        write!(f, "statistics of {} at grain {}", self.kernel, self.grain())?;
        if self.epilogue {
            write!(f, ", epilogue")?;
        }
        write!(f, "\n  grid: {gx}, {gy}, {gz}\n  block: {bx}, {by}, {bz}")?;
        for kind in Kind::ALL {
            let count = self.count(kind);
            if !count.is_zero() {
                line(f, kind.name(), &count, "")?;
            }
        }
        for memory in &self.memory {
            let AccessGroup { space, access, pattern, bytes, .. } = memory;
            let what = if *space == Space::Shared { "passes" } else { "sectors" };
            let mut rest = format!(" of {bytes} bytes, {} {what}", number(memory.transactions));
            if !memory.reused.is_zero() {
                rest += &format!(", {} cached", memory.reused);
            }
            line(f, &format!("{space} {access}, {pattern}"), &memory.count, &rest)?;
        }
        for found in &self.loops {
            write!(f, "\n  loop {}: {}", found.symbol, found.trip)?;
        }
        write!(f, "\n  loads in flight: {}", self.longest_run)?;
        for (name, count) in [("global waits", &self.global_waits), ("shared waits", &self.shared_waits)] {
            if !count.is_zero() {
                line(f, name, count, "")?;
            }
        }
        if self.static_shared > 0 {
            write!(f, "\n  static shared memory: {}", self.static_shared)?;
        }
        if !self.dynamic_shared.is_zero() {
            write!(f, "\n  dynamic shared memory: {}", self.dynamic_shared)?;
        }
        if self.local > 0 {
            write!(f, "\n  memory of a thread: {}", self.local)?;
        }
        write!(f, "\n  live values: {}, operations in the body: {}", self.live, self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Statistics {
        let mut made = Statistics { kernel: "k".into(), blocks: [2, 1, 1], ..Statistics::default() };
        made.add(Kind::F32, &Expr::symbol("arg1"));
        made.add(Kind::F32, &4.0.into());
        for _ in 0..2 {
            made.add_memory(AccessGroup {
                space: Space::Global,
                access: Access::Load,
                pattern: Pattern::Coalesced,
                bytes: 4,
                count: 3.0.into(),
                transactions: 4.0,
                lines: 1.0,
                reused: Expr::zero(),
            });
        }
        made
    }

    #[test]
    fn tables_give_counts_per_original_thread() {
        let text = sample().to_string();
        assert!(text.contains("statistics of k at grain b2x1x1"), "{text}");
        assert!(text.contains("f32: 4 + arg1; per original thread 2 + 0.5*arg1"), "{text}");
        assert!(text.contains("global load, coalesced: 6 of 4 bytes, 4 sectors; per original thread 3"), "{text}");
    }

    #[test]
    fn statistics_are_kept_as_data() {
        let text = serde_json::to_string(&sample()).unwrap_or_default();
        assert_eq!(serde_json::from_str::<Statistics>(&text).ok(), Some(sample()), "{text}");
    }
}
