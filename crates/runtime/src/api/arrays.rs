//! CUDA arrays and copies between them and pitched memory.

use std::ffi::c_void;

use crate::device::choice::device;
use crate::device::seam::{Order, Window};
use crate::error::{CudaError, Result, check};
use crate::macros::{cuda_api, put};
use crate::types::{ChannelFormat, Copy3d, DEFAULT, DEVICE_TO_DEVICE, Extent, PitchedPtr, Pos};

/// Describes the elements of an array; a plain value, so it cannot fail.
#[unsafe(no_mangle)]
extern "C" fn cudaCreateChannelDesc(x: i32, y: i32, z: i32, w: i32, kind: u32) -> ChannelFormat {
    ChannelFormat { bits: [x, y, z, w], kind }
}

/// Copies rows from one array to another: places and widths are in bytes.
fn between(
    to: (*mut c_void, usize, usize),
    from: (*const c_void, usize, usize),
    (width, height): (usize, usize),
    kind: u32,
    order: Order,
) -> Result {
    const NOWHERE: PitchedPtr = PitchedPtr { ptr: std::ptr::null_mut(), pitch: 0, xsize: 0, ysize: 0 };
    if !matches!(kind, DEVICE_TO_DEVICE | DEFAULT) {
        return Err(CudaError::INVALID_MEMCPY_DIRECTION);
    }
    let device = device()?;
    let element = |array: *const c_void| -> Result<usize> {
        let bits: i32 = device.array_info(array)?.0.bits.iter().sum();
        Ok(bits as usize / 8)
    };
    let size = element(to.0)?;
    check(size == element(from.0)? && [to.1, from.1, width].iter().all(|bytes| bytes.is_multiple_of(size)))?;
    let copy = Copy3d {
        src_array: from.0.cast_mut(),
        src_pos: Pos { x: from.1 / size, y: from.2, z: 0 },
        src_ptr: NOWHERE,
        dst_array: to.0,
        dst_pos: Pos { x: to.1 / size, y: to.2, z: 0 },
        dst_ptr: NOWHERE,
        extent: Extent { width: width / size, height, depth: 1 },
        kind: DEVICE_TO_DEVICE,
    };
    // SAFETY: arrays are the device's own, which looks whether the places are in them.
    unsafe { device.copy_3d(&copy, order) }
}

