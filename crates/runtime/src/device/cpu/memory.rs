//! Allocation and pointers.

use std::cell::Cell;
use std::ffi::c_void;

use super::failure::device_ok;
use super::graphs::graph::{Graph, Name};
use super::graphs::work::Work;
use super::graphs::{capture, memory as of_graphs};
use super::heap::{self, Kind, PITCH, find};
use super::kept::Kept;
use super::later::{self, Choice};
use super::limits::{check_device, total_memory};
use super::machine::Cpu;
use super::{advice, interprocess, kernel, pools, runners, streams};
use crate::device::seam::{Foreign, Memory, Space, Stream};
use crate::error::{CudaError, Result, check};
use crate::types::{Location, PointerAttributes};

/// Memory of the host that the device reaches.
fn host_memory(host: *mut c_void) -> Result<heap::Allocation> {
    find(host).filter(|found| matches!(found.kind, Kind::Host | Kind::Registered)).ok_or(CudaError::INVALID_VALUE)
}

/// Whether memory may be allocated and freed now.
fn ready() -> Result {
    device_ok()?;
    capture::refuse()
}

fn check_location(location: Location) -> Result {
    match location.kind {
        1 => check_device(location.id),
        2..=4 => Ok(()),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// Whether memory may be freed now: it waits for the work of all streams, which may use it.
fn done() -> Result {
    ready()?;
    runners::wait_for_all()
}

/// Memory of a pool in the order of a stream: of a graph, where the stream records one.
pub fn allocate_in_order(size: usize, pool: usize, stream: Stream) -> Result<*mut c_void> {
    let mut made = std::ptr::null_mut();
    let found = Cell::new(made);
    let node = |graph: &Graph, after: &[Name]| {
        let region = of_graphs::for_node(graph, after, size)?;
        found.set(region.pointer());
        Ok(Work::Allocate(region))
    };
    let now = || {
        made = heap::allocate(size, Kind::Device, 0)?;
        heap::count_for(pool, made);
        Ok(())
    };
    capture::recorded_in(stream, node, now)?;
    Ok(if made.is_null() { found.get() } else { made })
}

/// Frees memory behind the work of a stream.
fn free_behind(pointer: *mut c_void) -> Result<Choice> {
    heap::begin_release(pointer, &[Kind::Device])?;
    Ok(Choice::Later(Kept::Free(pointer)))
}

impl Memory for Cpu {
    fn allocate(&self, size: usize, space: Space, flags: u32) -> Result<*mut c_void> {
        ready()?;
        let kind = match space {
            Space::Device => Kind::Device,
            Space::Managed => Kind::Managed,
            Space::Host => Kind::Host,
        };
        heap::allocate(size, kind, flags)
    }

    fn free(&self, pointer: *mut c_void) -> Result {
        done()?;
        match of_graphs::find(pointer) {
            Some(region) => of_graphs::free(&region),
            None => heap::release(pointer, &[Kind::Device, Kind::Managed]),
        }
    }

    fn free_host(&self, pointer: *mut c_void) -> Result {
        done()?;
        heap::release(pointer, &[Kind::Host])
    }

    fn allocate_async(&self, size: usize, stream: Stream) -> Result<*mut c_void> {
        device_ok()?;
        streams::check(stream)?;
        allocate_in_order(size, pools::current(), stream)
    }

    fn free_async(&self, pointer: *mut c_void, stream: Stream) -> Result {
        device_ok()?;
        streams::check(stream)?;
        let region = of_graphs::find(pointer);
        let node = || region.clone().map(Work::Free).ok_or(CudaError::INVALID_VALUE);
        capture::recorded(stream, node, || match &region {
            Some(region) => {
                of_graphs::free(region)?;
                // It stays until its stream has got there.
                let kept = || Ok(Choice::Later(Kept::Work(Work::Free(region.clone()))));
                later::submit(stream, false, || Some(0), None, kept, |_| Ok(()))
            }
            None => {
                let now = |_| heap::release(pointer, &[Kind::Device]);
                later::submit(stream, false, || Some(0), None, || free_behind(pointer), now)
            }
        })
    }

    fn allocate_pitched(&self, width: usize, height: usize) -> Result<(*mut c_void, usize)> {
        ready()?;
        let row = width.next_multiple_of(PITCH);
        Ok((heap::allocate(row.checked_mul(height).ok_or(CudaError::MEMORY_ALLOCATION)?, Kind::Device, 0)?, row))
    }

    fn register(&self, pointer: *mut c_void, size: usize, flags: u32) -> Result {
        device_ok()?;
        heap::register(pointer, size, flags)
    }

    fn unregister(&self, pointer: *mut c_void) -> Result {
        runners::wait_for_all()?;
        heap::unregister(pointer)
    }

    fn device_pointer(&self, host: *mut c_void) -> Result<*mut c_void> {
        host_memory(host).map(|_| host)
    }

    fn host_flags(&self, host: *mut c_void) -> Result<u32> {
        host_memory(host).map(|found| found.flags)
    }

    fn memory_info(&self) -> Result<(usize, usize)> {
        device_ok()?;
        let all = total_memory();
        Ok((all.saturating_sub(heap::used()), all))
    }

    fn pointer_attributes(&self, pointer: *const c_void) -> Result<PointerAttributes> {
        let unified = pointer.cast_mut();
        let null = std::ptr::null_mut();
        let (kind, device, host) = match find(pointer).map(|found| found.kind) {
            Some(Kind::Host | Kind::Registered) => (1, unified, unified),
            Some(Kind::Device) => (2, unified, null),
            Some(Kind::Managed) => (3, unified, unified),
            None if kernel::in_variable(pointer as usize, 1) => (2, unified, null),
            None => (0, null, unified),
        };
        let ordinal = if kind == 0 { -2 } else { 0 };
        Ok(PointerAttributes { kind, ordinal, device, host })
    }

    fn allocation(&self, pointer: *const c_void) -> Result<(usize, usize)> {
        let found = find(pointer).map(|found| (found.start, found.size));
        found.or_else(|| kernel::variable_at(pointer as usize)).ok_or(CudaError::INVALID_VALUE)
    }

    fn prefetch(&self, pointer: *const c_void, count: usize, to: Location, stream: Stream) -> Result {
        device_ok()?;
        streams::check(stream)?;
        check_location(to)?;
        heap::advisable(pointer, count)?;
        advice::prefetched(pointer as usize, count, to);
        Ok(())
    }

    fn advise(&self, pointer: *const c_void, count: usize, advice: u32, location: Location) -> Result {
        device_ok()?;
        check_location(location)?;
        heap::advisable(pointer, count)?;
        advice::advise(pointer as usize, count, advice, location);
        Ok(())
    }

    fn range_attribute(&self, pointer: *const c_void, count: usize, which: u32, room: usize) -> Result<Vec<i32>> {
        device_ok()?;
        check(count != 0)?;
        heap::advisable(pointer, count)?;
        advice::attribute(pointer as usize, count, which, room)
    }

    fn memory_handle(&self, pointer: *mut c_void) -> Result<Foreign> {
        done()?;
        if of_graphs::find(pointer).is_some() {
            return Err(CudaError::NOT_SUPPORTED);
        }
        interprocess::of_memory(pointer)
    }

    fn open_memory(&self, handle: &Foreign) -> Result<*mut c_void> {
        device_ok()?;
        interprocess::open_memory(handle)
    }

    fn close_memory(&self, pointer: *mut c_void) -> Result {
        done()?;
        interprocess::close_memory(pointer)
    }
}
