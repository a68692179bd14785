//! CUDA arrays (linear storage with an element type) and three-dimensional copies and fills.
//!
//! Layers and the faces of cubes are slices, as depth is.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::copies::{check_copy, tell};
use super::failure::device_ok;
use super::heap::{Kind, allocate, device_range, release};
use crate::device::seam::Window;
use crate::device::texture_rules::{integers_of, normalized_number};
use crate::error::{CudaError, Result};
use crate::types::{
    ARRAY_CUBE, ARRAY_GATHERED, ARRAY_LAYERED, ARRAY_OF_SURFACES, ChannelFormat, Copy3d, Copy3dPeer, DEFAULT,
    DEVICE_TO_DEVICE, DEVICE_TO_HOST, Extent, FLOAT, HOST_TO_DEVICE, PitchedPtr, Pos,
};

/// The last of CUDA's `cudaChannelFormatKind`; those behind the normalized ones are of blocks that are compressed.
const LAST_KIND: u32 = 31;

/// An array behind a `cudaArray_t`, whose value is the address of its storage.
#[derive(Clone, Copy)]
pub struct Array {
    pub data: usize,
    pub format: ChannelFormat,
    pub element: usize,
    /// As asked for: a height or depth of 0 means one dimension fewer.
    pub extent: Extent,
    pub flags: u32,
}

impl Array {
    pub fn row(&self) -> usize {
        self.extent.width * self.element
    }

    pub fn rows(&self) -> usize {
        self.extent.height.max(1)
    }

    /// The array as a pitched region.
    fn pitched(&self) -> PitchedPtr {
        PitchedPtr { ptr: self.data as *mut c_void, pitch: self.row(), xsize: self.row(), ysize: self.rows() }
    }
}

fn arrays() -> MutexGuard<'static, HashMap<usize, Array>> {
    static ARRAYS: OnceLock<Mutex<HashMap<usize, Array>>> = OnceLock::new();
    ARRAYS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn array(handle: *const c_void) -> Result<Array> {
    arrays().get(&(handle as usize)).copied().ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}

/// Makes an array.
pub fn create(format: ChannelFormat, extent: Extent, flags: u32) -> Result<*mut c_void> {
    device_ok()?;
    if format.kind > FLOAT && normalized_number(format.kind).is_none() && format.kind <= LAST_KIND {
        return Err(CudaError::NOT_SUPPORTED);
    }
    let bits: i32 = format.bits.iter().sum();
    let is_known = format.kind <= FLOAT || integers_of(format).is_some();
    if format.bits.iter().any(|bits| !matches!(bits, 0 | 8 | 16 | 32)) || bits <= 0 || !is_known {
        return Err(CudaError::INVALID_CHANNEL_DESCRIPTOR);
    }
    if flags & !(ARRAY_LAYERED | ARRAY_OF_SURFACES | ARRAY_CUBE | ARRAY_GATHERED) != 0 {
        return Err(CudaError::NOT_SUPPORTED);
    }
    let faces =
        if flags & ARRAY_LAYERED == 0 { extent.depth == 6 } else { extent.depth > 0 && extent.depth.is_multiple_of(6) };
    if flags & ARRAY_CUBE != 0 && (extent.width != extent.height || !faces)
        || flags & ARRAY_LAYERED != 0 && extent.depth == 0
    {
        return Err(CudaError::INVALID_VALUE);
    }
    let element = bits as usize / 8;
    let size =
        [extent.width, extent.height.max(1), extent.depth.max(1)].into_iter().try_fold(element, usize::checked_mul);
    let size = size.filter(|size| *size > 0).ok_or(CudaError::INVALID_VALUE)?;
    let data = allocate(size, Kind::Device, 0)?;
    arrays().insert(data as usize, Array { data: data as usize, format, element, extent, flags });
    Ok(data)
}

/// Frees an array.
pub fn free(handle: *mut c_void) -> Result {
    if handle.is_null() {
        return Ok(());
    }
    arrays().remove(&(handle as usize)).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
    release(handle, &[Kind::Device])
}

/// Forgets all arrays; their storage goes with the rest of device memory (`cudaDeviceReset`).
pub fn forget_all() {
    arrays().clear();
}

/// One side of a three-dimensional copy: an array or a pitched pointer, with its start.
struct Side {
    start: usize,
    pitch: usize,
    slice: usize,
}

/// Bytes per unit of `x` on each side, and of the extent: an array's element, else one byte.
fn side(handle: *mut c_void, ptr: PitchedPtr, pos: Pos) -> Result<(Side, Option<Array>)> {
    if !handle.is_null() {
        if !ptr.ptr.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        let array = array(handle)?;
        let pitched = array.pitched();
        let slice = pitched.pitch * pitched.ysize;
        let start = array.data + pos.x * array.element + pos.y * pitched.pitch + pos.z * slice;
        return Ok((Side { start, pitch: pitched.pitch, slice }, Some(array)));
    }
    let slice = ptr.pitch * ptr.ysize;
    Ok((Side { start: ptr.ptr as usize + pos.x + pos.y * ptr.pitch + pos.z * slice, pitch: ptr.pitch, slice }, None))
}

