//! Whether blocks go together as lanes (`vectorize_blocks.rs`), when the rows of both versions have been made.
//!
//! Lanes are for trees (`trees.rs`), in whose rounds a block's own threads are soon too few for a row, and lie further and further apart.
//! So they are for rounds in which a block's threads go one by one. Elsewhere a block's rows are full, and its memory is near: eight blocks at a time are in eight places of the cache.
//!
//! What is left to do in either version is counted, in operations of the processor: a vector is as many as registers that it fills, a gather
//! several for each lane, a loop its body as often as it runs. Rounds that are not known are taken to be the same few in both.

use std::collections::HashSet;

use mlir_bridge::ir::{Block, Op, Value};
use regrain_dialects::{
    attributes,
    attributes::{OF_BLOCKS, ROWS},
    ops::TakeBlocks,
};
use tracing::debug;

use super::{PASS, trees::is_tree};
use crate::{
    analysis::facts::constant,
    lower::vectorize_threads::{Machine, blocks_together},
};

/// Threads that a loop of unknown bounds is taken to be of, and rounds of one that no thread loop is.
const THREADS: u64 = 64;
const ROUNDS: u64 = 8;
/// What a lane of a gather or scatter costs: an address, an access, and the way into or out of the vector.
const APART: u64 = 3;
/// A masked store without instructions for it: what is beside its lanes is read before.
const MASKED: u64 = 3;
const DIVISION: u64 = 20;
const CALL: u64 = 10;
/// Blocks that go together must save so many times the operations: their memory lies in as many places as there are blocks, and in
/// scans of 1024 numbers, as people write them, a sixth of the operations took half of the time (AMD EPYC, Zen 3).
const SAVING: u64 = 3;

/// Leaves the cheaper version of each choice, and gives the operations that are gone; of the conditions `expected` it is taken that they
/// hold.
pub fn choose<'c>(function: Op<'c>, expected: &HashSet<Op<'c>>, machine: Machine) -> HashSet<Op<'c>> {
    let mut gone = HashSet::new();
    for choice in function.find_all(|op| op.is("scf.if") && op.has_attr(OF_BLOCKS)) {
        let lanes = attributes::count(choice, OF_BLOCKS).unwrap_or(1);
        let cost = |branch: usize| {
            Cost { expected, register_bits: machine.register_bits.into() }.of(choice.region(branch).entry())
        };
        let (together, alone) = (cost(0), cost(1).saturating_mul(lanes));
        debug!(target: PASS.name, "{lanes} blocks together take {together} operations, one after another {alone}");
        let one = choice.region(1).entry();
        if together.saturating_mul(SAVING) <= alone && (is_of_trees(one) || goes_one_by_one(one)) {
            if machine.report {
                blocks_together(choice, lanes);
            }
            continue;
        }
        let taken = choice.operand(0).defining_op().and_then(TakeBlocks::cast);
        gone.extend(choice.region(0).entry().ops().into_iter().flat_map(|op| op.find_all(|_| true)));
        if let Some(end) = choice.region(1).entry().terminator() {
            end.erase();
        }
        choice.region(1).entry().inline_before(choice, &[]);
        choice.erase();
        if let Some(taken) = taken {
            taken.op().erase();
        }
    }
    gone
}

fn is_of_trees(block: Block<'_>) -> bool {
    let is_around_threads =
        |op: Op<'_>| is_tree(op) && op.contains(|inner| inner.has_attr(ROWS) || inner.is("scf.parallel"));
    block.ops().into_iter().any(|op| op.contains(is_around_threads))
}

/// Whether there are rounds in which a block's threads are in no rows, as along the diagonals of a tile.
fn goes_one_by_one(block: Block<'_>) -> bool {
    let is_loop = |op: Op<'_>| matches!(op.name(), "scf.for" | "scf.while");
    let alone =
        |op: Op<'_>| op.contains(|inner| inner.is("scf.parallel")) && !op.contains(|inner| inner.has_attr(ROWS));
    block.ops().into_iter().any(|op| is_loop(op) && alone(op))
}

struct Cost<'c, 'e> {
    expected: &'e HashSet<Op<'c>>,
    register_bits: u64,
}

impl<'c> Cost<'c, '_> {
    fn of(&self, block: Block<'c>) -> u64 {
        block.ops().into_iter().fold(0, |sum: u64, op| sum.saturating_add(self.operation(op)))
    }

    fn operation(&self, op: Op<'c>) -> u64 {
        let regions =
            || op.regions().into_iter().filter(|region| !region.is_empty()).map(|region| self.of(region.entry()));
        match op.name() {
            "scf.for" => rounds(op, [0, 1, 2]).saturating_mul(1 + regions().sum::<u64>()),
            "scf.parallel" => {
                let dimensions = op.body().num_args();
                let all = (0..dimensions).map(|axis| rounds(op, [axis, dimensions + axis, 2 * dimensions + axis]));
                all.fold(1 + regions().sum::<u64>(), u64::saturating_mul)
            }
            "scf.while" => ROUNDS.saturating_mul(regions().sum()),
            "scf.if" if self.expected.contains(&op) => self.of(op.region(0).entry()),
            // A guard holds for half of the rows.
            "scf.if" => regions().sum::<u64>().div_ceil(2),
            _ => regions().sum::<u64>() + self.simple(op),
        }
    }

    fn simple(&self, op: Op<'c>) -> u64 {
        let types = op.results().into_iter().chain(op.operands()).map(Value::ty);
        let lanes = types.clone().filter_map(|ty| ty.vector_parts()).map(|(_, lanes)| u64::from(lanes)).max();
        let registers = |value: Value<'c>| {
            let bits = value.ty().vector_parts().map_or(0, |_| 8 * value.ty().layout(op).0);
            bits.div_ceil(self.register_bits).max(1)
        };
        let width = types.count().min(1) as u64
            * op.results().into_iter().chain(op.operands()).map(registers).max().unwrap_or(1);
        match op.name() {
            name if name.ends_with("constant") || name.ends_with("poison") => 0,
            "scf.yield" | "scf.reduce" | "arith.index_cast" | "arith.index_castui" | "vector.broadcast" => 0,
            "llvm.intr.masked.gather" | "llvm.intr.masked.scatter" => APART * lanes.unwrap_or(1),
            "llvm.intr.masked.store" => MASKED * width,
            "llvm.call" => CALL * width,
            name if name.contains("div") || name.contains("rem") => DIVISION * width,
            _ => width,
        }
    }
}

/// How often a dimension of a loop runs; of a bound that is chosen the first choice is taken, which is the one that rows are made for.
fn rounds(op: Op<'_>, [lower, upper, step]: [usize; 3]) -> u64 {
    let chosen = |number: usize| {
        let value = op.operand(number);
        constant(value).or_else(|| constant(value.defining_op().filter(|op| op.is("arith.select"))?.operand(1)))
    };
    let step = constant(op.operand(step)).unwrap_or(1).max(1);
    match (chosen(lower), chosen(upper)) {
        (Some(lower), Some(upper)) => upper.saturating_sub(lower).max(0).cast_unsigned().div_ceil(step.cast_unsigned()),
        // What begins at a number that is not known are the few that are left over.
        (Some(_), None) if is_of_threads(op) => THREADS.div_ceil(step.cast_unsigned()),
        _ => ROUNDS,
    }
}

/// Whether a loop is over threads: those count in indices.
fn is_of_threads(op: Op<'_>) -> bool {
    op.body().arg(0).ty().is_index()
}
