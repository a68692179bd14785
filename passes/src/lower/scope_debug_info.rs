//! `regrain-scope-debug-info`: source lines for functions that were made of others.
//!
//! ```text
//! Before: the operations of a version, or of a block function, say that they stand in the kernel that they come from:
//!   llvm.func @"k$b2x1x1"(...) { ... llvm.load ... loc(fused<#subprogram_of_k>["a.cu":5:12]) ... } loc("a.cu":2:0)
//! After: the function has a subprogram of its own, which its symbol is the linkage name of:
//!   llvm.func @"k$b2x1x1"(...) { ... llvm.load ... loc(fused<#own>["a.cu":5:12]) ... } loc(fused<#own>["a.cu":2:0])
//! ```
//!
//! LLVM wants it so, and the export drops the lines of functions without. Operations of other origin get line 0, which
//! debuggers and profilers take for code of the compiler's own. Functions that have a subprogram, or of which no operation
//! names one, stay as they are.

use mlir_bridge::{
    ir::Op,
    pass::{Anchor, PassInfo, PassResult, PassRun},
};

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-scope-debug-info",
    summary: "give functions that were made of others a subprogram, so that they keep their source lines",
    anchor: Anchor::Module,
    options: &[],
    dialects: &["llvm"],
    run,
};

fn run(_: &PassRun<'_>, module: Op<'_>) -> PassResult {
    scope_all(module);
    Ok(())
}

/// Scopes every function of a module.
pub fn scope_all(module: Op<'_>) {
    for function in module.find_named("llvm.func") {
        function.scope_debug_info();
    }
}
