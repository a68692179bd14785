//! Atomic operations on shared memory: one thread of the host runs the whole block, so nobody else sees them.
//!
//! ```mlir
//! %old = llvm.atomicrmw add %p, %v acq_rel : !llvm.ptr<3>, i32
//! ```
//! becomes
//! ```mlir
//! %old = llvm.atomicrmw add %p, %v syncscope("singlethread") acq_rel : !llvm.ptr<3>, i32
//! ```
//! which the target makes a load, an addition and a store of, once rows are formed.

use mlir_bridge::ir::Op;

use crate::analysis::objects::is_shared;

/// Says of the atomic operations on a block's own memory that only one thread sees them.
pub fn of_block(function: Op<'_>) {
    let own = |op: Op<'_>| matches!(op.name(), "llvm.atomicrmw" | "llvm.cmpxchg") && is_shared(op.operand(0));
    for op in function.find_all(own) {
        op.set_attr("syncscope", op.ctx().str_attr("singlethread"));
    }
}
