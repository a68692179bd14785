//! `regrain-interchange-strides`: a loop in which each thread goes on by a stride goes outside of the threads.
//!
//! Before:
//! ```mlir
//! scf.while (%i = %init) { %go = arith.cmpi slt, %i, %n; scf.condition(%go) %i }      // %init = %low + %x
//! do { ^(%i): A(%i); %next = arith.addi %i, %step; scf.yield %next }
//! ```
//! After:
//! ```mlir
//! scf.while (%b = %low) { %go = arith.cmpi slt, %b, %n; scf.condition(%go) %b }       // the same in all threads
//! do { ^(%b):
//!   regrain.barrier(%x, %y, %z)
//!   %i = arith.addi %b, %x
//!   %mine = arith.cmpi slt, %i, %n
//!   scf.if %mine { A(%i) }
//!   %next = arith.addi %b, %step; scf.yield %next
//! }
//! ```
//! Splitting at the barrier puts the loop outside. A round then goes through neighbouring memory, where a row of threads on its own would
//! jump from one stride to the next: a cache line, and a page, for each step.
//!
//! Where start, bound and stride are constants the rounds are an `scf.for`; where in addition the last round ends at the bound, as for a tile whose
//! elements are a multiple of the threads, all threads make all rounds, and nothing is compared.
//!
//! Loops whose rounds all threads share already get the barrier alone (`rounds.rs`). Those that carry more than the number, as a sum, go
//! outside where they read much (`carried.rs`).
//!
//! The start is split into a part that the threads share and a small one of their own ([`Start`]). Where numbers might wrap, the
//! loop as it was stands beside, and what all threads share decides. Declined: loops whose bound or stride is not the same in all
//! threads, that hold loops, or do more than load, compute, store, and add up integers of all threads.

mod carried;
mod rounds;

use mlir_bridge::{
    ir::{Block, Builder, Mapping, Op, Type, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::{Barrier, GpuWrapper};

use self::carried::Carried;
use crate::analysis::{
    constants::constant,
    counted_loop::{self, Kind},
    facts::{Range, range},
    loops::Counting,
    objects::{Kind as Object, is_read_only_struct, object_of, root},
    settled::settled,
    synchronisation::STRUCTURES,
    uniformity::{Trust, UNCHANGING, Uniformity, computes},
};
use crate::lower::vectorize_threads::reduction;

/// The most that threads of a block may start apart.
const FARTHEST: i128 = 1 << 28;
/// How deep a start is taken apart.
const DEPTH: u32 = 12;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-interchange-strides",
    summary: "put loops in which threads go on by a stride outside of the threads",
    anchor: Anchor::Module,
    options: &[],
    dialects: &["regrain", "scf", "arith"],
    run,
};

fn run(_pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    for parallel in GpuWrapper::all(module).into_iter().flat_map(GpuWrapper::block_loops) {
        interchange(parallel);
    }
    Ok(())
}

/// Interchanges the loops of a loop over threads.
fn interchange(parallel: Op<'_>) {
    let structures: Vec<_> = parallel.find_all(|op| STRUCTURES.contains(&op.name()));
    let is_loop = |op: &Op<'_>| matches!(op.name(), "scf.for" | "scf.while");
    if !structures.iter().any(is_loop) || !Counting::dimensions(parallel).iter().all(Counting::is_plain) {
        return;
    }
    let loops: Vec<_> = structures.iter().copied().filter_map(Strided::of).collect();
    for load in parallel.find_all(is_read_only_struct) {
        load.set_attr(UNCHANGING, load.ctx().unit_attr());
    }
    let known = structures.iter().copied().collect();
    let settled = settled(parallel.find_named(Barrier::NAME));
    let uniform = Uniformity::with_settled(parallel.body(), &parallel.body().args(), known, Trust::default(), settled);
    rounds::share(parallel, &structures, &uniform);
    for strided in loops.into_iter().filter(|strided| strided.fits(parallel, &uniform)) {
        let start = Starts { parallel, uniform: &uniform, b: Builder::before(strided.op), checks: Vec::new() };
        strided.rewrite(parallel, start);
    }
}

/// A loop that counts up to a bound.
struct Strided<'c> {
    op: Op<'c>,
    body: Block<'c>,
    /// The number, in the body.
    variable: Value<'c>,
    init: Value<'c>,
    bound: Value<'c>,
    step: Value<'c>,
    unsigned: bool,
    carried: Vec<Carried<'c>>,
}

