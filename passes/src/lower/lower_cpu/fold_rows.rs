//! Blocks of one dimension whose threads ask for a row and a column are ones of two.
//!
//! ```mlir
//! scf.parallel (%x, %y, %z) = ... to (%c1024, %c1, %c1) { %row = llvm.udiv %x, 32 ; %column = llvm.urem %x, 32 ; use(%row, %column) }
//! ```
//! becomes
//! ```mlir
//! scf.parallel (%x, %y, %z) = ... to (%c32, %c32, %c1) { use(%y, %x) }
//! ```
//! Number `32 * %y + %x` is the thread's. It is the order in which threads come as before. What is taken of numbers along a row, that they do
//! not wrap, holds of all threads of such a row, where it would hold of no row that is the whole block.
//!
//! Declined: operations of warps, which know threads by their number, and blocks of no known size.

use mlir_bridge::ir::{Builder, Mapping, Op, Value};

use crate::{
    analysis::{facts::constant, loops::Counting},
    lower::{
        TAKEN_BY_ROW,
        vectorize_threads::{FEWEST, is_of_warp},
    },
};

/// The dimension of rows.
pub const ROWS: usize = 1;

/// What a thread's number is divided by.
struct Division<'c> {
    op: Op<'c>,
    by: i64,
    /// The remainder is asked for.
    rest: bool,
}

impl<'c> Division<'c> {
    /// A division of a number that is not negative.
    fn of(op: Op<'c>) -> Option<Self> {
        let by = constant(op.operands().get(1).copied()?)?;
        let (by, rest) = match op.name() {
            "llvm.udiv" | "llvm.sdiv" | "arith.divui" | "arith.divsi" => (by, false),
            "llvm.urem" | "llvm.srem" | "arith.remui" | "arith.remsi" => (by, true),
            "llvm.lshr" | "arith.shrui" if (0..16).contains(&by) => (1 << by, false),
            "llvm.and" | "arith.andi" => (by.checked_add(1).filter(|by| by.count_ones() == 1)?, true),
            _ => return None,
        };
        Some(Self { op, by, rest })
    }

    /// Those of the number of a dimension.
    fn all(number: Value<'c>) -> Vec<Self> {
        let casts =
            number.users().into_iter().filter(|op| matches!(op.name(), "arith.index_cast" | "arith.index_castui"));
        let wide = casts.map(|op| op.result(0));
        let of = |value: Value<'c>| {
            value.users().into_iter().filter(move |op| op.operand(0) == value).filter_map(Self::of).collect::<Vec<_>>()
        };
        wide.flat_map(of).collect()
    }
}

/// The lengths of rows that the threads of a block of one dimension ask for, the longest first.
pub fn lengths(parallel: Op<'_>) -> Vec<i64> {
    let dimensions = Counting::dimensions(parallel);
    let sizes: Vec<_> = dimensions.iter().map(|dimension| constant(dimension.upper)).collect();
    let [Some(threads), Some(1), Some(1)] = sizes[..] else { return Vec::new() };
    let plain = dimensions.iter().all(Counting::is_plain) && parallel.num_results() == 0;
    let taken = parallel.parent_of_name("llvm.func").is_some_and(|function| function.has_attr(TAKEN_BY_ROW));
    if !plain || taken || parallel.contains(is_of_warp) {
        return Vec::new();
    }
    let divisions = Division::all(parallel.body().arg(0));
    let mut found: Vec<_> = divisions
        .iter()
        .filter(|division| division.rest && divisions.iter().any(|other| !other.rest && other.by == division.by))
        .map(|division| division.by)
        .filter(|by| (i64::from(FEWEST)..threads).contains(by) && threads % by == 0)
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.dedup();
    found
}

/// The thread loop in rows of such a length, beside it.
pub fn folded<'c>(parallel: Op<'c>, length: i64) -> Op<'c> {
    let b = Builder::before(parallel);
    let operands = parallel.operands();
    let mut sizes = operands[3..6].to_vec();
    let threads = constant(sizes[0]).unwrap_or(length);
    (sizes[0], sizes[ROWS]) = (b.const_index(length), b.const_index(threads / length));
    let made = b.scf_parallel(&operands[..3], &sizes, &operands[6..9]);
    for (name, attr) in parallel.discardable_attrs() {
        made.set_attr(name, attr);
    }
    let (old, new) = (parallel.body().args(), made.body().args());
    let inside = Builder::before_terminator(made.body(), b.loc);
    let first = inside.arith("muli", new[ROWS], inside.const_index(length));
    let thread = inside.arith("addi", first, new[0]);
    let mut mapping = Mapping::new();
    mapping.map_all(&old, &[thread, inside.const_index(0), new[2]]);
    inside.clone_body(parallel.body(), &mut mapping);
    for Division { op, by, rest } in Division::all(thread) {
        if by == length {
            let part = if rest { new[0] } else { new[ROWS] };
            let b = Builder::before(op);
            op.replace_with(&[b.index_cast(part, op.result(0).ty())]);
        }
    }
    made
}
