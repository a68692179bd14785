//! Barriers that some copies do not come to: behind an early return, or under a condition of the block.
//!
//! ```text
//! Before:                                       After (factor 2):
//!   scf.if %in {                                  %any = arith.ori %in0, %in1
//!     A(%i)                                       scf.if %any {
//!     regrain.barrier(%t)                           scf.if %in0 { A(%i0) } ; scf.if %in1 { A(%i1) }
//!     B(%i)                                         regrain.barrier(%t)
//!   }                                               scf.if %in0 { B(%i0) } ; scf.if %in1 { B(%i1) }
//!                                                 }
//! ```
//!
//! A thread comes to the one barrier if any of its copies did: all threads that a copy's barrier waited for still meet there,
//! and whoever meets nobody in any copy stays away as before. What has an effect, or may trap, runs under the mask of its
//! copy; computation does not. A copy that stays away has poison where it computed nothing; what all copies share (bounds of
//! loops, say) is taken from one that takes part. The branch without barriers comes first: what a thread wrote before it left,
//! others see behind the barrier.
//!
//! Declines where both branches hold barriers, and where a warp operation is within: it may name lanes that have left, but
//! not lanes that wait for another copy.

use mlir_bridge::ir::{Block, Builder, Op, Value};

use regrain_dialects::ops::{DynamicShared, is_barrier};

use super::emit::Emitter;
use crate::analysis::synchronisation::region_with_barriers;

