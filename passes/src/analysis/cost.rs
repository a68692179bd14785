//! What it costs to compute a value again, in simple operations.

use mlir_bridge::ir::Op;

use crate::analysis::facts::constant;

/// What a value must cost, in simple operations, to be worth one more argument.
pub const WORTH: u32 = 10;

/// Whether an operation divides integers, by its name.
pub fn is_division(name: &str) -> bool {
    let short = name.split_once('.').map_or(name, |(_, short)| short);
    matches!(short, "sdiv" | "udiv" | "srem" | "urem" | "divsi" | "divui" | "remsi" | "remui")
}

/// What an operation costs by itself.
pub fn own_cost(op: Op<'_>) -> u32 {
    let name = op.name();
    let short = name.split_once('.').map_or(name, |(_, short)| short);
    match short {
        "mlir.constant" | "constant" | "load" | "getelementptr" | "index_cast" | "index_castui" | "sext" | "zext"
        | "trunc" => 0,
        "fdiv" | "divf" | "intr.sqrt" => 12,
        _ if is_division(short) && constant(op.operand(1)).is_some() => 4,
        _ if is_division(short) => 20,
        _ => 1,
    }
}
