//! What threads hand to each other only to store it is stored by the thread that has it.
//!
//! Before:
//! ```mlir
//! scf.for %i = 0 to 15 { llvm.store %items[%i], %tile[%x * 15 + %i] }
//! regrain.barrier(%x, %y, %z)
//! scf.for %j = 0 to 15 { llvm.store (llvm.load %tile[%j * 128 + %x]), %out[%first + %j * 128 + %x] }
//! ```
//! After:
//! ```mlir
//! scf.for %i = 0 to 15 { llvm.store %items[%i], %out[%first + %x * 15 + %i] }
//! regrain.barrier(%x, %y, %z)
//! ```
//! On a GPU neighbouring threads have to write neighbouring memory. A row of threads on a CPU writes a few lines as well whose elements it has:
//! the tile was one more copy of everything, and the barrier kept a thread's items in memory.
//!
//! All threads are looked at: what one takes some thread of the same barrier has put, each element is put and taken once, and where it
//! goes is as far from where it lay for all of them. Declined: what threads put that does not lie one thread behind the other, threads that
//! do not all come, tiles that are read later, and output that others may access in the phases around.

use std::collections::HashMap;

use mlir_bridge::ir::{Builder, Op, Value};
use regrain_dialects::ops::{Barrier, LaneId, WarpBarrier};

use super::{
    rewrite::Hoisted,
    shape,
    sums::{Emitter, Even, Place, Sum},
    thread::{Known, Thread},
};
use crate::{
    analysis::{
        accesses::{Access, MemoryAnalysis, Who},
        addresses::{Address, steps},
        constants::constant,
        loops::Counting,
        objects::{Kind, escapes, object_of, root},
        phases::is_plain,
    },
    optimise::eliminate_redundant_barriers::eliminate,
};

/// The most elements of a tile.
const MOST: i64 = 1 << 14;
/// Threads of a warp.
const WARP: i64 = 32;
/// How deep expressions are looked through for what all threads share.
const DEPTH: u32 = 8;

/// Undoes the exchanges of a block loop.
pub(super) fn undo(grid: Op<'_>, parallel: Op<'_>) {
    let Some(shape) = shape(parallel) else { return };
    // One at a time: what is known of the block changes with each.
    let mut undone = false;
    while find(grid, parallel, shape).is_some_and(|found| found.rewrite().is_some()) {
        undone = true;
    }
    if undone {
        eliminate(parallel);
    }
}

fn find<'c>(grid: Op<'c>, parallel: Op<'c>, shape: [i64; 3]) -> Option<Direct<'c>> {
    let puts: Vec<_> = parallel.find_all(|op| op.is("scf.for")).into_iter().filter_map(Part::put).collect();
    let exchanges: Vec<_> = puts.into_iter().filter_map(Exchange::of).collect();
    if exchanges.is_empty() {
        return None;
    }
    let memory = MemoryAnalysis::new(parallel);
    let allowed =
        |exchange: &Exchange<'c>| exchange.is_met_by_all(&memory, parallel) && exchange.is_alone(&memory, parallel);
    let mut allowed = exchanges.into_iter().filter(allowed);
    allowed.find_map(|exchange| exchange.direct(&memory, grid, parallel, shape))
}

/// A loop that counts from 0, and its only store.
#[derive(Clone, Copy)]
struct Part<'c> {
    looped: Op<'c>,
    store: Op<'c>,
    rounds: i64,
}

impl<'c> Part<'c> {
    fn of(looped: Op<'c>) -> Option<Self> {
        let counting = Counting::of(looped).filter(|counting| counting.is_plain() && looped.num_results() == 0)?;
        let rounds = counting.rounds().filter(|rounds| (1..=MOST).contains(rounds))?;
        let fits =
            |op: Op<'c>| op.num_regions() == 0 && (matches!(op.name(), "llvm.load" | "llvm.store") || op.is_pure());
        let ops = looped.body().ops();
        let mut stores = ops.iter().copied().filter(|op| op.is("llvm.store"));
        let (store, None) = (stores.next()?, stores.next()) else { return None };
        ops.into_iter().all(|op| op.is_terminator() || fits(op)).then_some(Self { looped, store, rounds })
    }

    /// One that writes to a tile.
    fn put(looped: Op<'c>) -> Option<Self> {
        Self::of(looped).filter(|part| {
            let tile = part.tile();
            object_of(tile) == Some(Kind::Shared) && !escapes(tile)
        })
    }

    fn tile(&self) -> Value<'c> {
        root(self.store.operand(1))
    }
}

/// Two loops with barriers between them.
struct Exchange<'c> {
    put: Part<'c>,
    take: Part<'c>,
    load: Op<'c>,
    /// Only threads of a warp wait for each other.
    of_warp: bool,
}

