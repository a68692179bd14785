//! The NVIDIA target: device LLVM IR to PTX, PTX to cubin with a resource report, both into a fat binary, and that
//! into the host module.
//!
//! ```text
//! device module --codegen--> PTX --ptxas--> cubin + reports --fatbin--> fat binary --embed--> host module
//! ```

pub mod codegen;
pub mod embed;
pub mod fatbin;
pub mod limits;
mod managed;
pub mod ptxas;
pub mod report;
mod target;

pub use codegen::{CodegenOptions, compile_to_ptx};
pub use embed::embed;
pub use fatbin::{Image, fat_binary};
pub use ptxas::{AssembleOptions, Assembled, assemble};
pub use report::Report;
pub use target::Nvptx;
