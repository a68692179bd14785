//! House rules that a compiler does not check: see STYLE in the head of each rule.

#[path = "common/place.rs"]
mod place;

use std::process::Command;

use place::root;

/// Files may be longer than this only with a reason in the list.
const MAX_LINES: usize = 600;
const LONGER: [(&str, &str); 0] = [];

/// The files that git tracks below `folders`, with their text.
fn tracked(extension: &str) -> Vec<(String, String)> {
    let output = Command::new("git").arg("-C").arg(root()).args(["ls-files", &format!("*.{extension}")]).output();
    let names = String::from_utf8(output.expect("git runs").stdout).expect("names are UTF-8");
    let read = |name: &str| Some((name.to_owned(), std::fs::read_to_string(root().join(name)).ok()?));
    let files: Vec<_> = names.lines().filter_map(read).collect();
    assert!(!files.is_empty(), "git lists no .{extension} file");
    files
}

fn complain(broken: &[String], rule: &str) {
    assert!(broken.is_empty(), "{rule}:\n  {}", broken.join("\n  "));
}

#[test]
fn each_file_says_what_it_is() {
    let silent = |(name, text): &(String, String)| (!text.starts_with("//!")).then(|| name.clone());
    complain(&tracked("rs").iter().filter_map(silent).collect::<Vec<_>>(), "a file opens with `//!`");
}

#[test]
fn unsafe_stands_at_the_borders_alone() {
    // Below `test` are programs of users.
    let allowed = |name: &str| {
        ["crates/mlir-bridge/", "crates/profiler/", "crates/runtime/", "test/"]
            .iter()
            .any(|part| name.starts_with(part))
    };
    let words = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"];
    let broken = tracked("rs").into_iter().filter(|(name, text)| {
        !allowed(name) && !name.ends_with("tests/tidy.rs") && words.iter().any(|word| text.contains(word))
    });
    complain(
        &broken.map(|(name, _)| name).collect::<Vec<_>>(),
        "`unsafe` stands in mlir-bridge, the profiler and the runtime alone",
    );
}

#[test]
fn files_stay_short() {
    let excused = |name: &str| LONGER.iter().any(|(known, _)| *known == name);
    let mut broken = Vec::new();
    for extension in ["rs", "cpp", "c", "py"] {
        for (name, text) in tracked(extension) {
            if text.lines().count() > MAX_LINES && !excused(&name) {
                broken.push(format!("{name}: {} lines", text.lines().count()));
            }
        }
    }
    complain(&broken, &format!("a file has at most {MAX_LINES} lines"));
}

#[test]
fn links_of_documents_lead_somewhere() {
    let mut broken = Vec::new();
    for (name, text) in tracked("md") {
        let folder = root().join(&name).with_file_name("");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let place = link.split('#').next().unwrap_or_default();
            if !place.is_empty() && !link.contains("://") && !folder.join(place).exists() {
                broken.push(format!("{name}: {link}"));
            }
        }
    }
    complain(&broken, "a link in a document leads to a file");
}

#[test]
fn nothing_is_left_undone_or_switched_off() {
    let words = [concat!("todo", "!("), concat!("unimpl", "emented!("), concat!("#[ig", "nore"), concat!("db", "g!(")];
    let broken = tracked("rs").into_iter().filter(|(_, text)| words.iter().any(|word| text.contains(word)));
    complain(&broken.map(|(name, _)| name).collect::<Vec<_>>(), "no unfinished code, no switched-off test");
    let marks = [concat!("XF", "AIL"), concat!("UNSUPP", "ORTED:")];
    for extension in ["mlir", "cu", "test"] {
        let broken = tracked(extension).into_iter().filter(|(_, text)| marks.iter().any(|mark| text.contains(mark)));
        complain(&broken.map(|(name, _)| name).collect::<Vec<_>>(), "no test that is expected to fail");
    }
}
