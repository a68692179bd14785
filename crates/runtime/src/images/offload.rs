//! LLVM's offload binaries (`llvm/Object/OffloadBinary.h`, version 1), one behind the other, as clang's tools read and
//! write them.

use std::fmt;

/// What an image is; values of LLVM's `ImageKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    Cubin,
    Ptx,
    /// A linked object of the triple's processor: AMD's code objects.
    Object,
    /// Of no use to a device that this runtime knows.
    Other(u16),
}

/// LLVM's `OffloadKind` of CUDA.
pub const KIND_CUDA: u16 = 2;

/// One image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offload {
    pub kind: ImageKind,
    /// LLVM's `OffloadKind`: which language it was made for.
    pub language: u16,
    pub triple: String,
    pub arch: String,
    pub bytes: &'static [u8],
}

impl fmt::Display for Offload {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ImageKind::Cubin => write!(out, "cubin {}", self.arch),
            ImageKind::Ptx => write!(out, "PTX {}", self.arch),
            ImageKind::Object if self.triple.starts_with("amdgcn") => write!(out, "code object {}", self.arch),
            ImageKind::Object => write!(out, "object for {} {}", self.triple, self.arch),
            ImageKind::Other(kind) => write!(out, "image of kind {kind} for {} {}", self.triple, self.arch),
        }
    }
}

const MAGIC: [u8; 4] = [0x10, 0xff, 0x10, 0xad];
const VERSION: u32 = 1;
const HEADER: usize = 32;
const ENTRY: usize = 40;
const STRING: usize = 16;

/// Numbers of a binary, read with bounds.
#[derive(Clone, Copy)]
struct Reader(&'static [u8]);

impl Reader {
    fn slice(self, at: u64, len: u64) -> Option<&'static [u8]> {
        let start = usize::try_from(at).ok()?;
        self.0.get(start..start.checked_add(usize::try_from(len).ok()?)?)
    }

    fn u64(self, at: u64) -> Option<u64> {
        Some(u64::from_le_bytes(self.slice(at, 8)?.try_into().ok()?))
    }

    fn u32(self, at: u64) -> Option<u32> {
        Some(u32::from_le_bytes(self.slice(at, 4)?.try_into().ok()?))
    }

    fn u16(self, at: u64) -> Option<u16> {
        Some(u16::from_le_bytes(self.slice(at, 2)?.try_into().ok()?))
    }

    /// A string that ends with NUL.
    fn text(self, at: u64) -> Option<String> {
        let rest = self.0.get(usize::try_from(at).ok()?..)?;
        let len = rest.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&rest[..len]).into_owned())
    }
}

/// Reads all images of a sequence of offload binaries.
pub fn parse(bytes: &'static [u8]) -> Result<Vec<Offload>, String> {
    let mut images = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        // Padding between and behind the binaries.
        if rest.len() < HEADER && rest.iter().all(|byte| *byte == 0) {
            break;
        }
        let broken = |what: &str| format!("the offload binary at byte {at} of an image set {what}");
        if rest.get(..4) != Some(&MAGIC) {
            return Err(broken("lacks its magic"));
        }
        let (version, size) = (Reader(rest).u32(4), Reader(rest).u64(8));
        if version != Some(VERSION) {
            return Err(broken(&format!("has version {}, expected {VERSION}", version.unwrap_or(0))));
        }
        let len = size.and_then(|size| usize::try_from(size).ok()).filter(|len| *len >= HEADER);
        let whole = len.and_then(|len| rest.get(..len)).ok_or_else(|| broken("is cut short"))?;
        images.push(entry(Reader(whole)).ok_or_else(|| broken("refers to what lies outside of it"))?);
        at += whole.len().next_multiple_of(8);
    }
    Ok(images)
}

