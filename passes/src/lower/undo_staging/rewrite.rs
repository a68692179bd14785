//! Makes the version without tiles, and the condition that decides.

use mlir_bridge::ir::{Builder, Mapping, Op, Value};
use regrain_dialects::{attributes::CONVEX, ops::Barrier};

use super::{
    Instead, MOST_PAIRS, Undone,
    block::{self, is_shared_root},
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
                free.find_named(Barrier::NAME).into_iter().for_each(Op::erase);
            }
            eliminate(free);
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
        let even = |at: &Even| symbols.is_even_in_x(&at.base) && !at.steps.iter().any(|step| symbols.names_x(step));
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
            let own = own.map(|instead| (&instead.at, instead.load.result(0).ty().layout(self.parallel).0));
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
        let hoisted = self.instead.iter().map(|instead| Hoisted::of(sums, &instead.at)).collect::<Option<Vec<_>>>()?;
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
        for (instead, hoisted) in self.instead.iter().zip(hoisted) {
            if let Some(load) = mapping.get_op(instead.load) {
                // A loop that does not count has no part in the address.
                let counted = block::loops_around(load).into_iter().map(|op| op.body().args().first().copied());
                let threads = mapping.get_op(self.parallel).map(|parallel| parallel.body().args()).unwrap_or_default();
                hoisted.replace(load, instead, &threads.into_iter().map(Some).chain(counted).collect::<Vec<_>>());
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
    for (at, bytes) in together(accesses) {
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

/// Accesses of the same steps as one.
fn together<'a>(accesses: impl Iterator<Item = (&'a Even, u64)>) -> Vec<(Even, i128)> {
    let mut found: Vec<(Even, i128)> = Vec::new();
    for (at, bytes) in accesses {
        let alike = |other: &Even| {
            let distance = at.base.plus(&other.base, &-1).as_constant();
            distance.filter(|_| (&at.steps, &at.low, &at.high) == (&other.steps, &other.low, &other.high))
        };
        let other = found.iter_mut().find_map(|(other, bytes)| alike(other).map(|distance| (other, bytes, distance)));
        match other {
            Some((other, most, distance)) => {
                let last = (distance + i128::from(bytes)).max(*most);
                *most = last - distance.min(0);
                other.base = if distance < 0 { at.base.clone() } else { other.base.clone() };
            }
            None => found.push((at.clone(), bytes.into())),
        }
    }
    found
}

/// What is the same for all threads of an address.
pub(super) struct Hoisted<'c> {
    base: Value<'c>,
    /// In each direction what a step adds, if anything.
    steps: Vec<Option<Value<'c>>>,
}

impl<'c> Hoisted<'c> {
    pub fn of(sums: &mut Emitter<'_, 'c>, at: &Even) -> Option<Self> {
        let mut steps = Vec::new();
        for step in &at.steps {
            steps.push(if step.is_zero() { None } else { Some(sums.sum(step)?) });
        }
        Some(Self { base: sums.sum(&at.base)?, steps })
    }

    /// Bytes to the address of a place.
    pub fn address(&self, b: Builder<'c>, place: &[Option<Value<'c>>]) -> Value<'c> {
        let i64 = b.ctx().int(64);
        let mut at = self.base;
        for (step, number) in self.steps.iter().zip(place) {
            if let (Some(step), Some(number)) = (step, number) {
                let number = match number.ty() {
                    ty if ty == i64 => *number,
                    ty if ty.is_index() => b.index_cast(*number, i64),
                    _ => b.value("arith.extsi", &[*number], i64),
                };
                at = b.arith("addi", at, b.arith("muli", number, *step));
            }
        }
        at
    }

    /// Lets a load read at the address.
    fn replace(&self, load: Op<'c>, instead: &Instead<'c>, place: &[Option<Value<'c>>]) {
        let b = Builder::before(load);
        let at = self.address(b, place);
        let spec = b.op("llvm.load").operands(&[b.llvm_byte_at(instead.root, at)]).result(load.result(0).ty());
        let read = spec.attr("alignment", b.ctx().i64_attr(instead.alignment)).build();
        load.replace_with(&[read.result(0)]);
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
