//! Copies and fills of linear and pitched memory, and of device symbols.

use std::ffi::c_void;

use crate::device::choice::device;
use crate::device::seam::{Copy2d, Fill, Order};
use crate::error::{CudaError, Result};
use crate::images::registry::variable;
use crate::macros::{cuda_api, put};
use crate::types::{Copy3d, Copy3dPeer, DEFAULT, DEVICE_TO_DEVICE, DEVICE_TO_HOST, Extent, HOST_TO_DEVICE, PitchedPtr};

/// The address `offset` bytes into a device variable that has `count` bytes from there.
pub fn in_symbol(symbol: *const c_void, offset: usize, count: usize) -> Result<*mut c_void> {
    let (address, size) = device()?.symbol(variable(symbol)?)?;
    if offset.checked_add(count).is_none_or(|end| end > size) {
        return Err(CudaError::INVALID_VALUE);
    }
    Ok((address as usize + offset) as *mut c_void)
}

/// A part of a device variable.
struct Part {
    symbol: *const c_void,
    offset: usize,
    count: usize,
}

/// # Safety
/// `from` is valid for `count` bytes.
unsafe fn to_symbol(part: &Part, from: *const c_void, kind: u32, order: Order) -> Result {
    if !matches!(kind, HOST_TO_DEVICE | DEVICE_TO_DEVICE | DEFAULT) {
        return Err(CudaError::INVALID_MEMCPY_DIRECTION);
    }
    let to = in_symbol(part.symbol, part.offset, part.count)?;
    // SAFETY: by contract; the symbol's range is checked.
    unsafe { device()?.copy(to, from, part.count, kind, order) }
}

/// # Safety
/// `to` is valid for `count` bytes.
unsafe fn from_symbol(to: *mut c_void, part: &Part, kind: u32, order: Order) -> Result {
    if !matches!(kind, DEVICE_TO_HOST | DEVICE_TO_DEVICE | DEFAULT) {
        return Err(CudaError::INVALID_MEMCPY_DIRECTION);
    }
    let from = in_symbol(part.symbol, part.offset, part.count)?;
    // SAFETY: by contract; the symbol's range is checked.
    unsafe { device()?.copy(to, from, part.count, kind, order) }
}

