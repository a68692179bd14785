//! A cost model that ranks the alternatives of a kernel without running them.
//!
//! For GPUs an analytical model in the form of a roofline (`gpu`): the time of a block is bounded by the scheduler, by each
//! pipeline, by the caches and the memory, and by latency, which what is resident hides by Little's law. Its ingredients are
//! those of S. Hong and H. Kim, *An Analytical Model for a GPU Architecture with Memory-level and Thread-level Parallelism
//! Awareness* (ISCA 2009): their warp parallelism of memory (MWP) is what bandwidth and latency allow, of computation (CWP)
//! what the scheduler allows. For CPUs a sum of costs (`cpu`).
//!
//! Times are relative: only those of one kernel and one processor may be compared.
//!
//! # What enters
//!
//! *GPU*: a roofline with the ingredients of Hong and Kim (ISCA 2009). A block's time is the largest (by a norm) of
//! issue, four pipelines, the load-store unit, L2, memory, and latency: a warp's own time divided by the blocks resident. Coarsening enters by
//! what the copies share, loads in flight, the assembler's registers and spills (or an estimate from values alive), shared memory, waves of the grid, launches
//! for what is left over, and size of the code. Assumed: aligned arrays, caches hit only by accesses near each other, a grid of three sizes
//! where it is not known, 256 threads in x where the block is not known, 32 for every other unknown. *CPU*: a block's time is its start, that of its loops
//! over threads, and rows of vectors times the work of a body, more expensive for copies side by side, narrow rows and spills; its eight constants are fitted to six of
//! the programs of `rodinia`. To that come the start of each task, and cores that wait for the last tasks; a number of blocks per task must beat the usual by
//! the margin too. An alternative is taken if it is predicted 10% better than the original, on a CPU 25%: what it cannot see there, above all whether
//! blocks still go as one (`lower_cpu/runs`), costs more than that. In two of the 17 programs of `rodinia/idioms` that were tried it took another grain for a gain of
//! 10 to 15%: measured, one took 2.0 times as long and the other 1.2.

mod cpu;
mod gpu;

use std::fmt;

use serde::Serialize;

use crate::expr::{Bindings, number};
use crate::limits::{CpuLimits, GpuLimits};
use crate::occupancy::Resources;
use crate::statistics::Statistics;

/// Threads of an original block where its size is not known.
const USUAL_THREADS: f64 = 256.0;

/// The value of symbols that are not known, as trip counts and arguments.
const USUAL_VALUE: f64 = 32.0;

/// Blocks of an original grid in formulas where its size is not known.
const USUAL_BLOCKS: f64 = 65536.0;

/// What a kernel is to run on.
#[derive(Clone, Copy, Debug)]
pub enum Processor<'a> {
    /// A GPU.
    Gpu(&'a GpuLimits),
    /// A CPU.
    Cpu(&'a CpuLimits),
}

impl Processor<'_> {
    /// The gain by the model that an alternative must have over the original.
    pub fn margin(&self) -> f64 {
        match self {
            Self::Gpu(limits) => limits.margin,
            Self::Cpu(limits) => limits.margin,
        }
    }
}

/// How a kernel is launched, in blocks and threads of the original grain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Blocks, where they are known.
    pub grid: Option<[u64; 3]>,
    /// Threads of a block, where they are known.
    pub block: Option<[u64; 3]>,
}

impl Shape {
    /// What statistics say of the launch: sizes that are constants, multiplied by the grain.
    pub fn of(statistics: &Statistics) -> Self {
        let constants = |sizes: &[crate::expr::Expr; 3], grain: [i64; 3]| {
            let size = |axis: usize| {
                let size = sizes[axis].as_constant().filter(|size| *size >= 1.0)?;
                Some(size as u64 * grain[axis].max(1).unsigned_abs())
            };
            Some([size(0)?, size(1)?, size(2)?])
        };
        Self {
            grid: constants(&statistics.grid, statistics.blocks),
            block: constants(&statistics.block, statistics.threads),
        }
    }

    fn blocks(&self) -> f64 {
        self.grid.map_or(USUAL_BLOCKS, |grid| grid.iter().product::<u64>().max(1) as f64)
    }

