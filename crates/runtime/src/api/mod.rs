//! The `cuda*` functions that a compiled program calls: they check plain arguments, keep the last error and call the
//! device, of which they know nothing.

mod arrays;
mod batches;
mod copies;
pub mod devices;
mod errors;
pub mod graph_memory;
pub mod graph_nodes;
pub mod graph_params;
pub mod graphs;
pub mod interprocess;
pub mod kernels;
pub mod locations;
pub mod memory;
mod properties;
mod registration;
pub mod streams;
pub mod textures;
mod unsupported;
