//! Values that differ between threads, passed on by control flow that all threads take: what they were computed of is remembered, where
//! that is the same for all, and each thread computes its own again.
//!
//! ```mlir
//! scf.for %step = ... iter_args(%inside = %false) { %now = %x > %step ; ... barrier ... ; scf.yield %now }
//! use(%inside)
//! ```
//! becomes
//! ```mlir
//! %which, %last = llvm.alloca ...                       // one for the block
//! scf.for %step = ... { ... ; %which = 1, %last = %step }
//! use(select(%which == 1, %x > %last, %false))
//! ```
//! An array with a cell for each thread would be copied in each round, and say nothing of which threads they are.

use std::collections::{HashMap, HashSet};

use mlir_bridge::ir::{Block, Builder, Mapping, Op, Type, Value};

use super::{
    emit::{Emitted, Emitter},
    memory,
    plan::Plan,
};
use crate::analysis::{constants::constant, constants::is_undefined, counted_loop::is_outside};

/// The most ways in which a value may have come about.
const CHOICES: usize = 2;

/// Where one such value comes from, each time control flow passes it on.
type Sources<'c> = HashMap<Value<'c>, Vec<Value<'c>>>;

/// What values may be that are passed on to one another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices<'c> {
    /// What a thread can compute of its number and of `leaves`.
    formulas: Vec<Value<'c>>,
    /// What changes from round to round, the same for all threads.
    leaves: Vec<Value<'c>>,
}

/// Memory of the block for one value: which formula it came of, and the leaves at that time.
#[derive(Clone)]
pub struct Memory<'c> {
    which: Value<'c>,
    leaves: Vec<Value<'c>>,
}

/// The values of a block loop that are remembered, each with what it may be.
pub fn find<'c>(parallel: Op<'c>, plan: &Plan<'c>) -> HashMap<Value<'c>, Choices<'c>> {
    let mut sources = Sources::new();
    collect(parallel.body(), plan, &mut sources);
    sources.retain(|value, _| !plan.is_uniform(*value));
    let known = |value: Value<'c>| is_undefined(value) || is_formula(value, parallel, plan);
    loop {
        let lost: Vec<_> = sources
            .iter()
            .filter(|(_, from)| from.iter().any(|value| !known(*value) && !sources.contains_key(value)))
            .map(|(value, _)| *value)
            .collect();
        if lost.is_empty() {
            break;
        }
        for value in lost {
            sources.remove(&value);
        }
    }
    let mut found = HashMap::new();
    for group in connected(&sources) {
        let mut choices = Choices::default();
        for value in group.iter().flat_map(|value| &sources[value]) {
            let passed = sources.contains_key(value) || is_undefined(*value);
            if !passed && !choices.formulas.iter().any(|known| are_equal(*known, *value)) {
                choices.formulas.push(*value);
                leaves(*value, parallel, plan, &mut choices.leaves);
            }
        }
        // What is chosen of a constant and something else says more in this order.
        choices.formulas.sort_by_key(|formula| constant(*formula).is_none());
        if (1..=CHOICES).contains(&choices.formulas.len()) {
            found.extend(group.into_iter().map(|value| (value, choices.clone())));
        }
    }
    found
}

fn are_equal<'c>(one: Value<'c>, other: Value<'c>) -> bool {
    one == other || one.ty() == other.ty() && constant(one).is_some() && constant(one) == constant(other)
}

