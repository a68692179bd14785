//! Events: points in time. Since all earlier work is done when an event is recorded, recording takes the time and
//! the difference of two is the real time that the work between them took.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use super::failure::device_ok;
use super::graphs::capture;
use super::machine::Cpu;
use super::streams;
use crate::device::printf;
use crate::device::seam::{Events, Stream};
use crate::error::{CudaError, Result};

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

/// Records an event: all earlier work is done.
pub fn record(event: *mut c_void, on: *mut c_void) -> Result {
    device_ok()?;
    streams::check(on)?;
    let now = Instant::now();
    events().get_mut(&(event as usize)).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?.recorded = Some(now);
    Ok(())
}

fn synchronize(event: *mut c_void) -> Result {
    check(event)?;
    capture::refuse_event(event)?;
    printf::flush();
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

impl Events for Cpu {
    fn create_event(&self, flags: u32) -> Result<*mut c_void> {
        create(flags)
    }

    fn record_event(&self, event: *mut c_void, stream: Stream, _flags: u32) -> Result {
        capture::record_event(event, stream, || record(event, stream))
    }

    fn query_event(&self, event: *mut c_void) -> Result {
        synchronize(event)
    }

    fn synchronize_event(&self, event: *mut c_void) -> Result {
        synchronize(event)
    }

    fn destroy_event(&self, event: *mut c_void) -> Result {
        events().remove(&(event as usize)).map(drop).ok_or(CudaError::INVALID_RESOURCE_HANDLE)
    }

    fn elapsed(&self, start: *mut c_void, end: *mut c_void) -> Result<f32> {
        device_ok()?;
        elapsed(start, end)
    }
}
