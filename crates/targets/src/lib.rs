//! What a target is: its limits, data layout and device libraries, how code for it is assembled, and what its back
//! end reports about a kernel.

pub mod cpu;
mod error;
pub mod inline_ptx;
pub mod nvptx;
pub mod toolkit;

pub use error::{Error, Unsupported};
