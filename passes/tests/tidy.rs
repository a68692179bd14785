//! No pass knows the name of a target, of a chip, or of anything in the language of device code: `regrain-targets` does.

use std::path::{Path, PathBuf};

/// What only `regrain-targets` may say.
const WORDS: &[&str] = &["nvvm", "NVPTX", "__nv_", "ptx_", "49152", "48 << 10", "48<<10"];

/// Files that still do.
const EXCEPTIONS: &[&str] = &["launch/isolate_launches.rs"];

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

#[test]
fn passes_name_no_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for path in sources(&root) {
        let name = path.strip_prefix(&root).expect("below the folder").display().to_string();
        if EXCEPTIONS.contains(&name.as_str()) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        // Unit tests at the end of a file may take a chip for an example.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().enumerate().filter(|(_, line)| !is_text(line));
        let named = lines.filter(|(_, line)| names_chip(line) || WORDS.iter().any(|word| line.contains(word)));
        found.extend(named.map(|(number, line)| format!("{name}:{}: {}", number + 1, line.trim())));
    }
    assert!(found.is_empty(), "names of a target:\n{}", found.join("\n"));
}

#[test]
fn exceptions_are_needed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for name in EXCEPTIONS {
        let text = std::fs::read_to_string(root.join(name)).unwrap_or_default();
        assert!(WORDS.iter().any(|word| text.contains(word)), "'{name}' names no target any more");
    }
}
