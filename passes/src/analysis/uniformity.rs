//! Which values of a region are the same in all iterations of a parallel loop, and which may vary.
//!
//! ```mlir
//! scf.parallel (%i) = ... {
//!   %a = arith.muli %n, %n : i32        // uniform: nothing in it comes from %i
//!   %b = arith.addi %a, %t : i32        // varies if %t does, say an index cast of %i
//!   %c = llvm.load %p : !llvm.ptr -> i32  // varies: another iteration may have written meanwhile
//!   %r = scf.if %b -> i32 { ... }       // varies: who takes the branch does
//! ```
//! A value varies until shown otherwise: only operations that compute the same wherever they stand keep uniform what they
//! get. Structured control flow among `structures` is looked into, everything else counts as one operation.

use std::collections::HashSet;

use mlir_bridge::ir::{Block, Op, Value};
use regrain_dialects::ops::BarrierReduce;
use regrain_targets::device_language::library;
use rustc_hash::FxHashSet;

use crate::analysis::synchronisation::{STRUCTURES, decisive};

/// What may be relied on beyond computation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trust {
    /// All iterations take part in the reductions at barriers, and get the same.
    pub reductions: bool,
    /// Loads of one address give the same.
    pub loads: bool,
    /// Stack memory of an iteration counts as one place: what all iterations do to their own is what one does.
    pub locals: bool,
}

/// The values that may differ between iterations.
#[derive(Clone)]
pub struct Uniformity<'c> {
    varying: FxHashSet<Value<'c>>,
    structures: HashSet<Op<'c>>,
    trust: Trust,
    /// Operations that give the same where what they get is.
    settled: HashSet<Op<'c>>,
}

