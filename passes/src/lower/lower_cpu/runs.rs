//! Blocks that follow one another in x go as one, as long as threads ask for no more than their place in the grid.
//!
//! ```mlir
//! %first = llvm.mul %block_x, %size_x
//! scf.parallel (%x, %y, %z) = (0, 0, 0) to (%size_x, %size_y, %size_z) { %col = llvm.add %first, %x ; use(%col, %y, %z) }
//! ```
//! becomes
//! ```mlir
//! scf.parallel (%x, %y, %z) = (0, 0, 0) to (%size_x * %available, %size_y, %size_z) { %col = llvm.add %first, %x ; use(%col, %y, %z) }
//! ```
//! where the runtime says how many blocks there are from the one that it named. A row of threads is then as long as memory is: a block of
//! 16 threads in x would jump from a line of the cache to one in another page with each step in y. And one call does the work of many.
//!
//! The step to the next block adds one to its number and takes the threads of a block from the thread's own; what adds up to the same
//! before and after, modulo its width, is the same number in either way. Whatever else is done than to add must be done with such numbers.
//! Where a block goes so under a condition (`undo_staging.rs`), it is asked how far that holds along the row.
//!
//! A loop over rounds that the threads of a block go through together (`undo_staging.rs`) stands outside of their loop, and then outside of
//! that of all blocks: each round goes along the row. What one round reads again of the last should still be in a cache, so that no more
//! blocks go as one than have room there.
//!
//! Where all that moves with the rows of a block is one element that is read and written again, its rows are better gone through a piece after the other: memory
//! of several is on its way at a time, where along one row each line is waited for (an update of a matrix: 1.4 times as long; AMD EPYC, Zen 4).
//!
//! Declined where a block has phases, shared memory or arrays of its threads, where anything is done but to load, compute and store, which
//! the blocks of a grid may do in any order, and where loops may be long: what they read is then better used again by the block's own rows.

use std::collections::{HashMap, HashSet};

use mlir_bridge::ir::{Block, Builder, Mapping, Op, Value};
use regrain_dialects::{
    attributes::{CONVEX, REUSED},
    ops::{DynamicShared, Shared, is_shared_memory},
};
use regrain_targets::{
    device_language::thread_ops::{ThreadOp, classify},
    device_operations::Axis,
};

use super::state::{Field, field};
use crate::analysis::{constants::product, facts::constant, loops::Counting, uniformity::computes};
use crate::lower::vectorize_threads::is_ordinary;

/// The most threads of a block.
const MOST_THREADS: u32 = 1024;
/// The most rounds of a loop of a thread.
const MOST_ROUNDS: i64 = 32;
/// Bytes that one round may touch for the next, each access counted as memory of its own: what the second cache of a core holds at least, of
/// which a stencil then takes a part, as many of its accesses are to the same memory.
const KEPT: u64 = 512 << 10;

/// Threads in x of a loop that [`merge`] made one of many blocks.
#[derive(Clone, Copy)]
pub struct Blocks<'c> {
    /// Of one block.
    pub size: Value<'c>,
    /// How many they are.
    pub count: Value<'c>,
}

