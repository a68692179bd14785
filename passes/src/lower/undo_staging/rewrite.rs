//! Makes the version without tiles, and the condition that decides.

use std::collections::HashMap;

use mlir_bridge::ir::{Block, Builder, Mapping, Op, Value};
use regrain_dialects::{attributes::CONVEX, ops::Barrier};

use super::{
    Instead, MOST_PAIRS, Undone,
    block::{self, is_shared_root},
    distances::{Distance, Together},
    rounds,
    sums::{Emitter, Even, Sum},
};
use crate::analysis::{objects::root, uniformity::computes};
use crate::optimise::eliminate_redundant_barriers::eliminate;

impl<'c> Undone<'c> {
    /// Makes two versions of the block loop.
    pub fn rewrite(self) {
        let mut sums = Emitter::new(&self.accesses.thread.symbols, Builder::before(self.parallel));
        let Some(condition) = self.condition(&mut sums) else { return };
        let Some(versions) = self.both(&mut sums, condition) else { return };
        if self.is_convex() {
            versions.set_attr(CONVEX, versions.ctx().unit_attr());
        }
        if let Some(free) = versions.body().first_op() {
            sweep(free);
            if self.unordered {
                part_rounds(free);
            } else {
                eliminate(free);
            }
        }
    }

    /// Whether a block can go without its tiles.
    fn condition(&self, sums: &mut Emitter<'_, 'c>) -> Option<Value<'c>> {
        let b = sums.b;
        let mut all: Option<Value<'c>> = None;
        let mut join = |more| all = Some(all.map_or(more, |all| b.arith("andi", all, more)));
        for demand in &self.demands {
            let sum = sums.sum(demand)?;
            join(b.cmpi("sge", sum, sums.number(0)));
        }
        let mut ways = vec![all];
        for (behind, before) in self.apart(sums)? {
            let with = |more| ways.iter().map(move |way| Some(way.map_or(more, |way| b.arith("andi", way, more))));
            ways = with(behind).chain(with(before)).collect();
        }
        let any = ways.into_iter().flatten().reduce(|some, other| b.arith("ori", some, other));
        Some(any.unwrap_or_else(|| b.const_int(b.ctx().int(1), 1)))
    }

    /// Whether each way of the condition holds for all blocks between two of a row for which it holds: it asks for sums that grow
    /// evenly from block to block.
    fn is_convex(&self) -> bool {
        let symbols = &self.accesses.thread.symbols;
        let places = self.instead.iter().map(|instead| &instead.at);
        let mut places = places.chain(self.written.iter().map(|written| &written.at));
        let even = |at: &Even| {
            let rounds = symbols.by_rounds(&at.base).map(|(_, rounds)| rounds).unwrap_or_default();
            symbols.is_even_in_x(&at.base) && !at.steps.iter().chain(rounds.values()).any(|step| symbols.names_x(step))
        };
        self.demands.iter().all(|sum| symbols.is_even_in_x(sum)) && places.all(even)
    }

    /// Of each array that is written and each that is read: whether it is behind all that is read of the other, or before.
    fn apart(&self, sums: &mut Emitter<'_, 'c>) -> Option<Vec<(Value<'c>, Value<'c>)>> {
        let roots = |roots: Vec<Value<'c>>| {
            let mut different = Vec::new();
            for root in roots {
                if !different.contains(&root) {
                    different.push(root);
                }
            }
            different
        };
        let read = roots(self.instead.iter().map(|instead| instead.root).collect());
        let written = roots(self.written.iter().map(|written| written.root).collect());
        if read.len() * written.len() > MOST_PAIRS {
            return None;
        }
        let mut ranges = Vec::new();
        for root in read {
            let own = self.instead.iter().filter(|instead| instead.root == root);
            let own = own.map(|instead| (&instead.at, instead.value.ty().layout(self.parallel).0));
            ranges.push(range(sums, root, own)?);
        }
        let mut found = Vec::new();
        for root in written {
            let own = self.written.iter().filter(|written| written.root == root);
            let [low, high] = range(sums, root, own.map(|written| (&written.at, written.bytes)))?;
            let b = sums.b;
            found.extend(ranges.iter().map(|[first, last]| (b.cmpi("sge", low, *last), b.cmpi("sle", high, *first))));
        }
        Some(found)
    }

    /// The choice between a version without tiles and the loop as it was.
    fn both(&self, sums: &mut Emitter<'_, 'c>, condition: Value<'c>) -> Option<Op<'c>> {
        let hoisted = Hoisted::all(sums, &self.instead)?;
        let b = sums.b;
        let versions = b.scf_if(condition, &[], true);
        let mut mapping = Mapping::new();
        let inside = versions.regions().into_iter().map(|region| {
            let end = Builder::at_end(region.entry(), b.loc);
            (end, end.scf_yield(&[]))
        });
        let inside: Vec<_> = inside.collect();
        Builder::before(inside[0].1).clone_op(self.parallel, &mut mapping);
        self.parallel.move_before(inside[1].1);
        let mut products = Products::default();
        for op in rounds::all_together(self.parallel) {
            let variable = op.body().arg(0);
            products.numbers.extend(mapping.get(variable).map(|made| (variable, made)));
        }
        for (instead, hoisted) in self.instead.iter().zip(hoisted) {
            let threads = mapping.get_op(self.parallel).map(|parallel| parallel.body().args()).unwrap_or_default();
            if let Some(value) = mapping.get(instead.value) {
                // A loop that does not count has no part in the address.
                let counted = block::loops_around(value).into_iter().map(|op| op.body().args().first().copied());
                let place: Vec<_> = threads.into_iter().map(Some).chain(counted).collect();
                hoisted.replace(value, instead, &place, &mut products);
            }
        }
        for store in self.parallel.find_named("llvm.store") {
            if is_shared_root(root(store.operand(1)))
                && let Some(store) = mapping.get_op(store)
            {
                store.erase();
            }
        }
        for op in self.parallel.find_named("scf.if") {
            if let Some(Some(truth)) = self.accesses.decisions.get(&op)
                && let Some(op) = mapping.get_op(op)
            {
                take_branch(op, *truth);
            }
        }
        for op in rounds::all_together(self.parallel) {
            if let Some(made) = mapping.get_op(op) {
                let args = op.body().args();
                let is_read = |number: usize| self.instead.iter().any(|instead| instead.value == args[1 + number]);
                rounds::hand_on(made, is_read, &products.of_rounds(made));
            }
        }
        Some(versions)
    }
}

