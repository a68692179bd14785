//! Which values are the same in all lanes of a warp.
//!
//! Shown for what does not depend on the thread, for the number of the warp, for quotients of the linear thread index by
//! multiples of 32, and for comparisons of that index with multiples of 32 (`threadIdx.x < 32`); and for what is computed from
//! such values alone. Everything else may differ.

use mlir_bridge::ir::{Op, Value};
use regrain_dialects::ops::WarpId;

use crate::{analysis::counted_loop::is_outside, analysis::facts::constant};

const WARP_SIZE: i64 = 32;

/// How far a value is followed.
const DEPTH: usize = 12;

/// Whether a value inside the loop over a block is the same in all lanes of a warp of that block.
pub fn is_same_in_warp<'c>(value: Value<'c>, block: Op<'c>) -> bool {
    same(value, block, DEPTH)
}

fn same<'c>(value: Value<'c>, block: Op<'c>, depth: usize) -> bool {
    if is_outside(value, block) {
        return true;
    }
    let Some(op) = value.defining_op().filter(|_| depth > 0) else { return false };
    if WarpId::is(op) {
        return true;
    }
    let operands = op.operands();
    match op.name() {
        "arith.cmpi" | "llvm.icmp"
            if is_linear_index(operands[0], block, DEPTH) && divides_at_warp(op, operands[1]) =>
        {
            return true;
        }
        "llvm.lshr" | "arith.shrui" if is_linear_index(operands[0], block, DEPTH) => {
            return constant(operands[1]).is_some_and(|bits| bits >= 5);
        }
        "llvm.udiv" | "arith.divui" if is_linear_index(operands[0], block, DEPTH) => {
            return is_whole_warps(operands[1]);
        }
        _ => {}
    }
    op.num_regions() == 0 && op.is_pure() && operands.into_iter().all(|operand| same(operand, block, depth - 1))
}

/// Whether a comparison of an index with a constant changes where a warp begins: `< 32`, `>= 32`, `<= 31`, `> 31`.
fn divides_at_warp(comparison: Op<'_>, bound: Value<'_>) -> bool {
    // The numbers are those of slt, sge, ult, uge, and of sle, sgt, ule, ugt.
    let first = match comparison.attr("predicate").and_then(|predicate| predicate.as_int()) {
        Some(2 | 5 | 6 | 9) => constant(bound),
        Some(3 | 4 | 7 | 8) => constant(bound).map(|bound| bound + 1),
        _ => None,
    };
    first.is_some_and(|first| first > 0 && first % WARP_SIZE == 0)
}

fn is_whole_warps(value: Value<'_>) -> bool {
    constant(value).is_some_and(|number| number > 0 && number % WARP_SIZE == 0)
}

/// Whether a value is the induction variable in x of a block whose warps are rows of 32 in x, or whole warps more.
fn is_linear_index<'c>(value: Value<'c>, block: Op<'c>, depth: usize) -> bool {
    if let Some((holder, number)) = value.block_arg() {
        let sizes = block.operands()[3..6].to_vec();
        let flat = constant(sizes[1]) == Some(1) && constant(sizes[2]) == Some(1);
        let rows = constant(sizes[0]).is_some_and(|size| size % WARP_SIZE == 0);
        return holder.parent_op() == Some(block) && number == 0 && (flat || rows);
    }
    let Some(op) = value.defining_op().filter(|_| depth > 0) else { return false };
    if matches!(op.name(), "arith.addi" | "llvm.add") && is_whole_warps(op.operand(1)) {
        return is_linear_index(op.operand(0), block, depth - 1);
    }
    let cast = matches!(
        op.name(),
        "arith.index_cast" | "arith.index_castui" | "llvm.zext" | "arith.extui" | "llvm.sext" | "arith.extsi"
    );
    cast && is_linear_index(op.operand(0), block, depth - 1)
}
