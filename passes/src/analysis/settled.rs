//! Loads of shared memory that give all threads the same, and what they give is there before the thread loop.
//!
//! ```mlir
//! regrain.barrier(%x, %y, %z)
//! %total = llvm.load %sums : !llvm.ptr<3> -> i32      // one place, and nothing was written since
//! scf.if %total > 128 { ...; regrain.barrier(%x, %y, %z); ... }
//! ```
//! becomes
//! ```mlir
//! %total = llvm.load %sums ; scf.if %total > 128 { scf.parallel { ... } ; ... }
//! ```
//! A thread that wrote there before the next barrier would race with those that read. What a thread writes itself behind the load it reads no
//! more; what it wrote between the barrier and the load is why only loads count before which nothing is written.

use std::collections::HashSet;

use mlir_bridge::ir::Op;
use regrain_dialects::ops::Barrier;

use super::{
    addresses::Offsets,
    objects::{Kind, object_of},
    synchronisation::is_structure,
    uniformity::repeatable,
};

/// The loads of this kind behind the barriers of a block among `ops`.
pub fn settled<'c>(ops: impl IntoIterator<Item = Op<'c>>) -> HashSet<Op<'c>> {
    let offsets = Offsets::default();
    let barriers = ops.into_iter().filter(|op| op.is(Barrier::NAME) && !Barrier::of(*op).is_grid());
    let behind = |barrier: Op<'c>| {
        let after = std::iter::successors(barrier.next(), |op| op.next());
        after.take_while(|op| only_reads(*op)).collect::<Vec<_>>()
    };
    let reads_one_place = |op: &Op<'c>| {
        let place = op.is("llvm.load").then(|| offsets.address(op.operand(0)));
        place.is_some_and(|place| {
            let shared = matches!(object_of(place.root), Some(Kind::Shared | Kind::Dynamic));
            shared && place.offset.is_some_and(|offset| offset.terms().next().is_none())
        })
    };
    barriers.flat_map(behind).filter(reads_one_place).collect()
}

/// Whether an operation, with what is nested in it, writes nothing that others see, and reads what nobody may write meanwhile.
fn only_reads(op: Op<'_>) -> bool {
    !op.contains(|inner| !(is_structure(inner) || inner.is_terminator() || repeatable(inner) || is_plain_load(inner)))
}

fn is_plain_load(op: Op<'_>) -> bool {
    let unordered = op.attr("ordering").and_then(|order| order.as_int()).unwrap_or(0) == 0;
    op.is("llvm.load") && unordered && !op.has_attr("volatile_")
}
