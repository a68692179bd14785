//! `regrain-keep-launches`: copies each launch function, so that the kernel stays there as it was while the copy changes.
//!
//! Before:
//! ```mlir
//! llvm.func @__regrain_launch.k(...)   attributes {regrain.launch = @k} { regrain.gpu_wrapper @k ... }
//! ```
//! After:
//! ```mlir
//! llvm.func @__regrain_launch.k(...)   { regrain.gpu_wrapper @k ... attributes {regrain.kept, regrain.original} }
//! llvm.func @__regrain_dispatch.k(...) attributes {regrain.dispatch = @k} { regrain.gpu_wrapper @k ... attributes {regrain.original} }
//! ```
//! Coarsening leaves the first alone. A function that does not hold just one launch is left as it is, and one whose kernel synchronises
//! the grid: such a kernel keeps its grain.

use mlir_bridge::{
    ir::{Builder, Mapping, Op},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};

use regrain_dialects::{
    attributes::{DISPATCH, KEPT, LAUNCH, ORIGINAL},
    ops::{GpuWrapper, is_grid_barrier},
};

use crate::launch::launch_function::{dispatch_name, launches};

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-keep-launches",
    summary: "copy each launch function, so that one stays as it is while the other is changed",
    anchor: Anchor::Module,
    options: &[],
    dialects: &["regrain", "llvm"],
    run,
};

fn run(_pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    keep_launches(module);
    Ok(())
}

/// Copies each launch function to a dispatch function: there the wrapper may change, in the launch function it is kept.
pub fn keep_launches(module: Op<'_>) {
    let ctx = module.ctx();
    for (launch, kernel, shape) in launches(module) {
        let [wrapper] = GpuWrapper::all(launch)[..] else { continue };
        if launch.contains(is_grid_barrier) {
            continue;
        }
        let copy = Builder::after(launch).clone_op(launch, &mut Mapping::new());
        copy.set_attr("sym_name", ctx.str_attr(&dispatch_name(kernel, shape)));
        copy.remove_attr(LAUNCH);
        copy.set_attr(DISPATCH, ctx.symbol_attr(kernel));
        for changing in GpuWrapper::all(copy) {
            changing.op().set_attr(ORIGINAL, ctx.unit_attr());
        }
        for mark in [KEPT, ORIGINAL] {
            wrapper.op().set_attr(mark, ctx.unit_attr());
        }
    }
}

/// Removes the launch functions that were kept: what is left are the versions.
pub fn drop_kept(module: Op<'_>) {
    for (launch, ..) in launches(module) {
        if GpuWrapper::all(launch).into_iter().any(|wrapper| wrapper.op().has_attr(KEPT)) {
            launch.erase();
        }
    }
}