impl<'c> Uniformity<'c> {
    /// Analyses `block`, given the values that differ between iterations to begin with.
    pub fn new(block: Block<'c>, seeds: &[Value<'c>], structures: HashSet<Op<'c>>, trust: Trust) -> Self {
        Self::with_settled(block, seeds, structures, trust, HashSet::new())
    }

    /// The same where these operations, too, give the same if what they get is.
    pub fn with_settled(
        block: Block<'c>,
        seeds: &[Value<'c>],
        structures: HashSet<Op<'c>>,
        trust: Trust,
        settled: HashSet<Op<'c>>,
    ) -> Self {
        let mut made = Self { varying: seeds.iter().copied().collect(), structures, trust, settled };
        while made.spread(block) {}
        made
    }

    pub fn is_uniform(&self, value: Value<'c>) -> bool {
        !self.varying.contains(&value)
    }

    /// Whether all threads of a loop come to an operation together: what stands around it they decide alike.
    pub fn is_met_together(&self, op: Op<'c>, threads: Op<'c>) -> bool {
        let mut around = std::iter::successors(op.parent(), |at| at.parent()).take_while(|at| *at != threads);
        around.all(|at| STRUCTURES.contains(&at.name()) && self.all_uniform(&decisive(at)))
    }

    pub fn all_uniform(&self, values: &[Value<'c>]) -> bool {
        values.iter().all(|value| self.is_uniform(*value))
    }

    fn vary(&mut self, value: Value<'c>) -> bool {
        self.varying.insert(value)
    }

    fn vary_if(&mut self, value: Value<'c>, sources: &[Value<'c>]) -> bool {
        !self.all_uniform(sources) && self.vary(value)
    }

    fn vary_all(&mut self, values: &[Value<'c>]) -> bool {
        values.iter().fold(false, |changed, value| self.vary(*value) | changed)
    }

    /// One round of the analysis; whether it found something new.
    fn spread(&mut self, block: Block<'c>) -> bool {
        let mut changed = false;
        for op in block.ops() {
            changed |= if self.structures.contains(&op) && op.num_regions() > 0 {
                self.spread_structure(op)
            } else {
                let results = op.results();
                let is_open = results.iter().any(|result| self.is_uniform(*result));
                is_open && !self.keeps_uniform(op) && self.vary_all(&results)
            };
        }
        changed
    }

    fn keeps_uniform(&self, op: Op<'c>) -> bool {
        if self.trust.reductions && BarrierReduce::is(op) {
            return true;
        }
        let same = || {
            repeatable(op)
                || (self.trust.loads && op.is("llvm.load"))
                || (self.trust.locals && op.is("llvm.alloca"))
                || self.settled.contains(&op)
        };
        self.all_uniform(&free_values(op)) && same()
    }

    fn spread_structure(&mut self, op: Op<'c>) -> bool {
        let mut changed = match op.name() {
            "scf.if" => self.spread_if(op),
            "scf.for" => self.spread_for(op),
            "scf.while" => self.spread_while(op),
            _ => self.vary_all(&op.results()),
        };
        for region in op.regions() {
            for block in region.blocks() {
                changed |= self.spread(block);
            }
        }
        changed
    }

    fn spread_if(&mut self, op: Op<'c>) -> bool {
        if !self.is_uniform(op.operand(0)) {
            return self.vary_all(&op.results());
        }
        let yields: Vec<_> = op.regions().into_iter().filter_map(|r| r.first_block()?.terminator()).collect();
        let mut changed = false;
        for (number, result) in op.results().into_iter().enumerate() {
            let sources: Vec<_> = yields.iter().map(|y| y.operand(number)).collect();
            changed |= self.vary_if(result, &sources);
        }
        changed
    }

    fn spread_for(&mut self, op: Op<'c>) -> bool {
        let args = op.body().args();
        if !self.all_uniform(&op.operands()[..3]) {
            return self.vary_all(&args) | self.vary_all(&op.results());
        }
        let Some(last) = op.body().terminator() else { return false };
        let mut changed = false;
        for (number, result) in op.results().into_iter().enumerate() {
            let sources = [op.operand(3 + number), last.operand(number)];
            changed |= self.vary_if(args[1 + number], &sources) | self.vary_if(result, &sources);
        }
        changed
    }

    fn spread_while(&mut self, op: Op<'c>) -> bool {
        let (before, after) = (op.region(0).entry(), op.region(1).entry());
        let (Some(condition), Some(last)) = (before.terminator(), after.terminator()) else { return false };
        if !self.is_uniform(condition.operand(0)) {
            return self.vary_all(&before.args()) | self.vary_all(&after.args()) | self.vary_all(&op.results());
        }
        let mut changed = false;
        for (number, arg) in before.args().into_iter().enumerate() {
            changed |= self.vary_if(arg, &[op.operand(number), last.operand(number)]);
        }
        for (number, result) in op.results().into_iter().enumerate() {
            let source = [condition.operand(1 + number)];
            changed |= self.vary_if(result, &source) | self.vary_if(after.arg(number), &source);
        }
        changed
    }
}

/// The values that an operation and what is nested in it use and that come from outside of it.
pub fn free_values<'c>(op: Op<'c>) -> Vec<Value<'c>> {
    if op.num_regions() == 0 {
        return op.operands();
    }
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for nested in op.find_all(|_| true) {
        for value in nested.operands() {
            let inner = value.parent_block().and_then(Block::parent_op).is_some_and(|owner| op.is_ancestor_of(owner));
            if !inner && seen.insert(value) {
                found.push(value);
            }
        }
    }
    found
}

/// On loads of memory that nobody writes while the kernel runs.
pub use regrain_dialects::attributes::UNCHANGING;

/// Whether an operation computes the same from the same operands wherever it stands. It may trap where it would not have run.
pub fn repeatable(op: Op<'_>) -> bool {
    match op.name() {
        "llvm.load" => (op.has_attr("invariant") || op.has_attr(UNCHANGING)) && !op.has_attr("volatile_"),
        "llvm.call" => computes(op),
        _ => op.is_pure() || divides(op),
    }
}

/// Whether an operation is a division of integers, which MLIR counts as no pure operation.
fn divides(op: Op<'_>) -> bool {
    matches!(
        op.name(),
        "llvm.sdiv"
            | "llvm.udiv"
            | "llvm.srem"
            | "llvm.urem"
            | "arith.divsi"
            | "arith.divui"
            | "arith.remsi"
            | "arith.remui"
    )
}

/// Whether a repeatable operation may fault where no thread would have run it.
pub fn may_trap(op: Op<'_>) -> bool {
    op.name() == "llvm.load" || op.num_regions() > 0 || divides(op)
}

/// Whether a call is one of a mathematical function.
pub fn computes(op: Op<'_>) -> bool {
    let callee = op.attr("callee").and_then(|callee| callee.as_symbol()).unwrap_or_default();
    library::is_pure(callee) && op.operands().iter().all(|operand| operand.ty().ptr_space().is_none())
}