/// The first address of some accesses, and that behind the last, i64.
fn range<'a, 'c>(
    sums: &mut Emitter<'_, 'c>,
    root: Value<'c>,
    accesses: impl Iterator<Item = (&'a Even, u64)>,
) -> Option<[Value<'c>; 2]> {
    let b = sums.b;
    let start = b.value("llvm.ptrtoint", &[root], b.ctx().int(64));
    let mut ends: Option<[Value<'c>; 2]> = None;
    for Together { at, bytes, rounds: further } in Together::all(sums.symbols, accesses) {
        let (mut low, mut high) = (at.base.clone(), at.base.plus(&Sum::constant(bytes), &1));
        let mut open = Vec::new();
        for number in at.directions() {
            let [near, far] = [at.low[number], at.high[number]].map(|place| at.steps[number].scaled(&place.into()));
            match at.steps[number].as_constant() {
                Some(step) => {
                    let (least, most) = if step > 0 { (&near, &far) } else { (&far, &near) };
                    (low, high) = (low.plus(least, &1), high.plus(most, &1));
                }
                None => open.push((sums.sum(&near)?, sums.sum(&far)?)),
            }
        }
        let (low, rounds) = sums.symbols.by_rounds(&low)?;
        let (high, _) = sums.symbols.by_rounds(&high)?;
        for (round, step) in rounds {
            let (_, ends) = sums.symbols.counted(round)?;
            let further = further.get(&round).copied().unwrap_or_default();
            let ends = [0, 1].map(|end| ends[end].plus(&Sum::constant(further[end].into()), &1));
            let [near, far] = ends.map(|end| sums.sum(&step.times(&end)));
            open.push((near?, far?));
        }
        let mut own = [sums.sum(&low)?, sums.sum(&high)?].map(|end| b.arith("addi", start, end));
        for (near, far) in open {
            own[0] = b.arith("addi", own[0], b.arith("minsi", near, far));
            own[1] = b.arith("addi", own[1], b.arith("maxsi", near, far));
        }
        ends = Some(match ends {
            Some([low, high]) => [b.arith("minsi", low, own[0]), b.arith("maxsi", high, own[1])],
            None => own,
        });
    }
    ends
}

/// An address by what is the same for all threads.
pub(super) struct Hoisted<'c> {
    base: Value<'c>,
    bytes: i64,
    /// In each direction what a step adds, if anything, and how many of them are more than the thread's own.
    steps: Vec<Option<(Value<'c>, i64)>>,
    /// What the rounds of loops add, by their variables.
    rounds: Vec<(Value<'c>, Value<'c>, i64)>,
}

impl<'c> Hoisted<'c> {
    /// Addresses; those that are told apart by steps have one base.
    fn all(sums: &mut Emitter<'_, 'c>, instead: &[Instead<'c>]) -> Option<Vec<Self>> {
        let mut bases: Vec<&Instead<'c>> = Vec::new();
        let mut found = Vec::new();
        for own in instead {
            let mut known = bases.iter().filter(|base| base.root == own.root);
            let near = known.find_map(|base| Some((*base, Distance::between(sums.symbols, &base.at, &own.at)?)));
            let (base, distance) = near.unwrap_or_else(|| {
                bases.push(own);
                (own, Distance::default())
            });
            found.push(Self::of(sums, &base.at, &distance)?);
        }
        Some(found)
    }

    /// So far from a known one.
    pub fn of(sums: &mut Emitter<'_, 'c>, at: &Even, distance: &Distance) -> Option<Self> {
        let mut steps = Vec::new();
        for (number, step) in at.steps.iter().enumerate() {
            let further = distance.steps.get(number).copied().unwrap_or(0);
            steps.push(if step.is_zero() { None } else { Some((sums.sum(step)?, further)) });
        }
        let (base, by_rounds) = sums.symbols.by_rounds(&at.base)?;
        let mut rounds = Vec::new();
        for (round, step) in by_rounds {
            let (variable, _) = sums.symbols.counted(round)?;
            rounds.push((variable, sums.sum(&step)?, distance.rounds.get(&round).copied().unwrap_or(0)));
        }
        Some(Self { base: sums.sum(&base)?, bytes: distance.bytes, steps, rounds })
    }

    /// Bytes to the address of a place, with `product` of a number and a step.
    pub fn address(
        &self,
        b: Builder<'c>,
        place: &[Option<Value<'c>>],
        mut product: impl FnMut(Value<'c>, Value<'c>) -> Value<'c>,
    ) -> Value<'c> {
        let number = |number: i64| b.const_int(b.ctx().int(64), number);
        let steps = self.steps.iter().zip(place).filter_map(|(step, number)| Some(((*number)?, (*step)?)));
        let rounds = self.rounds.iter().map(|(variable, step, further)| (*variable, (*step, *further)));
        let mut at = self.base;
        for (own, (step, further)) in steps.chain(rounds) {
            at = b.arith("addi", at, product(own, step));
            if further != 0 {
                at = b.arith("addi", at, b.arith("muli", step, number(further)));
            }
        }
        if self.bytes == 0 { at } else { b.arith("addi", at, number(self.bytes)) }
    }

    /// Lets a value be read at the address: where it was loaded, or as a round begins to which it was handed on.
    fn replace(
        &self,
        value: Value<'c>,
        instead: &Instead<'c>,
        place: &[Option<Value<'c>>],
        products: &mut Products<'c>,
    ) {
        let load = value.defining_op();
        let start = || value.parent_block().and_then(|block| products.behind(block));
        let Some(b) = load.map(Builder::before).or_else(start) else { return };
        let at = b.llvm_byte_at(instead.root, self.address(b, place, |number, step| products.of(number, step)));
        let spec = b.op("llvm.load").operands(&[at]).result(value.ty());
        let read = spec.attr("alignment", b.ctx().i64_attr(instead.alignment)).build();
        value.replace_all_uses_with(read.result(0));
        if let Some(load) = load {
            load.erase();
        }
    }
}

/// A product of a number and a step, i64.
pub(super) fn product<'c>(b: Builder<'c>, number: Value<'c>, step: Value<'c>) -> Value<'c> {
    let i64 = b.ctx().int(64);
    let wide = match number.ty() {
        ty if ty == i64 => number,
        ty if ty.is_index() => b.index_cast(number, i64),
        _ => b.value("arith.extsi", &[number], i64),
    };
    b.arith("muli", wide, step)
}

/// Products of a thread's or a round's number and a step, each made once, where the number begins.
#[derive(Default)]
struct Products<'c> {
    /// What became of the numbers in the version without tiles.
    numbers: HashMap<Value<'c>, Value<'c>>,
    made: Vec<Product<'c>>,
    /// Where the products of a block end.
    ends: HashMap<Block<'c>, Op<'c>>,
}

struct Product<'c> {
    number: Value<'c>,
    step: Value<'c>,
    value: Value<'c>,
}

