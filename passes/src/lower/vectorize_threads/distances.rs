//! Loops over the distances of shuffles, which go in rounds one behind the other.
//!
//! ```mlir
//! %r:2 = scf.while (%v = %s, %d = 16) { %d > 0 } do { %m = regrain.shuffle down %v, %d, ... ; scf.yield %v + %m, %d / 2 }
//! ```
//! becomes
//! ```mlir
//! %m16 = regrain.shuffle down %s, 16, ... ; %v8 = %s + %m16 ; %m8 = regrain.shuffle down %v8, 8, ... ; ...
//! ```
//! so that each is one permutation that is known. Declines where a round does not follow from constants, and where there are many.

use std::collections::HashMap;

use mlir_bridge::ir::{Block, Builder, Mapping, Op, Value};
use regrain_dialects::ops::Shuffle;

use super::steps::folded;
use crate::analysis::facts::{constant, width};

/// The most rounds: distances of a warp are five, and a program may count to one more.
const MOST_ROUNDS: usize = 8;
/// The most operations in a round.
const LARGEST_ROUND: usize = 64;

/// Makes rounds of the loops in `parallel` that shuffle over distances which only they know.
pub fn unroll(parallel: Op<'_>) {
    for op in parallel.find_all(|op| op.is("scf.while")).into_iter().rev() {
        let over = |inner: Op<'_>| inner.is(Shuffle::NAME) && constant(Shuffle::of(inner).offset()).is_none();
        if !op.contains(over) || op.find_all(|_| true).len() > LARGEST_ROUND {
            continue;
        }
        if let Some(rounds) = rounds(op) {
            make(op, rounds);
        }
    }
}

/// What is known of a loop's values.
#[derive(Default)]
struct Known<'c>(HashMap<Value<'c>, i64>);

impl<'c> Known<'c> {
    fn of(&self, value: Value<'c>) -> Option<i64> {
        self.0.get(&value).copied().or_else(|| constant(value))
    }

    fn bind(&mut self, args: &[Value<'c>], values: &[Value<'c>]) {
        let known: Vec<_> = values.iter().map(|value| self.of(*value)).collect();
        for (arg, known) in args.iter().zip(known) {
            match known {
                Some(number) => self.0.insert(*arg, number),
                None => self.0.remove(arg),
            };
        }
    }

    fn follow(&mut self, block: Block<'c>) {
        for op in block.ops() {
            for result in op.results() {
                self.0.remove(&result);
            }
            if op.num_results() == 1
                && let Some(number) = self.result(op)
            {
                self.0.insert(op.result(0), number);
            }
        }
    }

    fn result(&self, op: Op<'c>) -> Option<i64> {
        let bits = width(op.result(0).ty()).filter(|_| op.num_regions() == 0)?;
        let number = |index: usize| op.operands().get(index).and_then(|value| self.of(*value));
        if matches!(op.name(), "llvm.icmp" | "arith.cmpi") {
            return compare(op, number(0)?, number(1)?).map(i64::from);
        }
        let made = folded(op.name(), number(0), number(1))?;
        Some((made << (64 - bits)) >> (64 - bits))
    }
}

/// What a comparison of numbers with a sign gives.
fn compare(op: Op<'_>, a: i64, b: i64) -> Option<bool> {
    let signed = a >= 0 && b >= 0;
    match op.attr("predicate")?.as_int()? {
        0 => Some(a == b),
        1 => Some(a != b),
        2 => Some(a < b),
        3 => Some(a <= b),
        4 => Some(a > b),
        5 => Some(a >= b),
        6 if signed => Some(a < b),
        7 if signed => Some(a <= b),
        8 if signed => Some(a > b),
        9 if signed => Some(a >= b),
        _ => None,
    }
}

/// How many rounds a loop makes, if constants say it.
fn rounds(op: Op<'_>) -> Option<usize> {
    let (before, after) = (op.region(0).entry(), op.region(1).entry());
    let mut known = Known::default();
    known.bind(&before.args(), &op.operands());
    for round in 0..=MOST_ROUNDS {
        known.follow(before);
        let condition = before.terminator()?;
        if known.of(condition.operand(0))? & 1 == 0 {
            return Some(round);
        }
        known.bind(&after.args(), &condition.operands()[1..]);
        known.follow(after);
        known.bind(&before.args(), &after.terminator()?.operands());
    }
    None
}

/// Makes so many rounds before the loop, and what it asks once more; the loop goes.
fn make(op: Op<'_>, rounds: usize) {
    let b = Builder::before(op);
    let (before, after) = (op.region(0).entry(), op.region(1).entry());
    let (Some(condition), Some(last)) = (before.terminator(), after.terminator()) else { return };
    let mut known = Known::default();
    known.bind(&before.args(), &op.operands());
    let mut values = op.operands();
    for round in 0..=rounds {
        let passed = copy(b, before, &mut known, &values, &condition.operands()[1..]);
        if round == rounds {
            op.results().into_iter().zip(&passed).for_each(|(result, value)| result.replace_all_uses_with(*value));
            op.erase();
            return;
        }
        known.bind(&after.args(), &condition.operands()[1..]);
        values = copy(b, after, &mut known, &passed, &last.operands());
        known.bind(&before.args(), &last.operands());
    }
}

/// Makes the operations of a block, whose arguments are `values`; gives what stands for `results`.
fn copy<'c>(
    b: Builder<'c>,
    block: Block<'c>,
    known: &mut Known<'c>,
    values: &[Value<'c>],
    results: &[Value<'c>],
) -> Vec<Value<'c>> {
    known.follow(block);
    let mut mapping = Mapping::new();
    mapping.map_all(&block.args(), values);
    for op in block.ops().into_iter().filter(|op| !op.is_terminator()) {
        match op.results()[..] {
            [result] if known.0.contains_key(&result) => {
                mapping.map(result, b.const_int(result.ty(), known.0[&result]));
            }
            _ => {
                b.clone_op(op, &mut mapping);
            }
        }
    }
    let passed = |value: &Value<'c>| match known.0.get(value) {
        Some(number) => b.const_int(value.ty(), *number),
        None => mapping.get_or_self(*value),
    };
    results.iter().map(passed).collect()
}