cuda_api! {
    fn cudaMemcpy / cudaMemcpy_ptds [on] (to: *mut c_void, from: *const c_void, count: usize, kind: u32) {
        device()?.copy(to, from, count, kind, on.now())
    }

    fn cudaMemcpyAsync / cudaMemcpyAsync_ptsz [on] (
        to: *mut c_void, from: *const c_void, count: usize, kind: u32, stream: *mut c_void
    ) {
        device()?.copy(to, from, count, kind, on.later(stream))
    }

    fn cudaMemcpyPeer(to: *mut c_void, to_device: i32, from: *const c_void, from_device: i32, count: usize) {
        device()?.copy_peer((to, to_device), (from, from_device), count, crate::macros::Default::Legacy.now())
    }

    fn cudaMemcpyPeerAsync(
        to: *mut c_void, to_device: i32, from: *const c_void, from_device: i32, count: usize, stream: *mut c_void
    ) {
        let order = crate::macros::Default::Legacy.later(stream);
        device()?.copy_peer((to, to_device), (from, from_device), count, order)
    }

    fn cudaMemcpy2D / cudaMemcpy2D_ptds [on] (
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: u32
    ) {
        device()?.copy_2d(&Copy2d { to, to_pitch, from, from_pitch, width, height, kind }, on.now())
    }

    fn cudaMemcpy2DAsync / cudaMemcpy2DAsync_ptsz [on] (
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize,
        kind: u32, stream: *mut c_void
    ) {
        device()?.copy_2d(&Copy2d { to, to_pitch, from, from_pitch, width, height, kind }, on.later(stream))
    }

    fn cudaMemcpy3D / cudaMemcpy3D_ptds [on] (params: *const Copy3d) {
        device()?.copy_3d(params.as_ref().ok_or(CudaError::INVALID_VALUE)?, on.now())
    }

    fn cudaMemcpy3DAsync / cudaMemcpy3DAsync_ptsz [on] (params: *const Copy3d, stream: *mut c_void) {
        device()?.copy_3d(params.as_ref().ok_or(CudaError::INVALID_VALUE)?, on.later(stream))
    }

    fn cudaMemcpy3DPeer / cudaMemcpy3DPeer_ptds [on] (params: *const Copy3dPeer) {
        device()?.copy_3d_peer(params.as_ref().ok_or(CudaError::INVALID_VALUE)?, on.now())
    }

    fn cudaMemcpy3DPeerAsync / cudaMemcpy3DPeerAsync_ptsz [on] (params: *const Copy3dPeer, stream: *mut c_void) {
        device()?.copy_3d_peer(params.as_ref().ok_or(CudaError::INVALID_VALUE)?, on.later(stream))
    }

    fn cudaMemset / cudaMemset_ptds [on] (to: *mut c_void, value: i32, count: usize) {
        device()?.fill(&Fill { to, pitch: count, value: value as u8, width: count, height: 1 }, on.now())
    }

    fn cudaMemsetAsync / cudaMemsetAsync_ptsz [on] (to: *mut c_void, value: i32, count: usize, stream: *mut c_void) {
        device()?.fill(&Fill { to, pitch: count, value: value as u8, width: count, height: 1 }, on.later(stream))
    }

    fn cudaMemset2D / cudaMemset2D_ptds [on] (to: *mut c_void, pitch: usize, value: i32, width: usize, height: usize) {
        device()?.fill(&Fill { to, pitch, value: value as u8, width, height }, on.now())
    }

    fn cudaMemset2DAsync / cudaMemset2DAsync_ptsz [on] (
        to: *mut c_void, pitch: usize, value: i32, width: usize, height: usize, stream: *mut c_void
    ) {
        device()?.fill(&Fill { to, pitch, value: value as u8, width, height }, on.later(stream))
    }

    fn cudaMemset3D / cudaMemset3D_ptds [on] (to: PitchedPtr, value: i32, extent: Extent) {
        device()?.fill_3d(to, value as u8, extent, on.now())
    }

    fn cudaMemset3DAsync / cudaMemset3DAsync_ptsz [on] (
        to: PitchedPtr, value: i32, extent: Extent, stream: *mut c_void
    ) {
        device()?.fill_3d(to, value as u8, extent, on.later(stream))
    }

    fn cudaMemcpyToSymbol / cudaMemcpyToSymbol_ptds [on] (
        symbol: *const c_void, from: *const c_void, count: usize, offset: usize, kind: u32
    ) {
        to_symbol(&Part { symbol, offset, count }, from, kind, on.now())
    }

    fn cudaMemcpyToSymbolAsync / cudaMemcpyToSymbolAsync_ptsz [on] (
        symbol: *const c_void, from: *const c_void, count: usize, offset: usize, kind: u32, stream: *mut c_void
    ) {
        to_symbol(&Part { symbol, offset, count }, from, kind, on.later(stream))
    }

    fn cudaMemcpyFromSymbol / cudaMemcpyFromSymbol_ptds [on] (
        to: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: u32
    ) {
        from_symbol(to, &Part { symbol, offset, count }, kind, on.now())
    }

    fn cudaMemcpyFromSymbolAsync / cudaMemcpyFromSymbolAsync_ptsz [on] (
        to: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: u32, stream: *mut c_void
    ) {
        from_symbol(to, &Part { symbol, offset, count }, kind, on.later(stream))
    }

    fn cudaGetSymbolAddress(address: *mut *mut c_void, symbol: *const c_void) {
        put(address, device()?.symbol(variable(symbol)?)?.0)
    }

    fn cudaGetSymbolSize(size: *mut usize, symbol: *const c_void) { put(size, device()?.symbol(variable(symbol)?)?.1) }
}
