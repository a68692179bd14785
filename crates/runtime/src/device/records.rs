//! What kernels leave in the output buffer: `printf`, `assert` and `trap`, one record each.
//!
//! All numbers are 32 bits, little endian; a record's size is a multiple of 8 and stands at its start, where 0 says
//! that the record is not written yet. A text is its length with NUL, 0, and its bytes. Texts, formats and arguments
//! take room in whole words of 8 bytes; their lengths do not count the rest of the last word.
//!
//! ```text
//! size, 1 (printf), bytes of the format with NUL, bytes of the arguments,
//!       format, arguments as vprintf packs them, a text for each %s
//! size, 2 (assert), line, block x y z, thread x y z, 0, message, file, function as texts
//! size, 3 (trap)
//! ```

use std::ffi::CString;

use crate::device::printf::{self, Args};

/// A failed `assert`.
#[derive(Debug, PartialEq, Eq)]
pub struct Assertion {
    pub line: u32,
    pub block: [u32; 3],
    pub thread: [u32; 3],
    /// Message, file, function.
    pub texts: [String; 3],
}

/// One record, ready to be shown.
#[derive(Debug, PartialEq, Eq)]
pub enum Record {
    /// What `printf` writes.
    Print(Vec<u8>),
    Assertion(Assertion),
    Trap,
}

/// A cursor over a record; nothing where the record ends early.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?))
    }

    fn words(&mut self) -> Option<[u32; 3]> {
        Some([self.word()?, self.word()?, self.word()?])
    }

    /// Bytes that take room in whole words of 8 bytes.
    fn padded(&mut self, count: usize) -> Option<&'a [u8]> {
        self.bytes(count.next_multiple_of(8))
    }

    /// A text: what comes before NUL.
    fn text(&mut self) -> Option<&'a [u8]> {
        let count = self.word()? as usize;
        self.word()?;
        self.padded(count).map(before_nul)
    }
}

fn before_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Reads a record without its size; nothing where it is none.
pub fn read(record: &[u8]) -> Option<Record> {
    let mut reader = Reader(record);
    match reader.word()? {
        1 => print(&mut reader).map(Record::Print),
        2 => {
            let (line, block, thread) = (reader.word()?, reader.words()?, reader.words()?);
            reader.word()?;
            let mut text = || Some(String::from_utf8_lossy(reader.text()?).into_owned());
            Some(Record::Assertion(Assertion { line, block, thread, texts: [text()?, text()?, text()?] }))
        }
        3 => Some(Record::Trap),
        _ => None,
    }
}

/// Formats a `printf`.
fn print(reader: &mut Reader) -> Option<Vec<u8>> {
    let (format_bytes, argument_bytes) = (reader.word()? as usize, reader.word()? as usize);
    let format = before_nul(reader.padded(format_bytes)?);
    // Whole words, so that arguments have the alignment that they were packed with.
    let packed = reader.padded(argument_bytes)?;
    let mut words = vec![0_u64; packed.len() / 8];
    for (word, bytes) in words.iter_mut().zip(packed.chunks_exact(8)) {
        *word = u64::from_ne_bytes(bytes.try_into().ok()?);
    }
    let mut texts = Vec::new();
    while !reader.0.is_empty() {
        texts.push(CString::new(reader.text()?).ok()?);
    }
    // SAFETY: the words live as long as the slice over them, which ends where they do.
    let (bytes, _) = unsafe {
        let arguments = std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), argument_bytes);
        printf::render(format, Args::within(arguments, &texts))
    };
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn padded(text: &str) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize((text.len() + 1).next_multiple_of(8), 0);
        bytes
    }

    fn text(text: &str) -> Vec<u8> {
        [words(&[text.len() as u32 + 1, 0]), padded(text)].concat()
    }

    #[test]
    fn a_printf_is_formatted_with_its_texts() {
        let format = "%d %s %.2f %s\n";
        let mut arguments = words(&[42, 0, 1, 2]);
        arguments.extend(1.5_f64.to_le_bytes());
        arguments.extend(words(&[3, 4]));
        let head = words(&[1, format.len() as u32 + 1, arguments.len() as u32]);
        let record = [head, padded(format), arguments, text("first"), text("")].concat();
        assert_eq!(read(&record), Some(Record::Print(b"42 first 1.50 \n".to_vec())));
        // Cut short anywhere, it is none, or one without its last text.
        for len in 0..record.len() {
            let cut = read(&record[..len]);
            assert!(cut.is_none() || matches!(cut, Some(Record::Print(_))), "{len}");
        }
    }

    #[test]
    fn an_assertion_names_its_place() {
        let head = words(&[2, 7, 1, 2, 3, 4, 5, 6, 0]);
        let record = [head, text("x > 0"), text("a.cu"), text("k")].concat();
        let texts = ["x > 0", "a.cu", "k"].map(String::from);
        let expected = Assertion { line: 7, block: [1, 2, 3], thread: [4, 5, 6], texts };
        assert_eq!(read(&record), Some(Record::Assertion(expected)));
        assert_eq!((read(&words(&[3])), read(&words(&[9])), read(&[])), (Some(Record::Trap), None, None));
    }
}
