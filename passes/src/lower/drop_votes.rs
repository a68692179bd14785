//! `regrain-drop-votes`: votes of a warp that decide nothing but who takes part in votes are dropped.
//!
//! Before:
//! ```mlir
//! scf.while (%mask = %all, ...) { ... poll ... ; %next = regrain.vote ballot %more mask %mask ; scf.condition(%more) %next } do { ... }
//! ```
//! After:
//! ```mlir
//! scf.while (%mask = %all, ...) { ... poll ... ; scf.condition(%more) %none } do { ... }
//! ```
//! A look-back keeps so the mask of the lanes that still look, as a GPU wants to be told it. Where threads wait for other blocks each lane would
//! need a stack of its own, on which it waits for the others of its warp. By itself a vote orders no accesses, so nobody can see
//! that it is gone. What it gives goes through computation and control flow, and ends in masks of votes that go too.
//!
//! Declined: votes whose result nobody asks for, which may be meant to bring a warp together; blocks of unknown shape, whose warps are not rows.

use std::collections::HashSet;

use mlir_bridge::{
    ir::{Builder, Op, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::{GpuWrapper, Vote};

use crate::analysis::facts::constant;

/// The most values that a result is followed to.
const MOST: usize = 256;
/// The number of the operand of a vote that names the lanes.
const MASK: usize = 1;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-drop-votes",
    summary: "drop votes of a warp that only decide who votes",
    anchor: Anchor::Module,
    options: &[],
    dialects: &["regrain", "arith"],
    run,
};

fn run(_pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    let loops = GpuWrapper::all(module).into_iter().flat_map(GpuWrapper::block_loops);
    loops.filter(|parallel| has_known_shape(*parallel)).for_each(drop_in);
    Ok(())
}

fn has_known_shape(parallel: Op<'_>) -> bool {
    let rank = parallel.body().num_args();
    (rank..2 * rank).all(|size| constant(parallel.operand(size)).is_some())
}

/// Drops the votes of a loop over threads.
fn drop_in(parallel: Op<'_>) {
    let mut votes: HashSet<Op<'_>> =
        parallel.find_named(Vote::NAME).into_iter().filter(|vote| vote.result(0).has_uses()).collect();
    // Those that serve a vote that stays, stay.
    loop {
        let kept: Vec<_> = votes.iter().copied().filter(|vote| !only_names_lanes(*vote, &votes)).collect();
        if kept.is_empty() {
            break;
        }
        kept.iter().for_each(|vote| _ = votes.remove(vote));
    }
    for vote in votes {
        let result = vote.result(0);
        result.replace_all_uses_with(Builder::before(vote).const_int(result.ty(), 0));
        vote.erase();
    }
}

/// Whether what a vote gives ends in masks of these votes alone.
fn only_names_lanes<'c>(vote: Op<'c>, votes: &HashSet<Op<'c>>) -> bool {
    let mut seen = HashSet::from([vote.result(0)]);
    let mut left = vec![vote.result(0)];
    while let Some(value) = left.pop() {
        for used in value.uses() {
            if votes.contains(&used.owner) && used.operand == MASK {
                continue;
            }
            let Some(next) = handed_to(used.owner, used.operand) else { return false };
            left.extend(next.into_iter().filter(|value| seen.insert(*value)));
            if seen.len() > MOST {
                return false;
            }
        }
    }
    true
}

/// The values that an operand becomes or is computed into; `None` if it decides or does something.
fn handed_to<'c>(owner: Op<'c>, operand: usize) -> Option<Vec<Value<'c>>> {
    let around = owner.parent();
    match owner.name() {
        "scf.yield" => {
            let around = around?;
            match around.name() {
                "scf.if" | "scf.index_switch" => Some(vec![around.result(operand)]),
                "scf.for" => Some(vec![around.result(operand), around.body().arg(1 + operand)]),
                "scf.while" => Some(vec![around.region(0).entry().arg(operand)]),
                _ => None,
            }
        }
        "scf.condition" => {
            let (around, number) = (around?, operand.checked_sub(1)?);
            Some(vec![around.result(number), around.region(1).entry().arg(number)])
        }
        "scf.while" => Some(vec![owner.region(0).entry().arg(operand)]),
        "scf.for" => {
            let number = operand.checked_sub(3)?;
            Some(vec![owner.result(number), owner.body().arg(1 + number)])
        }
        _ => (owner.num_regions() == 0 && owner.is_pure()).then(|| owner.results()),
    }
}
