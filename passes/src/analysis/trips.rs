//! Loops whose bounds differ between the copies while the number of their iterations does not.
//!
//! ```text
//! Before, in a copy:                                     After, for all copies:
//!   %lo = mul %i, %n ; %hi = addi %lo, %n overflow<nsw>    %d = subi %lo1, %lo0
//!   scf.for %j = %lo to %hi step %s {                      scf.for %j = %lo0 to %hi0 step %s {
//!     A(%i, %j)                                              %j1 = addi %j, %d ; A(%i0, %j) ; A(%i1, %j1)
//! ```
//!
//! Declines where the two bounds are not sums of one value and of values that are the same in all copies, or where a sum on
//! the way may wrap: then the distance between the bounds says nothing about the number of iterations.

use mlir_bridge::ir::{Op, Value};

use crate::{
    analysis::facts::{constant, is_nsw, is_nuw},
    analysis::loops::Counting,
    analysis::uniformity::Uniformity,
};

/// Whether an `scf.for` runs as often in all copies.
pub fn are_same<'c>(op: Op<'c>, uniform: &Uniformity<'c>) -> bool {
    let Some(counting) = Counting::of(op) else { return false };
    let exact = if counting.unsigned { is_nuw } else { is_nsw };
    let [low, high] = [counting.lower, counting.upper].map(|bound| base(bound, uniform, exact));
    uniform.is_uniform(counting.step) && low == high
}

/// Whether an `scf.for` that runs as often in all copies does not run over the same numbers in all of them.
pub fn differ<'c>(op: Op<'c>, uniform: &Uniformity<'c>) -> bool {
    Counting::of(op).is_some_and(|counting| !uniform.all_uniform(&counting.bounds())) && are_same(op, uniform)
}

/// What a value is but for what all copies add to it alike, without wrapping.
fn base<'c>(mut value: Value<'c>, uniform: &Uniformity<'c>, exact: fn(Op<'c>) -> bool) -> Value<'c> {
    while let Some((rest, added)) = addends(value, uniform) {
        let within = value.defining_op().is_some_and(exact);
        // A sum that is a value which was there before does not wrap either.
        let before = addends(rest, uniform).filter(|(_, less)| {
            rest.defining_op().is_some_and(exact) && added.zip(*less).is_some_and(|(added, less)| added + less == 0)
        });
        value = match before {
            Some((before, _)) => before,
            None if within => rest,
            None => break,
        };
    }
    value
}

/// A value that differs between copies, and what is added to it alike in all of them if that is a constant.
fn addends<'c>(value: Value<'c>, uniform: &Uniformity<'c>) -> Option<(Value<'c>, Option<i128>)> {
    let op = value.defining_op()?;
    let (left, right) = match op.name() {
        "llvm.add" | "arith.addi" | "llvm.sub" | "arith.subi" => (op.operand(0), op.operand(1)),
        _ => return None,
    };
    let added = constant(right).map(i128::from);
    match (op.name(), uniform.is_uniform(left), uniform.is_uniform(right)) {
        ("llvm.sub" | "arith.subi", false, true) => Some((left, added.map(|number| -number))),
        ("llvm.add" | "arith.addi", false, true) => Some((left, added)),
        ("llvm.add" | "arith.addi", true, false) => Some((right, None)),
        _ => None,
    }
}
