//! Where in the host's code a call of the runtime's stands: kept as addresses, and looked up when a report asks.

use std::backtrace::Backtrace;
use std::sync::Arc;

use super::sites::Spot;
use crate::device::cpu::frames::{Raw, read};
use crate::device::cpu::kernel::demangle;

/// A call of the runtime's.
#[derive(Clone)]
pub struct Caller(Arc<Backtrace>);

/// What is known of it.
pub struct Call {
    /// The function that was called, as in `cudaMalloc`; empty where that is not known.
    pub function: String,
    /// The line of the program, where the host's code has lines.
    pub spot: Option<Spot>,
}

impl Caller {
    /// The call that is being carried out.
    pub fn current() -> Self {
        Self(Arc::new(Backtrace::force_capture()))
    }

    pub fn look_up(&self) -> Call {
        call_of(&self.0.to_string())
    }

    /// As reports have it: `cudaMalloc in main at file.cu:3`.
    pub fn in_words(&self) -> String {
        self.look_up().in_words()
    }
}

impl Call {
    pub fn in_words(&self) -> String {
        let function = if self.function.is_empty() { "the host" } else { &self.function };
        match &self.spot {
            Some(spot) if spot.line != 0 => format!("{function} at {}:{}", spot.file, spot.line),
            Some(spot) if !spot.function.is_empty() => {
                format!("{function} in {} (compile with -g for its line)", spot.function)
            }
            _ => function.to_owned(),
        }
    }
}

/// Whether a frame is one of the runtime's entry points.
fn is_entry(name: &str) -> bool {
    let rest = name.strip_prefix("cuda").or_else(|| name.strip_prefix("__cuda")).or_else(|| name.strip_prefix("cu"));
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// The call that a backtrace shows.
fn call_of(trace: &str) -> Call {
    let frames = read(trace);
    let Some(entry) = frames.iter().position(|frame| is_entry(&frame.name)) else {
        return Call { function: String::new(), spot: None };
    };
    let first = frames[entry].name.clone();
    // Headers of CUDA's have templates of the same names as the entry points.
    let is_header = |name: &str, place: &Option<(String, u32)>| {
        is_entry(name)
            || name.starts_with("_ZL") && name.contains("cuda")
            || place.as_ref().is_some_and(|(file, _)| file.ends_with("/cuda_runtime.h"))
    };
    let outside = frames[entry..].iter().find(|Raw { name, place }| !is_header(name, place));
    let spot = outside.map(|Raw { name, place }| {
        let (file, line) = place.clone().unwrap_or_default();
        Spot { file, line, column: 0, function: demangle(name) }
    });
    Call { function: first, spot }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_frame_is_the_first_behind_the_entry_point() {
        let trace = "   0: std::backtrace::Backtrace::create\n   1: regrain_rt::x\n             at ./src/x.rs:1:2\n   2: cudaMalloc\n   \
                     3: cudaError cudaMalloc<int>(int**, unsigned long)\n             at /cuda/cuda_runtime.h:9:1\n   4: main\n             \
                     at ./a.cu:12:3\n   5: __libc_start_main\n";
        let call = call_of(trace);
        assert_eq!(call.in_words(), "cudaMalloc at a.cu:12");
        let bare = "  2: cudaFree\n  3: main\n";
        assert_eq!(call_of(bare).in_words(), "cudaFree in main (compile with -g for its line)");
        assert_eq!(call_of("").in_words(), "the host");
    }
}
