//! Strided loops whose threads carry values from round to round, as sums.
//!
//! ```mlir
//! %sum:2 = scf.while (%i = %init, %s = %zero) ... { %more = A(%i, %s) ; scf.yield %next, %more }
//! ```
//! becomes
//! ```mlir
//! %sum:2 = scf.while (%b = %low, %s = %zero) ... {
//!   regrain.barrier(...)
//!   %more = scf.if %mine -> (f32) { A(%b + %x, %s) } else { scf.yield %s }
//! }
//! ```
//! Outside of the threads such a loop stores and loads what each thread carries in each round. That is cheaper than to go through memory by
//! the stride only where all rounds together read more than the nearest cache holds; below, one row of threads leaves the lines there that
//! the next one reads. The loop as it was stands beside, and the block's share and its threads decide.

use mlir_bridge::ir::{Op, Value};

use super::{Starts, Strided, is_local};
use crate::analysis::{
    facts::range,
    objects::{Kind, object_of, root},
};

/// Bytes of the cache next to a processor.
const NEAREST_CACHE: i64 = 32 << 10;
/// The most threads of a block.
const MOST_THREADS: i128 = 1024;
/// The fewest threads that make rows.
const FEWEST_THREADS: i64 = 32;

/// A value that goes from round to round.
pub(super) struct Carried<'c> {
    pub init: Value<'c>,
    /// In the body.
    pub now: Value<'c>,
    /// What the body gives to the next round.
    pub next: Value<'c>,
    /// Behind the loop.
    pub result: Value<'c>,
}

impl<'c> Strided<'c> {
    /// Bytes that a thread accesses in a round, outside of shared memory.
    fn bytes(&self) -> i64 {
        let accessed = |op: Op<'c>| match op.name() {
            "llvm.load" => Some((op.operand(0), op.result(0).ty())),
            "llvm.store" => Some((op.operand(1), op.operand(0).ty())),
            _ => None,
        };
        let is_far = |at: Value<'c>| {
            !is_local(at) && !matches!(object_of(root(at)), Some(Kind::Shared | Kind::Dynamic | Kind::Struct))
        };
        let ops = self.body.ops().into_iter().flat_map(|op| op.find_all(|_| true));
        ops.filter_map(|op| accessed(op).filter(|(at, _)| is_far(*at)).map(|(_, ty)| ty.layout(op).0 as i64)).sum()
    }

    /// Whether rounds may read more than the nearest cache holds.
    pub(super) fn may_outgrow_cache(&self) -> bool {
        let bytes = i128::from(self.bytes());
        let known = range(self.bound).zip(range(self.init)).zip(range(self.step).filter(|step| step.low > 0));
        let rounds = known.map(|((bound, init), step)| (bound.high - init.low) / step.low + 1);
        bytes > 0 && rounds.is_none_or(|rounds| rounds.saturating_mul(MOST_THREADS * bytes) > NEAREST_CACHE.into())
    }

    /// That the rounds of a block, the first of which begins at `low`, read more than the nearest cache holds.
    pub(super) fn check_share(&self, starts: &mut Starts<'c, '_>, low: Value<'c>) {
        let (b, parallel) = (starts.b, starts.parallel);
        let wide = b.ctx().int(64);
        let widened = |value: Value<'c>| match value.ty().int_width() {
            Some(64) => value,
            _ => b.value(if self.unsigned { "arith.extui" } else { "arith.extsi" }, &[value], wide),
        };
        let rank = parallel.body().num_args();
        let sizes = (rank..2 * rank).map(|size| parallel.operand(size));
        let threads = sizes.reduce(|all, size| b.arith("muli", all, size));
        let threads = b.index_cast(threads.unwrap_or_else(|| b.const_index(1)), wide);
        starts.checks.push(b.cmpi("uge", threads, b.const_int(wide, FEWEST_THREADS)));
        let round = b.arith("muli", threads, b.const_int(wide, self.bytes()));
        let rounds = b.arith("divui", b.const_int(wide, NEAREST_CACHE), round);
        let reach = b.arith("muli", widened(self.step), rounds);
        let share = b.arith("subi", widened(self.bound), widened(low));
        starts.checks.push(b.cmpi("sgt", share, reach));
    }
}
