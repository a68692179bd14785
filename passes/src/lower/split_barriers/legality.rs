//! When a block loop can be split, and the closed list of reasons why not.

use mlir_bridge::ir::{Block, Op, Value};
use regrain_dialects::attributes::KERNEL_ARG;
use regrain_dialects::ops::{
    Barrier, BarrierReduce, GpuWrapper, Shared, TakeBlocks, is_barrier, is_grid_barrier, is_shared_memory,
    is_synchronising,
};
use regrain_targets::device_language::library::SHARED_POINTER;
use regrain_targets::device_language::thread_ops::{ThreadOp, classify};

use super::grid;
use crate::analysis::{
    functions::Functions,
    loops::Counting,
    objects::{is_struct_argument, only_read},
    spaces::asks_of_unknown,
    synchronisation::STRUCTURES,
    waiting::{may_wait, touches_shared},
};
use crate::lower::vectorize_threads::is_ordinary;

mlir_bridge::reasons! {
    /// Why a wrapper is not split.
    pub enum Refusal {
        NoBlockLoop => "it has no grid loop with one block loop inside",
        NoUnitSteps => "its block loop has not three dimensions from 0 with step 1",
        EffectsBesideLoops => "it has effects between the grid loop and the block loop",
        NamedBarrier => "it uses a barrier of part of the block",
        OtherLoop => "it synchronises another loop than the block loop",
        Unstructured => "it synchronises inside of control flow that is not structured",
        ThreadRegisters => "it reads registers of its thread",
        Calls => "it calls a function that may know its thread or synchronise",
        DynamicStack => "it allocates stack memory of a size known only at run time",
        MayWait => "it may wait for another thread of its block",
        MayWaitForBlocks => "it may wait for another block elsewhere than at a barrier of the grid",
        WritesArgument => "it may write to an argument passed by value",
        SharedAddress => "it makes a number of the address of shared memory",
        AsksForShared => "it asks of an address that is not known whether it lies in shared memory",
        TooMuchState => "its threads hold too much state across synchronisation",
    }
}

/// The loops of a wrapper.
pub struct Loops<'c> {
    pub grid: Op<'c>,
    /// The one in the grid loop, or those of a choice there.
    pub blocks: Vec<Op<'c>>,
}

/// Finds the loops of a wrapper.
pub fn loops(wrapper: Op<'_>) -> Result<Loops<'_>, Refusal> {
    let view = GpuWrapper::cast(wrapper).ok_or(Refusal::NoBlockLoop)?;
    let (grid, blocks) = (view.grid_loop().ok_or(Refusal::NoBlockLoop)?, view.block_loops());
    if blocks.is_empty() { Err(Refusal::NoBlockLoop) } else { Ok(Loops { grid, blocks }) }
}

/// Why the wrapper cannot be split.
pub fn check<'c>(wrapper: Op<'c>, functions: &mut Functions<'c>) -> Result<Loops<'c>, Refusal> {
    let loops = loops(wrapper)?;
    beside(wrapper, &loops)?;
    loops.blocks.iter().try_for_each(|block| block_loop(*block, functions))?;
    questions(wrapper, &loops)?;
    arguments(wrapper)?;
    Ok(loops)
}

/// Static shared memory lies on the stack of a block function, where it cannot be told from a thread's own.
fn questions<'c>(wrapper: Op<'c>, loops: &Loops<'c>) -> Result<(), Refusal> {
    let asks = |op| wrapper.parent_of_name("builtin.module").is_some_and(|module| asks_of_unknown(op, module));
    let asked = !Shared::all(wrapper).is_empty() && loops.blocks.iter().any(|block| block.contains(asks));
    if asked { Err(Refusal::AsksForShared) } else { Ok(()) }
}

fn block_loop<'c>(block: Op<'c>, functions: &mut Functions<'c>) -> Result<(), Refusal> {
    unit_steps(block)?;
    let meets_grid = block.contains(is_grid_barrier);
    for op in block.find_all(|_| true) {
        if is_synchronising(op) {
            synchronisation(op, block)?;
        }
        thread_registers(op)?;
        plain(op, functions)?;
        if meets_grid && op.is("scf.while") && !meets_each_time(op) && may_wait(op) {
            return Err(Refusal::MayWait);
        }
        if meets_grid && may_wait_for_blocks(op) {
            return Err(Refusal::MayWaitForBlocks);
        }
    }
    Ok(())
}

