//! `regrain-hoist-invariants`: what is the same in every round of a loop is computed, and loaded, before it.
//!
//! ```text
//! Before:                                          After:
//!   scf.for %k = %c0 to %c100 step %c1 {             %a = llvm.load %tile[%x]
//!     %a = llvm.load %tile[%x]                       scf.for %k = %c0 to %c100 step %c1 {
//!     %b = llvm.load %tile[%k]                         %b = llvm.load %tile[%k]
//!     llvm.store %s, %global[%x]                       llvm.store %s, %global[%x]
//!   }                                                }
//! ```
//!
//! Computation moves out of serial loops, then out of the loop over the threads and that over the blocks, the latter by MLIR's
//! loop-invariant code motion. It cannot serve for serial loops: it moves no loads, nothing that waits for them, and no division
//! or call of a mathematical function that the first round runs anyway, which one walk decides together. A load moves if its
//! address is the same in every round and neither the thread in the loop, nor any other in the phases around the loop's
//! barriers, may write there. It must run in the original as well: the loop has a first round for sure, or the address is
//! within its object; else it is put under the condition that there is a first round.
//!
//! Declines for volatile and atomic loads, for all loads where the loop calls, exchanges or waits, for divisions that may not
//! have run, and for what stands in a condition within the loop, but for the one that a `scf.while` ends by (`test.rs`).

mod test;

use std::{collections::HashSet, rc::Rc};

use mlir_bridge::{
    ir::{Block, Builder, Op, Value},
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
    transforms::move_loop_invariant_code,
};
use regrain_dialects::ops::{Shared, is_barrier};
use tracing::debug;

use test::Test;

use crate::{
    analysis::accesses::{Access, Effects, MemoryAnalysis, Who},
    analysis::counted_loop::is_outside,
    analysis::facts::{constant, has_first_round},
    analysis::loops::Counting,
    analysis::phases::Phases,
    analysis::uniformity::{computes, free_values, may_trap, repeatable},
    carried::has_round,
    optimise::targets::{targets, thread_loops},
};

const NAME: &str = "regrain-hoist-invariants";

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    summary: "move computation and loads out of serial and parallel loops",
    anchor: Anchor::Any,
    options: &[PassOption {
        name: "parallel",
        default: "true",
        description: "also out of the parallel loops, where a host compiler does not do it as well",
    }],
    dialects: &["regrain", "scf", "arith", "ub"],
    run,
};

fn run(run: &PassRun<'_>, root: Op<'_>) -> PassResult {
    let parallel = run.option_bool("parallel")?;
    for target in targets(root) {
        hoist(target);
        if parallel {
            hoist_from_parallel(target);
        }
    }
    Ok(())
}

/// Moves what is invariant out of the serial loops of a target; gives the number of operations.
pub fn hoist(target: Op<'_>) -> usize {
    let mut moved = 0;
    for block in thread_loops(target) {
        let mut loops = block.find_all(|op| matches!(op.name(), "scf.for" | "scf.while"));
        loops.reverse();
        let mut memory = MemoryAnalysis::new(block);
        for nest in loops {
            let moves = find(nest, block, &memory);
            moved += moves.plain.len() + moves.guarded.len();
            for op in &moves.plain {
                op.move_before(nest);
            }
            if !moves.guarded.is_empty() {
                move_under_guard(nest, &moves.guarded);
                memory = MemoryAnalysis::new(block);
            }
        }
    }
    debug!(target: NAME, "moved {moved} operations");
    moved
}

/// Moves computation out of the parallel loops of a target; gives the number of operations.
pub fn hoist_from_parallel(target: Op<'_>) -> usize {
    thread_loops(target).into_iter().map(out_of_parallel).sum()
}

/// Moves computation out of a parallel loop, and out of those around it.
fn out_of_parallel(nest: Op<'_>) -> usize {
    let moved = move_loop_invariant_code(nest);
    match nest.parent().filter(|parent| parent.is("scf.parallel")) {
        Some(parent) => moved + out_of_parallel(parent),
        None => moved,
    }
}

