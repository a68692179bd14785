//! Copies and fills, whose directions the driver's names and structures say.

use std::ffi::c_void;

use super::frame::{current, driver_api};
use super::known;
use crate::device::cuda::layout::{ARRAY, DEVICE, HOST, Memcpy2d, Memcpy3d, Side2d, Side3d, UNIFIED};
use crate::device::seam::{Device, Fill, Order, Stream};
use crate::error::{CudaError, Result, check};
use crate::types::{
    Copy3d, Copy3dPeer, DEFAULT, DEVICE_TO_DEVICE, DEVICE_TO_HOST, Extent, HOST_TO_DEVICE, MemsetNode, PitchedPtr, Pos,
};

/// An address on the device.
type Pointer = usize;

/// # Safety
/// As the CUDA functions: both ranges are valid.
unsafe fn copy(to: usize, from: usize, count: usize, kind: u32, order: Order) -> Result {
    // SAFETY: by contract.
    unsafe { current()?.copy(to as *mut c_void, from as *const c_void, count, kind, order) }
}

/// # Safety
/// As the CUDA functions: the range is valid.
unsafe fn fill(to: Pointer, pitch: usize, value: u32, element: u32, size: [usize; 2], order: Order) -> Result {
    let [width, height] = size;
    let device = current()?;
    check(to.is_multiple_of(element as usize))?;
    let to = to as *mut c_void;
    // SAFETY: by contract.
    unsafe {
        if element == 1 {
            return device.fill(&Fill { to, pitch, value: value as u8, width, height }, order);
        }
        device.fill_elements(&MemsetNode { to, pitch, value, element, width, height }, order)
    }
}

/// Which way a copy goes between two kinds of memory, of which arrays are the device's.
fn kind_of(from: u32, to: u32) -> Result<u32> {
    let is_host = |kind| match kind {
        HOST => Ok(true),
        DEVICE | ARRAY => Ok(false),
        _ => Err(CudaError::INVALID_VALUE),
    };
    if from == UNIFIED || to == UNIFIED {
        return Ok(DEFAULT);
    }
    Ok(match (is_host(from)?, is_host(to)?) {
        (true, true) => 0,
        (true, false) => HOST_TO_DEVICE,
        (false, true) => DEVICE_TO_HOST,
        (false, false) => DEVICE_TO_DEVICE,
    })
}

/// A two-dimensional copy as a three-dimensional one.
fn of_2d(copy: &Memcpy2d) -> Memcpy3d {
    let side = |side: &Side2d| {
        let Side2d { x, y, kind, host, device, array, pitch } = *side;
        Side3d { x, y, z: 0, level: 0, kind, host, device, array, context: std::ptr::null_mut(), pitch, height: 0 }
    };
    Memcpy3d { from: side(&copy.from), to: side(&copy.to), width: copy.width, height: copy.height, depth: 1 }
}

