//! Control flow that holds synchronisation.
//!
//! Where the condition (the bounds) is the same for all threads, the control flow moves outside:
//! ```mlir
//! scf.parallel { scf.for %i { A; barrier; B } }   ->   scf.for %i { scf.parallel { A }; scf.parallel { B } }
//! ```
//! Else each thread keeps its condition in a mask, and a loop runs while any thread wants to:
//! ```mlir
//! scf.parallel { mask = c };  if any(mask) { scf.parallel { if mask { A } }; scf.parallel { if mask { B } } }
//! ```

use mlir_bridge::ir::{Block, Builder, Op, Value};
use regrain_dialects::ops::{Barrier, BarrierReduce, WarpBarrier, is_barrier};

use super::{
    emit::{Emitted, Emitter},
    memory::Cells,
};
use crate::analysis::constants::is_undefined;

pub fn last<'c>(block: Block<'c>) -> Emitted<Op<'c>> {
    block.terminator().ok_or_else(|| "a block without a terminator".to_owned())
}

/// The block of a region that may be empty.
fn entry<'c>(op: Op<'c>, region: usize) -> Option<Block<'c>> {
    op.region(region).first_block()
}

impl<'c> Emitter<'c, '_> {
    /// Rewrites an operation that synchronises or holds one that does.
    pub fn synchronise(&mut self, op: Op<'c>) -> Emitted<()> {
        match op.name() {
            "scf.if" => self.branch(op),
            "scf.for" => self.counted_loop(op),
            "scf.while" => self.general_loop(op),
            "scf.index_switch" => self.switch(op),
            Barrier::NAME if Barrier::of(op).is_grid() => {
                self.grid_barrier();
                Ok(())
            }
            Barrier::NAME | WarpBarrier::NAME => {
                self.close();
                Ok(())
            }
            BarrierReduce::NAME => self.barrier_reduce(BarrierReduce::of(op)),
            _ => self.warp(op),
        }
    }

    fn branch(&mut self, op: Op<'c>) -> Emitted<()> {
        self.place_results(op);
        if self.plan.is_uniform(op.operand(0)) { self.uniform_branch(op) } else { self.masked_branch(op) }
    }

    fn uniform_branch(&mut self, op: Op<'c>) -> Emitted<()> {
        let condition = self.uniform(op.operand(0))?;
        self.close();
        let uniform: Vec<_> = op.results().into_iter().filter(|r| self.plan.is_uniform(*r)).collect();
        let types: Vec<_> = uniform.iter().map(|result| result.ty()).collect();
        let made = self.cursor.scf_if(condition, &types, entry(op, 1).is_some());
        for (number, region) in op.regions().into_iter().enumerate() {
            let Some(block) = region.first_block() else { continue };
            self.within(made.region(number).entry(), |this| {
                this.block(block)?;
                let values = last(block)?.operands();
                this.leave(&op.results(), &values)?;
                this.close();
                let kept = this.uniform_of(&op.results(), &values)?;
                this.cursor.scf_yield(&kept);
                Ok(())
            })?;
        }
        for (old, new) in uniform.into_iter().zip(made.results()) {
            self.set_uniform(old, new);
        }
        Ok(())
    }

    /// Stores those of `values` whose `targets` vary into the targets' cells.
    pub fn leave(&mut self, targets: &[Value<'c>], values: &[Value<'c>]) -> Emitted<()> {
        self.remember(targets, values)?;
        let mut pairs = Vec::new();
        for (target, value) in targets.iter().zip(values) {
            let unchanged = self.existing_cells(*value).map(|cells| cells.base);
            if !self.plan.has_cells(*target) || !target.has_uses() || is_undefined(*value) {
                continue;
            }
            let cells = self.cells_of(*target);
            if unchanged != Some(cells.base) {
                pairs.push((*value, cells));
            }
        }
        self.store_all(&pairs)
    }

    /// The uniform values among `values`, by their `targets`.
    fn uniform_of(&mut self, targets: &[Value<'c>], values: &[Value<'c>]) -> Emitted<Vec<Value<'c>>> {
        let mut found = Vec::new();
        for (target, value) in targets.iter().zip(values) {
            if self.plan.is_uniform(*target) {
                found.push(self.uniform(*value)?);
            }
        }
        Ok(found)
    }

    /// A new mask; threads outside of the present one are not in it.
    pub fn new_mask(&mut self) -> Cells<'c> {
        let mask = self.new_cells(self.i1());
        if self.mask.is_some() {
            mask.fill(self.beside(), false, self.count64);
        }
        mask
    }

    pub fn set_mask(&mut self, mask: Cells<'c>, value: Value<'c>) {
        let thread = self.thread();
        mask.store(self.inside(), thread, value);
    }

    fn masked_branch(&mut self, op: Op<'c>) -> Emitted<()> {
        let condition = self.resolve(op.operand(0))?;
        let mut masks = Vec::new();
        for (number, region) in op.regions().into_iter().enumerate() {
            let Some(block) = region.first_block() else { continue };
            if block.ops().len() == 1 && op.num_results() == 0 {
                continue;
            }
            let mask = self.new_mask();
            let b = self.inside();
            let wanted = if number == 0 { condition } else { b.arith("xori", condition, b.const_int(self.i1(), 1)) };
            self.set_mask(mask, wanted);
            masks.push((mask, block));
        }
        self.each_guarded(masks, op)
    }

    /// The branches, those without barriers first: their threads exit, and what they did is seen behind a barrier that the
    /// others wait at.
    pub fn each_guarded(&mut self, mut branches: Vec<(Cells<'c>, Block<'c>)>, op: Op<'c>) -> Emitted<()> {
        branches.sort_by_key(|(_, block)| holds_barrier(*block));
        for (mask, block) in branches {
            self.guarded(mask, op, block)?;
        }
        Ok(())
    }

    /// The operations of one branch, for the threads of `mask`; skipped when there are none.
    fn guarded(&mut self, mask: Cells<'c>, op: Op<'c>, block: Block<'c>) -> Emitted<()> {
        let synchronises = block.ops().iter().any(|inner| self.plan.syncing.contains(inner));
        self.close();
        self.masked(mask, |this| {
            if !synchronises {
                let certain = std::mem::replace(&mut this.certain, false);
                this.block(block)?;
                this.leave(&op.results(), &last(block)?.operands())?;
                this.certain = certain;
                return Ok(());
            }
            let any = this.any(mask);
            let made = this.cursor.scf_if(any, &[], false);
            this.within(made.body(), |this| {
                this.block(block)?;
                this.leave(&op.results(), &last(block)?.operands())?;
                this.close();
                this.cursor.scf_yield(&[]);
                Ok(())
            })
        })
    }

    /// Whether any thread is in `mask`; made beside the loops.
    pub fn any(&mut self, mask: Cells<'c>) -> Value<'c> {
        let total = self.count_cells(mask);
        let b = self.cursor;
        b.cmpi("ne", total, b.const_int(self.i32(), 0))
    }

    /// The number of true cells, an i32 made beside the loops.
    pub fn count_cells(&mut self, cells: Cells<'c>) -> Value<'c> {
        self.close();
        let (i32, i64) = (self.i32(), self.i64());
        let b = self.cursor;
        let (zero, one) = (b.const_int(i64, 0), b.const_int(i64, 1));
        let sum = b.scf_for(zero, self.count64, one, &[b.const_int(i32, 0)]);
        let inner = Builder::at_end(sum.body(), b.loc);
        let bit = cells.load(inner, sum.body().arg(0));
        let wide = inner.value("arith.extui", &[bit], i32);
        inner.scf_yield(&[inner.arith("addi", sum.body().arg(1), wide)]);
        sum.result(0)
    }

    fn counted_loop(&mut self, op: Op<'c>) -> Emitted<()> {
        if self.plan.all_uniform(&op.operands()[..3]) { self.uniform_for(op) } else { self.masked_for(op) }
    }

    /// Cells of the carried values of a counted loop, shared by argument and result, and by what the result ends up in.
    fn place_carried(&mut self, op: Op<'c>) {
        for (arg, result) in op.body().args()[1..].iter().zip(op.results()) {
            if self.plan.has_cells(*arg) {
                if let Some(cells) = self.shared_cells(result).filter(|_| self.existing_cells(*arg).is_none()) {
                    self.place(*arg, cells);
                }
                let cells = self.cells_of(*arg);
                self.place(result, cells);
            }
        }
    }

    fn uniform_for(&mut self, op: Op<'c>) -> Emitted<()> {
        let args = op.body().args()[1..].to_vec();
        let inits = op.operands()[3..].to_vec();
        let mut bounds = Vec::new();
        for bound in &op.operands()[..3] {
            bounds.push(self.uniform(*bound)?);
        }
        self.place_carried(op);
        self.remember(&op.results(), &inits)?;
        self.enter(&args, &inits)?;
        self.close();
        let carried = self.uniform_of(&args, &inits)?;
        let made = self.cursor.scf_for(bounds[0], bounds[1], bounds[2], &carried);
        copy_attrs(op, made);
        self.within(made.body(), |this| {
            this.set_uniform(op.body().arg(0), made.body().arg(0));
            this.bind(&args, &made.body().args()[1..]);
            let values = last(op.body())?.operands();
            this.place_next(op.body(), &args, &values);
            this.block(op.body())?;
            this.remember(&op.results(), &values)?;
            this.enter(&args, &values)?;
            this.close();
            let kept = this.uniform_of(&args, &values)?;
            this.cursor.scf_yield(&kept);
            Ok(())
        })?;
        self.bind(&op.results(), &made.results());
        Ok(())
    }

    /// Maps the uniform ones of `old`, in order, to `new`.
    fn bind(&mut self, old: &[Value<'c>], new: &[Value<'c>]) {
        let uniform: Vec<_> = old.iter().filter(|value| self.plan.is_uniform(**value)).copied().collect();
        for (old, new) in uniform.into_iter().zip(new) {
            self.set_uniform(old, *new);
        }
    }

    /// As `leave`, for the carried values of a loop: they are stored even when only the result is used.
    fn enter(&mut self, targets: &[Value<'c>], values: &[Value<'c>]) -> Emitted<()> {
        self.remember(targets, values)?;
        let mut pairs = Vec::new();
        for (target, value) in targets.iter().zip(values) {
            if !self.plan.has_cells(*target) {
                continue;
            }
            let cells = self.cells_of(*target);
            if is_undefined(*value) {
                continue;
            }
            if self.existing_cells(*value).map(|from| from.base) != Some(cells.base) {
                pairs.push((*value, cells));
            }
        }
        self.store_all(&pairs)
    }

    /// A counted loop whose bounds differ between threads: it runs while any thread is within its bounds.
    fn masked_for(&mut self, op: Op<'c>) -> Emitted<()> {
        let less = if op.has_attr("unsignedCmp") { "ult" } else { "slt" };
        let number = op.body().arg(0);
        let args = op.body().args()[1..].to_vec();
        self.place_carried(op);
        self.enter(&args, &op.operands()[3..])?;
        let counter = self.cells_of(number);
        let mask = self.new_mask();
        self.loop_masks.push(mask.base);
        let (low, high) = (self.resolve(op.operand(0))?, self.resolve(op.operand(1))?);
        let thread = self.thread();
        counter.store(self.inside(), thread, low);
        let within = self.inside().cmpi(less, low, high);
        self.set_mask(mask, within);
        self.close();
        let made = self.cursor.scf_while(&[], &[]);
        self.within(made.region(0).entry(), |this| {
            let any = this.any(mask);
            this.cursor.scf_condition(any, &[]);
            Ok(())
        })?;
        self.masked(mask, |this| {
            this.within(made.region(1).entry(), |this| {
                this.block(op.body())?;
                this.enter(&args, &last(op.body())?.operands())?;
                let (now, step) = (this.resolve(number)?, this.resolve(op.operand(2))?);
                let high = this.resolve(op.operand(1))?;
                let next = this.inside().arith("addi", now, step);
                let thread = this.thread();
                counter.store(this.inside(), thread, next);
                let more = this.inside().cmpi(less, next, high);
                this.set_mask(mask, more);
                this.close();
                this.cursor.scf_yield(&[]);
                Ok(())
            })
        })
    }

    fn general_loop(&mut self, op: Op<'c>) -> Emitted<()> {
        let condition = last(op.region(0).entry())?;
        if self.plan.is_uniform(condition.operand(0)) {
            self.uniform_while(op, condition)
        } else {
            self.masked_while(op, condition)
        }
    }

    /// Gives results and arguments of the second region the same cells; those of an argument of the first region where
    /// that is what is passed on.
    fn place_forwarded(&mut self, op: Op<'c>, condition: Op<'c>) {
        let first = op.region(0).entry().args();
        let mut taken: Vec<Value<'c>> = Vec::new();
        for (number, result) in op.results().into_iter().enumerate() {
            let passed = condition.operand(1 + number);
            if !self.plan.has_cells(result) {
                continue;
            }
            let itself = Some(passed).filter(|passed| first.contains(passed) && !self.plan.is_uniform(*passed));
            let shared = itself.or_else(|| self.returned_to(op, number)).map(|arg| self.cells_of(arg));
            let later: Vec<_> = condition.operands()[2 + number..].to_vec();
            let cells = match shared.filter(|cells| !taken.contains(&cells.base)) {
                // Another result that passes the argument on itself comes first.
                Some(cells) if itself.is_some() || !self.any_in(&later, cells) => cells,
                _ => self.cells_of(result),
            };
            taken.push(cells.base);
            self.place(result, cells);
            self.place(op.region(1).entry().arg(number), cells);
        }
    }

    fn any_in(&self, values: &[Value<'c>], cells: Cells<'c>) -> bool {
        values.iter().any(|value| self.existing_cells(*value).is_some_and(|other| other.base == cells.base))
    }

    /// Gives the results of a branch the cells of what they end up in.
    fn place_results(&mut self, op: Op<'c>) {
        for result in op.results() {
            if !self.plan.has_cells(result) || !result.has_uses() {
                continue;
            }
            let cells = self.shared_cells(result).unwrap_or_else(|| self.cells_of(result));
            self.place(result, cells);
        }
    }

    fn uniform_while(&mut self, op: Op<'c>, condition: Op<'c>) -> Emitted<()> {
        let (before, after) = (op.region(0).entry(), op.region(1).entry());
        let passed = condition.operands()[1..].to_vec();
        self.enter(&before.args(), &op.operands())?;
        self.place_forwarded(op, condition);
        self.close();
        let inits = self.uniform_of(&before.args(), &op.operands())?;
        let results: Vec<_> = op.results().into_iter().filter(|r| self.plan.is_uniform(*r)).map(|r| r.ty()).collect();
        let made = self.cursor.scf_while(&inits, &results);
        copy_attrs(op, made);
        self.within(made.region(0).entry(), |this| {
            this.bind(&before.args(), &made.region(0).entry().args());
            this.block(before)?;
            this.remember(&after.args(), &passed)?;
            this.enter(&op.results(), &passed)?;
            this.close();
            let again = this.uniform(condition.operand(0))?;
            let kept = this.uniform_of(&op.results(), &passed)?;
            this.cursor.scf_condition(again, &kept);
            Ok(())
        })?;
        self.within(made.region(1).entry(), |this| {
            this.bind(&after.args(), &made.region(1).entry().args());
            this.place_next_of_while(op, condition);
            this.block(after)?;
            let values = last(after)?.operands();
            this.enter(&before.args(), &values)?;
            this.close();
            let kept = this.uniform_of(&before.args(), &values)?;
            this.cursor.scf_yield(&kept);
            Ok(())
        })?;
        self.bind(&op.results(), &made.results());
        Ok(())
    }

    fn masked_while(&mut self, op: Op<'c>, condition: Op<'c>) -> Emitted<()> {
        let (before, after) = (op.region(0).entry(), op.region(1).entry());
        self.enter(&before.args(), &op.operands())?;
        self.place_forwarded(op, condition);
        self.close();
        let mask = self.new_cells(self.i1());
        self.loop_masks.push(mask.base);
        match self.mask {
            Some(outer) => mask.copy_from(self.cursor, outer, self.count64),
            None => mask.fill(self.cursor, true, self.count64),
        }
        let made = self.cursor.scf_while(&[], &[]);
        self.masked(mask, |this| {
            this.within(made.region(0).entry(), |this| {
                this.block(before)?;
                this.enter(&op.results(), &condition.operands()[1..])?;
                let again = this.resolve(condition.operand(0))?;
                this.set_mask(mask, again);
                let any = this.any(mask);
                this.cursor.scf_condition(any, &[]);
                Ok(())
            })?;
            this.within(made.region(1).entry(), |this| {
                this.block(after)?;
                this.enter(&before.args(), &last(after)?.operands())?;
                this.close();
                this.cursor.scf_yield(&[]);
                Ok(())
            })
        })
    }
}

/// Whether the threads of a block meet in it.
fn holds_barrier(block: Block<'_>) -> bool {
    block.ops().into_iter().any(|op| op.contains(is_barrier))
}

/// Whether any value will do.
fn copy_attrs(from: Op<'_>, to: Op<'_>) {
    for (name, attr) in from.attrs() {
        if name != "operandSegmentSizes" {
            to.set_attr(name, attr);
        }
    }
}
