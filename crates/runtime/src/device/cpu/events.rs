//! Events: points in the work of a stream, and the times when that got there.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use super::checks::{self, Order};
use super::failure::device_ok;
use super::graphs::capture;
use super::interprocess::Shared;
use super::kept::Kept;
use super::machine::Cpu;
use super::streams::{self, finish};
use super::{later, runners};
use crate::device::seam::{Events, Foreign, Stream};
use crate::error::{CudaError, Result};

const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;

/// A place in the work of a stream.
pub struct Point {
    reached: OnceLock<Instant>,
    pub stream: Arc<streams::Stream>,
    /// What other processes are to know of it.
    shared: Option<(Arc<Shared>, u64)>,
}

impl Point {
    pub fn new(stream: Arc<streams::Stream>) -> Self {
        Self { reached: OnceLock::new(), stream, shared: None }
    }

    pub fn reach(&self) {
        self.reached.get_or_init(Instant::now);
        if let Some((shared, number)) = &self.shared {
            shared.reach(*number);
        }
    }

    pub fn is_reached(&self) -> bool {
        self.reached.get().is_some()
    }
}

struct Event {
    flags: u32,
    /// Where it was recorded last.
    point: Option<Arc<Point>>,
    shared: Option<Arc<Shared>>,
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
    device_ok()?;
    // Processes have no time in common.
    if flags & !7 != 0 || flags & INTERPROCESS != 0 && flags & DISABLE_TIMING == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let shared = if flags & INTERPROCESS == 0 { None } else { Some(Shared::new()?) };
    Ok(insert(flags, shared))
}

fn insert(flags: u32, shared: Option<Arc<Shared>>) -> *mut c_void {
    static NEXT: AtomicUsize = AtomicUsize::new(0x4556_0010);
    let handle = NEXT.fetch_add(16, Ordering::Relaxed);
    events().insert(handle, Event { flags, point: None, shared });
    handle as *mut c_void
}

/// What other processes know of an event; nothing of most.
fn shared(event: *mut c_void) -> Result<Option<Arc<Shared>>> {
    let events = events();
    let event = events.get(&(event as usize)).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
    Ok(event.shared.clone())
}

/// A record of an event that another process asked for last and that is not reached.
pub fn elsewhere(event: *mut c_void) -> Result<Option<(Arc<Shared>, u64)>> {
    let Some(shared) = shared(event)? else { return Ok(None) };
    let Some(number) = shared.ahead() else { return Ok(None) };
    let mine = ahead(event)?.is_some_and(|point| point.shared.as_ref().is_some_and(|known| known.1 == number));
    Ok((!mine).then_some((shared, number)))
}

/// Waits for what another process was asked for.
pub fn wait_elsewhere(event: *mut c_void) -> Result {
    elsewhere(event)?.map_or(Ok(()), |(shared, number)| shared.wait(number))
}

/// A point in the work of a stream, for an event.
fn point(event: *mut c_void, on: *mut c_void) -> Result<Arc<Point>> {
    let shared = shared(event)?.map(|shared| {
        let number = shared.ask();
        (shared, number)
    });
    Ok(Arc::new(Point { shared, ..Point::new(streams::get(on)?) }))
}

/// Where an event was recorded last, unless that has been reached.
pub fn ahead(event: *mut c_void) -> Result<Option<Arc<Point>>> {
    let events = events();
    let event = events.get(&(event as usize)).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
    Ok(event.point.clone().filter(|point| !point.is_reached()))
}

fn set(event: *mut c_void, point: &Arc<Point>) -> Result {
    let mut events = events();
    let event = events.get_mut(&(event as usize)).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
    event.point = Some(point.clone());
    Ok(())
}

/// Records an event: all earlier work of the stream is done.
pub fn record(event: *mut c_void, on: *mut c_void) -> Result {
    device_ok()?;
    let point = point(event, on)?;
    checks::order(Order::Records(event as usize, &point.stream));
    point.reach();
    set(event, &point)
}

/// Records an event behind what the stream has to do.
fn record_later(event: *mut c_void, on: *mut c_void) -> Result<Kept> {
    let point = point(event, on)?;
    set(event, &point)?;
    Ok(Kept::Record(point))
}

/// Waits for an event.
pub fn wait(event: *mut c_void) -> Result {
    wait_elsewhere(event)?;
    match ahead(event)? {
        None => Ok(()),
        Some(point) => runners::wait_for_point(&point),
    }
}

fn synchronize(event: *mut c_void) -> Result {
    check(event)?;
    capture::refuse_event(event)?;
    checks::order(Order::HostWaitsForEvent(event as usize));
    wait(event)?;
    finish()
}

fn query(event: *mut c_void) -> Result {
    check(event)?;
    capture::refuse_event(event)?;
    match (ahead(event)?, elsewhere(event)?) {
        (None, None) => {
            checks::order(Order::HostWaitsForEvent(event as usize));
            finish()
        }
        _ => runners::not_ready(),
    }
}

fn elapsed(start: *mut c_void, end: *mut c_void) -> Result<f32> {
    let events = events();
    let time = |event: *mut c_void| {
        let event = events.get(&(event as usize)).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
        if event.flags & DISABLE_TIMING != 0 {
            return Err(CudaError::INVALID_RESOURCE_HANDLE);
        }
        let point = event.point.as_ref().ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
        point.reached.get().copied().ok_or(CudaError::NOT_READY)
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
        capture::record_event(event, stream, || {
            device_ok()?;
            check(event)?;
            let choice = || record_later(event, stream).map(later::Choice::Later);
            later::submit(stream, false, || Some(0), None, choice, |_| record(event, stream))
        })
    }

    fn query_event(&self, event: *mut c_void) -> Result {
        query(event)
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

    fn event_handle(&self, event: *mut c_void) -> Result<Foreign> {
        shared(event)?.ok_or(CudaError::INVALID_RESOURCE_HANDLE)?.handle()
    }

    fn open_event(&self, handle: &Foreign) -> Result<*mut c_void> {
        device_ok()?;
        Ok(insert(INTERPROCESS | DISABLE_TIMING, Some(Shared::open(handle)?)))
    }
}
