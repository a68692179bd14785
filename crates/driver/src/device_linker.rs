//! The driver under the names of NVIDIA's tools, by which CMake links device code where the compiler is of clang's kind.
//!
//! ```text
//! nvlink -arch=sm_70 --register-link-binaries=r.h -o=sm_70.cubin a.o libb.a      for each architecture
//! fatbinary -64 ... --embedded-fatbin=fat.h -im=profile=sm_70,file=sm_70.cubin ...
//! regrain ... -DFATBINFILE="fat.h" -x cuda -c link.stub -o device_link.o
//! ```
//! The first only writes down what is linked; the second links all of that for all architectures, and names the object in the
//! header; what is made of the stub is that object.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// What the header begins with, before the object's path.
const MARK: &str = "// device code that regrain has linked: ";

/// A tool of the toolkit whose place is taken; it gets its arguments.
pub type Tool = fn(&[String]) -> Result<()>;

/// The tool that this process is, by the name that it was started by, if it is one of these.
pub fn tool() -> Option<Tool> {
    let name = std::env::args_os().next()?;
    match Path::new(&name).file_name()?.to_str()? {
        "nvlink" => Some(note_inputs),
        "fatbinary" => Some(link),
        _ => None,
    }
}

/// The value of an option with `=`, or of the next word.
fn value(words: &[String], name: &str) -> Option<String> {
    let at = words.iter().position(|word| word.split('=').next() == Some(name))?;
    match words[at].split_once('=') {
        Some((_, value)) => Some(value.to_owned()),
        None => words.get(at + 1).cloned(),
    }
}

/// `nvlink`
fn note_inputs(words: &[String]) -> Result<()> {
    let output = value(words, "-o").context("no output: expected -o")?;
    if let Some(header) = value(words, "--register-link-binaries") {
        write(Path::new(&header), "")?;
    }
    let mut objects = String::new();
    for word in words.iter().filter(|word| word.ends_with(".o") || word.ends_with(".a")) {
        let path = std::path::absolute(word).with_context(|| format!("cannot find '{word}'"))?;
        objects.push_str(&path.to_string_lossy());
        objects.push('\n');
    }
    write(Path::new(&output), &objects)
}

/// `fatbinary`
fn link(words: &[String]) -> Result<()> {
    let header = value(words, "--embedded-fatbin").context("no output: expected --embedded-fatbin")?;
    let is_image = |word: &&String| word.starts_with("--image") || word.starts_with("-im=");
    let image = words.iter().find(is_image).and_then(|word| word.split_once(",file=")).map(|(_, file)| file);
    let list = image.context("no input: expected --image=...,file=")?;
    let objects = std::fs::read_to_string(list).with_context(|| format!("cannot read '{list}'"))?;
    let made = PathBuf::from(format!("{header}.o"));
    let own = std::env::current_exe().context("cannot find my own executable")?.canonicalize()?;
    let status =
        Command::new(own.with_file_name("regrain")).arg("-dlink").args(objects.lines()).arg("-o").arg(&made).status();
    if !status.context("cannot run regrain")?.success() {
        bail!("device code cannot be linked");
    }
    write(Path::new(&header), &format!("{MARK}{}\n", std::path::absolute(&made)?.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write '{}'", path.display()))
}

/// The object that stands for what would be compiled of `input`, if that is the stub.
pub fn linked_for(input: &Path, options: &[OsString]) -> Option<PathBuf> {
    if input.file_name()? != "link.stub" {
        return None;
    }
    let define = |option: &OsString| Some(option.to_str()?.strip_prefix("-DFATBINFILE=")?.trim_matches('"').to_owned());
    let header = std::fs::read_to_string(options.iter().find_map(define)?).ok()?;
    header.strip_prefix(MARK).map(|path| PathBuf::from(path.trim_end()))
}
