//! Threads of several rows go through a loop side by side where they read the same.
//!
//! ```mlir
//! scf.parallel (%x, %y, %z) = ... to (%c32, %c32, %c1) {
//!   %s = scf.for %k = ... iter_args(%sum = ...) { %sum + (llvm.load %a[%y][%k]) * (llvm.load %b[%k][%x]) }
//! }
//! ```
//! becomes
//! ```mlir
//! scf.parallel (%x, %y, %z) = ... to (%c32, %c8, %c1) {
//!   %s:4 = scf.for %k = ... iter_args(%sum0 = ..., %sum1 = ..., ...) {
//!     %v = llvm.load %b[%k][%x]                                       // once for four rows
//!     %sum0 + (llvm.load %a[4 * %y][%k]) * %v ; %sum1 + (llvm.load %a[4 * %y + 1][%k]) * %v ; ...
//!   }
//! }
//! ```
//! A row on its own waits in each round for the sum of the round before, and reads all that the next row reads again. Several sums at a time
//! hide the wait, and are in registers while what they have in common is read once. Each thread's own operations keep their order.
//!
//! Threads of blocks of one dimension may have rows too (`fold_rows.rs`).
//!
//! Declined: loops that store, whose rounds the rows do not share, or that carry much already; thread loops with other effects than
//! ordinary loads and stores, and with memory that threads use one after the other.

use std::collections::HashSet;

use mlir_bridge::ir::{Builder, Mapping, Op, Value};
use regrain_dialects::attributes::REUSED;

use super::fold_rows::{self, ROWS};
use crate::{
    analysis::{
        facts::constant,
        functions::Functions,
        loops::Counting,
        synchronisation::STRUCTURES,
        uniformity::{Trust, Uniformity},
    },
    coarsen::unroll_and_interleave::{Indexing, Unroll, apply, check},
    lower::{
        keep_rolled,
        vectorize_threads::{FEWEST, Machine, is_ordinary},
    },
    optimise::merge_common_values,
};

/// The part of the vector registers that values may take which rows side by side carry through a loop, each a register or two: with 32 of them
/// eight sums, as many as two units have under way that take four cycles for a multiplication and addition.
const CARRIED: u32 = 4;
/// The largest body of a thread loop, in operations.
const LARGEST: usize = 400;

/// Loops of fewer rounds may be written out.
const FEWEST_KEPT: i64 = 8;

/// Joins rows in the thread loops of a function.
pub fn join<'c>(module: Op<'c>, function: Op<'c>, machine: Machine) {
    for parallel in function.find_named("scf.parallel") {
        let parallel = with_rows(parallel, machine);
        if let Some((inner, factor)) = worthwhile(parallel, machine) {
            join_rows(module, parallel, inner, factor);
        }
    }
}

