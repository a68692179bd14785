//! No pass, and nothing else of the compiler's core, knows the name of a target, of a chip, or of anything in the language of
//! device code: `regrain-targets` does.
//! Operations and attributes of our dialect are known by `regrain-dialects` alone; the rest uses its views.

use std::path::{Path, PathBuf};

/// What only `regrain-targets` may say.
const WORDS: &[&str] = &["nvvm", "nvptx", "NVPTX", "__nv_", "ptx_", "49152", "48 << 10", "48<<10"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// Whether a line names a chip, as `sm_80`.
fn names_chip(line: &str) -> bool {
    line.match_indices("sm_").any(|(at, _)| line[at + 3..].starts_with(|next: char| next.is_ascii_digit()))
}

/// Whether a line of code may name what it wants: comments, and descriptions of options with their examples.
fn is_text(line: &str) -> bool {
    line.trim_start().starts_with("//") || line.contains("description: \"")
}

/// The lines of code below `folder`, without unit tests, in which `is_wrong` finds what must not be there.
fn lines(folder: &Path, is_wrong: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for path in sources(folder) {
        let name = path.strip_prefix(folder).expect("below the folder").display().to_string();
        let text = std::fs::read_to_string(&path).expect("a source file");
        // Unit tests at the end of a file may take a chip for an example.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let wrong = code.lines().enumerate().filter(|(_, line)| !is_text(line) && is_wrong(line));
        found.extend(wrong.map(|(number, line)| format!("{name}:{}: {}", number + 1, line.trim())));
    }
    found
}

#[test]
fn the_core_names_no_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = |line: &str| names_chip(line) || WORDS.iter().any(|word| line.contains(word));
    for folder in ["src", "../crates/compiler/src", "../crates/tuning/src"] {
        let found = lines(&root.join(folder), named);
        assert!(found.is_empty(), "names of a target in {folder}:\n{}", found.join("\n"));
    }
}

#[test]
fn names_of_the_dialect_stand_in_its_views_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["src", "../crates/targets/src", "../crates/compiler/src"] {
        let found = lines(&root.join(folder), |line| line.contains("\"regrain."));
        assert!(found.is_empty(), "use regrain_dialects::ops and ::attributes in {folder}:\n{}", found.join("\n"));
    }
}
