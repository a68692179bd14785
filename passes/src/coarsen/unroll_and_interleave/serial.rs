//! The serial case: one round of an `scf.for` does the work of several, one after the other.
//!
//! ```text
//! Before:                                  After (factor 2):
//!   scf.for %i = %c0 to %c16 step %c1 {      scf.for %i = %c0 to %c8 step %c1 {
//!     A(%i) ; B(%i)                            A(%i * 2) ; B(%i * 2) ; A(%i * 2 + 1) ; B(%i * 2 + 1)
//!   }                                        }
//! ```
//!
//! Nothing is interleaved: the rounds of a serial loop have an order, and its values go from each to the next. Declines where
//! the number of rounds is not a constant multiple of the factor.

use mlir_bridge::ir::{Builder, Mapping, Op, Type, Value};

use super::Refusal;
use crate::analysis::facts::constant;

/// Unrolls a serial loop.
pub fn unroll<'c>(nest: Op<'c>, factor: usize) -> Result<(), Refusal> {
    let operands = nest.operands();
    let known = |number: usize| constant(operands[number]).ok_or(Refusal::NotDivisible);
    let (low, high, step, factor) = (known(0)?, known(1)?, known(2)?.max(1), factor as i64);
    let count = ((high - low).max(0) + step - 1) / step;
    if count % factor != 0 {
        return Err(Refusal::NotDivisible);
    }
    let (b, ty) = (Builder::before(nest), operands[0].ty());
    let made = b.scf_for(number(b, ty, 0), number(b, ty, count / factor), number(b, ty, 1), &operands[3..]);
    for (name, attr) in nest.attrs() {
        made.set_attr(name, attr);
    }
    let b = Builder::at_end(made.body(), nest.loc());
    let first = b.arith("muli", made.body().arg(0), number(b, ty, factor));
    let mut carried = made.body().args()[1..].to_vec();
    for copy in 0..factor {
        let mut round = if copy == 0 { first } else { b.arith("addi", first, number(b, ty, copy)) };
        if step != 1 {
            round = b.arith("muli", round, operands[2]);
        }
        if low != 0 {
            round = b.arith("addi", operands[0], round);
        }
        carried = one_round(b, nest, round, &carried);
    }
    b.scf_yield(&carried);
    nest.replace_with(&made.results());
    Ok(())
}

fn number<'c>(b: Builder<'c>, ty: Type<'c>, value: i64) -> Value<'c> {
    if ty.is_index() { b.const_index(value) } else { b.const_int(ty, value) }
}

/// Copies the body for one round; gives what it passes on.
fn one_round<'c>(b: Builder<'c>, nest: Op<'c>, round: Value<'c>, carried: &[Value<'c>]) -> Vec<Value<'c>> {
    let mut mapping = Mapping::new();
    mapping.map(nest.body().arg(0), round);
    mapping.map_all(&nest.body().args()[1..], carried);
    b.clone_body(nest.body(), &mut mapping);
    let passed = nest.body().terminator().map(Op::operands).unwrap_or_default();
    passed.into_iter().map(|value| mapping.get_or_self(value)).collect()
}
