//! Device modules compiled for one architecture, and how the cache keeps them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Report, Settings};

/// A device module compiled for one architecture.
#[derive(Clone, Debug)]
pub struct Image {
    /// The architecture, as in `sm_80`.
    pub arch: String,
    /// Assembly, as PTX.
    pub text: String,
    /// Machine code, as a cubin.
    pub code: Vec<u8>,
    /// What the assembler says of each kernel.
    pub reports: Vec<Report>,
    /// Warnings of the assembler.
    pub warnings: Vec<String>,
    /// What else the assembler said, as `ptxas -v` does.
    pub notes: String,
}

/// What a program holds of one architecture's code, where that is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// As in `sm_80`.
    pub arch: String,
    /// Machine code.
    pub code: bool,
    /// Assembly, which later chips run.
    pub text: bool,
}

/// How device code becomes an image.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct KernelOptions {
    /// The architecture.
    pub arch: String,
    /// `-O` level, 0 to 3.
    pub level: u32,
    /// Keep the source lines.
    pub lines: bool,
    /// Full debug information, without optimisation.
    pub debug: bool,
    /// For others to link with other device code.
    #[serde(default)]
    pub relocatable: bool,
    /// What the user passes on to the assembler.
    pub assembler: Vec<String>,
    /// The linker of code objects, of this machine.
    #[serde(skip)]
    pub lld: PathBuf,
    /// What is said of some targets alone.
    pub settings: Settings,
}

/// What stands before text and code in an entry of the cache, on a line.
#[derive(Serialize, Deserialize)]
struct Header {
    arch: String,
    text: usize,
    reports: Vec<Report>,
    warnings: Vec<String>,
    #[serde(default)]
    notes: String,
}

/// What clang puts into the names of files of device code for an architecture (`-save-temps`), as in `-cuda-nvptx64-nvidia-cuda-sm_80`.
pub fn part_of_file_name(arch: &str) -> String {
    match arch.starts_with("gfx") {
        true => format!("-cuda-amdgcn-{arch}"),
        false => format!("-cuda-nvptx64-nvidia-cuda-{arch}"),
    }
}

impl Image {
    /// The image as bytes.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let Self { arch, text, code, reports, warnings, notes } = self.clone();
        let header = Header { arch, text: text.len(), reports, warnings, notes };
        let mut content = serde_json::to_vec(&header).ok()?;
        content.push(b'\n');
        content.extend_from_slice(text.as_bytes());
        content.extend_from_slice(&code);
        Some(content)
    }

    /// The image that [`encode`](Self::encode) made `content` of.
    pub fn decode(content: &[u8]) -> Option<Self> {
        let line = content.iter().position(|byte| *byte == b'\n')?;
        let Header { arch, text, reports, warnings, notes } = serde_json::from_slice(&content[..line]).ok()?;
        let (text, code) = content[line + 1..].split_at_checked(text)?;
        Some(Self { arch, text: String::from_utf8(text.to_vec()).ok()?, code: code.to_vec(), reports, warnings, notes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_comes_back_from_its_bytes() {
        let report = Report { name: "k".into(), registers: 32, ..Report::default() };
        let (text, warnings) = ("ptx\nof a".to_string(), vec!["w".to_string()]);
        let image = Image {
            arch: "sm_80".into(),
            text,
            code: vec![0, 10, 255],
            reports: vec![report],
            warnings,
            notes: "n".into(),
        };
        let bytes = image.encode().expect("bytes");
        let got = Image::decode(&bytes).expect("an image");
        assert_eq!((got.text.as_str(), &got.code[..], got.reports[0].registers), ("ptx\nof a", &[0, 10, 255][..], 32));
        assert_eq!((got.arch.as_str(), &got.warnings[..]), ("sm_80", &["w".to_string()][..]));
        assert!(Image::decode(&bytes[..10]).is_none());
    }
}
