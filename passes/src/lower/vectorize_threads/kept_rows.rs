//! Loops over the rows of a block that stay loops.
//!
//! LLVM writes out a loop over eight rows of 32 threads as if each were a thread, which takes it several times as long to compile, and lets it keep rows of
//! a tile in registers that there are not. Where a row is of several registers, or its threads have a loop of their own, a round has enough to do by itself, so
//! there is nothing to gain, but where what each thread keeps between barriers becomes registers: that takes places that are constants, and registers, not
//! all that there are.

use std::collections::HashSet;

use mlir_bridge::ir::{Op, Type, Value};
use regrain_dialects::attributes::{REUSED, ROWS};

use super::Machine;
use crate::{
    analysis::{
        constants::{constant, product},
        loops::Counting,
        objects::root,
        uniformity::free_values,
    },
    lower::{LOOP_ANNOTATION, keep_rolled},
};

/// The registers that a round moves at once from which there is nothing to gain.
const WIDE: u64 = 2;
/// The operations that a loop may be written out to.
const WRITTEN_OUT: u64 = 100;

/// Marks the loops of a function, and those around them that LLVM would write out with them.
pub fn keep(function: Op<'_>, machine: Machine) {
    let rows = function.find_all(|op| op.has_attr(ROWS) || is_along_row(op));
    let stays = staying(&rows, machine);
    let is_kept = |op: &Op<'_>| {
        let theirs = of_threads(*op);
        let wide = op.contains(|inner| is_wide(inner, machine));
        let gains = if theirs.is_empty() { !wide } else { !(wide || repeats(*op)) || !theirs.is_subset(&stays) };
        !op.has_attr(LOOP_ANNOTATION) && is_long(*op, machine) && !gains
    };
    for rows in rows.iter().filter(|op| is_kept(op)) {
        keep_rolled(*rows);
        let around = std::iter::successors(rows.parent(), |op| op.parent()).filter(|op| op.is("scf.for"));
        around.filter(|op| is_written_out(*op, machine) && of_threads(*op).is_subset(&stays)).for_each(keep_rolled);
    }
}

/// What threads have for themselves that takes all registers or more, and is accessed before and behind loops of theirs, not in them.
fn staying<'c>(rows: &[Op<'c>], machine: Machine) -> HashSet<Op<'c>> {
    let registers = i64::from(machine.registers * machine.register_bits / 8);
    let repeating: Vec<_> = rows.iter().filter(|op| repeats(**op)).collect();
    let mut stays: HashSet<_> = repeating.iter().flat_map(|op| of_threads(**op)).collect();
    // Something has to be loaded beside.
    stays.retain(|memory| bytes(*memory).is_some_and(|bytes| bytes >= registers));
    for inner in repeating.into_iter().flat_map(|op| op.find_all(is_of_thread)) {
        for memory in of_threads(inner) {
            stays.remove(&memory);
        }
    }
    stays
}

/// The bytes of memory that the threads of a block share out among them.
fn bytes(alloca: Op<'_>) -> Option<i64> {
    let element = alloca.attr("elem_type")?.as_type()?.layout(alloca).0.cast_signed();
    product(alloca.operand(0))?.checked_mul(element)
}

/// Whether each thread of rows has a loop of its own.
fn repeats(rows: Op<'_>) -> bool {
    rows.contains(is_of_thread)
}

/// Whether an operation is a loop of each thread.
fn is_of_thread(op: Op<'_>) -> bool {
    matches!(op.name(), "scf.for" | "scf.while") && !op.has_attr(ROWS) && !is_along_row(op)
}

/// Whether an operation is the loop over the parts of a row that go together.
fn is_along_row(op: Op<'_>) -> bool {
    op.is("scf.for") && op.parent().is_some_and(|around| around.has_attr(ROWS))
}

/// Whether LLVM writes out all rounds of a loop around rows without being told.
fn is_written_out(op: Op<'_>, machine: Machine) -> bool {
    let told = op.attr(LOOP_ANNOTATION).is_some_and(|annotation| annotation.to_string().contains("unroll"));
    let rounds = Counting::of(op).and_then(|counting| counting.rounds());
    !told && rounds.is_some_and(|rounds| rounds > 1) && is_long(op, machine)
}

/// Whether a loop is long when it is written out.
fn is_long(op: Op<'_>, machine: Machine) -> bool {
    written_out(op, machine).is_none_or(|all| all > WRITTEN_OUT)
}

/// The operations of all rounds of a loop, if these are known; those of rounds that only fill tiles count for each register. Loops that go through memory
/// had better be written out: more of it is asked for at a time.
fn written_out(rows: Op<'_>, machine: Machine) -> Option<u64> {
    let rounds = Counting::of(rows)?.rounds()?.unsigned_abs();
    let inside = rows.find_all(|op| op != rows && !op.is("arith.constant") && !op.is("llvm.mlir.constant"));
    let fills = fills_tiles(rows);
    let all = inside.into_iter().map(|op| {
        if !fills {
            return 1;
        }
        let values = if op.num_results() > 0 { op.results() } else { op.operands() };
        values.into_iter().map(|value| registers(op, value, machine)).max().unwrap_or(1).max(1)
    });
    Some(rounds.saturating_mul(all.sum()))
}

/// Whether all that a loop stores stays in memory of the block.
fn fills_tiles(rows: Op<'_>) -> bool {
    let stores = rows.find_all(|op| matches!(op.name(), "llvm.store" | "llvm.intr.masked.store"));
    let stays = |store: &Op<'_>| root(store.operand(1)).defining_op().is_some_and(|memory| memory.is("llvm.alloca"));
    !stores.is_empty() && stores.iter().all(stays)
}

/// Whether an operation loads or stores several registers.
fn is_wide(op: Op<'_>, machine: Machine) -> bool {
    let moved = match op.name() {
        name if name.contains("load") => op.results(),
        name if name.contains("store") => op.operands(),
        _ => return false,
    };
    moved.into_iter().any(|value| registers(op, value, machine) >= WIDE)
}

/// The registers that a vector takes, 0 for what is none.
fn registers(op: Op<'_>, value: Value<'_>, machine: Machine) -> u64 {
    let bits = |(element, lanes): (Type<'_>, u32)| u64::from(lanes) * element.layout(op).0 * 8;
    value.ty().vector_parts().map_or(0, |parts| bits(parts) / u64::from(machine.register_bits))
}

/// What threads have for themselves that a loop accesses. Of shared memory there is one.
fn of_threads(rounds: Op<'_>) -> HashSet<Op<'_>> {
    let is_own = |op: &Op<'_>| op.is("llvm.alloca") && (op.has_attr(REUSED) || constant(op.operand(0)) != Some(1));
    let pointers = free_values(rounds).into_iter().filter(|value| value.ty().ptr_space().is_some());
    pointers.filter_map(|value| root(value).defining_op().filter(is_own)).collect()
}
