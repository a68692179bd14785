//! CUDA arrays (linear storage with an element type) and three-dimensional copies and fills.
//!
//! Layered, cubemap and mipmapped arrays are `cudaErrorNotSupported`.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::copy::{DEFAULT, DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, check_copy};
use crate::error::{CudaError, Result, device_ok};
use crate::macros::{cuda_api, put};
use crate::memory::{Kind, PITCH, allocate, device_range, release};
use crate::stream;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Extent {
    width: usize,
    height: usize,
    depth: usize,
}

/// `cudaPos` has the same fields as an extent, as offsets.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pos {
    x: usize,
    y: usize,
    z: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PitchedPtr {
    ptr: *mut c_void,
    pitch: usize,
    xsize: usize,
    ysize: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ChannelFormat {
    bits: [i32; 4],
    kind: u32,
}

/// Describes the elements of an array; a plain value, so it cannot fail.
#[unsafe(no_mangle)]
extern "C" fn cudaCreateChannelDesc(x: i32, y: i32, z: i32, w: i32, kind: u32) -> ChannelFormat {
    ChannelFormat { bits: [x, y, z, w], kind }
}

/// `cudaMemcpy3DParms`.
#[repr(C)]
pub struct Copy3d {
    src_array: *mut c_void,
    src_pos: Pos,
    src_ptr: PitchedPtr,
    dst_array: *mut c_void,
    dst_pos: Pos,
    dst_ptr: PitchedPtr,
    extent: Extent,
    kind: u32,
}

const _: () = assert!(size_of::<Copy3d>() == 160);

/// `cudaMemcpy3DPeerParms`.
#[repr(C)]
pub struct Copy3dPeer {
    src_array: *mut c_void,
    src_pos: Pos,
    src_ptr: PitchedPtr,
    src_device: i32,
    dst_array: *mut c_void,
    dst_pos: Pos,
    dst_ptr: PitchedPtr,
    dst_device: i32,
    extent: Extent,
}

/// An array behind a `cudaArray_t`, whose value is the address of its storage.
#[derive(Clone, Copy)]
struct Array {
    data: usize,
    format: ChannelFormat,
    element: usize,
    /// As asked for: a height or depth of 0 means one dimension fewer.
    extent: Extent,
    flags: u32,
}

impl Array {
    fn row(&self) -> usize {
        self.extent.width * self.element
    }

    fn rows(&self) -> usize {
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

fn array(handle: *const c_void) -> Result<Array> {
    arrays().get(&(handle as usize)).copied().ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}

fn create(format: ChannelFormat, extent: Extent, flags: u32) -> Result<*mut c_void> {
    device_ok()?;
    let bits: i32 = format.bits.iter().sum();
    if format.bits.iter().any(|bits| !matches!(bits, 0 | 8 | 16 | 32)) || bits <= 0 || format.kind > 2 {
        return Err(CudaError::INVALID_CHANNEL_DESCRIPTOR);
    }
    // Surface load/store (2) and gather (8) need nothing of the storage; layers and cubes do.
    if flags & !(2 | 8) != 0 {
        return Err(CudaError::NOT_SUPPORTED);
    }
    let element = bits as usize / 8;
    let size =
        [extent.width, extent.height.max(1), extent.depth.max(1)].into_iter().try_fold(element, usize::checked_mul);
    let size = size.filter(|size| *size > 0).ok_or(CudaError::INVALID_VALUE)?;
    let data = allocate(size, Kind::Device, 0)?;
    arrays().insert(data as usize, Array { data: data as usize, format, element, extent, flags });
    Ok(data)
}

fn free(handle: *mut c_void) -> Result {
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
unsafe fn copy_3d(params: &Copy3d) -> Result {
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
        }
    }
    Ok(())
}

/// # Safety
/// As [`copy_3d`].
unsafe fn copy_peer(params: &Copy3dPeer) -> Result {
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
unsafe fn fill_3d(target: PitchedPtr, value: i32, extent: Extent) -> Result {
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
            unsafe { target.ptr.cast::<u8>().add(z * slice + y * target.pitch).write_bytes(value as u8, extent.width) };
        }
    }
    Ok(())
}

/// A rectangle of an array: start in bytes and rows, width in bytes.
struct Window {
    array: *const c_void,
    x: usize,
    y: usize,
}

/// Copies between an array and pitched memory. `into_array` says which way.
///
/// # Safety
/// The memory side is valid, as the caller of the CUDA function promises.
unsafe fn copy_window(
    window: &Window,
    memory: usize,
    pitch: usize,
    width: usize,
    height: usize,
    kind: u32,
    into_array: bool,
) -> Result {
    device_ok()?;
    let array = array(window.array)?;
    let bad_direction = if into_array { kind == DEVICE_TO_HOST } else { kind == HOST_TO_DEVICE };
    if bad_direction || kind > DEFAULT || kind == 0 {
        return Err(CudaError::INVALID_MEMCPY_DIRECTION);
    }
    if window.x + width > array.row() || window.y + height > array.rows() || (height > 1 && width > pitch) {
        return Err(CudaError::INVALID_VALUE);
    }
    for y in 0..height {
        let inside = array.data + (window.y + y) * array.row() + window.x;
        let outside = memory + y * pitch;
        let (to, from) = if into_array { (inside, outside) } else { (outside, inside) };
        // SAFETY: by contract on the memory side, checked on the array's.
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, width) };
    }
    Ok(())
}

