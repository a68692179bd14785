//! Loads and stores of a row.
//!
//! ```mlir
//! %v = llvm.load %p : !llvm.ptr -> f32          // %p linear with 4 bytes
//! %w = llvm.load %q : !llvm.ptr -> f32          // %q varying
//! ```
//! becomes, in all lanes and in those of a mask,
//! ```mlir
//! %v = llvm.load %p0 {alignment = 4} : !llvm.ptr -> vector<16xf32>
//! %w = llvm.intr.masked.gather %q, %mask, %none {alignment = 4} : (vector<16x!llvm.ptr>, ...) -> vector<16xf32>
//! ```
//! The scalars of structs and short vectors are accessed one after the other.

use mlir_bridge::ir::{Attr, Op, Type, Value};

use super::{
    classify::{is_ordinary, lane_types},
    emit::{Emitted, Emitter, Row},
    own_memory,
    parts::shuffled,
    shapes::Shape,
    sums::reduction,
    ways::Way,
};

/// The most scalars from one lane's to the next one's of which all are loaded.
pub const MOST_APART: i64 = 8;

/// From vector registers so wide on a processor has scatters. Others store lane by lane, behind a branch for each lane of a mask, which goes
/// differently from lane to lane: there lanes that take no part store aside.
pub const SCATTERING: u32 = 512;

/// One scalar of an access.
#[derive(Clone, Copy)]
pub struct Scalar<'c> {
    pub ty: Type<'c>,
    /// From the address of the access.
    pub offset: i64,
    pub alignment: i64,
}

/// Whether vectors of such elements lie in memory as arrays of them do.
pub fn lies_as_array(ty: Type<'_>) -> bool {
    ty.ptr_space().is_some()
        || ty.float_width().is_some_and(|bits| matches!(bits, 16 | 32 | 64))
        || ty.int_width().is_some_and(|bits| matches!(bits, 8 | 16 | 32 | 64))
}

