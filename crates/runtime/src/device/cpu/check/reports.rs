//! What the checker says.
//!
//! Each place of the source says each thing once, with all that is known of the first time; further times are counted. `REGRAIN_CHECK_REPORTS=N`:
//! only the first N are written out (100). `REGRAIN_CHECK_JSON=FILE`: an object on a line for each. `REGRAIN_CHECK_SUPPRESS=FILE`: lines
//! `kind file:line` of what is not said. `REGRAIN_CHECK_EXIT=N`: the program's exit status where there were errors (86); 0 leaves the program's own.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::json::string;
use super::kinds::Kind;
use super::sites::Spot;
use crate::device::cpu::fault::guard::guarded;

/// Something to say.
pub struct Report {
    pub kind: Kind,
    pub title: String,
    pub spot: Spot,
    /// The kernel, block and thread, if one was running.
    pub runs: Option<Runs>,
    pub notes: Vec<String>,
}

/// Who ran.
#[derive(Clone)]
pub struct Runs {
    pub kernel: String,
    pub block: [u32; 3],
    pub thread: Option<[u32; 3]>,
}

/// What tells reports apart.
pub type Key = (Kind, usize, usize);

struct Reports {
    counts: HashMap<Key, u64>,
    order: Vec<(Key, String)>,
    most: usize,
    json: Option<File>,
    /// Kind, end of the file's path, line.
    suppressed: HashSet<(String, String, u32)>,
    hidden: HashSet<Key>,
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn number<T: std::str::FromStr>(name: &str, usual: T) -> T {
    let Some(text) = variable(name) else { return usual };
    text.parse().unwrap_or_else(|_| {
        eprintln!("regrain runtime: warning: expected {name} to be a number, got '{text}'");
        usual
    })
}

fn reports() -> MutexGuard<'static, Reports> {
    static REPORTS: OnceLock<Mutex<Reports>> = OnceLock::new();
    REPORTS.get_or_init(|| Mutex::new(Reports::new())).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads `kind file:line` of each line; what begins with `#` is none.
fn suppressions(text: &str) -> Result<HashSet<(String, String, u32)>, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let read = |line: &str| {
        let (kind, place) = line.split_once(char::is_whitespace)?;
        let (file, number) = place.trim().rsplit_once(':')?;
        Some((kind.to_owned(), file.to_owned(), number.parse().ok()?))
    };
    lines.map(|line| read(line).ok_or_else(|| format!("expected 'kind file:line', got '{line}'"))).collect()
}

impl Reports {
    fn new() -> Self {
        let warn = |name: &str, what: &str| eprintln!("regrain runtime: warning: {name}: {what}");
        let json = variable("REGRAIN_CHECK_JSON").and_then(|path| {
            File::create(&path).map_err(|error| warn("REGRAIN_CHECK_JSON", &format!("{path}: {error}"))).ok()
        });
        let suppressed = variable("REGRAIN_CHECK_SUPPRESS").map(|path| {
            let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"));
            text.and_then(|text| suppressions(&text)).unwrap_or_else(|error| {
                warn("REGRAIN_CHECK_SUPPRESS", &error);
                HashSet::new()
            })
        });
        Self {
            counts: HashMap::new(),
            order: Vec::new(),
            most: number("REGRAIN_CHECK_REPORTS", 100),
            json,
            suppressed: suppressed.unwrap_or_default(),
            hidden: HashSet::new(),
        }
    }

    fn is_suppressed(&self, report: &Report) -> bool {
        self.suppressed.iter().any(|(kind, file, line)| {
            *line == report.spot.line
                && kind == report.kind.name()
                && (report.spot.file == *file || report.spot.file.ends_with(&format!("/{file}")))
        })
    }

    fn write(&mut self, report: &Report) {
        if self.order.len() <= self.most {
            eprint!("{}", in_words(report));
        }
        if let Some(file) = &mut self.json {
            // Nothing would be left to tell it.
            let _ = file.write_all(as_json(report).as_bytes());
        }
    }
}

