//! What is known of a thread loop along one of its dimensions: numbers that are the thread's plus what all threads have, and how conditions
//! compare them.

pub mod hoisted;

use mlir_bridge::ir::{Op, Value};

use crate::analysis::{counted_loop::is_outside, facts::constant, loops::Counting};

/// How far expressions are followed.
pub const DEPTH: u32 = 12;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

use Relation::{Greater, GreaterEqual, Less, LessEqual};

impl Relation {
    pub fn of(op: Op<'_>) -> Option<Self> {
        if !matches!(op.name(), "llvm.icmp" | "arith.cmpi") {
            return None;
        }
        match op.attr("predicate")?.as_int()? {
            2 => Some(Less),
            3 => Some(LessEqual),
            4 => Some(Greater),
            5 => Some(GreaterEqual),
            _ => None,
        }
    }

    fn negated(self) -> Self {
        match self {
            Less => GreaterEqual,
            LessEqual => Greater,
            Greater => LessEqual,
            GreaterEqual => Less,
        }
    }

    fn swapped(self) -> Self {
        match self {
            Less => Greater,
            LessEqual => GreaterEqual,
            Greater => Less,
            GreaterEqual => LessEqual,
        }
    }
}

/// The thread's number plus terms that are the same for all threads of the block, in 32 bits; the numbers of loops around count as such, with all of their values.
/// No polynomial of `regrain_tuning`: the sum is made again as it was, term by term, and equal terms are not joined.
#[derive(Clone, Default)]
pub struct Linear<'c> {
    /// Each with whether it is subtracted.
    pub terms: Vec<(Value<'c>, bool)>,
}

/// `left relation right`, where `right` is the same for all threads of the block.
#[derive(Clone)]
pub struct Fact<'c> {
    pub left: Linear<'c>,
    pub relation: Relation,
    pub right: Value<'c>,
}

/// A thread loop, seen along x or another dimension.
#[derive(Clone, Copy)]
pub struct Row<'c> {
    pub parallel: Op<'c>,
    pub axis: usize,
    /// The thread's number.
    pub x: Value<'c>,
}

impl<'c> Row<'c> {
    pub fn new(parallel: Op<'c>, axis: usize) -> Self {
        Self { parallel, axis, x: parallel.body().arg(axis) }
    }

    /// What follows from a condition that is true, or false.
    pub fn learn(self, condition: Value<'c>, is_true: bool, known: &mut Vec<Fact<'c>>, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        if let Some(op) = condition.defining_op().filter(|op| op.is("scf.if")) {
            let parts = chosen(op, condition, is_true).map(|value| [op.operand(0), value]);
            parts.into_iter().flatten().for_each(|part| self.learn(part, is_true, known, depth));
            return;
        }
        match Parts::of(condition, is_true) {
            Parts::Contrary(other) => self.learn(other, !is_true, known, depth),
            Parts::Both(parts) => parts.into_iter().for_each(|part| self.learn(part, is_true, known, depth)),
            Parts::Itself => known.extend(self.comparison(condition, is_true)),
        }
    }

