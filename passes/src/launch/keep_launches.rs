//! `regrain-keep-launches`: copies each launch function, so that the kernel stays there as it was while the copy changes.
//!
//! Before:
//! ```mlir
//! llvm.func @__regrain_launch.k(...)   { regrain.gpu_wrapper @k ... }
//! ```
//! After:
//! ```mlir
//! llvm.func @__regrain_launch.k(...)   { regrain.gpu_wrapper @k ... attributes {regrain.kept, regrain.original} }
//! llvm.func @__regrain_dispatch.k(...) { regrain.gpu_wrapper @k ... attributes {regrain.original} }
//! ```
//! Coarsening leaves the first alone. A function that does not hold just one launch is left as it is.

use mlir_bridge::{
    ir::{Builder, Mapping, Op},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};

use crate::{
    coarsen::coarsening::{KEPT, ORIGINAL},
    launch::launch_function::{DISPATCH_PREFIX, LAUNCH_PREFIX},
};

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
    for launch in module.find_named("llvm.func") {
        let Some(target) = launch.symbol_name().and_then(|name| name.strip_prefix(LAUNCH_PREFIX)) else { continue };
        let [wrapper] = launch.find_named("regrain.gpu_wrapper")[..] else { continue };
        let copy = Builder::after(launch).clone_op(launch, &mut Mapping::new());
        copy.set_attr("sym_name", module.ctx().str_attr(&format!("{DISPATCH_PREFIX}{target}")));
        for changing in copy.find_named("regrain.gpu_wrapper") {
            changing.set_attr(ORIGINAL, module.ctx().unit_attr());
        }
        for mark in [KEPT, ORIGINAL] {
            wrapper.set_attr(mark, module.ctx().unit_attr());
        }
    }
}

/// Removes the launch functions that were kept: what is left are the versions.
pub fn drop_kept(module: Op<'_>) {
    for launch in module.find_named("llvm.func") {
        let name = launch.symbol_name().unwrap_or_default();
        if name.starts_with(LAUNCH_PREFIX) && launch.contains(|op| op.has_attr(KEPT)) {
            launch.erase();
        }
    }
}

