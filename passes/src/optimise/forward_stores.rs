//! `regrain-forward-stores`: what a thread stored or loaded it does not load again.
//!
//! ```text
//! Before:                                          After:
//!   llvm.store %a, %tile[%x]                         llvm.store %a, %tile[%x]
//!   %n = llvm.load %tile[0]                          %n = llvm.load %tile[0]
//!   regrain.barrier(%x, %y, %z)                      regrain.barrier(%x, %y, %z)
//!   %b = llvm.load %tile[%x]
//!   %s = llvm.fadd %a, %b                            %s = llvm.fadd %a, %a
//!   %m = llvm.load %tile[%x + 1]                     %m = llvm.load %tile[%x + 1]
//! ```
//!
//! Across a barrier a value is known as long as no other thread of the block may write to its place in the phases on both
//! sides. Stores that are overwritten before anyone can read them go, in a thread's own arrays by whole loops too (`unread.rs`), and so do all
//! stores to memory of the block or the thread that nobody reads: such memory has become a register.
//!
//! Declines for places that the thread itself, or another across a barrier, may write to; volatile and atomic accesses are
//! never touched, and nothing is known beyond them, beyond calls, and beyond operations of a warp.

mod unread;

use std::{
    cell::{OnceCell, RefCell},
    collections::HashSet,
    rc::Rc,
};

use mlir_bridge::{
    ir::{Block, Op, Type, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::{Shared, is_barrier, thread_loop};
use rustc_hash::FxHashMap as HashMap;
use tracing::debug;

use crate::{
    analysis::accesses::{Access, Effects, MemoryAnalysis, Place, Who},
    analysis::phases::{Phases, is_plain},
    analysis::synchronisation::STRUCTURES,
    optimise::merge_common_values::sweep,
    optimise::targets::{targets, thread_loops},
};

const NAME: &str = "regrain-forward-stores";

/// The most places whose content is known at once; then those go that were met first.
const MOST_KNOWN: usize = 512;
/// The most operations between a store and one that overwrites it.
const MOST_BETWEEN: usize = 4096;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    summary: "forward stored and loaded values to later loads, across barriers where nobody writes",
    anchor: Anchor::Any,
    options: &[],
    dialects: &["regrain"],
    run,
};

fn run(_run: &PassRun<'_>, root: Op<'_>) -> PassResult {
    for target in targets(root) {
        forward(target);
    }
    Ok(())
}

/// What went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forwarded {
    pub loads: usize,
    pub stores: usize,
}

/// Forwards in all loops over threads of a target.
pub fn forward(target: Op<'_>) -> Forwarded {
    let mut all = Forwarded::default();
    for block in thread_loops(target) {
        let memory = MemoryAnalysis::new(block);
        let loads = forward_loads(block, &memory);
        // Nothing that it names may be erased.
        let memory = if loads > 0 { MemoryAnalysis::new(block) } else { memory };
        all.loads += loads;
        all.stores += erase_stores(block, &memory);
        sweep(block);
        all.stores += unread::erase_unread_items(block);
        all.stores += erase_unread(block);
    }
    debug!(target: NAME, "{all:?}");
    all
}

/// The memory of a loop, seen over the whole of it.
struct View<'a, 'c> {
    block: Op<'c>,
    memory: &'a MemoryAnalysis<'c>,
    /// `None` where there are no barriers, or phases are not known.
    phases: Option<Phases<'a, 'c>>,
    all: OnceCell<Rc<Effects<'c>>>,
    around: RefCell<HashMap<Op<'c>, Rc<Effects<'c>>>>,
}

impl<'a, 'c> View<'a, 'c> {
    fn new(block: Op<'c>, memory: &'a MemoryAnalysis<'c>) -> Self {
        let phases = block.contains(is_barrier).then(|| Phases::new(block, memory)).filter(Phases::are_known);
        Self { block, memory, phases, all: OnceCell::new(), around: RefCell::default() }
    }

