//! Every reason why a pass declines is asserted by a test of that pass.

use std::path::{Path, PathBuf};

use regrain_passes::{refusals::ALL, registry::ROOMS};

/// What a test asserts.
struct Asserted {
    /// The file.
    text: String,
    /// Its lines of expected diagnostics and of checks.
    lines: Vec<String>,
}

impl Asserted {
    fn read(path: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        let lines = text.lines().filter(|line| is_assertion(line)).map(str::to_owned).collect();
        Some(Self { text, lines })
    }

    /// Whether the test runs one of `passes` and asserts `reason`.
    fn proves(&self, passes: &[&str], reason: &str) -> bool {
        passes.iter().any(|pass| self.text.contains(&format!("--{pass}")))
            && self.lines.iter().any(|line| says(line, reason))
    }
}

/// Whether a line is one that `--verify-diagnostics` or FileCheck compares.
fn is_assertion(line: &str) -> bool {
    let comment = line.trim_start().trim_start_matches('/').trim_start();
    let first = comment.split(':').next().unwrap_or_default();
    ["expected-remark", "expected-error", "expected-warning"].iter().any(|kind| comment.starts_with(kind))
        || first.contains("CHECK") && !first.ends_with("-NOT")
}

/// Whether a line holds a reason; `{}` stands for any text.
fn says(line: &str, reason: &str) -> bool {
    let mut rest = line;
    reason.split("{}").all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

fn tests(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of tests") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            tests(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "mlir") {
            found.push(path);
        }
    }
}

#[test]
fn every_reason_is_asserted() {
    let mut paths = Vec::new();
    tests(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../test/Passes"), &mut paths);
    let asserted: Vec<_> = paths.iter().filter_map(|path| Asserted::read(path)).collect();
    let missing = |(passes, reasons): &(&[&str], &[&str])| {
        let without = |reason: &&&str| !asserted.iter().any(|test| test.proves(passes, reason));
        reasons.iter().filter(without).map(|reason| format!("{}: {reason}", passes.join(", "))).collect::<Vec<_>>()
    };
    let missing: Vec<_> = ALL.iter().flat_map(missing).collect();
    assert!(missing.is_empty(), "no test asserts these reasons:\n{}", missing.join("\n"));
}

#[test]
fn reasons_belong_to_passes() {
    let known: Vec<_> = ROOMS.iter().flat_map(|room| room.iter()).map(|pass| pass.name).collect();
    for pass in ALL.iter().flat_map(|(passes, _)| passes.iter()) {
        assert!(known.contains(pass), "no pass is named '{pass}'");
    }
}

#[test]
fn reasons_are_phrases() {
    for reason in ALL.iter().flat_map(|(_, reasons)| reasons.iter()) {
        assert!(!reason.starts_with(char::is_uppercase), "'{reason}' starts in upper case");
        assert!(!reason.ends_with('.'), "'{reason}' ends in a full stop");
    }
}

#[test]
fn a_reason_without_assertion_is_found() {
    let line = "// expected-remark @below {{its 8 bytes are over the limit of 4}}";
    assert!(is_assertion(line) && says(line, "its {} bytes are over the limit of {}"));
    assert!(!says(line, "its {} bytes are below the limit of {}"));
    assert!(!is_assertion("// its 8 bytes are over the limit of 4"));
    assert!(!is_assertion("// CHECK-NOT: its 8 bytes"));
}
