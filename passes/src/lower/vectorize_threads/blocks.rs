//! Blocks of rounds and lanes, transposed between memory and registers.
//!
//! ```mlir
//! %r0 = llvm.load %p0 : vector<4xf32> ... %r3 = llvm.load %p3           // four rounds of each lane
//! %a = llvm.shufflevector %r0, %r1 [0, 4, 2, 6] ...                     // pairs, then pairs of pairs
//! %c0 = llvm.shufflevector %a, %b [0, 1, 4, 5] ...                      // all lanes of each round
//! ```
//! The rounds of a tile find their vectors in memory of the stack, which becomes registers where the rounds are written out. A lane that
//! takes no part has a block of its own on the stack.

use mlir_bridge::ir::{Attr, Op, Type, Value};

use super::{
    emit::Emitter,
    memory::kept_attrs,
    parts::{extract, transposed},
    tile_groups::{Group, Member},
};

/// The vectors of the rounds of a tile, on the stack.
#[derive(Clone, Copy)]
pub struct Columns<'c> {
    pub memory: Value<'c>,
    /// The number of the first.
    pub first: i64,
    /// How many they are; there is room for one more.
    pub count: i64,
}

/// The address of a group in all lanes.
#[derive(Clone)]
pub enum Places<'c> {
    /// The first lane's, and bytes from lane to lane.
    Even(Value<'c>, i64),
    /// A vector.
    Each(Value<'c>),
}

impl<'c> Emitter<'c, '_> {
    /// The address of a group where its operations have just been made.
    pub fn places(&self, group: &Group<'c>) -> Places<'c> {
        match self.even(group.address).filter(|_| self.mask.is_none()) {
            Some(stride) => Places::Even(self.scalar(group.address), stride),
            None => Places::Each(self.lane_vector(group.address)),
        }
    }

    /// The addresses of lanes that lie evenly, so many bytes further on.
    pub fn pointers_from(&self, first: Value<'c>, stride: i64, offset: i64) -> Vec<Value<'c>> {
        let bytes = |number: i64| self.b.const_int(self.b.ctx().int(64), number);
        let lanes = 0..i64::from(self.lanes);
        lanes.map(|lane| self.b.llvm_byte_at(first, bytes(lane.wrapping_mul(stride).wrapping_add(offset)))).collect()
    }

    /// The addresses of each lane, so many bytes further on; lanes that take no part have a place behind the columns.
    fn pointers(&self, group: &Group<'c>, places: &Places<'c>, offset: i64, columns: Columns<'c>) -> Vec<Value<'c>> {
        let bytes = |number: i64| self.b.const_int(self.b.ctx().int(64), number);
        match places {
            Places::Even(first, stride) => self.pointers_from(*first, *stride, offset),
            Places::Each(vector) => {
                let moved = self.b.llvm_byte_at(*vector, self.splat(bytes(offset)));
                let taken = match self.mask {
                    Some(mask) => {
                        let aside = self.column(columns, group, columns.first + columns.count);
                        self.select(mask, moved, self.splat(aside))
                    }
                    None => moved,
                };
                let ptr = self.b.ctx().ptr(0);
                (0..self.lanes).map(|lane| extract(self.b, taken, self.b.const_i32(lane as i32), ptr)).collect()
            }
        }
    }

    /// The address of a column.
    pub fn column(&self, columns: Columns<'c>, group: &Group<'c>, number: i64) -> Value<'c> {
        let at = self.b.const_int(self.b.ctx().int(64), number - columns.first);
        self.b.llvm_element_at(columns.memory, self.vector(group.ty), at)
    }

    pub fn store_column(&self, vector: Value<'c>, pointer: Value<'c>) {
        let ctx = self.b.ctx();
        let spec = self.b.op("llvm.store").operands(&[vector, pointer]).attr("ordering", ctx.i64_attr(0));
        spec.attr("alignment", ctx.i64_attr(self.column_alignment(vector.ty()))).build();
    }

    pub fn load_column(&self, pointer: Value<'c>, ty: Type<'c>) -> Value<'c> {
        let ctx = self.b.ctx();
        let spec = self.b.op("llvm.load").operands(&[pointer]).attr("ordering", ctx.i64_attr(0));
        spec.attr("alignment", ctx.i64_attr(self.column_alignment(ty))).result(ty).build().result(0)
    }

    fn column_alignment(&self, ty: Type<'c>) -> i64 {
        let element = ty.vector_parts().map(|(element, _)| element);
        let bits = element.and_then(|element| element.float_width().or(element.int_width())).unwrap_or(64);
        let lanes = ty.vector_parts().map_or(1, |(_, lanes)| lanes);
        (i64::from(bits / 8) * i64::from(lanes)).min(64)
    }

    /// The width of the squares of a tile, the first column of those that are side by side, and the lanes that go through permutations together:
    /// those of one square where its rows fill registers, as many vectors as one square has are as many as there is room for.
    fn squares(&self, group: &Group<'c>, first: i64, rounds: u32) -> (usize, Vec<i64>, usize) {
        let width = rounds.min(self.lanes) as usize;
        let bits = 8 * group.size.cast_unsigned() * width as u64;
        let together = if bits < self.register_bits.into() { self.lanes as usize } else { width };
        (width, (0..rounds).step_by(width).map(|column| first + i64::from(column)).collect(), together)
    }

    /// The address of a column from a lane on.
    fn column_from(&self, columns: Columns<'c>, group: &Group<'c>, number: i64, lane: usize) -> Value<'c> {
        let column = self.column(columns, group, number);
        if lane == 0 {
            return column;
        }
        self.b.llvm_element_at(column, group.ty, self.b.const_int(self.b.ctx().int(64), lane as i64))
    }

    /// Bytes from the address of a group to the lowest one of so many columns.
    fn lowest(group: &Group<'c>, column: i64, width: i64) -> i64 {
        if group.advance > 0 { column * group.advance } else { (column + width - 1) * group.advance }
    }

    /// The number of the column that an element of a lane's memory is of.
    fn column_of(group: &Group<'c>, first: i64, width: i64, element: i64) -> i64 {
        if group.advance > 0 { first + element } else { first + width - 1 - element }
    }

    /// Reads the columns of a tile from `first` on.
    pub fn read_block(&self, group: &Group<'c>, places: &Places<'c>, columns: Columns<'c>, first: i64, rounds: u32) {
        let ctx = self.b.ctx();
        let (width, squares, together) = self.squares(group, first, rounds);
        let ty = ctx.vector(group.ty, width as u32);
        let Some(member) = group.loads().next().copied() else { return };
        for column in squares {
            let pointers = self.pointers(group, places, Self::lowest(group, column, width as i64), columns);
            for (lane, pointers) in (0..).step_by(together).zip(pointers.chunks(together)) {
                let rows = (0..width).map(|row| {
                    let lanes = pointers[row..].iter().step_by(width).map(|pointer| {
                        let spec = self.b.op("llvm.load").operands(&[*pointer]).attrs(&kept_attrs(member.op));
                        let spec = spec.attr("alignment", ctx.i64_attr(alignment(&member, group)));
                        spec.attr("ordering", ctx.i64_attr(0)).result(ty).build().result(0)
                    });
                    self.joined(&lanes.collect::<Vec<_>>())
                });
                let vectors = transposed(self.b, rows.collect());
                for (element, vector) in vectors.into_iter().enumerate() {
                    let number = Self::column_of(group, column, width as i64, element as i64);
                    self.store_column(vector, self.column_from(columns, group, number, lane));
                }
            }
        }
    }

    /// Writes the columns of a tile from `first` on.
    pub fn write_block(&self, group: &Group<'c>, places: &Places<'c>, columns: Columns<'c>, first: i64, rounds: u32) {
        let ctx = self.b.ctx();
        let (width, squares, together) = self.squares(group, first, rounds);
        let ty = ctx.vector(group.ty, together as u32);
        let Some(member) = group.store().copied() else { return };
        for column in squares {
            let pointers = self.pointers(group, places, Self::lowest(group, column, width as i64), columns);
            for (first, pointers) in (0..).step_by(together).zip(pointers.chunks(together)) {
                let vectors = (0..width as i64).map(|element| {
                    let number = Self::column_of(group, column, width as i64, element);
                    self.load_column(self.column_from(columns, group, number, first), ty)
                });
                let rows = transposed(self.b, vectors.collect());
                for (lane, pointer) in pointers.iter().enumerate() {
                    let (row, square) = (rows[lane % width], lane / width * width);
                    let own: Vec<_> = (square as i32..).take(width).collect();
                    let part = if width == together { row } else { self.shuffled(row, row, &own) };
                    let spec = self.b.op("llvm.store").operands(&[part, *pointer]).attrs(&kept_attrs(member.op));
                    let spec = spec.attr("alignment", ctx.i64_attr(alignment(&member, group)));
                    spec.attr("ordering", ctx.i64_attr(0)).build();
                }
            }
        }
    }
}

/// How the elements of a group are aligned.
pub fn alignment<'c>(member: &Member<'c>, group: &Group<'c>) -> i64 {
    let op: Op<'c> = member.op;
    let natural = group.ty.layout(op).1.cast_signed();
    let known = op.attr("alignment").and_then(Attr::as_int).filter(|known| *known > 0);
    // Of the other elements no more is known than that they follow at their size.
    known.unwrap_or(natural).min(group.size)
}
