//! The images of a unit for several targets, in the host object.
//!
//! ```text
//! @__cuda_fatbin_wrapper = { i32 0x466243b1, i32 1, ptr @__regrain_image_set, ptr null }      ; clang's, for registration
//! @__regrain_image_set   = { i64 "RRGSET01", ptr @__regrain_cpu_image.<unit>, ptr @__regrain_offload, i64 bytes }
//! @__regrain_offload     = [bytes x i8] ..., section ".llvm.offloading", align 8
//! ```
//!
//! The section holds LLVM's offload binaries (`llvm/Object/OffloadBinary.h`, version 1), one for each image and one after
//! the other, so that `llvm-objdump --offloading` and the like list them. Unlike LLVM's own it is loaded with the program:
//! the runtime picks an image from it.
//!
//! ```text
//! header  10 ff 10 ad | u32 version 1 | u64 bytes of all this | u64 offset of the entry 32 | u64 size of the entry 40
//! entry   u16 image kind | u16 offload kind 2 (CUDA) | u32 flags 0 | u64 offset, number of strings | u64 offset, size of image
//! strings u64 offset of the key, u64 offset of the value, for each; then the texts, each ended by NUL
//! image   at a multiple of 8, padded to one
//! ```

use inkwell::AddressSpace;
use inkwell::module::{Linkage, Module};
use inkwell::values::{GlobalValue, UnnamedAddress};
use mlir_bridge::llvm;

use crate::Error;
use crate::registration;

/// The section that holds offload binaries.
pub const SECTION: &str = ".llvm.offloading";
/// The first word of an image set: "RRGSET01".
pub const SET_MAGIC: u64 = 0x3130_5445_5347_5252;

const MAGIC: [u8; 4] = [0x10, 0xff, 0x10, 0xad];
const VERSION: u32 = 1;
const HEADER: usize = 32;
const ENTRY: usize = 40;
const STRING: usize = 16;
const CUDA: u16 = 1 << 1;
const PRODUCER: &str = "regrain";

/// What an image is, with LLVM's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    /// Something else: the list of the CPU's kernels, whose code is the host object's own.
    None = 0,
    /// An object file.
    Object = 1,
    /// LLVM bitcode.
    Bitcode = 2,
    /// Machine code of an NVIDIA chip.
    Cubin = 3,
    /// NVIDIA's container.
    Fatbinary = 4,
    /// PTX text.
    Ptx = 5,
}

impl ImageKind {
    fn of_number(number: u16) -> Option<Self> {
        let all = [Self::None, Self::Object, Self::Bitcode, Self::Cubin, Self::Fatbinary, Self::Ptx];
        all.into_iter().find(|kind| *kind as u16 == number)
    }
}

/// One image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffloadImage<'a> {
    /// What it is.
    pub kind: ImageKind,
    /// The target, as in `nvptx64-nvidia-cuda`.
    pub triple: &'a str,
    /// The chip, as in `sm_80`; `cpu` for the host.
    pub arch: &'a str,
    /// The translation unit that it belongs to; empty where it does not matter.
    pub unit: &'a str,
    /// How code is to be made of it, where that is not done yet; else empty.
    pub options: &'a str,
    /// The image.
    pub bytes: &'a [u8],
}

/// The offload binaries of `images`, one after the other.
pub fn write(images: &[OffloadImage<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for image in images {
        image.write(&mut out);
    }
    out
}

impl OffloadImage<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        let mut strings = vec![("triple", self.triple), ("arch", self.arch), ("producer", PRODUCER)];
        let more = [("unit", self.unit), ("options", self.options)];
        strings.extend(more.into_iter().filter(|(_, value)| !value.is_empty()));
        let mut texts = Vec::new();
        let mut places = Vec::new();
        let first_text = HEADER + ENTRY + STRING * strings.len();
        for text in strings.iter().flat_map(|(key, value)| [key, value]) {
            places.push((first_text + texts.len()) as u64);
            texts.extend(text.as_bytes());
            texts.push(0);
        }
        let image_at = (first_text + texts.len()).next_multiple_of(8);
        let size = (image_at + self.bytes.len()).next_multiple_of(8);
        let start = out.len();
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        for number in [size, HEADER, ENTRY] {
            out.extend((number as u64).to_le_bytes());
        }
        out.extend((self.kind as u16).to_le_bytes());
        out.extend(CUDA.to_le_bytes());
        out.extend(0u32.to_le_bytes());
        for number in [HEADER + ENTRY, strings.len(), image_at, self.bytes.len()] {
            out.extend((number as u64).to_le_bytes());
        }
        places.iter().for_each(|place| out.extend(place.to_le_bytes()));
        out.extend(texts);
        out.resize(start + image_at, 0);
        out.extend(self.bytes);
        out.resize(start + size, 0);
    }
}

