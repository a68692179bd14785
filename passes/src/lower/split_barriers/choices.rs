//! What values may be that control flow passes on: formulas that a thread can compute of its number and of what all threads have.

use std::collections::{HashMap, HashSet};

use mlir_bridge::ir::{Block, Builder, Op, Value};

use crate::analysis::{
    constants::{constant, is_undefined},
    counted_loop::is_outside,
    uniformity::Uniformity,
};

/// The most ways in which a value may have come about.
const CHOICES: usize = 2;

/// What is known of a block loop.
pub struct Facts<'a, 'c> {
    pub parallel: Op<'c>,
    /// Operations that synchronise or hold one that does.
    pub syncing: &'a HashSet<Op<'c>>,
    pub uniformity: &'a Uniformity<'c>,
    /// Values that a thread can compute again.
    pub recomputed: &'a HashSet<Value<'c>>,
}

/// What values may be that are passed on to one another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices<'c> {
    pub formulas: Vec<Formula<'c>>,
    /// What changes from round to round, the same for all threads.
    pub leaves: Vec<Value<'c>>,
}

/// What a thread can compute of its number and of leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula<'c> {
    pub value: Value<'c>,
    /// Numbers of its leaves among those of all formulas.
    pub leaves: Vec<usize>,
}

/// Memory of the block for one value: which formula it came of, and the leaves at that time.
#[derive(Clone)]
pub struct Memory<'c> {
    pub which: Value<'c>,
    pub leaves: Vec<Value<'c>>,
}

/// Where values come from, each time control flow passes them on.
#[derive(Default)]
struct Sources<'c> {
    /// In the order of the program.
    order: Vec<Value<'c>>,
    of: HashMap<Value<'c>, Vec<Value<'c>>>,
}