/// The blocks that go as one in a loop, where that is so.
pub fn blocks(parallel: Op<'_>) -> Option<Blocks<'_>> {
    let product = parallel.operand(3).defining_op().filter(|op| op.is("arith.muli"))?;
    Some(Blocks { size: product.operand(0), count: product.operand(1) })
}

/// Lets the function of a block run those behind it too, if they may go as one; whether they do.
pub fn merge<'c>(module: Op<'c>, function: Op<'c>) -> bool {
    let Some(Candidate { parallel, outer, choice }) = Candidate::of(function) else { return false };
    let dimensions = Counting::dimensions(parallel);
    let plain = dimensions.len() == 3 && dimensions.iter().all(Counting::is_plain) && parallel.num_results() == 0;
    let shared = Shared::all(function).into_iter().map(Shared::op);
    let shared = shared.chain(DynamicShared::all(function).into_iter().map(DynamicShared::op));
    let otherwise = choice.map(otherwise).unwrap_or_default();
    let shares = shared.flat_map(|op| op.result(0).users()).any(|user| !otherwise.contains(&user));
    // The number of a thread among those of all blocks fits into 31 bits.
    let most = if outer == parallel { Some(i32::MAX.cast_unsigned() / MOST_THREADS) } else { most_blocks(parallel) };
    let Some(most) = most.filter(|most| plain && !shares && *most > 1) else { return false };
    if choice.is_none() && has_rows(parallel) && updates_alone(function, parallel) {
        return false;
    }
    let Some(sums) = Steps::of(function, parallel, outer).sums(choice, &otherwise) else { return false };
    for sum in sums {
        may_wrap(sum);
    }
    let b = Builder::before(outer);
    let i32 = b.ctx().int(32);
    let available = b.llvm_load(field(module, b, Field::Available), i32, None);
    let available = b.arith("minui", available, b.const_i32(most.cast_signed()));
    let count = choice.map_or(available, |choice| reach(b, choice, available));
    b.llvm_store(count, field(module, b, Field::Taken), None);
    let threads = b.arith("muli", parallel.operand(3), b.index_castui(count, b.ctx().index()));
    parallel.set_operand(3, threads);
    true
}

/// Whether a block has several rows, as far as that is known.
fn has_rows(parallel: Op<'_>) -> bool {
    Counting::dimensions(parallel)[1..].iter().any(|dimension| constant(dimension.upper).is_some_and(|size| size > 1))
}

/// Whether what a kernel accesses at places that differ from row to row and along a row is one element of each thread.
fn updates_alone<'c>(function: Op<'c>, parallel: Op<'c>) -> bool {
    let ops = function.find_all(|_| true);
    let made_of = |thread: usize, axis: Axis| {
        let mut made = HashSet::from([parallel.body().arg(thread)]);
        for op in &ops {
            let starts = matches!(classify(*op), Some(ThreadOp::BlockId(of)) if of == axis);
            if starts || op.operands().iter().any(|operand| made.contains(operand)) {
                made.extend(op.results());
            }
        }
        made
    };
    let (of_column, of_row) = (made_of(0, Axis::X), made_of(1, Axis::Y));
    let address = |op: &Op<'c>| match op.name() {
        "llvm.load" => Some(op.operand(0)),
        "llvm.store" => Some(op.operand(1)),
        _ => None,
    };
    let moving = ops.iter().filter_map(address).filter(|at| of_column.contains(at) && of_row.contains(at));
    moving.collect::<HashSet<_>>().len() == 1
}

/// How many blocks may go as one in each round of a loop.
fn most_blocks(parallel: Op<'_>) -> Option<u32> {
    let threads =
        Counting::dimensions(parallel).iter().map(|dimension| constant(dimension.upper)).product::<Option<i64>>()?;
    let accessed = |op: Op<'_>| match op.name() {
        "llvm.load" => op.result(0).ty().layout(op).0,
        "llvm.store" => op.operand(0).ty().layout(op).0,
        _ => 0,
    };
    let bytes: u64 = parallel.find_all(|_| true).into_iter().map(accessed).sum();
    u32::try_from(KEPT / bytes.checked_mul(threads.try_into().ok()?)?.max(1)).ok()
}

/// What could run several blocks.
struct Candidate<'c> {
    /// The only thread loop of a function, or of the first branch of a choice.
    parallel: Op<'c>,
    /// The loop over rounds around it, or itself.
    outer: Op<'c>,
    /// One that holds for blocks in a row.
    choice: Option<Op<'c>>,
}

