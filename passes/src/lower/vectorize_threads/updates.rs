//! Updates of an array that the block alone sees, by the indices of the lanes.
//!
//! ```mlir
//! %p = llvm.getelementptr %a[%i] ; llvm.atomicrmw add %p, %v syncscope("singlethread")        // %i varying, of 32 bits
//! ```
//! becomes
//! ```mlir
//! %pairs = llvm.bitcast %is : vector<8xi32> to vector<4xi64> ; llvm.store %vs, %cells
//! %pair = vector.extractelement %pairs[0] ; %i0 = %pair & 0xffffffff ; %i1 = %pair >> 32
//! llvm.atomicrmw add %a[%i0], %cells[0] ; llvm.atomicrmw add %a[%i1], %cells[1]
//! ... the other pairs
//! ```
//! Such an update is three instructions, and addresses that come one by one, out of a register or out of memory, cost more than that: two indices
//! come out of a register together. What is added stays in memory, as every way out of a register is the same narrow one.
//!
//! Where not all lanes take part, the others add nothing to the place of the first that does.

use mlir_bridge::ir::{Attr, Mapping, Op, Type, Value};

use super::{
    classify::before_widening,
    emit::{Emitted, Emitter},
    parts::extract,
    shapes::Shape,
    sums::reduction,
    ways::Way,
};
use crate::analysis::facts::{Range, range};

/// What an update changes: elements of an array that all lanes have.
pub struct Elements<'c> {
    array: Value<'c>,
    element: Type<'c>,
    /// An integer of at most 64 bits, whose value has 32.
    index: Value<'c>,
    signed: bool,
}

impl<'c> Emitter<'c, '_> {
    /// The elements of an update whose result nobody asks for and which nobody else sees.
    pub fn elements(&self, op: Op<'c>) -> Option<Elements<'c>> {
        let pointer = op
            .operand(0)
            .defining_op()
            .filter(|pointer| pointer.is("llvm.getelementptr") && pointer.num_operands() == 2)?;
        let by_index =
            pointer.attr("rawConstantIndices").and_then(|raw| raw.as_i32_array()).is_some_and(|raw| raw == [i32::MIN]);
        let (array, index) = (pointer.operand(0), pointer.operand(1));
        let adds_nothing = self.mask.is_none()
            || op.operand(1).ty().int_width().is_some() && reduction(op).is_some_and(|(_, neutral)| neutral == 0);
        if !by_index || !adds_nothing || self.shape(array) != Shape::Uniform {
            return None;
        }
        let element = pointer.attr("elem_type").and_then(Attr::as_type)?;
        let narrow =
            before_widening(index).filter(|(narrow, _)| narrow.ty().int_width().is_some_and(|bits| bits <= 32));
        let (index, signed) = narrow.unwrap_or((index, true));
        let bits = index.ty().int_width()?;
        let fits = || range(index).is_some_and(|known| Range::of_width(32).contains(known));
        (self.shape(index) == Shape::Varying && (bits <= 32 || fits())).then_some(Elements {
            array,
            element,
            index,
            signed,
        })
    }

    /// Makes an update by the indices of its lanes.
    pub fn update(&mut self, op: Op<'c>, elements: &Elements<'c>) -> Emitted<()> {
        self.shapes.report.note(op, Way::Serial);
        let Some(mask) = self.mask else { return self.update_all(op, elements, self.indices(elements), None) };
        let all = self.b.scf_if(self.all(mask), &[], true);
        self.within(all.region(0).entry(), None, |this| {
            this.update_all(op, elements, this.indices(elements), None)?;
            this.b.scf_yield(&[]);
            Ok(())
        })?;
        self.within(all.region(1).entry(), None, |this| {
            this.update_some(op, elements, mask)?;
            this.b.scf_yield(&[]);
            Ok(())
        })
    }

    /// The same for the lanes of `mask`, if there are any.
    fn update_some(&mut self, op: Op<'c>, elements: &Elements<'c>, mask: Value<'c>) -> Emitted<()> {
        let some = self.b.scf_if(self.any(mask), &[], false);
        self.within(some.region(0).entry(), None, |this| {
            let indices = this.indices(elements);
            let first = this.lane_number(this.first_lane(this.bits(mask)));
            let of_first = extract(this.b, indices, first, this.b.ctx().int(32));
            let of_first = this.spread(of_first, Shape::Uniform)[0];
            this.update_all(op, elements, this.select(mask, indices, of_first), Some(mask))?;
            this.b.scf_yield(&[]);
            Ok(())
        })
    }

    /// The indices, of 32 bits.
    fn indices(&self, elements: &Elements<'c>) -> Value<'c> {
        let (index, i32) = (self.lane_vector(elements.index), self.b.ctx().int(32));
        match elements.index.ty().int_width() {
            Some(32) => index,
            Some(bits) if bits > 32 => self.lanewise("llvm.trunc", &[index], i32),
            _ if elements.signed => self.lanewise("llvm.sext", &[index], i32),
            _ => self.lanewise("llvm.zext", &[index], i32),
        }
    }

    /// An update of each lane; those that take no part have the index of one that does.
    fn update_all(
        &mut self,
        op: Op<'c>,
        elements: &Elements<'c>,
        indices: Value<'c>,
        mask: Option<Value<'c>>,
    ) -> Emitted<()> {
        let (b, i64) = (self.b, self.b.ctx().int(64));
        let (value, ty) = (op.operand(1), op.operand(1).ty());
        let vector = match mask {
            Some(mask) => Some(self.select(mask, self.lane_vector(value), self.splat_int(ty, 0))),
            None => (self.shape(value) != Shape::Uniform).then(|| self.lane_vector(value)),
        };
        self.slots.release();
        let kept = vector.map(|vector| self.store_to_stay(vector));
        let (array, pairs) =
            (self.scalar(elements.array), b.value("llvm.bitcast", &[indices], b.ctx().vector(i64, self.lanes / 2)));
        let half = b.const_int(i64, 32);
        for pair in 0..self.lanes / 2 {
            let both = extract(b, pairs, b.const_i32(pair.cast_signed()), i64);
            let low = match elements.signed {
                true => b.arith("shrsi", b.arith("shli", both, half), half),
                false => b.arith("andi", both, b.const_int(i64, u32::MAX.into())),
            };
            let high = b.arith(if elements.signed { "shrsi" } else { "shrui" }, both, half);
            for (lane, index) in [(2 * pair, low), (2 * pair + 1, high)] {
                let added = match &kept {
                    Some(kept) => self.lane_of_kept(ty, kept, b.const_i32(lane.cast_signed())),
                    None => self.scalar(value),
                };
                let mut mapping = Mapping::new();
                mapping.map(op.operand(0), b.llvm_element_at(array, elements.element, index));
                mapping.map(value, added);
                b.clone_op(op, &mut mapping);
            }
        }
        Ok(())
    }
}
