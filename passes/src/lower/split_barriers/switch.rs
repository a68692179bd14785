//! Switches that hold synchronisation: a conditional for each case where all threads take the same, else a mask for each.

use mlir_bridge::ir::{Builder, Op, Value};

use super::{
    control::last,
    emit::{Emitted, Emitter},
};

impl<'c> Emitter<'c, '_> {
    pub fn switch(&mut self, op: Op<'c>) -> Emitted<()> {
        let cases = op.attr("cases").and_then(|cases| cases.as_i64_array()).ok_or("a switch without cases")?;
        if self.plan.is_uniform(op.operand(0)) {
            self.uniform_switch(op, &cases)
        } else {
            self.masked_switch(op, &cases)
        }
    }

    fn uniform_switch(&mut self, op: Op<'c>, cases: &[i64]) -> Emitted<()> {
        let value = self.uniform(op.operand(0))?;
        self.close();
        for (number, region) in op.regions().into_iter().enumerate() {
            let taken = case_taken(self.cursor, value, cases, number);
            let made = self.cursor.scf_if(taken, &[], false);
            let block = region.entry();
            self.within(made.body(), |this| {
                this.block(block)?;
                this.leave(&op.results(), &last(block)?.operands())?;
                this.close();
                this.cursor.scf_yield(&[]);
                Ok(())
            })?;
        }
        Ok(())
    }

    fn masked_switch(&mut self, op: Op<'c>, cases: &[i64]) -> Emitted<()> {
        let value = self.resolve(op.operand(0))?;
        let mut masks = Vec::new();
        for (number, region) in op.regions().into_iter().enumerate() {
            let mask = self.new_mask();
            let taken = case_taken(self.inside(), value, cases, number);
            self.set_mask(mask, taken);
            masks.push((mask, region.entry()));
        }
        self.each_guarded(masks, op)
    }
}

/// Whether region `number` of a switch runs; the first is the default.
fn case_taken<'c>(b: Builder<'c>, value: Value<'c>, cases: &[i64], number: usize) -> Value<'c> {
    let i1 = b.ctx().int(1);
    let equals = |case: i64| b.cmpi("eq", value, b.const_int(value.ty(), case));
    match number.checked_sub(1) {
        Some(index) => equals(cases[index]),
        None => {
            let none = b.const_int(i1, 0);
            let any = cases.iter().fold(none, |any, case| b.arith("ori", any, equals(*case)));
            b.arith("xori", any, b.const_int(i1, 1))
        }
    }
}
