//! Error codes, the per-thread last error, and the frame around every `cuda*` entry point.
//!
//! Two kinds of error, as in CUDA: a *plain* one is reported by the call that met it and kept until `cudaGetLastError`
//! reads it; a *sticky* one (a kernel failed) stays for the rest of the process or until `cudaDeviceReset`. The device
//! knows the second kind.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error_table::ERRORS;

/// A non-zero `cudaError_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaError(pub u32);

pub type Result<T = ()> = std::result::Result<T, CudaError>;

impl CudaError {
    pub const INVALID_VALUE: Self = Self(1);
    pub const MEMORY_ALLOCATION: Self = Self(2);
    pub const INITIALIZATION: Self = Self(3);
    pub const INVALID_CONFIGURATION: Self = Self(9);
    pub const INVALID_PITCH: Self = Self(12);
    pub const INVALID_SYMBOL: Self = Self(13);
    pub const INVALID_CHANNEL_DESCRIPTOR: Self = Self(20);
    pub const INVALID_FILTER_SETTING: Self = Self(26);
    pub const INVALID_NORM_SETTING: Self = Self(27);
    pub const INVALID_MEMCPY_DIRECTION: Self = Self(21);
    pub const INSUFFICIENT_DRIVER: Self = Self(35);
    pub const NEWER_DRIVER: Self = Self(36);
    pub const MISSING_CONFIGURATION: Self = Self(52);
    pub const LAUNCH_MAX_DEPTH_EXCEEDED: Self = Self(65);
    pub const INVALID_DEVICE_FUNCTION: Self = Self(98);
    pub const NO_DEVICE: Self = Self(100);
    pub const INVALID_DEVICE: Self = Self(101);
    pub const INVALID_KERNEL_IMAGE: Self = Self(200);
    pub const INVALID_CONTEXT: Self = Self(201);
    pub const NO_KERNEL_IMAGE: Self = Self(209);
    pub const UNSUPPORTED_LIMIT: Self = Self(215);
    pub const FILE_NOT_FOUND: Self = Self(301);
    pub const OPERATING_SYSTEM: Self = Self(304);
    pub const INVALID_RESOURCE_HANDLE: Self = Self(400);
    pub const SYMBOL_NOT_FOUND: Self = Self(500);
    pub const ILLEGAL_ADDRESS: Self = Self(700);
    pub const PEER_ACCESS_NOT_ENABLED: Self = Self(705);
    pub const CONTEXT_IS_DESTROYED: Self = Self(709);
    pub const ASSERT: Self = Self(710);
    pub const HOST_MEMORY_ALREADY_REGISTERED: Self = Self(712);
    pub const HOST_MEMORY_NOT_REGISTERED: Self = Self(713);
    pub const HARDWARE_STACK_ERROR: Self = Self(714);
    pub const ILLEGAL_INSTRUCTION: Self = Self(715);
    pub const NOT_READY: Self = Self(600);
    pub const LAUNCH_FAILURE: Self = Self(719);
    pub const COOPERATIVE_LAUNCH_TOO_LARGE: Self = Self(720);
    pub const NOT_PERMITTED: Self = Self(800);
    pub const NOT_SUPPORTED: Self = Self(801);
    pub const CAPTURE_UNSUPPORTED: Self = Self(900);
    pub const CAPTURE_INVALIDATED: Self = Self(901);
    pub const CAPTURE_MERGE: Self = Self(902);
    pub const CAPTURE_UNMATCHED: Self = Self(903);
    pub const CAPTURE_UNJOINED: Self = Self(904);
    pub const CAPTURE_ISOLATION: Self = Self(905);
    pub const CAPTURE_IMPLICIT: Self = Self(906);
    pub const CAPTURED_EVENT: Self = Self(907);
    pub const CAPTURE_WRONG_THREAD: Self = Self(908);
    pub const GRAPH_UPDATE_FAILURE: Self = Self(910);
    pub const UNKNOWN: Self = Self(999);
}

/// `cudaErrorInvalidValue` unless an argument is `valid`.
pub fn check(valid: bool) -> Result {
    if valid { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
}

thread_local! {
    static LAST: Cell<u32> = const { Cell::new(0) };
    /// Whether a function of the driver's calls one of the runtime's.
    static FROM_DRIVER: Cell<bool> = const { Cell::new(false) };
}

static USED: AtomicBool = AtomicBool::new(false);

/// The calling thread's last error, 0 for none.
pub fn last() -> u32 {
    LAST.get()
}

/// What a function of the runtime does, for one of the driver's: the last error stays what it is.
pub fn quietly(function: impl FnOnce() -> u32) -> Result {
    let (before, inside) = (LAST.get(), FROM_DRIVER.replace(true));
    let code = function();
    LAST.set(before);
    FROM_DRIVER.set(inside);
    if code == 0 { Ok(()) } else { Err(CudaError(code)) }
}

/// What another thread might as well do: the last error stays what it is.
pub fn apart(function: impl FnOnce()) {
    let before = LAST.get();
    function();
    LAST.set(before);
}

/// Whether the program has called a function of the runtime's own.
pub fn runtime_is_used() -> bool {
    USED.load(Ordering::Relaxed)
}

/// Forgets the calling thread's last error.
pub fn clear_last() {
    LAST.set(0);
}

/// Runs the body of an API function: records its error, and turns a panic into `cudaErrorUnknown`.
pub fn api(name: &'static str, body: impl FnOnce() -> Result) -> u32 {
    if !USED.load(Ordering::Relaxed) {
        USED.store(!FROM_DRIVER.get(), Ordering::Relaxed);
    }
    let code = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return 0,
        // An answer, which CUDA does not count among the errors.
        Ok(Err(CudaError::NOT_READY)) => return CudaError::NOT_READY.0,
        Ok(Err(error)) => error.0,
        Err(payload) => {
            let text = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            eprintln!("regrain runtime: internal error: {text}");
            CudaError::UNKNOWN.0
        }
    };
    LAST.set(code);
    if let Some(tell) = FAILURES.get() {
        tell(name, CudaError(code));
    }
    code
}

/// Who is told of failures.
static FAILURES: OnceLock<fn(&'static str, CudaError)> = OnceLock::new();

/// From now on `tell` gets the name of each function that fails, and its error.
pub fn tell_failures(tell: fn(&'static str, CudaError)) {
    let _ = FAILURES.set(tell);
}

/// The name of a code, as in `cudaErrorInvalidValue`.
pub fn name(code: CudaError) -> &'static str {
    ERRORS.iter().find(|entry| entry.0 == code.0).map_or("an unknown error", |entry| entry.1)
}

/// The table as C strings: (name, text) per entry of [`ERRORS`], then the unknown code.
fn c_strings() -> &'static Vec<(CString, CString)> {
    static TABLE: OnceLock<Vec<(CString, CString)>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let unknown = (0, "unrecognized error code", "unrecognized error code");
        ERRORS
            .iter()
            .chain(std::iter::once(&unknown))
            .map(|entry| (CString::new(entry.1).unwrap_or_default(), CString::new(entry.2).unwrap_or_default()))
            .collect()
    })
}

/// A part of the entry of a code, as a C string that lives as long as the program.
pub fn c_string(code: u32, pick: impl Fn(&(CString, CString)) -> &CStr) -> *const c_char {
    let at = ERRORS.binary_search_by_key(&code, |entry| entry.0).unwrap_or(ERRORS.len());
    pick(&c_strings()[at]).as_ptr()
}
