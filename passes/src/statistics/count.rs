//! Counts the operations of a thread: the walk over the body of a block loop.
//!
//! What LLVM will do anyway is taken for done: an operation that computes what another one did before counts once, a load of
//! what was just loaded counts once, and what a loop computes anew in each iteration though it never changes counts where the
//! loop begins.

use std::collections::HashMap;

use mlir_bridge::ir::{Attr, Block, Op, Type, Value};
use regrain_dialects::ops::{Barrier, is_barrier};
use regrain_tuning::expr::Expr;
use regrain_tuning::statistics::{Access, AccessGroup, Kind, Loop, Space, Statistics};

use super::address::{self, Touched};
use super::classify;
use super::form::{Coefficient, WARP};
use super::lanes::Lanes;
use super::symbolic::Symbolic;
use crate::analysis::facts::constant;
use crate::analysis::loops::{Counting, first};
use crate::analysis::uniformity::repeatable;

/// Iterations of an innermost loop whose loads the compiler brings together.
const UNROLLED: f64 = 4.0;

/// Larger accesses, of whole structures, count as this many bytes.
const MOST_BYTES: u32 = 1024;

/// What is on the way to an operation.
struct Scope {
    /// How often it runs in each run of a thread.
    weight: Expr,
    is_loop: bool,
}

/// Two operations with equal keys compute the same: name, operands, attributes, types, and for loads how often memory has
/// been written before.
type Key<'c> = (&'c str, Vec<Value<'c>>, Vec<(&'c str, Attr<'c>)>, Vec<Type<'c>>, u32);

/// A load whose value nobody has asked for yet.
struct Pending<'c> {
    value: Value<'c>,
    space: Space,
}

/// The walk.
pub struct Counter<'a, 'c> {
    pub lanes: &'a mut Lanes<'c>,
    pub symbolic: &'a mut Symbolic<'c>,
    pub statistics: &'a mut Statistics,
    scopes: Vec<Scope>,
    /// How deep in `scopes` a value was computed.
    depths: HashMap<Value<'c>, usize>,
    /// What was computed in each region around.
    tables: Vec<HashMap<Key<'c>, Vec<Value<'c>>>>,
    /// How often memory was written, by now.
    writes: u32,
    pending: Vec<Pending<'c>>,
    touched: Touched,
    /// Conditions of which one at least holds here.
    disjuncts: Vec<Value<'c>>,
}

impl<'a, 'c> Counter<'a, 'c> {
    pub fn new(lanes: &'a mut Lanes<'c>, symbolic: &'a mut Symbolic<'c>, statistics: &'a mut Statistics) -> Self {
        Self {
            lanes,
            symbolic,
            statistics,
            scopes: vec![Scope { weight: Expr::constant(1.0), is_loop: false }],
            depths: HashMap::new(),
            tables: Vec::new(),
            writes: 0,
            pending: Vec::new(),
            touched: Touched::default(),
            disjuncts: Vec::new(),
        }
    }

    /// Counts a block once.
    pub fn block(&mut self, block: Block<'c>) {
        self.tables.push(HashMap::new());
        for op in block.ops() {
            self.op(op);
        }
        self.tables.pop();
    }

    fn weight(&self) -> Expr {
        self.scopes.last().map(|scope| scope.weight.clone()).unwrap_or_default()
    }

    fn op(&mut self, op: Op<'c>) {
        match op.name() {
            "scf.if" => self.branch(op),
            "scf.for" => self.counted_loop(op),
            "scf.while" => self.while_loop(op),
            "scf.reduce" => {}
            _ if op.num_regions() > 0 => {
                op.regions().into_iter().flat_map(|r| r.blocks()).for_each(|block| self.block(block))
            }
            _ if op.is_trivially_dead() => {}
            _ => self.leaf(op),
        }
    }

