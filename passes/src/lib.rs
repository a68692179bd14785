//! The passes of Regrain, one file for each.

pub mod coarsen_blocks;
pub mod coarsen_threads;
pub mod coarsening;
pub mod counted_loop;
pub mod cpu;
pub mod eliminate_redundant_barriers;
pub mod expand_alternatives;
pub mod facts;
pub mod form_parallel;
pub mod kernel_checks;
pub mod launch_function;
pub mod lift_control_flow;
pub mod lower_cpu;
pub mod nvvm_operations;
pub mod outline_kernels;
pub mod pipelines;
pub mod raise;
pub mod raise_while_to_for;
pub mod registry;
pub mod select_alternative;
pub mod split_barriers;
pub mod thread_ops;
pub mod uniformity;
pub mod unroll_and_interleave;
pub mod warp_ops;