/// What is passed on by control flow that all threads take.
fn collect<'c>(block: Block<'c>, plan: &Plan<'c>, sources: &mut Sources<'c>) {
    for op in block.ops().into_iter().filter(|op| plan.syncing.contains(op)) {
        let together = match op.name() {
            "scf.if" => plan.is_uniform(op.operand(0)),
            "scf.for" => plan.all_uniform(&op.operands()[..3]),
            "scf.while" => op.region(0).entry().terminator().is_some_and(|end| plan.is_uniform(end.operand(0))),
            _ => false,
        };
        if !together {
            continue;
        }
        let blocks: Vec<_> = op.regions().into_iter().filter_map(|region| region.first_block()).collect();
        let ends: Vec<_> = blocks.iter().filter_map(|block| block.terminator()).map(Op::operands).collect();
        let mut pass = |targets: &[Value<'c>], values: &[Value<'c>]| {
            for (target, value) in targets.iter().zip(values) {
                sources.entry(*target).or_default().push(*value);
            }
        };
        match op.name() {
            "scf.if" => ends.iter().for_each(|end| pass(&op.results(), end)),
            "scf.for" => {
                for targets in [&op.body().args()[1..], &op.results()] {
                    pass(targets, &op.operands()[3..]);
                    pass(targets, &ends[0]);
                }
            }
            _ => {
                pass(&blocks[0].args(), &op.operands());
                pass(&blocks[0].args(), &ends[1]);
                pass(&blocks[1].args(), &ends[0][1..]);
                pass(&op.results(), &ends[0][1..]);
            }
        }
        blocks.into_iter().for_each(|block| collect(block, plan, sources));
    }
}

/// Whether a thread can compute a value of its number and of what is the same for all.
fn is_formula<'c>(value: Value<'c>, parallel: Op<'c>, plan: &Plan<'c>) -> bool {
    let number = value.block_arg().is_some_and(|(block, _)| block == parallel.body());
    let computed = || {
        let op = value.defining_op().filter(|_| plan.recomputed.contains(&value));
        op.is_some_and(|op| op.operands().into_iter().all(|operand| is_formula(operand, parallel, plan)))
    };
    plan.is_uniform(value) || number || computed()
}

/// What a formula is computed of that need not be the same wherever it is computed again.
fn leaves<'c>(value: Value<'c>, parallel: Op<'c>, plan: &Plan<'c>, found: &mut Vec<Value<'c>>) {
    if is_fixed(value, parallel) || found.contains(&value) {
        return;
    }
    if plan.is_uniform(value) {
        found.push(value);
    } else if let Some(op) = value.defining_op() {
        op.operands().into_iter().for_each(|operand| leaves(operand, parallel, plan, found));
    }
}

/// Whether a value is the same wherever it is asked for: none is passed on by a loop.
fn is_fixed<'c>(value: Value<'c>, parallel: Op<'c>) -> bool {
    let body = parallel.body();
    is_outside(value, parallel) || value.parent_block() == Some(body) || constant(value).is_some()
}

