//! The `cuda*` functions that a compiled program calls: they check plain arguments, keep the last error and call the
//! device, of which they know nothing.

mod arrays;
mod copies;
mod devices;
mod errors;
mod graphs;
mod kernels;
mod locations;
mod memory;
mod properties;
mod registration;
mod streams;
mod textures;
mod unsupported;
