//! What the next round of a loop over phases will read is fetched while this one runs.
//!
//! ```mlir
//! scf.for %z = ... {                                  // the loop stands outside of the threads
//!   scf.for %x = ... step 16 { %v = llvm.load %a[%z * %plane + %x] : vector<16xf32> ; ... }
//! }
//! ```
//! becomes
//! ```mlir
//!     %v = llvm.load %a[%z * %plane + %x] ; llvm.intr.prefetch %a[(%z + %step) * %plane + %x]
//! ```
//! A round reads a little from many pages, a tile of a matrix or of a plane, and the next one reads elsewhere: a processor that looks for
//! neighbouring lines finds none. The address is computed again with the loop's numbers of the next round. Nothing is promised of it: a
//! prefetch of an address that is not there does nothing. Left out are what is read in this round already, or will be by the row behind,
//! memory on the stack, and addresses that depend on what is loaded. A loop by a stride that stands outside of the threads is such a loop too:
//! its rounds read a page each, and what is computed of them leaves a processor no room to look far ahead (2 KB in each MB, a sum in 40
//! instructions a row: 16 GB/s, 21 with the next round fetched; AMD EPYC, Zen 4, two threads).
//!
//! So is a loop that a row goes through by itself, where its rounds are far apart and compute much: the fetching is a small part of it then.
//!
//! A row's own loop that gathers waits for memory in each round, and what it reads in one piece is far from there in the next: columns of a
//! matrix, a piece of a line each. The rows behind read what is beside, so each round fetches what is so far on (sparse rows that are kept by
//! columns: 60 ms, 22 with it; AMD EPYC, Zen 3, one thread).
//!
//! For the next block the same was tried, and gained nothing: blocks that follow one another read neighbouring lines. Nor did it where a block
//! reads, computes behind barriers and stores: a scan with its next tile's loads and its own stores fetched in the other phase took as long.

use mlir_bridge::ir::{Builder, Mapping, Op, Value};

use crate::analysis::{
    addresses::Offsets,
    constants::is_undefined,
    counted_loop::is_outside,
    facts::constant,
    loops::{Counting, limit},
};

/// Bytes of a line of the cache.
const LINE: u64 = 64;
/// The most that one round fetches ahead, in places of the program.
const MOST: usize = 24;
/// Bytes that are on their way from memory at a time, for what a core reads of it to come as fast as can be: some 100 ns at 20 GB/s.
const UNDER_WAY: u64 = 2048;
/// The most rounds that are looked ahead.
const FARTHEST: u64 = 4;
/// Bytes that a processor looks through by itself: those of a page.
const NEAR: i128 = 4096;
/// Bytes of an element.
const WIDEST: i128 = 8;
/// How far back a stride is computed again.
const DEPTH: u32 = 4;
/// How far on a round fetches that gathers, in bytes.
const BESIDE: i64 = 512;
/// Operations of a round for each place that a row's own loop fetches.
const OPERATIONS: usize = 32;

/// The loops that stand outside of thread loops; to be asked before rows are made.
pub fn phase_loops(function: Op<'_>) -> Vec<Op<'_>> {
    let is_loop = |op: Op<'_>| matches!(op.name(), "scf.for" | "scf.while");
    function.find_all(|op| is_loop(op) && op.contains(|inner| inner.is("scf.parallel")))
}

/// Fetches ahead in the loops of a function, when rows have been made: in those over `phases`, and in those of rows.
pub fn fetch_ahead<'c>(function: Op<'c>, phases: &[Op<'c>]) {
    let is_phase = |op: &Op<'c>| phases.iter().any(|phase| phase == op);
    let around = |op: &Op<'c>| phases.iter().any(|phase| op.is_proper_ancestor_of(*phase));
    let of_rows = function.find_all(|op| matches!(op.name(), "scf.for" | "scf.while") && op.contains(reads_vector));
    let of_rows: Vec<_> = of_rows.into_iter().filter(|op| !is_phase(op) && !around(op)).collect();
    for (loops, near, operations) in [(phases, 0, 0), (&of_rows[..], NEAR, OPERATIONS)] {
        for op in loops {
            let inner: Vec<_> = loops.iter().copied().filter(|other| op.is_proper_ancestor_of(*other)).collect();
            let is_own = |load: &Op<'_>| !inner.iter().any(|inner| inner.is_proper_ancestor_of(*load));
            let loads: Vec<_> = op.find_all(reads_vector).into_iter().filter(is_own).collect();
            let round = |beside: bool| {
                let (offsets, read, needless) = (Offsets::default(), Vec::new(), Vec::new());
                let rounds = if near == 0 { rounds_ahead(&offsets, *op, &loads) } else { 1 };
                Round { op: *op, near, beside, offsets, rounds, read, needless }.fetch(&loads)
            };
            let much = op.find_all(|_| true).len() >= operations * loads.len();
            let waits = || near > 0 && op.find_all(gathers).into_iter().any(|gather| is_own(&gather));
            if loads.is_empty() {
                continue;
            }
            let fetched = if much { round(false) } else { 0 };
            if fetched == 0 && waits() {
                round(true);
            }
        }
    }
}

/// Whether an operation reads a vector that lies in one piece.
fn reads_vector(op: Op<'_>) -> bool {
    matches!(op.name(), "llvm.load" | "llvm.intr.masked.load") && op.result(0).ty().vector_parts().is_some()
}

/// Whether an operation reads a vector of which each lane lies anywhere.
fn gathers(op: Op<'_>) -> bool {
    op.is("llvm.intr.masked.gather")
}

/// Whether memory is the block's own.
fn is_on_stack<'c>(offsets: &Offsets<'c>, address: Value<'c>) -> bool {
    offsets.address(address).root.defining_op().is_some_and(|root| root.is("llvm.alloca"))
}

