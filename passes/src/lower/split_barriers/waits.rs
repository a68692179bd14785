//! Loops that may wait for another thread, in a block that is to be split.
//!
//! In a thread loop without operations of warps each thread waits on its own, and the others have their turn meanwhile (`lower_cpu::waiting`).
//! Where the rows of a thread loop are warps, lanes go in step; a loop in which they meet at each round holds no lane back that
//! another one waits for:
//! ```mlir
//! scf.while (%status) { %none = cmpi eq %status, 0 ; %any = regrain.vote any %none mask -1 ; scf.condition(%any) } do { load volatile }
//! ```
//! Where they do not, a lane might wait for another lane of its warp, and the thread loop, it alone, runs lane by lane on stacks. All that is
//! for blocks whose rows are warps; in others thread loops end at operations of warps, and a thread might wait for what comes after one.

use mlir_bridge::ir::Op;
use regrain_dialects::ops::{ActiveMask, is_barrier, is_synchronising};

use super::{legality::Refusal, plan::Plan};
use crate::analysis::waiting::{always, may_wait};

/// Whether threads that wait in the block get on when it is split; `rows_are_warps` says whether operations of warps stay in thread loops.
pub fn check(block: Op<'_>, rows_are_warps: bool) -> Result<(), Refusal> {
    let loops = block.find_all(|op| op.is("scf.while") && !meets_each_time(op) && may_wait(op));
    if loops.is_empty() {
        return Ok(());
    }
    let plan = Plan::new(block, true);
    let warp_operations = block.find_all(|op| is_synchronising(op) && !is_barrier(op));
    for spin in loops {
        let mut beside = warp_operations.iter().filter(|op| plan.stand_together(spin, **op));
        // Without rows the thread loop would end at each of them; which lanes run together only the threads' own stacks tell.
        if spin.contains(is_barrier) || beside.any(|op| !rows_are_warps || op.is(ActiveMask::NAME)) {
            return Err(Refusal::MayWait);
        }
    }
    Ok(())
}

/// Whether all threads of the block meet in each round of a loop: then no thread is in the loop alone, and what it waits for
/// comes from a thread that has had its turn.
fn meets_each_time(op: Op<'_>) -> bool {
    always(op).into_iter().any(is_barrier)
}
