//! The CPU lowering of a raised module in two calls: split at barriers, make block functions, lower to the llvm dialect.

pub mod nvvm_operations;

crate::table::passes! { split_barriers, lower_cpu, outline_kernels, scope_debug_info }

use mlir_bridge::{
    ir::Op,
    pass::{self, PassError},
};

use crate::pipelines::LOWER_CPU;
use regrain_targets::target::BlockFunction;

/// Splits the block loop of every launch at its barriers, where that is proven right. A launch that cannot be split
/// gives a remark that says why; it is run by coroutines.
pub fn split(module: Op<'_>) {
    for dialect in split_barriers::DIALECTS.iter().chain(lower_cpu::DIALECTS) {
        module.ctx().load_dialect(dialect);
    }
    split_barriers::split_wrappers(module);
}

/// Lowers every launch that [`split`] left split to a function `void (void **args)` that runs the block which the
/// thread state names. The module then holds the llvm dialect alone, without kernels and launch functions.
pub fn lower_to_blocks(module: Op<'_>) -> Result<Vec<BlockFunction>, PassError> {
    let blocks = lower_cpu::make_blocks(module)?;
    pass::run_pipeline(module, LOWER_CPU)?;
    lower_cpu::finish(module);
    Ok(blocks)
}
