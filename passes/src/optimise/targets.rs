//! What the optimisations of the parallel form run on.

use mlir_bridge::ir::{Op, Walk};
use regrain_dialects::attributes::{KEPT, OPTIMISED, ORIGINAL};
use regrain_dialects::ops::GpuWrapper;

/// Whether the kernel of a launch stays as it is.
pub fn is_kept(wrapper: Op<'_>) -> bool {
    wrapper.has_attr(ORIGINAL) || wrapper.has_attr(KEPT)
}

/// What a pass runs on: the launches in `root` that are no longer the original and were not optimised before, and parallel loops
/// outside of launches.
pub fn targets(root: Op<'_>) -> Vec<Op<'_>> {
    let mut found = Vec::new();
    let is_inside = GpuWrapper::around(root).is_some();
    root.walk_pre(|op| match op.name() {
        GpuWrapper::NAME => {
            found.extend(Some(op).filter(|op| !is_kept(*op) && !op.has_attr(OPTIMISED)));
            Walk::Skip
        }
        "scf.parallel" => {
            found.extend(Some(op).filter(|op| !is_inside && op.parent_of_name("scf.parallel").is_none()));
            Walk::Advance
        }
        _ => Walk::Advance,
    });
    found
}

/// The loops over threads in a target: the block loop of a launch, or outside of launches the innermost parallel loops.
pub fn thread_loops(target: Op<'_>) -> Vec<Op<'_>> {
    if let Some(wrapper) = GpuWrapper::cast(target) {
        return wrapper.block_loop().into_iter().collect();
    }
    target.find_all(|op| op.is("scf.parallel") && !op.contains(|inner| inner != op && inner.is("scf.parallel")))
}
