//! Linear and two-dimensional copies and fills.

use std::ffi::c_void;

use super::checks;
use super::failure::device_ok;
use super::heap::device_range;
use crate::device::seam::{Copy2d, Fill};
use crate::error::{CudaError, Result};
use crate::types::{DEFAULT, DEVICE_TO_DEVICE, DEVICE_TO_HOST, Extent, HOST_TO_DEVICE};

/// Checks a copy's direction and that its device sides are device memory. `span` is what the copy touches from each
/// pointer on.
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
    if let Some(checker) = checks::checker() {
        checker.copies(to as usize, from as usize, kind);
    }
    Ok(())
}

/// Tells a checker of what was written; `from` is null where it was no copy.
pub fn tell(to: *const c_void, from: *const c_void, count: usize) {
    if let Some(checker) = checks::checker() {
        checker.written(to as usize, from as usize, count);
    }
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
    tell(to, from, count);
    Ok(())
}

pub fn volume(extent: Extent) -> usize {
    extent.width * extent.height * extent.depth
}

/// The bytes from the first to the last of a pitched region.
fn span(pitch: usize, width: usize, height: usize) -> usize {
    if height == 0 || width == 0 { 0 } else { pitch * (height - 1) + width }
}

/// Checks a copy of rows, and says whether there are any.
pub fn check_2d(copy: &Copy2d) -> Result<bool> {
    let Copy2d { to, to_pitch, from, from_pitch, width, height, kind } = *copy;
    device_ok()?;
    if width > to_pitch || width > from_pitch {
        return Err(CudaError::INVALID_PITCH);
    }
    if width == 0 || height == 0 {
        return Ok(false);
    }
    check_copy(to, span(to_pitch, width, height), from, span(from_pitch, width, height), kind)?;
    Ok(true)
}

/// # Safety
/// Both regions are valid, as the caller of the CUDA function promises.
pub unsafe fn copy_2d(copy: &Copy2d) -> Result {
    let Copy2d { to, to_pitch, from, from_pitch, width, height, .. } = *copy;
    if !check_2d(copy)? {
        return Ok(());
    }
    for row in 0..height {
        // SAFETY: by contract, row by row.
        unsafe { std::ptr::copy(from.cast::<u8>().add(row * from_pitch), to.cast::<u8>().add(row * to_pitch), width) };
        tell(to.wrapping_byte_add(row * to_pitch), from.wrapping_byte_add(row * from_pitch), width);
    }
    Ok(())
}

/// Checks a fill, and says whether there is anything to fill.
pub fn check_fill(fill: &Fill) -> Result<bool> {
    let Fill { to, pitch, width, height, .. } = *fill;
    device_ok()?;
    if width == 0 || height == 0 {
        return Ok(false);
    }
    if height > 1 && width > pitch {
        return Err(CudaError::INVALID_PITCH);
    }
    if to.is_null() || !device_range(to, span(pitch, width, height)) {
        return Err(CudaError::INVALID_VALUE);
    }
    Ok(true)
}

/// # Safety
/// The region is valid, as the caller of the CUDA function promises.
pub unsafe fn fill(fill: &Fill) -> Result {
    if !check_fill(fill)? {
        return Ok(());
    }
    let Fill { to, pitch, value, width, height } = *fill;
    for row in 0..height {
        // SAFETY: by contract, row by row.
        unsafe { std::ptr::write_bytes(to.cast::<u8>().add(row * pitch), value, width) };
        tell(to.wrapping_byte_add(row * pitch), std::ptr::null(), width);
    }
    Ok(())
}