/// The values that are passed on to one another, in groups.
fn connected<'c>(sources: &Sources<'c>) -> Vec<Vec<Value<'c>>> {
    let mut neighbours: HashMap<Value<'c>, Vec<Value<'c>>> = HashMap::new();
    for (value, from) in sources {
        for other in from.iter().filter(|other| sources.contains_key(other)) {
            neighbours.entry(*value).or_default().push(*other);
            neighbours.entry(*other).or_default().push(*value);
        }
    }
    let mut seen = HashSet::new();
    let mut groups = Vec::new();
    for start in sources.keys() {
        let (mut group, mut work) = (Vec::new(), vec![*start]);
        while let Some(value) = work.pop() {
            if seen.insert(value) {
                group.push(value);
                work.extend(neighbours.get(&value).into_iter().flatten());
            }
        }
        groups.push(group);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// The condition that a value is, made wider or not; a constant is one of those if it is 0 or 1.
fn bit<'c>(b: Builder<'c>, value: Value<'c>) -> Option<Value<'c>> {
    let i1 = b.ctx().int(1);
    if let Some(number) = constant(value).filter(|number| value.ty().is_int(1) || (0..=1).contains(number)) {
        return Some(b.const_int(i1, number & 1));
    }
    if value.ty().is_int(1) { Some(value) } else { widened(value) }
}

/// The condition that was made wider.
pub fn widened(value: Value<'_>) -> Option<Value<'_>> {
    let op = value.defining_op().filter(|op| matches!(op.name(), "llvm.zext" | "arith.extui"))?;
    Some(op.operand(0)).filter(|condition| condition.ty().is_int(1))
}

impl<'c> Emitter<'c, '_> {
    /// Whether a value is remembered.
    pub fn is_remembered(&self, value: Value<'c>) -> bool {
        self.plan.remembered.contains_key(&value)
    }

    /// The memory for a remembered value, made when it has none yet.
    fn memory_of(&mut self, value: Value<'c>) -> Memory<'c> {
        if let Some(memory) = self.memories.get(&value) {
            return memory.clone();
        }
        let b = self.preamble();
        let one = b.const_int(self.i64(), 1);
        let cell = |ty: Type<'c>| memory::new_cells(b, ty, one).base;
        let leaves = self.plan.remembered[&value].leaves.iter().map(|leaf| cell(leaf.ty())).collect();
        let memory = Memory { which: cell(self.i32()), leaves };
        self.memories.insert(value, memory.clone());
        memory
    }

    /// Remembers those of `values` whose `targets` are remembered: all are read before the first is written.
    pub fn remember(&mut self, targets: &[Value<'c>], values: &[Value<'c>]) -> Emitted<()> {
        let mut writes = Vec::new();
        for (target, value) in targets.iter().zip(values) {
            let Some(choices) = self.plan.remembered.get(target).cloned() else { continue };
            if is_undefined(*value) || target == value {
                continue;
            }
            let to = self.memory_of(*target);
            if self.is_remembered(*value) {
                let from = self.memory_of(*value);
                let b = self.beside();
                writes.push((memory::load(b, from.which, self.i32()), to.which));
                for ((from, to), leaf) in from.leaves.iter().zip(to.leaves).zip(&choices.leaves) {
                    writes.push((memory::load(b, *from, leaf.ty()), to));
                }
                continue;
            }
            let number = choices.formulas.iter().position(|formula| are_equal(*formula, *value));
            let number = number.ok_or_else(|| format!("no formula of {value}"))?;
            writes.push((self.beside().const_i32(number as i32), to.which));
            let mut wanted = Vec::new();
            leaves(choices.formulas[number], self.old, self.plan, &mut wanted);
            for leaf in wanted {
                let place = choices.leaves.iter().position(|known| *known == leaf);
                let place = place.ok_or_else(|| format!("no place for {leaf}"))?;
                writes.push((self.uniform(leaf)?, to.leaves[place]));
            }
        }
        for (value, address) in writes {
            memory::store(self.beside(), value, address);
        }
        Ok(())
    }

    /// What a remembered value is in the open loop.
    pub fn recall(&mut self, value: Value<'c>) -> Emitted<Value<'c>> {
        let choices = self.plan.remembered[&value].clone();
        let memory = self.memory_of(value);
        let mut known = Mapping::new();
        for (leaf, address) in choices.leaves.iter().zip(&memory.leaves) {
            known.map(*leaf, memory::load(self.beside(), *address, leaf.ty()));
        }
        let mut made = Vec::new();
        for formula in &choices.formulas {
            made.push(self.formula(*formula, &mut known)?);
        }
        // Conditions that were made wider for memory are chosen as what they are.
        let b = self.inside();
        let bits: Option<Vec<_>> = made.iter().map(|value| bit(b, *value)).collect();
        let is_wide = bits.is_some() && !value.ty().is_int(1);
        made = bits.unwrap_or(made);
        let mut result = made[0];
        for (number, other) in made.into_iter().enumerate().skip(1) {
            let b = self.beside();
            let this = b.cmpi("eq", memory::load(b, memory.which, self.i32()), b.const_i32(number as i32));
            result = self.inside().value("arith.select", &[this, other, result], result.ty());
        }
        Ok(if is_wide { self.inside().value("arith.extui", &[result], value.ty()) } else { result })
    }

    /// A formula made in the open loop, of leaves that are `known`.
    fn formula(&mut self, value: Value<'c>, known: &mut Mapping<'c>) -> Emitted<Value<'c>> {
        if let Some(made) = known.get(value) {
            return Ok(made);
        }
        let Some(op) = value.defining_op().filter(|_| !is_fixed(value, self.old)) else {
            return self.resolve(value);
        };
        for operand in op.operands() {
            let now = self.formula(operand, known)?;
            known.map(operand, now);
        }
        self.inside().clone_op(op, known);
        known.get(value).ok_or_else(|| format!("no copy of {value}"))
    }
}
