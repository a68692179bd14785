//! How often loops run, as far as their bounds tell.

use mlir_bridge::ir::{Op, Value};

use crate::analysis::{
    facts::constant,
    loops::{carried, limit},
};

/// Rounds of a loop that is not over threads and whose bounds are not known.
pub const ROUNDS: u64 = 8;
/// Threads that a loop of unknown bounds is taken to be of, and those that whole rows leave over.
const THREADS: u64 = 64;
const LEFT_OVER: u64 = 4;
/// A tree of n threads has n, n/2, n/4 ... of them at work: over its rounds, a part of n on average.
const PART_OF_TREE: u64 = 4;
/// Operations that are looked through from a bound to what a loop carries.
const DEPTH: u32 = 12;

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
        if is_of_tree(lower, DEPTH) || is_of_tree(upper, DEPTH) { all.div_ceil(PART_OF_TREE) } else { all }
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

/// Whether a bound is made from a number that a loop multiplies, divides, or shifts from round to round.
fn is_of_tree(bound: Value<'_>, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match bound.defining_op() {
        Some(op) => op.num_regions() == 0 && op.operands().into_iter().any(|operand| is_of_tree(operand, depth)),
        None => carried(handed_on(bound)).is_some_and(|carried| is_scaled(carried.next, DEPTH)),
    }
}

/// What the body of an `scf.while` is handed on from the test, as it is there.
fn handed_on(argument: Value<'_>) -> Value<'_> {
    let from_test = || {
        let (block, number) = argument.block_arg()?;
        let owner = block.parent_op().filter(|owner| owner.is("scf.while") && block != owner.region(0).entry())?;
        Some(owner.region(0).entry().terminator()?.operand(1 + number))
    };
    from_test().unwrap_or(argument)
}

/// Whether the number of the next round is a multiple or a part of one that is carried.
fn is_scaled(next: Value<'_>, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let Some(op) = next.defining_op() else {
        let handed_on = handed_on(next);
        return handed_on != next && is_scaled(handed_on, depth);
    };
    let is_carried = |value: Value<'_>| carried(handed_on(value)).is_some();
    match op.name() {
        "scf.if" => {
            let number = op.results().into_iter().position(|result| result == next);
            let yields = |region: usize| Some(op.region(region).entry().terminator()?.operand(number?));
            [0, 1].into_iter().filter_map(yields).any(|value| is_scaled(value, depth))
        }
        "llvm.shl" | "llvm.lshr" | "llvm.ashr" | "llvm.mul" | "llvm.sdiv" | "llvm.udiv" | "arith.shli"
        | "arith.shrsi" | "arith.shrui" | "arith.muli" | "arith.divsi" | "arith.divui" => {
            op.operands().into_iter().any(is_carried)
        }
        _ => op.num_regions() == 0 && op.num_operands() == 1 && is_scaled(op.operand(0), depth),
    }
}
