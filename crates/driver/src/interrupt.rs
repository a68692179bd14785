//! Signals that end a compilation: what it has started ends, and what it has not finished goes.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use regrain_compiler::unfinished;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// How long what we have started may take to end.
const PATIENCE: Duration = Duration::from_secs(2);

static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Lets signals end the process as they would, with nothing left behind. What the one who started us ignores stays ignored.
pub fn watch() {
    let ignored = ignored_signals();
    let wanted: Vec<i32> =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect();
    // Without them all is as it was, only less tidy.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            IS_ENDING.store(true, Ordering::SeqCst);
            end_children();
            unfinished::all().iter().for_each(|path| remove(path));
            let _ = emulate_default_handler(signal);
        }
    });
}

/// Waits where the process is about to end by a signal: what then fails is not worth a word.
pub fn wait_if_ending() {
    while IS_ENDING.load(Ordering::SeqCst) {
        std::thread::sleep(PATIENCE);
    }
}

fn remove(path: &Path) {
    let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
}

/// The signals that are ignored, a bit for each.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// Ends what we have started and what that has started, and waits for it.
fn end_children() {
    let begin = Instant::now();
    let mut signal = Signal::TERM;
    loop {
        let children = descendants(std::process::id());
        if children.is_empty() || begin.elapsed() > 2 * PATIENCE {
            return;
        }
        for child in children {
            let _ = kill_process(child, signal);
        }
        std::thread::sleep(Duration::from_millis(20));
        if begin.elapsed() > PATIENCE {
            signal = Signal::KILL;
        }
    }
}

/// The processes below `parent` that run.
fn descendants(parent: u32) -> Vec<Pid> {
    let mut parents: Vec<(u32, u32)> = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(text) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // PID (NAME) STATE PARENT ...; the name may have anything in it.
        let (Some((number, _)), Some((_, rest))) = (text.split_once(' '), text.rsplit_once(')')) else { continue };
        let mut words = rest.split_whitespace();
        let (state, above) = (words.next(), words.next());
        if let (Ok(number), Some(Ok(above)), true) = (number.parse(), above.map(str::parse), state != Some("Z")) {
            parents.push((number, above));
        }
    }
    let mut found = vec![parent];
    let mut next = 0;
    while let Some(&above) = found.get(next) {
        found.extend(parents.iter().filter(|(_, other)| *other == above).map(|(number, _)| *number));
        next += 1;
    }
    found[1..].iter().filter_map(|number| Pid::from_raw(i32::try_from(*number).ok()?)).collect()
}