impl<'c> Products<'c> {
    fn of(&mut self, number: Value<'c>, step: Value<'c>) -> Value<'c> {
        let number = self.numbers.get(&number).copied().unwrap_or(number);
        if let Some(known) = self.made.iter().find(|known| (known.number, known.step) == (number, step)) {
            return known.value;
        }
        let block = number.parent_block().expect("a number is an argument of a block");
        let value = product(Builder::at_start(block, number.loc()), number, step);
        if let Some(op) = value.defining_op() {
            self.ends.entry(block).or_insert(op);
        }
        self.made.push(Product { number, step, value });
        value
    }

    /// Where what needs the products of a block may begin.
    fn behind(&self, block: Block<'c>) -> Option<Builder<'c>> {
        self.ends.get(&block).map(|op| Builder::after(*op)).or_else(|| block.first_op().map(Builder::before))
    }

    /// The products of the rounds of a loop, with the steps.
    fn of_rounds(&self, op: Op<'c>) -> Vec<(Value<'c>, Value<'c>)> {
        let own = self.made.iter().filter(|product| product.number == op.body().arg(0));
        own.map(|product| (product.value, product.step)).collect()
    }
}

/// Leaves no barriers but one at the end of each round that threads go through together: what a round writes another one may read, and
/// threads that went through all rounds one by one would read far apart what they now read side by side.
fn part_rounds(parallel: Op<'_>) {
    let loops = rounds::all_together(parallel);
    parallel.find_named(Barrier::NAME).into_iter().for_each(Op::erase);
    for op in loops {
        Barrier::create(Builder::before_terminator(op.body(), op.loc()), &parallel.body().args());
    }
}

/// Puts what a condition takes in its place.
fn take_branch(op: Op<'_>, truth: bool) {
    let Some(block) = op.region(usize::from(!truth)).first_block() else {
        if op.num_results() == 0 {
            op.erase();
        }
        return;
    };
    let values = block.terminator().map(Op::operands).unwrap_or_default();
    for inner in block.ops() {
        if !inner.is_terminator() {
            inner.move_before(op);
        }
    }
    op.replace_with(&values);
}

/// Removes what nobody uses any more.
fn sweep(parallel: Op<'_>) {
    loop {
        let dead = parallel.find_all(|op| op != parallel && !op.is_terminator() && is_dead(op));
        if dead.is_empty() {
            return;
        }
        // A dead operation that holds others goes with them.
        let outermost = |op: &&Op<'_>| !dead.iter().any(|other| other.is_proper_ancestor_of(**op));
        let outermost: Vec<_> = dead.iter().filter(outermost).copied().collect();
        outermost.into_iter().rev().for_each(Op::erase);
    }
}

fn is_dead(op: Op<'_>) -> bool {
    let unused = || op.results().into_iter().all(|result| !result.has_uses());
    op.is_trivially_dead() || op.is("llvm.call") && computes(op) && unused()
}
