//! Changing the grain of a launch.

pub mod coarsening;

crate::table::passes! { coarsen_blocks, coarsen_threads, unroll_and_interleave }