impl<'c> Emitter<'_, 'c> {
    /// A conditional that some copies take.
    pub fn jam_masked(&mut self, op: Op<'c>, b: Builder<'c>) {
        let Some(held) = region_with_barriers(op) else { return self.replicate(op, b) };
        let outer = self.masks.take();
        let truth = |value: bool| b.const_int(b.ctx().int(1), if value { -1 } else { 0 });
        let own = |number: usize, taken: usize| {
            let condition = self.copies[number].get_or_self(op.operand(0));
            let condition = if taken == 0 { condition } else { b.arith("xori", condition, truth(true)) };
            // The condition of a copy that stays away is poison.
            let select = |mask: Value<'c>| b.value("arith.select", &[mask, condition, truth(false)], condition.ty());
            outer.as_ref().map_or(condition, |outer| select(outer[number]))
        };
        let masks: Vec<_> = (0..self.copies.len()).map(|number| own(number, held)).collect();
        let results = op.results();
        let has_other =
            op.region(1 - held).first_block().is_some_and(|block| block.ops().len() > 1 || !results.is_empty());
        let others: Vec<_> = (0..self.copies.len()).filter(|_| has_other).map(|number| own(number, 1 - held)).collect();

        // What threads did that have left is seen by those that come to a barrier later.
        let other: Vec<Vec<_>> =
            others.into_iter().enumerate().map(|(number, mask)| self.other(op, 1 - held, number, mask, b)).collect();
        let any = masks[1..].iter().fold(masks[0], |any, mask| b.arith("ori", any, *mask));
        let made = b.scf_if(any, &self.types(&results), false);
        self.masks = Some(masks.clone());
        let block = made.region(0).entry();
        self.block(op.region(held).entry(), Builder::at_end(block, op.loc()));
        self.yield_for(op.region(held).entry(), block, &results);
        if !results.is_empty() {
            yield_poison(made.region(1).entry(), made);
        }
        self.bind(&results, &made.results());
        for (number, values) in other.into_iter().enumerate() {
            for (result, value) in results.iter().zip(values) {
                let taken = self.copies[number].get_or_self(*result);
                let joined = b.value("arith.select", &[masks[number], taken, value], value.ty());
                self.copies[number].map(*result, joined);
            }
        }
        self.masks = outer;
    }

    /// The branch without barriers for one copy; what it yields.
    fn other(&mut self, op: Op<'c>, region: usize, number: usize, mask: Value<'c>, b: Builder<'c>) -> Vec<Value<'c>> {
        let block = op.region(region).entry();
        let ops: Vec<_> = block.ops().into_iter().filter(|inner| !inner.is_terminator()).collect();
        let yielded = block.terminator().map(Op::operands).unwrap_or_default();
        self.under_mask(&ops, &yielded, number, mask, b)
    }

    /// Statements of one copy under its mask; the values of `wanted` behind them.
    fn under_mask(
        &mut self,
        ops: &[Op<'c>],
        wanted: &[Value<'c>],
        number: usize,
        mask: Value<'c>,
        b: Builder<'c>,
    ) -> Vec<Value<'c>> {
        let types: Vec<_> = wanted.iter().map(|value| value.ty()).collect();
        let made = b.scf_if(mask, &types, false);
        let inside = Builder::at_end(made.region(0).entry(), b.loc);
        let copy = &mut self.copies[number];
        for op in ops {
            inside.with_loc(op.loc()).clone_op(*op, copy);
        }
        let values: Vec<_> = wanted.iter().map(|value| copy.get_or_self(*value)).collect();
        inside.scf_yield(&values);
        if !wanted.is_empty() {
            yield_poison(made.region(1).entry(), made);
        }
        made.results()
    }

    /// Statements where copies have masks: those that stand for all are emitted as ever, runs of others copy by copy.
    pub fn masked_block(&mut self, from: Block<'c>, b: Builder<'c>) {
        let mut run: Vec<Op<'c>> = Vec::new();
        for op in from.ops().into_iter().filter(|op| !op.is_terminator()) {
            let waits =
                op.operands().into_iter().any(|value| value.defining_op().is_some_and(|made| run.contains(&made)));
            let computes = op.num_regions() == 0 && op.is_pure();
            if computes && !waits {
                self.statement(op, b.with_loc(op.loc()));
            } else if computes || !self.is_for_all(op) {
                run.push(op);
            } else {
                self.masked_run(&std::mem::take(&mut run), b);
                self.statement(op, b.with_loc(op.loc()));
            }
        }
        self.masked_run(&run, b);
    }

    /// What all copies do together, masks or not.
    fn is_for_all(&self, op: Op<'c>) -> bool {
        self.plan.jammed.contains(&op) || is_barrier(op) || DynamicShared::is(op)
    }

    fn masked_run(&mut self, run: &[Op<'c>], b: Builder<'c>) {
        let Some(masks) = self.masks.clone().filter(|_| !run.is_empty()) else { return };
        let inside = |user: &Op<'c>| run.iter().any(|op| op.is_ancestor_of(*user));
        let used: Vec<_> =
            run.iter().flat_map(|op| op.results()).filter(|value| !value.users().iter().all(inside)).collect();
        for (number, mask) in masks.into_iter().enumerate() {
            let values = self.under_mask(run, &used, number, mask, b.with_loc(run[0].loc()));
            used.iter().zip(values).for_each(|(from, to)| self.copies[number].map(*from, to));
        }
    }

    /// One value for all copies, from a copy that takes part.
    pub fn leading(&self, value: Value<'c>, b: Builder<'c>) -> Value<'c> {
        let Some(masks) = self.masks.as_ref().filter(|_| !self.is_same(value)) else { return self.first(value) };
        let mut each = self.copies.iter().map(|copy| copy.get_or_self(value)).zip(masks).rev();
        let Some((last, _)) = each.next() else { return self.first(value) };
        each.fold(last, |rest, (own, mask)| b.value("arith.select", &[*mask, own, rest], own.ty()))
    }

    /// The predicates that copies bring to a reduction: those of copies that stay away change nothing.
    pub fn predicates(&self, op: Op<'c>, neutral: bool, b: Builder<'c>) -> Vec<Value<'c>> {
        let all = self.copies.iter().map(|copy| copy.get_or_self(op.operand(0)));
        let Some(masks) = &self.masks else { return all.collect() };
        let neutral = b.const_int(b.ctx().int(1), if neutral { -1 } else { 0 });
        all.zip(masks).map(|(own, mask)| b.value("arith.select", &[*mask, own, neutral], own.ty())).collect()
    }
}

fn yield_poison<'c>(block: Block<'c>, like: Op<'c>) {
    let b = Builder::at_end(block, like.loc());
    let values: Vec<_> = like.results().into_iter().map(|value| b.poison(value.ty())).collect();
    b.scf_yield(&values);
}
