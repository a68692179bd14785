//! Lifting of control flow, done in C++ (`cpp/lift.cpp`) because MLIR's transformation takes a C++ interface.

use crate::{ffi, ir::Op};

/// Dialects whose operations lifting makes; they must be loaded.
pub const DIALECTS: &[&str] = &["llvm", "scf", "arith", "ub"];

/// Turns the branches of an `llvm.func` with a body into structured control flow. On failure the function is as it was,
/// and the error says why.
pub fn lift_control_flow(func: Op<'_>) -> Result<(), String> {
    // SAFETY: the operation is live, the sink gets its own.
    ffi::attempt(|sink, user| unsafe { ffi::regrainLiftControlFlow(func.raw(), sink, user) }).map(drop)
}

/// Whether an integer operation of llvm or arith carries `nsw` and `nuw`.
pub fn overflow_flags(op: Op<'_>) -> (bool, bool) {
    // SAFETY: the operation is live and only read.
    let flags = unsafe { ffi::regrainOverflowFlags(op.raw()) };
    (flags & 1 != 0, flags & 2 != 0)
}

/// Whether a floating-point operation of llvm or arith may be done in another order with others of its kind.
pub fn may_reorder(op: Op<'_>) -> bool {
    // SAFETY: the operation is live and only read.
    unsafe { ffi::regrainFastMathFlags(op.raw()) & 4 != 0 }
}

/// Whether a floating-point operation of llvm or arith takes every operand for a number, and zeros of both signs for one.
pub fn has_plain_numbers(op: Op<'_>) -> bool {
    // SAFETY: the operation is live and only read.
    unsafe { ffi::regrainFastMathFlags(op.raw()) & 8 != 0 }
}

/// Whether a floating-point function of llvm or arith may be computed by another one that is close to it.
pub fn may_approximate(op: Op<'_>) -> bool {
    // SAFETY: the operation is live and only read.
    unsafe { ffi::regrainFastMathFlags(op.raw()) & 16 != 0 }
}

/// Whether a floating-point operation of llvm or arith may be contracted, and whether it has any other fast-math flag.
pub fn fast_math_flags(op: Op<'_>) -> (bool, bool) {
    // SAFETY: the operation is live and only read.
    let flags = unsafe { ffi::regrainFastMathFlags(op.raw()) };
    (flags & 1 != 0, flags & 2 != 0)
}
