//! Dividends that are few bits wide themselves, or times a number that all lanes have.
//!
//! ```mlir
//! %w = llvm.sext %a : i32 to i64 ; %d = llvm.mul %w, %scale ; %q = llvm.udiv %d, %b : i64        // %scale uniform
//! ```
//! Whether all of `%d` are below 2^50 is not asked lane by lane then: `%scale` is asked once, whether it is small enough for any `%a`, and where
//! negative numbers would be large ones the lanes are asked for the sign of `%a`, which is half as wide. The product is exact in doubles.

use mlir_bridge::ir::{Op, Value};

use super::super::{
    classify::{before_widening, is_signed},
    division::{DOUBLE, Division},
    emit::Emitter,
    shapes::Shapes,
};
use crate::analysis::facts::{range, width};

/// The widest of the lanes' numbers.
const NARROW: u32 = 32;

/// A dividend of 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct Product<'c> {
    /// The number of each lane, before it was made wider.
    narrow: Value<'c>,
    /// It was made wider by its sign.
    by_sign: bool,
    /// It is asked to be no negative one.
    asks_sign: bool,
    /// What all lanes multiply it by, and the largest that may be.
    factor: Option<(Value<'c>, i64)>,
}

impl<'c> Product<'c> {
    /// What the dividend of a division is made of that is asked for its size.
    pub fn of(op: Op<'c>, how: Division, shapes: &Shapes<'c>) -> Option<Self> {
        let dividend = op.operand(0);
        if how.asked? != [true, how.asked?[1]] || shapes.is_uniform(dividend) {
            return None;
        }
        let multiplied = dividend.defining_op().filter(|op| matches!(op.name(), "llvm.mul" | "arith.muli"));
        let (wide, factor) = match multiplied {
            Some(product) => {
                let own = (0..2).find(|index| shapes.is_uniform(product.operand(1 - index)))?;
                (product.operand(own), Some(product.operand(1 - own)))
            }
            None => (dividend, None),
        };
        let (narrow, by_sign) = before_widening(wide)?;
        if width(narrow.ty())? > NARROW {
            return None;
        }
        let known = range(wide)?;
        let largest = known.high.max(-known.low).max(1);
        let factor = factor.map(|factor| (factor, ((DOUBLE - 1) / largest) as i64));
        Some(Self { narrow, by_sign, asks_sign: !is_signed(op) && known.low < 0, factor })
    }
}

impl<'c> Emitter<'c, '_> {
    /// Whether a dividend is small in all lanes that take part.
    pub fn is_small_product(&self, op: Op<'c>, product: Product<'c>) -> Value<'c> {
        let b = self.b;
        let factor = product.factor.map(|(factor, most)| {
            let least = if is_signed(op) { most } else { 0 };
            let moved = b.arith("addi", self.scalar(factor), b.const_int(factor.ty(), least));
            b.cmpi("ule", moved, b.const_int(factor.ty(), least + most))
        });
        let sign = product.asks_sign.then(|| {
            let narrow = self.lane_vector(product.narrow);
            let positive = self.compare("sge", narrow, self.splat_int(product.narrow.ty(), 0));
            self.all(self.mask.map_or(positive, |mask| self.select(mask, positive, self.splat_int(self.i1(), 1))))
        });
        let both = factor.into_iter().chain(sign).reduce(|one, other| b.arith("andi", one, other));
        both.unwrap_or_else(|| b.const_int(self.i1(), 1))
    }

    /// A dividend in doubles, once it is known to be small, and what is added to it.
    pub fn product_as_double(&self, product: Product<'c>, more: Option<Value<'c>>) -> Value<'c> {
        let double = self.b.ctx().f64();
        let narrow = self.lane_vector(product.narrow);
        let signed = product.by_sign || width(product.narrow.ty()).is_some_and(|bits| bits < NARROW);
        let word = self.b.ctx().int(NARROW);
        let narrow = match (product.narrow.ty() == word, product.by_sign) {
            (true, _) => narrow,
            (false, true) => self.lanewise("llvm.sext", &[narrow], word),
            (false, false) => self.lanewise("llvm.zext", &[narrow], word),
        };
        let own = self.lanewise(if signed { "llvm.sitofp" } else { "llvm.uitofp" }, &[narrow], double);
        let factor = product.factor.map(|(factor, _)| self.b.value("llvm.sitofp", &[self.scalar(factor)], double));
        match (factor, more) {
            (Some(factor), Some(more)) => self.lanewise("llvm.intr.fmuladd", &[own, self.splat(factor), more], double),
            (Some(factor), None) => self.lanewise("llvm.fmul", &[own, self.splat(factor)], double),
            (None, Some(more)) => self.lanewise("llvm.fadd", &[own, more], double),
            (None, None) => own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::ONES, *};

    #[test]
    fn products_below_the_limit_are_exact() {
        for (largest, factor) in
            [(1i128 << 31, DOUBLE / (1 << 31) - 1), ((1 << 32) - 1, (1 << 18) - 1), (255, DOUBLE / 256)]
        {
            let product = largest * factor;
            assert!(product < DOUBLE);
            assert_eq!(largest as f64 * factor as f64, product as f64);
            assert_eq!((product as f64 + ONES).to_bits() - ONES.to_bits(), product as u64);
        }
    }
}
