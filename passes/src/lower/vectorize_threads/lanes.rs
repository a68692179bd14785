//! One lane after the other, for what has no form on vectors.
//!
//! ```mlir
//! %old = llvm.atomicrmw add %p, %v        // %p varying
//! ```
//! becomes
//! ```mlir
//! %ps, %vs, %olds = llvm.alloca            // at the start of the function, a cell for each lane
//! llvm.store %p, %ps ; llvm.store %v, %vs
//! scf.while (%bits = %mask) { %bits != 0 } do {
//!   %lane = llvm.intr.cttz(%bits)
//!   %olds[%lane] = llvm.atomicrmw add %ps[%lane], %vs[%lane]
//!   scf.yield %bits & (%bits - 1)
//! }
//! %old = llvm.load %olds
//! ```
//! Lanes come in the order of their threads. Where all take part the loop counts. An addition to memory of the block alone whose result nobody
//! asks for is cheap, and a loop over the bits of a mask is not: there lanes that take no part add aside, each to a cell of its own.

use mlir_bridge::ir::{Builder, Mapping, Op, Type, Value};

use super::{
    classify::lane_types,
    emit::{Emitted, Emitter, Row},
    parts::{assemble, part},
    shapes::Shape,
    ways::Way,
};
use crate::{analysis::uniformity::free_values, lower::stack::cell_type};

/// A value that a loop over lanes reads or writes, in memory.
pub struct Kept<'c> {
    /// For each scalar of the value: its type and its slot.
    parts: Vec<(Type<'c>, Value<'c>)>,
    /// Whether LLVM is to leave the lanes there. Addresses that are taken out of a register come late, and a processor that reads memory
    /// before it knows where stores go finds each addition wrong that follows another.
    stays: bool,
}