impl<'c> Emitter<'c, '_> {
    /// The scalars of an accessed type, and how they are aligned.
    pub fn scalars(&self, access: Op<'c>, ty: Type<'c>) -> Emitted<Vec<Scalar<'c>>> {
        let natural = ty.layout(access).1 as i64;
        let known = access.attr("alignment").and_then(Attr::as_int).filter(|known| *known > 0).unwrap_or(natural);
        let mut offset = 0u64;
        let mut made = Vec::new();
        for part in lane_types(ty).ok_or("a type without lanes")? {
            let (size, alignment) = part.layout(access);
            if ty.llvm_struct_fields().is_some() {
                offset = offset.next_multiple_of(alignment.max(1));
            }
            let at = offset as i64;
            let alignment = if at == 0 { known } else { known.min(1 << at.trailing_zeros()) };
            made.push(Scalar { ty: part, offset: at, alignment });
            offset += size;
        }
        Ok(made)
    }

    pub fn moved(&self, pointer: Value<'c>, bytes: i64) -> Value<'c> {
        if bytes == 0 {
            return pointer;
        }
        let ctx = self.b.ctx();
        let spec = self.b.op("llvm.getelementptr").operands(&[pointer]).attr("elem_type", ctx.type_attr(ctx.int(8)));
        spec.attr("rawConstantIndices", ctx.i32_array_attr(&[bytes as i32])).result(pointer.ty()).build().result(0)
    }

    pub fn load(&mut self, op: Op<'c>) -> Emitted<()> {
        if let Some(row) = self.load_in_tile(op) {
            self.set(op.result(0), row);
            return Ok(());
        }
        let (address, result) = (op.operand(0), op.result(0));
        if self.shape(result) == Shape::Uniform {
            self.shapes.report.note(op, Way::Uniform);
            let attrs = op.attrs();
            let spec = self.b.op("llvm.load").operands(&[self.scalar(address)]).attrs(&attrs);
            let made = spec.result(result.ty()).build().result(0);
            self.set(result, Row::Scalar(made));
            return Ok(());
        }
        if !is_ordinary(op) || !lane_types(result.ty()).is_some_and(|parts| parts.into_iter().all(lies_as_array)) {
            return self.serial(op);
        }
        if let Some(vector) = self.load_in_comb(op) {
            self.shapes.report.note(op, Way::Transposed);
            self.set(result, Row::Vectors(vec![vector]));
            return Ok(());
        }
        let mut vectors = Vec::new();
        for scalar in self.scalars(op, result.ty())? {
            vectors.push(self.load_scalar(op, address, &scalar));
        }
        self.set(result, Row::Vectors(vectors));
        Ok(())
    }

    /// Whether the lanes' scalars follow one another in memory.
    fn is_contiguous(&self, access: Op<'c>, address: Value<'c>, scalar: &Scalar<'c>) -> bool {
        self.even(address) == Some(scalar.ty.layout(access).0 as i64)
    }

    /// Whether an ordinary access is one of scalars that follow one another.
    pub fn is_side_by_side(&self, op: Op<'c>, address: Value<'c>, ty: Type<'c>) -> bool {
        is_ordinary(op) && lies_as_array(ty) && self.even(address) == Some(ty.layout(op).0 as i64)
    }

    pub fn load_scalar(&mut self, op: Op<'c>, address: Value<'c>, scalar: &Scalar<'c>) -> Value<'c> {
        let ctx = self.b.ctx();
        let alignment = ctx.i64_attr(scalar.alignment);
        let vector = self.vector(scalar.ty);
        let kept = kept_attrs(op);
        self.shapes.report.note(op, self.way(op, address, scalar));
        if self.even(address) == Some(0) {
            let pointer = self.moved(self.scalar(address), scalar.offset);
            let spec = self.b.op("llvm.load").operands(&[pointer]).attrs(&kept).attr("alignment", alignment);
            let one = spec.attr("ordering", ctx.i64_attr(0)).result(scalar.ty).build().result(0);
            return self.splat(one);
        }
        if self.is_contiguous(op, address, scalar) {
            let pointer = self.moved(self.scalar(address), scalar.offset);
            let all = self.may_touch_all(address, self.mask.is_some());
            let mask = self.mask.filter(|_| !all);
            if self.mask.is_none() {
                self.read.push(address);
            }
            return self.load_lanes_at(op, pointer, mask, scalar);
        }
        if self.is_reversed(op, address, scalar) {
            let pointer = self.moved(self.scalar(address), scalar.offset - self.last(op, scalar));
            let all = self.may_touch_all(address, self.mask.is_some());
            let mask = self.mask.filter(|_| !all).map(|mask| self.reversed(mask));
            let loaded = self.load_lanes_at(op, pointer, mask, scalar);
            return self.reversed(loaded);
        }
        if let Some(window) = self.window(op, address, scalar)
            && (own_memory::root(address).is_some() || self.distance(op, address, scalar).is_none())
            && (self.may_touch_all(address, self.mask.is_some()) || self.mask.is_none())
        {
            return self.load_window(op, address, scalar, &window);
        }
        if let Some(distance) = self.distance(op, address, scalar).filter(|_| self.mask.is_none()) {
            return self.load_apart(op, address, scalar, distance);
        }
        let pointers = self.all_pointers(address, scalar.offset);
        let none = self.poison(vector);
        let spec = self.b.op("llvm.intr.masked.gather").operands(&[pointers, self.mask_vector(), none]);
        spec.attr("alignment", ctx.i32_attr(scalar.alignment as i32)).result(vector).build().result(0)
    }

    /// How a scalar of an access that is made for all lanes at once is made.
    fn way(&self, access: Op<'c>, address: Value<'c>, scalar: &Scalar<'c>) -> Way {
        match self.even(address) {
            Some(0) => Way::Uniform,
            Some(_) if self.is_contiguous(access, address, scalar) => Way::Contiguous,
            Some(_) if access.is("llvm.load") && self.is_reversed(access, address, scalar) => Way::Reversed,
            Some(_) => Way::Strided,
            None if self.window(access, address, scalar).is_some() => Way::Permuted,
            None => Way::Gathered,
        }
    }

    /// The lanes' scalars from consecutive memory.
    pub fn load_lanes_at(
        &self,
        op: Op<'c>,
        pointer: Value<'c>,
        mask: Option<Value<'c>>,
        scalar: &Scalar<'c>,
    ) -> Value<'c> {
        let ctx = self.b.ctx();
        let vector = self.vector(scalar.ty);
        match mask {
            None => {
                let spec = self.b.op("llvm.load").operands(&[pointer]).attrs(&kept_attrs(op));
                let spec = spec.attr("alignment", ctx.i64_attr(scalar.alignment));
                spec.attr("ordering", ctx.i64_attr(0)).result(vector).build().result(0)
            }
            Some(mask) => {
                let none = self.poison(vector);
                let spec = self.b.op("llvm.intr.masked.load").operands(&[pointer, mask, none]);
                spec.attr("alignment", ctx.i32_attr(scalar.alignment as i32)).result(vector).build().result(0)
            }
        }
    }

    /// Stores all lanes' scalars to consecutive memory.
    pub fn store_lanes_at(&self, op: Op<'c>, pointer: Value<'c>, scalar: &Scalar<'c>, vector: Value<'c>) {
        let ctx = self.b.ctx();
        let spec = self.b.op("llvm.store").operands(&[vector, pointer]).attrs(&kept_attrs(op));
        spec.attr("alignment", ctx.i64_attr(scalar.alignment)).attr("ordering", ctx.i64_attr(0)).build();
    }

    /// Whether the lanes' scalars follow one another in memory from the last to the first.
    fn is_reversed(&self, access: Op<'c>, address: Value<'c>, scalar: &Scalar<'c>) -> bool {
        self.even(address) == Some(-(scalar.ty.layout(access).0 as i64))
    }

    /// From the first lane's scalar to the last's, in bytes.
    fn last(&self, access: Op<'c>, scalar: &Scalar<'c>) -> i64 {
        i64::from(self.lanes - 1) * scalar.ty.layout(access).0 as i64
    }

    /// The lanes of a vector from the last to the first.
    fn reversed(&self, vector: Value<'c>) -> Value<'c> {
        let lanes: Vec<_> = (0..self.lanes as i32).rev().collect();
        self.shuffled(vector, vector, &lanes)
    }

    /// The scalars from a lane's to the next one's, where they are few.
    fn distance(&self, access: Op<'c>, address: Value<'c>, scalar: &Scalar<'c>) -> Option<i64> {
        let size = scalar.ty.layout(access).0 as i64;
        let stride = self.even(address).filter(|stride| stride % size == 0)?;
        (2..=MOST_APART).contains(&(stride / size)).then_some(stride / size)
    }

    /// The lanes' scalars of memory in which one of `distance` is wanted: all of it from the first lane's to the last one's is loaded, by
    /// registers, and permuted. No page lies between two lanes that neither of them is on.
    fn load_apart(&self, op: Op<'c>, address: Value<'c>, scalar: &Scalar<'c>, distance: i64) -> Value<'c> {
        let size = scalar.ty.layout(op).0 as i64;
        let lanes = i64::from(self.lanes);
        let together = (i64::from(self.register_bits) / (8 * size)).clamp(1, lanes);
        let base = self.scalar(address);
        let parts = (0..lanes / together).map(|part| {
            let first = scalar.offset + part * together * distance * size;
            self.load_register_apart(op, base, &Scalar { offset: first, ..*scalar }, [together, distance])
        });
        self.joined(&parts.collect::<Vec<_>>())
    }

    fn load_register_apart(
        &self,
        op: Op<'c>,
        base: Value<'c>,
        scalar: &Scalar<'c>,
        [together, distance]: [i64; 2],
    ) -> Value<'c> {
        let ctx = self.b.ctx();
        let size = scalar.ty.layout(op).0 as i64;
        let ty = ctx.vector(scalar.ty, together as u32);
        let last = (together - 1) * distance + 1 - together;
        let mut made: Option<Value<'c>> = None;
        for number in 0..distance {
            let first = (number * together).min(last);
            let pointer = self.moved(base, scalar.offset + first * size);
            let spec = self.b.op("llvm.load").operands(&[pointer]).attrs(&kept_attrs(op));
            let spec = spec.attr("alignment", ctx.i64_attr(1 << (scalar.alignment | size).trailing_zeros()));
            let loaded = spec.attr("ordering", ctx.i64_attr(0)).result(ty).build().result(0);
            let lane = |lane: i64| {
                let at = lane * distance;
                let here = at / together == number || (number == distance - 1 && at >= first);
                if here { together + at - first } else { lane }
            };
            let lanes: Vec<_> = (0..together).map(|number| lane(number) as i32).collect();
            made = Some(self.shuffled(made.unwrap_or(loaded), loaded, &lanes));
        }
        made.unwrap_or_else(|| self.poison(ty))
    }

    /// Vectors of the same length one behind the other, a power of two of them.
    pub fn joined(&self, parts: &[Value<'c>]) -> Value<'c> {
        if let [one] = parts {
            return *one;
        }
        let (first, second) = parts.split_at(parts.len() / 2);
        let (first, second) = (self.joined(first), self.joined(second));
        let (_, lanes) = first.ty().vector_parts().expect("a vector");
        self.shuffled(first, second, &(0..2 * lanes as i32).collect::<Vec<_>>())
    }

    /// The lanes of two vectors with these numbers.
    pub fn shuffled(&self, first: Value<'c>, second: Value<'c>, lanes: &[i32]) -> Value<'c> {
        shuffled(self.b, first, second, lanes)
    }

    /// The addresses of all lanes, some bytes further on.
    fn all_pointers(&self, address: Value<'c>, offset: i64) -> Value<'c> {
        let pointers = self.lane_vector(address);
        self.moved(pointers, offset)
    }

    pub fn store(&mut self, op: Op<'c>) -> Emitted<()> {
        if let Some(pair) = self.tile.waiting.remove(&op) {
            return self.store_pair(pair);
        }
        if self.store_in_tile(op) {
            return Ok(());
        }
        if let Some((second, pair)) = self.partner(op) {
            self.tile.waiting.insert(second, pair);
            return Ok(());
        }
        if self.store_in_comb(op) {
            return Ok(());
        }
        let (value, address) = (op.operand(0), op.operand(1));
        if self.shapes.is_uniform(value) && self.shapes.is_uniform(address) {
            self.shapes.report.note(op, Way::Uniform);
            let operands = [self.scalar(value), self.scalar(address)];
            self.b.op("llvm.store").operands(&operands).attrs(&op.attrs()).build();
            return Ok(());
        }
        let plain = lane_types(value.ty()).is_some_and(|parts| parts.into_iter().all(lies_as_array));
        if !plain || self.even(address) == Some(0) {
            return self.serial(op);
        }
        let vectors = self.vectors(value);
        for (scalar, vector) in self.scalars(op, value.ty())?.iter().zip(vectors) {
            self.store_scalar(op, address, scalar, vector);
        }
        Ok(())
    }

    pub fn store_scalar(&mut self, op: Op<'c>, address: Value<'c>, scalar: &Scalar<'c>, vector: Value<'c>) {
        let ctx = self.b.ctx();
        self.shapes.report.note(op, self.way(op, address, scalar));
        if self.is_contiguous(op, address, scalar) {
            let pointer = self.moved(self.scalar(address), scalar.offset);
            match self.mask {
                None => self.store_lanes_at(op, pointer, scalar, vector),
                Some(mask) if own_memory::root(address).is_some() || self.may_write_back(address) => {
                    self.blend(op, address, pointer, scalar, [mask, vector]);
                }
                Some(mask) => {
                    let spec = self.b.op("llvm.intr.masked.store").operands(&[vector, pointer, mask]);
                    spec.attr("alignment", ctx.i32_attr(scalar.alignment as i32)).build();
                }
            }
            return;
        }
        let masked = self.mask.is_some();
        if let Some(window) = self.window(op, address, scalar).filter(|window| window.may_store(address, masked)) {
            self.store_window(op, address, scalar, &window, vector);
            return;
        }
        self.scatter(address, scalar, vector);
    }

    /// Stores each lane at an address of its own.
    pub fn scatter(&mut self, address: Value<'c>, scalar: &Scalar<'c>, vector: Value<'c>) {
        let ctx = self.b.ctx();
        let mut pointers = self.all_pointers(address, scalar.offset);
        let mut lanes = self.mask_vector();
        if let Some(mask) = self.mask.filter(|_| self.register_bits < SCATTERING) {
            let aside = self.slots.aside(scalar.ty);
            pointers = self.select(mask, pointers, self.splat(aside));
            lanes = self.splat_int(self.i1(), 1);
        }
        let spec = self.b.op("llvm.intr.masked.scatter").operands(&[vector, pointers, lanes]);
        spec.attr("alignment", ctx.i32_attr(scalar.alignment as i32)).build();
    }
}

impl<'c> Emitter<'c, '_> {
    /// One atomic operation for all lanes.
    pub fn combined(&mut self, op: Op<'c>) -> Emitted<()> {
        let (name, neutral) = reduction(op).ok_or("an operation that is no reduction")?;
        let value = op.operand(1);
        let ty = value.ty();
        self.shapes.report.note(op, Way::Uniform);
        let taken = match self.mask {
            Some(mask) => self.select(mask, self.lane_vector(value), self.splat_int(ty, neutral)),
            None => self.lane_vector(value),
        };
        let total = self.b.value(&format!("llvm.intr.vector.reduce.{name}"), &[taken], ty);
        self.b
            .op("llvm.atomicrmw")
            .operands(&[self.scalar(op.operand(0)), total])
            .attrs(&op.attrs())
            .result(ty)
            .build();
        Ok(())
    }
}

/// What is true of the access of all lanes as it is of one.
pub fn kept_attrs<'c>(op: Op<'c>) -> Vec<(&'c str, Attr<'c>)> {
    const KEPT: &[&str] = &["tbaa", "alias_scopes", "noalias_scopes", "nontemporal", "invariant"];
    op.attrs().into_iter().filter(|(name, _)| KEPT.contains(name)).collect()
}
