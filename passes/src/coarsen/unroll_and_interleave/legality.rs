//! When a parallel loop can be unrolled and interleaved, how each piece of control flow in it is treated, and the closed list
//! of reasons why not.

use std::collections::{HashMap, HashSet};

use mlir_bridge::ir::Op;
use regrain_dialects::ops::{Barrier, BarrierReduce, WARP, is_barrier, is_grid_barrier, thread_loop};
use regrain_targets::device_language::thread_ops::{ThreadOp, classify};

use super::{Unroll, warps};
use crate::analysis::{
    functions::Functions,
    objects::is_shared,
    synchronisation::{decisive, is_structure, region_with_barriers},
    trips,
    uniformity::{Trust, Uniformity},
    waiting::may_wait,
};

mlir_bridge::reasons! {
    /// Why a loop is not unrolled and interleaved, or a kernel not coarsened.
    pub enum Refusal {
        NoSuchDimension => "the loop has no such dimension",
        TooLarge => "its body would have more operations than are worth compiling",
        Reductions => "the loop reduces values",
        BarrierDuplicated => "a barrier of another loop would be duplicated",
        BarrierOfOuterLoop => "it holds a barrier of a loop around it",
        DivergentBarrier => "control flow around a barrier depends on the thread",
        NamedBarrier => "it uses a barrier of part of the block",
        GridBarrier => "its blocks wait for one another",
        Unstructured => "it synchronises inside of control flow that is not structured",
        MayWait => "it may wait for another iteration",
        ThreadRegisters => "it reads registers of its thread",
        Calls => "it calls a function that may know its thread or synchronise",
        SplitWarps => "whole warps would not stay whole",
        PartedWarps => "lanes of a warp may part before a warp operation, some copies of them going on",
        NotDivisible => "the factor does not divide the number of iterations",
        BlockSizeNotConstant => "block size not constant",
        NoBlockLoop => "it has no grid loop with one block loop inside",
        GridShape => "its grid loop does not run over the whole grid",
        BlockShape => "its block loop does not run over the whole block",
        EffectsBesideLoops => "it has effects between the grid loop and the block loop",
    }
}

/// The most operations of an unrolled loop: as many as an alternative may have.
const MOST_OPERATIONS: usize = 8_000;

/// What legality found out, for the mutation to follow.
pub struct Plan<'c> {
    /// Structured operations that all copies share.
    pub jammed: HashSet<Op<'c>>,
    /// Those of them that some copies do not come to (`masks.rs`).
    pub masked: HashSet<Op<'c>>,
    /// What is the same in all copies.
    pub uniform: Uniformity<'c>,
}

/// Whether operation `op` exchanges something within a warp.
pub fn is_warp_operation(op: Op<'_>) -> bool {
    WARP.contains(&op.name()) || matches!(classify(op), Some(ThreadOp::Warp)) || is_volatile_shared(op)
}

/// Code older than `__syncwarp` counts on its lanes going in step from one volatile access of shared memory to the next.
fn is_volatile_shared(op: Op<'_>) -> bool {
    let address = match op.name() {
        "llvm.load" => op.operand(0),
        "llvm.store" => op.operand(1),
        _ => return false,
    };
    op.has_attr("volatile_") && is_shared(address)
}

/// Why `nest` cannot be unrolled as asked, or how it is.
pub fn check<'c>(nest: Op<'c>, unroll: &Unroll, functions: &mut Functions<'c>) -> Result<Plan<'c>, Refusal> {
    if nest.num_results() > 0 {
        return Err(Refusal::Reductions);
    }
    let Some(seed) = nest.body().args().get(unroll.dimension).copied() else { return Err(Refusal::NoSuchDimension) };
    if nest.find_all(|_| true).len().saturating_mul(unroll.factor) > MOST_OPERATIONS {
        return Err(Refusal::TooLarge);
    }
    let structures: HashSet<_> = nest.find_all(|op| op != nest && is_structure(op)).into_iter().collect();
    let analyse = |loads| {
        let trust = Trust { reductions: belongs_to_reductions(nest), loads, ..Trust::default() };
        Uniformity::new(nest.body(), &[seed], structures.clone(), trust)
    };
    let mut check = Check {
        nest,
        unroll,
        functions,
        strict: analyse(false),
        by_rule: analyse(true),
        holds: barriers_held(nest),
        jammed: HashSet::new(),
        masked: HashSet::new(),
    };
    check.block(nest)?;
    check.every_operation()?;
    Ok(Plan { jammed: check.jammed, masked: check.masked, uniform: check.strict })
}

/// Whether all reductions at barriers join the iterations of `nest`, so that all of them get the same.
fn belongs_to_reductions(nest: Op<'_>) -> bool {
    BarrierReduce::all(nest).into_iter().all(|reduce| reduce.parallel_loop() == Some(nest))
}

/// For each operation, the loops whose barriers it holds.
fn barriers_held<'c>(nest: Op<'c>) -> HashMap<Op<'c>, Vec<Op<'c>>> {
    let mut held: HashMap<Op<'c>, Vec<Op<'c>>> = HashMap::new();
    for barrier in nest.find_all(is_barrier) {
        let Some(owner) = thread_loop(barrier) else { continue };
        let mut at = barrier.parent();
        while let Some(op) = at.filter(|op| *op != nest) {
            let loops = held.entry(op).or_default();
            if !loops.contains(&owner) {
                loops.push(owner);
            }
            at = op.parent();
        }
    }
    held
}

