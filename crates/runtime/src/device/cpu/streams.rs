//! Streams. All work is done when the call that submits it returns, which is a correct order for every stream; a stream
//! is then a checked handle with flags and a priority. Host functions and callbacks run at once, in the calling thread.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::failure::device_ok;
use crate::device::printf;
use crate::error::{CudaError, Result};

#[derive(Clone, Copy)]
pub struct Stream {
    pub flags: u32,
    pub priority: i32,
}

/// Lowest and highest priority, as on NVIDIA's devices.
pub const PRIORITIES: (i32, i32) = (0, -5);

fn streams() -> MutexGuard<'static, HashMap<usize, Stream>> {
    static STREAMS: OnceLock<Mutex<HashMap<usize, Stream>>> = OnceLock::new();
    STREAMS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// The default streams: null, `cudaStreamLegacy`, `cudaStreamPerThread`.
fn is_default(stream: *mut c_void) -> bool {
    (stream as usize) <= 2
}

/// What is known of a stream.
pub fn get(stream: *mut c_void) -> Result<Stream> {
    if is_default(stream) {
        return Ok(Stream { flags: 0, priority: 0 });
    }
    streams().get(&(stream as usize)).copied().ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}

/// Whether a stream handle is valid.
pub fn check(stream: *mut c_void) -> Result {
    if is_default(stream) { Ok(()) } else { get(stream).map(drop) }
}

/// Makes a stream.
pub fn create(flags: u32, priority: i32) -> Result<*mut c_void> {
    // Handles are never reused, so that a stale one is recognised.
    static NEXT: AtomicUsize = AtomicUsize::new(0x5354_0010);
    device_ok()?;
    let handle = NEXT.fetch_add(16, Ordering::Relaxed);
    streams().insert(handle, Stream { flags, priority: priority.clamp(PRIORITIES.1, PRIORITIES.0) });
    Ok(handle as *mut c_void)
}

/// Forgets a stream.
pub fn destroy(stream: *mut c_void) -> Result {
    streams().remove(&(stream as usize)).map(drop).ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}

/// All work is done: writes out what it printed, and says whether it failed.
pub fn finish() -> Result {
    printf::flush();
    device_ok()
}