    fn leaf(&mut self, op: Op<'c>) {
        if self.is_known(op) {
            return;
        }
        self.wait(op);
        self.statistics.size += 1;
        match op.name() {
            "llvm.load" => self.access(op, op.operand(0), Access::Load, op.result(0).ty()),
            "llvm.store" => self.access(op, op.operand(1), Access::Store, op.operand(0).ty()),
            "llvm.atomicrmw" | "llvm.cmpxchg" => self.access(op, op.operand(0), Access::Atomic, op.operand(1).ty()),
            "llvm.alloca" => self.alloca(op),
            _ => {
                if let Some(kind) =
                    classify::kind(op).map(|kind| if constant_once_unrolled(op) { Kind::Integer } else { kind })
                {
                    let depth = self.depth(op);
                    let weight = self.scopes[depth].weight.clone();
                    self.statistics.add(kind, &weight);
                }
            }
        }
        if !op.is_memory_effect_free() && !op.is("llvm.load") {
            self.writes += 1;
        }
        let depth = self.depth(op);
        for result in op.results() {
            self.depths.insert(result, depth);
        }
    }

    /// The scope that an operation is in once loops have lost what never changes in them.
    fn depth(&self, op: Op<'c>) -> usize {
        let here = self.scopes.len() - 1;
        if !repeatable(op) || op.is("llvm.load") {
            return here;
        }
        let needs = op.operands().iter().filter_map(|value| self.depths.get(value)).copied().max().unwrap_or(0);
        let mut depth = here;
        while depth > needs && self.scopes[depth].is_loop {
            depth -= 1;
        }
        depth
    }

    /// Whether an operation computes what another one did.
    fn is_known(&mut self, op: Op<'c>) -> bool {
        let load = op.is("llvm.load") && !op.has_attr("volatile_");
        if op.num_results() == 0 || !(load || repeatable(op)) {
            return false;
        }
        let operands = op.operands().into_iter().map(|value| self.lanes.representative(value)).collect();
        let marks =
            |name: &str| matches!(name, "tbaa" | "alignment" | "overflowFlags" | "fastmathFlags" | "noWrapFlags");
        let attrs = op.attrs().into_iter().filter(|(name, _)| !marks(name)).collect();
        let types = op.results().iter().map(|result| result.ty()).collect();
        let key = (op.name(), operands, attrs, types, if load { self.writes } else { 0 });
        if let Some(results) = self.tables.iter().rev().find_map(|table| table.get(&key)) {
            for (own, same) in op.results().into_iter().zip(results.clone()) {
                self.lanes.equate(own, same);
                let depth = self.depths.get(&same).copied().unwrap_or(0);
                self.depths.insert(own, depth);
            }
            return true;
        }
        if let Some(table) = self.tables.last_mut() {
            table.insert(key, op.results());
        }
        false
    }

    fn access(&mut self, op: Op<'c>, pointer: Value<'c>, access: Access, ty: Type<'c>) {
        let bytes = u32::try_from(ty.layout(op).0).unwrap_or(MOST_BYTES).clamp(1, MOST_BYTES);
        let space = address::space(pointer);
        let form = self.lanes.form(pointer);
        let layout = address::layout(form.as_deref(), space, bytes, self.lanes);
        let count = self.weight();
        let near = match &form {
            Some(form) if space == Space::Global && access != Access::Atomic => {
                self.touched.touch(form, bytes, self.lanes.threads(), layout.transactions)
            }
            _ => 0.0,
        };
        let address::Layout { pattern, transactions, lines } = layout;
        let reused = count.scaled(near);
        self.statistics.add_memory(AccessGroup { space, access, pattern, bytes, count, transactions, lines, reused });
        if access == Access::Load && matches!(space, Space::Global | Space::Shared) {
            self.pending.push(Pending { value: op.result(0), space });
            let run = u32::try_from(self.pending.len()).unwrap_or(u32::MAX);
            self.statistics.longest_run = self.statistics.longest_run.max(run);
        }
        if access == Access::Atomic && op.result(0).has_uses() {
            let weight = self.weight();
            self.statistics.global_waits += &weight;
        }
    }

