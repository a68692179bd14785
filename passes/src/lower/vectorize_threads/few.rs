//! Stores that few threads of a row make, anywhere.
//!
//! ```mlir
//! scf.if %flag { %p = llvm.getelementptr %out[%at] ; llvm.store %v, %p }        // %flag and %at varying
//! ```
//! becomes, with rows of 8 threads,
//! ```mlir
//! scf.if ctpop(%flags) <= 2 {
//!   llvm.store %ats, %slots ; llvm.store %vs, %more
//!   scf.for 0 to 2 iter_args(%rest = %flags) {
//!     %lane = cttz(%rest | 128) ; %p = llvm.getelementptr %out[%slots[%lane]]
//!     llvm.store %more[%lane], select(%rest != 0, %p, %aside)
//!     scf.yield %rest & (%rest - 1)
//!   }
//! } else { scf.if any(%flags) { all lanes, those that take no part aside } }
//! ```
//! Each lane that stores somewhere costs its address and its value out of their vectors, whether it takes part or not, and which of them do differs
//! from row to row: a branch for each, or one that asks whether there are any, would be mispredicted. A quarter of the lanes is gone through
//! without a branch, and memory that nobody reads is stored to where there are fewer.
//!
//! Threads do in their own order what they do. Declined: what does more than to compute, load and store, and branches whose stores go by vectors.

use std::collections::HashSet;

use mlir_bridge::ir::{Block, Mapping, Op, Value};

use super::{
    classify::{Kind, divides, is_ordinary, kind},
    emit::{Emitted, Emitter},
    memory::{SCATTERING, lies_as_array},
    shapes::Shape,
    ways::Way,
};
use crate::analysis::facts::constant;

/// The part of the lanes that are few, and the fewest lanes of a row that are more.
const PART: u32 = 4;
const FEWEST: u32 = 8;
/// The most operations of a branch: each is made for the lanes one by one.
const LARGEST: usize = 16;

impl<'c> Emitter<'c, '_> {
    /// Whether a branch is one that few lanes may go through one by one.
    pub fn may_be_of_few(&self, block: Block<'c>) -> bool {
        let fits = |op: &Op<'c>| match kind(*op) {
            Kind::Constant | Kind::Aggregate | Kind::Nothing => true,
            Kind::Elementwise => !divides(*op) || constant(op.operand(1)).is_some_and(|by| !matches!(by, 0 | -1)),
            Kind::Load => self.goes_aside(*op, op.operand(0), op.result(0)),
            Kind::Store => self.goes_aside(*op, op.operand(1), op.operand(0)),
            _ => op.is_terminator(),
        };
        let ops = block.ops();
        self.register_bits < SCATTERING
            && self.lanes >= FEWEST
            && ops.len() <= LARGEST
            && ops.iter().all(fits)
            && ops.iter().any(|op| kind(*op) == Kind::Store && self.is_scattered(*op))
    }

    /// Whether an access may be made in memory that nobody reads.
    fn goes_aside(&self, op: Op<'c>, address: Value<'c>, value: Value<'c>) -> bool {
        let is_plain = is_ordinary(op) && !op.has_attr("volatile_") && lies_as_array(value.ty());
        is_plain && address.ty() == self.b.ctx().ptr(0) && !self.is_in_tile(op)
    }

    /// Whether a store goes lane by lane.
    fn is_scattered(&self, store: Op<'c>) -> bool {
        let (value, address) = (store.operand(0), store.operand(1));
        self.shape(address) == Shape::Varying && !self.blends_window(store, address, value.ty())
    }

    /// Runs a branch for the lanes of `mask` one by one if they are few, else as `all` makes it.
    pub fn of_few(
        &mut self,
        block: Block<'c>,
        mask: Value<'c>,
        all: impl FnOnce(&mut Self) -> Emitted<()>,
    ) -> Emitted<()> {
        let bits = self.bits(mask);
        let count = self.b.value("llvm.intr.ctpop", &[bits], bits.ty());
        let few = self.b.cmpi("ule", count, self.b.const_int(bits.ty(), i64::from(self.lanes / PART)));
        let made = self.b.scf_if(few, &[], true);
        self.within(made.region(0).entry(), None, |this| {
            this.one_by_one(block, bits)?;
            this.b.scf_yield(&[]);
            Ok(())
        })?;
        let outer = self.mask;
        self.within(made.region(1).entry(), outer, |this| {
            all(this)?;
            this.b.scf_yield(&[]);
            Ok(())
        })
    }

    /// Runs a branch for as many lanes as are few, those of `bits` first.
    fn one_by_one(&mut self, block: Block<'c>, bits: Value<'c>) -> Emitted<()> {
        self.slots.release();
        let ops: Vec<_> = block.ops().into_iter().filter(|op| !op.is_terminator()).collect();
        let mut seen = HashSet::new();
        let mut inputs = Vec::new();
        for value in ops.iter().flat_map(|op| op.operands()) {
            let inside = value.defining_op().is_some_and(|by| by.block() == Some(block));
            if !inside && seen.insert(value) {
                inputs.push((value, self.kept_vectors(value)));
            }
        }
        let word = bits.ty();
        let [low, high, step] = [0, self.lanes / PART, 1].map(|number| self.b.const_i32(number as i32));
        let made = self.b.scf_for(low, high, step, &[bits]);
        self.within(made.body(), None, |this| {
            let rest = made.body().arg(1);
            let b = this.b;
            let number = |number: i64| b.const_int(word, number);
            let live = this.b.cmpi("ne", rest, number(0));
            let some = this.b.arith("ori", rest, number(1 << (this.lanes - 1)));
            let lane = this.lane_number(this.first_lane(some));
            let mut mapping = Mapping::new();
            for (value, kept) in &inputs {
                mapping.map(*value, this.lane_of_value(*value, kept.as_ref(), lane));
            }
            for op in &ops {
                this.op_of_lane(*op, [live, lane], &mut mapping);
            }
            let next = b.arith("andi", rest, b.arith("addi", rest, number(-1)));
            b.scf_yield(&[next]);
            Ok(())
        })
    }

    /// Makes an operation for one lane, aside where it is not `live`. LLVM would make a branch of one place aside, and of none.
    fn op_of_lane(&mut self, op: Op<'c>, [live, lane]: [Value<'c>; 2], mapping: &mut Mapping<'c>) {
        let (address, value) = match kind(op) {
            Kind::Load => (op.operand(0), op.result(0)),
            Kind::Store => (op.operand(1), op.operand(0)),
            Kind::Nothing => return,
            _ => {
                self.b.clone_op(op, mapping);
                return;
            }
        };
        let ctx = self.b.ctx();
        let asides = self.slots.asides(value.ty(), self.lanes);
        let aside = self.b.llvm_element_at(asides, value.ty(), lane);
        let pointer = self.select(live, mapping.get_or_self(address), aside);
        let alignment = op.attr("alignment").unwrap_or_else(|| ctx.i64_attr(value.ty().layout(op).1.cast_signed()));
        // What else is said of the access need not hold aside.
        let spec = self.b.op(op.name()).attr("alignment", alignment).attr("ordering", ctx.i64_attr(0));
        match kind(op) {
            Kind::Load => {
                let made = spec.operands(&[pointer]).result(value.ty()).build();
                mapping.map(value, made.result(0));
            }
            _ => {
                spec.operands(&[mapping.get_or_self(value), pointer]).build();
            }
        }
        self.shapes.report.note(op, Way::Gathered);
    }
}