/// Whether a region of an array lies inside it.
fn fits(array: Option<Array>, pos: Pos, extent: Extent) -> Result {
    let Some(array) = array else { return Ok(()) };
    let inside = pos.x + extent.width <= array.extent.width
        && pos.y + extent.height <= array.rows()
        && pos.z + extent.depth <= array.extent.depth.max(1);
    if inside { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
}

/// # Safety
/// The regions are valid, as the caller of the CUDA function promises.
pub unsafe fn copy_3d(params: &Copy3d) -> Result {
    device_ok()?;
    let (src, src_array) = side(params.src_array, params.src_ptr, params.src_pos)?;
    let (dst, dst_array) = side(params.dst_array, params.dst_ptr, params.dst_pos)?;
    let extent = params.extent;
    if params.kind > DEFAULT {
        return Err(CudaError::INVALID_MEMCPY_DIRECTION);
    }
    if extent.width == 0 || extent.height == 0 || extent.depth == 0 {
        return Ok(());
    }
    fits(src_array, params.src_pos, extent)?;
    fits(dst_array, params.dst_pos, extent)?;
    let width = extent.width * src_array.or(dst_array).map_or(1, |array| array.element);
    if (extent.height > 1 || extent.depth > 1) && (width > src.pitch || width > dst.pitch) {
        return Err(CudaError::INVALID_PITCH);
    }
    let span = |side: &Side| side.slice * (extent.depth - 1) + side.pitch * (extent.height - 1) + width;
    check_copy(dst.start as *const c_void, span(&dst), src.start as *const c_void, span(&src), params.kind)?;
    for z in 0..extent.depth {
        for y in 0..extent.height {
            let from = (src.start + z * src.slice + y * src.pitch) as *const u8;
            let to = (dst.start + z * dst.slice + y * dst.pitch) as *mut u8;
            // SAFETY: by contract, row by row.
            unsafe { std::ptr::copy(from, to, width) };
            tell(to.cast(), from.cast(), width);
        }
    }
    Ok(())
}

/// # Safety
/// As [`copy_3d`].
pub unsafe fn copy_peer(params: &Copy3dPeer) -> Result {
    if params.src_device != 0 || params.dst_device != 0 {
        return Err(CudaError::INVALID_DEVICE);
    }
    let params = Copy3d {
        src_array: params.src_array,
        src_pos: params.src_pos,
        src_ptr: params.src_ptr,
        dst_array: params.dst_array,
        dst_pos: params.dst_pos,
        dst_ptr: params.dst_ptr,
        extent: params.extent,
        kind: DEVICE_TO_DEVICE,
    };
    // SAFETY: by contract.
    unsafe { copy_3d(&params) }
}

/// # Safety
/// The region is valid, as the caller of the CUDA function promises.
pub unsafe fn fill_3d(target: PitchedPtr, value: u8, extent: Extent) -> Result {
    device_ok()?;
    if extent.width == 0 || extent.height == 0 || extent.depth == 0 {
        return Ok(());
    }
    let slice = target.pitch * target.ysize;
    let span = slice * (extent.depth - 1) + target.pitch * (extent.height - 1) + extent.width;
    if target.ptr.is_null() || !device_range(target.ptr, span) {
        return Err(CudaError::INVALID_VALUE);
    }
    for z in 0..extent.depth {
        for y in 0..extent.height {
            // SAFETY: by contract, row by row.
            let row = unsafe { target.ptr.cast::<u8>().add(z * slice + y * target.pitch) };
            // SAFETY: by contract, row by row.
            unsafe { row.write_bytes(value, extent.width) };
            tell(row.cast(), std::ptr::null(), extent.width);
        }
    }
    Ok(())
}

/// What an array was made with.
pub fn info(handle: *const c_void) -> Result<(ChannelFormat, Extent, u32)> {
    array(handle).map(|array| (array.format, array.extent, array.flags))
}

/// Copies between an array and pitched memory.
///
/// # Safety
/// The memory side is valid, as the caller of the CUDA function promises.
pub unsafe fn copy_window(window: &Window) -> Result {
    device_ok()?;
    let array = array(window.array)?;
    let Window { x, y, pitch, width, height, kind, into_array, .. } = *window;
    let bad_direction = if into_array { kind == DEVICE_TO_HOST } else { kind == HOST_TO_DEVICE };
    if bad_direction || kind > DEFAULT || kind == 0 {
        return Err(CudaError::INVALID_MEMCPY_DIRECTION);
    }
    if x + width > array.row() || y + height > array.rows() || (height > 1 && width > pitch) {
        return Err(CudaError::INVALID_VALUE);
    }
    for row in 0..height {
        let inside = array.data + (y + row) * array.row() + x;
        // SAFETY: by contract on the memory side, checked on the array's.
        unsafe { copy_row(inside, window.memory as usize + row * pitch, width, into_array) };
    }
    Ok(())
}

/// # Safety
/// Both addresses are valid for `count` bytes.
unsafe fn copy_row(inside: usize, outside: usize, count: usize, into_array: bool) {
    let (to, from) = if into_array { (inside, outside) } else { (outside, inside) };
    // SAFETY: by contract.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, count) };
    tell(to as *const c_void, from as *const c_void, count);
}

/// Copies a run of bytes between an array and memory, wrapping at rows as CUDA's deprecated linear array copies do.
///
/// # Safety
/// As [`copy_window`].
pub unsafe fn copy_run(window: &Window) -> Result {
    device_ok()?;
    let array = array(window.array)?;
    let start = window.y * array.row() + window.x;
    if start + window.width > array.row() * array.rows() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: by contract on the memory side, checked on the array's.
    unsafe { copy_row(array.data + start, window.memory as usize, window.width, window.into_array) };
    Ok(())
}
