//! A translation unit, and what tells it from the others of its program, which is the same wherever the program is built.
//!
//! With `-fgpu-rdc` what is private to a unit is named by it, so it must not be that of another source of the same name and content:
//! it is made of the source's place and of the options, in both of which `-ffile-prefix-map=` replaces the place of the build.
//! Otherwise it is made of the source itself, and of options that name no place; the device code that comes of it tells units apart
//! further. Two units for which all of that is the same cannot be linked together: the linker says so.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Options that replace the beginning of paths in what is compiled.
const MAPS: &[&str] = &["-ffile-prefix-map=", "-fmacro-prefix-map=", "-fdebug-prefix-map="];

/// One source file and how it is to be compiled.
#[derive(Clone, Debug)]
pub struct TranslationUnit {
    /// The source, or `-`.
    pub input: PathBuf,
    /// The file that holds the source where it came on standard input.
    pub stdin: Option<PathBuf>,
    /// The user's options, as clang takes them.
    pub options: Vec<OsString>,
    /// Those for the host side alone.
    pub host_options: Vec<OsString>,
    /// Those for the device side alone.
    pub device_options: Vec<OsString>,
    /// Root of the CUDA toolkit.
    pub cuda_path: PathBuf,
    /// The toolkit's version, as in `12.9`, with its compiler's build behind where that is known.
    pub cuda_version: String,
    /// Relocatable device code (`-fgpu-rdc`). clang's host side must not know: it would leave registration to a device linker.
    pub relocatable: bool,
}

impl TranslationUnit {
    /// 16 digits that no other unit of a program has.
    pub fn id(&self) -> String {
        let mut hasher = DefaultHasher::new();
        if self.relocatable {
            let maps = self.maps();
            place(&self.input, &maps).hash(&mut hasher);
            self.stdin.as_ref().and_then(|path| std::fs::read(path).ok()).hash(&mut hasher);
            for options in [&self.options, &self.host_options, &self.device_options] {
                let texts = options.iter().map(|option| option.to_string_lossy());
                let kept: Vec<String> = texts.filter(|text| !is_map(text)).map(|text| mapped(&text, &maps)).collect();
                kept.hash(&mut hasher);
            }
        } else {
            self.input.file_name().hash(&mut hasher);
            std::fs::read(self.stdin.as_ref().unwrap_or(&self.input)).ok().hash(&mut hasher);
            for options in [&self.options, &self.host_options, &self.device_options] {
                let texts = options.iter().map(|option| option.to_string_lossy());
                texts.filter(|text| !text.contains('/')).collect::<Vec<_>>().hash(&mut hasher);
            }
        }
        format!("{:016x}", hasher.finish())
    }

    /// What the options replace by what, the last first, as clang has it.
    fn maps(&self) -> Vec<(String, String)> {
        let of = |option: &OsString| {
            let text = option.to_string_lossy().into_owned();
            let map = text.strip_prefix(MAPS[0]).or_else(|| text.strip_prefix(MAPS[1]))?;
            map.split_once('=').map(|(old, new)| (old.to_owned(), new.to_owned()))
        };
        self.options.iter().rev().filter_map(of).collect()
    }
}

fn is_map(option: &str) -> bool {
    MAPS.iter().any(|name| option.starts_with(name))
}

fn mapped(text: &str, maps: &[(String, String)]) -> String {
    let map = maps.iter().find(|(old, _)| !old.is_empty() && text.contains(old.as_str()));
    map.map_or_else(|| text.to_owned(), |(old, new)| text.replace(old.as_str(), new))
}

/// Where a source is, for the build.
fn place(input: &Path, maps: &[(String, String)]) -> String {
    let spelled = std::path::absolute(input).unwrap_or_else(|_| input.to_path_buf());
    let real = input.canonicalize().unwrap_or_else(|_| spelled.clone());
    // The place may be named through a link.
    let (spelled, real) = (spelled.to_string_lossy().into_owned(), real.to_string_lossy().into_owned());
    let by_name = mapped(&spelled, maps);
    if by_name == spelled { mapped(&real, maps) } else { by_name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(input: &str, options: &[&str], relocatable: bool) -> String {
        let options = options.iter().map(OsString::from).collect();
        let unit = TranslationUnit {
            input: input.into(),
            stdin: None,
            options,
            host_options: Vec::new(),
            device_options: Vec::new(),
            cuda_path: "/cuda".into(),
            cuda_version: "12.9".into(),
            relocatable,
        };
        unit.id()
    }

    #[test]
    fn the_place_of_the_build_does_not_count_where_it_is_replaced() {
        let there = id("/there/a.cu", &["-ffile-prefix-map=/there=.", "-I/there/inc"], true);
        assert_eq!(there, id("/here/a.cu", &["-ffile-prefix-map=/here=.", "-I/here/inc"], true));
        assert_ne!(there, id("/there/b/a.cu", &["-ffile-prefix-map=/there=.", "-I/there/inc"], true));
        assert_ne!(there, id("/there/a.cu", &["-ffile-prefix-map=/there=.", "-I/there/other"], true));
        assert_ne!(id("/there/a.cu", &[], true), id("/here/a.cu", &[], true));
    }

    #[test]
    fn code_that_nothing_is_linked_to_needs_no_place() {
        assert_eq!(id("/there/a.cu", &["-I/there"], false), id("/here/a.cu", &["-I/here"], false));
    }
}
