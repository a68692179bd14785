//! Whether blocks go together as lanes (`vectorize_blocks.rs`), when the rows of both versions have been made.
//!
//! Lanes are for blocks whose own threads are soon too few for a row: fewer of them, or others, work from round to round of a loop, as in trees
//! and along diagonals. Elsewhere a block's rows are full, and its memory is near: eight blocks at a time are in eight places of the cache.
//!
//! What is left to do in either version is counted, in operations of the processor: a vector is as many as registers that it fills, a gather
//! several for each lane, a loop its body as often as it runs (`choose/rounds.rs`).

use std::collections::HashSet;

use mlir_bridge::ir::{Attr, Block, Op, Value};
use regrain_dialects::{
    attributes,
    attributes::{OF_BLOCKS, OWN, ROWS},
    ops::TakeBlocks,
};
use tracing::debug;

use super::PASS;
use crate::{
    analysis::{
        facts::constant,
        objects::{address, root},
    },
    lower::vectorize_threads::{Machine, SCATTERING, blocks_together},
};

mod rounds;
mod trees;
use rounds::{ROUNDS, rounds};
use trees::{changes, is_tree};

/// What a lane of a gather or scatter costs: an address, an access, and the way into or out of the vector.
const APART: u64 = 3;
/// The same where there are instructions for them: 1.4 cycles for a gather and 1.6 for a scatter, as measured on Zen 4.
const APART_AT_ONCE: u64 = 5;
/// Bytes of the first-level cache, and what a register costs that comes from the second one, or goes there.
const NEAR: u64 = 32 << 10;
const FAR: u64 = 4;
/// A masked store without instructions for it: what is beside its lanes is read before.
const MASKED: u64 = 3;
const DIVISION: u64 = 20;
const CALL: u64 = 10;

/// Leaves the cheaper version of each choice, and gives the operations that are gone; of the conditions `expected` it is taken that they
/// hold.
pub fn choose<'c>(function: Op<'c>, expected: &HashSet<Op<'c>>, machine: Machine) -> HashSet<Op<'c>> {
    let mut gone = HashSet::new();
    for choice in function.find_all(|op| op.is("scf.if") && op.has_attr(OF_BLOCKS)) {
        let lanes = attributes::count(choice, OF_BLOCKS).unwrap_or(1);
        let cost = |branch: usize| {
            let far = own_bytes(choice.region(branch).entry()) > NEAR;
            Cost { expected, register_bits: machine.register_bits.into(), far, in_tree: false }
                .of(choice.region(branch).entry())
        };
        let (together, alone) = (cost(0), cost(1).saturating_mul(lanes));
        debug!(target: PASS.name, "{lanes} blocks together take {together} operations, one after another {alone}");
        if together < alone && has_changing_rows(choice.region(1).entry()) {
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

fn has_changing_rows(block: Block<'_>) -> bool {
    let is_around_threads = |op: Op<'_>| op.contains(|inner| inner.has_attr(ROWS) || inner.is("scf.parallel"));
    block.ops().into_iter().any(|op| op.contains(|op| changes(op) && is_around_threads(op)))
}

/// The block's own memory in which an address lies.
fn own_memory(address: Value<'_>) -> Option<Op<'_>> {
    root(address).defining_op().filter(|op| op.has_attr(OWN))
}

/// How many bytes of its own memory a block accesses.
fn own_bytes(block: Block<'_>) -> u64 {
    let ops = block.ops().into_iter().flat_map(|op| op.find_all(|_| true));
    let memory: HashSet<_> = ops.filter_map(address).filter_map(own_memory).collect();
    let bytes = |alloca: Op<'_>| {
        let element = alloca.attr("elem_type").and_then(Attr::as_type)?;
        let count = constant(alloca.operand(0)).and_then(|count| u64::try_from(count).ok())?;
        Some(element.layout(alloca).0.saturating_mul(count))
    };
    memory.into_iter().filter_map(bytes).sum()
}

#[derive(Clone, Copy)]
struct Cost<'c, 'e> {
    expected: &'e HashSet<Op<'c>>,
    register_bits: u64,
    /// Whether the block's memory is larger than the first-level cache.
    far: bool,
    /// Whether a tree is around, whose threads are often too few for a row.
    in_tree: bool,
}

impl<'c> Cost<'c, '_> {
    fn of(&self, block: Block<'c>) -> u64 {
        block.ops().into_iter().fold(0, |sum: u64, op| sum.saturating_add(self.operation(op)))
    }

    fn operation(&self, op: Op<'c>) -> u64 {
        if is_tree(op) && !self.in_tree {
            return Cost { in_tree: true, ..*self }.operation(op);
        }
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
            "scf.if" if self.expected.contains(&op) || !self.in_tree && goes_in_rows(op) => {
                self.of(op.region(0).entry())
            }
            // Of versions of a thread loop the cheaper is made for what holds in nearly every block.
            "scf.if" if is_of_versions(op) => regions().min().unwrap_or(0),
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
        let far = if self.far && address(op).and_then(own_memory).is_some() { FAR * width } else { 0 };
        let apart = if self.register_bits >= SCATTERING.into() { APART_AT_ONCE } else { APART };
        far + match op.name() {
            name if name.ends_with("constant") || name.ends_with("poison") => 0,
            "scf.yield" | "scf.reduce" | "arith.index_cast" | "arith.index_castui" | "vector.broadcast" => 0,
            "llvm.intr.masked.gather" | "llvm.intr.masked.scatter" => apart * lanes.unwrap_or(1),
            "llvm.intr.masked.store" => MASKED * width,
            "llvm.call" => CALL * width,
            name if name.contains("div") || name.contains("rem") => DIVISION * width,
            _ => width,
        }
    }
}

/// Whether threads go in rows in the first branch, as they nearly always do, and one by one in the second.
fn goes_in_rows(op: Op<'_>) -> bool {
    let branch = |number: usize| op.regions().into_iter().nth(number).and_then(|region| region.first_block());
    let alone = |number: usize| branch(number).is_some_and(|block| block.ops().iter().any(|op| op.is("scf.parallel")));
    !alone(0) && alone(1)
}

/// Whether an `scf.if` chooses between two versions of a thread loop, both of which go in rows.
fn is_of_versions(op: Op<'_>) -> bool {
    let has_rows = |block: Block<'_>| block.ops().into_iter().any(|op| !op.find_all(|op| op.has_attr(ROWS)).is_empty());
    op.regions().into_iter().all(|region| !region.is_empty() && has_rows(region.entry()))
}
