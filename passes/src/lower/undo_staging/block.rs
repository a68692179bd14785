//! What the threads of a block do to memory, place by place.

use std::collections::{HashMap, HashSet};

use mlir_bridge::ir::{Block, Op, Value};
use regrain_dialects::ops::{Barrier, is_shared_memory};

use super::{
    rounds::{self, HandedOn},
    sums::{Even, Place, Sum},
    thread::{Copy, Known, Thread},
};
use crate::analysis::{
    facts::constant,
    loops::Counting,
    objects::{Kind, object_of, root},
    phases,
    synchronisation::STRUCTURES,
    uniformity::computes,
    waiting::may_wait,
};
use crate::lower::vectorize_threads::is_ordinary;

/// The dimensions of a block.
pub const THREADS: usize = 3;
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
    /// How many barriers come before loads and stores.
    phases: HashMap<Op<'c>, usize>,
    pub handed_on: HandedOn<'c>,
    /// Which way conditions went, if always the same.
    pub decisions: HashMap<Op<'c>, Option<bool>>,
}

#[derive(Clone, Copy)]
struct Tile {
    bytes: u64,
    stored: Option<usize>,
    loaded: Option<usize>,
}

/// What could be read instead of a value: of a load, or of one that a loop hands on.
pub struct Instead<'c> {
    pub value: Value<'c>,
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

/// What a block loop does that is not followed here: more than to access memory, to compute, and to meet at barriers of its own body.
pub fn other(parallel: Op<'_>) -> Option<Op<'_>> {
    let is_simple = |op: &Op<'_>| match op.name() {
        "llvm.load" | "llvm.store" => is_ordinary(*op) && !op.has_attr("volatile_"),
        Barrier::NAME => {
            let together = |holder: Op<'_>| holder == parallel || rounds::is_together(holder, parallel);
            phases::is_plain(*op) && op.parent().is_some_and(together)
        }
        "llvm.call" => computes(*op),
        "llvm.intr.assume" => true,
        "scf.while" => !may_wait(*op),
        name if STRUCTURES.contains(&name) || name.starts_with("llvm.intr.lifetime.") => true,
        _ => op.is_terminator() || op.num_regions() == 0 && op.is_memory_effect_free() && !is_shared_memory(*op),
    };
    parallel.find_all(|op| op != parallel).into_iter().find(|op| !is_simple(op))
}

impl Seen<'_> {
    fn of_copies() -> Self {
        Self { copies: Some(Vec::new()), ..Self::default() }
    }
}