    /// The first use of a load waits for it, and for all that were asked for with it.
    fn wait(&mut self, op: Op<'c>) {
        let used = |pending: &Pending<'c>| {
            op.operands().into_iter().any(|operand| self.lanes.representative(operand) == pending.value)
        };
        let mut spaces: Vec<Space> =
            self.pending.iter().filter(|pending| used(pending)).map(|pending| pending.space).collect();
        spaces.dedup();
        if spaces.is_empty() {
            return;
        }
        let weight = self.weight();
        if spaces.contains(&Space::Global) {
            self.statistics.global_waits += &weight;
            self.pending.clear();
        } else {
            self.statistics.shared_waits += &weight;
            self.pending.retain(|pending| pending.space != Space::Shared);
        }
    }

    fn alloca(&mut self, op: Op<'c>) {
        let size = op.attr("elem_type").and_then(|ty| ty.as_type()).map_or(0, |ty| ty.layout(op).0);
        let count = constant(op.operand(0)).and_then(|count| u64::try_from(count).ok()).unwrap_or(1);
        self.statistics.local += size * count;
    }

    fn branch(&mut self, op: Op<'c>) {
        self.wait(op);
        let condition = op.operand(0);
        let threads = self.lanes.threads();
        let form = self.lanes.form(condition);
        let together = form.as_ref().is_some_and(|form| form.is_uniform_in_warps(threads));
        let here = self.weight();
        self.statistics.size += 1;
        let decided = form.and_then(|form| form.as_numbers());
        // Where the copies of a coarse kernel enter a structure together, each of them asks again for itself: one that is not at the edge of
        // the problem is there with all of them.
        let is_asked_again = self.disjuncts.contains(&self.lanes.representative(condition));
        let known = self.disjuncts.len();
        if !matches!(decided, Some(Coefficient::Same(_))) {
            self.statistics.add(if together { Kind::UniformBranch } else { Kind::DivergentBranch }, &here);
        }
        for (side, region) in op.regions().into_iter().enumerate() {
            let Some(block) = region.first_block() else { continue };
            let usual = if !is_asked_again {
                0.5
            } else if side == 0 {
                1.0
            } else {
                0.0
            };
            let part = decided.as_ref().map_or(usual, |numbers| warps_that(numbers, threads, side == 0));
            if side == 0 {
                self.add_disjuncts(condition);
            }
            if part > 0.0 {
                self.enter(here.scaled(part), false, block);
            }
            self.disjuncts.truncate(known);
        }
        self.yielded(op);
    }

    /// Notes what a condition that holds is the disjunction of.
    fn add_disjuncts(&mut self, condition: Value<'c>) {
        let mut open = vec![condition];
        while let Some(value) = open.pop() {
            if let Some(either) = value.defining_op().filter(|op| matches!(op.name(), "arith.ori" | "llvm.or")) {
                for operand in either.operands() {
                    self.disjuncts.push(self.lanes.representative(operand));
                    open.push(operand);
                }
            }
        }
    }

    /// Counts a block in a scope of its own.
    fn enter(&mut self, weight: Expr, is_loop: bool, block: Block<'c>) {
        self.scopes.push(Scope { weight, is_loop });
        let depth = self.scopes.len() - 1;
        for argument in block.args() {
            self.depths.insert(argument, depth);
        }
        self.block(block);
        self.scopes.pop();
    }

    /// Results of a structure are known where it stands.
    fn yielded(&mut self, op: Op<'c>) {
        let depth = self.scopes.len() - 1;
        for result in op.results() {
            self.depths.insert(result, depth);
        }
    }

    fn new_loop(&mut self, op: Op<'c>, trip: Option<Expr>) -> Expr {
        let symbol = format!("trip.{}", self.statistics.loops.len());
        let trip = trip.unwrap_or_else(|| Expr::symbol(&symbol));
        let depth = self.scopes.iter().filter(|scope| scope.is_loop).count();
        let has_barrier = op.contains(is_barrier);
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        self.statistics.loops.push(Loop { symbol, trip: trip.clone(), depth, has_barrier });
        trip
    }

    /// Counts the body of a loop. What an innermost loop waits for is asked for by some iterations at once.
    fn body(&mut self, op: Op<'c>, weight: &Expr, blocks: &[Block<'c>]) {
        if op.contains(writes) {
            self.writes += 1;
        }
        let before = (self.statistics.global_waits.clone(), self.statistics.shared_waits.clone());
        for block in blocks {
            self.enter(weight.clone(), true, *block);
        }
        self.pending.clear();
        let repeats = |nested: Op<'_>| matches!(nested.name(), "scf.for" | "scf.while") || Barrier::is(nested);
        let innermost = !op.contains(|nested| nested != op && repeats(nested));
        if innermost && op.is("scf.for") {
            let together = |now: &Expr, before: &Expr| &(now - before).scaled(1.0 / UNROLLED) + before;
            self.statistics.global_waits = together(&self.statistics.global_waits, &before.0);
            self.statistics.shared_waits = together(&self.statistics.shared_waits, &before.1);
        }
        self.yielded(op);
    }

    fn counted_loop(&mut self, op: Op<'c>) {
        self.wait(op);
        let Some(counting) = Counting::of(op) else { return };
        let trip = self.symbolic.trip(&counting);
        let trip = self.new_loop(op, trip);
        let together = counting.bounds().into_iter().all(|bound| self.lanes.is_uniform(bound));
        let weight = &self.weight() * &trip;
        self.statistics.size += 2;
        self.statistics.add(Kind::Integer, &weight.scaled(2.0));
        self.statistics.add(if together { Kind::UniformBranch } else { Kind::DivergentBranch }, &weight);
        self.body(op, &weight, &[op.body()]);
    }

    fn while_loop(&mut self, op: Op<'c>) {
        self.wait(op);
        let trip = self.new_loop(op, None);
        let weight = &self.weight() * &trip;
        let condition = op.region(0).entry().terminator();
        let together = condition.is_some_and(|condition| self.lanes.is_uniform(condition.operand(0)));
        self.statistics.add(if together { Kind::UniformBranch } else { Kind::DivergentBranch }, &weight);
        self.statistics.size += 1;
        let blocks: Vec<_> = op.regions().into_iter().filter_map(|region| region.first_block()).collect();
        self.body(op, &weight, &blocks);
    }
}

/// A division by what a loop began with as a constant: once the loop is unrolled it divides by a constant.
fn constant_once_unrolled(op: Op<'_>) -> bool {
    if classify::kind(op) != Some(Kind::IntegerDivision) {
        return false;
    }
    let mut by = op.operand(1);
    // Twice the step, and the like.
    while let Some(of) =
        by.defining_op().filter(|of| of.num_operands() > 0 && constant(of.operand(of.num_operands() - 1)).is_some())
    {
        by = of.operand(0);
    }
    match Counting::of_variable(by) {
        Some((_, _, counting)) => counting.constants().is_some(),
        None => first(by).is_some_and(|first| constant(first).is_some()),
    }
}

fn writes(op: Op<'_>) -> bool {
    op.num_regions() == 0 && !op.is("llvm.load") && !op.is_memory_effect_free()
}

/// The part of the warps of which some thread takes a side.
fn warps_that(condition: &Coefficient, threads: usize, side: bool) -> f64 {
    let takes = |thread: usize| (condition.of(thread) != 0) == side;
    let warps = threads.div_ceil(WARP).max(1);
    let some = (0..warps).filter(|warp| (warp * WARP..((warp + 1) * WARP).min(threads)).any(takes)).count();
    some as f64 / warps as f64
}