/// Computation that may run anywhere.
fn is_plain_computation(op: Op<'_>) -> bool {
    op.num_results() > 0 && !op.is_terminator() && repeatable(op) && !may_trap_here(op)
}

/// Whether an operation could fault where the original would not have run it.
fn may_trap_here(op: Op<'_>) -> bool {
    if op.num_regions() > 0 {
        return !op.is_pure();
    }
    may_trap(op) && !divides_by_constant(op)
}

/// A division by a constant that neither is zero nor overflows.
fn divides_by_constant(op: Op<'_>) -> bool {
    op.num_operands() == 2 && constant(op.operand(1)).is_some_and(|divisor| divisor != 0 && divisor != -1)
}

/// What moves out of one serial loop, and how.
#[derive(Default)]
struct Moves<'c> {
    ops: HashSet<Op<'c>>,
    /// In order.
    plain: Vec<Op<'c>>,
    /// Loads that need a first round, with what depends on them alone.
    guarded: Vec<Op<'c>>,
}

impl<'c> Moves<'c> {
    /// Whether a value is known before the loop, or will be.
    fn is_before(&self, value: Value<'c>, nest: Op<'c>) -> bool {
        is_outside(value, nest) || value.defining_op().is_some_and(|op| self.ops.contains(&op))
    }

    fn needs_guard(&self, op: Op<'c>) -> bool {
        free_values(op).iter().any(|value| value.defining_op().is_some_and(|source| self.guarded.contains(&source)))
    }
}

/// Finds what is invariant; changes nothing.
fn find<'c>(nest: Op<'c>, block: Op<'c>, memory: &MemoryAnalysis<'c>) -> Moves<'c> {
    let mut search = Search { nest, block, memory, loads: None, moves: Moves::default() };
    let counting = Counting::of(nest);
    let first_round = counting.is_some_and(|counting| has_first_round(&counting));
    let test = Test::of(nest);
    for (number, region) in nest.regions().into_iter().enumerate() {
        let Some(body) = region.single_block() else { continue };
        // The test of a `while` always runs; its body only after it.
        let certain = if nest.is("scf.while") { number == 0 } else { first_round };
        search.look(body, Runs { certain, guardable: counting.is_some() }, test.as_ref());
    }
    search.moves
}

/// When a block of a loop runs.
#[derive(Clone, Copy)]
struct Runs {
    /// In a round for sure.
    certain: bool,
    /// In the first round if in any, which can be told before the loop.
    guardable: bool,
}

/// The search for what is invariant in one loop.
struct Search<'a, 'c> {
    nest: Op<'c>,
    block: Op<'c>,
    memory: &'a MemoryAnalysis<'c>,
    loads: Option<Loads<'a, 'c>>,
    moves: Moves<'c>,
}

impl<'c> Search<'_, 'c> {
    fn look(&mut self, body: Block<'c>, runs: Runs, test: Option<&Test<'c>>) {
        let nest = self.nest;
        let mut reached = true;
        for op in body.ops() {
            if op.is_terminator() {
                break;
            }
            let certain = runs.certain && reached;
            let guardable = runs.guardable && reached;
            let moves = &mut self.moves;
            let here = free_values(op).iter().all(|value| moves.is_before(*value, nest));
            let guarded = moves.needs_guard(op);
            if op.num_results() > 0 && is_computation(op) && here && (certain || !may_trap_here(op)) && !guarded {
                moves.ops.insert(op);
                moves.plain.push(op);
            } else if op.is("llvm.load") && here {
                let loads = self.loads.get_or_insert_with(|| Loads::new(nest, self.block, self.memory));
                if loads.stay_the_same(op) {
                    if (certain || loads.within_object(op)) && !guarded {
                        moves.ops.insert(op);
                        moves.plain.push(op);
                    } else if guardable {
                        moves.ops.insert(op);
                        moves.guarded.push(op);
                    }
                }
            } else if guarded && runs.guardable && is_plain_computation(op) && here {
                moves.ops.insert(op);
                moves.guarded.push(op);
            } else if let Some(test) = test.filter(|test| test.branch == op && reached) {
                self.look(test.branch.region(0).entry(), Runs { certain: false, guardable: true }, None);
            }
            reached = reached && !self.memory.may_end(op);
        }
    }
}

