//! What is known before anything is rewritten: which operations synchronise, which values vary between the threads of a
//! block, and which values must be kept in memory from one thread loop to a later one.

use std::collections::{HashMap, HashSet};

use mlir_bridge::ir::{Block, Op, Value};
use regrain_dialects::{
    attributes::SCOPED,
    ops::{is_barrier, is_synchronising},
};

use super::choices::{Choices, Facts};
use crate::{
    analysis::{
        settled::settled,
        uniformity::{Trust, Uniformity, free_values},
    },
    lower::stack,
};

/// The most that a recomputed value may cost; above, it is kept in memory.
const INTEGER_LIMIT: u32 = 40;
const FLOAT_LIMIT: u32 = 6;
/// What one division costs beside one addition.
const DIVISION_COST: u32 = 10;

/// All threads take part in the reductions at barriers.
const TRUST: Trust = Trust { reductions: true, loads: false, locals: false };

/// The facts about one block loop.
pub struct Plan<'c> {
    /// Operations that synchronise or hold one that does.
    pub syncing: HashSet<Op<'c>>,
    /// Loads that are made beside the thread loops.
    pub settled: HashSet<Op<'c>>,
    /// Values that are the same for all threads.
    uniformity: Uniformity<'c>,
    /// Values that get an array with one element for each thread.
    pub kept: HashSet<Value<'c>>,
    /// Values that a later loop computes again where it needs them.
    pub recomputed: HashSet<Value<'c>>,
    /// Values that control flow passes on, of which is remembered what they came of.
    pub remembered: HashMap<Value<'c>, Choices<'c>>,
    /// Stack memory of a thread that several of its loops use.
    pub shared_locals: HashSet<Op<'c>>,
    inside: HashSet<Value<'c>>,
    segments: Segments<'c>,
}

#[derive(Default)]
struct Segments<'c> {
    now: u32,
    defined: HashMap<Value<'c>, u32>,
    uses: HashMap<Value<'c>, Vec<u32>>,
    /// The loop of each plain operation.
    plain: HashMap<Op<'c>, u32>,
    /// Definitions in order, for values made by plain operations.
    order: Vec<Value<'c>>,
    /// Values that control flow itself places in memory or outside of the thread loops.
    placed: HashSet<Value<'c>>,
}

impl<'c> Plan<'c> {
    /// Analyses `parallel`, the loop over the threads of a block. With `rows_are_warps` operations of warps stay in its thread loops.
    pub fn new(parallel: Op<'c>, rows_are_warps: bool) -> Self {
        let syncing = syncing(parallel, rows_are_warps);
        let settled = settled(syncing.iter().copied());
        let (body, trust) = (parallel.body(), TRUST);
        let mut plan = Self {
            uniformity: Uniformity::with_settled(body, &body.args(), syncing.clone(), trust, settled.clone()),
            settled,
            syncing,
            kept: HashSet::new(),
            recomputed: HashSet::new(),
            remembered: HashMap::new(),
            shared_locals: HashSet::new(),
            inside: values_inside(parallel),
            segments: Segments::default(),
        };
        plan.number(parallel.body());
        plan.choose(parallel);
        let Self { syncing, uniformity, recomputed, .. } = &plan;
        plan.remembered = Facts { parallel, syncing, uniformity, recomputed }.choices();
        plan.place_locals(parallel);
        plan
    }

    /// Whether a value is defined in the block loop.
    pub fn is_inside(&self, value: Value<'c>) -> bool {
        self.inside.contains(&value)
    }

    pub fn is_uniform(&self, value: Value<'c>) -> bool {
        self.uniformity.is_uniform(value)
    }

    /// Whether a value that control flow passes on has a cell for each thread.
    pub fn has_cells(&self, value: Value<'c>) -> bool {
        !self.is_uniform(value) && !self.remembered.contains_key(&value)
    }

