//! Linear and two-dimensional copies, fills, and device symbols.

use std::ffi::c_void;

use crate::error::{CudaError, Result, device_ok};
use crate::macros::{cuda_api, put};
use crate::memory::device_range;
use crate::registration::variable;
use crate::stream;

/// Values of `cudaMemcpyKind`; 0 is host to host.
pub const HOST_TO_DEVICE: u32 = 1;
pub const DEVICE_TO_HOST: u32 = 2;
pub const DEVICE_TO_DEVICE: u32 = 3;
pub const DEFAULT: u32 = 4;

/// Checks a copy's direction and that its device sides are device memory. `span` is what the copy touches from each pointer on.
pub fn check_copy(to: *const c_void, to_span: usize, from: *const c_void, from_span: usize, kind: u32) -> Result {
    if kind > DEFAULT {
        return Err(CudaError::INVALID_MEMCPY_DIRECTION);
    }
    if to.is_null() || from.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    let to_device = matches!(kind, HOST_TO_DEVICE | DEVICE_TO_DEVICE);
    let from_device = matches!(kind, DEVICE_TO_HOST | DEVICE_TO_DEVICE);
    if (to_device && !device_range(to, to_span)) || (from_device && !device_range(from, from_span)) {
        return Err(CudaError::INVALID_VALUE);
    }
    Ok(())
}

/// # Safety
/// Both ranges are valid for `count` bytes, as the caller of the CUDA function promises.
pub unsafe fn copy(to: *mut c_void, from: *const c_void, count: usize, kind: u32) -> Result {
    device_ok()?;
    if count == 0 {
        return if kind > DEFAULT { Err(CudaError::INVALID_MEMCPY_DIRECTION) } else { Ok(()) };
    }
    check_copy(to, count, from, count, kind)?;
    // SAFETY: by contract; overlapping ranges are fine.
    unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), count) };
    Ok(())
}

/// The bytes from the first to the last of a pitched region.
pub fn span(pitch: usize, width: usize, height: usize) -> usize {
    if height == 0 || width == 0 { 0 } else { pitch * (height - 1) + width }
}

/// # Safety
/// Both regions are valid, as the caller of the CUDA function promises.
unsafe fn copy_2d(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: u32,
) -> Result {
    device_ok()?;
    if width > to_pitch || width > from_pitch {
        return Err(CudaError::INVALID_PITCH);
    }
    if width == 0 || height == 0 {
        return Ok(());
    }
    check_copy(to, span(to_pitch, width, height), from, span(from_pitch, width, height), kind)?;
    for row in 0..height {
        // SAFETY: by contract, row by row.
        unsafe { std::ptr::copy(from.cast::<u8>().add(row * from_pitch), to.cast::<u8>().add(row * to_pitch), width) };
    }
    Ok(())
}

/// # Safety
/// The region is valid, as the caller of the CUDA function promises.
unsafe fn fill(to: *mut c_void, pitch: usize, value: i32, width: usize, height: usize) -> Result {
    device_ok()?;
    if width == 0 || height == 0 {
        return Ok(());
    }
    if height > 1 && width > pitch {
        return Err(CudaError::INVALID_PITCH);
    }
    if to.is_null() || !device_range(to, span(pitch, width, height)) {
        return Err(CudaError::INVALID_VALUE);
    }
    for row in 0..height {
        // SAFETY: by contract, row by row.
        unsafe { std::ptr::write_bytes(to.cast::<u8>().add(row * pitch), value as u8, width) };
    }
    Ok(())
}

/// The address `offset` bytes into a device variable that has `count` bytes from there.
fn in_symbol(symbol: *const c_void, offset: usize, count: usize) -> Result<*mut c_void> {
    let found = variable(symbol)?;
    if offset.checked_add(count).is_none_or(|end| end > found.size) {
        return Err(CudaError::INVALID_VALUE);
    }
    Ok((found.address + offset) as *mut c_void)
}

/// # Safety
/// `from` is valid for `count` bytes.
unsafe fn to_symbol(symbol: *const c_void, from: *const c_void, count: usize, offset: usize, kind: u32) -> Result {
    if !matches!(kind, HOST_TO_DEVICE | DEVICE_TO_DEVICE | DEFAULT) {
        return Err(CudaError::INVALID_MEMCPY_DIRECTION);
    }
    // SAFETY: by contract; the symbol's range is checked.
    unsafe { copy(in_symbol(symbol, offset, count)?, from, count, kind) }
}

