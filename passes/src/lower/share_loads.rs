//! `regrain-share-loads`: what all threads of a block load from the same place, they load once, before their loop.
//!
//! Before:
//! ```mlir
//! scf.parallel (%x, %y, %z) = ... {
//!   %at = llvm.getelementptr %lengths[%block]        // the same in all threads
//!   %n = llvm.load %at
//!   ...
//!   scf.for %k = %c0 to %n step %c1 { ... regrain.barrier(%x, %y, %z) ... }
//! }
//! ```
//! After:
//! ```mlir
//! %at = llvm.getelementptr %lengths[%block]
//! %n = llvm.load %at
//! scf.parallel (%x, %y, %z) = ... { ... }
//! ```
//! A loop that goes up to `%n` is then one that the threads share, and its rounds have no guard for each thread.
//!
//! All threads surely come to the load, and no thread of the block writes there before all have loaded: up to the first barrier that all
//! come to. What another block would write meanwhile would be a race of the program.
//!
//! Declined: loads that are volatile or atomic, in control flow, behind what may not end, or of a thread's own memory, and kernels that do
//! more than access memory, compute and meet before the first barrier.

use mlir_bridge::{
    ir::{Op, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::{GpuWrapper, is_barrier};
use tracing::debug;

use crate::analysis::{
    accesses::{Effects, MemoryAnalysis, Who},
    counted_loop::is_outside,
    phases::is_plain,
};
use crate::lower::before::is_known_before;

/// How far an address is followed.
const DEPTH: u32 = 16;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-share-loads",
    summary: "load once for a block what all its threads load from one place",
    anchor: Anchor::Module,
    options: &[],
    dialects: &[],
    run,
};

fn run(_pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    for wrapper in GpuWrapper::all(module) {
        for block in wrapper.block_loops() {
            let moved = share(block);
            debug!(target: PASS.name, "{}: {moved} loads", wrapper.kernel().unwrap_or_default());
        }
    }
    Ok(())
}

/// Moves the loads that threads share before their loop; gives their number.
fn share(block: Op<'_>) -> usize {
    let memory = MemoryAnalysis::new(block);
    let ends = |op: &Op<'_>| is_barrier(*op) && is_plain(*op);
    let phase: Vec<_> = block.body().ops().into_iter().take_while(|op| !ends(op)).collect();
    let mut effects = Effects::default();
    phase.iter().for_each(|op| effects.join(&memory.effects(*op)));
    if effects.unknown {
        return 0;
    }
    let mut loads = 0;
    for op in phase {
        let known = || is_known_before(block, op.operand(0), &[], DEPTH);
        if op.is("llvm.load") && known() && is_unwritten(&memory, &effects, op) {
            take(op, block);
            loads += 1;
        }
        if memory.may_end(op) {
            break;
        }
    }
    loads
}

/// Whether no thread writes what a load reads.
fn is_unwritten<'c>(memory: &MemoryAnalysis<'c>, effects: &Effects<'c>, load: Op<'c>) -> bool {
    let own = memory.effects(load);
    let [place] = &own.accesses[..] else { return false };
    effects.writes().all(|write| [Who::Same, Who::Other].into_iter().all(|who| !memory.may_meet(write, place, who)))
}

/// Moves an operation before a loop, and what it is computed from.
fn take<'c>(op: Op<'c>, block: Op<'c>) {
    let inside = op.operands().into_iter().filter(|operand| !is_outside(*operand, block));
    inside.filter_map(Value::defining_op).for_each(|source| take(source, block));
    op.move_before(block);
}
