//! When a block loop can be split, and the closed list of reasons why not.

use std::collections::HashSet;

use mlir_bridge::ir::{Block, Op, Value};

use super::plan::{BARRIERS, STRUCTURES, free_values, synchronises};
use regrain_targets::device_language::library;
use regrain_targets::device_language::thread_ops::{ThreadOp, classify};

use crate::{
    raise::kernel_checks::Functions,
};

/// Why a wrapper is not split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    NoBlockLoop,
    NoUnitSteps,
    EffectsBesideLoops,
    NamedBarrier,
    OtherLoop,
    Unstructured,
    ThreadRegisters,
    Calls,
    DynamicStack,
    MayWait,
    WritesArgument,
    SharedAddress,
    TooMuchState,
    Internal,
}

impl Refusal {
    pub fn text(self) -> &'static str {
        match self {
            Refusal::NoBlockLoop => "it has no grid loop with one block loop inside",
            Refusal::NoUnitSteps => "its block loop has not three dimensions from 0 with step 1",
            Refusal::EffectsBesideLoops => "it has effects between the grid loop and the block loop",
            Refusal::NamedBarrier => "it uses a barrier of part of the block",
            Refusal::OtherLoop => "it synchronises another loop than the block loop",
            Refusal::Unstructured => "it synchronises inside of control flow that is not structured",
            Refusal::ThreadRegisters => "it reads registers of its thread",
            Refusal::Calls => "it calls a function that may know its thread or synchronise",
            Refusal::DynamicStack => "it allocates stack memory of a size known only at run time",
            Refusal::MayWait => "it may wait for another thread of its block",
            Refusal::WritesArgument => "it may write to an argument passed by value",
            Refusal::SharedAddress => "it makes a number of the address of shared memory",
            Refusal::TooMuchState => "its threads hold too much state across synchronisation",
            Refusal::Internal => "its loops could not be made",
        }
    }
}

/// The loops of a wrapper.
#[derive(Clone, Copy)]
pub struct Loops<'c> {
    pub grid: Op<'c>,
    pub block: Op<'c>,
}

/// Finds the loops of a wrapper.
pub fn loops(wrapper: Op<'_>) -> Result<Loops<'_>, Refusal> {
    let grid = only_parallel(wrapper)?;
    Ok(Loops { grid, block: only_parallel(grid)? })
}

fn only_parallel(parent: Op<'_>) -> Result<Op<'_>, Refusal> {
    let found: Vec<_> = parent.body().ops().into_iter().filter(|op| op.is("scf.parallel")).collect();
    match found[..] {
        [only] => Ok(only),
        _ => Err(Refusal::NoBlockLoop),
    }
}

/// Why the wrapper cannot be split.
pub fn check<'c>(wrapper: Op<'c>, functions: &mut Functions<'c>) -> Result<Loops<'c>, Refusal> {
    let loops = loops(wrapper)?;
    unit_steps(loops.block)?;
    beside(wrapper, loops)?;
    for op in loops.block.find_all(|_| true) {
        if synchronises(op) {
            synchronisation(op, loops.block)?;
        }
        thread_registers(op)?;
        plain(op, functions)?;
        if op.is("scf.while") && !meets_each_time(op) && may_wait(op) {
            return Err(Refusal::MayWait);
        }
    }
    arguments(wrapper)?;
    Ok(loops)
}

fn unit_steps(block: Op<'_>) -> Result<(), Refusal> {
    let operands = block.operands();
    let is = |value: Value<'_>, number: i64| value.defining_op().and_then(|op| op.constant_int()) == Some(number);
    let unit = operands.len() == 9
        && operands[..3].iter().all(|low| is(*low, 0))
        && operands[6..].iter().all(|step| is(*step, 1))
        && block.num_results() == 0;
    if unit { Ok(()) } else { Err(Refusal::NoUnitSteps) }
}

/// What stands between the loops happens once for each block on the CPU too, as long as it only computes.
fn beside(wrapper: Op<'_>, loops: Loops<'_>) -> Result<(), Refusal> {
    let allowed = |op: &Op<'_>| {
        *op == loops.block
            || *op == loops.grid
            || op.is_terminator()
            || matches!(op.name(), "regrain.shared" | "regrain.dynamic_shared")
            || op.is_memory_effect_free()
    };
    let mut all = wrapper.body().ops();
    all.extend(loops.grid.body().ops());
    if all.iter().all(allowed) { Ok(()) } else { Err(Refusal::EffectsBesideLoops) }
}

fn synchronisation<'c>(op: Op<'c>, block: Op<'c>) -> Result<(), Refusal> {
    let constant = |value: Value<'_>| value.defining_op().and_then(|op| op.constant_int());
    let ivs = block.body().args();
    let named = op.operands().into_iter().filter(|value| ivs.contains(value)).count();
    if named != ivs.len() {
        return Err(Refusal::OtherLoop);
    }
    if op.name().starts_with("regrain.barrier") {
        let sizes = op.attr("operandSegmentSizes").and_then(|sizes| sizes.as_i32_array()).unwrap_or_default();
        let reduces = op.is("regrain.barrier_reduce");
        let id_at = if reduces { 1 + ivs.len() } else { ivs.len() };
        let segment = if reduces { 2 } else { 1 };
        let has = |number: usize| sizes.get(number).copied().unwrap_or(0) > 0;
        let other = has(segment) && constant(op.operand(id_at)) != Some(0);
        if other || (!reduces && has(2)) {
            return Err(Refusal::NamedBarrier);
        }
    }
    let mut at = op.parent();
    while let Some(parent) = at.filter(|parent| *parent != block) {
        let whole = STRUCTURES.contains(&parent.name())
            && parent.regions().into_iter().all(|region| region.is_empty() || region.single_block().is_some());
        if !whole {
            return Err(Refusal::Unstructured);
        }
        at = parent.parent();
    }
    Ok(())
}