impl<'c> Emitter<'c, '_> {
    /// Runs `op`, with what is nested in it, for one lane after the other.
    pub fn serial(&mut self, op: Op<'c>) -> Emitted<()> {
        self.serial_group(&[op])
    }

    /// Runs operations that follow one another for one lane after the other; the last one may have results.
    pub fn serial_group(&mut self, ops: &[Op<'c>]) -> Emitted<()> {
        let op = *ops.last().ok_or("no operation")?;
        ops.iter().for_each(|op| self.shapes.report.note(*op, Way::Serial));
        self.slots.release();
        let stays = ops.iter().any(is_update);
        let mut inputs = Vec::new();
        for value in ops.iter().flat_map(|op| free_values(*op)) {
            let kept = self.kept_vectors(value).map(|kept| Kept { stays, ..kept });
            inputs.push((value, kept));
        }
        let mut outputs = Vec::new();
        let asked: Vec<_> = op.results().into_iter().filter(|result| result.has_uses()).collect();
        for result in &asked {
            let parts = lane_types(result.ty()).ok_or("a result without lanes")?;
            let parts = parts.into_iter().map(|ty| (ty, self.slots.take(cell_type(self.b.ctx(), ty), self.lanes)));
            outputs.push(Kept { parts: parts.collect(), stays: false });
        }
        self.for_each_lane(|this, lane| {
            let mut mapping = Mapping::new();
            for (value, kept) in &inputs {
                mapping.map(*value, this.lane_of_value(*value, kept.as_ref(), lane));
            }
            let Some(made) = ops.iter().map(|op| this.b.clone_op(*op, &mut mapping)).last() else { return Ok(()) };
            let results = made.results().into_iter().zip(op.results());
            let results = results.filter(|(_, of)| of.has_uses()).map(|(result, _)| result);
            for (result, kept) in results.zip(&outputs) {
                this.store_kept(result, kept, lane);
            }
            Ok(())
        })?;
        for (result, kept) in asked.into_iter().zip(outputs) {
            let vectors = self.load_kept(&kept);
            match self.shape(result) {
                Shape::Varying => self.set(result, Row::Vectors(vectors)),
                _ => return Err(format!("{} gives the same in all lanes", op.name())),
            }
        }
        Ok(())
    }

    /// An atomic operation of each lane; of those that take no part aside, where that is cheaper.
    pub fn atomic(&mut self, op: Op<'c>) -> Emitted<()> {
        if !self.is_unseen(op) {
            return self.serial(op);
        }
        if let Some(elements) = self.elements(op) {
            return self.update(op, &elements);
        }
        let Some(mask) = self.mask else { return self.serial(op) };
        let (address, ty) = (op.operand(0), op.result(0).ty());
        let cells = self.slots.asides(ty, self.lanes);
        let aside = self.spread(cells, Shape::linear(ty.layout(op).0.cast_signed()))[0];
        let pointers = self.select(mask, self.lane_vector(address), aside);
        let before = self.known.insert(address, Row::Vectors(vec![pointers]));
        let all = std::mem::take(&mut self.mask);
        self.serial(op)?;
        self.mask = all;
        if let Some(row) = before {
            self.set(address, row);
        }
        Ok(())
    }

    /// Whether no other thread sees an operation and nobody asks what was there: lanes may as well make it in memory that nobody reads.
    fn is_unseen(&self, op: Op<'c>) -> bool {
        op.is("llvm.atomicrmw")
            && op.attr("syncscope").and_then(|scope| scope.as_str()) == Some("singlethread")
            && !op.has_attr("volatile_")
            && !op.result(0).has_uses()
            && self.shape(op.operand(0)) == Shape::Varying
            && op.operand(0).ty() == self.b.ctx().ptr(0)
    }

    /// Runs `work` with the number (i32) of each lane that takes part.
    pub fn for_each_lane(&mut self, work: impl FnOnce(&mut Self, Value<'c>) -> Emitted<()>) -> Emitted<()> {
        let Some(mask) = self.mask else {
            let [low, high, step] = [0, self.lanes as i32, 1].map(|number| self.b.const_i32(number));
            let made = self.b.scf_for(low, high, step, &[]);
            return self.within(made.body(), None, |this| {
                work(this, made.body().arg(0))?;
                this.b.scf_yield(&[]);
                Ok(())
            });
        };
        let bits = self.bits(mask);
        let word = bits.ty();
        let made = self.b.scf_while(&[bits], &[word]);
        let before = made.region(0).entry();
        let b = Builder::at_end(before, self.b.loc);
        let more = b.cmpi("ne", before.arg(0), b.const_int(word, 0));
        b.scf_condition(more, &before.args());
        let after = made.region(1).entry();
        self.within(after, None, |this| {
            let bits = after.arg(0);
            let lane = this.lane_number(this.first_lane(bits));
            work(this, lane)?;
            let b = this.b;
            b.scf_yield(&[b.arith("andi", bits, b.arith("addi", bits, b.const_int(word, -1)))]);
            Ok(())
        })
    }

    /// The number (i32) of a lane, of a number as wide as a mask.
    pub fn lane_number(&self, number: Value<'c>) -> Value<'c> {
        let i32 = self.b.ctx().int(32);
        match self.lanes {
            32 => number,
            lanes if lanes < 32 => self.b.value("arith.extui", &[number], i32),
            _ => self.b.value("arith.trunci", &[number], i32),
        }
    }

    /// The number of the lowest bit that is set; there is one.
    pub fn first_lane(&self, bits: Value<'c>) -> Value<'c> {
        let ctx = self.b.ctx();
        let spec = self.b.op("llvm.intr.cttz").operands(&[bits]).attr("is_zero_poison", ctx.int_attr(ctx.int(1), 1));
        spec.result(bits.ty()).build().result(0)
    }

    /// A value's vectors in memory, if it has some.
    pub fn kept_vectors(&mut self, value: Value<'c>) -> Option<Kept<'c>> {
        match self.known.get(&value) {
            Some(Row::Vectors(vectors)) => Some(self.store_lanes(&vectors.clone())),
            _ => None,
        }
    }

    /// What a value is in a lane, that is in memory if it is kept there.
    pub fn lane_of_value(&self, value: Value<'c>, kept: Option<&Kept<'c>>, lane: Value<'c>) -> Value<'c> {
        match kept {
            Some(kept) => self.lane_of_kept(value.ty(), kept, lane),
            None => self.of_lane(value, lane),
        }
    }

    /// Puts what a lane has to the others.
    pub fn store_kept(&self, value: Value<'c>, kept: &Kept<'c>, lane: Value<'c>) {
        for (number, (ty, slot)) in kept.parts.iter().enumerate() {
            self.store_lane(part(self.b, value, number, *ty), *slot, lane);
        }
    }

    /// The vectors of what is kept.
    pub fn load_kept(&self, kept: &Kept<'c>) -> Vec<Value<'c>> {
        kept.parts.iter().map(|(ty, slot)| self.load_lanes(*ty, *slot)).collect()
    }

    /// A vector in memory, out of which LLVM is not to take the lanes.
    pub fn store_to_stay(&mut self, vector: Value<'c>) -> Kept<'c> {
        Kept { stays: true, ..self.store_lanes(&[vector]) }
    }

    /// Vectors in memory.
    pub fn store_lanes(&mut self, vectors: &[Value<'c>]) -> Kept<'c> {
        let ctx = self.b.ctx();
        let mut parts = Vec::new();
        for vector in vectors {
            let (ty, _) = vector.ty().vector_parts().expect("a vector of the row");
            let cell = cell_type(ctx, ty);
            let slot = self.slots.take(cell, self.lanes);
            self.store_vector(*vector, ty, slot);
            parts.push((ty, slot));
        }
        Kept { parts, stays: false }
    }

    /// Writes a vector to memory of its lanes.
    pub fn store_vector(&self, vector: Value<'c>, ty: Type<'c>, slot: Value<'c>) {
        let ctx = self.b.ctx();
        let cell = cell_type(ctx, ty);
        let raw = match () {
            () if cell == ty => vector,
            () if ty.is_index() => self.lanewise("arith.index_cast", &[vector], cell),
            () => self.lanewise("arith.extui", &[vector], cell),
        };
        let spec = self.b.op("llvm.store").operands(&[raw, slot]).attr("ordering", ctx.i64_attr(0));
        spec.attr("alignment", ctx.i64_attr(64)).build();
    }

    pub fn load_lanes(&self, ty: Type<'c>, slot: Value<'c>) -> Value<'c> {
        let ctx = self.b.ctx();
        let cell = cell_type(ctx, ty);
        let spec = self.b.op("llvm.load").operands(&[slot]).attr("ordering", ctx.i64_attr(0));
        let raw = spec.attr("alignment", ctx.i64_attr(64)).result(self.vector(cell)).build().result(0);
        match () {
            () if cell == ty => raw,
            () if ty.is_index() => self.lanewise("arith.index_cast", &[raw], ty),
            () => self.lanewise("arith.trunci", &[raw], ty),
        }
    }

    fn store_lane(&self, scalar: Value<'c>, slot: Value<'c>, lane: Value<'c>) {
        let ctx = self.b.ctx();
        let (ty, cell) = (scalar.ty(), cell_type(ctx, scalar.ty()));
        let raw = match () {
            () if cell == ty => scalar,
            () if ty.is_index() => self.b.index_cast(scalar, cell),
            () => self.b.value("arith.extui", &[scalar], cell),
        };
        let address = self.b.llvm_element_at(slot, cell, lane);
        self.b.op("llvm.store").operands(&[raw, address]).attr("ordering", ctx.i64_attr(0)).build();
    }

    pub fn lane_of_kept(&self, ty: Type<'c>, kept: &Kept<'c>, lane: Value<'c>) -> Value<'c> {
        let ctx = self.b.ctx();
        let load = |(ty, slot): &(Type<'c>, Value<'c>)| {
            let cell = cell_type(ctx, *ty);
            let address = self.b.llvm_element_at(*slot, cell, lane);
            let mut spec = self.b.op("llvm.load").operands(&[address]).attr("ordering", ctx.i64_attr(0));
            if kept.stays {
                spec = spec.attr("volatile_", ctx.unit_attr());
            }
            let raw = spec.result(cell).build().result(0);
            match () {
                () if cell == *ty => raw,
                () if ty.is_index() => self.b.index_cast(raw, *ty),
                () => self.b.value("arith.trunci", &[raw], *ty),
            }
        };
        let parts: Vec<_> = kept.parts.iter().map(load).collect();
        assemble(self.b, ty, &parts)
    }
}

/// Whether an operation reads and writes the same place.
fn is_update(op: &Op<'_>) -> bool {
    matches!(op.name(), "llvm.atomicrmw" | "llvm.cmpxchg")
}
