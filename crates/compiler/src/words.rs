//! Remarks in the words of the source: where a kernel stands, and its name as it is written there.
//!
//! ```text
//! scale.cu: remark: kernel '_Z6smoothPfPKfi' on sm_80: grain original is chosen by the model
//! scale.cu:3:17: remark: kernel 'smooth(float*, float const*, int)' on sm_80: grain original is chosen by the model
//! ```
//! The first form is what is remembered: what a search of the same code led to holds wherever that code stands.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cpp_demangle::{DemangleOptions, Symbol};
use inkwell::context::Context;
use regex_lite::{Captures, Regex};
use regrain_targets::kernel_names;

use crate::source::read_bitcode;

/// What separates where something is from what is said of it.
const REMARK: &str = ": remark: ";

/// Symbols, and names of versions: that of the original, and what is behind it.
static SYMBOLS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"_Z[A-Za-z0-9_.]+").expect("a valid expression"));
static VERSIONS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"'([^'$]+)((?:\$[a-z0-9]+)+)'").expect("a valid expression"));

/// Where the kernels of a translation unit stand.
#[derive(Default)]
pub struct Words {
    /// clang's device code.
    bitcode: Option<PathBuf>,
    /// File and line of each kernel; read when they are asked for.
    places: OnceCell<HashMap<String, (String, u32)>>,
}

impl Words {
    /// Those of clang's device code in the file `bitcode`.
    pub fn of_unit(bitcode: &Path) -> Self {
        Self { bitcode: Some(bitcode.to_path_buf()), places: OnceCell::new() }
    }

    /// A remark that says where the kernel is that it begins with.
    pub fn located<'r>(&self, remark: &'r str) -> Cow<'r, str> {
        let located = remark.split_once(REMARK).and_then(|(head, rest)| {
            let symbol = kernel(rest)?;
            let (file, line) = self.places().get(symbol)?;
            let is_located = head.rsplit(':').next().is_some_and(|last| last != "0" && last.parse::<u32>().is_ok());
            (!is_located).then(|| format!("{file}:{line}:{}{REMARK}{rest}", column(file, *line, symbol)))
        });
        located.map_or(Cow::Borrowed(remark), Cow::Owned)
    }

    fn places(&self) -> &HashMap<String, (String, u32)> {
        self.places.get_or_init(|| {
            let context = Context::create();
            let module = self.bitcode.as_ref().and_then(|path| read_bitcode(&context, path).ok());
            let Some(module) = module else { return HashMap::new() };
            let place = |name: String| Some((mlir_bridge::llvm::definition(module.get_function(&name)?)?, name));
            kernel_names(&module).into_iter().filter_map(place).map(|(place, name)| (name, place)).collect()
        })
    }
}

/// The symbol of the kernel that a text begins with, of a version that of the original.
fn kernel(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix("kernel '")?.split_once('\'')?;
    name.split('$').next()
}

/// The column of a kernel's name in its line; 1 where the line has no such name, as in a macro.
fn column(file: &str, line: u32, symbol: &str) -> usize {
    let name = name(symbol, DemangleOptions::new().no_params().no_return_type()).unwrap_or_else(|| symbol.to_owned());
    let name = name.split('<').next().unwrap_or_default();
    let name = name.rsplit("::").next().unwrap_or_default();
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let found = text.lines().nth(line.saturating_sub(1) as usize).and_then(|line| line.find(name));
    found.filter(|_| !name.is_empty()).map_or(1, |at| at + 1)
}

fn name(symbol: &str, options: DemangleOptions) -> Option<String> {
    Symbol::new(symbol).ok()?.demangle_with_options(&options).ok()
}

/// A text with names as in the source for the symbols in it, and words for what the name of a version says.
pub fn demangled(text: &str) -> String {
    let name = |found: &Captures<'_>| {
        name(&found[0], DemangleOptions::new().no_return_type()).unwrap_or_else(|| found[0].to_owned())
    };
    let version = |found: &Captures<'_>| {
        let parts = found[2].split('$').filter(|part| !part.is_empty());
        let text: String = parts.map(part_of_version).collect();
        format!("'{}'{text}", &found[1])
    };
    VERSIONS.replace_all(&SYMBOLS.replace_all(text, name), version).into_owned()
}

/// What a part of a version's name says (`versions.rs` has the names).
fn part_of_version(part: &str) -> String {
    match part.split_at(1) {
        ("s", shape) => format!(" for blocks of {shape}"),
        ("r", _) => format!(" for what coarse blocks leave over in dimension {}", part.trim_start_matches("rest")),
        ("v", number) => format!(" ({number})"),
        _ => format!(" at grain {part}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_become_names() {
        let shown = demangled;
        assert_eq!(
            shown("a.cu: remark: kernel '_Z6smoothPfPKfi' on cpu: grain b2x1x1 is declined"),
            "a.cu: remark: kernel 'smooth(float*, float const*, int)' on cpu: grain b2x1x1 is declined"
        );
        assert_eq!(
            shown("kernel '_Z1kPf$t4x1x1$s64x1x1': not split"),
            "kernel 'k(float*)' at grain t4x1x1 for blocks of 64x1x1: not split"
        );
        assert_eq!(shown("calls _ZN1n1gILi3EEEvv, which"), "calls n::g<3>(), which");
        assert_eq!(shown("kernel 'plain', _Z, _Zx"), "kernel 'plain', _Z, _Zx");
    }

    #[test]
    fn kernels_are_located() {
        let folder = std::env::temp_dir().join(format!("regrain-words-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("k.cu");
        std::fs::write(&file, "\n__global__ void scale(float *p) {}\n").expect("a file");
        let file = file.to_string_lossy().into_owned();
        let places = HashMap::from([("_Z5scalePf".to_owned(), (file.clone(), 2))]);
        let words = Words { bitcode: None, places: OnceCell::from(places) };
        assert_eq!(
            demangled(&words.located("k.cu: remark: kernel '_Z5scalePf$t2x1x1': its threads run one by one")),
            format!("{file}:2:17: remark: kernel 'scale(float*)' at grain t2x1x1: its threads run one by one")
        );
        for located in ["k.cu:7:3: remark: kernel '_Z5scalePf': x", "k.cu: remark: kernel 'other': x"] {
            assert_eq!(words.located(located), located);
        }
        std::fs::remove_dir_all(folder).expect("the folder goes");
    }
}
