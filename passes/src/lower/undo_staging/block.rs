//! What the threads of a block do to memory, place by place.

use std::collections::{HashMap, HashSet};

use mlir_bridge::ir::{Block, Op, Value};
use regrain_dialects::ops::{Barrier, is_shared_memory};

use super::{
    sums::{Even, Place, Sum},
    thread::{Copy, Known, Thread},
};
use crate::analysis::{
    loops::Counting,
    objects::{Kind, object_of},
    phases,
    synchronisation::STRUCTURES,
    uniformity::computes,
};
use crate::lower::vectorize_threads::is_ordinary;

/// The most rounds of a thread's loop.
const MOST_ROUNDS: i64 = 1 << 12;

/// Where something is in shared memory.
type Slot<'c> = (Value<'c>, i64);

/// What was seen at a load or store.
#[derive(Default)]
struct Seen<'c> {
    /// By loads of shared memory, where from.
    slots: Vec<(Place, Slot<'c>)>,
    /// By loads of the device's memory, where from; nothing where one was not followed.
    copies: Option<Vec<(Place, Copy<'c>)>>,
    /// By stores to the device's memory, where to.
    stores: Vec<(Place, Value<'c>, Sum)>,
}

/// What threads do.
pub struct Accesses<'c> {
    parallel: Op<'c>,
    pub thread: Thread<'c>,
    /// The structures that hold accesses.
    holders: HashSet<Op<'c>>,
    /// Barriers so far.
    phase: usize,
    staged: HashMap<Slot<'c>, Known<'c>>,
    /// For each shared array the bytes of its elements, the last phase that stores and the first that loads.
    tiles: HashMap<Value<'c>, Tile>,
    seen: HashMap<Op<'c>, Seen<'c>>,
    /// The phases in which the device's memory is written.
    written_in: HashSet<usize>,
    /// Which way conditions went, if always the same.
    pub decisions: HashMap<Op<'c>, Option<bool>>,
}

#[derive(Clone, Copy)]
struct Tile {
    bytes: u64,
    stored: Option<usize>,
    loaded: Option<usize>,
}

/// A load, and what it could read instead.
pub struct Instead<'c> {
    pub load: Op<'c>,
    pub root: Value<'c>,
    /// By the numbers of the thread and of the loops around the load that count.
    pub at: Even,
    pub alignment: i64,
}

/// Where a store writes.
pub struct Written<'c> {
    pub root: Value<'c>,
    pub at: Even,
    pub bytes: u64,
}

/// Whether a block loop does nothing but what is followed here: accesses memory, computes, and meets at barriers of its own body.
pub fn is_simple(parallel: Op<'_>) -> bool {
    parallel.find_all(|op| op != parallel).into_iter().all(|op| match op.name() {
        "llvm.load" | "llvm.store" => is_ordinary(op) && !op.has_attr("volatile_"),
        Barrier::NAME => phases::is_plain(op) && op.parent() == Some(parallel),
        "llvm.call" => computes(op),
        "llvm.intr.assume" => true,
        "scf.while" => false,
        name if STRUCTURES.contains(&name) || name.starts_with("llvm.intr.lifetime.") => true,
        _ => op.is_terminator() || op.num_regions() == 0 && op.is_memory_effect_free() && !is_shared_memory(op),
    })
}

impl Seen<'_> {
    fn of_copies() -> Self {
        Self { copies: Some(Vec::new()), ..Self::default() }
    }
}

impl<'c> Accesses<'c> {
    /// Looks at all threads of a block of constant shape; nothing where an access is not followed.
    pub fn of(parallel: Op<'c>, grid: Op<'c>, shape: [i64; 3]) -> Option<Self> {
        let mut holders = HashSet::new();
        for op in parallel.find_all(|op| matches!(op.name(), "llvm.load" | "llvm.store")) {
            let mut at = op.parent();
            while let Some(holder) = at.filter(|holder| *holder != parallel) {
                holders.insert(holder);
                at = holder.parent();
            }
        }
        let mut made = Self {
            parallel,
            thread: Thread::new(parallel, grid),
            holders,
            phase: 0,
            staged: HashMap::new(),
            tiles: HashMap::new(),
            seen: HashMap::new(),
            written_in: HashSet::new(),
            decisions: HashMap::new(),
        };
        let [width, height, depth] = shape;
        for number in 0..width * height * depth {
            made.thread.start(vec![number % width, number / width % height, number / (width * height)]);
            made.phase = 0;
            made.visit(parallel.body())?;
        }
        let ordered = |tile: &Tile| tile.stored.zip(tile.loaded).is_some_and(|(stored, loaded)| stored < loaded);
        made.tiles.values().all(ordered).then_some(made)
    }

