//! Loops that count: from where to where and in which steps, how many rounds, and what they carry from one to the next.
//!
//! ```mlir
//! scf.for %i = %lower to %upper step %step iter_args(%s = %first) { ... scf.yield %next }
//! scf.parallel (%x, ...) = (%lower, ...) to (%upper, ...) step (%step, ...) { ... }
//! ```
//! Every analysis and pass asks here. Whether an `scf.while` counts is proven in `counted_loop.rs`, once: raising makes an
//! `scf.for` of it.

use mlir_bridge::ir::{Op, Value};

use crate::analysis::constants::constant;

/// How a loop, or one dimension of a parallel loop, counts.
#[derive(Clone, Copy)]
pub struct Counting<'c> {
    pub lower: Value<'c>,
    /// Without it.
    pub upper: Value<'c>,
    pub step: Value<'c>,
    /// The numbers are unsigned.
    pub unsigned: bool,
}

impl<'c> Counting<'c> {
    /// How an `scf.for` counts.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let made = || Self {
            lower: op.operand(0),
            upper: op.operand(1),
            step: op.operand(2),
            unsigned: op.has_attr("unsignedCmp"),
        };
        op.is("scf.for").then(made)
    }

    /// How the dimensions of an `scf.parallel` count.
    pub fn dimensions(nest: Op<'c>) -> Vec<Self> {
        let rank = if nest.is("scf.parallel") { nest.body().num_args() } else { 0 };
        let dimension = |number: usize| Self {
            lower: nest.operand(number),
            upper: nest.operand(rank + number),
            step: nest.operand(2 * rank + number),
            unsigned: false,
        };
        (0..rank).map(dimension).collect()
    }

    /// The loop whose induction variable a value is, the number of the dimension, and how that counts.
    pub fn of_variable(value: Value<'c>) -> Option<(Op<'c>, usize, Self)> {
        let (block, number) = value.block_arg()?;
        let owner = block.parent_op()?;
        let counting = match owner.name() {
            "scf.for" if number == 0 => Self::of(owner)?,
            "scf.parallel" => *Self::dimensions(owner).get(number)?,
            _ => return None,
        };
        Some((owner, number, counting))
    }

    /// The values that decide how often the loop runs.
    pub fn bounds(&self) -> [Value<'c>; 3] {
        [self.lower, self.upper, self.step]
    }

    /// The bounds, if all are constants.
    pub fn constants(&self) -> Option<[i64; 3]> {
        Some([constant(self.lower)?, constant(self.upper)?, constant(self.step)?])
    }

    /// The number of rounds, if all bounds are constants.
    pub fn rounds(&self) -> Option<i64> {
        let [low, high, step] = self.constants()?;
        let distance = high.checked_sub(low).filter(|_| !self.unsigned || (low >= 0 && high >= 0))?.max(0);
        (step > 0).then(|| distance / step + i64::from(distance % step != 0))
    }

    /// Whether the numbers are 0, 1, 2, ...
    pub fn is_plain(&self) -> bool {
        constant(self.lower) == Some(0) && constant(self.step) == Some(1)
    }
}

/// What a number is at most, by the limits that it was given.
pub fn limit(value: Value<'_>) -> Option<i64> {
    let of = |op: Op<'_>, index: usize| limit(op.operand(index));
    constant(value).or_else(|| match value.defining_op()? {
        op if op.is("arith.minsi") => [0, 1].into_iter().filter_map(|index| of(op, index)).min(),
        op if op.is("arith.maxsi") => Some(of(op, 0)?.max(of(op, 1)?)),
        _ => None,
    })
}

/// What a loop carries from one round to the next.
#[derive(Clone, Copy)]
pub struct Carried<'c> {
    /// In the first round.
    pub first: Value<'c>,
    /// What a round makes of it.
    pub next: Value<'c>,
}

/// What is behind an argument that a loop carries: one of an `scf.for` behind the induction variable, or of the test of an
/// `scf.while`.
pub fn carried(argument: Value<'_>) -> Option<Carried<'_>> {
    let (block, number) = argument.block_arg()?;
    let owner = block.parent_op()?;
    match owner.name() {
        "scf.for" if number > 0 => {
            let next = owner.body().terminator()?.operand(number - 1);
            Some(Carried { first: owner.operand(2 + number), next })
        }
        "scf.while" if block == owner.region(0).entry() => {
            let next = owner.region(1).entry().terminator()?.operand(number);
            Some(Carried { first: owner.operand(number), next })
        }
        _ => None,
    }
}

/// What an argument that a loop carries is in the first round, where that is known before the loop. The body of an `scf.while` has
/// what its test hands on.
pub fn first(argument: Value<'_>) -> Option<Value<'_>> {
    let handed_on = || {
        let (block, number) = argument.block_arg()?;
        let owner = block.parent_op().filter(|owner| owner.is("scf.while"))?;
        carried(owner.region(0).entry().terminator()?.operand(1 + number))
    };
    Some(carried(argument).or_else(handed_on)?.first)
}
