//! AMD's GPUs as a target: clang's device IR for CUDA to code objects.
//!
//! ```text
//! device module ─► IR over our device library ─► AMDGPU IR ─► ours and ocml linked ─► optimised ─► assembly ─► object ─► code object
//!                  (from_nvvm, destination)      (adapt)       (rocm, chips)                         (LLVM)      (lld)   + reports
//! ```
//!
//! A warp of CUDA is 32 lanes, on waves of 64 each half of one. Code objects are loaded when the program runs; block and grid
//! sizes come from the dispatch packet (version 4) or the hidden arguments (5 and 6).

pub mod chips;
mod codegen;
mod destination;
pub mod limits;
mod link;
pub mod metadata;
pub mod rocm;
mod target;

pub use destination::device_library;
pub use target::Amdgpu;

/// The version of code objects where nothing is said: ROCm 5, 6 and 7 load it.
pub const CODE_OBJECT: u32 = 4;

#[cfg(test)]
mod library_tests;
