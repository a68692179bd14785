//! Comparisons of numbers that were made wider for it, as C makes them of letters.
//!
//! ```mlir
//! %w = llvm.sext %a : i8 to i32 ; %v = llvm.sext %b : i8 to i32 ; %c = llvm.icmp "eq" %w, %v : i32
//! ```
//! is of vectors of bytes, a quarter of the registers:
//! ```mlir
//! %c = llvm.icmp "eq" %as, %bs : vector<32xi8>
//! ```
//! LLVM does so of numbers, and of vectors where both sides are; here one may be what all lanes have, or a constant.

use mlir_bridge::ir::{Op, Type, Value};

use super::{classify::before_widening, emit::Emitter};
use crate::analysis::facts::{constant, width};

/// How many predicates, the first ones, are of numbers of either kind: `eq` and `ne`.
const EQUALITIES: i64 = 2;
/// The first of the predicates of numbers without a sign, `ult`.
const UNSIGNED: i64 = 6;

/// A number before it was made wider.
struct Narrow<'c> {
    /// By its sign.
    signed: bool,
    value: Value<'c>,
}

impl<'c> Narrow<'c> {
    fn of(value: Value<'c>) -> Option<Self> {
        let (value, signed) = before_widening(value)?;
        // Masks are no numbers that a processor compares.
        (width(value.ty())? >= 8).then_some(Self { signed, value })
    }

    /// Whether a number is one that was made wider of such a type in the same way.
    fn has(&self, number: i64) -> bool {
        let bits = width(self.value.ty()).unwrap_or(64);
        let (low, high) = if self.signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        (low..=high).contains(&i128::from(number))
    }
}

impl<'c> Emitter<'c, '_> {
    /// The operands of a comparison as they were before both were made wider; their order is the same.
    pub fn narrow_operands(&self, op: Op<'c>) -> Option<[Value<'c>; 2]> {
        if !matches!(op.name(), "llvm.icmp" | "arith.cmpi") {
            return None;
        }
        let predicate = op.attr("predicate")?.as_int()?;
        let (first, second) = (Narrow::of(op.operand(0)), Narrow::of(op.operand(1)));
        let keeps = |signed: bool| signed || !(EQUALITIES..UNSIGNED).contains(&predicate);
        match (first, second) {
            (Some(a), Some(b)) if a.signed == b.signed && a.value.ty() == b.value.ty() && keeps(a.signed) => {
                Some([a.value, b.value].map(|value| self.lane_vector(value)))
            }
            (Some(a), None) => {
                let number = constant(op.operand(1)).filter(|number| keeps(a.signed) && a.has(*number))?;
                Some([self.lane_vector(a.value), self.narrow_constant(a.value.ty(), number)])
            }
            _ => None,
        }
    }

    fn narrow_constant(&self, ty: Type<'c>, number: i64) -> Value<'c> {
        let bits = width(ty).unwrap_or(64);
        self.splat_int(ty, if bits < 64 { (number << (64 - bits)) >> (64 - bits) } else { number })
    }
}
