//! NVIDIA's fat binary: the container in which device images travel inside an executable, uncompressed.
//!
//! ```text
//! container  u32 magic 0xBA55ED50 | u16 version 1 | u16 header size 16 | u64 bytes that follow
//! entry      u16 kind (1 PTX, 2 cubin) | u16 version 0x101 | u32 header size | u64 padded payload size
//!            u32 compressed size 0 | u32 offset of the options record, 0: none
//!            u16 code version minor, major (PTX version; for cubins 1.<ELF ABI version>) | u32 sm number
//!            u32 x2 identifier 0 | u64 flags | u64 0 | u64 uncompressed size 0
//! record     u32 offset of the ptxas options, a NUL-terminated text | u32 size of the compatibility notes after it
//! ```
//!
//! Payloads and headers are padded to 8 bytes. Cubins of recent chips hold a section `.nv.compat`; its bytes are
//! repeated in the record and a flag says so. The layout is that of NVIDIA's own `fatbinary --compress=false`.

use object::read::elf::{ElfFile64, FileHeader as _};
use object::{LittleEndian, Object as _, ObjectSection as _};

use crate::Error;
use crate::toolkit::SmArch;

const MAGIC: u32 = 0xBA55_ED50;
const VERSION: u16 = 1;
const CONTAINER_HEADER: u16 = 16;
const ENTRY_VERSION: u16 = 0x101;
const ENTRY_HEADER: u32 = 64;
const RECORD_OFFSETS: u32 = 8;

const FLAG_64_BIT: u64 = 1 << 0;
const FLAG_LINUX: u64 = 1 << 4;
const FLAG_ARCH_SPECIFIC: u64 = 1 << 12;
const FLAG_COMPAT_NOTES: u64 = 1 << 24;

/// One device image on its way into a fat binary.
#[derive(Clone, Copy, Debug)]
pub enum Image<'a> {
    /// PTX text, which the driver compiles for chips without a cubin.
    Ptx(SmArch, &'a str),
    /// Machine code for one chip.
    Cubin(SmArch, &'a [u8]),
}

/// The fat binary that holds `images`, in this order.
pub fn fat_binary(images: &[Image<'_>]) -> Result<Vec<u8>, Error> {
    let mut entries = Vec::new();
    for image in images {
        match *image {
            Image::Ptx(arch, text) => write_ptx(&mut entries, arch, text)?,
            Image::Cubin(arch, bytes) => write_cubin(&mut entries, arch, bytes)?,
        }
    }
    let mut out = Vec::with_capacity(entries.len() + usize::from(CONTAINER_HEADER));
    out.extend(MAGIC.to_le_bytes());
    out.extend(VERSION.to_le_bytes());
    out.extend(CONTAINER_HEADER.to_le_bytes());
    out.extend((entries.len() as u64).to_le_bytes());
    out.append(&mut entries);
    Ok(out)
}

fn write_ptx(out: &mut Vec<u8>, arch: SmArch, text: &str) -> Result<(), Error> {
    let version = ptx_version(text)
        .ok_or_else(|| Error::internal("writing a fat binary", "expected a '.version' directive in the PTX"))?;
    let mut payload = text.as_bytes().to_vec();
    payload.push(0);
    let header = EntryHeader { kind: 1, code_version: version, arch, compat: Some(&[]) };
    header.write(out, &payload);
    Ok(())
}

fn write_cubin(out: &mut Vec<u8>, arch: SmArch, bytes: &[u8]) -> Result<(), Error> {
    let cubin = ElfFile64::<LittleEndian>::parse(bytes)
        .map_err(|_| Error::internal("writing a fat binary", "expected a 64-bit ELF file as cubin"))?;
    let abi = cubin.elf_header().e_ident().abi_version;
    let compat = cubin.section_by_name(".nv.compat").and_then(|section| section.data().ok());
    EntryHeader { kind: 2, code_version: (1, u16::from(abi)), arch, compat }.write(out, bytes);
    Ok(())
}

/// What an entry's header says, sizes aside.
struct EntryHeader<'a> {
    kind: u16,
    /// Major, minor.
    code_version: (u16, u16),
    arch: SmArch,
    /// Compatibility notes for the options record; none: no record.
    compat: Option<&'a [u8]>,
}

impl EntryHeader<'_> {
    fn write(&self, out: &mut Vec<u8>, payload: &[u8]) {
        let record = self.compat.map(options_record).unwrap_or_default();
        let header_size = ENTRY_HEADER + record.len() as u32;
        let options_offset = if record.is_empty() { 0 } else { ENTRY_HEADER };
        let padded = payload.len().next_multiple_of(8);
        let mut flags = FLAG_64_BIT | FLAG_LINUX;
        if self.arch.specific {
            flags |= FLAG_ARCH_SPECIFIC;
        }
        if self.compat.is_some_and(|notes| !notes.is_empty()) {
            flags |= FLAG_COMPAT_NOTES;
        }
        out.extend(self.kind.to_le_bytes());
        out.extend(ENTRY_VERSION.to_le_bytes());
        out.extend(header_size.to_le_bytes());
        out.extend((padded as u64).to_le_bytes());
        out.extend(0u32.to_le_bytes());
        out.extend(options_offset.to_le_bytes());
        out.extend(self.code_version.1.to_le_bytes());
        out.extend(self.code_version.0.to_le_bytes());
        out.extend(self.arch.number.to_le_bytes());
        out.extend([0; 8]);
        out.extend(flags.to_le_bytes());
        out.extend([0; 16]);
        out.extend(record);
        out.extend(payload);
        out.extend(std::iter::repeat_n(0, padded - payload.len()));
    }
}

