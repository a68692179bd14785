//! Division of a row's integers, by floating-point numbers: processors divide no vectors of integers, and LLVM takes such a division apart
//! into one for each lane.
//!
//! ```mlir
//! %q = llvm.sdiv %a, %b : i32
//! ```
//! becomes, in doubles as `%a` may be any number,
//! ```mlir
//! %x = llvm.sitofp %as : vector<16xi32> to vector<16xf64> ; %y = llvm.sitofp %bs : vector<16xi32> to vector<16xf64>
//! %q = llvm.fptosi (llvm.fdiv %x, %y) : vector<16xf64> to vector<16xi32>
//! ```
//! It is exact. Let `u` be half the distance from 1 to the next number of the format: 2^-53, or 2^-24 of single precision. `a` and `b` are
//! exact in doubles. If `a / b` is an integer, so is what the division gives. Else it is at least `1 / |b|` away from the next integer
//! above `|a / b|`, and rounding moves it by at most `|a / b| u`, which is less as long as `|a| u < 1`: what is cut off is the same. In
//! single precision, which serves `|a| < 2^21`, a `b` of more than 2^24 may be rounded, but then the quotient is below 1/4 all the same.
//!
//! A divisor that all lanes have is made a factor, which loops around need find only once: `(|a| + 1/2) (1 / |b|)`. `(|a| + 1/2) / |b|`
//! is at least `1 / (2 |b|)` away from every integer, and rounded twice it is off by at most `(2 u + u^2)` of itself, which is less as long
//! as `(|a| + 1/2) (2 u + u^2) < 1/2`: doubles serve 32 bits, single precision `|a| < 2^21`.
//!
//! Numbers of 64 bits are asked whether they are below 2^50, all of the row, and divided one by one where some are not (`products.rs`). Doubles are made of
//! them, and they of doubles, by adding what makes the last bit of the fraction worth 1, as not every processor converts them.
//!
//! Of large numbers none of which is negative the nearest integer of `(a + 1/2 - b/2) (1 / b)` is taken instead, by adding what makes the last bit of the
//! fraction worth 1: what is rounded is at least `1 / (2 b)` away from where it would be another one, and `|a + 1/2 - b/2| (2 u + u^2) < 1/2` as both are below
//! 2^50. It takes a processor two operations, multiplications that add.
//!
//! Nothing traps: a division that is undefined gives poison, which matters in lanes that take part alone, where it was undefined before.

mod products;

use mlir_bridge::ir::{Op, Type, Value};

use super::{
    classify::is_signed,
    division::{DOUBLE, Division},
    emit::{Emitted, Emitter},
};
use crate::analysis::facts::range;
use products::Product;

/// A double whose last bit is worth 1, as is that of all within 2^51 of it.
const ONES: f64 = 1.5 * (1u64 << 52) as f64;

