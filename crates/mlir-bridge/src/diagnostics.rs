//! Emitting diagnostics, and collecting them as clang-style text.

use crate::{
    failure::PassError,
    ffi,
    ir::{Ctx, Loc, Op},
};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Note,
    Warning,
    Error,
    Remark,
}

impl<'c> Loc<'c> {
    /// Emits a diagnostic here, with notes at other places.
    pub fn emit(self, severity: Severity, message: &str, notes: &[(Loc<'c>, &str)]) {
        let locs: Vec<_> = notes.iter().map(|(loc, _)| loc.raw).collect();
        let texts: Vec<_> = notes.iter().map(|(_, text)| ffi::string(text)).collect();
        let severity = match severity {
            Severity::Note => ffi::RegrainSeverityNote,
            Severity::Warning => ffi::RegrainSeverityWarning,
            Severity::Error => ffi::RegrainSeverityError,
            Severity::Remark => ffi::RegrainSeverityRemark,
        };
        // SAFETY: the arrays are read during the call.
        unsafe {
            ffi::regrainEmit(self.raw, severity, ffi::string(message), notes.len(), locs.as_ptr(), texts.as_ptr())
        }
    }
}

impl<'c> Op<'c> {
    /// Emits an error here; the value says to a pass's caller that it is reported.
    pub fn error(self, message: impl AsRef<str>) -> PassError {
        self.loc().emit(Severity::Error, message.as_ref(), &[]);
        PassError::Reported
    }

    pub fn warning(self, message: impl AsRef<str>) {
        self.loc().emit(Severity::Warning, message.as_ref(), &[]);
    }

    /// A remark: why a transformation was or was not done.
    pub fn remark(self, message: impl AsRef<str>) {
        self.loc().remark(message);
    }
}

impl Loc<'_> {
    /// A remark on what is no longer there, or not yet.
    pub fn remark(self, message: impl AsRef<str>) {
        self.emit(Severity::Remark, message.as_ref(), &[]);
    }
}

/// Runs `work` and gives what the context reported meanwhile, as `file:line:column: error: ...`
/// with the source line where the file can be read.
pub fn with_diagnostics<'c, R>(ctx: impl Into<Ctx<'c>>, work: impl FnOnce() -> R) -> (R, String) {
    /// Ends the capture, also when `work` panics.
    struct Guard(*mut ffi::RegrainCapture);
    impl Guard {
        fn finish(&mut self) -> String {
            let capture = std::mem::replace(&mut self.0, std::ptr::null_mut());
            if capture.is_null() {
                return String::new();
            }
            // SAFETY: the live capture, ended exactly once; the sink gets its own.
            let ((), text) = ffi::gather(|sink, user| unsafe { ffi::regrainCaptureEnd(capture, sink, user) });
            String::from_utf8_lossy(&text).into_owned()
        }
    }
    impl Drop for Guard {
        fn drop(&mut self) {
            self.finish();
        }
    }
    // SAFETY: the context is live.
    let mut guard = Guard(unsafe { ffi::regrainCaptureBegin(ctx.into().raw) });
    let result = work();
    (result, guard.finish())
}
