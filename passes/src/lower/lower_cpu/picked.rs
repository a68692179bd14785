//! Rounds that pick one thread by its number are made for that thread alone.
//!
//! ```mlir
//! scf.parallel (%x, ...) = (0, ...) to (%n, 1, 1) {
//!   A
//!   %r = scf.for %i = ... iter_args(%p = %first) { %d = digit(%i) ; scf.if %d == %x { B(%x, %p) } ... }
//!   C(%r)
//! }
//! ```
//! becomes, with a cell of memory for each thread,
//! ```mlir
//! scf.parallel (%x, ...) { A ; %cell[%x] = %first }
//! scf.for %i = ... { %d = digit(%i) ; scf.if %d < %n { %cell[%d] = B(%d, %cell[%d]) } }
//! scf.parallel (%x, ...) { C(%cell[%x]) }
//! ```
//! A thread for each digit that looks through all keys is one look at each key. The threads of a loop do not wait for one another, so that any order
//! of them is right that keeps each thread's own; what all of them read in a round is read once.
//!
//! Declined: rounds that do anything for threads that are not picked, loops that only some threads come to by more than their number and what is
//! known before, blocks of more than one dimension or of a size that is not known, fewer threads than a row.

use mlir_bridge::ir::{Block, Builder, Mapping, Op, Value};

use super::narrow::{conjuncts, index, roots};
use crate::{
    analysis::{
        counted_loop::is_outside,
        facts::constant,
        loops::Counting,
        uniformity::{computes, free_values, repeatable},
    },
    lower::{
        before::{computed, is_known_before},
        split_barriers::memory::{Cells, new_cells},
        vectorize_threads::{is_of_warp, is_scalar},
    },
};

/// How far expressions are followed.
const DEPTH: u32 = 16;
/// The fewest threads: of fewer a row goes through all at once.
const FEWEST: i64 = 8;
/// The most threads of a block.
const MOST: i64 = 1024;

/// Makes rounds that pick a thread for that thread alone, in the thread loops of a block function.
pub fn pick(function: Op<'_>) {
    for parallel in function.find_named("scf.parallel") {
        if let Some(picking) = Picking::of(parallel) {
            picking.rewrite(function);
        }
    }
}

/// A loop whose rounds pick threads.
struct Picking<'c> {
    parallel: Op<'c>,
    threads: i64,
    /// The branches around the loop, the outermost first.
    around: Vec<Op<'c>>,
    rounds: Op<'c>,
    /// What the loop, and what is behind it, read of their thread: computed again, or kept.
    again: Vec<Value<'c>>,
    kept: Vec<Value<'c>>,
    /// What is done behind the loop.
    after: Vec<Op<'c>>,
}

/// The branch of a round that picks a thread, by this number.
#[derive(Clone, Copy)]
struct Pick<'c> {
    branch: Op<'c>,
    number: Value<'c>,
    /// Whether nothing else decides, so that the number is known whenever the branch is met.
    alone: bool,
}

/// What threads hand on in memory.
struct Memory<'c> {
    carried: Vec<Cells<'c>>,
    kept: Vec<Cells<'c>>,
}

impl<'c> Picking<'c> {
    fn of(parallel: Op<'c>) -> Option<Self> {
        let dimensions = Counting::dimensions(parallel);
        let plain = dimensions.iter().all(Counting::is_plain) && parallel.num_results() == 0;
        let sizes: Vec<_> = dimensions.iter().map(|dimension| constant(dimension.upper)).collect();
        let [Some(threads), Some(1), Some(1)] = sizes[..] else { return None };
        if !plain || !(FEWEST..=MOST).contains(&threads) {
            return None;
        }
        let mut loops = parallel.find_named("scf.for").into_iter();
        let found = loops.find_map(|rounds| Self::at(parallel, threads, rounds))?;
        (!parallel.contains(|op| !may_take_turns(op))).then_some(found)
    }

