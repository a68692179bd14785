//! `-MJ`: an entry of a compilation database for a CUDA source, as clang writes one.
//!
//! A source is compiled in several steps by commands that name temporary files. The entry is the one command of clang's that does the
//! same as far as tools are concerned, with the user's own source and object.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use regrain_compiler::compile;
use regrain_frontend::TranslationUnit;

use crate::session::Session;

/// The file that `options` name for entries, if they do.
pub fn file(options: &[OsString]) -> Option<PathBuf> {
    let joined = |option: &OsString| Some(option.to_str()?.strip_prefix("-MJ")?.to_owned());
    let at = options.iter().rposition(|option| joined(option).is_some())?;
    let value = joined(&options[at]).filter(|value| !value.is_empty());
    value.map(PathBuf::from).or_else(|| options.get(at + 1).map(PathBuf::from))
}

/// Writes the entry for `unit`, of which `object` is made, to the file `to`.
pub fn write(session: &Session, unit: &TranslationUnit, object: &Path, to: &Path) -> Result<()> {
    let folder = std::env::current_dir().context("cannot find the working directory")?;
    let command = session.clang.cuda_command(unit)?;
    let mut words = vec![session.clang.path().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.push(format!("--offload-arch={}", compile::lowest_chip(&session.archs)));
    let (source, object) = (unit.input.to_string_lossy(), object.to_string_lossy());
    words.extend(["-c", &source, "-o", &object].map(str::to_owned));
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let entry = format!(
        "{{ \"directory\": {}, \"file\": {}, \"output\": {}, \"arguments\": [{}]}},\n",
        quoted(&folder.to_string_lossy()),
        quoted(&source),
        quoted(&object),
        words.join(", ")
    );
    std::fs::write(to, entry).with_context(|| format!("cannot write '{}'", to.display()))
}

/// A string of JSON.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            control if control < ' ' => drop(write!(out, "\\u{:04x}", control as u32)),
            _ => out.push(character),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_file_counts() {
        let words = |line: &str| line.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(file(&words("-O2 -MJ a.json -MJb.json")), Some("b.json".into()));
        assert_eq!(file(&words("-MJ a.json -O2")), Some("a.json".into()));
        assert_eq!(file(&words("-O2 -MD")), None);
    }

    #[test]
    fn strings_are_json() {
        assert_eq!(quoted("-DX=\"a\\b\"\n"), r#""-DX=\"a\\b\"\u000a""#);
    }
}
