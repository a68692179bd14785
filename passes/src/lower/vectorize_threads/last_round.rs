//! The last round of a loop, which some lanes make.
//!
//! Where lanes begin one after the other and go on by at least a row, none makes two rounds behind those that all make. If most of what a
//! round does goes by the lane anyway, as gathers do, the lanes that are left go through it one by one, with what the loop carries in memory:
//! ```mlir
//! scf.while any(%i + lane < %n) { A, masked }   ->   scf.for %j = %i to %n { A of the lane %j - %i }
//! ```

use mlir_bridge::ir::{Mapping, Op, Value};

use super::{
    classify::is_of_warp,
    control::terminator,
    cost::Estimate,
    emit::{Emitted, Emitter},
    lanes::Kept,
    loops::Left,
    rolled,
    shapes::Linear,
};
use crate::analysis::{counted_loop::is_outside, facts::constant, uniformity::free_values};

impl<'c> Emitter<'c, '_> {
    /// Whether the lanes that are left of a loop go one by one; it begins evenly, and all lanes of the row make the rounds before.
    pub fn ends_by_lane(&self, op: Op<'c>, linear: Linear) -> bool {
        let once = constant(op.operand(2)).is_some_and(|step| step > linear.stride * i64::from(self.lanes - 1));
        if self.mask.is_some() || linear.stride <= 0 || !once || op.contains(is_of_warp) {
            return false;
        }
        let estimate = Estimate {
            shapes: self.shapes,
            lanes: self.lanes,
            register_bits: self.register_bits,
            early: Default::default(),
            beside: true,
        };
        estimate.ends_by_lane(op)
    }

    /// The lanes from the one with the number `next` on that are within the bound, one by one; `rows` is what the loop carries.
    pub fn last_round(&mut self, op: Op<'c>, linear: Linear, next: Value<'c>, rows: &[Value<'c>]) -> Emitted<()> {
        let args = op.body().args();
        let high = self.scalar(op.operand(1));
        let unsigned = op.has_attr("unsignedCmp");
        self.bind(&args[1..], rows);
        let results = Left::new(self, &op.results());
        let before = results.first(self, &args[1..]);
        let types: Vec<_> = before.iter().map(|vector| vector.ty()).collect();
        let more = self.b.cmpi(if unsigned { "ult" } else { "slt" }, next, high);
        let some = self.b.scf_if(more, &types, true);
        self.within(some.region(0).entry(), None, |this| {
            let after = this.lanes_from(op, linear, next, high)?;
            let used = after.iter().zip(op.results()).filter(|(_, result)| result.has_uses());
            let left: Vec<_> = used.flat_map(|(kept, _)| this.load_kept(kept)).collect();
            this.b.scf_yield(&left);
            Ok(())
        })?;
        self.within(some.region(1).entry(), None, |this| {
            this.b.scf_yield(&before);
            Ok(())
        })?;
        rolled::keep(some, more);
        self.bind(&op.results(), &results.of(&some.results(), op));
        Ok(())
    }

    /// The lanes one by one; gives where it stands what they carry out.
    fn lanes_from(&mut self, op: Op<'c>, linear: Linear, next: Value<'c>, high: Value<'c>) -> Emitted<Vec<Kept<'c>>> {
        let body = op.body();
        let (args, ops) = (body.args(), body.ops());
        self.slots.release();
        let carried: Vec<_> = args[1..].iter().map(|arg| self.store_lanes(&self.vectors(*arg))).collect();
        let mut free: Vec<Value<'c>> = Vec::new();
        for value in ops.iter().flat_map(|op| free_values(*op)).filter(|value| is_outside(*value, op)) {
            if !free.contains(&value) {
                free.push(value);
            }
        }
        let free: Vec<_> = free.into_iter().map(|value| (value, self.kept_vectors(value))).collect();
        let step = self.b.const_int(next.ty(), linear.stride);
        let each = self.b.scf_for(next, high, step, &[self.b.const_i32(0)]);
        if op.has_attr("unsignedCmp") {
            each.set_attr("unsignedCmp", op.ctx().unit_attr());
        }
        self.within(each.body(), None, |this| {
            let (number, lane) = (each.body().arg(0), each.body().arg(1));
            let mut mapping = Mapping::new();
            mapping.map(args[0], number);
            for (arg, kept) in args[1..].iter().zip(&carried) {
                mapping.map(*arg, this.lane_of_kept(arg.ty(), kept, lane));
            }
            for (value, kept) in &free {
                mapping.map(*value, this.lane_of_value(*value, kept.as_ref(), lane));
            }
            for op in ops.iter().filter(|op| !op.is_terminator()) {
                this.b.clone_op(*op, &mut mapping);
            }
            for (value, kept) in terminator(body)?.operands().into_iter().zip(&carried) {
                this.store_kept(mapping.get_or_self(value), kept, lane);
            }
            this.b.scf_yield(&[this.b.arith("addi", lane, this.b.const_i32(1))]);
            Ok(())
        })?;
        Ok(carried)
    }
}
