//! Copies, fills and arrays: done when the call returns, whatever the stream.

use std::ffi::c_void;

use super::machine::Cpu;
use super::{arrays, copies, streams};
use crate::device::seam::{Arrays, Copies, Copy2d, Fill, Order, Window};
use crate::error::{CudaError, Result};
use crate::types::{ChannelFormat, Copy3d, Copy3dPeer, DEVICE_TO_DEVICE, Extent, PitchedPtr};

impl Copies for Cpu {
    unsafe fn copy(&self, to: *mut c_void, from: *const c_void, count: usize, kind: u32, order: Order) -> Result {
        streams::check(order.stream)?;
        // SAFETY: by contract.
        unsafe { copies::copy(to, from, count, kind) }
    }

    unsafe fn copy_2d(&self, copy: &Copy2d, order: Order) -> Result {
        streams::check(order.stream)?;
        // SAFETY: by contract.
        unsafe { copies::copy_2d(copy) }
    }

    unsafe fn copy_3d(&self, copy: &Copy3d, order: Order) -> Result {
        streams::check(order.stream)?;
        // SAFETY: by contract.
        unsafe { arrays::copy_3d(copy) }
    }

    unsafe fn copy_peer(
        &self,
        to: (*mut c_void, i32),
        from: (*const c_void, i32),
        count: usize,
        order: Order,
    ) -> Result {
        streams::check(order.stream)?;
        if to.1 != 0 || from.1 != 0 {
            return Err(CudaError::INVALID_DEVICE);
        }
        // SAFETY: by contract.
        unsafe { copies::copy(to.0, from.0, count, DEVICE_TO_DEVICE) }
    }

    unsafe fn copy_3d_peer(&self, copy: &Copy3dPeer, order: Order) -> Result {
        streams::check(order.stream)?;
        // SAFETY: by contract.
        unsafe { arrays::copy_peer(copy) }
    }

    unsafe fn fill(&self, fill: &Fill, order: Order) -> Result {
        streams::check(order.stream)?;
        // SAFETY: by contract.
        unsafe { copies::fill(fill) }
    }

    unsafe fn fill_3d(&self, to: PitchedPtr, value: u8, extent: Extent, order: Order) -> Result {
        streams::check(order.stream)?;
        // SAFETY: by contract.
        unsafe { arrays::fill_3d(to, value, extent) }
    }
}

impl Arrays for Cpu {
    fn create_array(&self, format: ChannelFormat, extent: Extent, flags: u32) -> Result<*mut c_void> {
        arrays::create(format, extent, flags)
    }

    fn free_array(&self, array: *mut c_void) -> Result {
        arrays::free(array)
    }

    fn array_info(&self, array: *const c_void) -> Result<(ChannelFormat, Extent, u32)> {
        arrays::info(array)
    }

    unsafe fn copy_window(&self, window: &Window, order: Order) -> Result {
        streams::check(order.stream)?;
        // SAFETY: by contract.
        unsafe { arrays::copy_window(window) }
    }

    unsafe fn copy_run(&self, window: &Window, order: Order) -> Result {
        streams::check(order.stream)?;
        // SAFETY: by contract.
        unsafe { arrays::copy_run(window) }
    }
}
