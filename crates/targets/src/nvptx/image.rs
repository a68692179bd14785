//! Device modules compiled for one chip, and how the cache keeps them.

use inkwell::module::Module;
use serde::{Deserialize, Serialize};

use super::{AssembleOptions, Assembled, CodegenOptions, Report, assemble, compile_to_ptx};
use crate::Error;
use crate::cache::Key;
use crate::jobs::{self, ImageCompiler};
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

/// What stands before PTX and cubin in an entry of the cache, on a line.
#[derive(Serialize, Deserialize)]
struct Header {
    ptx: usize,
    reports: Vec<Report>,
    warnings: Vec<String>,
}

impl DeviceImage {
    /// The image as bytes, without the name of the chip.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let header = Header { ptx: self.ptx.len(), reports: self.reports.clone(), warnings: self.warnings.clone() };
        let mut content = serde_json::to_vec(&header).ok()?;
        content.push(b'\n');
        content.extend_from_slice(self.ptx.as_bytes());
        content.extend_from_slice(&self.cubin);
        Some(content)
    }

    /// The image for `arch` that [`DeviceImage::encode`] made `content` of.
    pub fn decode(arch: SmArch, content: &[u8]) -> Option<Self> {
        let line = content.iter().position(|byte| *byte == b'\n')?;
        let header: Header = serde_json::from_slice(&content[..line]).ok()?;
        let (ptx, cubin) = content[line + 1..].split_at_checked(header.ptx)?;
        let ptx = String::from_utf8(ptx.to_vec()).ok()?;
        Some(Self { arch, ptx, cubin: cubin.to_vec(), reports: header.reports, warnings: header.warnings })
    }
}

/// Compiles for one chip.
#[derive(Clone, Debug)]
pub struct ChipCompiler<'t> {
    /// The tools.
    pub toolkit: &'t Toolkit,
    /// How PTX is made.
    pub codegen: CodegenOptions,
    /// How it is assembled.
    pub assembling: AssembleOptions,
}

/// A device module that waits to be compiled for one chip.
pub type Job<'t> = jobs::Job<ChipCompiler<'t>>;

/// An image, and where the cache has it.
pub type Compiled = jobs::Compiled<DeviceImage>;

impl ImageCompiler for ChipCompiler<'_> {
    type Image = DeviceImage;

    fn key(&self, bitcode: &[u8]) -> Key {
        let options = format!("{:?} {:?}", self.codegen, self.assembling);
        Key::of("image", &options, &[bitcode], &self.toolkit.stamp())
    }

    fn compile(&self, module: &Module<'_>) -> Result<DeviceImage, Error> {
        compile_device(module, self.toolkit, &self.codegen, &self.assembling)
    }

    fn encode(&self, image: &DeviceImage) -> Option<Vec<u8>> {
        image.encode()
    }

    fn decode(&self, bytes: &[u8]) -> Option<DeviceImage> {
        DeviceImage::decode(self.codegen.arch, bytes)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    const ARCH: SmArch = SmArch { number: 80, specific: false };

    #[test]
    fn an_image_comes_back_from_its_bytes() {
        let report = Report { name: "k".into(), registers: 32, ..Report::default() };
        let (ptx, warnings) = ("ptx\nof a".to_string(), vec!["w".to_string()]);
        let image = DeviceImage { arch: ARCH, ptx, cubin: vec![0, 10, 255], reports: vec![report], warnings };
        let bytes = image.encode().expect("bytes");
        let got = DeviceImage::decode(ARCH, &bytes).expect("an image");
        assert_eq!((got.ptx.as_str(), &got.cubin[..], got.reports[0].registers), ("ptx\nof a", &[0, 10, 255][..], 32));
        assert_eq!(got.warnings, ["w"]);
        assert!(DeviceImage::decode(ARCH, &bytes[..10]).is_none());
    }
}