fn thread_registers(op: Op<'_>) -> Result<(), Refusal> {
    match classify(op) {
        None | Some(ThreadOp::BlockId(_) | ThreadOp::BlockDim(_) | ThreadOp::GridDim(_)) => Ok(()),
        Some(ThreadOp::Lane("warpsize")) => Ok(()),
        Some(_) => Err(Refusal::ThreadRegisters),
    }
}

fn plain<'c>(op: Op<'c>, functions: &mut Functions<'c>) -> Result<(), Refusal> {
    let is_shared = |value: &Value<'_>| value.ty().ptr_space() == Some(3);
    match op.name() {
        "llvm.call" | "llvm.invoke" if !functions.may_call(op) => Err(Refusal::Calls),
        "llvm.alloca" if op.operand(0).defining_op().and_then(Op::constant_int).is_none() => Err(Refusal::DynamicStack),
        "llvm.ptrtoint" if op.operands().iter().any(is_shared) => Err(Refusal::SharedAddress),
        "llvm.inline_asm" => {
            let shared = op.attr("asm_string").is_some_and(|text| text.as_str().is_some_and(|t| t.contains(".shared")));
            if shared { Err(Refusal::SharedAddress) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

/// Whether all threads of the block meet in each round of a loop: then no thread is in the loop alone, and what it waits for
/// comes from a thread that has had its turn.
fn meets_each_time(op: Op<'_>) -> bool {
    op.regions()
        .into_iter()
        .flat_map(|region| region.blocks())
        .flat_map(|block| block.ops())
        .any(|inner| BARRIERS.contains(&inner.name()))
}

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

/// What an argument of a block in a structured operation comes from, and what decides how often it runs.
fn argument_sources<'c>(owner: Op<'c>, block: Block<'c>, number: usize) -> Vec<Value<'c>> {
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
fn result_sources<'c>(op: Op<'c>, number: usize) -> Vec<Value<'c>> {
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
            !library::is_pure(name)
        }
        _ => false,
    }
}

/// A struct passed by value lies in memory that all threads share.
fn arguments(wrapper: Op<'_>) -> Result<(), Refusal> {
    let Some(function) = wrapper.parent_of_name("llvm.func") else { return Ok(()) };
    for load in function.find_all(|op| op.has_attr(crate::launch::launch_function::KERNEL_ARG)) {
        if is_struct_argument(load) && !only_read(load.result(0)) {
            return Err(Refusal::WritesArgument);
        }
    }
    Ok(())
}

/// Whether an operation of the launch function gives the address of a struct passed by value.
pub fn is_struct_argument(op: Op<'_>) -> bool {
    op.has_attr(crate::launch::launch_function::KERNEL_ARG)
        && op.num_operands() == 1
        && op.operand(0).defining_op().is_some_and(|slot| slot.is("llvm.getelementptr"))
}

fn only_read(pointer: Value<'_>) -> bool {
    pointer.uses().into_iter().all(|used| match used.owner.name() {
        "llvm.getelementptr" | "llvm.addrspacecast" => only_read(used.owner.result(0)),
        "llvm.load" => true,
        "llvm.intr.memcpy" | "llvm.intr.memmove" | "llvm.intr.memcpy.inline" => used.operand == 1,
        _ => false,
    })
}
