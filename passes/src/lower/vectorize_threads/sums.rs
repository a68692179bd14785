//! Atomic operations of a row that one operation can do for all lanes.

use mlir_bridge::ir::Op;

use super::shapes::Shapes;

/// Reductions of integers that an atomic operation can be told to do once for all lanes: its number, the reduction and what changes nothing.
pub fn reduction(op: Op<'_>) -> Option<(&'static str, i64)> {
    let bits = op.operand(1).ty().int_width()?;
    let (least, most) = (-1i64 << (bits - 1), !(-1i64 << (bits - 1)));
    Some(match op.attr("bin_op")?.as_int()? {
        1 => ("add", 0),
        3 => ("and", -1),
        5 => ("or", 0),
        6 => ("xor", 0),
        7 => ("smax", least),
        8 => ("smin", most),
        9 => ("umax", 0),
        10 => ("umin", -1),
        _ => return None,
    })
}

/// Whether all lanes update one place by something whose order does not matter, and none asks what was there.
pub fn combines<'c>(shapes: &Shapes<'c>, op: Op<'c>) -> bool {
    op.is("llvm.atomicrmw")
        && !op.result(0).has_uses()
        && shapes.is_uniform(op.operand(0))
        && op.operand(1).ty().int_width().is_some_and(|bits| (8..=64).contains(&bits))
        && reduction(op).is_some()
}
