//! How often loops run, as far as their bounds tell.

use mlir_bridge::ir::{Op, Value};

use super::trees::is_of_tree;
use crate::analysis::{facts::constant, loops::limit};

/// Rounds of a loop that is not over threads and whose bounds are not known.
pub const ROUNDS: u64 = 8;
/// Threads that a loop of unknown bounds is taken to be of, and those that whole rows leave over.
const THREADS: u64 = 64;
const LEFT_OVER: u64 = 4;
/// A tree of n threads has n, n/2, n/4 ... of them at work: over its rounds, a part of n on average.
const PART_OF_TREE: u64 = 4;

/// How often a dimension of a loop runs, whose bounds and step are the operands of these numbers.
pub fn rounds(op: Op<'_>, [lower, upper, step]: [usize; 3]) -> u64 {
    let step = constant(op.operand(step)).unwrap_or(1).max(1).cast_unsigned();
    let (lower, upper) = (op.operand(lower), op.operand(upper));
    let threads = if let Some(length) = from_its_start(lower, upper) {
        length
    } else if begins_behind_another(op, lower) {
        LEFT_OVER
    } else if let (Some(lower), Some(upper)) = (chosen(lower), chosen(upper)) {
        upper.saturating_sub(lower).max(0).cast_unsigned()
    } else if op.body().arg(0).ty().is_index() {
        // Those of threads count in indices.
        let all = most(upper).map_or(THREADS, i64::cast_unsigned);
        if is_of_tree(lower) || is_of_tree(upper) { all.div_ceil(PART_OF_TREE) } else { all }
    } else {
        return ROUNDS;
    };
    threads.div_ceil(step)
}

/// Of a bound that is chosen the first choice is taken, which is the one that rows are made for.
fn chosen(bound: Value<'_>) -> Option<i64> {
    constant(bound).or_else(|| constant(bound.defining_op().filter(|op| op.is("arith.select"))?.operand(1)))
}

fn most(bound: Value<'_>) -> Option<i64> {
    let chosen = || bound.defining_op().filter(|op| op.is("arith.select")).and_then(|op| most(op.operand(1)));
    limit(bound).or_else(chosen).filter(|most| *most >= 0)
}

/// How far a bound is from where the loop starts, if it is told from there.
fn from_its_start<'c>(lower: Value<'c>, upper: Value<'c>) -> Option<u64> {
    let sum = upper.defining_op().filter(|op| op.is("arith.addi") && op.operand(0) == lower)?;
    u64::try_from(constant(sum.operand(1))?).ok()
}

/// Whether a loop is of the few threads that the one before it leaves over.
fn begins_behind_another<'c>(op: Op<'c>, lower: Value<'c>) -> bool {
    constant(lower).is_none()
        && lower.users().into_iter().any(|user| user != op && user.is("scf.for") && user.operand(1) == lower)
}
