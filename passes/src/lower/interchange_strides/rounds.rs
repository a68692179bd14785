//! Loops whose rounds all threads share as they stand, and in which they go on by a stride.
//!
//! Before:
//! ```mlir
//! scf.while (%b = %low, %sum = %zero) { %go = arith.cmpi slt, %b, %n; scf.condition(%go) ... }   // %n, %low: the same in all threads
//! do { ^(%b, %sum): A(%b + %x); %next = arith.addi %b, %step; scf.yield %next, %more }           // %step too
//! ```
//! After: a barrier at the start of each round. Splitting at it puts the loop outside of the threads, and a round goes through neighbouring
//! memory, where a row of threads on its own would jump from one stride to the next.
//!
//! Declined: what operations of warps or a wait stand in, rounds of few accesses for what a thread carries from one to the next or with
//! arrays of a thread that outlive a round, strides that are small constants, and loops that only some threads come to.

use mlir_bridge::ir::{Block, Builder, Op, Value};
use regrain_dialects::ops::{Barrier, is_synchronising};

use super::is_local;
use crate::analysis::{
    constants::constant,
    loops::Counting,
    objects::root,
    synchronisation::{STRUCTURES, decisive},
    uniformity::{Uniformity, computes, repeatable},
    waiting::may_wait,
};

/// A constant stride below is no stride to another place: a cache line of the smallest elements.
const LEAST_STRIDE: i64 = 64;
/// Accesses for each value that a thread carries: the value is stored and loaded in each round then.
const ACCESSES_FOR_VALUE: i64 = 4;
/// What a loop is taken for whose rounds nobody knows.
const UNKNOWN_ROUNDS: i64 = 4;
/// How far a stride is followed.
const DEPTH: u32 = 6;

/// Puts barriers into the loops of a loop over threads that had better go outside; an outer one does for those inside.
pub(super) fn share<'c>(parallel: Op<'c>, loops: &[Op<'c>], uniform: &Uniformity<'c>) {
    let mut made: Vec<Op<'c>> = Vec::new();
    for op in loops.iter().copied().filter(|op| matches!(op.name(), "scf.for" | "scf.while")) {
        if made.iter().all(|outer| !outer.is_proper_ancestor_of(op))
            && fits(parallel, op, uniform)
            && let Some(start) = work(op, uniform).ops().first()
        {
            Barrier::create(Builder::before(*start), &parallel.body().args());
            made.push(op);
        }
    }
}

/// The block that holds what a loop accesses. What decides about a round stays outside, with values that are the same in all threads.
fn work<'c>(op: Op<'c>, uniform: &Uniformity<'c>) -> Block<'c> {
    let block = busiest(op);
    let holds_all = |inner: &Op<'c>| {
        let decided = inner.is("scf.if") && uniform.all_uniform(&decisive(*inner));
        decided && accesses_of(busiest(*inner)) == accesses_of(block)
    };
    block.ops().into_iter().find(holds_all).map_or(block, |inner| work(inner, uniform))
}

/// The region in which most accesses of an operation stand.
fn busiest(op: Op<'_>) -> Block<'_> {
    let blocks = op.regions().into_iter().filter_map(|region| region.first_block());
    blocks.max_by_key(|block| accesses_of(*block)).unwrap_or_else(|| op.region(0).entry())
}

fn fits<'c>(parallel: Op<'c>, op: Op<'c>, uniform: &Uniformity<'c>) -> bool {
    let inside = || op.find_all(|_| true).into_iter().filter(move |inner| *inner != op);
    let own = op.region(0).entry().args().iter().filter(|value| !uniform.is_uniform(**value)).count() as i64;
    uniform.all_uniform(&decisive(op))
        && uniform.is_met_together(op, parallel)
        && inside().all(is_plain)
        && inside().any(|inner| goes_on(inner, op, uniform))
        && inside().any(|inner| address(inner).is_some_and(|at| !is_local(at) && !uniform.is_uniform(at)))
        && inside().filter_map(address).all(|at| !is_local(at) || begins_in(root(at), op))
        && accesses(op) >= ACCESSES_FOR_VALUE * own
}

/// Whether memory of a thread lives for a round only.
fn begins_in<'c>(memory: Value<'c>, rounds: Op<'c>) -> bool {
    rounds.contains(|op| op.is("llvm.intr.lifetime.start") && op.operands().last() == Some(&memory))
}

/// Whether an operation computes, accesses memory, or is control flow that ends by itself.
fn is_plain(op: Op<'_>) -> bool {
    let weak = || !op.has_attr("volatile_") && op.attr("ordering").and_then(|o| o.as_int()).unwrap_or(0) == 0;
    match op.name() {
        "llvm.load" | "llvm.store" => weak(),
        "llvm.atomicrmw" => true,
        "llvm.call" => computes(op),
        "scf.while" => !may_wait(op),
        name if STRUCTURES.contains(&name) => true,
        name if name.starts_with("llvm.intr.lifetime.") => true,
        _ => !is_synchronising(op) && (op.is_terminator() || (op.num_regions() == 0 && op.is_memory_effect_free())),
    }
}

/// Whether an operation adds a stride to a number, both the same in all threads.
fn goes_on<'c>(op: Op<'c>, rounds: Op<'c>, uniform: &Uniformity<'c>) -> bool {
    if !matches!(op.name(), "llvm.add" | "arith.addi") || !uniform.is_uniform(op.result(0)) {
        return false;
    }
    let of_round = |value: Value<'c>| {
        value.block_arg().and_then(|(block, _)| block.parent_op()).is_some_and(|owner| owner == rounds)
    };
    let is_stride = |value: Value<'c>| match constant(value) {
        Some(number) => number.abs() >= LEAST_STRIDE,
        None => comes_from_outside(value, rounds, DEPTH),
    };
    let (a, b) = (op.operand(0), op.operand(1));
    (of_round(a) && is_stride(b)) || (of_round(b) && is_stride(a))
}

/// Whether a value is the same in all rounds of a loop.
fn comes_from_outside<'c>(value: Value<'c>, rounds: Op<'c>, depth: u32) -> bool {
    match value.defining_op() {
        Some(op) if !rounds.is_ancestor_of(op) => true,
        Some(op) => {
            depth > 0 && repeatable(op) && op.operands().iter().all(|v| comes_from_outside(*v, rounds, depth - 1))
        }
        None => {
            let owner = value.block_arg().and_then(|(block, _)| block.parent_op());
            owner.is_some_and(|owner| !rounds.is_ancestor_of(owner))
        }
    }
}

fn address(op: Op<'_>) -> Option<Value<'_>> {
    match op.name() {
        "llvm.load" | "llvm.atomicrmw" => Some(op.operand(0)),
        "llvm.store" => Some(op.operand(1)),
        _ => None,
    }
}

/// Accesses of memory that is not the thread's own, in one round of what an operation holds.
fn accesses(op: Op<'_>) -> i64 {
    match address(op) {
        Some(at) => i64::from(!is_local(at)),
        None => {
            op.regions().into_iter().flat_map(|region| region.blocks()).map(accesses_of).fold(0, i64::saturating_add)
        }
    }
}

/// The same of a block, in all rounds of the loops there.
fn accesses_of(block: Block<'_>) -> i64 {
    let rounds = |op: Op<'_>| match op.name() {
        "scf.for" => Counting::of(op).and_then(|counting| counting.rounds()).unwrap_or(UNKNOWN_ROUNDS),
        "scf.while" => UNKNOWN_ROUNDS,
        _ => 1,
    };
    block.ops().into_iter().map(|op| rounds(op).saturating_mul(accesses(op))).fold(0, i64::saturating_add)
}
