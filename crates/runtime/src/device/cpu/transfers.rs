//! Copies, fills and arrays. Copies and fills of rows between the device and pinned memory may be kept for later; the others are done when the
//! call returns, behind what their stream has to do.

use std::ffi::c_void;

use super::failure::device_ok;
use super::graphs::capture;
use super::graphs::work::Work;
use super::kept::Kept;
use super::later::{self, Choice};
use super::machine::Cpu;
use super::trace::Event;
use super::{arrays, checks, copies, heap, kernel, runners, streams};
use crate::device::seam::{Arrays, Copies, Copy2d, Fill, Order, Window};
use crate::error::{CudaError, Result};
use crate::types::{
    ChannelFormat, Copy3d, Copy3dPeer, DEVICE_TO_DEVICE, DEVICE_TO_HOST, Extent, HOST_TO_DEVICE, MemsetNode, PitchedPtr,
};

/// What is said of a copy of so many bytes, by its `cudaMemcpyKind`.
fn a_copy(kind: u32, bytes: usize) -> Event {
    let name = match kind {
        HOST_TO_DEVICE => "copy host to device",
        DEVICE_TO_HOST => "copy device to host",
        DEVICE_TO_DEVICE => "copy device to device",
        _ => "copy",
    };
    Event::new("copy", name).number("bytes", bytes as u64)
}

/// Extents of copies with arrays count elements.
fn a_copy_3d(kind: u32, extent: Extent, arrays: [*mut c_void; 2]) -> Event {
    if arrays.iter().all(|array| array.is_null()) {
        a_copy(kind, copies::volume(extent))
    } else {
        Event::new("copy", "copy with an array")
    }
}

fn a_window(window: &Window) -> Event {
    let name = if window.into_array { "copy into an array" } else { "copy out of an array" };
    Event::new("copy", name).number("bytes", (window.width * window.height) as u64)
}

fn a_fill(bytes: usize) -> Event {
    Event::new("fill", "fill").number("bytes", bytes as u64)
}

/// Up to so many bytes of memory of the host that is not pinned are kept aside for a copy, as CUDA does.
const MOST_STAGED: usize = 64 << 10;

/// Whether memory is the host's own: a copy is through with it when the call returns.
fn is_pageable(memory: *const c_void) -> bool {
    heap::find(memory).is_none() && !kernel::in_variable(memory as usize, 1)
}

/// How `work` is to be kept for later, with all checks that it would meet.
fn choice(work: &Work) -> Result<Choice> {
    device_ok()?;
    let later = || Ok(Choice::Later(Kept::Work(work.clone())));
    match work {
        Work::Copy { to, from, count, kind } if *count != 0 => {
            copies::check_copy(*to, *count, *from, *count, *kind)?;
            match (is_pageable(*to), is_pageable(*from)) {
                (false, false) => later(),
                (false, true) if *count <= MOST_STAGED => {
                    // SAFETY: by the contract of who asks for the copy.
                    let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), *count) };
                    Ok(Choice::Later(Kept::Staged { to: *to, bytes: bytes.into() }))
                }
                _ => Ok(Choice::Wait),
            }
        }
        Work::Copy2d(copy) if copies::check_2d(copy)? && !is_pageable(copy.to) && !is_pageable(copy.from) => later(),
        Work::Fill2d(fill) if copies::check_fill(fill)? => later(),
        _ => Ok(Choice::Wait),
    }
}

/// Whether the host may have to wait for what it does not ask to wait for.
fn may_wait(work: &Work) -> bool {
    match work {
        Work::Copy { to, from, .. } => is_pageable(*to) || is_pageable(*from),
        Work::Copy2d(copy) => is_pageable(copy.to) || is_pageable(copy.from),
        Work::Fill2d(_) | Work::Fill3d(..) | Work::Fill(_) => false,
        _ => true,
    }
}

/// Does `work` in the order of its stream, or keeps it where the stream records; what the call waits for cannot be kept.
fn done(order: Order, work: &Work, says: impl Fn() -> Event) -> Result {
    streams::check(order.stream)?;
    let (stream, says): (_, &dyn Fn() -> Event) = (order.stream, &says);
    if order.waits {
        capture::refuse_on(stream)?;
        return later::at_once(stream, Some(says), |way| work.run(stream, way));
    }
    let now = || {
        let now = |way| work.run(stream, way);
        let done = later::submit(stream, false, || work.cost(), Some(says), || choice(work), now);
        if checks::checker().is_some() && may_wait(work) {
            checks::order(checks::Order::HostWaitsFor(&*streams::get(stream)?));
        }
        done
    };
    capture::recorded(stream, || Ok(work.clone()), now)
}

impl Copies for Cpu {
    unsafe fn copy(&self, to: *mut c_void, from: *const c_void, count: usize, kind: u32, order: Order) -> Result {
        done(order, &Work::Copy { to, from, count, kind }, || a_copy(kind, count))
    }

    unsafe fn copy_2d(&self, copy: &Copy2d, order: Order) -> Result {
        done(order, &Work::Copy2d(*copy), || a_copy(copy.kind, copy.width * copy.height))
    }

    unsafe fn copy_3d(&self, copy: &Copy3d, order: Order) -> Result {
        done(order, &Work::Copy3d(*copy), || a_copy_3d(copy.kind, copy.extent, [copy.src_array, copy.dst_array]))
    }

    unsafe fn copy_peer(
        &self,
        to: (*mut c_void, i32),
        from: (*const c_void, i32),
        count: usize,
        order: Order,
    ) -> Result {
        if to.1 != 0 || from.1 != 0 {
            return Err(CudaError::INVALID_DEVICE);
        }
        // SAFETY: by contract.
        unsafe { self.copy(to.0, from.0, count, DEVICE_TO_DEVICE, order) }
    }

    unsafe fn copy_3d_peer(&self, copy: &Copy3dPeer, order: Order) -> Result {
        let says = || a_copy_3d(DEVICE_TO_DEVICE, copy.extent, [copy.src_array, copy.dst_array]);
        done(order, &Work::CopyPeer(*copy), says)
    }

    unsafe fn fill(&self, fill: &Fill, order: Order) -> Result {
        done(order, &Work::Fill2d(*fill), || a_fill(fill.width * fill.height))
    }

    unsafe fn fill_3d(&self, to: PitchedPtr, value: u8, extent: Extent, order: Order) -> Result {
        done(order, &Work::Fill3d(to, value, extent), || a_fill(copies::volume(extent)))
    }

    unsafe fn fill_elements(&self, fill: &MemsetNode, order: Order) -> Result {
        done(order, &Work::Fill(*fill), || a_fill(fill.width * fill.height * fill.element as usize))
    }
}

impl Arrays for Cpu {
    fn create_array(&self, format: ChannelFormat, extent: Extent, flags: u32) -> Result<*mut c_void> {
        capture::refuse()?;
        arrays::create(format, extent, flags)
    }

    fn free_array(&self, array: *mut c_void) -> Result {
        runners::wait_for_all()?;
        arrays::free(array)
    }

    fn array_info(&self, array: *const c_void) -> Result<(ChannelFormat, Extent, u32)> {
        arrays::info(array)
    }

    unsafe fn copy_window(&self, window: &Window, order: Order) -> Result {
        done(order, &Work::Window(*window), || a_window(window))
    }

    unsafe fn copy_run(&self, window: &Window, order: Order) -> Result {
        done(order, &Work::Run(*window), || a_window(window))
    }
}
