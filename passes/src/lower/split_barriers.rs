//! `regrain-split-barriers`: the loop over the threads of a block becomes a sequence of loops that need no synchronisation.
//!
//! ```text
//! Before:                                          After:
//!   scf.parallel (%x, %y, %z) = ... {                %kept = llvm.alloca %threads x f32
//!     %v = llvm.load %p : !llvm.ptr -> f32           scf.parallel (%x, %y, %z) = ... {
//!     llvm.store %v, %tile_x                           %v = llvm.load %p ; llvm.store %v, %tile_x
//!     regrain.barrier(%x, %y, %z)                      llvm.store %v, %kept[%thread]
//!     %w = llvm.load %tile_y                         }
//!     %s = llvm.fadd %v, %w : f32                    scf.parallel (%x, %y, %z) = ... {
//!     llvm.store %s, %p                                %v = llvm.load %kept[%thread] ; %w = llvm.load %tile_y
//!   }                                                  %s = llvm.fadd %v, %w : f32 ; llvm.store %s, %p
//!                                                    }
//! ```
//!
//! Values that later loops need are computed again where that is cheap, else kept in an array with a cell for each thread.
//! Control flow around a barrier moves outside where all threads of the block agree on it; else each thread keeps a mask
//! (`control.rs`). Warp operations publish, end the loop, and read (`warp.rs`). At a barrier of the grid the block also waits
//! for the others (`grid.rs`).
//!
//! Where the rows of a block are going to be its warps (`vectorize_threads`), operations of warps stay in the thread loops.
//!
//! A wrapper that cannot be split stays as it is, with a remark and the attribute `regrain.not_split`; `legality.rs` holds the
//! closed list of reasons.

mod choices;
mod coalesce;
mod control;
mod emit;
mod flatten;
mod grid;
mod inductions;
mod legality;
pub mod memory;
mod plan;
mod remembered;
mod scoped;
mod switch;
mod waits;
mod warp;

use mlir_bridge::{
    ir::{Builder, Op, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};

use crate::analysis::{
    facts::constant,
    functions::Functions,
    loops::Counting,
    objects::{self, is_shared},
    spaces::answer_all,
    uniformity::UNCHANGING,
};
use regrain_dialects::ops::{GpuWrapper, LaneId, WarpBarrier, is_lane_or_warp};

use super::{
    exact_functions, stack,
    vectorize_threads::{self, Rows},
};
use emit::Emitter;
pub use legality::Refusal;
use plan::Plan;

/// On a wrapper that is not split: why.
pub use regrain_dialects::attributes::NOT_SPLIT;

/// On stack memory that all threads of a block use one after the other.
pub use regrain_dialects::attributes::REUSED;

/// On stack memory whose elements lie beside those of the other threads: the size of an element in bytes.
use regrain_dialects::attributes::INTERLEAVED;

/// Dialects whose operations the pass makes.
pub const DIALECTS: &[&str] = &["regrain", "llvm", "scf", "arith"];

/// The most memory that the arrays of one block may take: a quarter of the stack that a block runs on. Coroutines would keep as
/// much on their own stacks.
const STATE_LIMIT: u64 = 64 << 20;
const MOST_THREADS: u64 = 1024;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-split-barriers",
    summary: "split the loop over the threads of a block at synchronisation",
    anchor: Anchor::Module,
    options: &[],
    dialects: DIALECTS,
    run,
};

fn run(_pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    split_wrappers(module);
    Ok(())
}

/// What keeps a wrapper from being split.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSplit {
    /// It is not proven right.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// Our mistake: what was found right could not be made.
    #[error("internal error while splitting: {0}")]
    Internal(String),
}

/// Splits all wrappers of a module; gives those that were not, and why.
pub fn split_wrappers(module: Op<'_>) -> Vec<(Op<'_>, NotSplit)> {
    let mut functions = Functions::new(module);
    let mut refused = Vec::new();
    for wrapper in GpuWrapper::all(module).into_iter().map(GpuWrapper::op) {
        wrapper.remove_attr(NOT_SPLIT);
        if let Err(why) = split(wrapper, &mut functions) {
            let text = why.to_string();
            wrapper.set_attr(NOT_SPLIT, wrapper.ctx().str_attr(&text));
            wrapper.remark(format!("not split at its barriers: {text}"));
            refused.push((wrapper, why));
        }
    }
    refused
}

/// Splits the block loops of one wrapper.
fn split<'c>(wrapper: Op<'c>, functions: &mut Functions<'c>) -> Result<(), NotSplit> {
    if let Ok(loops) = legality::loops(wrapper) {
        loops.blocks.into_iter().for_each(keep_lockstep);
    }
    let blocks = legality::check(wrapper, functions)?.blocks;
    // While addresses are followed to where they come from: what is kept from one thread loop to the next is loaded then.
    answer_all(wrapper);
    grid::declare(wrapper);
    blocks.into_iter().try_for_each(split_block)
}