impl<'c> Exchange<'c> {
    fn of(put: Part<'c>) -> Option<Self> {
        let (mut met, mut of_warp) = (false, true);
        let mut behind = std::iter::successors(put.looped.next(), |op| op.next());
        let take = behind.find(|op| match op.name() {
            Barrier::NAME if is_plain(*op) => {
                (met, of_warp) = (true, false);
                false
            }
            WarpBarrier::NAME if WarpBarrier::cast(*op).is_some_and(|barrier| constant(barrier.mask()) == Some(-1)) => {
                met = true;
                false
            }
            _ => op.num_regions() > 0 || !op.is_pure(),
        })?;
        let take = Part::of(take).filter(|_| met)?;
        let loads: Vec<_> = take.looped.body().ops().into_iter().filter(|op| op.is("llvm.load")).collect();
        let [load] = loads[..] else { return None };
        let stored = take.store.operand(0);
        let whole = stored == load.result(0) && stored.ty() == put.store.operand(0).ty();
        let fits = whole && root(load.operand(0)) == put.tile() && object_of(take.tile()) != Some(Kind::Shared);
        fits.then_some(Self { put, take, load, of_warp })
    }

    /// Whether all threads come to it, once.
    fn is_met_by_all(&self, memory: &MemoryAnalysis<'c>, parallel: Op<'c>) -> bool {
        let mut around = std::iter::successors(self.put.looped.parent(), |op| op.parent());
        around.find(|op| *op == parallel || !op.is("scf.if") || !memory.is_fixed(op.operand(0))) == Some(parallel)
    }

    /// Whether nobody else accesses the output in the phases around, and nobody reads the tile later.
    fn is_alone(&self, memory: &MemoryAnalysis<'c>, parallel: Op<'c>) -> bool {
        let effects = [self.put.looped, self.take.looped].map(|op| memory.effects(op));
        let Some(out) = effects[1].writes().next() else { return false };
        let meets = |access: &Access<'c>| [Who::Same, Who::Other].iter().any(|who| memory.may_meet(out, access, *who));
        let is_apart = |op: Op<'c>| {
            let effects = memory.effects(op);
            !effects.unknown && !effects.accesses.iter().any(meets)
        };
        let all_of_tile = Access { address: Address { root: self.put.tile(), offset: None }, ..out.clone() };
        let reads_tile = |op: Op<'c>| {
            let effects = memory.effects(op);
            effects.unknown || effects.reads().any(|read| memory.may_meet(read, &all_of_tile, Who::Other))
        };
        let is_barrier = |op: Op<'c>| op.is(Barrier::NAME) && is_plain(op);
        let before = steps_from(self.put.looped, parallel, Op::prev);
        let after = steps_from(self.take.looped, parallel, Op::next);
        let plain = effects.iter().all(|effects| !effects.unknown);
        let mut own = effects.iter().flat_map(|effects| effects.reads());
        plain
            && !own.any(meets)
            && before.into_iter().take_while(|op| !is_barrier(*op)).all(is_apart)
            && after.iter().copied().take_while(|op| !is_barrier(*op)).all(is_apart)
            && !after.into_iter().any(reads_tile)
    }

    /// Where each thread would store what it puts.
    fn direct(
        &self,
        memory: &MemoryAnalysis<'c>,
        grid: Op<'c>,
        parallel: Op<'c>,
        shape: [i64; 3],
    ) -> Option<Direct<'c>> {
        let threads = shape.iter().product::<i64>();
        if threads * self.put.rounds.max(self.take.rounds) > MOST
            || self.put.rounds * threads != self.take.rounds * threads
        {
            return None;
        }
        let mut thread = Thread::new(parallel, grid);
        for address in [self.put.store.operand(1), self.load.operand(0), self.take.store.operand(1)] {
            self.share(memory, &mut thread, address);
        }
        let lanes = parallel.find_named(LaneId::NAME);
        let (mut put, mut taken) = (HashMap::new(), HashMap::new());
        let (mut points, mut target, mut distance) = (Vec::new(), None, None);
        for number in 0..threads {
            thread.start(vec![number % shape[0], number / shape[0] % shape[1], number / (shape[0] * shape[1])]);
            for lane in &lanes {
                thread.set(lane.result(0), Known::Number(Sum::constant((number % WARP).into())));
            }
            let group = if self.of_warp { number / WARP } else { 0 };
            for round in 0..self.put.rounds {
                enter(&mut thread, self.put, round);
                let (_, at) = thread.address(self.put.store.operand(1))?;
                let at = at.as_constant()?;
                points.push((thread.place.clone(), at));
                put.insert(at, group).is_none().then_some(())?;
                thread.leave();
            }
            for round in 0..self.take.rounds {
                enter(&mut thread, self.take, round);
                let (_, from) = thread.address(self.load.operand(0))?;
                let (object, to) = thread.address(self.take.store.operand(1))?;
                let from = from.as_constant()?;
                taken.insert(from, group).is_none().then_some(())?;
                let by = to.plus(&Sum::constant(from), &-1);
                (*target.get_or_insert(object) == object && *distance.get_or_insert_with(|| by.clone()) == by)
                    .then_some(())?;
                thread.leave();
            }
        }
        let (target, distance) = (target?, distance?);
        let is_known = is_before(target, self.put.looped) && thread.demands.is_empty() && put == taken;
        let points: Vec<(Place, Sum)> =
            points.into_iter().map(|(place, at)| (place, distance.plus(&Sum::constant(at), &1))).collect();
        let at = Even::of(&points).filter(|_| is_known)?;
        let size = i128::from(self.load.result(0).ty().layout(parallel).0);
        let step = |number: usize| at.steps[number].as_constant();
        // One thread's elements lie side by side, those of the next one behind them.
        let alone = shape[1] == 1 && shape[2] == 1;
        let blocked =
            self.put.rounds > 1 && step(3) == Some(size) && step(0) == Some(size * i128::from(self.put.rounds));
        (alone && blocked).then_some(Direct { put: self.put, take: self.take, target, at, thread })
    }

    /// Values that all threads share and that are known before are symbols.
    fn share(&self, memory: &MemoryAnalysis<'c>, thread: &mut Thread<'c>, address: Value<'c>) {
        let mut at = address;
        while let Some(op) =
            at.defining_op().filter(|op| matches!(op.name(), "llvm.getelementptr" | "llvm.addrspacecast"))
        {
            for (index, _) in steps(op).map(|steps| steps.indices).unwrap_or_default() {
                self.share_in(memory, thread, index, DEPTH);
            }
            at = op.operand(0);
        }
    }

    fn share_in(&self, memory: &MemoryAnalysis<'c>, thread: &mut Thread<'c>, value: Value<'c>, depth: u32) {
        let Some(op) = value.defining_op().filter(|op| depth > 0 && op.num_regions() == 0 && constant(value).is_none())
        else {
            return;
        };
        if memory.is_fixed(value) && is_before(value, self.put.looped) {
            let symbol = thread.symbols.of(value);
            thread.set(value, Known::Number(symbol));
            return;
        }
        op.operands().into_iter().for_each(|operand| self.share_in(memory, thread, operand, depth - 1));
    }
}