/// The thread loop, or one in rows in its place: in long ones that had better go together, else in the shortest ones that fill a register,
/// along which most of what threads compute of their numbers is linear.
fn with_rows(parallel: Op<'_>, machine: Machine) -> Op<'_> {
    let shortest = i64::from(machine.register_bits / 32);
    let lengths = fold_rows::lengths(parallel);
    for length in lengths.iter().copied().filter(|_| parallel.contains(|op| op.is("scf.for"))) {
        let folded = fold_rows::folded(parallel, length);
        if worthwhile(folded, machine).is_some() {
            parallel.erase();
            return folded;
        }
        folded.erase();
    }
    let Some(length) = lengths.into_iter().filter(|length| *length >= shortest).min() else { return parallel };
    let folded = fold_rows::folded(parallel, length);
    parallel.erase();
    folded
}

/// A loop that rows of a thread loop had better go through together, and how many.
fn worthwhile(parallel: Op<'_>, machine: Machine) -> Option<(Op<'_>, usize)> {
    let dimensions = Counting::dimensions(parallel);
    if dimensions.len() != 3 || !dimensions.iter().all(Counting::is_plain) || parallel.num_results() > 0 {
        return None;
    }
    let [columns, rows] = [0, ROWS].map(|axis| constant(dimensions[axis].upper));
    if columns.is_some_and(|columns| columns < FEWEST.into()) || rows == Some(1) || !is_plain(parallel) {
        return None;
    }
    let structures: HashSet<_> = parallel.find_all(|op| STRUCTURES.contains(&op.name())).into_iter().collect();
    let trust = Trust { loads: true, ..Trust::default() };
    let ivs = parallel.body().args();
    let by = |axis: usize| Uniformity::new(parallel.body(), &[ivs[axis]], structures.clone(), trust);
    let (by_column, by_row) = (by(0), by(ROWS));
    let loops = parallel.find_named("scf.for").into_iter().filter(|op| {
        let bounds = &op.operands()[..3];
        let shared = |load: Op<'_>| by_row.is_uniform(load.operand(0)) && !by_column.is_uniform(load.operand(0));
        let innermost =
            !op.contains(|inner| inner != *op && matches!(inner.name(), "scf.for" | "scf.if" | "llvm.store"));
        innermost
            && by_row.all_uniform(bounds)
            && by_column.all_uniform(bounds)
            && by_row.is_met_together(*op, parallel)
            && op.contains(|inner| inner.is("llvm.load") && shared(inner))
    });
    let carried = |op: &Op<'_>| op.results().iter().filter(|result| !by_row.is_uniform(**result)).count();
    let (inner, carried) = loops.map(|op| (op, carried(&op))).find(|(_, carried)| *carried > 0)?;
    let most = (machine.registers / CARRIED) as usize;
    let fits = |factor: &usize| {
        carried * factor <= most && rows.is_none_or(|rows| rows % i64::try_from(*factor).unwrap_or(1) == 0)
    };
    [8, 4, 2].into_iter().find(fits).map(|factor| (inner, factor))
}

/// Whether a thread loop only computes, loads and stores, and each thread has its memory for itself.
pub fn is_plain(parallel: Op<'_>) -> bool {
    let reused = |value: Value<'_>| {
        value
            .defining_op()
            .is_some_and(|op| op.is("llvm.alloca") && (op.has_attr(REUSED) || op.parent() == Some(parallel)))
    };
    let plain = |op: Op<'_>| match op.name() {
        "llvm.load" | "llvm.store" => is_ordinary(op) && !op.has_attr("volatile_"),
        "scf.for" | "scf.if" | "scf.parallel" => true,
        _ => op.is_terminator() || op.num_regions() == 0 && op.is_memory_effect_free(),
    };
    let inside = parallel.find_all(|op| op != parallel);
    inside.len() <= LARGEST && inside.into_iter().all(|op| plain(op) && !op.operands().into_iter().any(reused))
}

/// Lets `factor` rows go through the thread loop together; the rows that are too few for that go as they did.
fn join_rows<'c>(module: Op<'c>, parallel: Op<'c>, inner: Op<'c>, factor: usize) {
    let unroll = Unroll { dimension: ROWS, factor, indexing: Indexing::Adjacent, whole_warps: false };
    let Ok(plan) = check(parallel, &unroll, &mut Functions::new(module)) else { return };
    if !plan.jammed.contains(&inner) {
        return;
    }
    keep_rounds(inner);
    let b = Builder::before(parallel);
    let upper = parallel.operand(parallel.body().num_args() + ROWS);
    let number = b.const_index(factor as i64);
    let extent = match constant(upper) {
        Some(rows) => b.const_index(rows / factor as i64),
        None => {
            let extent = b.arith("divui", upper, number);
            leave_rest(parallel, b.arith("muli", extent, number), upper);
            extent
        }
    };
    merge_common_values::merge(apply(parallel, &unroll, &plan, extent));
}

/// Several sums at a time are enough to do. Written out, all that the rounds read alike in all columns would be read before, and kept on the
/// stack.
fn keep_rounds(inner: Op<'_>) {
    let few = Counting::of(inner).and_then(|counting| counting.rounds()).is_some_and(|rounds| rounds < FEWEST_KEPT);
    if !few {
        keep_rolled(inner);
    }
}

/// A thread loop for the rows from `first` to `end`, behind `parallel`.
fn leave_rest<'c>(parallel: Op<'c>, first: Value<'c>, end: Value<'c>) {
    let rest = Builder::after(parallel).clone_op(parallel, &mut Mapping::new());
    let b = Builder::before(rest);
    rest.set_operand(rest.body().num_args() + ROWS, b.arith("subi", end, first));
    let row = rest.body().arg(ROWS);
    let users = row.users();
    let moved = Builder::at_start(rest.body(), rest.loc()).arith("addi", row, first);
    for user in users {
        for (index, operand) in user.operands().into_iter().enumerate() {
            if operand == row {
                user.set_operand(index, moved);
            }
        }
    }
}