    pub fn all_uniform(&self, values: &[Value<'c>]) -> bool {
        self.uniformity.all_uniform(values)
    }

    /// Numbers the thread loops to be and notes in which of them each value is made and used.
    fn number(&mut self, block: Block<'c>) {
        for op in block.ops() {
            if !self.syncing.contains(&op) {
                self.use_all(&free_values(op));
                self.segments.plain.insert(op, self.segments.now);
                if !op.is_terminator() {
                    self.define(op);
                }
                continue;
            }
            self.use_all(&op.operands());
            self.segments.now += 1;
            if op.num_regions() == 0 {
                // A warp operation reads its operands again on the other side.
                self.use_all(&op.operands());
                self.define(op);
                continue;
            }
            self.segments.placed.extend(op.results());
            for region in op.regions() {
                for inner in region.blocks() {
                    self.segments.placed.extend(inner.args());
                    self.number(inner);
                    self.segments.now += 1;
                }
            }
            if op.name() == "scf.for" {
                // Where bounds vary, the end of the body compares and steps.
                self.use_all(&op.operands()[..3]);
                self.segments.now += 1;
            }
        }
    }

    fn use_all(&mut self, values: &[Value<'c>]) {
        for value in values {
            self.segments.uses.entry(*value).or_default().push(self.segments.now);
        }
    }

    fn define(&mut self, op: Op<'c>) {
        for result in op.results() {
            self.segments.defined.insert(result, self.segments.now);
            self.segments.order.push(result);
        }
    }

    /// Decides for each value that crosses a synchronisation: recompute, or keep in memory.
    fn choose(&mut self, parallel: Op<'c>) {
        let mut costs: HashMap<Value<'c>, Option<u32>> = HashMap::new();
        for iv in parallel.body().args() {
            costs.insert(iv, Some(0));
        }
        for value in self.segments.placed.clone() {
            costs.insert(value, Some(1));
        }
        for value in self.segments.order.clone() {
            if self.is_uniform(value) {
                continue;
            }
            let cost = self.cost(value, &costs);
            let limit = if value.ty().is_float() { FLOAT_LIMIT } else { INTEGER_LIMIT };
            match cost.filter(|cost| *cost <= limit) {
                Some(cost) => {
                    self.recomputed.insert(value);
                    costs.insert(value, Some(cost));
                }
                None => {
                    let crosses = self.crosses(value);
                    if crosses {
                        self.kept.insert(value);
                    }
                    costs.insert(value, crosses.then_some(1));
                }
            }
        }
    }

    /// Whether a value is used in another thread loop than that which makes it. What is recomputed there may use it too.
    fn crosses(&self, value: Value<'c>) -> bool {
        let made = self.segments.defined.get(&value);
        let used = self.segments.uses.get(&value).into_iter().flatten();
        used.into_iter().any(|segment| Some(segment) != made)
    }

    fn cost(&self, value: Value<'c>, costs: &HashMap<Value<'c>, Option<u32>>) -> Option<u32> {
        let op = value.defining_op()?;
        if op.name() == "llvm.alloca" {
            return Some(1);
        }
        if op.num_regions() > 0 || op.num_results() != 1 || !op.is_pure() {
            return None;
        }
        let mut total = own_cost(op);
        for operand in op.operands() {
            if self.is_uniform(operand) {
                continue;
            }
            total += (*costs.get(&operand)?)?;
        }
        Some(total)
    }

    /// Bytes that a thread keeps across its loops.
    pub fn state_bytes(&self, parallel: Op<'c>) -> u64 {
        let carried = self.segments.placed.iter().filter(|value| self.has_cells(**value));
        let values: u64 = self.kept.iter().chain(carried).map(|value| value.ty().layout(parallel).0.max(1)).sum();
        let locals = self.shared_locals.iter().map(|alloca| {
            let element = alloca.attr("elem_type").and_then(|ty| ty.as_type()).map_or(0, |ty| ty.layout(parallel).0);
            let count = alloca.operand(0).defining_op().and_then(Op::constant_int).unwrap_or(1);
            element * count as u64
        });
        values + locals.sum::<u64>()
    }

    /// Finds the stack memory that lives across thread loops.
    fn place_locals(&mut self, parallel: Op<'c>) {
        if self.segments.now == 0 {
            return;
        }
        for alloca in parallel.find_named("llvm.alloca") {
            let Some(made) = self.segments.defined.get(&alloca.result(0)).copied() else { continue };
            if !alloca.has_attr(SCOPED) && !self.stays(alloca.result(0), made, parallel) {
                self.shared_locals.insert(alloca);
            }
        }
    }

    /// Whether all accesses through a pointer are plain ones in the thread loop `segment`.
    fn stays(&self, pointer: Value<'c>, segment: u32, parallel: Op<'c>) -> bool {
        stack::is_accessed_only(pointer, &|access| self.runs_in(access, segment, parallel))
    }

    /// Whether two operations will stand in the same thread loop.
    pub fn stand_together(&self, one: Op<'c>, other: Op<'c>) -> bool {
        let segment = |op: Op<'c>| {
            let around = std::iter::successors(Some(op), |op| op.parent());
            around.into_iter().find_map(|op| self.segments.plain.get(&op).copied())
        };
        segment(one) == segment(other)
    }

    /// Whether an operation, perhaps nested in a plain one, belongs to the thread loop `segment`.
    fn runs_in(&self, op: Op<'c>, segment: u32, parallel: Op<'c>) -> bool {
        let mut at = op;
        loop {
            if let Some(found) = self.segments.plain.get(&at) {
                return *found == segment;
            }
            match at.parent().filter(|parent| *parent != parallel) {
                Some(parent) => at = parent,
                None => return false,
            }
        }
    }
}

/// What varies over the threads, all of whom take part in the reductions at barriers.
pub fn uniformity<'c>(parallel: Op<'c>, syncing: HashSet<Op<'c>>) -> Uniformity<'c> {
    Uniformity::new(parallel.body(), &parallel.body().args(), syncing, TRUST)
}

fn own_cost(op: Op<'_>) -> u32 {
    let name = op.name();
    let short = name.split_once('.').map_or(name, |(_, rest)| rest);
    let float = op.result(0).ty().is_float();
    match short {
        "constant" | "mlir.constant" | "mlir.addressof" | "poison" | "mlir.undef" | "mlir.poison" => 0,
        _ if short.contains("div") || short.contains("rem") => DIVISION_COST,
        _ if float => 3,
        _ => 1,
    }
}

/// The operations of a block loop that synchronise or hold one that does.
pub fn syncing<'c>(parallel: Op<'c>, rows_are_warps: bool) -> HashSet<Op<'c>> {
    let synchronises = |op: Op<'c>| if rows_are_warps { is_barrier(op) } else { is_synchronising(op) };
    let mut found = HashSet::new();
    for op in parallel.find_all(synchronises) {
        let mut at = Some(op);
        while let Some(op) = at.filter(|op| *op != parallel) {
            if !found.insert(op) {
                break;
            }
            at = op.parent();
        }
    }
    found
}

fn values_inside<'c>(parallel: Op<'c>) -> HashSet<Value<'c>> {
    let mut found = HashSet::new();
    for op in parallel.find_all(|_| true) {
        if op != parallel {
            found.extend(op.results());
        }
        for region in op.regions() {
            for block in region.blocks() {
                found.extend(block.args());
            }
        }
    }
    found
}
