//! The NVIDIA target: device LLVM IR to PTX, PTX to cubin with a resource report, both into a fat binary, and that
//! into the host module.
//!
//! ```text
//! device module --codegen--> PTX --ptxas--> cubin + reports --fatbin--> fat binary --embed--> host module
//! ```

pub mod codegen;
pub mod embed;
pub mod fatbin;
mod image;
pub mod limits;
mod merge;
pub mod ptxas;
pub mod report;

pub use codegen::{CodegenOptions, compile_to_ptx};
pub use embed::embed;
pub use fatbin::{Image, fat_binary};
pub use image::{ChipCompiler, Compiled, DeviceImage, Job, compile_device};
pub use merge::merge;
pub use ptxas::{AssembleOptions, Assembled, assemble};
pub use report::Report;

use crate::Error;

/// The fat binary of a program compiled for several chips: a cubin for each, and the PTX of the newest.
pub fn fat_binary_of(images: &[DeviceImage]) -> Result<Vec<u8>, Error> {
    let mut parts: Vec<Image<'_>> = images.iter().map(|image| Image::Cubin(image.arch, &image.cubin)).collect();
    // PTX for the features of one chip alone runs on no other, so it is worth nothing beside that chip's cubin.
    let newest = images.iter().filter(|image| !image.arch.specific).max_by_key(|image| image.arch);
    parts.extend(newest.map(|image| Image::Ptx(image.arch, &image.ptx)));
    fat_binary(&parts)
}
