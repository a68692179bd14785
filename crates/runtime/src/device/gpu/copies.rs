//! What copies of all vendors have in common.

use super::layout::{Code, Handle};
use super::vendor::Vendor;
use crate::device::seam::{Copies, Fill, Order, Window};
use crate::error::{CudaError, Result};
use crate::types::{DEFAULT, DEVICE_TO_DEVICE, DEVICE_TO_HOST, Extent, HOST_TO_DEVICE, PitchedPtr};

/// What lies on the other side of a copy between an array and memory.
pub enum Side {
    Host,
    Device,
    /// The pointer tells.
    Unified,
}

/// What the memory of a copy between an array and memory is, by the direction that the program names.
pub fn memory_side(window: &Window) -> Result<Side> {
    match (window.kind, window.into_array) {
        (HOST_TO_DEVICE, true) | (DEVICE_TO_HOST, false) => Ok(Side::Host),
        (DEVICE_TO_DEVICE, _) => Ok(Side::Device),
        (DEFAULT, _) => Ok(Side::Unified),
        _ => Err(CudaError::INVALID_MEMCPY_DIRECTION),
    }
}

/// Whether a region holds nothing.
pub fn is_empty(extent: Extent) -> bool {
    extent.width == 0 || extent.height == 0 || extent.depth == 0
}

/// Does something at once, or on a stream; `order` says which. What the call waits for is done at once on the legacy
/// default stream; on a thread's own default stream it is done on the stream, which is then waited for.
pub fn ordered(
    device: &impl Vendor,
    order: Order,
    now: impl FnOnce() -> Code,
    later: impl FnOnce(Handle) -> Code,
) -> Result {
    let legacy = (order.stream as usize) < 2;
    if order.waits && legacy {
        device.done(now())?;
        return device.waited(false);
    }
    let stream = device.stream(order.stream);
    device.done(later(stream))?;
    if order.waits {
        // SAFETY: a stream of the program's, or the thread's default stream.
        device.done(unsafe { (device.functions().stream_synchronize)(stream) })?;
        device.waited(false)?;
    }
    Ok(())
}

/// Fills memory of a GPU by functions for one row and for several.
///
/// # Safety
/// The region is valid.
pub unsafe fn fill(device: &impl Vendor, fill: &Fill, order: Order, rows: impl FnOnce(Order) -> Result) -> Result {
    device.enter()?;
    let Fill { to, pitch, value, width, height } = *fill;
    if width == 0 || height == 0 {
        return Ok(());
    }
    if height > 1 && width > pitch {
        return Err(CudaError::INVALID_PITCH);
    }
    if height > 1 {
        return rows(order);
    }
    let (functions, to) = (device.functions(), to as u64);
    ordered(
        device,
        order,
        // SAFETY: by contract.
        || unsafe { (functions.fill)(to, value, width) },
        // SAFETY: by contract.
        |stream| unsafe { (functions.fill_async)(to, value, width, stream) },
    )
}

/// Fills a cuboid, slice by slice.
///
/// # Safety
/// The region is valid.
pub unsafe fn fill_slices(device: &impl Copies, to: PitchedPtr, value: u8, extent: Extent, order: Order) -> Result {
    let slice = to.pitch.checked_mul(to.ysize).ok_or(CudaError::INVALID_VALUE)?;
    for z in 0..extent.depth {
        let at = (to.ptr as usize).wrapping_add(z * slice) as *mut std::ffi::c_void;
        let fill = Fill { to: at, pitch: to.pitch, value, width: extent.width, height: extent.height };
        // SAFETY: by contract, slice by slice.
        unsafe { device.fill(&fill, order)? };
    }
    Ok(())
}
