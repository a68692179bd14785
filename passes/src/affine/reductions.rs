//! Loops that combine numbers by an operation whose order is of no matter: each thread may combine some, and what threads have is combined in
//! the end.
//!
//! ```text
//!   %s = scf.for %i = .. iter_args(%a = %start) {       sums: %a is used for the next sum alone
//!     %x = llvm.load ..
//!     %b = llvm.add %a, %x
//!     scf.yield %b
//!   }
//! ```
//!
//! Sums, products and extremes of integers, and what is of their bits, are such operations; of floating-point numbers where the program says so
//! (`-ffast-math`, `-fassociative-math`). A thread starts with what changes nothing (0 for a sum), and every round is done by one
//! thread, so what a loop hands on may pass through conditions, choices and further loops on its way.

use mlir_bridge::{
    ir::{Op, Value},
    lift::{has_plain_numbers, may_reorder},
};
use serde::{Deserialize, Serialize};

use crate::affine::numbers::extreme;

/// How numbers are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Combination {
    /// They are added.
    Sum,
    /// They are multiplied.
    Product,
    /// Bits that all have.
    And,
    /// Bits that any has.
    Or,
    /// Bits that an odd number of them has.
    Xor,
    /// The least.
    Least,
    /// The greatest.
    Greatest,
    /// The least, without signs.
    LeastUnsigned,
    /// The greatest, without signs.
    GreatestUnsigned,
}

/// A loop whose rounds may be done in any order.
#[derive(Clone, Debug)]
pub struct Reduction<'c> {
    /// The loop.
    pub op: Op<'c>,
    /// How each of its results is combined.
    pub results: Vec<Combination>,
    /// The operations that combine: in another order they may leave their type on the way.
    pub steps: Vec<Op<'c>>,
    /// The innermost loop that does it all, the loop itself where it has no other in it.
    pub inner: Op<'c>,
}

impl<'c> Reduction<'c> {
    /// A loop as a reduction, if it is one.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let is_one = op.is("scf.for") && op.num_results() > 0 && op.find_named("llvm.store").is_empty();
        if !is_one {
            return None;
        }
        let (mut results, mut steps) = (Vec::new(), Vec::new());
        for number in 0..op.num_results() {
            let mut chain = Chain::default();
            if !chain.round(op, number) || !chain.is_complete() {
                return None;
            }
            results.push(chain.combination?);
            steps.extend(chain.steps);
        }
        Some(Self { op, results, steps, inner: innermost(op) })
    }
}

