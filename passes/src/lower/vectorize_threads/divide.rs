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
//! Numbers of 64 bits are asked whether they are below 2^50, all of the row, and divided one by one where some are not. Doubles are made of
//! them, and they of doubles, by adding what makes the last bit of the fraction worth 1, as not every processor converts them.
//!
//! Nothing traps: a division that is undefined gives poison, which matters in lanes that take part alone, where it was undefined before.

use mlir_bridge::ir::{Op, Type, Value};

use super::{
    classify::is_signed,
    division::{DOUBLE, Division},
    emit::{Emitted, Emitter},
};

/// A double whose last bit is worth 1, as is that of all within 2^51 of it.
const ONES: f64 = 1.5 * (1u64 << 52) as f64;

impl<'c> Emitter<'c, '_> {
    /// Makes a division of all lanes.
    pub fn divide(&mut self, op: Op<'c>, how: Division) -> Emitted<()> {
        let made = match self.all_small(op, how) {
            Some(small) => self.divide_if(small, op, how)?,
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
        (0..2).filter(|index| asked[*index]).map(within).reduce(|first, second| self.b.arith("andi", first, second))
    }

    /// Makes a division of small numbers if they are, else one that LLVM takes apart.
    fn divide_if(&mut self, small: Value<'c>, op: Op<'c>, how: Division) -> Emitted<Value<'c>> {
        let made = self.b.scf_if(small, &[self.vector(op.result(0).ty())], true);
        self.within(made.region(0).entry(), self.mask, |this| {
            let quotient = this.divided(op, how);
            this.b.scf_yield(&[quotient]);
            Ok(())
        })?;
        self.within(made.region(1).entry(), self.mask, |this| {
            let [a, b] = [0, 1].map(|index| this.lane_vector(op.operand(index)));
            let quotient = this.without_flags(op, &[a, this.safe_divisor(op, b)], a.ty());
            this.b.scf_yield(&[quotient]);
            Ok(())
        })?;
        Ok(made.result(0))
    }

    fn divided(&self, op: Op<'c>, how: Division) -> Value<'c> {
        let ty = op.result(0).ty();
        let float = if how.single { self.b.ctx().f32() } else { self.b.ctx().f64() };
        let [a, b] = [0, 1].map(|index| self.lane_vector(op.operand(index)));
        let dividend = self.as_float(a, float, how);
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
                let moved = self.lanewise("llvm.fadd", &[whole, ones], float);
                let bits = self.lanewise("llvm.bitcast", &[moved], ty);
                self.lanewise("llvm.sub", &[bits, self.splat_int(ty, ONES.to_bits().cast_signed())], ty)
            }
            None => self.lanewise(if how.signed { "llvm.fptosi" } else { "llvm.fptoui" }, &[exact], ty),
        };
        match how.remainder {
            true => self.lanewise("llvm.sub", &[a, self.lanewise("llvm.mul", &[cut, b], ty)], ty),
            false => cut,
        }
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

#[cfg(test)]
mod tests;