    /// What a thread does anywhere in the loop.
    fn all(&self) -> Rc<Effects<'c>> {
        let find = || {
            let mut all = Effects::default();
            self.block.body().ops().into_iter().for_each(|op| all.join(&self.memory.effects(op)));
            Rc::new(all)
        };
        self.all.get_or_init(find).clone()
    }

    /// The barriers in an operation; none in one without regions but a barrier itself.
    fn barriers(&self, op: Op<'c>) -> Vec<Op<'c>> {
        if op.num_regions() == 0 && !is_barrier(op) { Vec::new() } else { op.find_all(is_barrier) }
    }

    /// What other threads may do while a thread waits at a barrier.
    fn around(&self, barrier: Op<'c>) -> Rc<Effects<'c>> {
        let find = || match &self.phases {
            Some(phases) if is_plain(barrier) && thread_loop(barrier) == Some(self.block) => {
                let mut both = phases.before(barrier);
                both.join(&phases.after(barrier));
                Rc::new(both)
            }
            _ => self.all(),
        };
        self.around.borrow_mut().entry(barrier).or_insert_with(find).clone()
    }
}

/// A place whose content is known.
struct Known<'c> {
    number: usize,
    access: Access<'c>,
    place: Option<Place<'c>>,
    ty: Type<'c>,
    value: Value<'c>,
    /// Nobody ever writes there.
    unchanging: bool,
}

struct Forward<'a, 'c> {
    view: View<'a, 'c>,
    found: Vec<(Op<'c>, Value<'c>)>,
    number: usize,
}

/// Replaces loads of known places; gives their number.
fn forward_loads<'c>(block: Op<'c>, memory: &MemoryAnalysis<'c>) -> usize {
    let view = View::new(block, memory);
    let mut forward = Forward { view, found: Vec::new(), number: 0 };
    forward.block(block.body(), Vec::new());
    let found = forward.found;
    let replaced: HashMap<Value<'c>, Value<'c>> = found.iter().map(|(load, value)| (load.result(0), *value)).collect();
    for (load, value) in &found {
        let mut last = *value;
        while let Some(next) = replaced.get(&last) {
            last = *next;
        }
        load.result(0).replace_all_uses_with(last);
    }
    for (load, _) in &found {
        load.erase();
    }
    found.len()
}

impl<'c> Forward<'_, 'c> {
    /// Walks a block given what is known where it begins; gives what is known at its end.
    fn block(&mut self, block: Block<'c>, mut known: Vec<Rc<Known<'c>>>) -> Vec<Rc<Known<'c>>> {
        for op in block.ops() {
            self.step(op, &mut known);
        }
        known
    }

    fn step(&mut self, op: Op<'c>, known: &mut Vec<Rc<Known<'c>>>) {
        if is_barrier(op) {
            return self.cross(op, known);
        }
        if STRUCTURES.contains(&op.name()) {
            return self.structure(op, known);
        }
        let effects = self.view.memory.effects(op);
        self.forget(&effects, known, Who::Same);
        let [access] = &effects.accesses[..] else { return };
        let (ty, value) = match op.name() {
            "llvm.load" => (op.result(0).ty(), op.result(0)),
            "llvm.store" => (op.operand(0).ty(), op.operand(0)),
            _ => return,
        };
        let is_load = op.is("llvm.load");
        let place = self.view.memory.place(access);
        let is_same = |entry: &&Rc<Known<'c>>| entry.ty == ty && entry.place == place;
        if is_load
            && place.is_some()
            && let Some(same) = known.iter().find(is_same)
        {
            self.found.push((op, same.value));
            return;
        }
        let unchanging = is_load && self.view.memory.is_unchanging(op);
        if known.len() >= MOST_KNOWN {
            known.drain(..MOST_KNOWN / 2);
        }
        self.number += 1;
        known.push(Rc::new(Known { number: self.number, access: access.clone(), place, ty, value, unchanging }));
    }

    /// Forgets what effects may have changed.
    fn forget(&self, effects: &Effects<'c>, known: &mut Vec<Rc<Known<'c>>>, who: Who) {
        if !effects.unknown && effects.writes().next().is_none() {
            return;
        }
        known.retain(|entry| {
            let meets = |write: &Access<'c>| self.view.memory.may_meet(write, &entry.access, who);
            entry.unchanging || !(effects.unknown || effects.writes().any(meets))
        });
    }

    fn cross(&mut self, barrier: Op<'c>, known: &mut Vec<Rc<Known<'c>>>) {
        let around = self.view.around(barrier);
        self.forget(&around, known, Who::Other);
    }

    fn structure(&mut self, op: Op<'c>, known: &mut Vec<Rc<Known<'c>>>) {
        let blocks: Vec<_> = op.regions().into_iter().flat_map(|region| region.blocks()).collect();
        if matches!(op.name(), "scf.for" | "scf.while") {
            self.forget(&self.view.memory.effects(op), known, Who::Same);
            for barrier in op.find_all(is_barrier) {
                self.cross(barrier, known);
            }
            for block in blocks {
                self.block(block, known.clone());
            }
            return;
        }
        let ends: Vec<HashSet<usize>> = blocks
            .into_iter()
            .map(|block| self.block(block, known.clone()).into_iter().map(|entry| entry.number).collect())
            .collect();
        known.retain(|entry| ends.iter().all(|end| end.contains(&entry.number)));
    }
}

