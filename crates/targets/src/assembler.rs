//! The way from a device module to an image, through the cache and on several threads ([`crate::jobs`]).

use inkwell::module::Module;

use crate::Error;
use crate::cache::Key;
use crate::image::{Image, KernelOptions};
use crate::jobs::ImageCompiler;
use crate::target::Kernels;
use crate::toolkit::Toolkit;

/// Compiles device modules for one architecture of a target.
#[derive(Clone)]
pub struct Assembler<'t> {
    /// The target.
    pub kernels: &'static dyn Kernels,
    /// The tools.
    pub toolkit: &'t Toolkit,
    /// How.
    pub options: KernelOptions,
}

impl ImageCompiler for Assembler<'_> {
    type Image = Image;

    fn key(&self, bitcode: &[u8]) -> Key {
        Key::of("image", &format!("{:?}", self.options), &[bitcode], &self.kernels.stamp(self.toolkit, &self.options))
    }

    fn compile(&self, module: &Module<'_>) -> Result<Image, Error> {
        self.kernels.compile(module, self.toolkit, &self.options, false)
    }

    fn encode(&self, image: &Image) -> Option<Vec<u8>> {
        image.encode()
    }

    fn decode(&self, bytes: &[u8]) -> Option<Image> {
        Image::decode(bytes)
    }
}