/// The offload binaries in a section, whichever tool wrote them.
pub fn parse(mut section: &[u8]) -> Result<Vec<OffloadImage<'_>>, Error> {
    let mut images = Vec::new();
    while section.iter().any(|byte| *byte != 0) {
        let (image, size) = parse_one(section).ok_or_else(|| Error::User("broken offload binary".into()))?;
        images.push(image);
        section = &section[size..];
    }
    Ok(images)
}

fn parse_one(bytes: &[u8]) -> Option<(OffloadImage<'_>, usize)> {
    if !bytes.starts_with(&MAGIC) || u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?) != VERSION {
        return None;
    }
    let size = long(bytes, 8)?;
    let bytes = bytes.get(..size)?;
    let entry = bytes.get(long(bytes, 16)?..)?;
    let kind = ImageKind::of_number(u16::from_le_bytes(entry.get(..2)?.try_into().ok()?))?;
    let text = |at: usize| {
        let rest = bytes.get(long(bytes, at)?..)?;
        std::str::from_utf8(&rest[..rest.iter().position(|byte| *byte == 0)?]).ok()
    };
    let (strings, count) = (long(entry, 8)?, long(entry, 16)?);
    let value = |key: &str| {
        let at = (0..count).map(|number| strings + number * STRING);
        at.filter_map(|at| Some((text(at)?, text(at + 8)?))).find(|(name, _)| *name == key).map_or("", |(_, v)| v)
    };
    let start = long(entry, 24)?;
    let image = bytes.get(start..start.checked_add(long(entry, 32)?)?)?;
    // Nothing smaller than a header, or this would not come to an end.
    (size >= HEADER).then_some(())?;
    let (triple, arch, unit, options) = (value("triple"), value("arch"), value("unit"), value("options"));
    Some((OffloadImage { kind, triple, arch, unit, options, bytes: image }, size))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    let end = at.checked_add(8)?;
    usize::try_from(u64::from_le_bytes(bytes.get(at..end)?.try_into().ok()?)).ok()
}

/// The image that lists the kernels whose code is the host object's own.
pub fn cpu_listing<'k>(kernels: impl IntoIterator<Item = &'k str>) -> String {
    kernels.into_iter().flat_map(|kernel| ["kernel ", kernel, "\n"]).collect()
}

/// The kernels that [`cpu_listing`] made `text` of.
pub fn listed_kernels(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("kernel "))
}

/// Lets the registration code of `host` refer to a set of images: the CPU's, where there is a symbol of its table, and the
/// offload binaries `offload`, where there are any. Says whether the module has a place for it.
pub fn embed_set(host: &Module<'_>, cpu_image_symbol: Option<&str>, offload: &[u8]) -> Result<bool, Error> {
    if !registration::registers_device_code(host) {
        return Ok(false);
    }
    registration::register_early(host);
    let context = host.get_context();
    let null = context.ptr_type(AddressSpace::default()).const_null();
    let cpu = cpu_image_symbol.map_or(null, |symbol| registration::external(host, symbol).as_pointer_value());
    let binaries = if offload.is_empty() { null } else { add_binaries(host, offload).as_pointer_value() };
    let word = |value: u64| context.i64_type().const_int(value, false);
    let fields = [word(SET_MAGIC).into(), cpu.into(), binaries.into(), word(offload.len() as u64).into()];
    let set = context.const_struct(&fields, false);
    let global = host.add_global(set.get_type(), None, "__regrain_image_set");
    global.set_initializer(&set);
    global.set_constant(true);
    global.set_linkage(Linkage::Private);
    global.set_alignment(8);
    registration::set_image(host, global.as_pointer_value())
}

/// Puts offload binaries into an object whose registration code refers to its image by itself: tools list them, and no program
/// reads them.
pub fn embed_listing(host: &Module<'_>, offload: &[u8]) {
    if registration::registers_device_code(host) {
        llvm::keep_in_object(host, add_binaries(host, offload));
    }
}

pub(crate) fn add_binaries<'ctx>(host: &Module<'ctx>, offload: &[u8]) -> GlobalValue<'ctx> {
    let bytes = host.get_context().const_string(offload, false);
    let global = host.add_global(bytes.get_type(), None, "__regrain_offload");
    global.set_initializer(&bytes);
    global.set_constant(true);
    global.set_linkage(Linkage::Private);
    global.set_unnamed_address(UnnamedAddress::None);
    global.set_section(Some(SECTION));
    global.set_alignment(8);
    global
}

#[cfg(test)]
#[path = "offload_tests.rs"]
mod tests;
