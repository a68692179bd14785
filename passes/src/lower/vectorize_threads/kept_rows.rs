//! Loops over the rows of a block that stay loops.
//!
//! LLVM writes out a loop over eight rows of 32 threads as if each were a thread, which takes it several times as long to compile, and lets it keep rows of
//! a tile in registers that there are not. Where a row is of several registers a round has enough to do by itself, so there is nothing to gain, but where what
//! each thread keeps between barriers becomes registers: that takes places that are constants.

use mlir_bridge::ir::{Op, Type, Value};
use regrain_dialects::attributes::{REUSED, ROWS};

use super::Machine;
use crate::{
    analysis::{facts::constant, loops::Counting, objects::root, uniformity::free_values},
    lower::LOOP_ANNOTATION,
};

/// The registers that a round moves at once from which there is nothing to gain.
const WIDE: u32 = 2;
/// The operations that a loop may be written out to.
const WRITTEN_OUT: u64 = 100;

/// Marks the loops of a function.
pub fn keep(function: Op<'_>, machine: Machine) {
    let Some(annotation) = function.ctx().parse_attr("#llvm.loop_annotation<unroll = <disable = true>>") else {
        return;
    };
    let is_kept = |op: &Op<'_>| {
        op.has_attr(ROWS)
            && !op.has_attr(LOOP_ANNOTATION)
            && written_out(*op).is_none_or(|all| all > WRITTEN_OUT)
            && op.contains(|inner| is_wide(inner, machine))
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

/// Whether an operation loads or stores several registers.
fn is_wide(op: Op<'_>, machine: Machine) -> bool {
    let moved = match op.name() {
        name if name.contains("load") => op.results(),
        name if name.contains("store") => op.operands(),
        _ => return false,
    };
    moved.into_iter().any(|value| {
        let bits = |(element, lanes): (Type<'_>, u32)| u64::from(lanes) * element.layout(op).0 * 8;
        value.ty().vector_parts().is_some_and(|parts| bits(parts) >= u64::from(WIDE * machine.register_bits))
    })
}

/// Whether a value is an address of what threads have for themselves. Of shared memory there is one.
fn is_of_threads(value: Value<'_>) -> bool {
    let is_own = |op: Op<'_>| op.is("llvm.alloca") && (op.has_attr(REUSED) || constant(op.operand(0)) != Some(1));
    value.ty().ptr_space().is_some() && root(value).defining_op().is_some_and(is_own)
}
