//! The device images in objects, archives, executables and libraries: LLVM's offload binaries and NVIDIA's fat binaries.

use std::borrow::Cow;
use std::path::Path;

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use object::read::archive::ArchiveFile;
use object::{FileKind, Object as _, ObjectSection as _, ObjectSymbol as _, SymbolFlags};

use crate::Error;
use crate::amdgpu::metadata;
use crate::kernel_names;
use crate::nvptx::{embed, fatbin};
use crate::offload::{self, ImageKind, OffloadImage};

/// `st_other` of a cubin's symbols: a kernel.
const CUDA_ENTRY: u8 = 0x10;

/// A device image of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The file, with the member in parentheses for archives.
    pub file: String,
    /// The translation unit, where the image says so.
    pub unit: Option<String>,
    /// As in `sm_80` or `cpu`.
    pub target: String,
    /// As in `cubin`.
    pub kind: &'static str,
    /// Bytes of the image.
    pub size: usize,
    /// The kernels in it; `None` where they cannot be told.
    pub kernels: Option<Vec<String>>,
}

/// The images in `bytes`, which are the content of `file`. None is no error.
pub fn list(file: &str, bytes: &[u8]) -> Result<Vec<Listed>, Error> {
    let mut images = Vec::new();
    let archive = is_archive(bytes);
    for member in members(file, bytes)? {
        // Members of other kinds, as text, hold no images.
        if !archive || FileKind::parse(&*member.bytes).is_ok() {
            images.extend(list_object(&member.name, &member.bytes)?);
        }
    }
    Ok(images)
}

/// A file by itself, or what an archive holds.
pub struct Member<'b> {
    /// The file, with the member in parentheses for archives.
    pub name: String,
    /// Its content.
    pub bytes: Cow<'b, [u8]>,
}

fn is_archive(bytes: &[u8]) -> bool {
    matches!(FileKind::parse(bytes), Ok(FileKind::Archive))
}

/// The members of the archive `file`, whose content is `bytes`, or the file itself where it is none. The members of a thin archive
/// are files of their own, which are read.
pub fn members<'b>(file: &str, bytes: &'b [u8]) -> Result<Vec<Member<'b>>, Error> {
    if !is_archive(bytes) {
        return Ok(vec![Member { name: file.into(), bytes: bytes.into() }]);
    }
    let unreadable = |error: object::Error| Error::User(format!("{file}: {error}"));
    let archive = ArchiveFile::parse(bytes).map_err(unreadable)?;
    let mut found = Vec::new();
    for member in archive.members() {
        let member = member.map_err(unreadable)?;
        let own = String::from_utf8_lossy(member.name()).into_owned();
        let content = if member.is_thin() {
            let path = Path::new(file).parent().unwrap_or(Path::new("")).join(&own);
            let read = std::fs::read(&path);
            read.map_err(|source| Error::Io { path: path.display().to_string(), source })?.into()
        } else {
            member.data(bytes).map_err(unreadable)?.into()
        };
        found.push(Member { name: format!("{file}({own})"), bytes: content });
    }
    Ok(found)
}

fn list_object(file: &str, bytes: &[u8]) -> Result<Vec<Listed>, Error> {
    let unreadable = |error: object::Error| Error::User(format!("{file}: {error}"));
    let broken = |error: Error| Error::User(format!("{file}: {error}"));
    let object = object::File::parse(bytes).map_err(unreadable)?;
    let mut images = Vec::new();
    for section in object.sections() {
        match section.name() {
            Ok(offload::SECTION) => {
                let found = offload::parse(section.data().map_err(unreadable)?).map_err(broken)?;
                images.extend(found.iter().map(|image| of_offload(file, image)));
            }
            Ok(embed::IMAGE_SECTION) => {
                let found = fatbin::parse_all(section.data().map_err(unreadable)?).map_err(broken)?;
                images.extend(found.iter().map(|entry| of_fat_binary(file, entry)));
            }
            _ => {}
        }
    }
    Ok(images)
}

fn of_offload(file: &str, image: &OffloadImage<'_>) -> Listed {
    let text = || std::str::from_utf8(image.bytes).ok();
    let (kind, kernels) = match image.kind {
        ImageKind::None => ("in the host code", text().map(|text| owned(offload::listed_kernels(text)))),
        ImageKind::Object if metadata::is_code_object(image.bytes) => {
            ("code object", Some(metadata::kernels(image.bytes)))
        }
        ImageKind::Object => ("object", None),
        ImageKind::Bitcode => ("bitcode", kernels_of_bitcode(image.bytes)),
        ImageKind::Cubin => ("cubin", kernels_of_cubin(image.bytes)),
        ImageKind::Fatbinary => ("fat binary", None),
        ImageKind::Ptx => ("PTX", text().map(kernels_of_ptx)),
    };
    let unit = Some(image.unit.to_string()).filter(|unit| !unit.is_empty());
    Listed { file: file.into(), unit, target: image.arch.into(), kind, size: image.bytes.len(), kernels }
}

fn of_fat_binary(file: &str, entry: &fatbin::Entry<'_>) -> Listed {
    let text = || std::str::from_utf8(entry.payload).ok();
    let (kind, kernels) = match entry.kind {
        1 => ("PTX", text().filter(|text| text.contains(".version")).map(kernels_of_ptx)),
        2 => ("cubin", kernels_of_cubin(entry.payload)),
        _ => ("unknown", None),
    };
    let (target, size) = (entry.arch.to_string(), entry.payload.len());
    Listed { file: file.into(), unit: None, target, kind, size, kernels }
}

fn kernels_of_cubin(bytes: &[u8]) -> Option<Vec<String>> {
    let cubin = object::File::parse(bytes).ok()?;
    let is_entry = |flags| matches!(flags, SymbolFlags::Elf { st_other, .. } if st_other & CUDA_ENTRY != 0);
    let is_kernel = |symbol: &object::Symbol<'_, '_>| symbol.is_global() && is_entry(symbol.flags());
    let mut names = owned(cubin.symbols().filter(is_kernel).filter_map(|symbol| symbol.name().ok()));
    names.sort();
    Some(names)
}

fn kernels_of_bitcode(bytes: &[u8]) -> Option<Vec<String>> {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, "listing");
    let mut names = kernel_names(&Module::parse_bitcode_from_buffer(&buffer, &context).ok()?);
    names.sort();
    Some(names)
}

fn kernels_of_ptx(text: &str) -> Vec<String> {
    let mut words = text.split_whitespace();
    let mut names = Vec::new();
    while words.any(|word| word == ".entry") {
        names.extend(words.next().map(|name| name.split('(').next().unwrap_or(name).to_string()));
    }
    names.sort();
    names
}

fn owned<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    names.map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_ptx_are_kernels() {
        let text =
            ".version 8.8\n.func helper() { ret; }\n.visible .entry _Z1kPf(\n.param .u64 p)\n{ ret; }\n.entry a()\n";
        assert_eq!(kernels_of_ptx(text), ["_Z1kPf", "a"]);
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        let message = list("a.txt", b"some text that is long enough").expect_err("no object").to_string();
        assert!(message.starts_with("a.txt: "), "{message}");
    }
}