fn place([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}

fn in_words(report: &Report) -> String {
    let mut text = format!("========= {}\n", report.title);
    if report.spot != Spot::default() {
        let _ = writeln!(text, "=========     at {}", report.spot.in_words());
    }
    if let Some(Runs { kernel, block, thread }) = &report.runs {
        let thread = thread.map_or(String::new(), |thread| format!("thread {} in ", place(thread)));
        let _ = writeln!(text, "=========     by {thread}block {} of {kernel}", place(*block));
    }
    for note in &report.notes {
        let _ = writeln!(text, "=========     {note}");
    }
    text
}

fn as_json(report: &Report) -> String {
    let Spot { file, line, column, function } = &report.spot;
    let mut text = format!("{{\"kind\":\"{}\",\"message\":{}", report.kind.name(), string(&report.title));
    let _ = write!(text, ",\"file\":{},\"line\":{line},\"column\":{column}", string(file));
    let _ = write!(text, ",\"function\":{}", string(function));
    if let Some(Runs { kernel, block, thread }) = &report.runs {
        let _ = write!(text, ",\"kernel\":{},\"block\":{block:?}", string(kernel));
        if let Some(thread) = thread {
            let _ = write!(text, ",\"thread\":{thread:?}");
        }
    }
    let notes: Vec<String> = report.notes.iter().map(|note| string(note)).collect();
    let _ = writeln!(text, ",\"notes\":[{}]}}", notes.join(","));
    text
}

/// Says what `report` makes, unless it was said before or is not to be.
pub fn say(key: Key, report: impl FnOnce() -> Report) {
    guarded(|| say_once(key, report));
}

fn say_once(key: Key, report: impl FnOnce() -> Report) {
    let mut reports = reports();
    if let Some(count) = reports.counts.get_mut(&key) {
        *count += 1;
        return;
    }
    if reports.hidden.contains(&key) {
        return;
    }
    let report = report();
    if reports.is_suppressed(&report) {
        reports.hidden.insert(key);
        return;
    }
    reports.counts.insert(key, 1);
    reports.order.push((key, report.title.clone()));
    reports.write(&report);
}

/// Says how many errors there were; the exit status to leave with, if it is not the program's.
pub fn summarise() -> Option<i32> {
    let reports = reports();
    let (errors, times) = (reports.order.len(), reports.counts.values().sum::<u64>());
    if errors > reports.most {
        eprintln!("========= {} further errors are not shown (REGRAIN_CHECK_REPORTS)", errors - reports.most);
    }
    let plural = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let counted = if times == errors as u64 { String::new() } else { format!(", met {}", plural(times, "time")) };
    eprintln!("========= ERROR SUMMARY: {}{counted}", plural(errors as u64, "error"));
    let status = number("REGRAIN_CHECK_EXIT", 86);
    (errors != 0 && status != 0).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suppressions_are_kinds_and_lines() {
        let read = suppressions("# known\n\nrace a b/k.cu:12\nmemory x.cu:3\n").expect("lines that are right");
        assert!(read.contains(&("race".into(), "a b/k.cu".into(), 12)));
        assert!(read.contains(&("memory".into(), "x.cu".into(), 3)) && read.len() == 2);
        assert_eq!(suppressions("race k.cu").unwrap_err(), "expected 'kind file:line', got 'race k.cu'");
    }

    #[test]
    fn reports_are_words_and_objects() {
        let report = Report {
            kind: Kind::Memory,
            title: "Invalid".into(),
            spot: Spot { file: "a.cu".into(), line: 3, column: 0, function: "k(\"x\")".into() },
            runs: Some(Runs { kernel: "k".into(), block: [1, 0, 0], thread: Some([2, 0, 0]) }),
            notes: vec!["a note".into()],
        };
        assert_eq!(
            in_words(&report),
            "========= Invalid\n=========     at k(\"x\") in a.cu:3\n=========     by thread (2,0,0) in block (1,0,0) of k\n\
             =========     a note\n"
        );
        assert_eq!(
            as_json(&report),
            "{\"kind\":\"memory\",\"message\":\"Invalid\",\"file\":\"a.cu\",\"line\":3,\"column\":0,\"function\":\"k(\\\"x\\\")\",\
             \"kernel\":\"k\",\"block\":[1, 0, 0],\"thread\":[2, 0, 0],\"notes\":[\"a note\"]}\n"
        );
    }
}