    fn visit(&mut self, block: Block<'c>) -> Option<()> {
        for op in block.ops() {
            if self.thread.is_exhausted() {
                return None;
            }
            match op.name() {
                Barrier::NAME => self.phase += 1,
                "llvm.store" => self.store(op)?,
                "llvm.load" => self.load(op)?,
                _ if !self.holders.contains(&op) => {}
                "scf.for" => self.count(op)?,
                _ => self.choose(op)?,
            }
        }
        Some(())
    }

    /// Takes the branch of a condition, or all where it is not known and nothing is staged there.
    fn choose(&mut self, op: Op<'c>) -> Option<()> {
        let region = match op.name() {
            "scf.if" => {
                let truth = self.thread.truth(op.operand(0));
                let decision = self.decisions.entry(op).or_insert(truth);
                *decision = decision.filter(|known| Some(*known) == truth);
                truth.map(|truth| usize::from(!truth))
            }
            "scf.index_switch" => self.thread.case(op),
            _ => return None,
        };
        let is_staged = |op: Op<'c>| op.is("llvm.store") && is_shared_root(root(op.operand(1)));
        match region {
            Some(region) => op.region(region).first_block().map_or(Some(()), |block| self.visit(block)),
            None if op.contains(is_staged) => None,
            None => op
                .regions()
                .into_iter()
                .filter_map(|region| region.first_block())
                .try_for_each(|block| self.visit(block)),
        }
    }

    fn count(&mut self, op: Op<'c>) -> Option<()> {
        let counting = Counting::of(op)?;
        let [low, high, step] = counting.bounds().map(|bound| self.thread.number(bound));
        let (low, high, step) = (low?, high?, step.filter(|step| *step > 0)?);
        let rounds = high.saturating_sub(low).saturating_add(step - 1) / step;
        if rounds > MOST_ROUNDS || counting.unsigned {
            return None;
        }
        let carried = &op.body().args()[1..];
        let mut values: Vec<_> = (0..carried.len()).map(|number| self.thread.known(op.operand(3 + number))).collect();
        for number in (low..high).step_by(usize::try_from(step).ok()?) {
            self.thread.enter(op.body().arg(0), number);
            for (argument, known) in carried.iter().zip(values) {
                self.thread.set(*argument, known);
            }
            self.visit(op.body())?;
            let next = op.body().terminator()?.operands();
            values = next.into_iter().map(|value| self.thread.known(value)).collect();
            self.thread.leave();
        }
        for (result, known) in op.results().into_iter().zip(values) {
            self.thread.set(result, known);
        }
        Some(())
    }

    fn store(&mut self, op: Op<'c>) -> Option<()> {
        if object_of(root(op.operand(1))) == Some(Kind::Local) {
            return Some(());
        }
        let (root, at) = self.thread.address(op.operand(1))?;
        if !is_shared_root(root) {
            let is_outside = !root.parent_block()?.parent_op().is_some_and(|op| self.parallel.is_ancestor_of(op));
            let place = self.thread.place.clone();
            self.written_in.insert(self.phase);
            self.seen.entry(op).or_default().stores.push((place, root, at));
            return is_outside.then_some(());
        }
        let slot = self.slot(root, &at, op.operand(0))?;
        let phase = self.phase;
        let tile = self.tiles.get_mut(&root)?;
        tile.stored = tile.stored.max(Some(phase));
        let value = self.thread.known(op.operand(0));
        let known = self.staged.entry(slot).or_insert_with(|| value.clone());
        if *known != value {
            *known = Known::Nothing;
        }
        Some(())
    }

    fn load(&mut self, op: Op<'c>) -> Option<()> {
        let of = root(op.operand(0));
        if !is_shared_root(of) {
            let known = self.thread.known(op.result(0));
            let copies = &mut self.seen.entry(op).or_insert_with(Seen::of_copies).copies;
            match known {
                Known::Copy(copy) => {
                    copies.iter_mut().for_each(|all| all.push((self.thread.place.clone(), copy.clone())))
                }
                _ => *copies = None,
            }
            return Some(());
        }
        let (root, at) = self.thread.address(op.operand(0))?;
        let slot = self.slot(root, &at, op.result(0))?;
        let phase = self.phase;
        let tile = self.tiles.get_mut(&root)?;
        tile.loaded = Some(tile.loaded.map_or(phase, |loaded| loaded.min(phase)));
        let place = self.thread.place.clone();
        self.seen.entry(op).or_default().slots.push((place, slot));
        Some(())
    }