struct Check<'a, 'c> {
    nest: Op<'c>,
    unroll: &'a Unroll,
    functions: &'a mut Functions<'c>,
    /// What is proven to be the same in all copies.
    strict: Uniformity<'c>,
    /// What is the same if a barrier says that control flow is: loads of one address give one value.
    by_rule: Uniformity<'c>,
    holds: HashMap<Op<'c>, Vec<Op<'c>>>,
    jammed: HashSet<Op<'c>>,
    masked: HashSet<Op<'c>>,
}

impl<'c> Check<'_, 'c> {
    /// Decides over the control flow directly in the regions of an operation that copies share.
    fn block(&mut self, owner: Op<'c>) -> Result<(), Refusal> {
        for op in owner.regions().into_iter().flat_map(|region| region.blocks()).flat_map(|block| block.ops()) {
            if is_barrier(op) {
                self.barrier(op)?;
            }
            if op.num_regions() > 0 && self.shares(op)? {
                self.jammed.insert(op);
                self.block(op)?;
            }
        }
        Ok(())
    }

    /// Whether all copies can share a piece of control flow; an error if they would have to and cannot.
    fn shares(&mut self, op: Op<'c>) -> Result<bool, Refusal> {
        let held = self.holds.get(&op).map_or(&[][..], Vec::as_slice);
        if !is_structure(op) || (op.is("scf.parallel") && op.num_results() > 0) {
            return if held.is_empty() { self.apart(op) } else { Err(Refusal::Unstructured) };
        }
        let decisive = decisive(op);
        if self.strict.all_uniform(&decisive) || (op.is("scf.for") && trips::are_same(op, &self.strict)) {
            return Ok(true);
        }
        if held.is_empty() {
            return self.apart(op);
        }
        let own = held.iter().all(|owner| *owner == self.nest);
        if own && self.by_rule.all_uniform(&decisive) {
            return Ok(true);
        }
        // On a GPU a warp operation may name lanes that left, but not lanes that wait for another copy.
        if region_with_barriers(op).is_some() && !op.contains(is_warp_operation) {
            self.masked.insert(op);
            return Ok(true);
        }
        Err(if own { Refusal::DivergentBarrier } else { Refusal::BarrierDuplicated })
    }

    /// Each copy runs a piece of control flow by itself. A lane that left, in one copy, is alive in the others: a warp operation
    /// that names it, as one may name lanes that exited, would wait for it. So the lanes of a warp must go together.
    fn apart(&self, op: Op<'c>) -> Result<bool, Refusal> {
        let of = |inner: Op<'c>| WARP.contains(&inner.name());
        let together = |inner: Op<'c>| {
            let mut at = Some(inner);
            let own = thread_loop(inner);
            while let Some(structure) = at.and_then(Op::parent).filter(|parent| op.is_ancestor_of(*parent)) {
                if !is_structure(structure)
                    || !decisive(structure)
                        .into_iter()
                        .all(|value| own.is_some_and(|own| warps::is_same_in_warp(value, own)))
                {
                    return false;
                }
                at = Some(structure);
            }
            true
        };
        if op.find_all(of).into_iter().all(together) { Ok(false) } else { Err(Refusal::PartedWarps) }
    }

    /// A barrier that all copies share.
    fn barrier(&self, op: Op<'c>) -> Result<(), Refusal> {
        let owner = thread_loop(op).ok_or(Refusal::Unstructured)?;
        if is_grid_barrier(op) {
            return Err(Refusal::GridBarrier);
        }
        if owner != self.nest && !self.nest.is_ancestor_of(owner) {
            return Err(Refusal::BarrierOfOuterLoop);
        }
        let (id, count) = match Barrier::cast(op) {
            Some(barrier) => (barrier.id(), barrier.count()),
            None => (BarrierReduce::cast(op).and_then(BarrierReduce::id), None),
        };
        let others: Vec<_> = id.into_iter().chain(count).collect();
        let whole = others.len() <= 1 && others.iter().all(|id| id.defining_op().and_then(Op::constant_int) == Some(0));
        // Other blocks' threads take part alike; coarser threads are fewer than a barrier counts.
        let alike = owner != self.nest && self.strict.all_uniform(&others);
        if whole || alike { Ok(()) } else { Err(Refusal::NamedBarrier) }
    }

    /// What may stand nowhere in the loop.
    fn every_operation(&mut self) -> Result<(), Refusal> {
        for op in self.nest.find_all(|_| true) {
            match classify(op) {
                None | Some(ThreadOp::Lane("warpsize") | ThreadOp::Warp) => {}
                Some(_) => return Err(Refusal::ThreadRegisters),
            }
            if op.is("scf.while") && may_wait(op) && !self.meets_in_each_round(op) {
                return Err(Refusal::MayWait);
            }
            if matches!(op.name(), "llvm.call" | "llvm.invoke") && !self.functions.may_call(op) {
                return Err(Refusal::Calls);
            }
            if is_warp_operation(op) && self.belongs_here(op) && !self.unroll.whole_warps {
                return Err(Refusal::SplitWarps);
            }
        }
        Ok(())
    }

    /// Whether a barrier in a loop keeps all iterations of the unrolled loop in step.
    fn meets_in_each_round(&self, op: Op<'c>) -> bool {
        let direct = op.regions().into_iter().flat_map(|region| region.blocks()).flat_map(|block| block.ops());
        direct.into_iter().any(|inner| is_barrier(inner) && thread_loop(inner) == Some(self.nest))
    }

    /// Whether the warps that an operation concerns are those of the unrolled loop.
    fn belongs_here(&self, op: Op<'c>) -> bool {
        match WARP.contains(&op.name()) {
            true => thread_loop(op) == Some(self.nest),
            // Neither calls nor volatile accesses say whose warps they mean: those of the innermost parallel loop.
            false => op.parent_of_name("scf.parallel") == Some(self.nest),
        }
    }
}
