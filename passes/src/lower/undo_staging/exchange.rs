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
//! So is what threads read only to hand it to others, where nobody reads the tile later before it is written again (`exchange/later.rs`).
//!
//! On a GPU neighbouring threads have to access neighbouring memory. A row of threads on a CPU accesses a few lines as well, all of whose elements it has or needs:
//! the tile was one more copy of everything, and the barrier kept a thread's items in memory.
//!
//! All threads are looked at: what one takes some thread of the same barrier has put, each element is put and taken once, and where it
//! goes is as far from where it lay for all of them. Declined: what threads put that does not lie one thread behind the other, threads that
//! do not all come, tiles that are read later, and output that others may access in the phases around.

mod later;

use std::collections::HashMap;

use mlir_bridge::ir::{Builder, Op, Value};
use regrain_dialects::ops::{Barrier, LaneId, WarpBarrier};

use super::{
    distances::Distance,
    rewrite::{Hoisted, product},
    shape,
    sums::{Emitter, Even, Place, Sum},
    thread::{Known, Thread},
};
use crate::{
    analysis::{
        accesses::{Access, MemoryAnalysis, Who},
        addresses::steps,
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
    /// What a copy is put of, where it is; else what is taken goes out.
    source: Option<Op<'c>>,
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
        let (value, stored) = (put.store.operand(0), take.store.operand(0));
        let is_far = |pointer: Value<'c>| !matches!(object_of(root(pointer)), Some(Kind::Shared | Kind::Local));
        let goes_out = stored == load.result(0) && is_far(take.store.operand(1));
        let is_copied = |op: &Op<'c>| op.is("llvm.load") && op.parent() == Some(put.looped) && is_far(op.operand(0));
        let source = value.defining_op().filter(is_copied).filter(|_| !goes_out);
        let whole = value.ty() == load.result(0).ty() && root(load.operand(0)) == put.tile();
        (whole && (goes_out || source.is_some())).then_some(Self { put, take, load, source, of_warp })
    }

    /// Whether all threads come to it, once.
    fn is_met_by_all(&self, memory: &MemoryAnalysis<'c>, parallel: Op<'c>) -> bool {
        let mut around = std::iter::successors(self.put.looped.parent(), |op| op.parent());
        around.find(|op| *op == parallel || !op.is("scf.if") || !memory.is_fixed(op.operand(0))) == Some(parallel)
    }

    /// The loop that accesses memory elsewhere, and where.
    fn far(&self) -> (Part<'c>, Value<'c>) {
        match self.source {
            Some(load) => (self.put, load.operand(0)),
            None => (self.take, self.take.store.operand(1)),
        }
    }

    /// Whether nobody changes what is read elsewhere, or accesses what is written there, in the phases around.
    fn is_alone(&self, memory: &MemoryAnalysis<'c>, parallel: Op<'c>) -> bool {
        let effects = [self.put.looped, self.take.looped].map(|op| memory.effects(op));
        let (part, pointer) = self.far();
        let far = memory.effects(part.looped);
        let address = memory.offsets.address(pointer);
        let is_it =
            |access: &&Access<'c>| access.writes == self.source.is_none() && access.address.root == address.root;
        let Some(far) = far.accesses.iter().find(is_it) else { return false };
        let meets = |access: &Access<'c>| {
            (access.writes || far.writes)
                && [Who::Same, Who::Other].iter().any(|who| memory.may_meet(far, access, *who))
        };
        let is_apart = |op: Op<'c>| {
            let effects = memory.effects(op);
            !effects.unknown && !effects.accesses.iter().any(meets)
        };
        let is_barrier = |op: Op<'c>| op.is(Barrier::NAME) && is_plain(op);
        let before = steps_from(self.put.looped, parallel, Op::prev);
        let after = steps_from(self.take.looped, parallel, Op::next);
        let is_far =
            |access: &Access<'c>| access.writes && self.source.is_none() && access.address.root == far.address.root;
        let mut own = effects.iter().flat_map(|effects| effects.accesses.iter()).filter(|access| !is_far(access));
        let is_read_only = self.source.is_some();
        effects.iter().all(|effects| !effects.unknown)
            && !own.any(meets)
            && (is_read_only || before.into_iter().take_while(|op| !is_barrier(*op)).all(is_apart))
            && after.iter().copied().take_while(|op| !is_barrier(*op)).all(is_apart)
    }

    /// Where each thread would store what it puts, or load what it takes.
    fn direct(
        &self,
        memory: &MemoryAnalysis<'c>,
        grid: Op<'c>,
        parallel: Op<'c>,
        shape: [i64; 3],
    ) -> Option<Direct<'c>> {
        let threads = shape.iter().product::<i64>();
        if threads * self.put.rounds.max(self.take.rounds) > MOST {
            return None;
        }
        let mut thread = Thread::new(parallel, grid);
        let (far_part, far) = self.far();
        for address in [self.put.store.operand(1), self.load.operand(0), far] {
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
            for (part, near, elements) in
                [(self.put, self.put.store.operand(1), &mut put), (self.take, self.load.operand(0), &mut taken)]
            {
                for round in 0..part.rounds {
                    thread.enter(round);
                    thread.set(part.looped.body().arg(0), Known::Number(Sum::constant(round.into())));
                    let at = thread.address(near)?.1.as_constant()?;
                    elements.insert(at, group).is_none().then_some(())?;
                    if part.looped == far_part.looped {
                        let (object, to) = thread.address(far)?;
                        let by = to.plus(&Sum::constant(at), &-1);
                        let alike = *target.get_or_insert(object) == object
                            && *distance.get_or_insert_with(|| by.clone()) == by;
                        alike.then_some(())?;
                    } else {
                        points.push((thread.place.clone(), at));
                    }
                    thread.leave();
                }
            }
        }
        let (target, distance) = (target?, distance?);
        let is_there = match self.source {
            Some(_) => taken.iter().all(|(at, group)| put.get(at) == Some(group)),
            None => put == taken,
        };
        let is_known = is_before(target, self.put.looped) && thread.demands.is_empty() && is_there;
        let points: Vec<(Place, Sum)> =
            points.into_iter().map(|(place, at)| (place, distance.plus(&Sum::constant(at), &1))).collect();
        let at = Even::of(&points).filter(|_| is_known)?;
        let size = i128::from(self.load.result(0).ty().layout(parallel).0);
        let step = |number: usize| at.steps[number].as_constant();
        // One thread's elements lie side by side, those of the next one behind them.
        let alone = shape[1] == 1 && shape[2] == 1;
        let rounds = if self.source.is_some() { self.take.rounds } else { self.put.rounds };
        let blocked = rounds > 1 && step(3) == Some(size) && step(0) == Some(size * i128::from(rounds));
        let done = alone && blocked && self.is_not_read_later(memory, grid, parallel, threads);
        done.then_some(Direct {
            put: self.put,
            take: self.take,
            load: self.load,
            source: self.source,
            target,
            at,
            thread,
        })
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
        if is_of_constants(value, depth) {
            return;
        }
        if memory.is_fixed(value) && is_before(value, self.put.looped) {
            let symbol = thread.symbols.of(value);
            thread.set(value, Known::Number(symbol));
            return;
        }
        op.operands().into_iter().for_each(|operand| self.share_in(memory, thread, operand, depth - 1));
    }
}