/// A program's description of a copy.
///
/// # Safety
/// `copy` is null or valid.
pub unsafe fn region(copy: *const Memcpy3d) -> Result<Memcpy3d> {
    // SAFETY: by contract.
    let Memcpy3d { from, to, width, height, depth } = unsafe { copy.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
    Ok(Memcpy3d { from: *from, to: *to, width: *width, height: *height, depth: *depth })
}

/// Bytes of an array's element, 1 for other memory.
fn element(device: &dyn Device, side: &Side3d) -> Result<usize> {
    if side.kind != ARRAY {
        return Ok(1);
    }
    let (format, ..) = device.array_info(side.array)?;
    Ok(format.bits.iter().sum::<i32>() as usize / 8)
}

/// One side of a copy in the runtime's terms: an array, a place, and pitched memory. The runtime counts places in an
/// array, and extents of
/// copies with one, in elements, the driver all in bytes.
fn side(side: &Side3d, element: usize, copy: &Memcpy3d) -> Result<(*mut c_void, Pos, PitchedPtr)> {
    check(side.level == 0 && side.x.is_multiple_of(element))?;
    let pos = Pos { x: side.x / element, y: side.y, z: side.z };
    let pointer = match side.kind {
        ARRAY => std::ptr::null_mut(),
        HOST => side.host,
        _ => side.device as *mut c_void,
    };
    let pitch = if side.pitch == 0 { side.x + copy.width } else { side.pitch };
    let rows = if side.height == 0 { side.y + copy.height } else { side.height };
    let array = if side.kind == ARRAY { side.array } else { std::ptr::null_mut() };
    let pitch = if side.kind == ARRAY { 0 } else { pitch };
    Ok((array, pos, PitchedPtr { ptr: pointer, pitch, xsize: pitch, ysize: rows }))
}

/// A copy in the runtime's terms.
pub fn copy_of(device: &dyn Device, copy: &Memcpy3d) -> Result<Copy3d> {
    let elements = [element(device, &copy.from)?, element(device, &copy.to)?];
    let (src_array, src_pos, src_ptr) = side(&copy.from, elements[0], copy)?;
    let (dst_array, dst_pos, dst_ptr) = side(&copy.to, elements[1], copy)?;
    // That of an array, the source's first.
    let unit = if src_array.is_null() { elements[1] } else { elements[0] };
    check(copy.width.is_multiple_of(unit))?;
    let extent = Extent { width: copy.width / unit, height: copy.height, depth: copy.depth };
    let kind = kind_of(copy.from.kind, copy.to.kind)?;
    Ok(Copy3d { src_array, src_pos, src_ptr, dst_array, dst_pos, dst_ptr, extent, kind })
}

/// # Safety
/// As the CUDA functions: `copy` is null or valid, and its regions are.
unsafe fn copy_3d(copy: *const Memcpy3d, order: Order) -> Result {
    let device = current()?;
    // SAFETY: by contract.
    unsafe { device.copy_3d(&copy_of(device, &region(copy)?)?, order) }
}

/// # Safety
/// As [`copy_3d`].
unsafe fn copy_2d(copy: *const Memcpy2d, order: Order) -> Result {
    let device = current()?;
    // SAFETY: by contract.
    unsafe { device.copy_3d(&copy_of(device, &of_2d(copy.as_ref().ok_or(CudaError::INVALID_VALUE)?))?, order) }
}

/// # Safety
/// As [`copy_3d`].
unsafe fn copy_3d_peer(copy: *const Memcpy3d, order: Order) -> Result {
    let device = current()?;
    // SAFETY: by contract.
    unsafe {
        let region = region(copy)?;
        let Copy3d { src_array, src_pos, src_ptr, dst_array, dst_pos, dst_ptr, extent, .. } = copy_of(device, &region)?;
        let src_device = known::device_of(region.from.context)?;
        let dst_device = known::device_of(region.to.context)?;
        let copy =
            Copy3dPeer { src_array, src_pos, src_ptr, src_device, dst_array, dst_pos, dst_ptr, dst_device, extent };
        device.copy_3d_peer(&copy, order)
    }
}

/// The bytes `start .. start + count` of a one-dimensional array.
fn in_array(array: *mut c_void, start: usize) -> Side3d {
    let null = std::ptr::null_mut();
    Side3d {
        x: start,
        y: 0,
        z: 0,
        level: 0,
        kind: ARRAY,
        host: null,
        device: 0,
        array,
        context: null,
        pitch: 0,
        height: 0,
    }
}

/// Memory beside an array.
fn in_memory(kind: u32, pointer: usize) -> Side3d {
    Side3d { kind, host: pointer as *mut c_void, device: pointer as u64, ..in_array(std::ptr::null_mut(), 0) }
}

/// # Safety
/// The memory sides are valid for `width` bytes.
unsafe fn copy_row(from: Side3d, to: Side3d, width: usize, order: Order) -> Result {
    let region = Memcpy3d { from, to, width, height: 1, depth: 1 };
    // SAFETY: by contract.
    unsafe { copy_3d(&raw const region, order) }
}

driver_api! {
    fn cuMemcpy / cuMemcpy_ptds [on] (to: Pointer, from: Pointer, count: usize) {
        copy(to, from, count, DEFAULT, on.now())
    }
    fn cuMemcpyAsync / cuMemcpyAsync_ptsz [on] (to: Pointer, from: Pointer, count: usize, stream: Stream) {
        copy(to, from, count, DEFAULT, on.later(stream))
    }
    fn cuMemcpyHtoD_v2 / cuMemcpyHtoD_v2_ptds [on] (to: Pointer, from: usize, count: usize) {
        copy(to, from, count, HOST_TO_DEVICE, on.now())
    }
    fn cuMemcpyHtoDAsync_v2 / cuMemcpyHtoDAsync_v2_ptsz [on] (to: Pointer, from: usize, count: usize, stream: Stream) {
        copy(to, from, count, HOST_TO_DEVICE, on.later(stream))
    }
    fn cuMemcpyDtoH_v2 / cuMemcpyDtoH_v2_ptds [on] (to: usize, from: Pointer, count: usize) {
        copy(to, from, count, DEVICE_TO_HOST, on.now())
    }
    fn cuMemcpyDtoHAsync_v2 / cuMemcpyDtoHAsync_v2_ptsz [on] (to: usize, from: Pointer, count: usize, stream: Stream) {
        copy(to, from, count, DEVICE_TO_HOST, on.later(stream))
    }
    fn cuMemcpyDtoD_v2 / cuMemcpyDtoD_v2_ptds [on] (to: Pointer, from: Pointer, count: usize) {
        copy(to, from, count, DEVICE_TO_DEVICE, on.now())
    }
    fn cuMemcpyDtoDAsync_v2 / cuMemcpyDtoDAsync_v2_ptsz [on] (
        to: Pointer, from: Pointer, count: usize, stream: Stream
    ) {
        copy(to, from, count, DEVICE_TO_DEVICE, on.later(stream))
    }
    fn cuMemcpyPeer / cuMemcpyPeer_ptds [on] (
        to: Pointer, to_context: *mut c_void, from: Pointer, from_context: *mut c_void, count: usize
    ) {
        let (to_device, from_device) = (known::device_of(to_context)?, known::device_of(from_context)?);
        current()?.copy_peer((to as *mut c_void, to_device), (from as *const c_void, from_device), count, on.now())
    }
    fn cuMemcpyPeerAsync / cuMemcpyPeerAsync_ptsz [on] (
        to: Pointer, to_context: *mut c_void, from: Pointer, from_context: *mut c_void, count: usize, stream: Stream
    ) {
        let (to_device, from_device) = (known::device_of(to_context)?, known::device_of(from_context)?);
        let order = on.later(stream);
        current()?.copy_peer((to as *mut c_void, to_device), (from as *const c_void, from_device), count, order)
    }

    fn cuMemcpy2D_v2 / cuMemcpy2D_v2_ptds [on] (copy: *const Memcpy2d) { copy_2d(copy, on.now()) }
    fn cuMemcpy2DUnaligned_v2 / cuMemcpy2DUnaligned_v2_ptds [on] (copy: *const Memcpy2d) { copy_2d(copy, on.now()) }
    fn cuMemcpy2DAsync_v2 / cuMemcpy2DAsync_v2_ptsz [on] (copy: *const Memcpy2d, stream: Stream) {
        copy_2d(copy, on.later(stream))
    }
    fn cuMemcpy3D_v2 / cuMemcpy3D_v2_ptds [on] (copy: *const Memcpy3d) { copy_3d(copy, on.now()) }
    fn cuMemcpy3DAsync_v2 / cuMemcpy3DAsync_v2_ptsz [on] (copy: *const Memcpy3d, stream: Stream) {
        copy_3d(copy, on.later(stream))
    }
    fn cuMemcpy3DPeer / cuMemcpy3DPeer_ptds [on] (copy: *const Memcpy3d) { copy_3d_peer(copy, on.now()) }
    fn cuMemcpy3DPeerAsync / cuMemcpy3DPeerAsync_ptsz [on] (copy: *const Memcpy3d, stream: Stream) {
        copy_3d_peer(copy, on.later(stream))
    }

    fn cuMemcpyHtoA_v2 / cuMemcpyHtoA_v2_ptds [on] (array: *mut c_void, start: usize, from: usize, count: usize) {
        copy_row(in_memory(HOST, from), in_array(array, start), count, on.now())
    }
    fn cuMemcpyHtoAAsync_v2 / cuMemcpyHtoAAsync_v2_ptsz [on] (
        array: *mut c_void, start: usize, from: usize, count: usize, stream: Stream
    ) {
        copy_row(in_memory(HOST, from), in_array(array, start), count, on.later(stream))
    }
    fn cuMemcpyAtoH_v2 / cuMemcpyAtoH_v2_ptds [on] (to: usize, array: *mut c_void, start: usize, count: usize) {
        copy_row(in_array(array, start), in_memory(HOST, to), count, on.now())
    }
    fn cuMemcpyAtoHAsync_v2 / cuMemcpyAtoHAsync_v2_ptsz [on] (
        to: usize, array: *mut c_void, start: usize, count: usize, stream: Stream
    ) {
        copy_row(in_array(array, start), in_memory(HOST, to), count, on.later(stream))
    }
    fn cuMemcpyDtoA_v2 / cuMemcpyDtoA_v2_ptds [on] (array: *mut c_void, start: usize, from: Pointer, count: usize) {
        copy_row(in_memory(DEVICE, from), in_array(array, start), count, on.now())
    }
    fn cuMemcpyAtoD_v2 / cuMemcpyAtoD_v2_ptds [on] (to: Pointer, array: *mut c_void, start: usize, count: usize) {
        copy_row(in_array(array, start), in_memory(DEVICE, to), count, on.now())
    }
    fn cuMemcpyAtoA_v2 / cuMemcpyAtoA_v2_ptds [on] (
        to: *mut c_void, to_start: usize, from: *mut c_void, from_start: usize, count: usize
    ) {
        copy_row(in_array(from, from_start), in_array(to, to_start), count, on.now())
    }
}

/// Fills, apart: one table is as long as the compiler takes it.
mod fills {
    use super::*;

    driver_api! {
        fn cuMemsetD8_v2 / cuMemsetD8_v2_ptds [on] (to: Pointer, value: u8, count: usize) {
            fill(to, count, value.into(), 1, [count, 1], on.now())
        }
        fn cuMemsetD16_v2 / cuMemsetD16_v2_ptds [on] (to: Pointer, value: u16, count: usize) {
            fill(to, 2 * count, value.into(), 2, [count, 1], on.now())
        }
        fn cuMemsetD32_v2 / cuMemsetD32_v2_ptds [on] (to: Pointer, value: u32, count: usize) {
            fill(to, 4 * count, value, 4, [count, 1], on.now())
        }
        fn cuMemsetD8Async / cuMemsetD8Async_ptsz [on] (to: Pointer, value: u8, count: usize, stream: Stream) {
            fill(to, count, value.into(), 1, [count, 1], on.later(stream))
        }
        fn cuMemsetD16Async / cuMemsetD16Async_ptsz [on] (to: Pointer, value: u16, count: usize, stream: Stream) {
            fill(to, 2 * count, value.into(), 2, [count, 1], on.later(stream))
        }
        fn cuMemsetD32Async / cuMemsetD32Async_ptsz [on] (to: Pointer, value: u32, count: usize, stream: Stream) {
            fill(to, 4 * count, value, 4, [count, 1], on.later(stream))
        }
        fn cuMemsetD2D8_v2 / cuMemsetD2D8_v2_ptds [on] (
            to: Pointer, pitch: usize, value: u8, width: usize, height: usize
        ) {
            fill(to, pitch, value.into(), 1, [width, height], on.now())
        }
        fn cuMemsetD2D16_v2 / cuMemsetD2D16_v2_ptds [on] (
            to: Pointer, pitch: usize, value: u16, width: usize, height: usize
        ) {
            fill(to, pitch, value.into(), 2, [width, height], on.now())
        }
        fn cuMemsetD2D32_v2 / cuMemsetD2D32_v2_ptds [on] (
            to: Pointer, pitch: usize, value: u32, width: usize, height: usize
        ) {
            fill(to, pitch, value, 4, [width, height], on.now())
        }
        fn cuMemsetD2D8Async / cuMemsetD2D8Async_ptsz [on] (
            to: Pointer, pitch: usize, value: u8, width: usize, height: usize, stream: Stream
        ) {
            fill(to, pitch, value.into(), 1, [width, height], on.later(stream))
        }
        fn cuMemsetD2D16Async / cuMemsetD2D16Async_ptsz [on] (
            to: Pointer, pitch: usize, value: u16, width: usize, height: usize, stream: Stream
        ) {
            fill(to, pitch, value.into(), 2, [width, height], on.later(stream))
        }
        fn cuMemsetD2D32Async / cuMemsetD2D32Async_ptsz [on] (
            to: Pointer, pitch: usize, value: u32, width: usize, height: usize, stream: Stream
        ) {
            fill(to, pitch, value, 4, [width, height], on.later(stream))
        }
    }
}
pub use fills::ENTRIES as FILLS;
