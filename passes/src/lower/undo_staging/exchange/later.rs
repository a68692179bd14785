//! Whether what was put into a tile is read again after it was taken.
//!
//! Memory of a block serves for one thing after the other: what the threads read later they have written before. For each later load all bytes
//! that any thread may read are looked for among those that stores before it surely write, each under conditions that only
//! depend on the thread's number, and in loops of known rounds. The stores next before a load are asked first, each once for all loads that
//! it stands in the same place to.

use std::collections::{HashMap, HashSet};

use mlir_bridge::ir::Op;
use regrain_dialects::ops::LaneId;

use super::{super::sums::Sum, Exchange, Known, MOST, Thread, WARP, steps_from};
use crate::analysis::{
    accesses::MemoryAnalysis,
    loops::Counting,
    objects::{escapes, root},
};

/// Bytes of the tile.
type Bytes = HashSet<i128>;

impl<'c> Exchange<'c> {
    /// Whether nobody reads what was put but those who take it.
    pub(super) fn is_not_read_later(
        &self,
        memory: &MemoryAnalysis<'c>,
        grid: Op<'c>,
        parallel: Op<'c>,
        threads: i64,
    ) -> bool {
        let tile = self.put.tile();
        let after = steps_from(self.take.looped, parallel, Op::next);
        let is_of_tile = |op: Op<'c>| {
            op.num_regions() == 0
                && !matches!(op.name(), "llvm.getelementptr" | "llvm.addrspacecast")
                && op.operands().into_iter().any(|value| value.ty().ptr_space().is_some() && root(value) == tile)
        };
        let accesses: Vec<_> = after.iter().flat_map(|op| op.find_all(is_of_tile)).collect();
        let (stores, loads): (Vec<_>, Vec<_>) = accesses.into_iter().partition(|op| op.is("llvm.store"));
        let mut later =
            Later { memory, thread: Thread::new(parallel, grid), parallel, threads, written: HashMap::new() };
        !escapes(tile)
            && loads.into_iter().all(|load| later.is_written_before(load, &stores))
            && later.thread.demands.is_empty()
    }
}

struct Later<'a, 'c> {
    memory: &'a MemoryAnalysis<'c>,
    thread: Thread<'c>,
    parallel: Op<'c>,
    threads: i64,
    /// The bytes that stores surely write, where all are known, of what they are in from so deep on.
    written: HashMap<(Op<'c>, usize), Option<Bytes>>,
}

impl<'c> Later<'_, 'c> {
    /// Whether `stores`, which stand in order, have surely written all that a load reads.
    fn is_written_before(&mut self, load: Op<'c>, stores: &[Op<'c>]) -> bool {
        let Some(mut missing) = self.read(load) else { return false };
        for store in stores.iter().rev() {
            if missing.is_empty() {
                break;
            }
            if let Some(written) = self.written_before(*store, load) {
                missing.retain(|byte| !written.contains(byte));
            }
        }
        missing.is_empty()
    }

    /// The bytes that a load reads, of all threads, whether they come to it or not.
    fn read(&mut self, load: Op<'c>) -> Option<Bytes> {
        let mut found = Bytes::new();
        let holders = holders(load, self.parallel);
        let known = load.is("llvm.load") && self.visit(load, 0, &holders, false, &mut found);
        known.then_some(found)
    }

    /// The bytes that a store surely writes before a load.
    fn written_before(&mut self, store: Op<'c>, load: Op<'c>) -> Option<&Bytes> {
        let (above, above_load) = (holders(store, self.parallel), holders(load, self.parallel));
        // What both are in.
        let shared = above.iter().zip(&above_load).take_while(|(one, other)| one == other).count();
        let own = [&above[shared..], &[store]].concat();
        let other = [&above_load[shared..], &[load]].concat();
        let in_order = own[0].block() == other[0].block() && own[0].is_before(other[0]);
        if in_order && !self.written.contains_key(&(store, shared)) {
            let mut found = Bytes::new();
            let known = self.visit(store, 1, &above[shared..], true, &mut found);
            self.written.insert((store, shared), known.then_some(found));
        }
        self.written.get(&(store, shared)).filter(|_| in_order)?.as_ref()
    }

    /// Collects the bytes of an access of all threads, in `holders`; whether all are known.
    fn visit(&mut self, access: Op<'c>, pointer: usize, holders: &[Op<'c>], surely: bool, found: &mut Bytes) -> bool {
        let lanes = self.parallel.find_named(LaneId::NAME);
        let ty = if pointer == 0 { access.result(0).ty() } else { access.operand(0).ty() };
        let accessed = Accessed { access, pointer, size: ty.layout(access).0.into() };
        (0..self.threads).all(|number| {
            self.thread.start(vec![number, 0, 0]);
            for lane in &lanes {
                self.thread.set(lane.result(0), Known::Number(Sum::constant((number % WARP).into())));
            }
            self.visit_in(accessed, holders, surely, found)
        })
    }

    fn visit_in(&mut self, accessed: Accessed<'c>, holders: &[Op<'c>], surely: bool, found: &mut Bytes) -> bool {
        let Accessed { access, pointer, size } = accessed;
        let Some((holder, inner)) = holders.split_first() else {
            let address = self.thread.address(access.operand(pointer));
            let Some(at) = address.and_then(|(_, at)| at.as_constant()) else { return false };
            found.extend(at..at + size);
            return true;
        };
        match holder.name() {
            "scf.if" if surely => {
                let condition = holder.operand(0);
                let truth = if self.memory.is_fixed(condition) { None } else { self.thread.truth(condition) };
                let Some(truth) = truth else { return false };
                let next = inner.first().copied().unwrap_or(access);
                let taken = holder.region(usize::from(!truth)).first_block() == next.block();
                !taken || self.visit_in(accessed, inner, surely, found)
            }
            "scf.for" => {
                let counting = Counting::of(*holder).filter(Counting::is_plain);
                let Some(rounds) = counting.and_then(|counting| counting.rounds()).filter(|rounds| *rounds <= MOST)
                else {
                    return !surely && self.visit_in(accessed, inner, surely, found);
                };
                (0..rounds).all(|round| {
                    self.thread.enter(round);
                    self.thread.set(holder.body().arg(0), Known::Number(Sum::constant(round.into())));
                    let known = self.visit_in(accessed, inner, surely, found);
                    self.thread.leave();
                    known
                })
            }
            _ => !surely && self.visit_in(accessed, inner, surely, found),
        }
    }
}

/// An access, which of its operands is the address, and how many bytes it is of.
#[derive(Clone, Copy)]
struct Accessed<'c> {
    access: Op<'c>,
    pointer: usize,
    size: i128,
}

/// What an operation is in, outer ones first.
fn holders<'c>(op: Op<'c>, parallel: Op<'c>) -> Vec<Op<'c>> {
    let mut found: Vec<_> =
        std::iter::successors(op.parent(), |at| at.parent()).take_while(|at| *at != parallel).collect();
    found.reverse();
    found
}