impl<'c> Facts<'_, 'c> {
    /// The values that can be remembered, each with what it may be.
    pub fn choices(&self) -> HashMap<Value<'c>, Choices<'c>> {
        let mut sources = Sources::default();
        self.collect(self.parallel.body(), &mut sources);
        sources.of.retain(|value, _| !self.uniformity.is_uniform(*value));
        sources.of.values_mut().for_each(|from| from.retain(|value| !is_undefined(*value)));
        loop {
            let is_lost = |from: &[Value<'c>]| {
                from.iter().any(|value| !sources.of.contains_key(value) && !self.is_formula(*value))
            };
            let lost: Vec<_> = sources.of.iter().filter(|(_, from)| is_lost(from)).map(|(value, _)| *value).collect();
            if lost.is_empty() {
                break;
            }
            lost.iter().for_each(|value| _ = sources.of.remove(value));
        }
        let mut found = HashMap::new();
        for group in sources.groups() {
            let mut values: Vec<Value<'c>> = Vec::new();
            for value in group.iter().flat_map(|value| &sources.of[value]) {
                let passed = sources.of.contains_key(value);
                if !passed && !values.iter().any(|known| are_equal(*known, *value)) {
                    values.push(*value);
                }
            }
            if !(1..=CHOICES).contains(&values.len()) {
                continue;
            }
            // What is chosen of a constant and something else says more in this order.
            values.sort_by_key(|value| constant(*value).is_none());
            let mut choices = Choices::default();
            for value in values {
                let numbers = self.leaves(value).into_iter().map(|leaf| choices.number_of(leaf)).collect();
                choices.formulas.push(Formula { value, leaves: numbers });
            }
            found.extend(group.into_iter().map(|value| (value, choices.clone())));
        }
        found
    }

    /// What is passed on by control flow that all threads take.
    fn collect(&self, block: Block<'c>, sources: &mut Sources<'c>) {
        let uniform = |values: &[Value<'c>]| self.uniformity.all_uniform(values);
        for op in block.ops().into_iter().filter(|op| self.syncing.contains(op)) {
            let together = match op.name() {
                "scf.if" => uniform(&[op.operand(0)]),
                "scf.for" => uniform(&op.operands()[..3]),
                "scf.while" => op.region(0).entry().terminator().is_some_and(|end| uniform(&[end.operand(0)])),
                _ => false,
            };
            if !together {
                continue;
            }
            let blocks: Vec<_> = op.regions().into_iter().filter_map(|region| region.first_block()).collect();
            let ends: Vec<_> = blocks.iter().filter_map(|block| block.terminator()).map(Op::operands).collect();
            match op.name() {
                "scf.if" => ends.iter().for_each(|end| sources.pass(&op.results(), end)),
                "scf.for" => {
                    for targets in [&op.body().args()[1..], &op.results()] {
                        sources.pass(targets, &op.operands()[3..]);
                        sources.pass(targets, &ends[0]);
                    }
                }
                _ => {
                    sources.pass(&blocks[0].args(), &op.operands());
                    sources.pass(&blocks[0].args(), &ends[1]);
                    sources.pass(&blocks[1].args(), &ends[0][1..]);
                    sources.pass(&op.results(), &ends[0][1..]);
                }
            }
            blocks.into_iter().for_each(|block| self.collect(block, sources));
        }
    }

    /// Whether a thread can compute a value of its number and of what is the same for all.
    fn is_formula(&self, value: Value<'c>) -> bool {
        let is_number = |value: Value<'c>| value.block_arg().is_some_and(|(block, _)| block == self.parallel.body());
        // Each is looked at once, however often it is used.
        let (mut seen, mut work) = (HashSet::new(), vec![value]);
        while let Some(value) = work.pop() {
            if !seen.insert(value) || self.uniformity.is_uniform(value) || is_number(value) {
                continue;
            }
            match value.defining_op().filter(|_| self.recomputed.contains(&value)) {
                Some(op) => work.extend(op.operands()),
                None => return false,
            }
        }
        true
    }

    /// What a formula is computed of that need not be the same wherever it is computed again.
    fn leaves(&self, value: Value<'c>) -> Vec<Value<'c>> {
        let (mut seen, mut work, mut found) = (HashSet::new(), vec![value], Vec::new());
        while let Some(value) = work.pop() {
            if is_fixed(value, self.parallel) || !seen.insert(value) {
                continue;
            }
            if self.uniformity.is_uniform(value) {
                found.push(value);
            } else if let Some(op) = value.defining_op() {
                work.extend(op.operands().into_iter().rev());
            }
        }
        found
    }
}

impl<'c> Choices<'c> {
    /// The number of the formula that a value is.
    pub fn formula(&self, value: Value<'c>) -> Option<usize> {
        self.formulas.iter().position(|formula| are_equal(formula.value, value))
    }

    fn number_of(&mut self, leaf: Value<'c>) -> usize {
        let known = self.leaves.iter().position(|known| *known == leaf);
        known.unwrap_or_else(|| {
            self.leaves.push(leaf);
            self.leaves.len() - 1
        })
    }
}

impl<'c> Sources<'c> {
    fn pass(&mut self, targets: &[Value<'c>], values: &[Value<'c>]) {
        for (target, value) in targets.iter().zip(values) {
            self.of.entry(*target).or_insert_with(|| {
                self.order.push(*target);
                Vec::new()
            });
            self.of.entry(*target).or_default().push(*value);
        }
    }

    /// The values that are passed on to one another, in groups.
    fn groups(&self) -> Vec<Vec<Value<'c>>> {
        let mut neighbours: HashMap<Value<'c>, Vec<Value<'c>>> = HashMap::new();
        for value in self.order.iter().filter(|value| self.of.contains_key(value)) {
            for other in self.of[value].iter().filter(|other| self.of.contains_key(other)) {
                neighbours.entry(*value).or_default().push(*other);
                neighbours.entry(*other).or_default().push(*value);
            }
        }
        let mut seen = HashSet::new();
        let mut groups = Vec::new();
        for start in self.order.iter().filter(|value| self.of.contains_key(value)) {
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
}

fn are_equal<'c>(one: Value<'c>, other: Value<'c>) -> bool {
    one == other || one.ty() == other.ty() && constant(one).is_some() && constant(one) == constant(other)
}

/// Whether a value is the same wherever it is asked for: none is passed on by a loop.
pub fn is_fixed<'c>(value: Value<'c>, parallel: Op<'c>) -> bool {
    is_outside(value, parallel) || value.parent_block() == Some(parallel.body()) || constant(value).is_some()
}

/// The condition that a value is, made wider or not; a constant is one of those if it is 0 or 1.
pub fn bit<'c>(b: Builder<'c>, value: Value<'c>) -> Option<Value<'c>> {
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
