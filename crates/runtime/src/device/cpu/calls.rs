//! What device code calls besides synchronisation: printf, assert, trap, heap, clocks.

use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use super::checks;
use super::fault::guard::{guarded, open};
use super::fibers;
use super::hints;
use super::relief::Patience;
use super::state::{Mode, current};
use super::switch::{leave, yield_now};
use crate::device::printf;
use crate::error::CudaError;

/// Reads a C string that may be null.
///
/// # Safety
/// `text` is null or a C string.
unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: by contract.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// CUDA's device `vprintf`: returns the number of arguments, -1 for a null format.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_vprintf(format: *const c_char, args: *const c_void) -> i32 {
    if format.is_null() {
        return -1;
    }
    // SAFETY: generated code passes a C string and the packed arguments that it names.
    unsafe {
        let format = CStr::from_ptr(format).to_bytes();
        guarded(|| {
            let (bytes, count) = printf::render(format, printf::Args::at(args, reach));
            printf::write(&bytes);
            count
        })
    }
}

/// Touches a text that a kernel prints, which may be at no address.
fn reach(text: *const c_char) {
    // SAFETY: a C string by the contract of `printf`; where it is none, that is the kernel's fault.
    open(|| std::hint::black_box(unsafe { libc::strlen(text) }));
}

/// A failed `assert`: prints CUDA's message; the kernel fails with `cudaErrorAssert`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_assertfail(
    message: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
    _char_size: u64,
) {
    // SAFETY: generated code passes constant strings; a non-null worker is this OS thread's.
    unsafe {
        let worker = current();
        {
            let (block, thread) = ((*crate::abi::tls()).ctaid, (*crate::abi::tls()).tid);
            guarded(|| printf::assertion(&text(message), &text(file), line, &text(function), block, thread));
        }
        if worker.is_null() {
            std::process::abort();
        }
        (*worker).job().fail(CudaError::ASSERT, "");
        leave(worker);
    }
}

/// What the source asks for and this target has not: the launch fails with `cudaErrorNotSupported`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_unsupported(what: *const c_char) {
    // SAFETY: generated code passes a constant string; a non-null worker is this OS thread's.
    unsafe {
        let worker = current();
        if worker.is_null() {
            std::process::abort();
        }
        (*worker).job().refuse(&text(what));
        leave(worker);
    }
}

/// `isspacep.local`: whether a pointer leads to some CUDA thread's own stack.
#[unsafe(no_mangle)]
extern "C" fn __regrain_is_local(pointer: *const c_void) -> bool {
    let worker = current();
    // SAFETY: a non-null worker belongs to this OS thread.
    !worker.is_null() && unsafe { (*worker).stacks() }.into_iter().any(|stacks| stacks.holds(pointer as usize))
}

/// `__trap()`: the kernel fails with `cudaErrorLaunchFailure`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_trap() {
    let worker = current();
    if worker.is_null() {
        std::process::abort();
    }
    // SAFETY: a non-null worker belongs to this OS thread and runs this thread.
    unsafe {
        guarded(|| {
            let message = format!("trap in block {:?}, thread {:?}", (*(*worker).tls).ctaid, (*(*worker).tls).tid);
            (*worker).job().fail(CudaError::LAUNCH_FAILURE, &message);
        });
        leave(worker);
    }
}

/// Device-side `malloc`: 16-byte aligned, null when there is no memory.
#[unsafe(no_mangle)]
extern "C" fn __regrain_malloc(size: u64) -> *mut c_void {
    if let Some(checker) = checks::checker() {
        return checker.allocate_in_kernel(size as usize).unwrap_or(0) as *mut c_void;
    }
    // SAFETY: plain C allocation.
    guarded(|| unsafe { libc::malloc(size as usize) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_free(pointer: *mut c_void) {
    if let Some(checker) = checks::checker() {
        return checker.release_in_kernel(pointer as usize);
    }
    // SAFETY: the program frees what device-side `malloc` gave it, once.
    guarded(|| unsafe { libc::free(pointer) });
}

/// Nanoseconds since the process's first use: a clock of 1 GHz, which is also the clock rate in the device properties.
#[unsafe(no_mangle)]
extern "C" fn __regrain_clock64() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}

#[unsafe(no_mangle)]
extern "C" fn __regrain_globaltimer() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos() as u64
}

/// CUDA's limit on one sleep, one millisecond.
const MAX_SLEEP: u64 = 1_000_000;

/// A sleep shorter than what changing to another OS thread takes is a hint in a loop that waits, or before one; CUDA lets it end at once.
const LEAST_SLEEP: u32 = 5_000;

/// `__nanosleep`: lets the other threads of the block run until the time is over.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_nanosleep(nanoseconds: u32) {
    let worker = current();
    // SAFETY: a non-null worker belongs to this OS thread and runs this thread.
    unsafe {
        if nanoseconds < LEAST_SLEEP && !worker.is_null() && (*worker).mode == Mode::Whole {
            return hints::__regrain_spin_hint();
        }
    }
    let time = Duration::from_nanos(u64::from(nanoseconds).min(MAX_SLEEP));
    let start = Instant::now();
    // SAFETY: a non-null worker belongs to this OS thread and runs this thread.
    unsafe {
        if !worker.is_null() && (*worker).mode == Mode::Whole {
            while start.elapsed() < time {
                fibers::wait(worker, Patience::Long);
            }
            return;
        }
        while !worker.is_null() && (*worker).mode == Mode::Coroutines && (*worker).live > 1 {
            if (*worker).job().failed() {
                leave(worker);
            }
            yield_now(worker);
            if start.elapsed() >= time {
                return;
            }
        }
    }
    match time.saturating_sub(start.elapsed()) {
        Duration::ZERO => std::thread::yield_now(),
        left => std::thread::sleep(left),
    }
}