/// The record behind an entry's header: no ptxas options, then the notes.
fn options_record(notes: &[u8]) -> Vec<u8> {
    let mut record = Vec::new();
    record.extend((ENTRY_HEADER + RECORD_OFFSETS).to_le_bytes());
    record.extend((notes.len() as u32).to_le_bytes());
    record.push(0);
    record.extend(notes);
    record.resize(record.len().next_multiple_of(8), 0);
    record
}

/// The numbers of the `.version` directive.
fn ptx_version(ptx: &str) -> Option<(u16, u16)> {
    let line = ptx.lines().find_map(|line| line.trim().strip_prefix(".version"))?;
    let (major, minor) = line.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// An entry of a fat binary, as read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// 1 PTX, 2 cubin.
    pub kind: u16,
    /// The chip.
    pub arch: SmArch,
    /// Major, minor.
    pub code_version: (u16, u16),
    /// The image, with its padding.
    pub payload: &'a [u8],
}

/// Reads an uncompressed fat binary.
pub fn parse(bytes: &[u8]) -> Result<Vec<Entry<'_>>, Error> {
    let broken = || Error::User("broken CUDA fat binary".into());
    let (magic, size) = (read::<4>(bytes, 0), read::<8>(bytes, 8));
    if magic.map(u32::from_le_bytes) != Some(MAGIC) {
        return Err(Error::User("not a CUDA fat binary".into()));
    }
    let end = size.map(u64::from_le_bytes).and_then(|size| usize::try_from(size).ok());
    let end = end.and_then(|size| size.checked_add(usize::from(CONTAINER_HEADER))).ok_or_else(broken)?;
    let bytes = bytes.get(..end).ok_or_else(broken)?;
    let mut entries = Vec::new();
    let mut at = usize::from(CONTAINER_HEADER);
    while at < bytes.len() {
        let (entry, size) = parse_entry(&bytes[at..]).ok_or_else(broken)?;
        entries.push(entry);
        at += size;
    }
    Ok(entries)
}

/// Reads the uncompressed fat binaries of a section, one after the other with padding between them.
pub fn parse_all(mut section: &[u8]) -> Result<Vec<Entry<'_>>, Error> {
    let mut entries = Vec::new();
    while let Some(start) = section.iter().position(|byte| *byte != 0) {
        section = &section[start..];
        entries.extend(parse(section)?);
        let size = read::<8>(section, 8).map(u64::from_le_bytes).and_then(|size| usize::try_from(size).ok());
        section = &section[size.unwrap_or(0) + usize::from(CONTAINER_HEADER)..];
    }
    Ok(entries)
}

fn parse_entry(bytes: &[u8]) -> Option<(Entry<'_>, usize)> {
    let short = |at| read::<2>(bytes, at).map(u16::from_le_bytes);
    let word = |at| read::<4>(bytes, at).map(u32::from_le_bytes);
    let long = |at| read::<8>(bytes, at).map(u64::from_le_bytes);
    let header = usize::try_from(word(4)?).ok().filter(|size| *size >= 64)?;
    let size = usize::try_from(long(8)?).ok()?;
    let end = header.checked_add(size)?;
    let arch = SmArch { number: word(28)?, specific: long(40)? & FLAG_ARCH_SPECIFIC != 0 };
    let entry =
        Entry { kind: short(0)?, arch, code_version: (short(26)?, short(24)?), payload: bytes.get(header..end)? };
    Some((entry, end))
}