    /// Values for the symbols of statistics.
    fn bindings(&self) -> Bindings {
        let grid = self.grid.map_or([USUAL_BLOCKS, 1.0, 1.0], |grid| grid.map(|size| size as f64));
        let block = self.block.map_or([USUAL_THREADS, 1.0, 1.0], |block| block.map(|size| size as f64));
        let mut bindings = Bindings::new(USUAL_VALUE).with("sharedBytes", 0.0);
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            bindings =
                bindings.with(&format!("gridDim.{name}"), grid[axis]).with(&format!("blockDim.{name}"), block[axis]);
        }
        bindings
    }
}

/// An alternative to be ranked.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Of the launch that does most of the work.
    pub statistics: &'a Statistics,
    /// By the assembler's report; without them registers are estimated.
    pub resources: Option<&'a Resources>,
    /// Further launches for what is left over, which may turn out empty.
    pub epilogues: u32,
    /// Blocks of a task on a CPU, where they are asked for.
    pub tasks: Option<u32>,
}

/// What the time of an alternative is bounded by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Instructions issued.
    Issue,
    /// 32-bit floating-point arithmetic.
    F32,
    /// 64-bit floating-point arithmetic.
    F64,
    /// Integer arithmetic.
    Integer,
    /// Special functions and conversions.
    Special,
    /// Loads and stores, shared memory and the first-level cache.
    LoadStore,
    /// The second-level cache.
    L2,
    /// Memory bandwidth.
    Memory,
    /// Blocks that the chip begins.
    Dispatch,
    /// Waiting for results, with too little else to do meanwhile.
    Latency,
    /// It cannot be launched at all.
    Unlaunchable,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Issue => "issue",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Integer => "integer",
            Self::Special => "special functions",
            Self::LoadStore => "loads and stores",
            Self::L2 => "second-level cache",
            Self::Memory => "memory bandwidth",
            Self::Dispatch => "the start of blocks",
            Self::Latency => "latency",
            Self::Unlaunchable => "cannot be launched",
        })
    }
}

/// What the model says of an alternative.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// Cycles of one unit, or of one core, for one original block; infinite for what cannot be launched.
    pub time: f64,
    /// What bounds it most.
    pub bound: Bound,
    /// The numbers on the way, by name, in the order of calculation.
    pub terms: Vec<(&'static str, f64)>,
    /// The time in grids of so many blocks, from small to large, where that is not known before the launch; none on a CPU.
    #[serde(skip)]
    pub in_grids: Vec<(u64, f64)>,
}

impl Prediction {
    /// A number on the way.
    pub fn term(&self, name: &str) -> Option<f64> {
        self.terms.iter().find(|(term, _)| *term == name).map(|(_, value)| *value)
    }

    fn unlaunchable(terms: Vec<(&'static str, f64)>) -> Self {
        Self { time: f64::INFINITY, bound: Bound::Unlaunchable, terms, in_grids: Vec::new() }
    }
}

/// As in a remark: `12.5 cycles per original block, bound by latency (warps 8, ...)`.
impl fmt::Display for Prediction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms: Vec<String> = self
            .terms
            .iter()
            .map(|(name, value)| format!("{name} {}", number((value * 100.0).round() / 100.0)))
            .collect();
        write!(f, "{:.1} cycles per original block, bound by {} ({})", self.time, self.bound, terms.join(", "))
    }
}

/// What the model says of an alternative.
pub fn predict(candidate: &Candidate<'_>, shape: &Shape, processor: &Processor<'_>) -> Prediction {
    match processor {
        Processor::Gpu(limits) => gpu::predict(candidate, shape, limits),
        Processor::Cpu(limits) => cpu::predict(candidate, shape, limits),
    }
}

/// The alternatives from the best to the worst; equal ones in their order.
pub fn rank(predictions: &[Prediction]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..predictions.len()).collect();
    order.sort_by(|a, b| predictions[*a].time.total_cmp(&predictions[*b].time));
    order
}

/// The alternative to take: the best if it is better than the first, which is the original, by the margin.
pub fn choose(predictions: &[Prediction], margin: f64) -> usize {
    let best = rank(predictions).first().copied().unwrap_or(0);
    match predictions.get(best).zip(predictions.first()) {
        Some((found, original)) if found.time < original.time * (1.0 - margin) => best,
        _ => 0,
    }
}