impl<'c> Strided<'c> {
    fn of(op: Op<'c>) -> Option<Self> {
        let found = match op.name() {
            "scf.for" => Self::of_for(op)?,
            "scf.while" => Self::of_while(op)?,
            _ => return None,
        };
        found.init.ty().int_width().filter(|bits| matches!(bits, 32 | 64)).map(|_| found)
    }

    fn of_for(op: Op<'c>) -> Option<Self> {
        let Counting { lower: init, upper: bound, step, unsigned } = Counting::of(op)?;
        let (body, yielded) = (op.body(), op.body().terminator()?.operands());
        let carried = yielded.into_iter().enumerate().map(|(index, next)| Carried {
            init: op.operand(3 + index),
            now: body.arg(1 + index),
            next,
            result: op.result(index),
        });
        let carried = carried.collect();
        Some(Self { op, body, variable: body.arg(0), init, bound, step, unsigned, carried })
    }

    fn of_while(op: Op<'c>) -> Option<Self> {
        let parts = counted_loop::parts(op)?;
        let plain = parts.forwarded == parts.before.args() && parts.before.ops().len() == 2;
        let counted = counted_loop::count_unless_wrapping(&parts).ok().filter(|_| plain)?;
        if op.result(counted.index).has_uses() {
            return None;
        }
        let unsigned = match counted.kind {
            Kind::Exclusive => false,
            Kind::Unsigned => true,
            _ => return None,
        };
        let others = (0..op.num_results()).filter(|index| *index != counted.index);
        let carried = others.map(|index| Carried {
            init: op.operand(index),
            now: parts.after.arg(index),
            next: parts.yielded[index],
            result: op.result(index),
        });
        let (variable, init) = (parts.after.arg(counted.index), op.operand(counted.index));
        let (bound, step, carried) = (counted.bound, counted.step, carried.collect());
        Some(Self { op, body: parts.after, variable, init, bound, step, unsigned, carried })
    }

    /// Whether all threads come to the loop and to its rounds together, starting apart, and what they do there may take turns.
    fn fits(&self, parallel: Op<'c>, uniform: &Uniformity<'c>) -> bool {
        let ops = || self.body.ops().into_iter().flat_map(|op| op.find_all(|_| true));
        uniform.all_uniform(&[self.bound, self.step])
            && !uniform.is_uniform(self.init)
            && uniform.is_met_together(self.op, parallel)
            && ops().all(is_plain)
            && ops().any(|op| matches!(op.name(), "llvm.load" | "llvm.store"))
            && (self.carried.is_empty() || self.may_outgrow_cache())
    }

    /// Puts the loop over rounds that threads share in its place, or beside it where numbers may wrap.
    fn rewrite(&self, parallel: Op<'c>, mut starts: Starts<'c, '_>) {
        let Some(start) = starts.of(self.init, DEPTH).filter(|start| start.most <= FARTHEST) else { return };
        let (b, ty) = (starts.b, self.init.ty());
        let zero = || b.const_int(ty, 0);
        let low = start.low.unwrap_or_else(zero);
        let own = start.own.unwrap_or_else(zero);
        self.check_wrapping(&mut starts, low, start.most);
        let known = self.known_rounds(low, start.most);
        if !self.carried.is_empty() {
            self.check_share(&mut starts, low);
        }
        let all = starts.checks.into_iter().reduce(|all, check| b.arith("andi", all, check));
        match all {
            None => {
                self.becomes(&self.rounds(b, parallel, (low, own), known));
                self.op.erase();
            }
            Some(all) => {
                let choice = b.scf_if(all, &self.types(), true);
                self.becomes(&choice.results());
                let inside = |region: usize| Builder::at_end(choice.region(region).entry(), b.loc);
                let made = self.rounds(inside(0), parallel, (low, own), known);
                inside(0).scf_yield(&made);
                let results: Vec<_> = self.carried.iter().map(|carried| carried.result).collect();
                self.op.move_before(inside(1).scf_yield(&results));
            }
        }
    }

