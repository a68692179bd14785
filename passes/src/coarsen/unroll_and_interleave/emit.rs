//! The mutation: one loop whose body holds the statements of all copies, interleaved.

use std::collections::{HashMap, HashSet};

use mlir_bridge::ir::{Block, Builder, Mapping, Op, Region, Type, Value};

use regrain_dialects::ops::{
    Barrier, BarrierReduce, DynamicShared, LaneId, ReduceKind, Shared, WarpBarrier, is_lane_or_warp, is_synchronising,
    thread_loop,
};

use super::{Indexing, Unroll, legality::Plan};
use crate::analysis::facts::constant;
use crate::analysis::trips;

/// The least alignment of a block's region of dynamic shared memory.
pub const REGION: i64 = 16;

/// Replaces `nest` by the unrolled loop, which runs `extent` times in the unrolled dimension.
pub fn unroll<'c>(nest: Op<'c>, unroll: &Unroll, plan: &Plan<'c>, extent: Value<'c>) -> Op<'c> {
    number_threads(nest, unroll.whole_warps);
    let made = new_loop(nest, unroll, extent);
    let start = Builder::before_terminator(made.body(), nest.loc());
    let mut emitter = Emitter {
        nest,
        made,
        plan,
        copies: (0..unroll.factor).map(|_| Mapping::new()).collect(),
        masks: None,
        renamed: HashMap::new(),
    };
    emitter.map_induction_variables(start, unroll, extent);
    emitter.block(nest.body(), start);
    emitter.name_loop();
    nest.erase();
    separate_names(made);
    made
}

/// The lane and the warp of a thread as computed from its indices, as far as the unrolled loop does not know them itself.
fn number_threads(nest: Op<'_>, whole_warps: bool) {
    let (ivs, operands) = (nest.body().args(), nest.operands());
    for op in nest.find_all(is_lane_or_warp) {
        let lane = LaneId::is(op);
        if thread_loop(op) != Some(nest) || (lane && whole_warps) {
            continue;
        }
        let b = Builder::before(op);
        let word = b.ctx().int(32);
        let mut thread = None;
        for dimension in (0..ivs.len()).rev() {
            let iv = b.index_cast(ivs[dimension], word);
            let size = b.index_cast(operands[ivs.len() + dimension], word);
            thread = Some(thread.map_or(iv, |rest| b.arith("addi", iv, b.arith("muli", size, rest))));
        }
        let Some(thread) = thread else { continue };
        let number =
            if lane { b.arith("andi", thread, b.const_i32(31)) } else { b.arith("shrui", thread, b.const_i32(5)) };
        op.replace_with(&[number]);
    }
}

fn is_constant(value: Value<'_>, number: i64) -> bool {
    constant(value) == Some(number)
}

/// An empty loop with the new number of iterations.
fn new_loop<'c>(nest: Op<'c>, unroll: &Unroll, extent: Value<'c>) -> Op<'c> {
    let rank = nest.body().num_args();
    let b = Builder::before(nest);
    let operands = nest.operands();
    let mut bounds =
        [operands[..rank].to_vec(), operands[rank..2 * rank].to_vec(), operands[2 * rank..3 * rank].to_vec()];
    let dimension = unroll.dimension;
    if !is_constant(bounds[0][dimension], 0) {
        bounds[0][dimension] = b.const_index(0);
    }
    if !is_constant(bounds[2][dimension], 1) {
        bounds[2][dimension] = b.const_index(1);
    }
    bounds[1][dimension] = extent;
    let made = b.scf_parallel(&bounds[0], &bounds[1], &bounds[2]);
    copy_attrs(nest, made);
    made
}

fn copy_attrs(from: Op<'_>, to: Op<'_>) {
    for (name, attr) in from.attrs() {
        if name != "operandSegmentSizes" {
            to.set_attr(name, attr);
        }
    }
}

pub struct Emitter<'a, 'c> {
    nest: Op<'c>,
    made: Op<'c>,
    pub plan: &'a Plan<'c>,
    pub copies: Vec<Mapping<'c>>,
    /// Which copies come here, where not all do.
    pub masks: Option<Vec<Value<'c>>>,
    /// The new loop's own induction variable for those of the copies.
    renamed: HashMap<Value<'c>, Value<'c>>,
}