    /// The element of a shared array, all of whose accesses are of elements of one size.
    fn slot(&mut self, root: Value<'c>, at: &Sum, value: Value<'c>) -> Option<Slot<'c>> {
        let at = i64::try_from(at.as_constant()?).ok()?;
        let (bytes, _) = value.ty().layout(self.parallel);
        let tile = self.tiles.entry(root).or_insert(Tile { bytes, stored: None, loaded: None });
        let whole = tile.bytes == bytes && at % i64::try_from(bytes).ok().filter(|bytes| *bytes > 0)? == 0;
        (whole && object_of(root) == Some(Kind::Shared)).then_some((root, at))
    }

    /// What each load of shared memory could read instead; nothing where one cannot.
    pub fn instead(&self) -> Option<Vec<Instead<'c>>> {
        let is_load = |op: Op<'c>| op.is("llvm.load") && is_shared_root(root(op.operand(0)));
        let instead = |load| {
            let slots = self.seen.get(&load)?.slots.iter();
            let copies = slots.map(|(place, slot)| match self.staged.get(slot)? {
                Known::Copy(copy) => Some((place.clone(), copy.clone())),
                _ => None,
            });
            instead_of(load, &copies.collect::<Option<Vec<_>>>()?)
        };
        self.parallel.find_all(is_load).into_iter().map(instead).collect()
    }

    /// The loads of the device's memory that are followed, without their clamps, but for those that only fill tiles; and whether these
    /// are all.
    pub fn read(&self) -> (Vec<Instead<'c>>, bool) {
        let is_near = |root| is_shared_root(root) || object_of(root) == Some(Kind::Local);
        let is_staged = |user: Op<'c>| user.is("llvm.store") && is_shared_root(root(user.operand(1)));
        let is_read = |load: Op<'c>| !load.result(0).users().into_iter().all(is_staged);
        let loads = self.parallel.find_all(|op| op.is("llvm.load") && !is_near(root(op.operand(0))) && is_read(op));
        // One that no thread comes to reads nothing.
        let seen = loads.iter().filter_map(|load| Some((load, self.seen.get(load)?)));
        let followed: Vec<_> =
            seen.map(|(load, seen)| seen.copies.as_ref().and_then(|copies| instead_of(*load, copies))).collect();
        let all = followed.iter().all(Option::is_some);
        (followed.into_iter().flatten().collect(), all)
    }

    /// Whether all writes of the device's memory are in one phase.
    pub fn writes_once(&self) -> bool {
        self.written_in.len() <= 1
    }

    /// Where the stores to the device's memory write; nothing where that is not even.
    pub fn written(&self) -> Option<Vec<Written<'c>>> {
        let mut found = Vec::new();
        for op in self.parallel.find_named("llvm.store") {
            let Some(seen) = self.seen.get(&op) else { continue };
            let Some((_, root, _)) = seen.stores.first() else { continue };
            let points: Vec<_> = seen.stores.iter().map(|(place, _, at)| (place.clone(), at.clone())).collect();
            let one = seen.stores.iter().all(|(_, other, _)| other == root);
            let (bytes, _) = op.operand(0).ty().layout(op);
            found.push(Written { root: *root, at: Even::of(&points).filter(|_| one)?, bytes });
        }
        Some(found)
    }
}

/// What a load could read that was seen to read some copies, where they are of one object and go on evenly.
fn instead_of<'c>(load: Op<'c>, copies: &[(Place, Copy<'c>)]) -> Option<Instead<'c>> {
    let (_, first) = copies.first()?;
    let alike = |copy: &Copy<'c>| copy.root == first.root && copy.ty == first.ty && copy.ty == load.result(0).ty();
    if !copies.iter().all(|(_, copy)| alike(copy)) {
        return None;
    }
    let points: Vec<_> = copies.iter().map(|(place, copy)| (place.clone(), copy.at.clone())).collect();
    let alignment = copies.iter().map(|(_, copy)| copy.alignment).min()?;
    Some(Instead { load, root: first.root, at: Even::of(&points)?, alignment })
}

/// The value that an address is computed from.
pub fn root(pointer: Value<'_>) -> Value<'_> {
    let mut root = pointer;
    while let Some(op) = root.defining_op() {
        if !matches!(op.name(), "llvm.getelementptr" | "llvm.addrspacecast" | "llvm.bitcast") {
            break;
        }
        root = op.operand(0);
    }
    root
}

/// Whether a value is the address of shared memory.
pub fn is_shared_root(root: Value<'_>) -> bool {
    matches!(object_of(root), Some(Kind::Shared | Kind::Dynamic))
}