cuda_api! {
    fn cudaMallocArray(
        handle: *mut *mut c_void, format: *const ChannelFormat, width: usize, height: usize, flags: u32
    ) {
        let format = *format.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        put(handle, device()?.create_array(format, Extent { width, height, depth: 0 }, flags)?)
    }

    fn cudaMalloc3DArray(handle: *mut *mut c_void, format: *const ChannelFormat, extent: Extent, flags: u32) {
        let format = *format.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        put(handle, device()?.create_array(format, extent, flags)?)
    }

    fn cudaFreeArray(handle: *mut c_void) { device()?.free_array(handle) }

    fn cudaArrayGetInfo(format: *mut ChannelFormat, extent: *mut Extent, flags: *mut u32, handle: *mut c_void) {
        let info = device()?.array_info(handle)?;
        if !format.is_null() { put(format, info.0)?; }
        if !extent.is_null() { put(extent, info.1)?; }
        if !flags.is_null() { put(flags, info.2)?; }
        Ok(())
    }

    fn cudaGetChannelDesc(format: *mut ChannelFormat, handle: *const c_void) {
        put(format, device()?.array_info(handle)?.0)
    }

    fn cudaMemcpy2DArrayToArray / cudaMemcpy2DArrayToArray_ptds [on] (
        to: *mut c_void, to_x: usize, to_y: usize, from: *const c_void, from_x: usize, from_y: usize, width: usize,
        height: usize, kind: u32
    ) {
        between((to, to_x, to_y), (from, from_x, from_y), (width, height), kind, on.now())
    }

    /// Within one row of both: there is no order of rows that both would go on in.
    fn cudaMemcpyArrayToArray / cudaMemcpyArrayToArray_ptds [on] (
        to: *mut c_void, to_x: usize, to_y: usize, from: *const c_void, from_x: usize, from_y: usize, count: usize,
        kind: u32
    ) {
        between((to, to_x, to_y), (from, from_x, from_y), (count, 1), kind, on.now())
    }

    fn cudaMemcpy2DToArray / cudaMemcpy2DToArray_ptds [on] (
        array: *mut c_void, x: usize, y: usize, from: *const c_void, pitch: usize, width: usize, height: usize,
        kind: u32
    ) {
        let memory = from.cast_mut();
        device()?.copy_window(&Window { array, x, y, memory, pitch, width, height, kind, into_array: true }, on.now())
    }

    fn cudaMemcpy2DToArrayAsync / cudaMemcpy2DToArrayAsync_ptsz [on] (
        array: *mut c_void, x: usize, y: usize, from: *const c_void, pitch: usize, width: usize, height: usize,
        kind: u32, stream: *mut c_void
    ) {
        let memory = from.cast_mut();
        let window = Window { array, x, y, memory, pitch, width, height, kind, into_array: true };
        device()?.copy_window(&window, on.later(stream))
    }

    fn cudaMemcpy2DFromArray / cudaMemcpy2DFromArray_ptds [on] (
        to: *mut c_void, pitch: usize, array: *const c_void, x: usize, y: usize, width: usize, height: usize, kind: u32
    ) {
        let window = Window { array, x, y, memory: to, pitch, width, height, kind, into_array: false };
        device()?.copy_window(&window, on.now())
    }

    fn cudaMemcpy2DFromArrayAsync / cudaMemcpy2DFromArrayAsync_ptsz [on] (
        to: *mut c_void, pitch: usize, array: *const c_void, x: usize, y: usize, width: usize, height: usize, kind: u32,
        stream: *mut c_void
    ) {
        let window = Window { array, x, y, memory: to, pitch, width, height, kind, into_array: false };
        device()?.copy_window(&window, on.later(stream))
    }

    fn cudaMemcpyToArray / cudaMemcpyToArray_ptds [on] (
        array: *mut c_void, x: usize, y: usize, from: *const c_void, count: usize, kind: u32
    ) {
        let (memory, pitch, width, height) = (from.cast_mut(), count, count, 1);
        device()?.copy_run(&Window { array, x, y, memory, pitch, width, height, kind, into_array: true }, on.now())
    }

    fn cudaMemcpyToArrayAsync / cudaMemcpyToArrayAsync_ptsz [on] (
        array: *mut c_void, x: usize, y: usize, from: *const c_void, count: usize, kind: u32, stream: *mut c_void
    ) {
        let (memory, pitch, width, height) = (from.cast_mut(), count, count, 1);
        let window = Window { array, x, y, memory, pitch, width, height, kind, into_array: true };
        device()?.copy_run(&window, on.later(stream))
    }

    fn cudaMemcpyFromArrayAsync / cudaMemcpyFromArrayAsync_ptsz [on] (
        to: *mut c_void, array: *const c_void, x: usize, y: usize, count: usize, kind: u32, stream: *mut c_void
    ) {
        let (memory, pitch, width, height) = (to, count, count, 1);
        let window = Window { array, x, y, memory, pitch, width, height, kind, into_array: false };
        device()?.copy_run(&window, on.later(stream))
    }

    fn cudaMemcpyFromArray / cudaMemcpyFromArray_ptds [on] (
        to: *mut c_void, array: *const c_void, x: usize, y: usize, count: usize, kind: u32
    ) {
        let (memory, pitch, width, height) = (to, count, count, 1);
        device()?.copy_run(&Window { array, x, y, memory, pitch, width, height, kind, into_array: false }, on.now())
    }
}
