//! Trees over the threads of a block: loops in whose rounds fewer threads work from round to round, further and further apart.
//!
//! ```mlir
//! scf.while (%d = %half) { ... scf.parallel (%x, ...) = ... { scf.if %x < %d { ... } } ... scf.yield %d / 2 }
//! ```

use mlir_bridge::ir::{Op, Value};

use crate::analysis::loops::{Counting, carried};

/// Operations that are looked through.
const DEPTH: u32 = 12;

/// Whether a loop multiplies, divides, or shifts a number from round to round, or shifts by the round's own.
pub fn is_tree(op: Op<'_>) -> bool {
    let numbers = match op.name() {
        "scf.for" | "scf.while" => op.region(0).entry().args(),
        _ => return false,
    };
    let is_round = |mut value: Value<'_>| {
        while let Some(cast) = value.defining_op().filter(|op| op.num_operands() == 1 && op.num_regions() == 0) {
            value = cast.operand(0);
        }
        value.block_arg().is_some_and(|(block, _)| block.parent_op() == Some(op))
    };
    numbers.into_iter().filter_map(carried).any(|carried| is_scaled(carried.next, DEPTH))
        || op.contains(|inner| SHIFTS.contains(&inner.name()) && is_round(inner.operand(1)))
}

/// Whether a bound is made from a number that a loop multiplies, divides, or shifts from round to round, or shifts by the round's own.
pub fn is_of_tree(bound: Value<'_>) -> bool {
    let is_tree_of = |value: Value<'_>| loop_of(value).is_some_and(is_tree);
    made_from(bound, DEPTH, &is_tree_of)
}

/// Whether the threads that work change from round to round of a loop around them: a bound of theirs, or a condition, is made from its number.
/// Where nobody knows how often a loop runs, and it is no tree, they may change by one or two of many: steps of a stencil within a tile.
pub fn changes(op: Op<'_>) -> bool {
    let is_known = || is_tree(op) || Counting::of(op).is_some_and(|counting| counting.rounds().is_some());
    let is_of_round = |value: Value<'_>| loop_of(value) == Some(op);
    let decides = |inner: Op<'_>| match inner.name() {
        "scf.if" => made_from(inner.operand(0), DEPTH, &is_of_round),
        "scf.for" | "scf.parallel" if inner.body().arg(0).ty().is_index() => {
            inner.operands().into_iter().any(|bound| made_from(bound, DEPTH, &is_of_round))
        }
        _ => false,
    };
    matches!(op.name(), "scf.for" | "scf.while") && is_known() && op.contains(|inner| inner != op && decides(inner))
}

/// The serial loop whose number, or what it carries, a value is.
fn loop_of(value: Value<'_>) -> Option<Op<'_>> {
    let owner = value.block_arg()?.0.parent_op()?;
    let serial = owner.is("scf.while") || owner.is("scf.for") && !owner.body().arg(0).ty().is_index();
    serial.then_some(owner)
}

fn made_from<'c>(value: Value<'c>, depth: u32, wanted: &dyn Fn(Value<'c>) -> bool) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match value.defining_op() {
        Some(op) => op.num_regions() == 0 && op.operands().into_iter().any(|operand| made_from(operand, depth, wanted)),
        None => wanted(value),
    }
}

const SHIFTS: [&str; 6] = ["llvm.shl", "llvm.lshr", "llvm.ashr", "arith.shli", "arith.shrsi", "arith.shrui"];
const PRODUCTS: [&str; 6] = ["llvm.mul", "llvm.sdiv", "llvm.udiv", "arith.muli", "arith.divsi", "arith.divui"];

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
        name if SHIFTS.contains(&name) || PRODUCTS.contains(&name) => op.operands().into_iter().any(is_carried),
        _ => op.num_regions() == 0 && op.num_operands() == 1 && is_scaled(op.operand(0), depth),
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
