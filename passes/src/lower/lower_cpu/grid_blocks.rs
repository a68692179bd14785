//! Blocks that take turns on an OS thread, from one barrier of the grid to the next: each has its own dynamic shared memory.
//!
//! ```mlir
//! %dyn = regrain.dynamic_shared %bytes : i64 -> !llvm.ptr<3>
//! ```
//! becomes
//! ```mlir
//! %state = llvm.mlir.addressof @__regrain_tls : !llvm.ptr
//! %field = llvm.getelementptr %state[64] : (!llvm.ptr) -> !llvm.ptr, i8
//! %dyn = llvm.load %field : !llvm.ptr -> !llvm.ptr          // what the runtime gave the block
//! ```
//! where other kernels name the OS thread's one array.

use mlir_bridge::ir::{Builder, Op, Value};

use crate::lower::GRID_BARRIER;

/// The state of the thread that the runtime shares with generated code (`runtime::abi::Tls`).
const STATE: &str = "__regrain_tls";
/// Its size in words, and the offset of the address of dynamic shared memory in bytes.
const STATE_WORDS: u32 = 11;
const DYNAMIC_SHARED_OFFSET: i32 = 64;

/// Whether blocks wait for one another in a block function.
pub fn takes_turns(function: Op<'_>) -> bool {
    function.contains(|op| {
        op.is("llvm.call") && op.attr("callee").and_then(|callee| callee.as_symbol()) == Some(GRID_BARRIER)
    })
}

/// The address of the block's own dynamic shared memory.
pub fn dynamic_shared<'c>(module: Op<'c>, b: Builder<'c>) -> Value<'c> {
    let ctx = b.ctx();
    if module.lookup_symbol(STATE).is_none() {
        let words = ctx.llvm_array(ctx.int(64), STATE_WORDS);
        let state = Builder::at_end(module.body(), ctx.unknown_loc()).llvm_global(STATE, words);
        state.set_attr("thread_local_", ctx.unit_attr());
        state.set_attr("alignment", ctx.i64_attr(8));
    }
    let name = ctx.symbol_attr(STATE);
    let state = b.op("llvm.mlir.addressof").result(ctx.ptr(0)).attr("global_name", name).build().result(0);
    let field = b
        .op("llvm.getelementptr")
        .operands(&[state])
        .result(ctx.ptr(0))
        .attr("elem_type", ctx.type_attr(ctx.int(8)))
        .attr("rawConstantIndices", ctx.i32_array_attr(&[DYNAMIC_SHARED_OFFSET]))
        .build()
        .result(0);
    b.op("llvm.load").operands(&[field]).result(ctx.ptr(0)).attr("ordering", ctx.i64_attr(0)).build().result(0)
}