    /// A comparison of something linear in x, or its contrary.
    pub fn comparison(self, condition: Value<'c>, is_true: bool) -> Option<Fact<'c>> {
        let op = condition.defining_op()?;
        let relation = Relation::of(op)?;
        let (left, right) = (op.operand(0), op.operand(1));
        let (left, relation, right) = match self.linear(left, DEPTH) {
            Some(left) => (left, relation, right),
            None => (self.linear(right, DEPTH)?, relation.swapped(), left),
        };
        let relation = if is_true { relation } else { relation.negated() };
        self.is_fixed(right, DEPTH).then_some(Fact { left, relation, right })
    }

    pub fn is_outside(self, value: Value<'c>) -> bool {
        is_outside(value, self.parallel)
    }

    /// Whether a value is the same for all threads of the block and can be made before the loop.
    pub fn is_fixed(self, value: Value<'c>, depth: u32) -> bool {
        self.is_outside(value) || self.computes_from(value, depth, |operand, depth| self.is_fixed(operand, depth))
    }

    /// Whether a value can be a term of a sum: it is fixed, or counted by a loop.
    pub fn is_term(self, value: Value<'c>, depth: u32) -> bool {
        self.is_fixed(value, depth) || self.counted(value).is_some()
    }

    /// How the loop in the thread loop counts whose number a value is, where its bounds are fixed.
    pub fn counted(self, value: Value<'c>) -> Option<Counting<'c>> {
        let (owner, _, counting) = Counting::of_variable(value)?;
        let fixed = [counting.lower, counting.upper].into_iter().all(|bound| self.is_fixed(bound, DEPTH));
        let rises = constant(counting.step).is_some_and(|step| step > 0);
        (owner.is("scf.for") && value.ty().is_int(32) && fixed && rises && !counting.unsigned).then_some(counting)
    }

    /// Whether a value is the same for all threads along x.
    pub fn is_same_along(self, value: Value<'c>, depth: u32) -> bool {
        let number = value.block_arg().filter(|(block, _)| *block == self.parallel.body()).map(|(_, number)| number);
        self.is_outside(value)
            || number.is_some_and(|number| number != self.axis)
            || self.counted(value).is_some()
            || self.computes_from(value, depth, |operand, depth| self.is_same_along(operand, depth))
    }

    pub fn computes_from(self, value: Value<'c>, depth: u32, holds: impl Fn(Value<'c>, u32) -> bool) -> bool {
        let (Some(op), Some(depth)) = (value.defining_op(), depth.checked_sub(1)) else { return false };
        op.num_regions() == 0 && op.is_pure() && op.operands().into_iter().all(|operand| holds(operand, depth))
    }

    /// A 32-bit value as x plus fixed terms, apart from what does not fit into 32 bits.
    pub fn linear(self, value: Value<'c>, depth: u32) -> Option<Linear<'c>> {
        let (op, depth) = (value.defining_op()?, depth.checked_sub(1)?);
        if !value.ty().is_int(32) || self.is_outside(value) {
            return None;
        }
        let (inner, term, subtracted) = match op.name() {
            "arith.index_cast" | "arith.index_castui" if op.operand(0) == self.x => {
                return Some(Linear::default());
            }
            "llvm.add" | "arith.addi" if self.is_term(op.operand(0), depth) => (op.operand(1), op.operand(0), false),
            "llvm.add" | "arith.addi" => (op.operand(0), op.operand(1), false),
            "llvm.sub" | "arith.subi" => (op.operand(0), op.operand(1), true),
            _ => return None,
        };
        if !self.is_term(term, depth) {
            return None;
        }
        let mut terms = self.linear(inner, depth)?.terms;
        terms.push((term, subtracted));
        Some(Linear { terms })
    }
}

/// What a condition that is true, or false, says of others.
pub enum Parts<'c> {
    /// This one is the contrary.
    Contrary(Value<'c>),
    /// Both are as it is; the second need not be known where the first is not.
    Both([Value<'c>; 2]),
    /// Nothing.
    Itself,
}

impl<'c> Parts<'c> {
    pub fn of(condition: Value<'c>, is_true: bool) -> Self {
        let Some(op) = condition.defining_op() else { return Self::Itself };
        let both = |first: usize, second: usize| Self::Both([first, second].map(|number| op.operand(number)));
        match op.name() {
            "llvm.xor" | "arith.xori" if truth(op.operand(1)) == Some(true) => Self::Contrary(op.operand(0)),
            "llvm.and" | "arith.andi" if is_true => both(0, 1),
            "llvm.or" | "arith.ori" if !is_true => both(0, 1),
            "llvm.select" | "arith.select" if is_true && truth(op.operand(2)) == Some(false) => both(0, 1),
            "llvm.select" | "arith.select" if !is_true && truth(op.operand(1)) == Some(true) => both(0, 2),
            _ => Self::Itself,
        }
    }
}

/// The value that an `scf.if` must have yielded, if its other branch always yields the contrary of `is_true`.
fn chosen<'c>(op: Op<'c>, result: Value<'c>, is_true: bool) -> Option<Value<'c>> {
    let number = result.result_number()?;
    let yielded = |region: usize| Some(op.region(region).first_block()?.terminator()?.operand(number));
    // `if c { v } else { false }` is true where c and v are; `if c { true } else { v }` is false where neither is.
    let (value, other) = if is_true { (yielded(0)?, yielded(1)?) } else { (yielded(1)?, yielded(0)?) };
    (truth(other) == Some(!is_true)).then_some(value)
}

fn truth(value: Value<'_>) -> Option<bool> {
    constant(value).map(|number| number != 0)
}
