//! Allocation, pointers and pools.

use std::ffi::c_void;

use crate::device::choice::device;
use crate::device::seam::Space;
use crate::error::{CudaError, check};
use crate::macros::{cuda_api, put};
use crate::types::{Access, Extent, Location, PitchedPtr, PointerAttributes, PoolProps};

cuda_api! {
    fn cudaMalloc(pointer: *mut *mut c_void, size: usize) {
        check(!pointer.is_null())?;
        put(pointer, device()?.allocate(size, Space::Device, 0)?)
    }

    fn cudaMallocManaged(pointer: *mut *mut c_void, size: usize, flags: u32) {
        check(!pointer.is_null() && size != 0 && matches!(flags, 1 | 2))?;
        put(pointer, device()?.allocate(size, Space::Managed, flags)?)
    }

    fn cudaMallocHost(pointer: *mut *mut c_void, size: usize) {
        check(!pointer.is_null())?;
        put(pointer, device()?.allocate(size, Space::Host, 0)?)
    }

    fn cudaHostAlloc(pointer: *mut *mut c_void, size: usize, flags: u32) {
        check(!pointer.is_null() && flags & !7 == 0)?;
        put(pointer, device()?.allocate(size, Space::Host, flags)?)
    }

    fn cudaFree(pointer: *mut c_void) { device()?.free(pointer) }

    fn cudaFreeHost(pointer: *mut c_void) { device()?.free_host(pointer) }

    fn cudaMallocAsync / cudaMallocAsync_ptsz [on] (pointer: *mut *mut c_void, size: usize, stream: *mut c_void) {
        check(!pointer.is_null())?;
        put(pointer, device()?.allocate_async(size, on.stream(stream))?)
    }

    fn cudaFreeAsync / cudaFreeAsync_ptsz [on] (pointer: *mut c_void, stream: *mut c_void) {
        device()?.free_async(pointer, on.stream(stream))
    }

    fn cudaMallocPitch(pointer: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) {
        check(!pointer.is_null() && !pitch.is_null())?;
        let (found, row) = device()?.allocate_pitched(width, height)?;
        put(pitch, row)?;
        put(pointer, found)
    }

    fn cudaMalloc3D(target: *mut PitchedPtr, extent: Extent) {
        check(!target.is_null())?;
        let rows = extent.height.checked_mul(extent.depth).ok_or(CudaError::MEMORY_ALLOCATION)?;
        let (ptr, pitch) = device()?.allocate_pitched(extent.width, rows)?;
        put(target, PitchedPtr { ptr, pitch, xsize: extent.width, ysize: extent.height })
    }

    fn cudaHostRegister(pointer: *mut c_void, size: usize, flags: u32) {
        check(!pointer.is_null() && size != 0 && flags & !0xf == 0)?;
        device()?.register(pointer, size, flags)
    }

    fn cudaHostUnregister(pointer: *mut c_void) { device()?.unregister(pointer) }

    fn cudaHostGetDevicePointer(pointer: *mut *mut c_void, host: *mut c_void, flags: u32) {
        check(flags == 0)?;
        put(pointer, device()?.device_pointer(host)?)
    }

    fn cudaHostGetFlags(flags: *mut u32, host: *mut c_void) { put(flags, device()?.host_flags(host)?) }

    fn cudaMemGetInfo(free: *mut usize, total: *mut usize) {
        let info = device()?.memory_info()?;
        put(free, info.0)?;
        put(total, info.1)
    }

    fn cudaPointerGetAttributes(attributes: *mut PointerAttributes, pointer: *const c_void) {
        check(!attributes.is_null())?;
        put(attributes, device()?.pointer_attributes(pointer)?)
    }

    fn cudaDeviceGetDefaultMemPool(pool: *mut *mut c_void, index: i32) { put(pool, device()?.default_pool(index)?) }

    fn cudaDeviceGetMemPool(pool: *mut *mut c_void, index: i32) { put(pool, device()?.pool(index)?) }

    fn cudaDeviceSetMemPool(index: i32, pool: *mut c_void) { device()?.set_pool(index, pool) }

    fn cudaMemPoolCreate(pool: *mut *mut c_void, props: *const PoolProps) {
        check(!pool.is_null() && !props.is_null())?;
        put(pool, device()?.create_pool(&*props)?)
    }

    fn cudaMemPoolDestroy(pool: *mut c_void) { device()?.destroy_pool(pool) }

    fn cudaMemPoolTrimTo(pool: *mut c_void, keep: usize) { device()?.trim_pool(pool, keep) }

    fn cudaMemPoolSetAttribute(pool: *mut c_void, which: u32, value: *const c_void) {
        check(!value.is_null())?;
        device()?.set_pool_attribute(pool, which, value)
    }

    fn cudaMemPoolGetAttribute(pool: *mut c_void, which: u32, value: *mut c_void) {
        check(!value.is_null())?;
        device()?.pool_attribute(pool, which, value)
    }

    fn cudaMemPoolGetAccess(flags: *mut u32, pool: *mut c_void, location: *const Location) {
        check(!flags.is_null())?;
        put(flags, device()?.pool_access(pool, *location.as_ref().ok_or(CudaError::INVALID_VALUE)?)?)
    }

    fn cudaMemPoolSetAccess(pool: *mut c_void, asked: *const Access, count: usize) {
        check(!asked.is_null() && count > 0)?;
        let device = device()?;
        (0..count).try_for_each(|at| device.set_pool_access(pool, *asked.add(at)))
    }

    fn cudaMallocFromPoolAsync / cudaMallocFromPoolAsync_ptsz [on] (
        pointer: *mut *mut c_void, size: usize, pool: *mut c_void, stream: *mut c_void
    ) {
        check(!pointer.is_null())?;
        put(pointer, device()?.allocate_from(size, pool, on.stream(stream))?)
    }
}
