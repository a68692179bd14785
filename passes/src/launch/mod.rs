//! Launches: the host function of a kernel, and kernels that are made of changed launches.

pub mod launch_function;

crate::table::passes! { keep_launches, isolate_launches, release_launches }
