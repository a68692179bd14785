//! `regrain-merge-common-values`: what was computed before is not computed again.
//!
//! ```text
//! Before:                                      After:
//!   %a = llvm.mul %i, %n : i64                   %a = llvm.mul %i, %n : i64
//!   %b = llvm.mul %i, %n : i64
//!   llvm.call @use(%a, %b)                       llvm.call @use(%a, %a)
//! ```
//!
//! Coarsening leaves such copies, of whatever does not depend on the copy. The merging is MLIR's (`cse`), on one launch or loop;
//! what that leaves without use goes too.
//!
//! Declines calls, and loads with a store, a barrier or the end of a block in between: those are for `regrain-forward-stores`.

use mlir_bridge::{
    ir::Op,
    pass::{Anchor, PassInfo, PassResult, PassRun},
    transforms::eliminate_common_subexpressions,
};

use crate::optimise::targets::targets;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-merge-common-values",
    summary: "compute equal values once",
    anchor: Anchor::Any,
    options: &[],
    dialects: &["regrain"],
    run,
};

fn run(_run: &PassRun<'_>, root: Op<'_>) -> PassResult {
    for target in targets(root) {
        merge(target);
    }
    Ok(())
}

/// Merges equal values in a launch or loop.
pub fn merge(target: Op<'_>) {
    eliminate_common_subexpressions(target);
    sweep(target);
}

/// Erases what has no use and no effect, inner before outer, users before what they use.
pub fn sweep(root: Op<'_>) {
    let mut all = root.find_all(|op| op != root);
    all.reverse();
    for op in all {
        if op.num_results() > 0 && op.num_regions() == 0 && op.is_trivially_dead() {
            op.erase();
        }
    }
}
