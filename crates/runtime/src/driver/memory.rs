//! Allocation, and what is known of pointers.

use std::ffi::c_void;

use super::frame::{current, driver_api, started};
use super::known;
use crate::api::memory as runtime;
use crate::device::seam::{Device, Space, Stream};
use crate::error::{CudaError, Result, check, quietly};
use crate::macros::put;
use crate::types::Location;

/// An address on the device.
type Pointer = usize;

/// Values of `CUmemorytype` and of `cudaMemoryType`: host memory, device memory, and of the runtime alone managed
/// memory.
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const MANAGED: u32 = 3;

/// Values of `CUpointer_attribute`.
mod which {
    pub const CONTEXT: u32 = 1;
    pub const MEMORY_TYPE: u32 = 2;
    pub const DEVICE_POINTER: u32 = 3;
    pub const HOST_POINTER: u32 = 4;
    pub const SYNC_MEMOPS: u32 = 6;
    pub const BUFFER_ID: u32 = 7;
    pub const IS_MANAGED: u32 = 8;
    pub const DEVICE_ORDINAL: u32 = 9;
    pub const IPC_CAPABLE: u32 = 10;
    pub const RANGE_START: u32 = 11;
    pub const RANGE_SIZE: u32 = 12;
    pub const MAPPED: u32 = 13;
}

/// Writes an attribute of a pointer.
///
/// # Safety
/// `data` is valid for what the attribute is.
unsafe fn attribute(device: &dyn Device, data: *mut c_void, asked: u32, pointer: Pointer) -> Result {
    check(!data.is_null())?;
    let known = device.pointer_attributes(pointer as *const c_void)?;
    check(known.kind != 0)?;
    let range = || device.allocation(pointer as *const c_void);
    // SAFETY: by contract.
    unsafe {
        match asked {
            which::CONTEXT => put(data.cast(), known::primary_of(known.ordinal)),
            which::MEMORY_TYPE => put(data.cast(), if known.kind == HOST { HOST } else { DEVICE }),
            which::DEVICE_POINTER => put(data.cast(), known.device),
            which::HOST_POINTER if known.host.is_null() => Err(CudaError::INVALID_VALUE),
            which::HOST_POINTER => put(data.cast(), known.host),
            which::SYNC_MEMOPS | which::IPC_CAPABLE => put(data.cast(), 0_u32),
            which::BUFFER_ID => put(data.cast(), range()?.0 as u64),
            which::IS_MANAGED => put(data.cast(), u32::from(known.kind == MANAGED)),
            which::DEVICE_ORDINAL => put(data.cast(), known.ordinal),
            which::RANGE_START => put(data.cast(), range()?.0),
            which::RANGE_SIZE => put(data.cast(), range()?.1),
            which::MAPPED => put(data.cast(), 1_u32),
            _ => Err(CudaError::NOT_SUPPORTED),
        }
    }
}

/// `CUmemLocation` or a device's number, of which -1 is the host.
fn location(device: i32) -> Location {
    if device < 0 { Location { kind: 2, id: 0 } } else { Location { kind: 1, id: device } }
}

/// # Safety
/// `pointer` is null or valid for a write.
unsafe fn allocate(pointer: *mut Pointer, size: usize, space: Space) -> Result {
    check(!pointer.is_null() && size != 0)?;
    // SAFETY: by contract.
    unsafe { put(pointer, current()?.allocate(size, space, 0)? as usize) }
}

driver_api! {
    fn cuMemAlloc_v2(pointer: *mut Pointer, size: usize) { allocate(pointer, size, Space::Device) }
    fn cuMemAllocHost_v2(pointer: *mut Pointer, size: usize) { allocate(pointer, size, Space::Host) }
    fn cuMemAllocPitch_v2(pointer: *mut Pointer, pitch: *mut usize, width: usize, height: usize, element: u32) {
        check(!pointer.is_null() && !pitch.is_null() && width != 0 && height != 0 && matches!(element, 4 | 8 | 16))?;
        let (found, row) = current()?.allocate_pitched(width, height)?;
        put(pitch, row)?;
        put(pointer, found as usize)
    }
    fn cuMemFree_v2(pointer: Pointer) {
        current()?;
        quietly(|| runtime::cudaFree(pointer as *mut c_void))
    }
    fn cuMemGetAddressRange_v2(start: *mut Pointer, size: *mut usize, pointer: Pointer) {
        let (found, bytes) = current()?.allocation(pointer as *const c_void).map_err(|error| match error {
            CudaError::INVALID_VALUE => CudaError::SYMBOL_NOT_FOUND,
            other => other,
        })?;
        if !start.is_null() { put(start, found)?; }
        if size.is_null() { Ok(()) } else { put(size, bytes) }
    }

    fn cuPointerGetAttribute(data: *mut c_void, asked: u32, pointer: Pointer) {
        attribute(started()?, data, asked, pointer)
    }
    fn cuPointerGetAttributes(count: u32, asked: *const u32, data: *mut *mut c_void, pointer: Pointer) {
        check(count != 0 && !asked.is_null() && !data.is_null())?;
        let device = started()?;
        for at in 0..count as usize {
            let (asked, place) = (*asked.add(at), *data.add(at));
            check(!place.is_null())?;
            // What a pointer has not, as one to memory that is not CUDA's, is zero here.
            if let Err(error) = attribute(device, place, asked, pointer) {
                let wide = matches!(
                    asked,
                    which::CONTEXT | which::DEVICE_POINTER | which::HOST_POINTER | which::BUFFER_ID
                        | which::RANGE_START | which::RANGE_SIZE
                );
                match error {
                    CudaError::INVALID_VALUE if asked == which::DEVICE_ORDINAL => put(place.cast(), -2)?,
                    CudaError::INVALID_VALUE if wide => put(place.cast(), 0_u64)?,
                    CudaError::INVALID_VALUE => put(place.cast(), 0_u32)?,
                    other => return Err(other),
                }
            }
        }
        Ok(())
    }
    fn cuPointerSetAttribute(value: *const c_void, asked: u32, pointer: Pointer) {
        check(!value.is_null() && asked == which::SYNC_MEMOPS)?;
        started()?.allocation(pointer as *const c_void).map(drop)
    }

    fn cuMemPrefetchAsync / cuMemPrefetchAsync_ptsz [on] (
        pointer: Pointer, count: usize, device: i32, stream: Stream
    ) {
        current()?.prefetch(pointer as *const c_void, count, location(device), on.stream(stream))
    }
    fn cuMemPrefetchAsync_v2 / cuMemPrefetchAsync_v2_ptsz [on] (
        pointer: Pointer, count: usize, to: Location, flags: u32, stream: Stream
    ) {
        check(flags == 0)?;
        current()?.prefetch(pointer as *const c_void, count, to, on.stream(stream))
    }
    fn cuMemAdvise(pointer: Pointer, count: usize, advice: u32, device: i32) {
        current()?.advise(pointer as *const c_void, count, advice, location(device))
    }
    fn cuMemAdvise_v2(pointer: Pointer, count: usize, advice: u32, to: Location) {
        current()?.advise(pointer as *const c_void, count, advice, to)
    }
}
