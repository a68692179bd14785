//! Barriers of the grid: the block waits, in its one function, for all other blocks.
//!
//! ```mlir
//! scf.parallel { A; regrain.barrier(%x, %y, %z) {grid}; B }
//! ```
//! becomes
//! ```mlir
//! scf.parallel { A }
//! llvm.call @__regrain_grid_barrier()
//! scf.parallel { B }
//! ```
//! The runtime goes on with the next block there and comes back when all have arrived. What lives across is in the block's own
//! stack frame: values of its threads in arrays, shared memory, stack memory of threads. Blocks need not agree on control flow.

use mlir_bridge::ir::{Builder, Op};
use regrain_dialects::ops::is_grid_barrier;

use super::emit::Emitter;
use crate::lower::GRID_BARRIER;

impl Emitter<'_, '_> {
    /// Ends the open loop, and waits for the grid.
    pub fn grid_barrier(&mut self) {
        self.close();
        self.cursor.llvm_call(GRID_BARRIER, &[], &[]);
    }
}

/// Whether a loop polls memory that a thread of another block may write, and no barrier of the grid lets that block go on.
pub fn waits_for_other_blocks(spin: Op<'_>) -> bool {
    let direct = spin.regions().into_iter().flat_map(|region| region.blocks()).flat_map(|block| block.ops());
    !direct.into_iter().any(is_grid_barrier)
}

/// Declares the runtime's function where a wrapper needs it.
pub fn declare(wrapper: Op<'_>) {
    let Some(module) = wrapper.parent_of_name("builtin.module").filter(|_| wrapper.contains(is_grid_barrier)) else {
        return;
    };
    if module.lookup_symbol(GRID_BARRIER).is_none() {
        let ctx = module.ctx();
        Builder::at_end(module.body(), ctx.unknown_loc()).llvm_func(GRID_BARRIER, ctx.llvm_void(), &[]);
    }
}
