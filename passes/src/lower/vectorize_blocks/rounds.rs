//! Loops that all threads go through together, which had better go outside of them where blocks are lanes.
//!
//! ```mlir
//! scf.for %y = %c0 to %c16 step %c1 { llvm.store (llvm.load %in[(%row + %y) * %width + %column + %x]), %tile[%y][%x] }
//! ```
//! Lanes read a block apart, and a thread goes down a column of its block: a line of the cache would be come back to from each thread of the
//! block, the lines of all rows and blocks between. Threads of one round lie side by side, so that squares of them and the blocks are
//! transposed (`lower_cpu/transpose.rs`).
//!
//! Declined: loops that carry values or hold loops, rounds that threads do not share, arrays of a thread, and blocks that are no
//! multiple of the lanes in x.

use mlir_bridge::ir::{Op, Value};
use regrain_dialects::ops::is_barrier;

use crate::analysis::{
    addresses::{Offsets, Symbol},
    facts::constant,
    objects::{Kind, address, object_of, root},
    synchronisation::decisive,
    uniformity::Uniformity,
};

/// The loops of a block loop, of which `uniform` knows what is the same in all threads of all blocks.
pub fn outside<'c>(parallel: Op<'c>, lanes: u32, uniform: &Uniformity<'c>) -> Vec<Op<'c>> {
    if constant(parallel.operand(3)).is_none_or(|threads| threads % i64::from(lanes) != 0) {
        return Vec::new();
    }
    let offsets = Offsets::default();
    let threads = parallel.body().arg(0);
    let fits = |op: &Op<'c>| {
        uniform.all_uniform(&decisive(*op)) && uniform.is_met_together(*op, parallel) && is_simple(*op) && {
            let accesses = op.find_all(|inner| address(inner).is_some());
            accesses.iter().all(|access| !lies_in(*access, &[Kind::Local]))
                && accesses.into_iter().any(|access| lies_side_by_side(&offsets, threads, access))
        }
    };
    parallel.find_named("scf.for").into_iter().filter(fits).collect()
}

/// Whether a loop carries nothing, and holds no loops and no barriers.
fn is_simple(op: Op<'_>) -> bool {
    let other = |inner: Op<'_>| inner != op && matches!(inner.name(), "scf.for" | "scf.while") || is_barrier(inner);
    op.num_results() == 0 && !op.contains(other)
}

fn lies_in(access: Op<'_>, kinds: &[Kind]) -> bool {
    address(access).and_then(|at| object_of(root(at))).is_some_and(|kind| kinds.contains(&kind))
}

/// Whether an access of the device's memory goes on by its size from thread to thread. Numbers that wrap are not looked at: the order is
/// right in any case.
fn lies_side_by_side<'c>(offsets: &Offsets<'c>, thread: Value<'c>, access: Op<'c>) -> bool {
    let ty = if access.is("llvm.load") { access.result(0).ty() } else { access.operand(0).ty() };
    let (size, known) = (i128::from(ty.layout(access).0), [Kind::Shared, Kind::Dynamic, Kind::Struct]);
    let offset = address(access).and_then(|at| offsets.address(at).offset);
    !lies_in(access, &known) && offset.is_some_and(|offset| offset.factor(Symbol::Value(thread)) == size)
}
