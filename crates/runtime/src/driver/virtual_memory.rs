//! Virtual memory: addresses and memory apart.

use std::ffi::c_void;

use super::frame::{current, driver_api, started};
use crate::error::{CudaError, check};
use crate::macros::put;
use crate::types::{Access, Location, MemoryProperties};

type Pointer = usize;

driver_api! {
    fn cuMemGetAllocationGranularity(granularity: *mut usize, asked: *const MemoryProperties, option: u32) {
        check(option <= 1)?;
        put(granularity, started()?.granularity(asked.as_ref().ok_or(CudaError::INVALID_VALUE)?)?)
    }
    fn cuMemCreate(handle: *mut u64, size: usize, asked: *const MemoryProperties, flags: u64) {
        check(!handle.is_null() && flags == 0)?;
        put(handle, started()?.create_memory(size, asked.as_ref().ok_or(CudaError::INVALID_VALUE)?)?)
    }
    fn cuMemRelease(handle: u64) { started()?.release_memory(handle) }
    fn cuMemGetAllocationPropertiesFromHandle(properties: *mut MemoryProperties, handle: u64) {
        put(properties, started()?.memory_properties(handle)?)
    }
    fn cuMemRetainAllocationHandle(handle: *mut u64, address: Pointer) {
        check(!handle.is_null())?;
        put(handle, started()?.retain_memory(address)?)
    }
    fn cuMemAddressReserve(pointer: *mut Pointer, size: usize, alignment: usize, wanted: Pointer, flags: u64) {
        check(!pointer.is_null() && flags == 0)?;
        put(pointer, started()?.reserve(size, alignment, wanted)?)
    }
    fn cuMemAddressFree(pointer: Pointer, size: usize) { started()?.unreserve(pointer, size) }
    fn cuMemMap(pointer: Pointer, size: usize, offset: usize, handle: u64, flags: u64) {
        check(flags == 0)?;
        current()?.map_memory(pointer, size, offset, handle)
    }
    fn cuMemUnmap(pointer: Pointer, size: usize) { started()?.unmap_memory(pointer, size) }
    fn cuMemSetAccess(pointer: Pointer, size: usize, list: *const Access, count: usize) {
        check(!list.is_null() && count > 0)?;
        for at in 0..count {
            let Access { location, flags } = &*list.add(at);
            current()?.set_access(pointer, size, *location, *flags)?;
        }
        Ok(())
    }
    fn cuMemGetAccess(flags: *mut u64, location: *const Location, pointer: Pointer) {
        let location = *location.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        put(flags, started()?.access(location, pointer)?.into())
    }
    fn cuMemExportToShareableHandle(target: *mut c_void, handle: u64, kind: u32, flags: u64) {
        check(!target.is_null() && flags == 0)?;
        put(target.cast(), started()?.export_memory(handle, kind)?)
    }
    fn cuMemImportFromShareableHandle(handle: *mut u64, given: *mut c_void, kind: u32) {
        check(!handle.is_null())?;
        // The descriptor itself stands where the address of one of another kind would.
        put(handle, started()?.import_memory(given as usize as i32, kind)?)
    }
}