/// Whether a value is computed of constants, as a sum with the only number of a dimension is.
fn is_of_constants(value: Value<'_>, depth: u32) -> bool {
    let of_constants = |op: Op<'_>| {
        op.is_pure()
            && op.num_operands() > 0
            && op.operands().into_iter().all(|operand| is_of_constants(operand, depth - 1))
    };
    constant(value).is_some() || depth > 0 && value.defining_op().is_some_and(of_constants)
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

/// Whether a value is there before an operation is.
fn is_before(value: Value<'_>, op: Op<'_>) -> bool {
    let Some(by) = value.defining_op() else {
        return value.parent_block().and_then(|block| block.parent_op()).is_none_or(|owner| owner.is_ancestor_of(op));
    };
    let mut around = std::iter::successors(Some(op), |op| op.parent());
    around.any(|at| at.block() == by.block() && by != at && by.is_before(at))
}

/// Where a store or a load goes instead.
struct Direct<'c> {
    put: Part<'c>,
    take: Part<'c>,
    load: Op<'c>,
    source: Option<Op<'c>>,
    target: Value<'c>,
    at: Even,
    thread: Thread<'c>,
}

impl<'c> Direct<'c> {
    fn rewrite(self) -> Option<()> {
        let mut sums = Emitter::new(&self.thread.symbols, Builder::before(self.put.looped));
        let hoisted = Hoisted::of(&mut sums, &self.at, &Distance::default())?;
        let Self { put, take, load, target, .. } = self;
        let (kept, access, gone) = match self.source {
            Some(_) => (take, load, put),
            None => (put, put.store, take),
        };
        let b = Builder::before(access);
        let parallel = put.looped.parent_of_name("scf.parallel")?;
        let mut place: Vec<_> = parallel.body().args().into_iter().map(Some).collect();
        place.push(Some(kept.looped.body().arg(0)));
        let address = b.llvm_byte_at(target, hoisted.address(b, &place, |number, step| product(b, number, step)));
        match self.source {
            Some(source) => {
                let direct =
                    b.op("llvm.load").operands(&[address]).attrs(&source.attrs()).result(load.result(0).ty()).build();
                load.replace_with(&[direct.result(0)]);
            }
            None => {
                b.op("llvm.store").operands(&[put.store.operand(0), address]).attrs(&take.store.attrs()).build();
                put.store.erase();
            }
        }
        gone.looped.erase();
        Some(())
    }
}