impl<'c> Emitter<'_, 'c> {
    fn map_induction_variables(&mut self, b: Builder<'c>, unroll: &Unroll, extent: Value<'c>) {
        let (old, new) = (self.nest.body().args(), self.made.body().args());
        for (dimension, (old, new)) in old.iter().zip(&new).enumerate() {
            let values = match dimension == unroll.dimension {
                true => self.original_indices(b, unroll, extent, *new),
                false => vec![*new; self.copies.len()],
            };
            for (copy, value) in self.copies.iter_mut().zip(values) {
                copy.map(*old, value);
                self.renamed.insert(value, *new);
            }
        }
    }

    /// The induction variable that each copy had in the original loop.
    fn original_indices(&self, b: Builder<'c>, unroll: &Unroll, extent: Value<'c>, iv: Value<'c>) -> Vec<Value<'c>> {
        let times = |value: Value<'c>, factor: usize| match (constant(value), factor as i64) {
            (_, 1) => value,
            (Some(known), factor) => b.const_index(known * factor),
            (None, factor) => b.arith("muli", value, b.const_index(factor)),
        };
        let rank = self.nest.body().num_args();
        let (lower, step) = (self.nest.operand(unroll.dimension), self.nest.operand(2 * rank + unroll.dimension));
        let first = match unroll.indexing {
            Indexing::Strided => iv,
            Indexing::Adjacent => times(iv, unroll.factor),
        };
        let nth = |number: usize| {
            let count = match (number, unroll.indexing) {
                (0, _) => first,
                (_, Indexing::Strided) => b.arith("addi", first, times(extent, number)),
                (_, Indexing::Adjacent) => b.arith("addi", first, b.const_index(number as i64)),
            };
            let scaled = if is_constant(step, 1) { count } else { b.arith("muli", count, step) };
            if is_constant(lower, 0) { scaled } else { b.arith("addi", lower, scaled) }
        };
        (0..unroll.factor).map(nth).collect()
    }

    /// Synchronising operations name the new loop, not the indices of a copy.
    fn name_loop(&self) {
        for op in self.made.find_all(|op| is_synchronising(op) || is_lane_or_warp(op)) {
            for (number, operand) in op.operands().into_iter().enumerate() {
                if let Some(iv) = self.renamed.get(&operand) {
                    op.set_operand(number, *iv);
                }
            }
        }
    }

    pub fn block(&mut self, from: Block<'c>, b: Builder<'c>) {
        if self.masks.is_some() {
            return self.masked_block(from, b);
        }
        for op in from.ops() {
            if !op.is_terminator() {
                self.statement(op, b.with_loc(op.loc()));
            }
        }
    }

    pub fn statement(&mut self, op: Op<'c>, b: Builder<'c>) {
        match op.name() {
            _ if self.plan.jammed.contains(&op) => self.jam(op, b),
            Barrier::NAME => self.once(op, b),
            WarpBarrier::NAME if self.is_same(op.operand(0)) => self.once(op, b),
            BarrierReduce::NAME if thread_loop(op) == Some(self.nest) => self.reduce(op, b),
            BarrierReduce::NAME => self.reduce_each(op, b),
            DynamicShared::NAME => self.regions(op, b),
            _ if op.num_regions() == 0 && op.is_pure() && op.operands().iter().all(|value| self.is_same(*value)) => {
                self.once(op, b);
            }
            _ => self.replicate(op, b),
        }
    }

    /// Whether all copies have one value for this.
    pub fn is_same(&self, value: Value<'c>) -> bool {
        let first = self.first(value);
        self.copies.iter().all(|copy| copy.get_or_self(value) == first)
    }

    pub fn first(&self, value: Value<'c>) -> Value<'c> {
        self.copies[0].get_or_self(value)
    }

    /// One operation for all copies.
    fn once(&mut self, op: Op<'c>, b: Builder<'c>) {
        b.clone_op(op, &mut self.copies[0]);
        for result in op.results() {
            let made = self.first(result);
            self.map_all(result, made);
        }
    }

    fn map_all(&mut self, from: Value<'c>, to: Value<'c>) {
        for copy in &mut self.copies {
            copy.map(from, to);
        }
    }

    pub fn replicate(&mut self, op: Op<'c>, b: Builder<'c>) {
        for copy in &mut self.copies {
            b.clone_op(op, copy);
        }
    }

    /// The iterations of one new iteration join their predicates first; counts are added up after.
    fn reduce(&mut self, op: Op<'c>, b: Builder<'c>) {
        let (join, neutral) = match BarrierReduce::cast(op).map(BarrierReduce::kind) {
            Some(ReduceKind::And) => ("andi", true),
            Some(ReduceKind::Or) => ("ori", false),
            Some(ReduceKind::Popc) | None => return self.count(op, b),
        };
        let predicates = self.predicates(op, neutral, b);
        let joined = predicates[1..].iter().fold(predicates[0], |joined, next| b.arith(join, joined, *next));
        let made = b.clone_op(op, &mut self.copies[0]);
        made.set_operand(0, joined);
        self.map_all(op.result(0), made.result(0));
    }

    fn count(&mut self, op: Op<'c>, b: Builder<'c>) {
        self.reduce_each(op, b);
        let counts: Vec<_> = self.copies.iter().map(|copy| copy.get_or_self(op.result(0))).collect();
        let sum = counts[1..].iter().fold(counts[0], |sum, next| b.arith("addi", sum, *next));
        self.map_all(op.result(0), sum);
    }

    /// Every copy reduces by itself.
    fn reduce_each(&mut self, op: Op<'c>, b: Builder<'c>) {
        let all = BarrierReduce::cast(op).is_some_and(|reduce| reduce.kind() == ReduceKind::And);
        let predicates = self.predicates(op, all, b);
        for (copy, predicate) in self.copies.iter_mut().zip(predicates) {
            b.clone_op(op, copy).set_operand(0, predicate);
        }
    }

    /// The dynamic shared memory is cut into one region for each copy.
    fn regions(&mut self, op: Op<'c>, b: Builder<'c>) {
        let ctx = op.ctx();
        let bytes = self.first(op.operand(0));
        let region = round_up(b, bytes, region_alignment(op));
        let factor = b.const_int(bytes.ty(), self.copies.len() as i64);
        let all = b.clone_op(op, &mut self.copies[0]);
        let total = Builder::before(all).arith("muli", region, factor);
        all.set_operand(0, total);
        let long = ctx.int(64);
        for number in 1..self.copies.len() {
            let offset = b.arith("muli", region, b.const_int(bytes.ty(), number as i64));
            let offset = match bytes.ty() {
                ty if ty.is_index() => b.index_castui(offset, long),
                ty if ty.is_int(64) => offset,
                _ => b.value("arith.extui", &[offset], long),
            };
            let spec = b.op("llvm.getelementptr").operands(&[all.result(0), offset]).result(ctx.ptr(3));
            let spec = spec.attr("rawConstantIndices", ctx.i32_array_attr(&[i32::MIN]));
            let address = spec.attr("elem_type", ctx.type_attr(ctx.int(8))).build().result(0);
            self.copies[number].map(op.result(0), address);
        }
    }

    /// How often a value that control flow carries is carried by the new one.
    fn times(&self, value: Value<'c>) -> usize {
        if self.plan.uniform.is_uniform(value) { 1 } else { self.copies.len() }
    }

    /// The types of what control flow carries in place of `values`.
    pub fn types(&self, values: &[Value<'c>]) -> Vec<Type<'c>> {
        values.iter().flat_map(|value| vec![value.ty(); self.times(*value)]).collect()
    }

    /// `values` of all copies, to be carried in place of `carried`.
    fn gather(&self, values: &[Value<'c>], carried: &[Value<'c>], b: Builder<'c>) -> Vec<Value<'c>> {
        let each = |(value, like): (&Value<'c>, &Value<'c>)| match self.times(*like) {
            1 => vec![self.leading(*value, b)],
            _ => self.copies.iter().map(|copy| copy.get_or_self(*value)).collect(),
        };
        values.iter().zip(carried).flat_map(each).collect()
    }

    /// Gives each copy what the new control flow carries in place of `carried`.
    pub fn bind(&mut self, carried: &[Value<'c>], made: &[Value<'c>]) {
        let mut made = made.iter();
        for value in carried {
            match self.times(*value) {
                1 => {
                    if let Some(one) = made.next() {
                        self.map_all(*value, *one);
                    }
                }
                _ => {
                    for (copy, own) in self.copies.iter_mut().zip(made.by_ref()) {
                        copy.map(*value, *own);
                    }
                }
            }
        }
    }

    fn jam(&mut self, op: Op<'c>, b: Builder<'c>) {
        match op.name() {
            _ if self.plan.masked.contains(&op) => self.jam_masked(op, b),
            "scf.for" => self.jam_for(op, b),
            "scf.while" => self.jam_while(op, b),
            "scf.parallel" => self.jam_parallel(op, b),
            _ => self.jam_branches(op, b),
        }
    }

    /// `scf.if` and `scf.index_switch`.
    fn jam_branches(&mut self, op: Op<'c>, b: Builder<'c>) {
        let results = op.results();
        let spec = b.op(op.name()).operands(&[self.leading(op.operand(0), b)]).results(&self.types(&results));
        let made = spec.attrs(&op.attrs()).regions(op.num_regions()).build();
        for (from, to) in op.regions().into_iter().zip(made.regions()) {
            if let Some(block) = from.first_block() {
                self.region(block, to, &results);
            }
        }
        self.bind(&results, &made.results());
    }

    /// One region without arguments, which ends in a yield.
    fn region(&mut self, from: Block<'c>, to: Region<'c>, results: &[Value<'c>]) {
        let block = to.append_block(&[], self.nest.loc());
        self.block(from, Builder::at_end(block, self.nest.loc()));
        self.yield_for(from, block, results);
    }

    pub fn yield_for(&mut self, from: Block<'c>, to: Block<'c>, carried: &[Value<'c>]) {
        let Some(end) = from.terminator() else { return };
        let b = Builder::at_end(to, end.loc());
        let values = self.gather(&end.operands(), carried, b);
        b.scf_yield(&values);
    }

    fn jam_for(&mut self, op: Op<'c>, b: Builder<'c>) {
        let operands = op.operands();
        let bounds: Vec<_> = operands[..3].iter().map(|bound| self.leading(*bound, b)).collect();
        let args = op.body().args();
        let carried = &args[1..];
        let distances = self.distances(op, bounds[0], b);
        let made = b.scf_for(bounds[0], bounds[1], bounds[2], &self.gather(&operands[3..], carried, b));
        copy_attrs(op, made);
        let body = made.body();
        let inside = Builder::at_end(body, op.loc());
        for (copy, distance) in self.copies.iter_mut().zip(distances) {
            copy.map(args[0], distance.map_or(body.arg(0), |distance| inside.arith("addi", body.arg(0), distance)));
        }
        self.bind(carried, &body.args()[1..]);
        self.block(op.body(), inside);
        self.yield_for(op.body(), body, carried);
        self.bind(&op.results(), &made.results());
    }

    /// How far each copy's loop begins from where the new one does; `None` where it begins there.
    fn distances(&self, op: Op<'c>, made: Value<'c>, b: Builder<'c>) -> Vec<Option<Value<'c>>> {
        if !trips::differ(op, &self.plan.uniform) {
            return vec![None; self.copies.len()];
        }
        let lowers = self.copies.iter().map(|copy| copy.get_or_self(op.operand(0)));
        lowers.map(|own| (own != made).then(|| b.arith("subi", own, made))).collect()
    }

    fn jam_while(&mut self, op: Op<'c>, b: Builder<'c>) {
        let (before, after) = (op.region(0).entry(), op.region(1).entry());
        let (args, results) = (before.args(), op.results());
        let made = b.scf_while(&self.gather(&op.operands(), &args, b), &self.types(&results));
        copy_attrs(op, made);
        let (new_before, new_after) = (made.region(0).entry(), made.region(1).entry());
        self.bind(&args, &new_before.args());
        self.block(before, Builder::at_end(new_before, op.loc()));
        if let Some(end) = before.terminator() {
            let b = Builder::at_end(new_before, end.loc());
            let passed = self.gather(&end.operands()[1..], &results, b);
            b.scf_condition(self.leading(end.operand(0), b), &passed);
        }
        self.bind(&after.args(), &new_after.args());
        self.block(after, Builder::at_end(new_after, op.loc()));
        self.yield_for(after, new_after, &args);
        self.bind(&results, &made.results());
    }

    fn jam_parallel(&mut self, op: Op<'c>, b: Builder<'c>) {
        let rank = op.body().num_args();
        let bounds: Vec<_> = op.operands().iter().map(|bound| self.leading(*bound, b)).collect();
        let made = b.scf_parallel(&bounds[..rank], &bounds[rank..2 * rank], &bounds[2 * rank..3 * rank]);
        copy_attrs(op, made);
        for (old, new) in op.body().args().into_iter().zip(made.body().args()) {
            self.map_all(old, new);
        }
        self.block(op.body(), Builder::before_terminator(made.body(), op.loc()));
    }
}

/// The alignment of each block's region of dynamic shared memory.
pub fn region_alignment(op: Op<'_>) -> i64 {
    op.attr("alignment").and_then(|alignment| alignment.as_int()).unwrap_or(REGION).max(REGION)
}

/// A number of bytes, rounded up to a power of two.
pub fn round_up<'c>(b: Builder<'c>, bytes: Value<'c>, alignment: i64) -> Value<'c> {
    let ty = bytes.ty();
    let more = b.arith("addi", bytes, b.const_int(ty, alignment - 1));
    b.arith("andi", more, b.const_int(ty, -alignment))
}

/// Each copy has its own static shared memory, under its own name.
fn separate_names(nest: Op<'_>) {
    let mut taken: HashSet<String> = HashSet::new();
    for shared in Shared::all(nest) {
        let Some(name) = shared.name().map(str::to_owned) else { continue };
        let mut free = name.clone();
        let mut number = 1;
        while !taken.insert(free.clone()) {
            free = format!("{name}.{number}");
            number += 1;
        }
        if free != name {
            shared.set_name(&free);
        }
    }
}
