//! Streams. All work is done when the call that submits it returns, which is a correct order for every stream; a stream is then
//! a checked handle with flags and a priority. Host functions and callbacks run at once, in the calling thread.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::error::{CudaError, Result, device_ok};
use crate::macros::{cuda_api, put};

#[derive(Clone, Copy)]
struct Stream {
    flags: u32,
    priority: i32,
}

/// Lowest and highest priority, as on NVIDIA's devices.
const PRIORITIES: (i32, i32) = (0, -5);

fn streams() -> MutexGuard<'static, HashMap<usize, Stream>> {
    static STREAMS: OnceLock<Mutex<HashMap<usize, Stream>>> = OnceLock::new();
    STREAMS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// The default streams: null, `cudaStreamLegacy`, `cudaStreamPerThread`.
fn is_default(stream: *mut c_void) -> bool {
    (stream as usize) <= 2
}

fn get(stream: *mut c_void) -> Result<Stream> {
    if is_default(stream) {
        return Ok(Stream { flags: 0, priority: 0 });
    }
    streams().get(&(stream as usize)).copied().ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}

/// Whether a stream handle is valid.
pub fn check(stream: *mut c_void) -> Result {
    if is_default(stream) { Ok(()) } else { get(stream).map(drop) }
}

fn create(flags: u32, priority: i32) -> Result<*mut c_void> {
    // Handles are never reused, so that a stale one is recognised.
    static NEXT: AtomicUsize = AtomicUsize::new(0x5354_0010);
    device_ok()?;
    if flags > 1 {
        return Err(CudaError::INVALID_VALUE);
    }
    let handle = NEXT.fetch_add(16, Ordering::Relaxed);
    streams().insert(handle, Stream { flags, priority: priority.clamp(PRIORITIES.1, PRIORITIES.0) });
    Ok(handle as *mut c_void)
}

fn synchronize(stream: *mut c_void) -> Result {
    check(stream)?;
    crate::pool::drain();
    crate::printf::flush();
    device_ok()
}

type HostFunction = unsafe extern "C" fn(*mut c_void);
type StreamCallback = unsafe extern "C" fn(*mut c_void, u32, *mut c_void);

cuda_api! {
    fn cudaStreamCreate(stream: *mut *mut c_void) {
        if stream.is_null() { return Err(CudaError::INVALID_VALUE); }
        put(stream, create(0, 0)?)
    }

    fn cudaStreamCreateWithFlags(stream: *mut *mut c_void, flags: u32) {
        if stream.is_null() { return Err(CudaError::INVALID_VALUE); }
        put(stream, create(flags, 0)?)
    }

    fn cudaStreamCreateWithPriority(stream: *mut *mut c_void, flags: u32, priority: i32) {
        if stream.is_null() { return Err(CudaError::INVALID_VALUE); }
        put(stream, create(flags, priority)?)
    }

    fn cudaStreamDestroy(stream: *mut c_void) {
        streams().remove(&(stream as usize)).map(drop).ok_or(CudaError::INVALID_RESOURCE_HANDLE)
    }

    fn cudaStreamSynchronize / cudaStreamSynchronize_ptsz(stream: *mut c_void) {
        synchronize(stream)
    }

    fn cudaStreamQuery / cudaStreamQuery_ptsz(stream: *mut c_void) {
        synchronize(stream)
    }

    fn cudaStreamGetFlags / cudaStreamGetFlags_ptsz(stream: *mut c_void, flags: *mut u32) {
        put(flags, get(stream)?.flags)
    }

    fn cudaStreamGetPriority / cudaStreamGetPriority_ptsz(stream: *mut c_void, priority: *mut i32) {
        put(priority, get(stream)?.priority)
    }

    fn cudaStreamGetId / cudaStreamGetId_ptsz(stream: *mut c_void, id: *mut u64) {
        check(stream)?;
        put(id, stream as u64)
    }

    fn cudaStreamGetDevice / cudaStreamGetDevice_ptsz(stream: *mut c_void, device: *mut i32) {
        check(stream)?;
        put(device, 0)
    }

    fn cudaStreamWaitEvent / cudaStreamWaitEvent_ptsz(stream: *mut c_void, event: *mut c_void, flags: u32) {
        device_ok()?;
        check(stream)?;
        if flags > 1 { return Err(CudaError::INVALID_VALUE); }
        crate::event::check(event)
    }

    fn cudaStreamAttachMemAsync / cudaStreamAttachMemAsync_ptsz(stream: *mut c_void, pointer: *mut c_void, _length: usize, flags: u32) {
        device_ok()?;
        check(stream)?;
        match crate::memory::find(pointer) {
            Some(found) if found.kind == crate::memory::Kind::Managed && matches!(flags, 1 | 2 | 4) => Ok(()),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    /// Capture is not supported, so no stream is ever capturing.
    fn cudaStreamIsCapturing / cudaStreamIsCapturing_ptsz(stream: *mut c_void, status: *mut u32) {
        check(stream)?;
        put(status, 0)
    }

    fn cudaLaunchHostFunc / cudaLaunchHostFunc_ptsz(stream: *mut c_void, function: Option<HostFunction>, data: *mut c_void) {
        device_ok()?;
        check(stream)?;
        function.ok_or(CudaError::INVALID_VALUE)?(data);
        Ok(())
    }

    fn cudaStreamAddCallback / cudaStreamAddCallback_ptsz(
        stream: *mut c_void, callback: Option<StreamCallback>, data: *mut c_void, flags: u32
    ) {
        check(stream)?;
        if flags != 0 { return Err(CudaError::INVALID_VALUE); }
        let status = device_ok().err().map_or(0, |error| error.0);
        callback.ok_or(CudaError::INVALID_VALUE)?(stream, status, data);
        Ok(())
    }

    fn cudaDeviceGetStreamPriorityRange(least: *mut i32, greatest: *mut i32) {
        if !least.is_null() { put(least, PRIORITIES.0)?; }
        if !greatest.is_null() { put(greatest, PRIORITIES.1)?; }
        Ok(())
    }

    fn cudaDeviceSynchronize() {
        synchronize(std::ptr::null_mut())
    }

    fn cudaThreadSynchronize() {
        synchronize(std::ptr::null_mut())
    }
}
