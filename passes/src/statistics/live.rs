//! How many values are alive at once in the body of a block loop, in 32-bit words: what registers are needed for.
//!
//! Within a segment, the code between barriers, only what differs between threads counts: that is what a vectorised loop over
//! the threads keeps in vector registers, while what is needed beyond a barrier goes through memory.

use std::collections::HashMap;

use mlir_bridge::ir::{Block, Op, Type, Value};
use regrain_dialects::ops::is_barrier;

use crate::analysis::facts::constant;

/// From the definition to the last use, as positions in the order of the program.
struct Interval {
    from: usize,
    to: usize,
    /// The last use before another barrier.
    in_segment: usize,
    segment: usize,
    words: u32,
}

/// The walk over the program.
#[derive(Default)]
struct Positions<'c> {
    next: usize,
    segment: usize,
    intervals: HashMap<Value<'c>, Interval>,
}

/// Words alive at the worst place.
pub struct Live {
    /// In the whole body.
    pub most: u32,
    /// Within a segment, of what differs between threads.
    pub most_in_segment: u32,
}

/// Words alive in the body of a block loop.
pub fn live<'c>(nest: Op<'c>, mut is_uniform: impl FnMut(Value<'c>) -> bool) -> Live {
    let mut positions = Positions::default();
    positions.block(nest.body());
    let whole = positions.intervals.values().map(|interval| (interval.from, interval.to, interval.words));
    let most = overlapping(whole);
    let varying = positions.intervals.iter().filter(|(value, interval)| interval.words > 0 && !is_uniform(**value));
    let in_segment = varying.map(|(_, interval)| (interval.from, interval.in_segment, interval.words));
    Live { most, most_in_segment: overlapping(in_segment) }
}

/// The most words of intervals that overlap.
fn overlapping(intervals: impl Iterator<Item = (usize, usize, u32)>) -> u32 {
    let mut changes: Vec<(usize, i64)> = Vec::new();
    for (from, to, words) in intervals.filter(|(from, to, _)| to > from) {
        changes.push((from, words.into()));
        changes.push((to, -i64::from(words)));
    }
    // What ends at a place is gone before anything begins there.
    changes.sort_unstable();
    let (mut alive, mut most) = (0i64, 0i64);
    for (_, change) in changes {
        alive += change;
        most = most.max(alive);
    }
    u32::try_from(most).unwrap_or(u32::MAX)
}

impl<'c> Positions<'c> {
    fn block(&mut self, block: Block<'c>) {
        for argument in block.args() {
            self.define(argument);
        }
        for op in block.ops() {
            self.next += 1;
            let start = self.next;
            if is_barrier(op) {
                self.segment += 1;
            }
            for operand in op.operands() {
                self.uses(operand, start);
            }
            for inner in op.regions().into_iter().flat_map(|region| region.blocks()) {
                self.block(inner);
            }
            if matches!(op.name(), "scf.for" | "scf.while") {
                self.extend(start, op.contains(is_barrier));
            }
            for result in op.results() {
                self.define(result);
            }
        }
    }

    fn define(&mut self, value: Value<'c>) {
        let words = if costs_nothing(value) { 0 } else { words(value.ty()) };
        let (from, to, in_segment, segment) = (self.next, self.next, self.next, self.segment);
        self.intervals.insert(value, Interval { from, to, in_segment, segment, words });
    }

    /// A value that was folded into its users lives in what it is made of.
    fn uses(&mut self, value: Value<'c>, at: usize) {
        if let Some(interval) = self.intervals.get_mut(&value) {
            interval.to = interval.to.max(at);
            if interval.segment == self.segment {
                interval.in_segment = interval.in_segment.max(at);
            }
        }
        if let Some(op) = value.defining_op().filter(|_| folds(value)) {
            for operand in op.operands() {
                self.uses(operand, at);
            }
        }
    }

    /// What a loop uses from outside lives until the loop ends.
    fn extend(&mut self, start: usize, has_barrier: bool) {
        let end = self.next + 1;
        for interval in self.intervals.values_mut().filter(|interval| interval.from < start) {
            if interval.to >= start {
                interval.to = interval.to.max(end);
            }
            if interval.in_segment >= start && !has_barrier {
                interval.in_segment = interval.in_segment.max(end);
            }
        }
        self.next = end;
    }
}

fn costs_nothing(value: Value<'_>) -> bool {
    constant(value).is_some() || folds(value)
}

/// Casts, and addresses a constant away.
fn folds(value: Value<'_>) -> bool {
    let Some(op) = value.defining_op() else { return false };
    match op.name() {
        "llvm.sext" | "llvm.zext" | "llvm.trunc" | "arith.index_cast" | "arith.index_castui" | "llvm.addrspacecast"
        | "llvm.bitcast" => true,
        "llvm.getelementptr" => op.operands()[1..].iter().all(|index| constant(*index).is_some()),
        _ => false,
    }
}

fn words(ty: Type<'_>) -> u32 {
    match (ty.int_width(), ty.float_width(), ty.ptr_space()) {
        (Some(1), _, _) => 0,
        (Some(bits), _, _) | (_, Some(bits), _) => bits.div_ceil(32),
        (_, _, Some(3 | 5)) => 1,
        (_, _, Some(_)) => 2,
        _ => 1,
    }
}
