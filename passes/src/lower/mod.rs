//! From the parallel form to what targets take: functions that run one block, or kernels.

mod before;
mod stack;

/// The runtime's function that a thread calls before it may fail, with its number in x, y and z.
const SET_THREAD: &str = "__regrain_set_thread";

/// The runtime's function in which a block waits for all blocks of its grid.
const GRID_BARRIER: &str = "__regrain_grid_barrier";

crate::table::passes! { merge_redundant_threads, interchange_strides, split_barriers, vectorize_threads, lower_cpu, outline_kernels, scope_debug_info }