/// Erases stores that are overwritten before anyone can read them; gives their number.
fn erase_stores<'c>(block: Op<'c>, memory: &MemoryAnalysis<'c>) -> usize {
    let view = View::new(block, memory);
    let mut last: HashMap<(Block<'c>, Place<'c>), Op<'c>> = HashMap::default();
    let mut dead = Vec::new();
    for store in block.find_named("llvm.store") {
        let place = plain_access(memory, store).and_then(|access| memory.place(&access));
        let Some(key) = store.block().zip(place) else { continue };
        if let Some(earlier) = last.insert(key, store).filter(|earlier| is_unread_until(&view, *earlier, store)) {
            dead.push(earlier);
        }
    }
    for store in &dead {
        store.erase();
    }
    dead.len()
}

/// The only access of an operation that does nothing else.
fn plain_access<'c>(memory: &MemoryAnalysis<'c>, op: Op<'c>) -> Option<Access<'c>> {
    let effects = memory.effects(op);
    let [access] = &effects.accesses[..] else { return None };
    (!effects.unknown).then(|| access.clone())
}

/// Whether nobody can read what a store stored before a later store in its block, of the same place.
fn is_unread_until<'c>(view: &View<'_, 'c>, store: Op<'c>, later: Op<'c>) -> bool {
    let Some(place) = plain_access(view.memory, store) else { return false };
    let between = std::iter::successors(store.next(), |op| op.next());
    for (number, op) in between.enumerate() {
        if op == later {
            return true;
        }
        for barrier in view.barriers(op) {
            let around = view.around(barrier);
            if around.unknown || around.reads().any(|read| view.memory.may_meet(&place, read, Who::Other)) {
                return false;
            }
        }
        let next = view.memory.effects(op);
        let is_read = || next.reads().any(|read| view.memory.may_meet(read, &place, Who::Same));
        if number >= MOST_BETWEEN || next.unknown || is_read() {
            return false;
        }
    }
    false
}

/// Erases stores to memory of the block or the thread that nobody reads; gives their number.
fn erase_unread(block: Op<'_>) -> usize {
    let Some(around) = block.parent() else { return 0 };
    let mut erased = 0;
    for object in around.find_all(|op| Shared::is(op) || op.is("llvm.alloca")) {
        let mut writes = Vec::new();
        if only_written(object.result(0), &mut writes) {
            erased += writes.len();
            writes.into_iter().for_each(Op::erase);
        }
    }
    if erased > 0 {
        sweep(around);
    }
    erased
}

/// Whether memory is only written; collects the operations that do.
fn only_written<'c>(pointer: Value<'c>, writes: &mut Vec<Op<'c>>) -> bool {
    pointer.uses().into_iter().all(|used| match used.owner.name() {
        "llvm.getelementptr" | "llvm.addrspacecast" => only_written(used.owner.result(0), writes),
        "llvm.store" if used.operand == 1 && !used.owner.has_attr("volatile_") && is_unordered(used.owner) => {
            writes.push(used.owner);
            true
        }
        "llvm.intr.lifetime.start" | "llvm.intr.lifetime.end" => {
            writes.push(used.owner);
            true
        }
        _ => false,
    })
}

fn is_unordered(op: Op<'_>) -> bool {
    op.attr("ordering").and_then(|ordering| ordering.as_int()).unwrap_or(0) == 0
}
