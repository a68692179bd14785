//! `REGRAIN_LAUNCH_TRACE=FILE`: launches, copies and fills as events of a trace, which Perfetto and Chrome show.
//!
//! The file is an array of *complete* events of the Trace Event Format, times in microseconds since the first one. Each is written when it
//! ends, so that a program that dies leaves what it did until then; the format allows the closing bracket to be missing.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::device::seam::Stream;
use crate::error::Result;

struct Trace {
    file: Mutex<(File, bool)>,
    start: Instant,
}

fn trace() -> Option<&'static Trace> {
    static TRACE: OnceLock<Option<Trace>> = OnceLock::new();
    TRACE
        .get_or_init(|| {
            let path = std::env::var_os("REGRAIN_LAUNCH_TRACE").filter(|path| !path.is_empty())?;
            let opened = File::create(&path).and_then(|mut file| file.write_all(b"[").map(|()| file));
            match opened {
                Ok(file) => {
                    // SAFETY: a function without parameters that does not unwind.
                    unsafe { libc::atexit(close) };
                    Some(Trace { file: Mutex::new((file, true)), start: Instant::now() })
                }
                Err(error) => {
                    eprintln!("regrain runtime: warning: REGRAIN_LAUNCH_TRACE: {}: {error}", path.display());
                    None
                }
            }
        })
        .as_ref()
}

/// Whether there is a trace.
pub fn is_on() -> bool {
    trace().is_some()
}

extern "C" fn close() {
    if let Some(trace) = trace() {
        let mut file = trace.file.lock().unwrap_or_else(PoisonError::into_inner);
        // Nothing would be left to tell it.
        let _ = file.0.write_all(b"\n]\n");
    }
}

/// What an event says beside its name.
pub struct Event {
    category: &'static str,
    name: String,
    fields: String,
}

impl Event {
    /// An event of `category` that is called `name`.
    pub fn new(category: &'static str, name: &str) -> Self {
        Self { category, name: name.to_owned(), fields: String::new() }
    }

    /// With a number.
    pub fn number(mut self, name: &str, value: u64) -> Self {
        let _ = write!(self.fields, ",\"{name}\":{value}");
        self
    }

    /// With a text.
    pub fn text(mut self, name: &str, value: &str) -> Self {
        let _ = write!(self.fields, ",\"{name}\":\"{}\"", escaped(value));
        self
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => escaped.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// Does `work` in `stream`, and writes the event that `says` describes if there is a trace.
pub fn traced(stream: Stream, says: impl FnOnce() -> Event, work: impl FnOnce() -> Result) -> Result {
    let Some(trace) = trace() else { return work() };
    let start = trace.start.elapsed();
    let done = work();
    let duration = trace.start.elapsed() - start;
    let event = says();
    let error = done.err().map_or(String::new(), |error| format!(",\"error\":{}", error.0));
    // SAFETY: without preconditions.
    let (process, thread) = unsafe { (libc::getpid(), libc::syscall(libc::SYS_gettid)) };
    let mut file = trace.file.lock().unwrap_or_else(PoisonError::into_inner);
    let separator = if std::mem::take(&mut file.1) { "" } else { "," };
    // One write each, so that what is there is whole.
    let line = format!(
        "{separator}\n{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":\"{}\",\"ts\":{:.3},\"dur\":{:.3},\"pid\":{process},\"tid\":{thread},\
         \"args\":{{\"stream\":{}{}{error}}}}}",
        event.category,
        escaped(&event.name),
        start.as_nanos() as f64 / 1e3,
        duration.as_nanos() as f64 / 1e3,
        stream as usize,
        event.fields,
    );
    let _ = file.0.write_all(line.as_bytes());
    done
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_strings_of_json() {
        assert_eq!(super::escaped("k<\"a\\b\">\n"), "k<\\\"a\\\\b\\\">\\u000a");
    }
}