/// # Safety
/// `to` is valid for `count` bytes.
unsafe fn from_symbol(to: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: u32) -> Result {
    if !matches!(kind, DEVICE_TO_HOST | DEVICE_TO_DEVICE | DEFAULT) {
        return Err(CudaError::INVALID_MEMCPY_DIRECTION);
    }
    // SAFETY: by contract; the symbol's range is checked.
    unsafe { copy(to, in_symbol(symbol, offset, count)?, count, kind) }
}

cuda_api! {
    fn cudaMemcpy / cudaMemcpy_ptds(to: *mut c_void, from: *const c_void, count: usize, kind: u32) {
        copy(to, from, count, kind)
    }

    fn cudaMemcpyAsync / cudaMemcpyAsync_ptsz(to: *mut c_void, from: *const c_void, count: usize, kind: u32, stream: *mut c_void) {
        stream::check(stream)?;
        copy(to, from, count, kind)
    }

    fn cudaMemcpyPeer(to: *mut c_void, to_device: i32, from: *const c_void, from_device: i32, count: usize) {
        if to_device != 0 || from_device != 0 { return Err(CudaError::INVALID_DEVICE); }
        copy(to, from, count, DEVICE_TO_DEVICE)
    }

    fn cudaMemcpyPeerAsync(
        to: *mut c_void, to_device: i32, from: *const c_void, from_device: i32, count: usize, stream: *mut c_void
    ) {
        stream::check(stream)?;
        if to_device != 0 || from_device != 0 { return Err(CudaError::INVALID_DEVICE); }
        copy(to, from, count, DEVICE_TO_DEVICE)
    }

    fn cudaMemcpy2D / cudaMemcpy2D_ptds(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: u32
    ) {
        copy_2d(to, to_pitch, from, from_pitch, width, height, kind)
    }

    fn cudaMemcpy2DAsync / cudaMemcpy2DAsync_ptsz(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: u32,
        stream: *mut c_void
    ) {
        stream::check(stream)?;
        copy_2d(to, to_pitch, from, from_pitch, width, height, kind)
    }

    fn cudaMemset / cudaMemset_ptds(to: *mut c_void, value: i32, count: usize) {
        fill(to, count, value, count, 1)
    }

    fn cudaMemsetAsync / cudaMemsetAsync_ptsz(to: *mut c_void, value: i32, count: usize, stream: *mut c_void) {
        stream::check(stream)?;
        fill(to, count, value, count, 1)
    }

    fn cudaMemset2D / cudaMemset2D_ptds(to: *mut c_void, pitch: usize, value: i32, width: usize, height: usize) {
        fill(to, pitch, value, width, height)
    }

    fn cudaMemset2DAsync / cudaMemset2DAsync_ptsz(
        to: *mut c_void, pitch: usize, value: i32, width: usize, height: usize, stream: *mut c_void
    ) {
        stream::check(stream)?;
        fill(to, pitch, value, width, height)
    }

    fn cudaMemcpyToSymbol / cudaMemcpyToSymbol_ptds(
        symbol: *const c_void, from: *const c_void, count: usize, offset: usize, kind: u32
    ) {
        to_symbol(symbol, from, count, offset, kind)
    }

    fn cudaMemcpyToSymbolAsync / cudaMemcpyToSymbolAsync_ptsz(
        symbol: *const c_void, from: *const c_void, count: usize, offset: usize, kind: u32, stream: *mut c_void
    ) {
        stream::check(stream)?;
        to_symbol(symbol, from, count, offset, kind)
    }

    fn cudaMemcpyFromSymbol / cudaMemcpyFromSymbol_ptds(
        to: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: u32
    ) {
        from_symbol(to, symbol, count, offset, kind)
    }

    fn cudaMemcpyFromSymbolAsync / cudaMemcpyFromSymbolAsync_ptsz(
        to: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: u32, stream: *mut c_void
    ) {
        stream::check(stream)?;
        from_symbol(to, symbol, count, offset, kind)
    }

    fn cudaGetSymbolAddress(address: *mut *mut c_void, symbol: *const c_void) {
        device_ok()?;
        put(address, variable(symbol)?.address as *mut c_void)
    }

    fn cudaGetSymbolSize(size: *mut usize, symbol: *const c_void) {
        device_ok()?;
        put(size, variable(symbol)?.size)
    }
}