/// Of loops that do nothing but another one, for all that they hand on, the innermost.
fn innermost(op: Op<'_>) -> Op<'_> {
    let body = op.body();
    let last = body.ops().pop().map(Op::operands).unwrap_or_default();
    let inner = last.first().and_then(|value| value.defining_op()).filter(|inner| inner.is("scf.for"));
    let is_all = |inner: &Op<'_>| inner.results() == last && inner.operands().split_off(3) == body.args().split_off(1);
    inner.filter(is_all).map_or(op, innermost)
}

/// The way of a number through a round.
#[derive(Default)]
struct Chain<'c> {
    combination: Option<Combination>,
    /// What is handed on by the loops that are gone through.
    starts: Vec<Value<'c>>,
    /// All values on the way.
    values: Vec<Value<'c>>,
    /// The uses by which it goes on.
    uses: Vec<(Op<'c>, usize)>,
    steps: Vec<Op<'c>>,
}

impl<'c> Chain<'c> {
    /// Whether a loop combines one of its results.
    fn round(&mut self, op: Op<'c>, number: usize) -> bool {
        let body = op.body();
        let (start, Some(last)) = (body.arg(1 + number), body.ops().pop()) else { return false };
        self.starts.push(start);
        self.values.push(start);
        let goes = self.goes(last, number);
        self.starts.pop();
        goes
    }

    /// Whether nothing else sees a value on the way.
    fn is_complete(&self) -> bool {
        self.values
            .iter()
            .all(|value| value.uses().into_iter().all(|one| self.uses.contains(&(one.owner, one.operand))))
    }

    /// Whether the number comes to an operand.
    fn goes(&mut self, op: Op<'c>, operand: usize) -> bool {
        let before = (self.combination, self.values.len(), self.uses.len(), self.steps.len());
        let value = op.operand(operand);
        if self.starts.last() == Some(&value) || self.comes(value) {
            self.uses.push((op, operand));
            self.values.push(value);
            return true;
        }
        self.combination = before.0;
        self.values.truncate(before.1);
        self.uses.truncate(before.2);
        self.steps.truncate(before.3);
        false
    }

    fn comes(&mut self, value: Value<'c>) -> bool {
        let Some(op) = value.defining_op() else { return false };
        if let Some((combination, operands)) = combining(op) {
            return operands.iter().any(|operand| self.goes(op, *operand)) && self.step(op, combination);
        }
        match op.name() {
            "llvm.select" | "arith.select" => match choice(op) {
                Some((test, combination)) => self.extreme(op, test, combination),
                None => self.goes(op, 1) && self.goes(op, 2),
            },
            "scf.if" | "scf.for" => {
                let Some(number) = value.result_number() else { return false };
                match op.is("scf.for") {
                    true => self.goes(op, 3 + number) && self.round(op, number),
                    false => op.regions().into_iter().all(|region| {
                        let last = region.single_block().and_then(|block| block.ops().pop());
                        last.is_some_and(|last| self.goes(last, number))
                    }),
                }
            }
            _ => false,
        }
    }

    fn step(&mut self, op: Op<'c>, combination: Combination) -> bool {
        self.steps.push(op);
        self.combination.get_or_insert(combination) == &combination
    }

    /// `a < b ? a : b`.
    fn extreme(&mut self, op: Op<'c>, test: Op<'c>, combination: Combination) -> bool {
        let Some(operand) = [1, 2].into_iter().find(|operand| self.goes(op, *operand)) else { return false };
        let value = op.operand(operand);
        let Some(tested) = (0..2).find(|tested| test.operand(*tested) == value) else { return false };
        self.uses.push((test, tested));
        self.step(op, combination)
    }
}

/// The test of a choice of the least or the greatest, and which it is.
fn choice<'c>(op: Op<'c>) -> Option<(Op<'c>, Combination)> {
    let test = op.operand(0).defining_op()?;
    if op.operand(0).uses().len() != 1 {
        return None;
    }
    if let Some((kind, ..)) = extreme(op.result(0)) {
        return Some((test, if kind == "min" { Combination::Least } else { Combination::Greatest }));
    }
    let (left, right) = (op.operand(1), op.operand(2));
    let is_straight = test.operands() == [left, right];
    if !is_straight && test.operands() != [right, left] {
        return None;
    }
    let predicate = test.attr("predicate")?.as_int()?;
    let is_less = match (test.name(), predicate) {
        ("llvm.icmp" | "arith.cmpi", 6..=9) => predicate < 8,
        ("llvm.fcmp" | "arith.cmpf", 2..=5 | 9..=12) if has_plain_numbers(op) && has_plain_numbers(test) => {
            [4, 5, 11, 12].contains(&predicate)
        }
        _ => return None,
    };
    let is_float = op.result(0).ty().is_float();
    Some((
        test,
        match (is_less == is_straight, is_float) {
            (true, true) => Combination::Least,
            (false, true) => Combination::Greatest,
            (true, false) => Combination::LeastUnsigned,
            (false, false) => Combination::GreatestUnsigned,
        },
    ))
}

/// What an operation combines, and the operands that it may combine the others with.
pub fn combining(op: Op<'_>) -> Option<(Combination, &'static [usize])> {
    let name = op.name().trim_start_matches("llvm.").trim_start_matches("arith.");
    let both: &[usize] = &[0, 1];
    Some(match name {
        "add" | "addi" => (Combination::Sum, both),
        "sub" | "subi" => (Combination::Sum, &[0]),
        "mul" | "muli" => (Combination::Product, both),
        "and" | "andi" => (Combination::And, both),
        "or" | "ori" => (Combination::Or, both),
        "xor" | "xori" => (Combination::Xor, both),
        "intr.smin" | "minsi" => (Combination::Least, both),
        "intr.smax" | "maxsi" => (Combination::Greatest, both),
        "intr.umin" | "minui" => (Combination::LeastUnsigned, both),
        "intr.umax" | "maxui" => (Combination::GreatestUnsigned, both),
        "fadd" | "addf" if may_reorder(op) => (Combination::Sum, both),
        "fsub" | "subf" if may_reorder(op) => (Combination::Sum, &[0]),
        "fmul" | "mulf" if may_reorder(op) => (Combination::Product, both),
        "intr.fmuladd" | "intr.fma" if may_reorder(op) => (Combination::Sum, &[2]),
        "intr.minnum" | "minnumf" if has_plain_numbers(op) => (Combination::Least, both),
        "intr.maxnum" | "maxnumf" if has_plain_numbers(op) => (Combination::Greatest, both),
        _ => return None,
    })
}
