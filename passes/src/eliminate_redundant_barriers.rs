//! `regrain-eliminate-redundant-barriers`: of two barriers with no memory access between them, one
//! is enough.
//!
//! Before:                              After:
//!   regrain.barrier(%x, %y, %z)          regrain.barrier(%x, %y, %z)
//!   %i = arith.addi %x, %c1 : index      %i = arith.addi %x, %c1 : index
//!   regrain.barrier(%x, %y, %z)
//!
//! The second barrier goes only if both stand in one block, belong to the same loop, are plain
//! barriers of all threads (no id, no count, aligned), and every operation between them is known to
//! have no memory effect. In all other cases it stays.

use mlir_bridge::{
    ir::{Block, Op, Walk},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::Barrier;
use tracing::debug;

const NAME: &str = "regrain-eliminate-redundant-barriers";

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    summary: "remove barriers that directly follow a barrier of the same loop",
    anchor: Anchor::Any,
    options: &[],
    dialects: &["regrain"],
    run,
};

fn run(_run: &PassRun<'_>, root: Op<'_>) -> PassResult {
    let mut removed = 0;
    root.walk_pre(|op| {
        for region in op.regions() {
            for block in region.blocks() {
                removed += clean(block);
            }
        }
        Walk::Advance
    });
    debug!(target: NAME, "removed {removed} barriers");
    Ok(())
}

/// Removes the redundant barriers directly in one block; gives their number.
fn clean(block: Block<'_>) -> usize {
    let mut removed = 0;
    // The last barrier, while nothing after it touched memory.
    let mut last: Option<Barrier<'_>> = None;
    for op in block.ops() {
        let Some(barrier) = Barrier::cast(op) else {
            if last.is_some() && !op.is_memory_effect_free() {
                debug!(target: NAME, "{} needs the next barrier", op.name());
                last = None;
            }
            continue;
        };
        match last {
            Some(earlier) if does_work_of(earlier, barrier) => {
                op.erase();
                removed += 1;
            }
            _ => last = is_plain(barrier).then_some(barrier),
        }
    }
    removed
}

/// A barrier of all threads of its loop.
fn is_plain(barrier: Barrier<'_>) -> bool {
    barrier.id().is_none() && barrier.count().is_none() && !barrier.is_unaligned()
}

/// Whether a plain barrier makes a later one needless, no memory effect being between them.
fn does_work_of(earlier: Barrier<'_>, later: Barrier<'_>) -> bool {
    is_plain(later) && earlier.ivs() == later.ivs()
}
