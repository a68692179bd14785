//! What a target is: its limits, data layout and device libraries, how code for it is assembled, and what its back
//! end reports about a kernel.

pub mod cpu;
mod error;
pub mod from_nvvm;
pub mod machines;
pub mod nvptx;
pub mod toolkit;

pub use error::{Error, Unsupported};
