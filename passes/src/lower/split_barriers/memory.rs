//! Memory of a block in thread order: one cell for each thread.
//!
//! ```mlir
//! %n = arith.muli %nx, ... : index                      // threads of the block
//! %cells = llvm.alloca %n x f32 {alignment = 64}        // beside the thread loops
//! scf.parallel (%x, %y, %z) = ... {
//!   %p = llvm.getelementptr %cells[%thread]    // thread = x + nx * (y + ny * z)
//! ```

use mlir_bridge::ir::{Builder, Type, Value};

use crate::lower::stack::cell_type;

/// Alignment of the arrays: a cache line, and the widest vector register.
const ALIGNMENT: i64 = 64;

/// An array with one cell for each thread.
#[derive(Clone, Copy)]
pub struct Cells<'c> {
    pub base: Value<'c>,
    /// The type of the value.
    pub ty: Type<'c>,
}

/// `llvm.alloca` of `count` (i64) elements.
pub fn alloca<'c>(b: Builder<'c>, element: Type<'c>, count: Value<'c>, alignment: i64) -> Value<'c> {
    let ctx = b.ctx();
    b.op("llvm.alloca")
        .operands(&[count])
        .result(ctx.ptr(0))
        .attr("elem_type", ctx.type_attr(element))
        .attr("alignment", ctx.i64_attr(alignment.max(1)))
        .build()
        .result(0)
}

/// A new array of `count` (i64) cells.
pub fn new_cells<'c>(b: Builder<'c>, ty: Type<'c>, count: Value<'c>) -> Cells<'c> {
    Cells { base: alloca(b, cell_type(b.ctx(), ty), count, ALIGNMENT), ty }
}

impl<'c> Cells<'c> {
    fn address(self, b: Builder<'c>, thread: Value<'c>) -> Value<'c> {
        b.llvm_element_at(self.base, cell_type(b.ctx(), self.ty), thread)
    }

    /// The value of thread `thread` (i64).
    pub fn load(self, b: Builder<'c>, thread: Value<'c>) -> Value<'c> {
        let ctx = b.ctx();
        let cell = cell_type(ctx, self.ty);
        let address = self.address(b, thread);
        let raw = b.llvm_load(address, cell, None);
        if cell == self.ty {
            raw
        } else if self.ty == ctx.index() {
            b.index_cast(raw, self.ty)
        } else {
            b.cmpi("ne", raw, b.const_int(cell, 0))
        }
    }

    /// Sets the value of thread `thread` (i64).
    pub fn store(self, b: Builder<'c>, thread: Value<'c>, value: Value<'c>) {
        let ctx = b.ctx();
        let cell = cell_type(ctx, self.ty);
        let raw = if cell == self.ty {
            value
        } else if self.ty == ctx.index() {
            b.index_cast(value, cell)
        } else {
            b.value("arith.extui", &[value], cell)
        };
        let address = self.address(b, thread);
        b.llvm_store(raw, address, None);
    }

    /// Sets all bytes of an array of truth values to 0 or 1.
    pub fn fill(self, b: Builder<'c>, value: bool, count: Value<'c>) {
        let ctx = b.ctx();
        let byte = b.const_int(ctx.int(8), value.into());
        let spec = b.op("llvm.intr.memset").operands(&[self.base, byte, count]);
        spec.attr("isVolatile", ctx.int_attr(ctx.int(1), 0)).build();
    }

    /// Copies an array of truth values.
    pub fn copy_from(self, b: Builder<'c>, from: Cells<'c>, count: Value<'c>) {
        b.llvm_memcpy(self.base, from.base, count);
    }
}