/// Copies a run of bytes between an array and memory, wrapping at rows as CUDA's deprecated linear array copies do.
///
/// # Safety
/// As [`copy_window`].
unsafe fn copy_run(window: &Window, memory: usize, count: usize, into_array: bool) -> Result {
    device_ok()?;
    let array = array(window.array)?;
    let start = window.y * array.row() + window.x;
    if start + count > array.row() * array.rows() {
        return Err(CudaError::INVALID_VALUE);
    }
    let inside = array.data + start;
    let (to, from) = if into_array { (inside, memory) } else { (memory, inside) };
    // SAFETY: by contract on the memory side, checked on the array's.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, count) };
    Ok(())
}

cuda_api! {
    fn cudaMalloc3D(target: *mut PitchedPtr, extent: Extent) {
        device_ok()?;
        let pitch = extent.width.next_multiple_of(PITCH);
        let size = [extent.height, extent.depth].into_iter().try_fold(pitch, usize::checked_mul);
        let ptr = allocate(size.ok_or(CudaError::MEMORY_ALLOCATION)?, Kind::Device, 0)?;
        put(target, PitchedPtr { ptr, pitch, xsize: extent.width, ysize: extent.height })
    }

    fn cudaMallocArray(handle: *mut *mut c_void, format: *const ChannelFormat, width: usize, height: usize, flags: u32) {
        let format = *format.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        put(handle, create(format, Extent { width, height, depth: 0 }, flags)?)
    }

    fn cudaMalloc3DArray(handle: *mut *mut c_void, format: *const ChannelFormat, extent: Extent, flags: u32) {
        let format = *format.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        put(handle, create(format, extent, flags)?)
    }

    fn cudaFreeArray(handle: *mut c_void) { free(handle) }

    fn cudaArrayGetInfo(format: *mut ChannelFormat, extent: *mut Extent, flags: *mut u32, handle: *mut c_void) {
        let array = array(handle)?;
        if !format.is_null() { put(format, array.format)?; }
        if !extent.is_null() { put(extent, array.extent)?; }
        if !flags.is_null() { put(flags, array.flags)?; }
        Ok(())
    }

    fn cudaGetChannelDesc(format: *mut ChannelFormat, handle: *const c_void) { put(format, array(handle)?.format) }

    fn cudaMemcpy3D / cudaMemcpy3D_ptds(params: *const Copy3d) {
        copy_3d(params.as_ref().ok_or(CudaError::INVALID_VALUE)?)
    }

    fn cudaMemcpy3DAsync / cudaMemcpy3DAsync_ptsz(params: *const Copy3d, stream: *mut c_void) {
        stream::check(stream)?;
        copy_3d(params.as_ref().ok_or(CudaError::INVALID_VALUE)?)
    }

    fn cudaMemcpy3DPeer / cudaMemcpy3DPeer_ptds(params: *const Copy3dPeer) {
        copy_peer(params.as_ref().ok_or(CudaError::INVALID_VALUE)?)
    }

    fn cudaMemcpy3DPeerAsync / cudaMemcpy3DPeerAsync_ptsz(params: *const Copy3dPeer, stream: *mut c_void) {
        stream::check(stream)?;
        copy_peer(params.as_ref().ok_or(CudaError::INVALID_VALUE)?)
    }

    fn cudaMemset3D / cudaMemset3D_ptds(target: PitchedPtr, value: i32, extent: Extent) { fill_3d(target, value, extent) }

    fn cudaMemset3DAsync / cudaMemset3DAsync_ptsz(target: PitchedPtr, value: i32, extent: Extent, stream: *mut c_void) {
        stream::check(stream)?;
        fill_3d(target, value, extent)
    }

    fn cudaMemcpy2DToArray / cudaMemcpy2DToArray_ptds(
        array: *mut c_void, x: usize, y: usize, from: *const c_void, pitch: usize, width: usize, height: usize, kind: u32
    ) {
        copy_window(&Window { array, x, y }, from as usize, pitch, width, height, kind, true)
    }

    fn cudaMemcpy2DToArrayAsync / cudaMemcpy2DToArrayAsync_ptsz(
        array: *mut c_void, x: usize, y: usize, from: *const c_void, pitch: usize, width: usize, height: usize, kind: u32,
        stream: *mut c_void
    ) {
        stream::check(stream)?;
        copy_window(&Window { array, x, y }, from as usize, pitch, width, height, kind, true)
    }

    fn cudaMemcpy2DFromArray / cudaMemcpy2DFromArray_ptds(
        to: *mut c_void, pitch: usize, array: *const c_void, x: usize, y: usize, width: usize, height: usize, kind: u32
    ) {
        copy_window(&Window { array, x, y }, to as usize, pitch, width, height, kind, false)
    }

    fn cudaMemcpy2DFromArrayAsync / cudaMemcpy2DFromArrayAsync_ptsz(
        to: *mut c_void, pitch: usize, array: *const c_void, x: usize, y: usize, width: usize, height: usize, kind: u32,
        stream: *mut c_void
    ) {
        stream::check(stream)?;
        copy_window(&Window { array, x, y }, to as usize, pitch, width, height, kind, false)
    }

    fn cudaMemcpyToArray / cudaMemcpyToArray_ptds(
        array: *mut c_void, x: usize, y: usize, from: *const c_void, count: usize, _kind: u32
    ) {
        copy_run(&Window { array, x, y }, from as usize, count, true)
    }

    fn cudaMemcpyFromArray / cudaMemcpyFromArray_ptds(
        to: *mut c_void, array: *const c_void, x: usize, y: usize, count: usize, _kind: u32
    ) {
        copy_run(&Window { array, x, y }, to as usize, count, false)
    }
}