/// The bytes that a load reads in a round of `op`, at most; `None` if nothing is known of the loops between.
fn bytes_read<'c>(op: Op<'c>, load: Op<'c>) -> Option<i64> {
    let around = std::iter::successors(load.parent(), |at| at.parent()).take_while(|at| *at != op);
    let rounds = |inner: &Op<'c>| {
        let counting = Counting::of(*inner)?;
        let distance = limit(counting.upper)? - constant(counting.lower).unwrap_or(0);
        Some(distance.max(0) / constant(counting.step)?.max(1))
    };
    let size = load.result(0).ty().layout(load).0.cast_signed();
    around.filter(|inner| inner.is("scf.for")).try_fold(size, |bytes, inner| bytes.checked_mul(rounds(&inner)?))
}

/// How many rounds ahead is fetched: memory answers while rounds of few bytes are over.
fn rounds_ahead<'c>(offsets: &Offsets<'c>, op: Op<'c>, loads: &[Op<'c>]) -> i64 {
    let elsewhere = loads.iter().filter(|load| !is_on_stack(offsets, load.operand(0)));
    let read: Option<i64> = elsewhere.map(|load| bytes_read(op, *load)).sum();
    let rounds = read.map_or(1, |bytes| UNDER_WAY.div_ceil(bytes.max(1).cast_unsigned()).clamp(1, FARTHEST));
    rounds.cast_signed()
}

/// A round of a loop over phases.
struct Round<'c> {
    op: Op<'c>,
    /// What is nearer than so many bytes in the next round is not fetched.
    near: i128,
    /// What is beside is fetched, for the rows behind, not what the next round reads.
    beside: bool,
    offsets: Offsets<'c>,
    /// How many rounds ahead is fetched.
    rounds: i64,
    /// What reads in this round or fetches for the next, and where.
    read: Vec<(Op<'c>, Value<'c>)>,
    /// What was made and is not needed. It goes last: the analysis knows values by where they are.
    needless: Vec<Op<'c>>,
}

