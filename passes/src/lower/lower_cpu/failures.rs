//! Says which thread it is before a thread may fail, for the runtime's message.
//!
//! ```mlir
//! scf.parallel (%x, %y, %z) = ... { scf.if %bad { llvm.call @__assertfail(...) } }
//! ```
//! becomes
//! ```mlir
//! scf.parallel (%x, %y, %z) = ... { scf.if %bad { llvm.call @__regrain_set_thread(%x, %y, %z); llvm.call @__assertfail(...) } }
//! ```
//! The same before calls of functions of the module in which a thread may fail. Calls through pointers are left as they are.

use std::collections::HashSet;

use mlir_bridge::ir::{Builder, Op};
use regrain_targets::device_language::library;

use crate::lower::SET_THREAD;

/// Marks the thread before each operation of a block function's thread loops that may fail.
pub fn name_threads(module: Op<'_>, function: Op<'_>) {
    for parallel in function.find_named("scf.parallel") {
        for op in parallel.find_all(|op| may_fail(module, op, &mut HashSet::new())) {
            declare(module);
            let b = Builder::before(op);
            let indices: Vec<_> = parallel.body().args().iter().map(|iv| b.index_cast(*iv, b.ctx().int(32))).collect();
            b.llvm_call(SET_THREAD, &indices, &[]);
        }
    }
}

/// Whether an operation, or a function that it calls, may end the kernel. `seen` holds the functions looked at.
fn may_fail<'c>(module: Op<'c>, op: Op<'c>, seen: &mut HashSet<Op<'c>>) -> bool {
    if matches!(op.name(), "llvm.intr.trap" | "llvm.intr.ubsantrap") {
        return true;
    }
    if !op.is("llvm.call") {
        return false;
    }
    let Some(name) = op.attr("callee").and_then(|callee| callee.as_symbol()) else { return false };
    if library::never_returns(name) {
        return true;
    }
    let Some(callee) = module.lookup_symbol(name).filter(|callee| callee.is("llvm.func") && seen.insert(*callee))
    else {
        return false;
    };
    callee.find_all(|inner| inner != callee).into_iter().any(|inner| may_fail(module, inner, seen))
}

fn declare(module: Op<'_>) {
    if module.lookup_symbol(SET_THREAD).is_none() {
        let ctx = module.ctx();
        Builder::at_end(module.body(), ctx.unknown_loc()).llvm_func(SET_THREAD, ctx.llvm_void(), &[ctx.int(32); 3]);
    }
}