    /// That neither a number that a thread reaches wraps, nor the one that all share.
    fn check_wrapping(&self, starts: &mut Starts<'c, '_>, low: Value<'c>, most: i128) {
        let (b, ty) = (starts.b, self.init.ty());
        let bits = ty.int_width().unwrap_or(64);
        let all = if self.unsigned { (1 << bits) - 1 } else { Range::of_width(bits).high };
        let limit = b.const_int(ty, wrapped(all - most, bits));
        let zero = b.const_int(ty, 0);
        let at_most = |a, other| b.cmpi(if self.unsigned { "ule" } else { "sle" }, a, other);
        // What is known of both readings of the bits.
        let known = |value| range(value).filter(|found| !self.unsigned || found.low >= 0);
        let largest = Range::of_width(bits).high;
        let step = known(self.step).filter(|step| step.low > 0);
        if step.is_none() {
            starts.checks.push(b.cmpi(if self.unsigned { "ugt" } else { "sgt" }, self.step, zero));
            starts.checks.push(at_most(self.step, limit));
        }
        let ends = step.zip(known(self.bound)).is_some_and(|(step, bound)| bound.high + step.high + most <= largest);
        if !ends {
            starts.checks.push(at_most(self.bound, b.arith("subi", limit, self.step)));
        }
        if known(low).is_none_or(|low| low.high + most > largest) {
            starts.checks.push(at_most(low, limit));
        }
    }