impl<'c> Candidate<'c> {
    fn of(function: Op<'c>) -> Option<Self> {
        let choice = function.body().ops().into_iter().find(|op| op.has_attr(CONVEX));
        let holder = choice.unwrap_or(function);
        let loops = holder.body().ops().into_iter().filter(|op| matches!(op.name(), "scf.parallel" | "scf.for"));
        let loops: Vec<_> = loops.filter(|op| op.contains(|inner| inner.is("scf.parallel"))).collect();
        let [outer] = loops[..] else { return None };
        let inner = || outer.body().ops().into_iter().find(|op| op.is("scf.parallel"));
        let parallel = if outer.is("scf.parallel") { outer } else { inner()? };
        let all =
            holder.region(0).blocks().into_iter().flat_map(Block::ops).flat_map(|op| op.find_named("scf.parallel"));
        (all.count() == 1).then_some(Self { parallel, outer, choice })
    }
}

/// What is in the second branch of a choice, and what makes memory or numbers for that alone.
fn otherwise(choice: Op<'_>) -> HashSet<Op<'_>> {
    let branch = choice.region(1).first_block();
    let mut found: HashSet<_> = branch.into_iter().flat_map(Block::ops).flat_map(|op| op.find_all(|_| true)).collect();
    let before = choice.block().map(Block::ops).unwrap_or_default().into_iter().take_while(|op| *op != choice);
    for op in before.collect::<Vec<_>>().into_iter().rev() {
        let serves = op.is("llvm.alloca") || op.is_pure();
        if serves && op.results().into_iter().flat_map(Value::users).all(|user| found.contains(&user)) {
            found.insert(op);
        }
    }
    found
}

/// For how many blocks from this one on, as far as they are available, the condition of a choice holds.
fn reach<'c>(b: Builder<'c>, choice: Op<'c>, available: Value<'c>) -> Value<'c> {
    let (i32, condition) = (b.ctx().int(32), choice.operand(0));
    let [zero, one] = [0, 1].map(|number| b.const_i32(number));
    let bits = b.const_i32(31);
    let search = b.scf_for(zero, bits, one, &[one]);
    let inside = Builder::at_end(search.body(), b.loc);
    let (round, known) = (search.body().arg(0), search.body().arg(1));
    let step = inside.arith("shli", one, inside.arith("subi", inside.const_i32(30), round));
    let wanted = inside.arith("addi", known, step);
    // A count that is not there is none that wraps: each step is less than what is left of 32 bits.
    let there = inside.cmpi("ule", wanted, available);
    let asked = inside.scf_if(there, &[i32], true);
    let yes = Builder::at_end(asked.region(0).entry(), b.loc);
    let last = yes.arith("subi", wanted, one);
    let holds = at_block(yes, choice, condition, last);
    yes.scf_yield(&[yes.value("arith.select", &[holds, wanted, known], i32)]);
    Builder::at_end(asked.region(1).entry(), b.loc).scf_yield(&[known]);
    inside.scf_yield(&[asked.result(0)]);
    search.result(0)
}

/// Whether one of the conditions that an `ori` joins holds here and so many blocks further on.
fn at_block<'c>(b: Builder<'c>, choice: Op<'c>, condition: Value<'c>, further: Value<'c>) -> Value<'c> {
    let mut mapping = Mapping::new();
    for op in choice.block().map(Block::ops).unwrap_or_default().into_iter().take_while(|op| *op != choice) {
        if matches!(classify(op), Some(ThreadOp::BlockId(Axis::X))) {
            mapping.map(op.result(0), b.arith("addi", op.result(0), further));
        } else if op.is_pure() && op.operands().iter().any(|operand| mapping.get(*operand).is_some()) {
            b.clone_op(op, &mut mapping);
        }
    }
    let mut joined = vec![condition];
    let mut any: Option<Value<'c>> = None;
    while let Some(condition) = joined.pop() {
        match condition.defining_op().filter(|op| op.is("arith.ori")) {
            Some(op) => joined.extend(op.operands()),
            None => {
                let both = b.arith("andi", condition, mapping.get_or_self(condition));
                any = Some(any.map_or(both, |any| b.arith("ori", any, both)));
            }
        }
    }
    any.unwrap_or(condition)
}

