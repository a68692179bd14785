//! Whether a loop waits for another thread.
//!
//! ```mlir
//! scf.while : () -> () {
//!   %seen = llvm.load volatile %flag        // another thread may write it: the loop may wait
//!   %c = llvm.icmp "eq" %seen, %zero
//!   scf.condition(%c)
//! } do { scf.yield }
//! ```
//! Threads that run one after the other, or one that does the work of several, must not hold such a loop.

use std::collections::HashSet;

use mlir_bridge::ir::{Block, Op, Value};
use regrain_dialects::ops::{Match, Shuffle, Vote, WarpBarrier, WarpReduce};

use crate::analysis::{facts::constant, uniformity::free_values};

/// Whether a loop may spin until another thread writes to memory: its condition depends on a volatile or atomic read, or on
/// an exchange that does not make progress of its own.
pub fn may_wait(op: Op<'_>) -> bool {
    let Some(condition) = op.region(0).entry().terminator() else { return true };
    let mut seen: HashSet<Value<'_>> = HashSet::new();
    let mut work = vec![condition.operand(0)];
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        if let Some((block, number)) = value.block_arg() {
            let Some(owner) = block.parent_op().filter(|owner| op.is_ancestor_of(*owner)) else { continue };
            work.extend(argument_sources(owner, block, number));
            continue;
        }
        let Some(source) = value.defining_op().filter(|source| op.is_proper_ancestor_of(*source)) else { continue };
        if polls(source, op) {
            return true;
        }
        work.extend(result_sources(source, value.result_number().unwrap_or(0)));
    }
    false
}

/// Whether a loop holds anything that polls what other blocks write.
pub fn holds_polls(op: Op<'_>) -> bool {
    let own = |inner: Op<'_>| inner.attr("syncscope").is_some_and(|scope| scope.as_str() == Some("singlethread"));
    op.contains(|inner| !inner.is("llvm.call") && polls(inner, op) && !own(inner))
}

/// Whether all lanes of a warp meet in each round of a loop.
pub fn meets_warp_each_time(op: Op<'_>) -> bool {
    always(op).into_iter().filter_map(mask).any(|mask| constant(mask) == Some(-1))
}

/// The lanes that an operation of a warp names.
fn mask(op: Op<'_>) -> Option<Value<'_>> {
    match op.name() {
        Shuffle::NAME => Shuffle::cast(op).map(Shuffle::mask),
        Vote::NAME => Vote::cast(op).map(Vote::mask),
        Match::NAME => Match::cast(op).map(Match::mask),
        WarpReduce::NAME => WarpReduce::cast(op).map(WarpReduce::mask),
        WarpBarrier::NAME => WarpBarrier::cast(op).map(WarpBarrier::mask),
        _ => None,
    }
}

/// What a loop does in each round.
pub fn always(op: Op<'_>) -> Vec<Op<'_>> {
    op.regions().into_iter().flat_map(|region| region.blocks()).flat_map(Block::ops).collect()
}

/// What an argument of a block in a structured operation comes from, and what decides how often it runs.
pub fn argument_sources<'c>(owner: Op<'c>, block: Block<'c>, number: usize) -> Vec<Value<'c>> {
    let end = |region: usize| owner.region(region).entry().terminator().map(Op::operands).unwrap_or_default();
    let inits = owner.operands();
    match owner.name() {
        "scf.while" if owner.region(0).entry() == block => {
            end(1).get(number).into_iter().chain(inits.get(number)).copied().collect()
        }
        "scf.while" => end(0).get(1 + number).copied().into_iter().collect(),
        "scf.for" if number == 0 => inits[..3].to_vec(),
        "scf.for" => {
            end(0).get(number - 1).into_iter().chain(inits.get(2 + number)).chain(&inits[..3]).copied().collect()
        }
        _ => carried(owner),
    }
}

/// What a result of an operation depends on.
pub fn result_sources<'c>(op: Op<'c>, number: usize) -> Vec<Value<'c>> {
    let ends = || op.regions().into_iter().filter_map(|region| region.first_block()?.terminator());
    match op.name() {
        "scf.if" | "scf.index_switch" => {
            ends().filter_map(|end| end.operands().get(number).copied()).chain([op.operand(0)]).collect()
        }
        "scf.while" => {
            let condition = ends().next().map(Op::operands).unwrap_or_default();
            condition.first().into_iter().chain(condition.get(1 + number)).copied().collect()
        }
        "scf.for" => {
            let carried = ends().filter_map(|end| end.operands().get(number).copied());
            carried.chain(op.operands().get(3 + number).copied()).chain(op.operands()[..3].to_vec()).collect()
        }
        _ => free_values(op).into_iter().chain(carried(op)).collect(),
    }
}

/// What the terminators in a structured operation pass on.
fn carried(op: Op<'_>) -> Vec<Value<'_>> {
    let blocks = op.regions().into_iter().flat_map(|region| region.blocks());
    blocks.filter_map(|block| block.terminator()).flat_map(Op::operands).collect()
}

/// Atomic operations (`bin_op`) that change the value at each round: add, sub, fadd, fsub.
const PROGRESSING: [i64; 4] = [1, 2, 11, 12];

/// Whether an operation reads what only another thread can change.
fn polls<'c>(op: Op<'c>, spin: Op<'c>) -> bool {
    let outside = |value: Value<'c>| {
        value.defining_op().is_none_or(|source| !spin.is_ancestor_of(source) || source.constant_int().is_some())
            && !value
                .block_arg()
                .and_then(|(block, _)| block.parent_op())
                .is_some_and(|owner| spin.is_ancestor_of(owner))
    };
    match op.name() {
        "llvm.load" => {
            op.has_attr("volatile_")
                || op.attr("ordering").and_then(|attr| attr.as_int()).is_some_and(|order| order > 0)
        }
        // `do old = cas(p, seen, f(seen)) while old != seen` ends by itself, waiting for one value does not.
        "llvm.cmpxchg" => outside(op.operand(1)),
        // Who adds finds another value next time; who takes a lock by `or`, or asks for a maximum, may find the same for ever.
        "llvm.atomicrmw" => {
            let kind = op.attr("bin_op").and_then(|attr| attr.as_int());
            let zero = op.operand(1).defining_op().and_then(|source| source.constant_int()) == Some(0);
            zero || !kind.is_some_and(|kind| PROGRESSING.contains(&kind))
        }
        "llvm.inline_asm" => op.has_attr("has_side_effects"),
        "llvm.call_intrinsic" => {
            let name = op.attr("intrin").and_then(|name| name.as_str()).unwrap_or_default();
            ["atomic", "mbarrier", "wait"].iter().any(|word| name.contains(word))
        }
        "llvm.call" => {
            let name = op.attr("callee").and_then(|name| name.as_symbol()).unwrap_or_default();
            !regrain_targets::device_language::library::is_pure(name)
        }
        _ => false,
    }
}
