//! Events: points in time. Since all earlier work is done when an event is recorded, recording takes the time and
//! the difference of two is the real time that the work between them took.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use crate::error::{CudaError, Result, device_ok};
use crate::macros::{cuda_api, put};
use crate::stream;

const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;

struct Event {
    flags: u32,
    recorded: Option<Instant>,
}

fn events() -> MutexGuard<'static, HashMap<usize, Event>> {
    static EVENTS: OnceLock<Mutex<HashMap<usize, Event>>> = OnceLock::new();
    EVENTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether an event handle is valid.
pub fn check(event: *mut c_void) -> Result {
    if events().contains_key(&(event as usize)) { Ok(()) } else { Err(CudaError::INVALID_RESOURCE_HANDLE) }
}

fn create(flags: u32) -> Result<*mut c_void> {
    static NEXT: AtomicUsize = AtomicUsize::new(0x4556_0010);
    device_ok()?;
    if flags & INTERPROCESS != 0 {
        return Err(CudaError::NOT_SUPPORTED);
    }
    if flags & !3 != 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let handle = NEXT.fetch_add(16, Ordering::Relaxed);
    events().insert(handle, Event { flags, recorded: None });
    Ok(handle as *mut c_void)
}

fn record(event: *mut c_void, on: *mut c_void) -> Result {
    device_ok()?;
    stream::check(on)?;
    let now = Instant::now();
    events().get_mut(&(event as usize)).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?.recorded = Some(now);
    Ok(())
}

fn synchronize(event: *mut c_void) -> Result {
    check(event)?;
    crate::printf::flush();
    device_ok()
}

fn elapsed(start: *mut c_void, end: *mut c_void) -> Result<f32> {
    let events = events();
    let time = |event: *mut c_void| {
        let event = events.get(&(event as usize)).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
        if event.flags & DISABLE_TIMING != 0 {
            return Err(CudaError::INVALID_RESOURCE_HANDLE);
        }
        event.recorded.ok_or(CudaError::INVALID_RESOURCE_HANDLE)
    };
    let (start, end) = (time(start)?, time(end)?);
    let forward = end.saturating_duration_since(start).as_secs_f64();
    let backward = start.saturating_duration_since(end).as_secs_f64();
    Ok(((forward - backward) * 1e3) as f32)
}

cuda_api! {
    fn cudaEventCreate(event: *mut *mut c_void) {
        if event.is_null() { return Err(CudaError::INVALID_VALUE); }
        put(event, create(0)?)
    }

    fn cudaEventCreateWithFlags(event: *mut *mut c_void, flags: u32) {
        if event.is_null() { return Err(CudaError::INVALID_VALUE); }
        put(event, create(flags)?)
    }

    fn cudaEventRecord / cudaEventRecord_ptsz(event: *mut c_void, stream: *mut c_void) {
        record(event, stream)
    }

    fn cudaEventRecordWithFlags / cudaEventRecordWithFlags_ptsz(event: *mut c_void, stream: *mut c_void, flags: u32) {
        if flags > 1 { return Err(CudaError::INVALID_VALUE); }
        record(event, stream)
    }

    fn cudaEventQuery(event: *mut c_void) {
        synchronize(event)
    }

    fn cudaEventSynchronize(event: *mut c_void) {
        synchronize(event)
    }

    fn cudaEventDestroy(event: *mut c_void) {
        events().remove(&(event as usize)).map(drop).ok_or(CudaError::INVALID_RESOURCE_HANDLE)
    }

    fn cudaEventElapsedTime(milliseconds: *mut f32, start: *mut c_void, end: *mut c_void) {
        device_ok()?;
        put(milliseconds, elapsed(start, end)?)
    }

    fn cudaEventElapsedTime_v2(milliseconds: *mut f32, start: *mut c_void, end: *mut c_void) {
        device_ok()?;
        put(milliseconds, elapsed(start, end)?)
    }
}