/// The operations behind one, or before it, up to the end of the thread.
fn steps_from<'c>(from: Op<'c>, parallel: Op<'c>, step: impl Fn(Op<'c>) -> Option<Op<'c>>) -> Vec<Op<'c>> {
    let mut found = Vec::new();
    let mut around = Some(from);
    while let Some(holder) = around.filter(|op| *op != parallel) {
        found.extend(std::iter::successors(step(holder), |op| step(*op)).filter(|op| !op.is_terminator()));
        around = holder.parent();
    }
    found
}

fn enter<'c>(thread: &mut Thread<'c>, part: Part<'c>, round: i64) {
    thread.enter(round);
    thread.set(part.looped.body().arg(0), Known::Number(Sum::constant(round.into())));
}

/// Whether a value is there before an operation is.
fn is_before(value: Value<'_>, op: Op<'_>) -> bool {
    let Some(by) = value.defining_op() else {
        return value.parent_block().and_then(|block| block.parent_op()).is_none_or(|owner| owner.is_ancestor_of(op));
    };
    let mut around = std::iter::successors(Some(op), |op| op.parent());
    around.any(|at| at.block() == by.block() && by != at && by.is_before(at))
}

/// Where a store goes instead.
struct Direct<'c> {
    put: Part<'c>,
    take: Part<'c>,
    target: Value<'c>,
    at: Even,
    thread: Thread<'c>,
}

impl<'c> Direct<'c> {
    fn rewrite(self) -> Option<()> {
        let mut sums = Emitter::new(&self.thread.symbols, Builder::before(self.put.looped));
        let hoisted = Hoisted::of(&mut sums, &self.at)?;
        let Self { put, take, target, .. } = self;
        let b = Builder::before(put.store);
        let parallel = put.looped.parent_of_name("scf.parallel");
        let mut place: Vec<_> = parallel.map(|op| op.body().args()).unwrap_or_default().into_iter().map(Some).collect();
        place.push(Some(put.looped.body().arg(0)));
        let address = b.llvm_byte_at(target, hoisted.address(b, &place));
        b.op("llvm.store").operands(&[put.store.operand(0), address]).attrs(&take.store.attrs()).build();
        put.store.erase();
        take.looped.erase();
        Some(())
    }
}