    /// The types of what is carried.
    fn types(&self) -> Vec<Type<'c>> {
        self.carried.iter().map(|carried| carried.init.ty()).collect()
    }

    /// What is carried is `made` behind the loop.
    fn becomes(&self, made: &[Value<'c>]) {
        for (carried, made) in self.carried.iter().zip(made) {
            carried.result.replace_all_uses_with(*made);
        }
    }

    /// What is known of the rounds that threads share, which go from `low` on and in which threads are up to `most` apart.
    fn known_rounds(&self, low: Value<'c>, most: i128) -> Rounds {
        let ends = || Some([constant(low)?, constant(self.bound)?, constant(self.step)?].map(i128::from));
        let largest = Range::of_width(self.init.ty().int_width().unwrap_or(64)).high;
        match ends() {
            Some([low, bound, step]) if 0 <= low && low < bound && 0 < step && bound + step <= largest => {
                let last = low + (bound - 1 - low) / step * step;
                if last + most < bound { Rounds::Whole } else { Rounds::Counted }
            }
            _ => Rounds::Unknown,
        }
    }

    /// The loop that threads share, from `low`; a thread's number is `own` further. What is carried, behind it.
    fn rounds(
        &self,
        b: Builder<'c>,
        parallel: Op<'c>,
        (low, own): (Value<'c>, Value<'c>),
        known: Rounds,
    ) -> Vec<Value<'c>> {
        let less = if self.unsigned { "ult" } else { "slt" };
        let inits: Vec<_> = self.carried.iter().map(|carried| carried.init).collect();
        let (made, round) = match known {
            Rounds::Unknown => {
                let inits: Vec<_> = std::iter::once(low).chain(inits).collect();
                let made = b.scf_while(&inits, &inits.iter().map(|init| init.ty()).collect::<Vec<_>>());
                let test = made.region(0).entry();
                let b = Builder::at_end(test, b.loc);
                b.scf_condition(b.cmpi(less, test.arg(0), self.bound), &test.args());
                (made, made.region(1).entry())
            }
            Rounds::Counted | Rounds::Whole => {
                let made = b.scf_for(low, self.bound, self.step, &inits);
                (made, made.body())
            }
        };
        let b = Builder::at_end(round, b.loc);
        Barrier::create(b, &parallel.body().args());
        let number = b.arith("addi", round.arg(0), own);
        let mut mapping = Mapping::new();
        mapping.map(self.variable, number);
        let now = &round.args()[1..];
        for (carried, now) in self.carried.iter().zip(now) {
            mapping.map(carried.now, *now);
        }
        let next = if known == Rounds::Whole {
            self.all_take_part(b, &mut mapping)
        } else {
            let inside = b.cmpi(less, number, self.bound);
            self.those_take_part(b, inside, &mut mapping, now).results()
        };
        if known != Rounds::Unknown {
            b.scf_yield(&next);
            return made.results();
        }
        let next = std::iter::once(b.arith("addi", round.arg(0), self.step)).chain(next);
        b.scf_yield(&next.collect::<Vec<_>>());
        made.results().split_off(1)
    }

    /// A round of all threads; gives what is carried on.
    fn all_take_part(&self, b: Builder<'c>, mapping: &mut Mapping<'c>) -> Vec<Value<'c>> {
        b.clone_body(self.body, mapping);
        self.carried.iter().map(|carried| mapping.get(carried.next).unwrap_or(carried.next)).collect()
    }

    /// A round of the threads that are `inside`; the others carry on what they have `now`.
    fn those_take_part(
        &self,
        b: Builder<'c>,
        inside: Value<'c>,
        mapping: &mut Mapping<'c>,
        now: &[Value<'c>],
    ) -> Op<'c> {
        let types = self.types();
        let guard = b.scf_if(inside, &types, !types.is_empty());
        let taken = Builder::at_end(guard.body(), b.loc);
        taken.scf_yield(&self.all_take_part(taken, mapping));
        if !types.is_empty() {
            Builder::at_end(guard.region(1).entry(), b.loc).scf_yield(now);
        }
        guard
    }
}

/// What is known of the rounds that threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounds {
    Unknown,
    /// How many they are.
    Counted,
    /// That too, and that all threads make each of them.
    Whole,
}

/// A number of so many bits as the signed one of the same bits.
fn wrapped(value: i128, bits: u32) -> i64 {
    if bits == 32 { i64::from(value as u32 as i32) } else { value as i64 }
}

/// Whether an address is of memory of the thread.
fn is_local(address: Value<'_>) -> bool {
    object_of(root(address)) == Some(Object::Local)
}

/// Whether an operation only loads, computes, stores and adds up, elsewhere than in memory of the thread.
fn is_plain(op: Op<'_>) -> bool {
    let plain = || !op.has_attr("volatile_") && op.attr("ordering").and_then(|o| o.as_int()).unwrap_or(0) == 0;
    match op.name() {
        "llvm.load" => plain() && !is_local(op.operand(0)),
        "llvm.store" => plain() && !is_local(op.operand(1)),
        // Whichever thread comes first, what all add up is the same.
        "llvm.atomicrmw" => !op.result(0).has_uses() && reduction(op).is_some(),
        "llvm.call" => computes(op),
        "scf.if" => true,
        _ => op.is_terminator() || (op.num_regions() == 0 && op.is_memory_effect_free()),
    }
}

/// A number as the sum of one that the threads share and one of their own, from 0 to `most`.
struct Start<'c> {
    /// `None` is 0.
    low: Option<Value<'c>>,
    own: Option<Value<'c>>,
    most: i128,
}

/// Takes numbers apart.
struct Starts<'c, 'u> {
    parallel: Op<'c>,
    uniform: &'u Uniformity<'c>,
    b: Builder<'c>,
    /// What must hold, the same in all threads.
    checks: Vec<Value<'c>>,
}