    fn at(parallel: Op<'c>, threads: i64, rounds: Op<'c>) -> Option<Self> {
        let mut around = Vec::new();
        let mut at = rounds.parent()?;
        while at != parallel {
            if !(at.is("scf.if") && at.num_results() == 0 && has_one_side(at) && is_of_number(parallel, at.operand(0)))
            {
                return None;
            }
            around.insert(0, at);
            at = at.parent()?;
        }
        let known = rounds.operands()[..3].iter().all(|bound| is_known_before(parallel, *bound, &[], DEPTH));
        let scalars = rounds.results().iter().all(|result| is_scalar(result.ty()));
        let made = Self { parallel, threads, around, rounds, again: Vec::new(), kept: Vec::new(), after: Vec::new() };
        if !known || !scalars || made.picks(rounds.body()).is_none() || !made.leaves_others() {
            return None;
        }
        made.with_surroundings()
    }

    /// Finds what is done behind the loop, and what both read of their thread.
    fn with_surroundings(mut self) -> Option<Self> {
        let behind = |op: Op<'c>| std::iter::successors(op.next(), |op| op.next()).filter(|op| !op.is_terminator());
        if self.around.iter().flat_map(|branch| behind(*branch)).any(acts) {
            return None;
        }
        self.after = behind(self.rounds).collect();
        let own = |value: &Value<'c>| {
            let maker = value.defining_op();
            maker.is_none_or(|op| op != self.rounds && !self.after.contains(&op))
        };
        let ops = self.rounds.body().ops().into_iter().chain(self.after.iter().copied());
        let outside = |value: &Value<'c>| is_outside(*value, self.rounds) && !is_outside(*value, self.parallel);
        let ivs = self.parallel.body().args();
        let mut read: Vec<_> = ops.flat_map(free_values).filter(outside).filter(own).collect();
        read.retain(|value| !ivs.contains(value));
        for value in read {
            let known = is_of_number(self.parallel, value);
            let list = if known { &mut self.again } else { &mut self.kept };
            if !known && !is_scalar(value.ty()) {
                return None;
            }
            if !list.contains(&value) {
                list.push(value);
            }
        }
        Some(self)
    }

    /// Whether all threads have the same of a value in a round: computed of what is known before, or read from one place.
    fn is_shared(&self, value: Value<'c>, depth: u32) -> bool {
        if value == self.rounds.body().arg(0) || is_known_before(self.parallel, value, &[], DEPTH) {
            return true;
        }
        let inside = value.defining_op().filter(|op| depth > 0 && self.rounds.is_proper_ancestor_of(*op));
        let Some(op) = inside else { return false };
        is_harmless(op) && op.operands().into_iter().all(|operand| self.is_shared(operand, depth - 1))
    }

    /// The branch in which a round picks a thread, which may stand in others that all threads take or none.
    fn picks(&self, block: Block<'c>) -> Option<Pick<'c>> {
        let mut acting = block.ops().into_iter().filter(|op| !op.is_terminator() && !is_harmless(*op));
        let branch = acting.next().filter(|op| op.is("scf.if") && has_one_side(*op))?;
        if acting.next().is_some() {
            return None;
        }
        match conjuncts(branch.operand(0)).into_iter().find_map(|condition| self.number(condition)) {
            Some(number) => Some(Pick { branch, number, alone: self.number(branch.operand(0)).is_some() }),
            None if self.is_shared(branch.operand(0), DEPTH) => self.picks(branch.region(0).entry()),
            None => None,
        }
    }

    /// What a condition compares the thread's number with, the same in all threads.
    fn number(&self, condition: Value<'c>) -> Option<Value<'c>> {
        let op = condition.defining_op().filter(|op| matches!(op.name(), "llvm.icmp" | "arith.cmpi"))?;
        let equal = op.attr("predicate")?.as_int()? == 0;
        let pairs = [(op.operand(0), op.operand(1)), (op.operand(1), op.operand(0))];
        let fits = |(own, number): &(Value<'c>, Value<'c>)| {
            index(self.parallel, *own) == Some(0) && self.is_shared(*number, DEPTH)
        };
        pairs.into_iter().find(fits).filter(|_| equal).map(|(_, number)| number)
    }

    /// Whether threads that are not picked carry on what they have.
    fn leaves_others(&self) -> bool {
        let args = self.rounds.body().args();
        let next = self.rounds.body().terminator().map(Op::operands).unwrap_or_default();
        next.into_iter().zip(&args[1..]).all(|(next, now)| self.stays(next, *now))
    }

    fn stays(&self, next: Value<'c>, now: Value<'c>) -> bool {
        if next == now {
            return true;
        }
        let branch = next.defining_op().filter(|op| op.is("scf.if") && self.rounds.is_proper_ancestor_of(*op));
        let Some(op) = branch else { return false };
        let Some(number) = op.results().into_iter().position(|result| result == next) else { return false };
        let end = |region: usize| op.region(region).first_block().and_then(Block::terminator);
        let [taken, other] = [0, 1].map(|region| end(region).map(|end| end.operand(number)));
        let picks = self.picks(self.rounds.body()).is_some_and(|pick| pick.branch == op);
        other == Some(now) && (picks || taken.is_some_and(|taken| self.stays(taken, now)))
    }

    fn rewrite(self, function: Op<'c>) {
        let (parallel, rounds) = (self.parallel, self.rounds);
        let start = Builder::at_start(function.body(), function.loc());
        let (ctx, i8) = (start.ctx(), start.ctx().int(8));
        let count = start.const_int(ctx.int(64), self.threads);
        let start = Builder::after(count.defining_op().unwrap_or(parallel));
        let cells = |values: &[Value<'c>]| values.iter().map(|value| new_cells(start, value.ty(), count)).collect();
        let memory = Memory { carried: cells(&rounds.results()), kept: cells(&self.kept) };
        // Whether any thread comes to the loop: no other may read what the rounds do.
        let came = new_cells(start, i8, count).base;
        let before = Builder::before(parallel);
        before.llvm_store(before.const_int(i8, 0), came, None);

        let b = Builder::before(rounds);
        let thread = b.index_cast(parallel.body().arg(0), ctx.int(64));
        let inits = rounds.operands()[3..].to_vec();
        let values = inits.into_iter().zip(&memory.carried).chain(self.kept.iter().copied().zip(&memory.kept));
        values.for_each(|(value, cells)| cells.store(b, thread, value));
        b.llvm_store(b.const_int(i8, 1), came, None);

        let b = Builder::after(parallel);
        let any = b.llvm_load(came, i8, None);
        let behind = Builder::after(any.defining_op().unwrap_or(parallel));
        let some = behind.scf_if(behind.cmpi("ne", any, behind.const_int(i8, 0)), &[], false);
        let inside = Builder::at_end(some.body(), parallel.loc());
        self.each_round(inside, &memory);
        inside.scf_yield(&[]);
        if self.after.iter().any(|op| acts(*op)) {
            self.go_on(Builder::after(some), &memory);
        }
        self.after.iter().rev().for_each(|op| op.erase());
        rounds.erase();
    }

    /// The rounds, each for the thread that it picks.
    fn each_round(&self, b: Builder<'c>, memory: &Memory<'c>) {
        let mut known = Mapping::new();
        let [low, high, step] =
            [0, 1, 2].map(|index| computed(b, self.parallel, self.rounds.operand(index), &mut known));
        let made = b.scf_for(low, high, step, &[]);
        if self.rounds.has_attr("unsignedCmp") {
            made.set_attr("unsignedCmp", b.ctx().unit_attr());
        }
        let mut b = Builder::at_end(made.body(), b.loc);
        let mut ends = vec![b];
        known.map(self.rounds.body().arg(0), made.body().arg(0));
        let mut enter = |b: Builder<'c>, condition: Value<'c>| {
            let inside = Builder::at_end(b.scf_if(condition, &[], false).body(), b.loc);
            ends.push(inside);
            inside
        };
        let Some(pick) = self.picks(self.rounds.body()) else { return };
        let mut outer = Vec::new();
        let mut at = pick.branch.parent();
        while let Some(branch) = at.filter(|op| *op != self.rounds) {
            outer.insert(0, branch);
            at = branch.parent();
        }
        for branch in outer {
            let taken = computed(b, self.parallel, branch.operand(0), &mut known);
            b = enter(b, taken);
        }
        let mut number = computed(b, self.parallel, pick.number, &mut known);
        if !pick.alone && number.ty().int_width().is_some() {
            number = b.value("llvm.freeze", &[number], number.ty());
        }
        b = enter(b, b.cmpi("ult", number, b.const_int(number.ty(), self.threads)));
        let wide = b.ctx().index();
        let thread = if number.ty() == wide { number } else { b.index_castui(number, wide) };
        let mut own = self.numbered([thread, b.const_index(0), b.const_index(0)]);
        for branch in &self.around {
            let taken = computed(b, self.parallel, branch.operand(0), &mut own);
            b = enter(b, taken);
        }
        self.recall(b, thread, memory, &mut own);
        let wide = b.index_cast(thread, b.ctx().int(64));
        let args = self.rounds.body().args();
        own.map(args[0], made.body().arg(0));
        for (arg, cells) in args[1..].iter().zip(&memory.carried) {
            own.map(*arg, cells.load(b, wide));
        }
        b.clone_body(self.rounds.body(), &mut own);
        let next = self.rounds.body().terminator().map(Op::operands).unwrap_or_default();
        let next = next.into_iter().zip(&args[1..]).zip(&memory.carried).filter(|((next, now), _)| next != *now);
        let next: Vec<_> = next.map(|((next, _), cells)| (own.get_or_self(next), *cells)).collect();
        next.into_iter().for_each(|(value, cells)| cells.store(b, wide, value));
        for end in ends {
            end.scf_yield(&[]);
        }
    }

    /// What threads do behind the loop.
    fn go_on(&self, b: Builder<'c>, memory: &Memory<'c>) {
        let operands = self.parallel.operands();
        let made = b.scf_parallel(&operands[..3], &operands[3..6], &operands[6..9]);
        let numbers = made.body().args();
        let mut b = Builder::before_terminator(made.body(), b.loc);
        let mut own = self.numbered([numbers[0], numbers[1], numbers[2]]);
        for branch in &self.around {
            let taken = computed(b, self.parallel, branch.operand(0), &mut own);
            let end = Builder::at_end(b.scf_if(taken, &[], false).body(), b.loc).scf_yield(&[]);
            b = Builder::before(end);
        }
        self.recall(b, numbers[0], memory, &mut own);
        let wide = b.index_cast(numbers[0], b.ctx().int(64));
        for (result, cells) in self.rounds.results().into_iter().zip(&memory.carried) {
            own.map(result, cells.load(b, wide));
        }
        for op in &self.after {
            b.clone_op(*op, &mut own);
        }
    }

    /// The thread with such numbers.
    fn numbered(&self, numbers: [Value<'c>; 3]) -> Mapping<'c> {
        let mut own = Mapping::new();
        own.map_all(&self.parallel.body().args(), &numbers);
        own
    }

    /// Makes what is read of a thread.
    fn recall(&self, b: Builder<'c>, thread: Value<'c>, memory: &Memory<'c>, own: &mut Mapping<'c>) {
        for value in &self.again {
            let made = computed(b, self.parallel, *value, own);
            own.map(*value, made);
        }
        let wide = b.index_cast(thread, b.ctx().int(64));
        for (value, cells) in self.kept.iter().zip(&memory.kept) {
            own.map(*value, cells.load(b, wide));
        }
    }
}

/// Whether a value is computed of the thread's numbers and of what is known before.
fn is_of_number<'c>(parallel: Op<'c>, value: Value<'c>) -> bool {
    is_known_before(parallel, value, &parallel.body().args(), DEPTH)
}

/// Whether a branch does nothing where its condition does not hold.
fn has_one_side(branch: Op<'_>) -> bool {
    branch
        .region(1)
        .first_block()
        .is_none_or(|block| block.ops().into_iter().all(|op| op.is_terminator() || is_harmless(op)))
}

/// Whether an operation only computes or reads.
fn is_harmless(op: Op<'_>) -> bool {
    op.num_regions() == 0 && (op.is_pure() || op.is("llvm.load"))
}

/// Whether an operation does more than compute the same again.
fn acts(op: Op<'_>) -> bool {
    op.num_regions() > 0 || !repeatable(op)
}

/// Whether threads may do an operation in any order, one thread a part of its rounds before the next one.
fn may_take_turns(op: Op<'_>) -> bool {
    let plain = || !op.has_attr("volatile_") && op.attr("ordering").and_then(|order| order.as_int()).unwrap_or(0) == 0;
    let reused = op.operands().into_iter().any(|operand| roots(operand).is_some());
    let usual = match op.name() {
        "llvm.load" | "llvm.store" => plain(),
        "llvm.atomicrmw" | "llvm.cmpxchg" | "scf.if" | "scf.for" | "scf.parallel" => true,
        "llvm.call" => computes(op),
        _ => op.is_terminator() || op.num_regions() == 0 && op.is_memory_effect_free(),
    };
    usual && !reused && !is_of_warp(op)
}
