//! Callers as the standard library knows them from the program's own tables: names, and lines where those are in it.

use std::backtrace::Backtrace;

use super::kernel::demangle;

/// A function on the stack as a backtrace has it; inlined ones too.
pub struct Raw {
    pub name: String,
    pub place: Option<(String, u32)>,
}

/// A function of a kernel with its line.
pub struct Frame {
    pub function: String,
    pub file: String,
    pub line: u32,
}

/// Reads a backtrace as Rust writes it: `  4: main` and, where lines are known, `at file.cu:12:3` below.
pub fn read(trace: &str) -> Vec<Raw> {
    let mut frames: Vec<Raw> = Vec::new();
    for line in trace.lines().map(str::trim) {
        if let Some(place) = line.strip_prefix("at ") {
            let mut parts = place.rsplitn(3, ':');
            let (_, line, file) = (parts.next(), parts.next(), parts.next());
            if let (Some(last), Some(file), Some(number)) =
                (frames.last_mut(), file, line.and_then(|line| line.parse().ok()))
            {
                last.place = Some((file.strip_prefix("./").unwrap_or(file).to_owned(), number));
            }
        } else if let Some((number, name)) = line.split_once(": ")
            && number.parse::<u32>().is_ok()
        {
            frames.push(Raw { name: name.to_owned(), place: None });
        }
    }
    frames
}

/// Functions of a kernel.
pub struct Frames {
    pub of_kernel: Vec<Frame>,
    /// Whether any function of the program has lines.
    pub has_lines: bool,
}

/// The kernel's functions that `called` was called from.
pub fn of_kernel(called: &str) -> Frames {
    behind(called, read(&Backtrace::force_capture().to_string()))
}

/// What stands in the names of files that are not the program's: of Rust's libraries, of the C library, and of a runtime that has lines itself.
const OTHERS: [&str; 7] = [
    "/rustc/",
    "/rustlib/src/rust/",
    "/registry/src/index.",
    "/sysdeps/",
    "nptl/",
    "/libc-start.c",
    "crates/runtime/src/",
];

/// A function of the library of coroutines: whoever made the coroutine is behind it.
fn is_coroutines(raw: &Raw) -> bool {
    raw.name.starts_with("corosensei::") || raw.place.as_ref().is_some_and(|(file, _)| file.contains("/corosensei-"))
}

/// A line of the program.
fn place(raw: &Raw) -> Option<&(String, u32)> {
    raw.place.as_ref().filter(|(file, _)| !OTHERS.iter().any(|part| file.contains(part)))
}

/// The functions with lines behind `called`, on the stack of a coroutine.
fn behind(called: &str, frames: Vec<Raw>) -> Frames {
    let has_lines = frames.iter().any(|raw| place(raw).is_some());
    let on_stack =
        frames.into_iter().skip_while(|raw| raw.name != called).skip(1).take_while(|raw| !is_coroutines(raw));
    // In front may be what the kernel called: of the C library, or of the runtime.
    let found = on_stack.skip_while(|raw| place(raw).is_none()).map_while(|raw| {
        let (file, line) = place(&raw)?.clone();
        Some(Frame { function: function(&raw.name), file, line })
    });
    Frames { of_kernel: found.collect(), has_lines }
}

/// What a function of device code is called in the source.
fn function(symbol: &str) -> String {
    let prefixes = ["__regrain_dev_", "__regrain_block.", "__regrain_thread."];
    let Some(name) = prefixes.iter().find_map(|prefix| symbol.strip_prefix(prefix)) else { return demangle(symbol) };
    // Forms of a kernel carry what they are for behind its name.
    demangle(name.split(['$', '.']).next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernels_frames_end_where_the_runtimes_begin() {
        let trace = "   0: std::backtrace::Backtrace::create\n   1: regrain_rt::x\n   2: __regrain_landed\n   \
                     3: regrain_rt::device::cpu::fault::landing::land\n   4: strlen\n             at string/../sysdeps/strlen.S:79\n   5: __regrain_vprintf\n   \
                     6: __regrain_dev_helper.part\n             at ./a.cu:5:8\n   7: __regrain_block.wild$b2x1x1$s1\n             \
                     at /x/a.cu:13:3\n   8: regrain_rt::device::cpu::run::run_blocks\n   9: corosensei::x\n  10: main\n             at a.cu:20:3\n";
        let found = behind("__regrain_landed", read(trace));
        assert!(found.has_lines);
        let texts: Vec<String> =
            found.of_kernel.iter().map(|f| format!("{}:{} {}", f.file, f.line, f.function)).collect();
        assert_eq!(texts, ["a.cu:5 helper", "/x/a.cu:13 wild"]);
    }

    /// As where it is built with a sanitizer.
    #[test]
    fn lines_of_a_runtime_that_has_them_are_not_the_programs() {
        let trace = "   0: __regrain_landed\n             at /r/crates/runtime/src/device/cpu/fault/landing.rs:9:1\n   \
                     1: reach\n             at /r/crates/runtime/src/device/cpu/calls.rs:49:3\n   \
                     2: call_once\n             at /n/lib/rustlib/src/rust/library/core/src/x.rs:1:1\n   \
                     3: __regrain_block.wild\n             at a.cu:13:3\n   \
                     4: run_whole_block\n             at /r/crates/runtime/src/device/cpu/block.rs:32:1\n   \
                     5: on_stack\n             at /h/registry/src/index.example/corosensei-0.3.4/src/x.rs:2:1\n   \
                     6: main\n             at a.cu:20:3\n   7: start\n             at csu/../csu/libc-start.c:360:1\n";
        let found = behind("__regrain_landed", read(trace));
        let texts: Vec<String> =
            found.of_kernel.iter().map(|f| format!("{}:{} {}", f.file, f.line, f.function)).collect();
        assert_eq!(texts, ["a.cu:13 wild"]);
        let without = trace.replace("             at a.cu:13:3\n", "").replace("             at a.cu:20:3\n", "");
        let no_lines = behind("__regrain_landed", read(&without));
        assert!(no_lines.of_kernel.is_empty() && !no_lines.has_lines);
    }
}
