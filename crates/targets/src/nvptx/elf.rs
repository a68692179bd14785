//! The little that we read from a cubin, which is a 64-bit little-endian ELF file.

/// `EI_ABIVERSION` of a 64-bit ELF file.
pub fn abi_version(bytes: &[u8]) -> Option<u8> {
    let is_elf64 = bytes.starts_with(b"\x7fELF\x02\x01") && bytes.len() >= 64;
    is_elf64.then(|| bytes[8])
}

/// The contents of the section called `name`.
pub fn section<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    abi_version(bytes)?;
    let table = long(bytes, 0x28)?;
    let entry_size = short(bytes, 0x3a)?;
    let count = short(bytes, 0x3c)?;
    let names_index = short(bytes, 0x3e)?;
    let header = |index: usize| bytes.get(table.checked_add(index * entry_size)?..);
    let contents = |header: &[u8]| {
        let start = long(header, 0x18)?;
        bytes.get(start..start.checked_add(long(header, 0x20)?)?)
    };
    let names = contents(header(names_index)?)?;
    (0..count).find_map(|index| {
        let header = header(index)?;
        let rest = names.get(word(header, 0)?..)?;
        let found = rest.strip_prefix(name.as_bytes())?.first() == Some(&0);
        if found { contents(header) } else { None }
    })
}

fn short(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)).ok()
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?)).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An ELF file that holds the given sections and nothing else.
    pub(crate) fn tiny_elf(abi: u8, sections: &[(&str, &[u8])]) -> Vec<u8> {
        let mut names = vec![0u8];
        let mut body = Vec::new();
        let mut headers = vec![[0u8; 64]];
        let mut add = |body: &mut Vec<u8>, name_at: usize, data: &[u8]| {
            let mut header = [0u8; 64];
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
    fn finds_sections_by_whole_name() {
        let file = tiny_elf(7, &[(".nv", b"x"), (".nv.compat", b"notes")]);
        assert_eq!(abi_version(&file), Some(7));
        assert_eq!(section(&file, ".nv.compat"), Some(&b"notes"[..]));
        assert_eq!(section(&file, ".nv"), Some(&b"x"[..]));
        assert_eq!(section(&file, ".n"), None);
    }

    #[test]
    fn a_cut_file_has_no_sections() {
        let file = tiny_elf(7, &[(".nv.compat", b"notes")]);
        for length in 0..file.len() {
            let _ = section(&file[..length], ".nv.compat");
        }
        assert_eq!(section(b"\x7fELF", ".nv.compat"), None);
    }
}