fn read<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SM_80: SmArch = SmArch { number: 80, specific: false };
    const SM_90A: SmArch = SmArch { number: 90, specific: true };
    const PTX: &str = "// x\n.version 8.7\n.target sm_80\n";

    /// An ELF file that holds the given sections and nothing else.
    fn tiny_elf(abi: u8, sections: &[(&str, &[u8])]) -> Vec<u8> {
        let mut names = vec![0u8];
        let mut body = Vec::new();
        let mut headers = vec![[0u8; 64]];
        let mut add = |body: &mut Vec<u8>, name_at: usize, data: &[u8]| {
            let mut header = [0u8; 64];
            header[4] = 1;
            header[0..4].copy_from_slice(&(name_at as u32).to_le_bytes());
            header[0x18..0x20].copy_from_slice(&(64 + body.len() as u64).to_le_bytes());
            header[0x20..0x28].copy_from_slice(&(data.len() as u64).to_le_bytes());
            headers.push(header);
            body.extend(data);
        };
        for (name, data) in sections {
            let at = names.len();
            names.extend(name.as_bytes());
            names.push(0);
            add(&mut body, at, data);
        }
        add(&mut body, 0, &names);
        let mut file = b"\x7fELF\x02\x01\x01\x33".to_vec();
        file.push(abi);
        file.resize(64, 0);
        file[0x28..0x30].copy_from_slice(&(64 + body.len() as u64).to_le_bytes());
        file[0x3a..0x3c].copy_from_slice(&64u16.to_le_bytes());
        file[0x3c..0x3e].copy_from_slice(&(headers.len() as u16).to_le_bytes());
        file[0x3e..0x40].copy_from_slice(&(headers.len() as u16 - 1).to_le_bytes());
        file.extend(body);
        file.extend(headers.concat());
        file
    }

    #[test]
    fn reads_back_what_it_writes() {
        let cubin = tiny_elf(7, &[(".text", b"abcde")]);
        let fat = fat_binary(&[Image::Cubin(SM_90A, &cubin), Image::Ptx(SM_80, PTX)]).unwrap();
        let entries = parse(&fat).unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!((entries[0].kind, entries[0].arch, entries[0].code_version), (2, SM_90A, (1, 7)));
        assert_eq!(&entries[0].payload[..cubin.len()], cubin);
        assert_eq!((entries[1].kind, entries[1].arch, entries[1].code_version), (1, SM_80, (8, 7)));
        assert_eq!(&entries[1].payload[..PTX.len()], PTX.as_bytes());
        assert_eq!(entries[1].payload[PTX.len()], 0, "PTX ends in NUL");
        assert!(entries.iter().all(|entry| entry.payload.len() % 8 == 0));
    }

    #[test]
    fn fat_binaries_of_a_section_are_all_read() {
        let one = fat_binary(&[Image::Ptx(SM_80, PTX)]).unwrap();
        let section = [&one[..], &[0; 8], &one, &[0; 24]].concat();
        assert_eq!(parse_all(&section).unwrap().len(), 2);
        assert!(parse_all(&section[..section.len() - 30]).is_err());
        assert!(parse_all(&[0; 16]).unwrap().is_empty());
    }

    #[test]
    fn headers_are_those_of_nvidias_tool() {
        let cubin = tiny_elf(7, &[]);
        let fat = fat_binary(&[Image::Cubin(SM_80, &cubin), Image::Ptx(SM_80, PTX)]).unwrap();
        let mut header = vec![2, 0, 1, 1, 0x40, 0, 0, 0];
        header.extend((cubin.len().next_multiple_of(8) as u64).to_le_bytes());
        header.extend([0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 1, 0, 0x50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        header.extend([0x11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(fat[16..80], header);
        let ptx = &fat[80 + cubin.len().next_multiple_of(8)..];
        assert_eq!(ptx[..8], [1, 0, 1, 1, 0x50, 0, 0, 0]);
        assert_eq!(ptx[20..32], [0x40, 0, 0, 0, 7, 0, 8, 0, 0x50, 0, 0, 0]);
        assert_eq!(ptx[64..80], [0x48, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn compatibility_notes_are_repeated() {
        let notes = [2, 2, 1, 0, 2, 5, 5, 0, 2, 3, 0, 0, 2, 6, 1, 0];
        let cubin = tiny_elf(8, &[(".nv.compat", &notes)]);
        let fat = fat_binary(&[Image::Cubin(SmArch { number: 100, specific: false }, &cubin)]).unwrap();
        assert_eq!(fat[20..24], [0x60, 0, 0, 0], "header size");
        assert_eq!(fat[56..60], [0x11, 0, 0, 1], "flags");
        assert_eq!(fat[80..89], [0x48, 0, 0, 0, 0x10, 0, 0, 0, 0]);
        assert_eq!(fat[89..105], notes);
    }

    #[test]
    fn broken_input_is_an_error() {
        assert!(parse(b"").is_err());
        let mut fat = fat_binary(&[Image::Ptx(SM_80, PTX)]).unwrap();
        fat.truncate(fat.len() - 1);
        assert_eq!(parse(&fat).unwrap_err().to_string(), "broken CUDA fat binary");
        assert!(fat_binary(&[Image::Cubin(SM_80, b"no ELF")]).is_err());
        assert!(fat_binary(&[Image::Ptx(SM_80, "no version")]).is_err());
    }
}
