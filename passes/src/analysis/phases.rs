//! What runs between barriers: for a barrier, the accesses since the barriers before it and up to those after it.
//!
//! ```mlir
//! scf.for %k = ... {
//!   llvm.load %a            // after the barrier, by way of the next round
//!   regrain.barrier         // <- this one
//!   llvm.store %b           // after it
//!   regrain.barrier
//!   llvm.store %c           // before it, by way of the round before
//! }
//! ```
//! Control flow that only part of a block may take has no phases: who is not in it may be anywhere.

use std::collections::HashSet;

use mlir_bridge::ir::{Block, Op};
use regrain_dialects::ops::{Barrier, BarrierReduce, is_barrier, thread_loop};

use crate::analysis::{
    accesses::{Effects, MemoryAnalysis},
    synchronisation::{STRUCTURES, decisive, is_structure},
};

/// Whether all threads of the loop that a barrier belongs to meet there, and no others: it has no number, no count, and warps arrive whole.
pub fn is_plain(barrier: Op<'_>) -> bool {
    match Barrier::cast(barrier) {
        Some(barrier) => {
            !barrier.is_unaligned() && !barrier.is_grid() && barrier.id().is_none() && barrier.count().is_none()
        }
        None => BarrierReduce::cast(barrier).is_some_and(|reduce| reduce.id().is_none()),
    }
}

/// The barriers of a loop over the threads of a block, and what runs between them.
pub struct Phases<'a, 'c> {
    block: Op<'c>,
    memory: &'a MemoryAnalysis<'c>,
    /// Operations that hold barriers.
    holders: HashSet<Op<'c>>,
    removed: HashSet<Op<'c>>,
}

/// Forward in time or backward.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Back,
    On,
}

impl<'a, 'c> Phases<'a, 'c> {
    pub fn new(block: Op<'c>, memory: &'a MemoryAnalysis<'c>) -> Self {
        let mut holders = HashSet::new();
        for barrier in block.find_all(is_barrier) {
            let mut at = barrier.parent();
            while let Some(op) = at.filter(|op| *op != block) {
                holders.insert(op);
                at = op.parent();
            }
        }
        Self { block, memory, holders, removed: HashSet::new() }
    }

    /// Whether the phases of the loop are known: all its barriers are plain ones, in control flow that its threads share.
    pub fn are_known(&self) -> bool {
        let barriers = self.block.find_all(is_barrier);
        barriers.into_iter().all(|barrier| is_plain(barrier) && thread_loop(barrier) == Some(self.block))
            && self.holders.iter().all(|op| self.is_shared(*op))
    }

    /// Whether all threads that are still there take part in a piece of control flow.
    fn is_shared(&self, op: Op<'c>) -> bool {
        let decisive = decisive(op);
        STRUCTURES.contains(&op.name())
            && is_structure(op)
            && !decisive.is_empty()
            && self.memory.by_rule().all_uniform(&decisive)
    }

    /// The barriers, in order.
    pub fn barriers(&self) -> Vec<Op<'c>> {
        self.block.find_all(|op| is_barrier(op) && !self.removed.contains(&op))
    }

    /// Takes a barrier for none from now on.
    pub fn remove(&mut self, barrier: Op<'c>) {
        self.removed.insert(barrier);
    }

    /// What runs since the barriers before `barrier`.
    pub fn before(&self, barrier: Op<'c>) -> Effects<'c> {
        self.beside(barrier, Way::Back)
    }

    /// What runs up to the barriers after `barrier`.
    pub fn after(&self, barrier: Op<'c>) -> Effects<'c> {
        self.beside(barrier, Way::On)
    }

    fn beside(&self, barrier: Op<'c>, way: Way) -> Effects<'c> {
        let mut walk = Walk { phases: self, way, found: Effects::default(), seen: HashSet::new() };
        walk.leave(barrier);
        walk.found
    }

    fn is_barrier(&self, op: Op<'c>) -> bool {
        is_barrier(op) && !self.removed.contains(&op)
    }
}

struct Walk<'a, 'b, 'c> {
    phases: &'a Phases<'b, 'c>,
    way: Way,
    found: Effects<'c>,
    /// Blocks that were walked from one end to the other, or to a barrier.
    seen: HashSet<Block<'c>>,
}

impl<'c> Walk<'_, '_, 'c> {
    fn ordered(&self, block: Block<'c>) -> Vec<Op<'c>> {
        let mut ops = block.ops();
        if self.way == Way::Back {
            ops.reverse();
        }
        ops
    }

    /// Goes on from an operation: over what comes next in its block, and out of it.
    fn leave(&mut self, from: Op<'c>) {
        let Some(block) = from.block() else { return };
        let rest: Vec<_> = self.ordered(block).into_iter().skip_while(|op| *op != from).skip(1).collect();
        if self.pass(rest) {
            self.exit(block);
        }
    }

    /// Walks operations; whether it gets to the end.
    fn pass(&mut self, ops: Vec<Op<'c>>) -> bool {
        for op in ops {
            if self.phases.is_barrier(op) {
                return false;
            }
            if self.phases.holders.contains(&op) {
                if !self.enter(op) {
                    return false;
                }
            } else {
                self.found.join(&self.phases.memory.effects(op));
            }
        }
        true
    }

    /// Walks a structure that holds barriers; whether some way through it meets none.
    fn enter(&mut self, op: Op<'c>) -> bool {
        let through = |walk: &mut Self, region: usize| walk.through(op.region(region).entry());
        match (op.name(), self.way) {
            ("scf.for", _) => {
                through(self, 0);
                true
            }
            // The test runs first and last.
            ("scf.while", Way::On) => {
                let on = through(self, 0);
                if on && through(self, 1) {
                    through(self, 0);
                }
                on
            }
            ("scf.while", Way::Back) => {
                let test = through(self, 0);
                if test {
                    through(self, 1);
                }
                test
            }
            _ => {
                let mut open = false;
                for region in op.regions() {
                    open |= match region.first_block() {
                        Some(block) => self.through(block),
                        None => true,
                    };
                }
                open
            }
        }
    }

    /// Walks a block from its end, or start; whether it gets to the other end.
    fn through(&mut self, block: Block<'c>) -> bool {
        self.seen.insert(block);
        self.pass(self.ordered(block))
    }

    /// Goes on from the end, or start, of a block.
    fn exit(&mut self, block: Block<'c>) {
        let Some(owner) = block.parent_op() else { return };
        if owner == self.phases.block {
            return;
        }
        let again = |walk: &mut Self, region: usize| {
            let next = owner.region(region).entry();
            walk.seen.contains(&next) || walk.through(next)
        };
        match owner.name() {
            "scf.if" | "scf.index_switch" => self.leave(owner),
            "scf.for" => {
                again(self, 0);
                self.leave(owner);
            }
            "scf.while" => {
                let test = owner.region(0).entry();
                if self.way == Way::On && block == test {
                    if again(self, 1) {
                        again(self, 0);
                    }
                    self.leave(owner);
                } else if self.way == Way::On {
                    // The body's end goes to the test, which leaves the loop or goes round.
                    if again(self, 0) {
                        again(self, 1);
                        self.leave(owner);
                    }
                } else if block == test {
                    // Before the test came the loop's start, or the body, and before that the test.
                    if again(self, 1) {
                        again(self, 0);
                    }
                    self.leave(owner);
                } else if again(self, 0) {
                    again(self, 1);
                    self.leave(owner);
                }
            }
            _ => self.found.unknown = true,
        }
    }
}
