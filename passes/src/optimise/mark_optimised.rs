//! `regrain-mark-optimized`: the end of the optimisations; none of them looks again at a launch that has been optimised.
//!
//! Before:  regrain.gpu_wrapper @k ...
//! After:   regrain.gpu_wrapper @k ... attributes {regrain.optimised}

use mlir_bridge::ir::Op;
use mlir_bridge::pass::{Anchor, PassInfo, PassResult, PassRun};
use regrain_dialects::attributes::OPTIMISED;
use regrain_dialects::ops::GpuWrapper;

use super::targets::targets;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-mark-optimized",
    summary: "mark launches that need no further optimisation",
    anchor: Anchor::Any,
    options: &[],
    dialects: &["regrain"],
    run,
};

fn run(_run: &PassRun<'_>, root: Op<'_>) -> PassResult {
    for wrapper in targets(root).into_iter().filter_map(GpuWrapper::cast) {
        wrapper.op().set_attr(OPTIMISED, root.ctx().unit_attr());
    }
    Ok(())
}
