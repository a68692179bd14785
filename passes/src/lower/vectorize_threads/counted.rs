//! Loops that count if nothing wraps: `for (int i = thread; i < n; i += gridDim.x * blockDim.x)`.
//!
//! The sum of an `int` and an `unsigned` may wrap, so that the loop is no `scf.for` for sure. It is if the step is positive and the bound
//! plus the step is a number of the type, which is asked before the row; the threads of a row of which that is not so go on their own.

use mlir_bridge::ir::{Builder, Op, Value};

use crate::{
    analysis::{
        counted_loop::{Kind, check_test, count_unless_wrapping, is_outside, parts},
        facts::width,
    },
    raise::raise_while_to_for::rewrite,
};

/// A loop whose step is positive, and whose bound plus the step does not wrap.
#[derive(Clone, Copy)]
pub struct Advances<'c> {
    bound: Value<'c>,
    step: Value<'c>,
    unsigned: bool,
}

/// Makes counted loops of those in `parallel` that count if nothing wraps; gives what must hold.
pub fn raise<'c>(parallel: Op<'c>) -> Vec<Advances<'c>> {
    let mut taken = Vec::new();
    for op in parallel.find_named("scf.while").into_iter().rev() {
        let Some(parts) = parts(op).filter(|parts| check_test(parts).is_ok()) else { continue };
        let Ok(counted) = count_unless_wrapping(&parts) else { continue };
        let known = [counted.bound, counted.step].into_iter().all(|value| is_outside(value, parallel));
        if known {
            let unsigned = counted.kind == Kind::Unsigned;
            taken.push(Advances { bound: counted.bound, step: counted.step, unsigned });
            rewrite(&parts, &counted);
        }
    }
    taken
}

impl<'c> Advances<'c> {
    /// Whether it holds.
    pub fn holds(self, b: Builder<'c>) -> Value<'c> {
        let bits = width(self.step.ty()).unwrap_or(64);
        let zero = b.const_int(self.step.ty(), 0);
        let largest = if self.unsigned { -1 } else { (1i64 << (bits - 1)).wrapping_sub(1) };
        let room = b.arith("subi", b.const_int(self.step.ty(), largest), self.step);
        let (positive, fits) = match self.unsigned {
            true => (b.cmpi("ne", self.step, zero), b.cmpi("ule", self.bound, room)),
            false => (b.cmpi("sgt", self.step, zero), b.cmpi("sle", self.bound, room)),
        };
        b.arith("andi", positive, fits)
    }
}