impl<'c> Emitter<'c, '_> {
    /// Makes a division of all lanes.
    pub fn divide(&mut self, op: Op<'c>, how: Division) -> Emitted<()> {
        let made = match self.all_small(op, how) {
            Some(small) => {
                // Only what is asked for comes out of a branch.
                let ty = asked_for(op.result(0));
                let made = self.divide_if(small, op, how, ty)?;
                if ty == op.result(0).ty() { made } else { self.lanewise("llvm.zext", &[made], op.result(0).ty()) }
            }
            None => self.divided(op, how),
        };
        self.set_vector(op.result(0), made);
        Ok(())
    }

    /// Whether what is asked of numbers holds of all lanes that take part.
    fn all_small(&self, op: Op<'c>, how: Division) -> Option<Value<'c>> {
        let ty = op.result(0).ty();
        let within = |index: usize| {
            let operand = op.operand(index);
            let low = if is_signed(op) { DOUBLE as i64 } else { 0 };
            if self.shapes.is_uniform(operand) {
                let moved = self.b.arith("addi", self.scalar(operand), self.b.const_int(ty, low));
                return self.b.cmpi("ult", moved, self.b.const_int(ty, low + DOUBLE as i64));
            }
            let moved = self.lanewise("llvm.add", &[self.lane_vector(operand), self.splat_int(ty, low)], ty);
            let small = self.compare("ult", moved, self.splat_int(ty, low + DOUBLE as i64));
            self.all(self.mask.map_or(small, |mask| self.select(mask, small, self.splat_int(self.i1(), 1))))
        };
        let asked = how.asked?;
        let product = Product::of(op, how, self.shapes);
        let ask = |index: usize| match product.filter(|_| index == 0) {
            Some(product) => self.is_small_product(op, product),
            None => within(index),
        };
        (0..2).filter(|index| asked[*index]).map(ask).reduce(|first, second| self.b.arith("andi", first, second))
    }

    /// Makes a division of small numbers if they are, else one that LLVM takes apart; gives the low bits of type `ty`.
    fn divide_if(&mut self, small: Value<'c>, op: Op<'c>, how: Division, ty: Type<'c>) -> Emitted<Value<'c>> {
        let made = self.b.scf_if(small, &[self.vector(ty)], true);
        let cut = |this: &Self, quotient: Value<'c>| {
            if ty == op.result(0).ty() { quotient } else { this.lanewise("llvm.trunc", &[quotient], ty) }
        };
        self.within(made.region(0).entry(), self.mask, |this| {
            let quotient = this.divided(op, how);
            this.b.scf_yield(&[cut(this, quotient)]);
            Ok(())
        })?;
        self.within(made.region(1).entry(), self.mask, |this| {
            let [a, b] = [0, 1].map(|index| this.lane_vector(op.operand(index)));
            let quotient = this.without_flags(op, &[a, this.safe_divisor(op, b)], a.ty());
            this.b.scf_yield(&[cut(this, quotient)]);
            Ok(())
        })?;
        Ok(made.result(0))
    }

    fn divided(&self, op: Op<'c>, how: Division) -> Value<'c> {
        let ty = op.result(0).ty();
        let float = if how.single { self.b.ctx().f32() } else { self.b.ctx().f64() };
        if how.asked.is_some() && how.uniform && !how.negative && is_positive(op) {
            return self.nearest(op, how);
        }
        let [a, b] = [0, 1].map(|index| self.lane_vector(op.operand(index)));
        let dividend = match Product::of(op, how, self.shapes) {
            Some(product) => self.product_as_double(product, None),
            None => self.as_float(a, float, how),
        };
        let exact = match how.uniform {
            true => {
                let factor = self.splat(self.reciprocal(self.scalar(op.operand(1)), float, how));
                let half = self.splat(self.float(float, 0.5));
                let half = match how.negative {
                    true => self.lanewise("llvm.intr.copysign", &[half, dividend], float),
                    false => half,
                };
                let above = self.lanewise("llvm.fadd", &[dividend, half], float);
                self.lanewise("llvm.fmul", &[above, factor], float)
            }
            false => self.lanewise("llvm.fdiv", &[dividend, self.as_float(b, float, how)], float),
        };
        let cut = match how.asked {
            Some(_) => {
                let whole = self.lanewise("llvm.intr.trunc", &[exact], float);
                let ones = self.splat(self.float(float, ONES));
                self.low_bits(self.lanewise("llvm.fadd", &[whole, ones], float), ty)
            }
            None => self.lanewise(if how.signed { "llvm.fptosi" } else { "llvm.fptoui" }, &[exact], ty),
        };
        if how.remainder { self.remainder(cut, [a, b], ty) } else { cut }
    }

    /// The same of numbers of 64 bits none of which is negative, by a divisor that all lanes have.
    fn nearest(&self, op: Op<'c>, how: Division) -> Value<'c> {
        let (ty, double) = (op.result(0).ty(), self.b.ctx().f64());
        let [a, b] = [0, 1].map(|index| op.operand(index));
        let divisor = self.as_float(self.scalar(b), double, how);
        let half = self.b.value("llvm.fmul", &[divisor, self.float(double, -0.5)], double);
        let moved = self.splat(self.b.value("llvm.fadd", &[half, self.float(double, 0.5)], double));
        let dividend = match Product::of(op, how, self.shapes) {
            Some(product) => self.product_as_double(product, Some(moved)),
            None => self.lanewise("llvm.fadd", &[self.as_float(self.lane_vector(a), double, how), moved], double),
        };
        let factor = self.splat(self.reciprocal(self.scalar(b), double, how));
        let ones = self.splat(self.float(double, ONES));
        let quotient = self.low_bits(self.lanewise("llvm.intr.fmuladd", &[dividend, factor, ones], double), ty);
        if !how.remainder {
            return quotient;
        }
        self.remainder(quotient, [self.lane_vector(a), self.lane_vector(b)], ty)
    }

    /// The integers that doubles are to which [`ONES`] was added.
    fn low_bits(&self, moved: Value<'c>, ty: Type<'c>) -> Value<'c> {
        let bits = self.lanewise("llvm.bitcast", &[moved], ty);
        self.lanewise("llvm.sub", &[bits, self.splat_int(ty, ONES.to_bits().cast_signed())], ty)
    }

    fn remainder(&self, quotient: Value<'c>, [a, b]: [Value<'c>; 2], ty: Type<'c>) -> Value<'c> {
        self.lanewise("llvm.sub", &[a, self.lanewise("llvm.mul", &[quotient, b], ty)], ty)
    }

    /// A number, or one of each lane, in floating point.
    fn as_float(&self, value: Value<'c>, float: Type<'c>, how: Division) -> Value<'c> {
        if how.asked.is_some() && value.ty().vector_parts().is_some() {
            let ty = self.b.ctx().int(64);
            let bits = self.splat_int(ty, ONES.to_bits().cast_signed());
            let moved = self.lanewise("llvm.bitcast", &[self.lanewise("llvm.add", &[value, bits], ty)], float);
            return self.lanewise("llvm.fsub", &[moved, self.splat(self.float(float, ONES))], float);
        }
        let of = |element: Type<'c>| if value.ty().vector_parts().is_some() { self.vector(element) } else { element };
        let narrow = match how.wide {
            true => self.b.value("llvm.trunc", &[value], of(self.b.ctx().int(32))),
            false => value,
        };
        self.b.value(if how.signed { "llvm.sitofp" } else { "llvm.uitofp" }, &[narrow], of(float))
    }

    fn reciprocal(&self, divisor: Value<'c>, float: Type<'c>, how: Division) -> Value<'c> {
        self.b.value("llvm.fdiv", &[self.float(float, 1.0), self.as_float(divisor, float, how)], float)
    }

    fn float(&self, ty: Type<'c>, number: f64) -> Value<'c> {
        self.b.op("arith.constant").attr("value", self.b.ctx().float_attr(ty, number)).result(ty).build().result(0)
    }
}

/// Whether a divisor is no negative number, where it was found to be small.
fn is_positive(op: Op<'_>) -> bool {
    !is_signed(op) || range(op.operand(1)).is_some_and(|known| known.low >= 0)
}

/// The type that holds all that is asked of a number.
fn asked_for(value: Value<'_>) -> Type<'_> {
    let mut found = None;
    for user in value.users() {
        let ty = if user.is("llvm.trunc") { user.result(0).ty() } else { value.ty() };
        if *found.get_or_insert(ty) != ty {
            return value.ty();
        }
    }
    found.unwrap_or(value.ty())
}

#[cfg(test)]
mod tests;
