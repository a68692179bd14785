//! Lifting of control flow, done in C++ (`cpp/lift.cpp`) because MLIR's transformation takes a C++ interface.

use std::ffi::c_void;

use crate::{ffi, ir::Op};

unsafe extern "C" {
    fn regrainLiftControlFlow(
        func: mlir_sys::MlirOperation,
        reason: mlir_sys::MlirStringCallback,
        user: *mut c_void,
    ) -> bool;
    fn regrainOverflowFlags(op: mlir_sys::MlirOperation) -> u32;
}

/// Dialects whose operations lifting makes; they must be loaded.
pub const DIALECTS: &[&str] = &["llvm", "scf", "arith", "ub"];

/// Turns the branches of an `llvm.func` with a body into structured control flow. On failure the function is as it was,
/// and the error says why.
pub fn lift_control_flow(func: Op<'_>) -> Result<(), String> {
    let mut lifted = false;
    let reason = ffi::collect(|user| {
        // SAFETY: the operation is live, `append_ref` gets the live Vec that `collect` made for it.
        lifted = unsafe { regrainLiftControlFlow(func.raw(), Some(ffi::append_ref), user) };
    });
    if lifted { Ok(()) } else { Err(reason) }
}

/// Whether an integer operation of llvm or arith carries `nsw` and `nuw`.
pub fn overflow_flags(op: Op<'_>) -> (bool, bool) {
    // SAFETY: the operation is live and only read.
    let flags = unsafe { regrainOverflowFlags(op.raw()) };
    (flags & 1 != 0, flags & 2 != 0)
}
