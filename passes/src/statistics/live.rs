//! How many values are alive at once in the body of a block loop, in 32-bit words: what registers are needed for.

use std::collections::HashMap;

use mlir_bridge::ir::{Block, Op, Type, Value};

use crate::facts::constant;

/// From the definition to the last use, as positions in the order of the program.
struct Interval {
    from: usize,
    to: usize,
    words: u32,
}

/// The walk over the program.
#[derive(Default)]
struct Positions<'c> {
    next: usize,
    intervals: HashMap<Value<'c>, Interval>,
}

/// Words alive at the worst place.
pub fn most(nest: Op<'_>) -> u32 {
    let mut positions = Positions::default();
    positions.block(nest.body());
    let mut changes: Vec<(usize, i64)> = Vec::new();
    for interval in positions.intervals.values().filter(|interval| interval.to > interval.from) {
        changes.push((interval.from, interval.words.into()));
        changes.push((interval.to, -i64::from(interval.words)));
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
            for operand in op.operands() {
                self.uses(operand, start);
            }
            for inner in op.regions().into_iter().flat_map(|region| region.blocks()) {
                self.block(inner);
            }
            if matches!(op.name(), "scf.for" | "scf.while") {
                self.extend(op, start);
            }
            for result in op.results() {
                self.define(result);
            }
        }
    }

    fn define(&mut self, value: Value<'c>) {
        let words = if costs_nothing(value) { 0 } else { words(value.ty()) };
        self.intervals.insert(value, Interval { from: self.next, to: self.next, words });
    }

    /// A value that was folded into its users lives in what it is made of.
    fn uses(&mut self, value: Value<'c>, at: usize) {
        if let Some(interval) = self.intervals.get_mut(&value) {
            interval.to = interval.to.max(at);
        }
        if let Some(op) = value.defining_op().filter(|_| folds(value)) {
            for operand in op.operands() {
                self.uses(operand, at);
            }
        }
    }

    /// What a loop uses from outside lives until the loop ends.
    fn extend(&mut self, op: Op<'c>, start: usize) {
        let end = self.next + 1;
        for interval in self.intervals.values_mut() {
            if interval.from < start && interval.to >= start {
                interval.to = interval.to.max(end);
            }
        }
        self.next = end;
        debug_assert!(op.num_regions() > 0);
    }
}

fn costs_nothing(value: Value<'_>) -> bool {
    constant(value).is_some() || folds(value)
}

/// Casts, and addresses a constant away.
fn folds(value: Value<'_>) -> bool {
    let Some(op) = value.defining_op() else { return false };
    match op.name() {
        "llvm.sext" | "llvm.zext" | "llvm.trunc" | "arith.index_cast" | "arith.index_castui" | "llvm.addrspacecast" | "llvm.bitcast" => true,
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