fn is_computation(op: Op<'_>) -> bool {
    !op.is("llvm.load") && repeatable(op) && (op.num_regions() == 0 || op.is_pure()) || computes(op)
}

/// What is written while a loop runs.
struct Loads<'a, 'c> {
    memory: &'a MemoryAnalysis<'c>,
    own: Rc<Effects<'c>>,
    others: Effects<'c>,
}

impl<'a, 'c> Loads<'a, 'c> {
    fn new(nest: Op<'c>, block: Op<'c>, memory: &'a MemoryAnalysis<'c>) -> Self {
        let mut others = Effects::default();
        let barriers = nest.find_all(is_barrier);
        if !barriers.is_empty() {
            let phases = Phases::new(block, memory);
            if phases.are_known() {
                for barrier in barriers {
                    others.join(&phases.before(barrier));
                    others.join(&phases.after(barrier));
                }
            } else {
                block.body().ops().into_iter().for_each(|op| others.join(&memory.effects(op)));
            }
        }
        Self { memory, own: memory.effects(nest), others }
    }

    /// Whether a load gives the same in every round as before the loop.
    fn stay_the_same(&self, load: Op<'c>) -> bool {
        let effects = self.memory.effects(load);
        let (false, [place]) = (effects.unknown, &effects.accesses[..]) else { return false };
        if self.memory.is_unchanging(load) {
            return true;
        }
        let meets = |write: &Access<'c>, who| self.memory.may_meet(write, place, who);
        !(self.own.unknown
            || self.others.unknown
            || self.own.writes().any(|write| meets(write, Who::Same))
            || self.others.writes().any(|write| meets(write, Who::Other)))
    }

    /// Whether a load is of its object whatever its address comes to.
    fn within_object(&self, load: Op<'c>) -> bool {
        let address = self.memory.offsets.address(load.operand(0));
        let Some(object) = address.root.defining_op() else { return false };
        let size = Shared::cast(object).map(|shared| shared.memory_type().layout(object).0);
        let (bytes, alignment) = load.result(0).ty().layout(load);
        let stated =
            load.attr("alignment").and_then(|stated| stated.as_int()).map_or(alignment, |stated| stated as u64);
        let (Some(size), Some(offset)) = (size, address.offset) else { return false };
        let found = offset.range();
        let aligned = offset.factors().all(|part| part % i128::from(stated.max(1)) == 0);
        aligned && found.low >= 0 && found.high + i128::from(bytes) <= i128::from(size)
    }
}

/// Moves operations before a loop, under the condition that it has a first round.
fn move_under_guard<'c>(nest: Op<'c>, guarded: &[Op<'c>]) {
    let Some(some) = has_round(nest).or_else(|| Some(Test::of(nest)?.before(nest))) else { return };
    let b = Builder::before(nest);
    let results: Vec<_> = guarded.iter().flat_map(|op| op.results()).collect();
    let types: Vec<_> = results.iter().map(|value| value.ty()).collect();
    let made = b.scf_if(some, &types, true);
    let then = made.region(0).entry();
    for op in guarded {
        op.move_to_end(then);
    }
    for (old, new) in results.iter().zip(made.results()) {
        old.replace_uses_if(new, |used| !made.is_ancestor_of(used.owner));
    }
    Builder::at_end(then, nest.loc()).scf_yield(&results);
    let otherwise = Builder::at_end(made.region(1).entry(), nest.loc());
    let nothing: Vec<_> = types.iter().map(|ty| otherwise.poison(*ty)).collect();
    otherwise.scf_yield(&nothing);
}
