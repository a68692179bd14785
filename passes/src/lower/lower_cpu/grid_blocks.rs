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

use super::state::{self, Field};
use crate::lower::GRID_BARRIER;

/// Whether blocks wait for one another in a block function.
pub fn takes_turns(function: Op<'_>) -> bool {
    function.contains(|op| {
        op.is("llvm.call") && op.attr("callee").and_then(|callee| callee.as_symbol()) == Some(GRID_BARRIER)
    })
}

/// The address of the block's own dynamic shared memory.
pub fn dynamic_shared<'c>(module: Op<'c>, b: Builder<'c>) -> Value<'c> {
    b.llvm_load(state::field(module, b, Field::DynamicShared), b.ctx().ptr(0), None)
}