/// What a number gains by the step to the next block: a constant, and so many times the threads of a block in x.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Gain {
    constant: i64,
    sizes: i64,
}

impl Gain {
    const NONE: Self = Self { constant: 0, sizes: 0 };

    fn plus(self, other: Self, times: i64) -> Option<Self> {
        let sum = |a: i64, b: i64| a.checked_add(b.checked_mul(times)?);
        Some(Self { constant: sum(self.constant, other.constant)?, sizes: sum(self.sizes, other.sizes)? })
    }
}

/// What the numbers of a function gain.
struct Steps<'c> {
    function: Op<'c>,
    parallel: Op<'c>,
    /// What stands around it, or itself.
    outer: Op<'c>,
    /// Threads of a block in x, where that is a constant.
    size: Option<i64>,
    gains: HashMap<Value<'c>, Gain>,
}

impl<'c> Steps<'c> {
    fn of(function: Op<'c>, parallel: Op<'c>, outer: Op<'c>) -> Self {
        Self { function, parallel, outer, size: constant(parallel.operand(3)), gains: HashMap::new() }
    }

    /// The sums of numbers that change; nothing if anything else is done with such numbers. What a choice is made by, and what is in its
    /// second branch, is of one block.
    fn sums(mut self, choice: Option<Op<'c>>, otherwise: &HashSet<Op<'c>>) -> Option<Vec<Op<'c>>> {
        let own = match self.size {
            Some(size) => Gain { constant: -size, sizes: 0 },
            None => Gain { constant: 0, sizes: -1 },
        };
        self.gains.insert(self.parallel.body().arg(0), own);
        let mut ops = self.function.find_all(|op| {
            let of_choice = choice == Some(op) || otherwise.contains(&op);
            op != self.function && op != self.parallel && !of_choice && !is_shared_memory(op)
        });
        let mut deciding = HashSet::new();
        if let Some(choice) = choice {
            let before = ops.iter().rev().filter(|op| op.block() == choice.block());
            for op in before {
                let decides = |user: &Op<'c>| *user == choice || deciding.contains(user);
                let users: Vec<_> = op.results().into_iter().flat_map(Value::users).collect();
                if op.is_pure() && !users.is_empty() && users.iter().all(decides) {
                    deciding.insert(*op);
                }
            }
        }
        ops.retain(|op| !deciding.contains(op));
        ops.iter().try_for_each(|op| self.takes(*op))?;
        ops.retain(|op| op.operands().iter().any(|operand| self.gain(*operand) != Gain::NONE));
        Some(ops)
    }

    /// Takes note of what an operation's result gains; nothing where blocks cannot go as one because of it.
    fn takes(&mut self, op: Op<'c>) -> Option<()> {
        if matches!(classify(op), Some(ThreadOp::BlockId(Axis::X))) {
            self.gains.insert(op.result(0), Gain { constant: 1, sizes: 0 });
            return Some(());
        }
        let gain = match op.operands().iter().all(|operand| self.gain(*operand) == Gain::NONE) {
            true => (op == self.outer || is_plain(op)).then_some(Gain::NONE)?,
            false => self.sum(op)?,
        };
        if gain != Gain::NONE {
            self.gains.insert(op.result(0), gain);
        }
        Some(())
    }

    fn gain(&self, value: Value<'c>) -> Gain {
        self.gains.get(&value).copied().unwrap_or_default()
    }

    /// What a sum gains, and what is the same number in another width.
    fn sum(&self, op: Op<'c>) -> Option<Gain> {
        let gain = |index: usize| self.gain(op.operand(index));
        let (_, name) = op.name().split_once('.')?;
        match name {
            "add" | "addi" => gain(0).plus(gain(1), 1),
            "sub" | "subi" => gain(0).plus(gain(1), -1),
            "mul" | "muli" => self.times(gain(0), op.operand(1)).or_else(|| self.times(gain(1), op.operand(0))),
            "trunc" | "trunci" => Some(gain(0)),
            // The numbers of the block and of the thread themselves fit into 31 bits.
            "index_cast" | "index_castui"
                if self.is_number(op.operand(0)) || op.operand(0).ty().int_width().is_none() =>
            {
                Some(gain(0))
            }
            "zext" | "sext" | "extui" | "extsi" if self.is_number(op.operand(0)) => Some(gain(0)),
            _ => None,
        }
    }

    /// Whether a value is the number of the block or of the thread, in any width.
    fn is_number(&self, value: Value<'c>) -> bool {
        let made = |op: Op<'c>| match op.name() {
            "arith.index_cast" | "arith.index_castui" => self.is_number(op.operand(0)),
            _ => matches!(classify(op), Some(ThreadOp::BlockId(Axis::X))),
        };
        value == self.parallel.body().arg(0) || value.defining_op().is_some_and(made)
    }

    /// A product with a constant, or with the threads of a block in x.
    fn times(&self, gain: Gain, factor: Value<'c>) -> Option<Gain> {
        (gain != Gain::NONE && self.gain(factor) == Gain::NONE).then_some(())?;
        if let Some(number) = product(factor) {
            return Gain::NONE.plus(gain, number);
        }
        (self.is_size(factor) && gain.sizes == 0).then_some(Gain { constant: 0, sizes: gain.constant })
    }

    /// Whether a value is the threads of a block in x.
    fn is_size(&self, value: Value<'c>) -> bool {
        let mut at = value;
        while at != self.parallel.operand(3) {
            let Some(op) = at.defining_op() else { return false };
            match op.name() {
                "arith.index_cast" | "arith.index_castui" | "llvm.zext" => at = op.operand(0),
                _ => return matches!(classify(op), Some(ThreadOp::BlockDim(Axis::X))),
            }
        }
        true
    }
}