/// The image of one offload binary.
fn entry(binary: Reader) -> Option<Offload> {
    let (at, size) = (binary.u64(16)?, binary.u64(24)?);
    if size < ENTRY as u64 {
        return None;
    }
    let entry = Reader(binary.slice(at, ENTRY as u64)?);
    let mut image = Offload {
        kind: match entry.u16(0)? {
            1 => ImageKind::Object,
            3 => ImageKind::Cubin,
            5 => ImageKind::Ptx,
            other => ImageKind::Other(other),
        },
        language: entry.u16(2)?,
        triple: String::new(),
        arch: String::new(),
        bytes: binary.slice(entry.u64(24)?, entry.u64(32)?)?,
    };
    let (strings, count) = (entry.u64(8)?, entry.u64(16)?);
    let table = Reader(binary.slice(strings, count.checked_mul(STRING as u64)?)?);
    for index in 0..count {
        let (key, value) = (table.u64(index * 16)?, table.u64(index * 16 + 8)?);
        let slot = match binary.text(key)?.as_str() {
            "triple" => &mut image.triple,
            "arch" => &mut image.arch,
            _ => continue,
        };
        *slot = binary.text(value)?;
    }
    Some(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An offload binary as LLVM writes it.
    fn binary(kind: u16, language: u16, arch: &str, image: &[u8]) -> Vec<u8> {
        let table = HEADER + ENTRY;
        let mut strings = Vec::new();
        let mut add = |text: &str| {
            let at = table + 2 * STRING + strings.len();
            strings.extend(text.bytes().chain([0]));
            at as u64
        };
        let pairs = [add("triple"), add("nvptx64-nvidia-cuda"), add("arch"), add(arch)];
        let start = (table + 2 * STRING + strings.len()).next_multiple_of(8);
        let size = (start + image.len()).next_multiple_of(8);
        let mut out = MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        out.extend([size as u64, HEADER as u64, ENTRY as u64].iter().flat_map(|word| word.to_le_bytes()));
        out.extend([kind, language].iter().flat_map(|word| word.to_le_bytes()).chain([0; 4]));
        out.extend([table as u64, 2, start as u64, image.len() as u64].iter().flat_map(|word| word.to_le_bytes()));
        out.extend(pairs.iter().flat_map(|word| word.to_le_bytes()).chain(strings));
        out.resize(start, 0);
        out.extend(image);
        out.resize(size, 0);
        out
    }

    fn kept(bytes: Vec<u8>) -> &'static [u8] {
        bytes.leak()
    }

    #[test]
    fn reads_one_binary_behind_the_other() {
        let mut bytes =
            [binary(3, 2, "sm_80", b"machine"), binary(5, 2, "sm_90a", b"text"), binary(1, 4, "gfx90a", b"")].concat();
        bytes.extend([0; 16]);
        let images = parse(kept(bytes)).expect("three images");
        let names: Vec<String> = images.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["cubin sm_80", "PTX sm_90a", "object for nvptx64-nvidia-cuda gfx90a"]);
        assert_eq!((images[0].bytes, images[1].bytes, images[2].language), (&b"machine"[..], &b"text"[..], 4));
        assert_eq!(parse(&[]), Ok(Vec::new()));
    }

    #[test]
    fn what_is_cut_short_or_damaged_is_an_error_or_harmless() {
        let whole = binary(3, 2, "sm_80", b"machine code");
        for len in 1..whole.len() {
            assert!(parse(kept(whole[..len].to_vec())).is_err(), "{len}");
        }
        // A number that is wrong leads out of the binary, or to other bytes in it, never beyond.
        for at in 0..whole.len() {
            for byte in [0, 0x7f, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = byte;
                let range = kept(damaged);
                for image in parse(range).into_iter().flatten() {
                    assert!(range.as_ptr_range().contains(&image.bytes.as_ptr()) || image.bytes.is_empty());
                }
            }
        }
        let mut newer = whole;
        newer[4] = 2;
        assert_eq!(
            parse(kept(newer)),
            Err("the offload binary at byte 0 of an image set has version 2, expected 1".into())
        );
    }
}
