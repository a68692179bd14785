//! What the passes share that let a launch function choose when it runs.

use mlir_bridge::ir::{Builder, Op, Region};
use regrain_dialects::ops::Alternatives;

/// The launch function that alternatives stand in, if they give its error code.
pub fn launch_function<'c>(alternatives: Alternatives<'c>) -> Option<Op<'c>> {
    let op = alternatives.op();
    let gives_error = op.num_results() == 1 && op.result(0).ty().is_int(32);
    op.parent_of_name("llvm.func").filter(|function| gives_error && function.body().num_args() == 9)
}

/// Makes the region of an alternative that of an operation of the scf dialect.
pub fn take<'c>(to: Region<'c>, from: Region<'c>) {
    to.take_blocks(from);
    if let Some(end) = to.entry().terminator() {
        Builder::before(end).scf_yield(&end.operands());
        end.erase();
    }
}
