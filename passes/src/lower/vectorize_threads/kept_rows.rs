//! Loops over the rows of a block that stay loops.
//!
//! LLVM writes out a loop over eight rows of 32 threads as if each were a thread, which takes it several times as long to compile, and lets it keep rows of
//! a tile in registers that there are not. A round serves a whole row, so there is nothing to gain, but where what each thread keeps between barriers
//! becomes registers: that takes places that are constants.

use mlir_bridge::ir::{Op, Value};
use regrain_dialects::attributes::{REUSED, ROWS};

use crate::{
    analysis::{facts::constant, loops::Counting, objects::root, uniformity::free_values},
    lower::LOOP_ANNOTATION,
};

/// The operations that a loop may be written out to.
const WRITTEN_OUT: u64 = 100;

/// Marks the loops of a function.
pub fn keep(function: Op<'_>) {
    let Some(annotation) = function.ctx().parse_attr("#llvm.loop_annotation<unroll = <disable = true>>") else {
        return;
    };
    let is_kept = |op: &Op<'_>| {
        op.has_attr(ROWS)
            && !op.has_attr(LOOP_ANNOTATION)
            && written_out(*op).is_none_or(|all| all > WRITTEN_OUT)
            && !free_values(*op).into_iter().any(is_of_threads)
    };
    for rows in function.find_all(|op| is_kept(&op)) {
        rows.set_attr(LOOP_ANNOTATION, annotation);
    }
}

/// The operations of all rounds of a loop, if these are known.
fn written_out(rows: Op<'_>) -> Option<u64> {
    let rounds = Counting::of(rows)?.rounds()?.unsigned_abs();
    let inside = rows.find_all(|op| op != rows && !op.is("arith.constant") && !op.is("llvm.mlir.constant"));
    Some(rounds.saturating_mul(inside.len() as u64))
}

/// Whether a value is an address of what threads have for themselves. Of shared memory there is one.
fn is_of_threads(value: Value<'_>) -> bool {
    let is_own = |op: Op<'_>| op.is("llvm.alloca") && (op.has_attr(REUSED) || constant(op.operand(0)) != Some(1));
    value.ty().ptr_space().is_some() && root(value).defining_op().is_some_and(is_own)
}
