//! From the parallel form to what targets take: functions that run one block, or kernels.

use mlir_bridge::ir::{Builder, Op};
use regrain_dialects::attributes::TAKEN_BY_ROW;

mod before;
mod exact_functions;
mod stack;
mod warp_functions;

/// What LLVM is told of a loop, where the conversion from `scf` takes it along.
const LOOP_ANNOTATION: &str = "llvm.loop_annotation";

/// Keeps LLVM from writing a loop out.
fn keep_rolled(rounds: Op<'_>) {
    if let Some(annotation) = rounds.ctx().parse_attr("#llvm.loop_annotation<unroll = <disable = true>>") {
        rounds.set_attr(LOOP_ANNOTATION, annotation);
    }
}

/// Beginning of the names of block functions.
pub const BLOCK_PREFIX: &str = "__regrain_block.";

/// The runtime's function that a thread calls before it may fail, with its number in x, y and z.
const SET_THREAD: &str = "__regrain_set_thread";

/// The runtime's function in which a block waits for all blocks of its grid.
const GRID_BARRIER: &str = "__regrain_grid_barrier";

/// The runtime's function that a thread calls in each round of a loop that waits.
const WAIT: &str = "__regrain_wait";
/// The runtime's function that says whether the next row of a loop is the caller's to run.
const TAKE_ROW: &str = "__regrain_take_row";

/// The runtime's thread-local array that holds a block's dynamic shared memory; there is room for a row of threads before and behind it.
const DYNAMIC_SHARED: &str = "__regrain_dynamic_shared";

/// How a block's shared memory is aligned.
const SHARED_ALIGNMENT: i64 = 64;

/// A condition around what only the caller is to run.
fn take_row(b: Builder<'_>) -> Op<'_> {
    let ctx = b.ctx();
    let module = b.block().parent_op().and_then(|op| op.parent_of_name("builtin.module"));
    if let Some(module) = module.filter(|module| module.lookup_symbol(TAKE_ROW).is_none()) {
        Builder::at_end(module.body(), ctx.unknown_loc()).llvm_func(TAKE_ROW, ctx.int(32), &[]);
    }
    let mine = b.llvm_call(TAKE_ROW, &[], &[ctx.int(32)]).result(0);
    b.scf_if(b.cmpi("ne", mine, b.const_i32(0)), &[], false)
}

crate::table::passes! { drop_votes, merge_redundant_threads, share_loads, carry_atomics, interchange_strides, access_in_order, accumulate_in_parts, undo_staging, vectorize_blocks, split_barriers, vectorize_threads, lower_cpu, outline_kernels, scope_debug_info }