impl<'c> Round<'c> {
    /// Gives how many places are fetched.
    fn fetch(mut self, loads: &[Op<'c>]) -> usize {
        self.read = loads.iter().map(|load| (*load, load.operand(0))).collect();
        // Addresses of later rounds are told by those of this one.
        self.read.iter().for_each(|(_, address)| _ = self.offsets.address(*address));
        let mut count = 0;
        for load in loads {
            if count < MOST && !is_on_stack(&self.offsets, load.operand(0)) {
                count += usize::from(self.fetch_one(*load));
            }
        }
        self.needless.into_iter().rev().filter(|op| op.is_trivially_dead()).for_each(Op::erase);
        count
    }

    fn fetch_one(&mut self, load: Op<'c>) -> bool {
        let b = Builder::after(load);
        let address = load.operand(0);
        let again = self.is_read_by_a_later_row(load);
        let mut next = Next { same_lanes: self.beside, ..Next::new(self.op, b, self.rounds) };
        let ahead = if again { None } else { next.value(address) };
        let strides = std::mem::take(&mut next.strides);
        let multiplied = self.beside && next.made.iter().any(|op| multiplies_unknown(*op));
        let is_far = |ahead: Value<'c>| self.near == 0 || multiplied || self.is_far(address, ahead, &strides);
        let mut wanted = ahead.filter(|ahead| *ahead != address && is_far(*ahead));
        if self.beside && wanted.is_some() {
            let beside = b.llvm_byte_at(address, b.const_int(b.ctx().int(64), BESIDE));
            next.made.extend(beside.defining_op());
            wanted = Some(beside);
        }
        let Some(ahead) = wanted.filter(|ahead| !self.is_read(load, *ahead)) else {
            self.needless.extend(next.made);
            return false;
        };
        if self.beside {
            self.needless.append(&mut next.made);
        }
        let size = load.result(0).ty().layout(load).0;
        // The vector may begin anywhere in its first line; rows behind fetch what is beside.
        let last = (!self.beside).then_some(size - 1);
        for byte in (0..size).step_by(LINE as usize).chain(last) {
            let at = b.llvm_byte_at(ahead, b.const_int(b.ctx().int(64), byte.cast_signed()));
            let prefetch = b.op("llvm.intr.prefetch").operands(&[at]).attr("rw", b.ctx().i32_attr(0));
            prefetch.attr("hint", b.ctx().i32_attr(3)).attr("cache", b.ctx().i32_attr(1)).build();
        }
        self.read.push((load, ahead));
        true
    }

    /// Whether what a row of threads reads in the next y or z is read in this one too: the row that is ahead fetches it for all.
    fn is_read_by_a_later_row(&mut self, load: Op<'c>) -> bool {
        let own = self.op;
        let around = std::iter::successors(load.parent(), |at| at.parent()).take_while(|at| *at != own);
        let single = |op: &Op<'c>| op.is("scf.for") && constant(op.operand(2)) == Some(1);
        around.filter(single).any(|row| {
            let mut next = Next::new(row, Builder::after(load), 1);
            let found = next.value(load.operand(0)).filter(|ahead| *ahead != load.operand(0));
            let read = found.is_some_and(|ahead| self.is_read(load, ahead));
            self.needless.extend(next.made);
            read
        })
    }

    /// Whether an address is not near another one that comes of it by these strides. A number of 32 bits might wrap, which none does.
    fn is_far(&self, address: Value<'c>, ahead: Value<'c>, strides: &[Value<'c>]) -> bool {
        let [here, there] = [address, ahead].map(|at| self.offsets.address(at));
        let offsets = here.offset.as_ref().zip(there.offset.as_ref());
        match offsets.and_then(|(here, there)| there.distance(here)) {
            Some(distance) => distance.abs() >= self.near,
            None => !strides.iter().all(|by| constant(*by).is_some_and(|by| i128::from(by).abs() * WIDEST < self.near)),
        }
    }

    /// Whether the line of an address is read in this round already, or fetched, wherever `load` is run.
    fn is_read(&self, load: Op<'c>, address: Value<'c>) -> bool {
        let wanted = self.offsets.address(address);
        let runs_too =
            |op: &Op<'c>| std::iter::successors(Some(load), |at| at.parent()).any(|at| at.block() == op.block());
        self.read.iter().filter(|(op, _)| runs_too(op)).any(|(_, read)| {
            let known = self.offsets.address(*read);
            let offsets = wanted.offset.as_ref().zip(known.offset.as_ref());
            let distance = offsets.and_then(|(wanted, known)| wanted.distance(known));
            wanted.root == known.root && distance.is_some_and(|distance| distance.unsigned_abs() < LINE.into())
        })
    }
}

/// Whether numbers are multiplied none of which is known.
fn multiplies_unknown(op: Op<'_>) -> bool {
    matches!(op.name(), "llvm.mul" | "arith.muli") && op.operands().into_iter().all(|value| constant(value).is_none())
}

/// What a conditional hands on wherever that is something else than there `was`.
fn only_source<'c>(value: Value<'c>, was: Value<'c>) -> Value<'c> {
    let of_branches = |value: Value<'c>| {
        let op = value.defining_op().filter(|op| matches!(op.name(), "scf.if" | "scf.index_switch"))?;
        let number = op.results().iter().position(|result| *result == value)?;
        let ends = op.regions().into_iter().map(|region| Some(region.first_block()?.terminator()?.operand(number)));
        let mut sources = ends.collect::<Option<Vec<_>>>()?;
        sources.retain(|source| !is_undefined(*source) && *source != was);
        sources.dedup();
        if let [one] = sources[..] { Some(one) } else { None }
    };
    std::iter::successors(Some(value), |value| of_branches(*value)).last().unwrap_or(value)
}

/// Values as they will be in the next round of a loop.
struct Next<'c> {
    op: Op<'c>,
    b: Builder<'c>,
    mapping: Mapping<'c>,
    made: Vec<Op<'c>>,
    /// What is added to numbers of this round.
    strides: Vec<Value<'c>>,
    /// How many rounds ahead.
    rounds: i64,
    /// Vectors that the loop carries, such as its mask, are taken for the same in the next round.
    same_lanes: bool,
}