impl<'c> Starts<'c, '_> {
    fn of(&mut self, value: Value<'c>, depth: u32) -> Option<Start<'c>> {
        if self.uniform.is_uniform(value) {
            return Some(Start { low: Some(value), own: None, most: 0 });
        }
        let op = value.defining_op().filter(|_| depth > 0)?;
        let (_, short) = op.name().split_once('.')?;
        match short {
            "index_cast" | "index_castui" => {
                let number = op.operand(0).block_arg().filter(|(block, _)| *block == self.parallel.body())?.1;
                let most = self.threads(number)? - 1;
                Some(Start { low: None, own: Some(value), most })
            }
            "add" | "addi" => self.sum(op, depth - 1),
            "mul" | "muli" => self.product(op, depth - 1),
            "zext" | "extui" => self.extended(op, false, depth - 1),
            "sext" | "extsi" => self.extended(op, true, depth - 1),
            _ => None,
        }
    }

    /// The most threads of a dimension.
    fn threads(&self, dimension: usize) -> Option<i128> {
        range(self.parallel.body().arg(dimension)).map(|found| found.high + 1).filter(|most| (1..=1024).contains(most))
    }

    fn both(&self, name: &str, a: Option<Value<'c>>, b: Option<Value<'c>>) -> Option<Value<'c>> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.b.arith(name, a, b)),
            (one, other) => one.or(other),
        }
    }

    fn sum(&mut self, op: Op<'c>, depth: u32) -> Option<Start<'c>> {
        let (a, b) = (self.of(op.operand(0), depth)?, self.of(op.operand(1), depth)?);
        let low = self.both("addi", a.low, b.low);
        let own = self.both("addi", a.own, b.own);
        Some(Start { low, own, most: a.most + b.most }).filter(|sum| sum.most <= FARTHEST)
    }

    /// A product with a number that the threads share: a small constant, or the threads of a dimension.
    fn product(&mut self, op: Op<'c>, depth: u32) -> Option<Start<'c>> {
        let (left, right) = (op.operand(0), op.operand(1));
        let (varying, factor) = if self.uniform.is_uniform(right) { (left, right) } else { (right, left) };
        let most = self.largest(factor).filter(|_| self.uniform.is_uniform(factor))?;
        let start = self.of(varying, depth)?;
        let times = |value: Value<'c>| self.b.arith("muli", value, factor);
        let made = Start { low: start.low.map(times), own: start.own.map(times), most: start.most.checked_mul(most)? };
        Some(made).filter(|product| product.most <= FARTHEST)
    }

    /// The most that a factor may be, none of which is negative.
    fn largest(&self, factor: Value<'c>) -> Option<i128> {
        if let Some(number) = constant(factor) {
            return Some(number.into()).filter(|number| *number >= 0);
        }
        let rank = self.parallel.body().num_args();
        let is_size = |dimension: &usize| {
            let size = self.parallel.operand(rank + dimension);
            size.defining_op().is_some_and(|op| op.is("arith.index_castui") && op.operand(0) == factor)
        };
        (0..rank).find(is_size).and_then(|dimension| self.threads(dimension))
    }

    /// A number made wider: the sum must not wrap in the narrow type.
    fn extended(&mut self, op: Op<'c>, signed: bool, depth: u32) -> Option<Start<'c>> {
        let start = self.of(op.operand(0), depth)?;
        let (narrow, wide) = (op.operand(0).ty(), op.result(0).ty());
        let bits = narrow.int_width().filter(|bits| *bits == 32)?;
        if let Some(low) = start.low {
            let all = if signed { Range::of_width(bits).high } else { (1 << bits) - 1 };
            let limit = self.b.const_int(narrow, wrapped(all - start.most, bits));
            self.checks.push(self.b.cmpi(if signed { "sle" } else { "ule" }, low, limit));
        }
        let low = start.low.map(|low| self.b.value(if signed { "arith.extsi" } else { "arith.extui" }, &[low], wide));
        let own = start.own.map(|own| self.b.value("arith.extui", &[own], wide));
        Some(Start { low, own, most: start.most })
    }
}
