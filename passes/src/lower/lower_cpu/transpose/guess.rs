//! What a number is as a sum, by its form alone: a guess, as nothing says that it does not wrap.

use std::collections::{HashMap, HashSet};

use mlir_bridge::ir::{Attr, Op, Value};

use crate::analysis::{addresses, counted_loop::is_outside, facts::constant};

/// The largest factor of what only rises: what wraps at 32 bits, so many times, is no multiple of 2 to the 64.
const LARGEST: i64 = 1 << 20;
/// How deep numbers are looked through.
const DEPTH: u32 = 24;

/// A constant, and multiples of values.
#[derive(Clone, Default)]
pub struct Guess<'c> {
    pub constant: i64,
    pub terms: HashMap<Value<'c>, i64>,
    /// Whether it may fall from one round of the loop to the next, or in parts rise while others fall, so that what wraps in some round might
    /// not be seen in a later one.
    pub falls: bool,
}

impl<'c> Guess<'c> {
    fn plus(mut self, other: &Self, factor: i64) -> Self {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for (value, times) in &other.terms {
            let own = self.terms.entry(*value).or_default();
            *own = own.wrapping_add(times.wrapping_mul(factor));
        }
        self.terms.retain(|_, times| *times != 0);
        self.falls |= other.falls || !(0..=LARGEST).contains(&factor) && !other.terms.is_empty();
        self
    }
}

/// Guesses about the numbers of a function.
pub struct Guesses<'a, 'c> {
    /// Constant vectors, the first one of each value.
    constants: Vec<(Attr<'c>, Value<'c>)>,
    /// Conditions that are taken to hold.
    taken: &'a [Value<'c>],
    /// The loop, and the one in it that runs once.
    along: Op<'c>,
    row: Op<'c>,
}

impl<'a, 'c> Guesses<'a, 'c> {
    /// Those about the rounds of `along`, in each of which `row` runs once.
    pub fn new(taken: &'a [Value<'c>], along: Op<'c>, row: Op<'c>) -> Self {
        Self { constants: Vec::new(), taken, along, row }
    }

    /// What a number, an address, or each lane of a vector of them is.
    pub fn of(&mut self, value: Value<'c>) -> Guess<'c> {
        self.within(value, DEPTH)
    }

    fn within(&mut self, value: Value<'c>, depth: u32) -> Guess<'c> {
        if let Some(number) = constant(value) {
            return Guess { constant: number, ..Guess::default() };
        }
        let sum = value.defining_op().filter(|_| depth > 0).and_then(|op| self.sum(op, depth - 1));
        sum.unwrap_or_else(|| {
            let steady = value == self.along.body().arg(0) || self.is_steady(value);
            Guess { constant: 0, terms: HashMap::from([(self.leaf(value), 1)]), falls: !steady }
        })
    }

    fn sum(&mut self, op: Op<'c>, depth: u32) -> Option<Guess<'c>> {
        let taken = self.taken;
        let mut operand = |number: usize| self.within(op.operand(number), depth);
        match op.name() {
            "arith.addi" | "llvm.add" => Some(operand(0).plus(&operand(1), 1)),
            "arith.subi" | "llvm.sub" => Some(operand(0).plus(&operand(1), -1)),
            "arith.muli" | "llvm.mul" => {
                let (first, second) = (operand(0), operand(1));
                let factor = |guess: &Guess<'c>| guess.terms.is_empty().then_some(guess.constant);
                match (factor(&first), factor(&second)) {
                    (_, Some(times)) => Some(Guess::default().plus(&first, times)),
                    (Some(times), _) => Some(Guess::default().plus(&second, times)),
                    _ => None,
                }
            }
            "arith.shli" | "llvm.shl" => {
                let bits = operand(1);
                let bits = bits.terms.is_empty().then_some(bits.constant).filter(|bits| (0..63).contains(bits))?;
                Some(Guess::default().plus(&operand(0), 1 << bits))
            }
            "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui" | "arith.trunci"
            | "llvm.sext" | "llvm.zext" | "llvm.trunc" | "vector.broadcast" | "llvm.addrspacecast" => Some(operand(0)),
            "llvm.select" | "arith.select" if taken.contains(&op.operand(0)) => Some(operand(1)),
            "llvm.getelementptr" => {
                let steps = addresses::steps(op)?;
                let mut sum = self.within(op.operand(0), depth);
                sum.constant = sum.constant.wrapping_add(steps.bytes);
                for (index, stride) in steps.indices {
                    sum = sum.plus(&self.within(index, depth), stride);
                }
                Some(sum)
            }
            _ => None,
        }
    }

    /// Whether a number is the same in all rounds.
    fn is_steady(&self, value: Value<'c>) -> bool {
        let mut seen = HashSet::from([value]);
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if is_outside(value, self.along) || value == self.row.body().arg(0) {
                continue;
            }
            let Some(op) = value.defining_op().filter(|op| op.num_regions() == 0 && op.is_pure()) else { return false };
            open.extend(op.operands().into_iter().filter(|operand| seen.insert(*operand)));
        }
        true
    }

    /// The value itself, or an equal constant vector that was met before.
    fn leaf(&mut self, value: Value<'c>) -> Value<'c> {
        let attr = value.defining_op().filter(|op| op.is("arith.constant")).and_then(|op| op.attr("value"));
        let Some(attr) = attr else { return value };
        match self.constants.iter().find(|(known, _)| *known == attr) {
            Some((_, first)) => *first,
            None => {
                self.constants.push((attr, value));
                value
            }
        }
    }
}
