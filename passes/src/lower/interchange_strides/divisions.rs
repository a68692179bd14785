//! Divisions of the number of a thread by one that the threads share.
//!
//! Before, for each thread:
//! ```mlir
//! %i = arith.addi %b, %x                 // %b is the round's, %x from 0 to some number below %d
//! %row = arith.divsi %i, %d
//! %col = arith.remsi %i, %d
//! ```
//! After:
//! ```mlir
//! %q = arith.divui %b, %d                // once for the round
//! %r = arith.remui %b, %d
//! %t = arith.addi %r, %x                 // less than twice %d
//! %over = arith.cmpi uge, %t, %d
//! %row = arith.addi %q, %over            // one more
//! %col = arith.select %over, %t - %d, %t
//! ```
//! The divisor is larger than what threads of a block are apart, and no number is negative: what all threads share decides
//! before the loop.

use mlir_bridge::ir::{Builder, Op, Value};

use super::{Starts, Strided};
use crate::analysis::{
    constants::constant,
    counted_loop::is_outside,
    facts::{Range, range},
};

/// A constant that is smaller is hardly more than what threads are apart.
const LARGE: i64 = 256;

/// Divisions and remainders, and whether they are of signed numbers.
fn division(op: Op<'_>) -> Option<(bool, bool)> {
    match op.name() {
        "llvm.sdiv" | "arith.divsi" => Some((true, true)),
        "llvm.udiv" | "arith.divui" => Some((true, false)),
        "llvm.srem" | "arith.remsi" => Some((false, true)),
        "llvm.urem" | "arith.remui" => Some((false, false)),
        _ => None,
    }
}

impl<'c> Strided<'c> {
    /// By what the number is divided in the body, and can be divided for all threads at once; what must hold for it is added. `last` is
    /// how far the threads are apart.
    pub(super) fn divisors(&self, starts: &mut Starts<'c, '_>, low: Value<'c>, last: Value<'c>) -> Vec<Value<'c>> {
        let mut found = Vec::new();
        for op in self.body.ops().into_iter().flat_map(|op| op.find_all(|inner| division(inner).is_some())) {
            let (number, divisor) = (op.operand(0), op.operand(1));
            let signed = division(op).is_some_and(|(_, signed)| signed);
            let large = constant(divisor).is_none_or(|divisor| divisor >= LARGE);
            let shared = is_outside(divisor, self.op) && starts.uniform.is_uniform(divisor);
            if number == self.variable && large && shared && !(signed && self.unsigned) && !found.contains(&divisor) {
                found.push(divisor);
            }
        }
        let (b, ty) = (starts.b, self.init.ty());
        if !found.is_empty() && !self.unsigned {
            starts.checks.push(b.cmpi("sge", low, b.const_int(ty, 0)));
        }
        let greater = if self.unsigned { "ugt" } else { "sgt" };
        starts.checks.extend(found.iter().map(|divisor| b.cmpi(greater, *divisor, last)));
        found
    }
}

/// Replaces the divisions by `divisor` of what is `own` above `base` for the threads that `guard` lets in. Numbers that are not
/// `unsigned` are not negative.
pub(super) fn replace<'c>(guard: Op<'c>, divisor: Value<'c>, (base, own): (Value<'c>, Value<'c>), unsigned: bool) {
    let number = guard.operand(0).defining_op().map(|compare| compare.operand(0));
    let mine = |op: Op<'c>| {
        let reads_alike = division(op).is_some_and(|(_, signed)| !(signed && unsigned));
        reads_alike && Some(op.operand(0)) == number && op.operand(1) == divisor
    };
    let b = Builder::before(guard);
    let quotient = b.arith("divui", base, divisor);
    let rest = b.arith("addi", b.arith("remui", base, divisor), own);
    let over = b.cmpi("uge", rest, divisor);
    let row = b.arith("addi", quotient, b.value("arith.extui", &[over], base.ty()));
    let column = b.value("arith.select", &[over, b.arith("subi", rest, divisor), rest], base.ty());
    // What is less than the divisor fits where that does.
    let known = range(divisor).filter(|known| !unsigned || known.low >= 0);
    let largest = known.map_or(i128::MAX, |known| known.high);
    let fits = |used: Op<'c>| {
        matches!(used.name(), "llvm.trunc" | "arith.trunci")
            && used.result(0).ty().int_width().is_some_and(|bits| largest <= Range::of_width(bits).high)
    };
    for op in guard.find_all(mine) {
        let whole = division(op).is_some_and(|(whole, _)| whole);
        if !whole {
            op.result(0).users().into_iter().filter(|used| fits(*used)).for_each(keeps_all);
        }
        op.replace_with(&[if whole { row } else { column }]);
    }
}

/// A number is truncated that fits.
fn keeps_all(truncation: Op<'_>) {
    let (dialect, _) = truncation.name().split_once('.').unwrap_or_default();
    if let Some(both) = truncation.ctx().parse_attr(&format!("#{dialect}.overflow<nsw, nuw>")) {
        truncation.set_attr("overflowFlags", both);
    }
}