fn unit_steps(block: Op<'_>) -> Result<(), Refusal> {
    let dimensions = Counting::dimensions(block);
    let unit = dimensions.len() == 3 && dimensions.iter().all(Counting::is_plain) && block.num_results() == 0;
    if unit { Ok(()) } else { Err(Refusal::NoUnitSteps) }
}

/// What stands between the loops happens once for each block on the CPU too, as long as it only computes, and loads what the block
/// loads first.
fn beside(wrapper: Op<'_>, loops: &Loops<'_>) -> Result<(), Refusal> {
    let allowed = |op: &Op<'_>| {
        loops.blocks.contains(op)
            || *op == loops.grid
            || op.is_terminator()
            || is_shared_memory(*op)
            || TakeBlocks::is(*op)
            || op.is_memory_effect_free()
            || op.is("llvm.load") && is_ordinary(*op) && loops.grid.is_ancestor_of(*op)
    };
    let mut all = wrapper.body().ops();
    all.extend(loops.grid.body().ops());
    let choices = loops.blocks.iter().filter_map(|block| block.parent()).filter(|choice| *choice != loops.grid);
    let choices: Vec<_> = choices.collect();
    all.retain(|op| !choices.contains(op));
    all.extend(loops.blocks.iter().filter_map(|block| block.block()).flat_map(Block::ops));
    if all.iter().all(allowed) { Ok(()) } else { Err(Refusal::EffectsBesideLoops) }
}

fn synchronisation<'c>(op: Op<'c>, block: Op<'c>) -> Result<(), Refusal> {
    let constant = |value: Value<'_>| value.defining_op().and_then(|op| op.constant_int());
    let ivs = block.body().args();
    let named = op.operands().into_iter().filter(|value| ivs.contains(value)).count();
    if named != ivs.len() {
        return Err(Refusal::OtherLoop);
    }
    let barrier = Barrier::cast(op);
    let id = barrier.and_then(Barrier::id).or_else(|| BarrierReduce::cast(op)?.id());
    if id.is_some_and(|id| constant(id) != Some(0)) || barrier.and_then(Barrier::count).is_some() {
        return Err(Refusal::NamedBarrier);
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
        "llvm.call" if is_address(op) => Err(Refusal::SharedAddress),
        "llvm.alloca" if op.operand(0).defining_op().and_then(Op::constant_int).is_none() => Err(Refusal::DynamicStack),
        "llvm.ptrtoint" if op.operands().iter().any(is_shared) => Err(Refusal::SharedAddress),
        "llvm.inline_asm" => {
            let shared = op.attr("asm_string").is_some_and(|text| text.as_str().is_some_and(|t| t.contains(".shared")));
            if shared { Err(Refusal::SharedAddress) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

/// Whether a call puts a pointer to shared memory together.
fn is_address(call: Op<'_>) -> bool {
    call.attr("callee").and_then(|callee| callee.as_symbol()) == Some(SHARED_POINTER)
}

/// Whether all threads of the block meet in each round of a loop: then no thread is in the loop alone, and what it waits for
/// comes from a thread that has had its turn.
fn meets_each_time(op: Op<'_>) -> bool {
    op.regions().into_iter().flat_map(|region| region.blocks()).flat_map(|block| block.ops()).any(is_barrier)
}

/// Whether an operation may wait for another block than by a barrier of the grid, where alone blocks take turns.
fn may_wait_for_blocks(op: Op<'_>) -> bool {
    match op.name() {
        "scf.while" => grid::waits_for_other_blocks(op) && may_wait(op),
        "llvm.call" => op.parent_of_name("builtin.module").is_some_and(|module| touches_shared(module, op)),
        _ => false,
    }
}

/// A struct passed by value lies in memory that all threads share.
fn arguments(wrapper: Op<'_>) -> Result<(), Refusal> {
    let Some(function) = wrapper.parent_of_name("llvm.func") else { return Ok(()) };
    for load in function.find_all(|op| op.has_attr(KERNEL_ARG)) {
        if is_struct_argument(load) && !only_read(load.result(0)) {
            return Err(Refusal::WritesArgument);
        }
    }
    Ok(())
}
