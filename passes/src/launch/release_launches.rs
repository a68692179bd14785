//! `regrain-release-launches`: launches that were kept as the program wrote them may change again, now that those that were
//! changed are kernels of their own.
//!
//! Before:  regrain.gpu_wrapper @k ... attributes {regrain.kept, regrain.original}
//! After:   regrain.gpu_wrapper @k ...

use mlir_bridge::ir::Op;
use mlir_bridge::pass::{Anchor, PassInfo, PassResult, PassRun};
use regrain_dialects::attributes::{KEPT, ORIGINAL};
use regrain_dialects::ops::GpuWrapper;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-release-launches",
    summary: "let launches that were kept be optimised",
    anchor: Anchor::Any,
    options: &[],
    dialects: &[],
    run,
};

fn run(_run: &PassRun<'_>, root: Op<'_>) -> PassResult {
    for wrapper in GpuWrapper::all(root) {
        wrapper.op().remove_attr(KEPT);
        wrapper.op().remove_attr(ORIGINAL);
    }
    Ok(())
}