impl<'c> Accesses<'c> {
    /// Looks at all threads of a block of constant shape; says what is not followed.
    pub fn of(parallel: Op<'c>, grid: Op<'c>, shape: [i64; 3]) -> Result<Self, String> {
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
            phases: HashMap::new(),
            handed_on: HandedOn::new(),
            decisions: HashMap::new(),
        };
        let [width, height, depth] = shape;
        for number in 0..width * height * depth {
            made.thread.start(vec![number % width, number / width % height, number / (width * height)]);
            made.phase = 0;
            made.visit(parallel.body()).map_err(|op| format!("{op:?} is not followed"))?;
        }
        let ordered = |tile: &Tile| tile.stored.zip(tile.loaded).is_some_and(|(stored, loaded)| stored < loaded);
        if made.tiles.values().all(ordered) { Ok(made) } else { Err("they are filled and read in turn".into()) }
    }

    /// Goes through a block; gives back the operation that is not followed.
    pub fn visit(&mut self, block: Block<'c>) -> Result<(), Op<'c>> {
        for op in block.ops() {
            if self.thread.is_exhausted() {
                return Err(op);
            }
            if matches!(op.name(), "llvm.load" | "llvm.store") {
                self.phases.insert(op, self.phase);
            }
            match op.name() {
                Barrier::NAME => self.phase += 1,
                "llvm.store" => self.store(op).ok_or(op)?,
                "llvm.load" => self.load(op).ok_or(op)?,
                _ if !self.holders.contains(&op) => {}
                "scf.for" if rounds::is_together(op, self.parallel) => self.together(op)?,
                "scf.for" => self.count(op)?,
                "scf.while" => self.repeat(op)?,
                _ => self.choose(op)?,
            }
        }
        Ok(())
    }

    /// Takes the branch of a condition, or all where it is not known and nothing is staged there.
    fn choose(&mut self, op: Op<'c>) -> Result<(), Op<'c>> {
        let region = match op.name() {
            "scf.if" => {
                let truth = self.thread.truth(op.operand(0));
                let decision = self.decisions.entry(op).or_insert(truth);
                *decision = decision.filter(|known| Some(*known) == truth);
                truth.map(|truth| usize::from(!truth))
            }
            "scf.index_switch" => self.thread.case(op),
            _ => return Err(op),
        };
        let is_staged = |op: Op<'c>| op.is("llvm.store") && is_shared_root(root(op.operand(1)));
        let blocks = op.regions().into_iter().map(|region| region.first_block());
        match region {
            None if op.contains(is_staged) => Err(op),
            None => blocks.flatten().try_for_each(|block| self.visit(block)),
            Some(region) => blocks.skip(region).take(1).flatten().try_for_each(|block| self.visit(block)),
        }
    }

    /// Goes through the rounds of a loop.
    fn count(&mut self, op: Op<'c>) -> Result<(), Op<'c>> {
        let counting = Counting::of(op).filter(|counting| !counting.unsigned).ok_or(op)?;
        let [low, high, step] = counting.bounds().map(|bound| self.thread.number(bound));
        let (low, high, step) = (low.ok_or(op)?, high.ok_or(op)?, step.filter(|step| *step > 0).ok_or(op)?);
        let rounds = high.saturating_sub(low).saturating_add(step - 1) / step;
        if rounds > MOST_ROUNDS {
            return Err(op);
        }
        let carried = &op.body().args()[1..];
        let mut values: Vec<_> = (0..carried.len()).map(|number| self.thread.known(op.operand(3 + number))).collect();
        for number in (low..high).step_by(usize::try_from(step).map_err(|_| op)?) {
            self.thread.enter(number);
            self.thread.set(op.body().arg(0), Known::Number(Sum::constant(number.into())));
            self.take(carried, values);
            self.visit(op.body())?;
            let next = op.body().terminator().map(Op::operands).unwrap_or_default();
            values = next.into_iter().map(|value| self.thread.known(value)).collect();
            self.thread.leave();
        }
        self.take(&op.results(), values);
        Ok(())
    }

    /// Goes through a loop as long as its condition is known to hold.
    fn repeat(&mut self, op: Op<'c>) -> Result<(), Op<'c>> {
        let (test, body) = (op.region(0).entry(), op.region(1).entry());
        let mut values: Vec<_> = op.operands().into_iter().map(|value| self.thread.known(value)).collect();
        for round in 0..MOST_ROUNDS {
            self.thread.enter(round);
            self.take(&test.args(), values);
            self.visit(test)?;
            let condition = test.terminator().ok_or(op)?;
            let goes_on = self.thread.truth(condition.operand(0)).ok_or(op)?;
            values = condition.operands().into_iter().skip(1).map(|value| self.thread.known(value)).collect();
            if !goes_on {
                self.thread.leave();
                self.take(&op.results(), values);
                return Ok(());
            }
            self.take(&body.args(), values);
            self.visit(body)?;
            let next = body.terminator().map(Op::operands).unwrap_or_default();
            values = next.into_iter().map(|value| self.thread.known(value)).collect();
            self.thread.leave();
        }
        Err(op)
    }

    fn take(&mut self, values: &[Value<'c>], known: Vec<Known<'c>>) {
        for (value, known) in values.iter().zip(known) {
            self.thread.set(*value, known);
        }
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

    /// What each load of shared memory could read instead; says which one cannot.
    pub fn instead(&self) -> Result<Vec<Instead<'c>>, String> {
        let is_load = |op: Op<'c>| op.is("llvm.load") && is_shared_root(root(op.operand(0)));
        let instead = |load| {
            let slots = self.seen.get(&load)?.slots.iter();
            let copies = slots.map(|(place, slot)| match self.staged.get(slot)? {
                Known::Copy(copy) => Some((place.clone(), copy.clone())),
                _ => None,
            });
            self.instead_of(load.result(0), &copies.collect::<Option<Vec<_>>>()?)
        };
        let loads = self.parallel.find_all(is_load).into_iter();
        loads.map(|load| instead(load).ok_or_else(|| format!("{load:?} reads what was not copied evenly"))).collect()
    }

    /// What could be read again instead of being handed on from round to round.
    pub fn again(&self) -> Vec<Instead<'c>> {
        let threads: i64 = Counting::dimensions(self.parallel).iter().filter_map(|size| constant(size.upper)).product();
        let of_all = |copies: &&Vec<_>| i64::try_from(copies.len()) == Ok(threads);
        let unused = |value: Value<'c>| {
            let holder = value.parent_block().and_then(|block| block.parent_op()).zip(value.block_arg());
            holder.is_some_and(|(holder, (_, number))| !holder.result(number - 1).has_uses())
        };
        let known = self.handed_on.iter().filter(|(value, _)| unused(**value));
        let mut found: Vec<_> =
            known.filter_map(|(value, copies)| self.instead_of(*value, copies.as_ref().filter(of_all)?)).collect();
        found.sort_by_key(|instead| instead.value.block_arg().map(|(_, number)| number));
        found
    }

    /// Whether two accesses are between the same barriers.
    pub fn is_one_phase(&self, one: Op<'c>, other: Op<'c>) -> bool {
        self.phases.get(&one) == self.phases.get(&other)
    }

    /// The loads of the device's memory that are followed, without their clamps, but for those that only fill tiles or values that are read
    /// again; and whether these are all.
    pub fn read(&self, again: &[Instead<'c>]) -> (Vec<Instead<'c>>, bool) {
        let is_near = |root| is_shared_root(root) || object_of(root) == Some(Kind::Local);
        let is_staged = |user: Op<'c>| user.is("llvm.store") && is_shared_root(root(user.operand(1)));
        let is_gone = |value: Value<'c>| again.iter().any(|instead| instead.value == value);
        let is_read = |load: Op<'c>| {
            let value = load.result(0);
            !value.users().into_iter().all(is_staged) && !rounds::is_only_handed_on(value, &is_gone)
        };
        let loads = self.parallel.find_all(|op| op.is("llvm.load") && !is_near(root(op.operand(0))) && is_read(op));
        // One that no thread comes to reads nothing.
        let seen = loads.iter().filter_map(|load| Some((load, self.seen.get(load)?)));
        let followed: Vec<_> =
            seen.map(|(load, seen)| self.instead_of(load.result(0), seen.copies.as_ref()?)).collect();
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
            let at = Even::of(&points).filter(|at| one && self.is_even_in_rounds(at))?;
            found.push(Written { root: *root, at, bytes });
        }
        Some(found)
    }

    /// What could be read instead of a value that was seen to be some copies, where they are of one object and go on evenly.
    fn instead_of(&self, value: Value<'c>, copies: &[(Place, Copy<'c>)]) -> Option<Instead<'c>> {
        let (_, first) = copies.first()?;
        let alike = |copy: &Copy<'c>| copy.root == first.root && copy.ty == first.ty && copy.ty == value.ty();
        if !copies.iter().all(|(_, copy)| alike(copy)) {
            return None;
        }
        let points: Vec<_> = copies.iter().map(|(place, copy)| (place.clone(), copy.at.clone())).collect();
        let alignment = copies.iter().map(|(_, copy)| copy.alignment).min()?;
        let at = Even::of(&points).filter(|at| self.is_even_in_rounds(at))?;
        // What nobody counts cannot be named, nor a round outside of its loop.
        let around = loops_around(value);
        let uncounted = around.iter().enumerate().filter(|(_, op)| op.is("scf.while"));
        let counts = uncounted.into_iter().all(|(number, _)| at.steps.get(THREADS + number).is_none_or(Sum::is_zero));
        let (_, rounds) = self.thread.symbols.by_rounds(&at.base)?;
        let mut variables = rounds.keys().filter_map(|round| self.thread.symbols.counted(*round));
        let inside = variables.all(|(variable, _)| around.iter().any(|op| op.body().args().first() == Some(&variable)));
        (counts && inside).then_some(Instead { value, root: first.root, at, alignment })
    }

    /// Whether each round of a loop adds the same to a sum, in all threads.
    fn is_even_in_rounds(&self, at: &Even) -> bool {
        let symbols = &self.thread.symbols;
        symbols.by_rounds(&at.base).is_some() && !at.steps.iter().any(|step| symbols.names_round(step))
    }
}

/// The loops of a thread around a value, outer ones first.
pub fn loops_around(value: Value<'_>) -> Vec<Op<'_>> {
    let holder = value.parent_block().and_then(|block| block.parent_op());
    let around = std::iter::successors(holder, |at| at.parent()).take_while(|at| !at.is("scf.parallel"));
    let mut loops: Vec<_> = around.filter(|at| matches!(at.name(), "scf.for" | "scf.while")).collect();
    loops.reverse();
    loops
}

/// Whether a value is the address of shared memory.
pub fn is_shared_root(root: Value<'_>) -> bool {
    matches!(object_of(root), Some(Kind::Shared | Kind::Dynamic))
}
