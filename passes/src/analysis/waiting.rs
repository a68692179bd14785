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
        if polls(source, outside(op)) {
            return true;
        }
        work.extend(result_sources(source, value.result_number().unwrap_or(0)));
    }
    false
}

/// Whether a loop holds anything that polls what other blocks write.
pub fn holds_polls(op: Op<'_>) -> bool {
    op.contains(|inner| !inner.is("llvm.call") && polls(inner, outside(op)) && !is_of_thread(inner))
}

/// Whether an atomic operation is the thread's own.
fn is_of_thread(op: Op<'_>) -> bool {
    op.attr("syncscope").is_some_and(|scope| scope.as_str() == Some("singlethread"))
}

/// Whether a function may wait for another thread in a loop of its own, or in rounds of calls of itself.
pub fn function_may_wait<'c>(module: Op<'c>, function: Op<'c>) -> bool {
    let calls_itself = calls_of(module, function).contains(&function);
    let again = |block: Block<'c>| calls_itself || goes_round(block);
    let again_and_again = |op: Op<'c>| {
        let around = std::iter::successors(Some(op), |inner| inner.parent().filter(|outer| *outer != function));
        around.filter_map(Op::block).any(again)
    };
    let outside = |value: Value<'c>| {
        let constant = |source: Op<'c>| source.constant_int().is_some();
        value.defining_op().is_none_or(|source| constant(source) || !again_and_again(source))
            && !value.block_arg().is_some_and(|(block, _)| again(block))
    };
    let polls_there = |op: Op<'c>| match op.name() {
        "llvm.call" => touches_shared(module, op),
        _ => polls(op, outside) && !is_of_thread(op),
    };
    function.contains(|op| op.is("scf.while") && may_wait(op) || polls_there(op) && again_and_again(op))
}

/// Whether control may come back to a block.
fn goes_round(block: Block<'_>) -> bool {
    let (mut seen, mut work) = (HashSet::new(), block.successors());
    while let Some(next) = work.pop() {
        if next == block {
            return true;
        }
        if seen.insert(next) {
            work.extend(next.successors());
        }
    }
    false
}

/// The function of the module that an operation calls.
fn called<'c>(module: Op<'c>, call: Op<'c>) -> Option<Op<'c>> {
    module.lookup_symbol(call.attr("callee")?.as_symbol()?)
}

/// The functions of the module that one leads to by calls.
fn calls_of<'c>(module: Op<'c>, function: Op<'c>) -> HashSet<Op<'c>> {
    let (mut seen, mut work) = (HashSet::new(), vec![function]);
    while let Some(caller) = work.pop() {
        let calls = caller.find_named("llvm.call").into_iter().filter_map(|call| called(module, call));
        work.extend(calls.filter(|callee| seen.insert(*callee)));
    }
    seen
}

/// Whether a function, or one that it calls, may wait for another thread if it is called again and again.
pub fn touches_shared<'c>(module: Op<'c>, call: Op<'c>) -> bool {
    let Some(callee) = called(module, call) else { return false };
    touches_what_others_write(callee) || calls_of(module, callee).into_iter().any(touches_what_others_write)
}

/// Whether a function has volatile or atomic accesses, or inline assembly.
fn touches_what_others_write(function: Op<'_>) -> bool {
    function.contains(|op| match op.name() {
        "llvm.load" => is_polled(op),
        "llvm.atomicrmw" | "llvm.cmpxchg" | "llvm.inline_asm" => true,
        _ => false,
    })
}

/// Whether a load is of what other threads write meanwhile.
fn is_polled(load: Op<'_>) -> bool {
    load.has_attr("volatile_") || load.attr("ordering").and_then(|order| order.as_int()).is_some_and(|order| order > 0)
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

/// Whether a value is the same in all rounds of a loop.
fn outside<'c>(spin: Op<'c>) -> impl Fn(Value<'c>) -> bool {
    move |value| {
        value.defining_op().is_none_or(|source| !spin.is_ancestor_of(source) || source.constant_int().is_some())
            && !value
                .block_arg()
                .and_then(|(block, _)| block.parent_op())
                .is_some_and(|owner| spin.is_ancestor_of(owner))
    }
}

/// Whether an operation reads what only another thread can change; `outside` says whether a value is the same in all rounds.
fn polls<'c>(op: Op<'c>, outside: impl Fn(Value<'c>) -> bool) -> bool {
    match op.name() {
        "llvm.load" => is_polled(op),
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
