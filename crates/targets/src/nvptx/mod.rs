//! The NVIDIA target: device LLVM IR to PTX, PTX to cubin with a resource report, both into a fat binary, and that
//! into the host module.
//!
//! ```text
//! device module --codegen--> PTX --ptxas--> cubin + reports --fatbin--> fat binary --embed--> host module
//! ```

pub mod codegen;
mod elf;
pub mod embed;
pub mod fatbin;
pub mod ptxas;
pub mod report;

pub use codegen::{CodegenOptions, compile_to_ptx};
pub use embed::embed;
pub use fatbin::{Image, fat_binary};
pub use ptxas::{AssembleOptions, Assembled, assemble};
pub use report::Report;

use inkwell::module::Module;

use crate::Error;
use crate::toolkit::{SmArch, Toolkit};

/// A device module compiled for one chip.
#[derive(Clone, Debug)]
pub struct DeviceImage {
    /// The chip.
    pub arch: SmArch,
    /// PTX text.
    pub ptx: String,
    /// Machine code.
    pub cubin: Vec<u8>,
    /// What ptxas says of each kernel.
    pub reports: Vec<Report>,
    /// Warnings of ptxas.
    pub warnings: Vec<String>,
}

/// Compiles a device module for one chip, whichever way the module came. It is changed on the way.
pub fn compile_device(
    module: &Module<'_>,
    toolkit: &Toolkit,
    codegen: &CodegenOptions,
    assembling: &AssembleOptions,
) -> Result<DeviceImage, Error> {
    toolkit.require(codegen.arch)?;
    let ptx = compile_to_ptx(module, toolkit, codegen)?;
    let Assembled { cubin, reports, warnings } = assemble(toolkit, &ptx, assembling)?;
    Ok(DeviceImage { arch: codegen.arch, ptx, cubin, reports, warnings })
}

/// The fat binary of a program compiled for several chips: a cubin for each, and the PTX of the newest.
pub fn fat_binary_of(images: &[DeviceImage]) -> Result<Vec<u8>, Error> {
    let mut parts: Vec<Image<'_>> = images.iter().map(|image| Image::Cubin(image.arch, &image.cubin)).collect();
    // PTX for the features of one chip alone runs on no other, so it is worth nothing beside that chip's cubin.
    let newest = images.iter().filter(|image| !image.arch.specific).max_by_key(|image| image.arch);
    parts.extend(newest.map(|image| Image::Ptx(image.arch, &image.ptx)));
    fat_binary(&parts)
}
