//! The state of the running thread that the runtime shares with generated code.

use mlir_bridge::ir::{Builder, Op, Value};

/// Its name (`runtime::abi::Tls`), and its size in words.
const STATE: &str = "__regrain_tls";
const STATE_WORDS: u32 = 12;

/// What generated code reads and writes there, by its offset in bytes.
#[derive(Clone, Copy)]
pub enum Field {
    /// The address of the block's dynamic shared memory.
    DynamicShared = 64,
    /// How many blocks from this one on, along x, may be run by this call: 32 bits.
    Available = 88,
    /// How many of them were: 32 bits.
    Taken = 92,
}

/// The address of a field.
pub fn field<'c>(module: Op<'c>, b: Builder<'c>, field: Field) -> Value<'c> {
    let ctx = b.ctx();
    if module.lookup_symbol(STATE).is_none() {
        let words = ctx.llvm_array(ctx.int(64), STATE_WORDS);
        let state = Builder::at_end(module.body(), ctx.unknown_loc()).llvm_global(STATE, words);
        state.set_attr("thread_local_", ctx.unit_attr());
        state.set_attr("alignment", ctx.i64_attr(8));
    }
    let name = ctx.symbol_attr(STATE);
    let state = b.op("llvm.mlir.addressof").result(ctx.ptr(0)).attr("global_name", name).build().result(0);
    b.op("llvm.getelementptr")
        .operands(&[state])
        .result(ctx.ptr(0))
        .attr("elem_type", ctx.type_attr(ctx.int(8)))
        .attr("rawConstantIndices", ctx.i32_array_attr(&[field as i32]))
        .build()
        .result(0)
}