fn split_block(block: Op<'_>) -> Result<(), NotSplit> {
    prepare(block);
    let rows = vectorize_threads::takes(block);
    waits::check(block, rows == Rows::Warps)?;
    let syncing = plan::syncing(block, rows == Rows::Warps);
    scoped::mark(block, &syncing);
    inductions::rewrite(block, &syncing, &plan::uniformity(block, syncing.clone()));
    let mut plan = Plan::new(block, rows == Rows::Warps);
    if rows != Rows::None && interleave_locals(&plan, block) {
        plan = Plan::new(block, rows == Rows::Warps);
    }
    if plan.state_bytes(block) * threads(block) > STATE_LIMIT {
        return Err(Refusal::TooMuchState.into());
    }
    let before = block.block().and_then(|outer| outer.ops().into_iter().take_while(|op| *op != block).last());
    if let Err(why) = Emitter::new(&plan, block).run() {
        undo(block, before);
        return Err(NotSplit::Internal(why));
    }
    block.erase();
    Ok(())
}

/// Lays out the arrays of threads that several thread loops use so that rows of threads read consecutive memory.
fn interleave_locals(plan: &Plan<'_>, block: Op<'_>) -> bool {
    let mut any = false;
    let mut count = None;
    for alloca in &plan.shared_locals {
        let Some(size) = stack::element_size(*alloca) else { continue };
        let count = *count.get_or_insert_with(|| emit::thread_count(Builder::before(block), block));
        stack::interleave(*alloca, size, count);
        alloca.set_attr(INTERLEAVED, alloca.ctx().i64_attr(size.cast_signed()));
        any = true;
    }
    any
}

/// Code older than `__syncwarp` reduces within a warp through volatile shared memory and counts on its lanes going in step:
/// a volatile store there is seen by all lanes, and comes after what they read before.
fn keep_lockstep(block: Op<'_>) {
    let volatile = |op: Op<'_>| op.is("llvm.store") && op.has_attr("volatile_") && is_shared(op.operand(1));
    for store in block.find_all(volatile) {
        for b in [Builder::before(store), Builder::after(store)] {
            let all = b.const_i32(-1);
            WarpBarrier::create(b, all, &block.body().args());
        }
    }
}

/// The number of threads of a block, or the most there can be.
fn threads(block: Op<'_>) -> u64 {
    let sizes: Option<Vec<i64>> = Counting::dimensions(block).iter().map(|counting| constant(counting.upper)).collect();
    sizes.map_or(MOST_THREADS, |sizes| sizes.into_iter().product::<i64>() as u64)
}

/// Hints say nothing that outlives the splitting; stack memory is allocated at the start of the thread.
fn prepare(block: Op<'_>) {
    let hint = |op: Op<'_>| {
        op.is("llvm.intr.assume") || op.is("llvm.intr.lifetime.end") || op.name().starts_with("llvm.intr.dbg.")
    };
    for op in block.find_all(hint) {
        op.erase();
    }
    for op in block.find_all(is_lane_or_warp) {
        let lane = LaneId::is(op);
        op.replace_with(&[lane_or_warp(Builder::before(op), block, lane)]);
    }
    exact_functions::expand(block);
    flatten::flatten(block);
    for load in block.find_named("llvm.load") {
        if is_struct_argument(load.operand(0)) {
            load.set_attr(UNCHANGING, load.ctx().unit_attr());
        }
    }
    for alloca in block.find_named("llvm.alloca") {
        let size = alloca.operand(0).defining_op();
        let Some(first) = block.body().first_op() else { continue };
        alloca.move_before(first);
        if let Some(size) = size.filter(|size| block.is_proper_ancestor_of(*size)) {
            let copy = Builder::before(alloca).const_int(alloca.operand(0).ty(), size.constant_int().unwrap_or(1));
            alloca.set_operand(0, copy);
        }
    }
}

/// Whether an address lies in a struct passed by value, which nobody writes (legality asks).
fn is_struct_argument(address: Value<'_>) -> bool {
    let mut at = address;
    while let Some(op) = at.defining_op() {
        match op.name() {
            "llvm.getelementptr" | "llvm.addrspacecast" => at = op.operand(0),
            _ => return objects::is_struct_argument(op),
        }
    }
    false
}

/// The number of a thread in its warp, or of its warp in the block.
fn lane_or_warp<'c>(b: Builder<'c>, block: Op<'c>, lane: bool) -> Value<'c> {
    let i32 = b.ctx().int(32);
    let narrow = |value: Value<'c>| b.index_cast(value, i32);
    let (ivs, sizes) = (block.body().args(), block.operands());
    let rows = b.arith("addi", narrow(ivs[1]), b.arith("muli", narrow(sizes[4]), narrow(ivs[2])));
    let thread = b.arith("addi", narrow(ivs[0]), b.arith("muli", narrow(sizes[3]), rows));
    if lane { b.arith("andi", thread, b.const_i32(31)) } else { b.arith("shrui", thread, b.const_i32(5)) }
}

/// Removes what a failed attempt left between `before` and `block`.
fn undo<'c>(block: Op<'c>, before: Option<Op<'c>>) {
    let Some(outer) = block.block() else { return };
    let mut made = Vec::new();
    let mut seen = before.is_none();
    for op in outer.ops() {
        if op == block {
            break;
        }
        if seen {
            made.push(op);
        }
        seen |= before == Some(op);
    }
    for op in &made {
        op.drop_all_references();
    }
    for op in made.into_iter().rev() {
        op.erase();
    }
}