/// A part of a sum may now wrap where it did not before; the whole is the same.
fn may_wrap(sum: Op<'_>) {
    let (dialect, _) = sum.name().split_once('.').unwrap_or_default();
    if sum.has_attr(OVERFLOW)
        && let Some(none) = sum.ctx().parse_attr(&format!("#{dialect}.overflow<none>"))
    {
        sum.set_attr(OVERFLOW, none);
    }
}

/// What an operation is promised of its result.
const OVERFLOW: &str = "overflowFlags";

/// Whether an operation only loads, computes and stores.
fn is_plain(op: Op<'_>) -> bool {
    match op.name() {
        "llvm.load" | "llvm.store" => is_ordinary(op),
        "llvm.call" => computes(op),
        "llvm.alloca" => op.has_attr(REUSED) || is_parameter(op),
        "llvm.intr.memcpy" => op.operand(0).defining_op().is_some_and(is_parameter),
        "scf.if" => true,
        "scf.for" => {
            Counting::of(op).and_then(|counting| counting.rounds()).is_some_and(|rounds| rounds <= MOST_ROUNDS)
        }
        _ => op.is_terminator() || op.num_regions() == 0 && op.is_memory_effect_free(),
    }
}

/// Whether memory only holds a parameter, a structure that was passed by value: it is written once, as a whole.
fn is_parameter(op: Op<'_>) -> bool {
    let (mut addresses, mut copies) = (op.results(), 0);
    while let Some(address) = addresses.pop() {
        for user in address.users() {
            match user.name() {
                "llvm.load" => {}
                "llvm.getelementptr" => addresses.push(user.result(0)),
                "llvm.intr.memcpy" if user.operand(0) == op.result(0) && user.operand(1) != address => copies += 1,
                _ => return false,
            }
        }
    }
    op.is("llvm.alloca") && copies == 1
}
