//! `regrain-fuse-loops`: a loop that fills an array of the thread, and the next one, which reads it in the same order, go as one.
//!
//! Before:
//! ```mlir
//! scf.for %i = %c0 to %c15 step %c1 { llvm.store (llvm.load %in[%i * 32 + %lane]), %items[%i] }
//! scf.for %j = %c0 to %c15 step %c1 { llvm.store (llvm.load %items[%j]), %tile[%j * 32 + %lane] }
//! ```
//! After:
//! ```mlir
//! scf.for %j = %c0 to %c15 step %c1 {
//!   llvm.store (llvm.load %in[%j * 32 + %lane]), %items[%j]
//!   llvm.store (llvm.load %items[%j]), %tile[%j * 32 + %lane]
//! }
//! ```
//! On a GPU the array is in registers. A row of threads on a CPU has an array for each of its lanes, more than there are registers for: what the
//! first loop reads would be written to the stack, all of it, before the second writes it anywhere. `regrain-forward-stores` then
//! finds the value.
//!
//! A round of the second loop goes before later rounds of the first: what both access is another place, or that of the same round.
//! Declined: loops that count differently or carry values, hold loops or more than accesses and what computes, and have anything between them
//! but what computes.

use mlir_bridge::{
    ir::{Block, Op, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::is_barrier;
use tracing::debug;

use crate::{
    analysis::{
        accesses::{Access, MemoryAnalysis, Who},
        addresses::{Linear, Symbol},
        constants::constant,
        loops::Counting,
        objects::{Kind, object_of, same_object},
    },
    optimise::targets::{targets, thread_loops},
};

const NAME: &str = "regrain-fuse-loops";

/// The most pairs of accesses that are compared for two loops.
const PAIRS: usize = 1 << 10;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    summary: "fuse loops of a thread that hand on its own array",
    anchor: Anchor::Any,
    options: &[],
    dialects: &["scf"],
    run,
};

fn run(_run: &PassRun<'_>, root: Op<'_>) -> PassResult {
    for parallel in targets(root).into_iter().flat_map(thread_loops) {
        let groups = groups(parallel);
        groups.iter().for_each(|group| fuse(group));
        debug!(target: NAME, "{} groups of loops became one each", groups.len());
    }
    Ok(())
}

/// Loops of a block, in order, that go as one.
type Group<'c> = Vec<Op<'c>>;

/// The groups of more than one loop in a loop over threads.
fn groups(parallel: Op<'_>) -> Vec<Group<'_>> {
    let mut blocks = Vec::new();
    for op in parallel.find_all(|op| op.is("scf.for") && op.num_results() == 0) {
        blocks.extend(op.block().filter(|block| !blocks.contains(block)));
    }
    if blocks.is_empty() {
        return Vec::new();
    }
    let memory = MemoryAnalysis::new(parallel);
    blocks.into_iter().flat_map(|block| groups_of_block(&memory, block)).collect()
}

fn groups_of_block<'c>(memory: &MemoryAnalysis<'c>, block: Block<'c>) -> Vec<Group<'c>> {
    let (mut found, mut group) = (Vec::new(), Group::new());
    for op in block.ops() {
        let is_simple = is_simple(memory, op);
        if is_simple && joins(memory, &group, op) {
            group.push(op);
        } else if is_simple || op.num_regions() > 0 || is_barrier(op) || !op.is_memory_effect_free() {
            found.push(std::mem::take(&mut group));
            group.extend(is_simple.then_some(op));
        }
    }
    found.push(group);
    found.retain(|group| group.len() > 1);
    found
}

/// Whether an operation is a loop that carries nothing, accesses memory and computes.
fn is_simple<'c>(memory: &MemoryAnalysis<'c>, op: Op<'c>) -> bool {
    let fits = |inner: Op<'c>| match inner.name() {
        "llvm.load" | "llvm.store" | "scf.if" => true,
        _ => inner.num_regions() == 0 && (inner.is_terminator() || inner.is_pure()),
    };
    op.is("scf.for")
        && op.num_results() == 0
        && !memory.effects(op).unknown
        && !op.contains(|inner| inner != op && !fits(inner))
}

/// Whether a loop goes on where those of a group are, and reads what one of them hands on.
fn joins<'c>(memory: &MemoryAnalysis<'c>, group: &[Op<'c>], op: Op<'c>) -> bool {
    let mut hands_on = false;
    for earlier in group {
        if !count_alike(*earlier, op) {
            return false;
        }
        let (before, after) = (memory.effects(*earlier), memory.effects(op));
        if before.accesses.len() * after.accesses.len() > PAIRS {
            return false;
        }
        for first in &before.accesses {
            for second in after.accesses.iter().filter(|second| first.writes || second.writes) {
                let is_same = in_step(memory, (*earlier, first), (op, second));
                if !is_same && memory.may_meet(first, second, Who::Same) {
                    return false;
                }
                let is_own = object_of(first.address.root) == Some(Kind::Local);
                hands_on |= is_same && is_own && first.writes && !second.writes;
            }
        }
    }
    hands_on
}

/// Whether two loops run through the same numbers.
fn count_alike<'c>(first: Op<'c>, second: Op<'c>) -> bool {
    let (Some(one), Some(other)) = (Counting::of(first), Counting::of(second)) else { return false };
    let same =
        |a: Value<'c>, b: Value<'c>| a == b || a.ty() == b.ty() && constant(a).is_some_and(|a| constant(b) == Some(a));
    one.unsigned == other.unsigned && one.bounds().into_iter().zip(other.bounds()).all(|(a, b)| same(a, b))
}

/// Whether accesses of two loops are of one place in each round, and of another one in each other round.
fn in_step<'c>(
    memory: &MemoryAnalysis<'c>,
    (first, a): (Op<'c>, &Access<'c>),
    (second, b): (Op<'c>, &Access<'c>),
) -> bool {
    let split = |op: Op<'c>, access: &Access<'c>| -> Option<(i128, Linear<'c>)> {
        let (number, offset) = (op.body().arg(0), access.address.offset.as_ref()?);
        let factor = offset.factor(Symbol::Value(number));
        Some((factor, offset.plus(&memory.offsets.linear(number), -factor)))
    };
    let rounds = || {
        let ((by, rest), (same_by, same_rest)) = (split(first, a)?, split(second, b)?);
        let step = constant(Counting::of(second)?.step)?;
        let apart = by.checked_mul(step.into())?.unsigned_abs();
        (by == same_by && rest.equals(&same_rest)).then_some(apart)
    };
    let (Some(left), Some(right)) = (a.size, b.size) else { return false };
    same_object(a.address.root, b.address.root)
        && rounds().is_some_and(|apart| apart >= u128::from(left.max(right)) && apart > 0)
}

/// Puts the bodies of all loops of a group into the last one.
fn fuse(group: &[Op<'_>]) {
    let Some((last, earlier)) = group.split_last() else { return };
    for op in earlier.iter().rev() {
        let (Some(end), Some(first)) = (op.body().terminator(), last.body().first_op()) else { return };
        end.erase();
        op.body().inline_before(first, &[last.body().arg(0)]);
        op.erase();
    }
}
