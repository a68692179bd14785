//! Where time goes (`-ftime-report`): sections of names with seconds of this thread's processor time. LLVM's and MLIR's passes
//! enter themselves; code generation is measured by LLVM's own timers, which print themselves.

use crate::ffi;

/// The section of what a compilation consists of.
pub const STEPS: &str = "steps";
/// The step of [`STEPS`] in which nests of loops get their schedules.
pub const SCHEDULES: &str = "schedules of loops";
/// The section of kernels in our lowering.
pub const KERNELS: &str = "kernels in our lowering";

/// One name of a section.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The section.
    pub section: String,
    /// The name.
    pub name: String,
    /// Seconds without what other names of the section took inside of it.
    pub seconds: f64,
}

/// Starts measuring, in the whole process.
pub fn start() {
    // SAFETY: sets a flag.
    unsafe { ffi::regrainTimingStart() }
}

/// Measures `work` under a name, if anything is measured.
pub fn measure<T>(section: &str, name: &str, work: impl FnOnce() -> T) -> T {
    let _open = Open::new(section, name);
    work()
}

/// Counts seconds of another process under a name, if anything is measured.
pub fn add(section: &str, name: &str, seconds: f64) {
    // SAFETY: the texts are alive for the call.
    unsafe { ffi::regrainTimingAdd(ffi::string(section), ffi::string(name), seconds) }
}

/// Leaves the section again when a panic unwinds too.
struct Open<'s> {
    section: &'s str,
    name: &'s str,
}

impl<'s> Open<'s> {
    fn new(section: &'s str, name: &'s str) -> Self {
        // SAFETY: the text is alive for the call.
        unsafe { ffi::regrainTimingEnter(ffi::string(section)) }
        Self { section, name }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        // SAFETY: the texts are alive for the call.
        unsafe { ffi::regrainTimingLeave(ffi::string(self.section), ffi::string(self.name)) }
    }
}

/// What was measured, in no order. LLVM's own timers print on standard error.
pub fn rows() -> Vec<Row> {
    let ((), text) = ffi::gather(|sink, user| {
        // SAFETY: the sink gets its own.
        unsafe { ffi::regrainTimingReport(sink, user) }
    });
    let text = String::from_utf8_lossy(&text);
    let row = |line: &str| {
        let mut cells = line.split('\t');
        let (section, name) = (cells.next()?.to_owned(), cells.next()?.to_owned());
        Some(Row { section, name, seconds: cells.next()?.parse().ok()? })
    };
    text.lines().filter_map(row).collect()
}