impl<'c> Next<'c> {
    fn new(op: Op<'c>, b: Builder<'c>, rounds: i64) -> Self {
        Self { op, b, mapping: Mapping::new(), made: Vec::new(), strides: Vec::new(), rounds, same_lanes: false }
    }

    /// The value that stands for `value` in the next round, itself if it will be the same; `None` if it has to be waited for.
    fn value(&mut self, value: Value<'c>) -> Option<Value<'c>> {
        if let Some(known) = self.mapping.get(value) {
            return Some(known);
        }
        let found = match value.block_arg() {
            Some(_) if self.same_lanes && value.ty().vector_parts().is_some() => value,
            Some((block, number)) if self.op.regions().iter().any(|region| region.first_block() == Some(block)) => {
                self.carried(value, number)?
            }
            // A thread of the next round has the same number.
            Some(_) => value,
            None if is_outside(value, self.op) => value,
            None => self.computed(value)?,
        };
        self.mapping.map(value, found);
        Some(found)
    }

    fn computed(&mut self, value: Value<'c>) -> Option<Value<'c>> {
        let op = value.defining_op()?;
        let operands: Option<Vec<_>> = op.operands().into_iter().map(|operand| self.value(operand)).collect();
        let changed = operands? != op.operands();
        match op.num_regions() == 0 && op.is_pure() {
            true if changed => {
                self.made.push(self.b.clone_op(op, &mut self.mapping));
                self.mapping.get(value)
            }
            _ => (!changed && op.num_regions() == 0).then_some(value),
        }
    }

    /// What the loop gives to its next round.
    fn carried(&mut self, value: Value<'c>, number: usize) -> Option<Value<'c>> {
        if let Some(counting) = Counting::of(self.op).filter(|_| number == 0) {
            return Some(self.sum(value, counting.step));
        }
        let given = self.given(value, number)?;
        let add = given.defining_op().filter(|op| matches!(op.name(), "llvm.add" | "arith.addi"))?;
        let by = (0..2).find(|index| add.operand(*index) == value).map(|index| add.operand(1 - index))?;
        let by = self.found_before(by, DEPTH)?;
        Some(self.sum(value, by))
    }

    /// A value that is the same in all rounds, where it may be used already.
    fn found_before(&mut self, value: Value<'c>, depth: u32) -> Option<Value<'c>> {
        if is_outside(value, self.op) {
            return Some(value);
        }
        let op = value.defining_op().filter(|op| depth > 0 && op.num_regions() == 0 && op.is_pure())?;
        let mut mapping = Mapping::new();
        for operand in op.operands() {
            mapping.map(operand, self.found_before(operand, depth - 1)?);
        }
        let made = self.b.clone_op(op, &mut mapping);
        self.made.push(made);
        Some(made.result(0))
    }

    /// What a round gives to the next one for an argument. The body of an `scf.while` has what its test hands on as it came.
    fn given(&self, value: Value<'c>, number: usize) -> Option<Value<'c>> {
        if self.op.is("scf.for") {
            return self.op.body().terminator().map(|last| last.operand(number - 1));
        }
        let (test, body) = (self.op.region(0).entry(), self.op.region(1).entry());
        let handed_on = || test.terminator()?.operand(1 + number).block_arg().filter(|(block, _)| *block == test);
        let (_, argument) = if value.block_arg()?.0 == test { (test, number) } else { handed_on()? };
        let given = body.terminator()?.operand(argument);
        match given.block_arg().filter(|(block, _)| *block == body) {
            Some((_, tested)) => Some(only_source(test.terminator()?.operand(1 + tested), value)),
            None => Some(only_source(given, value)),
        }
    }

    fn sum(&mut self, value: Value<'c>, by: Value<'c>) -> Value<'c> {
        let far = match self.rounds {
            1 => by,
            rounds => {
                let far = self.b.arith("muli", by, self.b.const_int(by.ty(), rounds));
                self.made.extend(far.defining_op());
                far
            }
        };
        let next = self.b.arith("addi", value, far);
        self.made.extend(next.defining_op());
        self.strides.push(by);
        next
    }
}
