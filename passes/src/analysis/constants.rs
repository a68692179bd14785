//! Integers that stand in the IR.

use mlir_bridge::ir::{Op, Type, Value};

/// The value of an integer constant.
pub fn constant(value: Value<'_>) -> Option<i64> {
    let op = value.defining_op()?;
    matches!(op.name(), "llvm.mlir.constant" | "arith.constant")
        .then(|| op.attr("value").and_then(|attr| attr.as_int()))
        .flatten()
}

/// A constant in any width, or a product of constants.
pub fn product(value: Value<'_>) -> Option<i64> {
    let factors = |op: Op<'_>| match op.name() {
        "arith.muli" => product(op.operand(0))?.checked_mul(product(op.operand(1))?),
        "arith.index_cast" => product(op.operand(0)),
        "llvm.zext" => product(op.operand(0)).filter(|number| *number >= 0),
        _ => None,
    };
    constant(value).or_else(|| value.defining_op().and_then(factors))
}

/// Whether nothing is said of what a value is.
pub fn is_undefined(value: Value<'_>) -> bool {
    value.defining_op().is_some_and(|op| matches!(op.name(), "ub.poison" | "llvm.mlir.undef" | "llvm.mlir.poison"))
}

/// The width of an integer type of at most 64 bits, or of an index.
pub fn width(ty: Type<'_>) -> Option<u32> {
    if ty.is_index() { Some(64) } else { ty.int_width().filter(|bits| (1..=64).contains(bits)) }
}
