//! Copies and fills.

use std::ffi::c_void;

use super::layout::{ARRAY, DEVICE, HOST, Memcpy2d, Memcpy3d, Side2d, Side3d, UNIFIED};
use super::state::Cuda;
use crate::device::gpu::copies::{self, is_empty, ordered};
use crate::device::gpu::layout::{Handle, Pointer};
use crate::device::gpu::vendor::Vendor;
use crate::device::seam::{Copies, Copy2d, Fill, Order};
use crate::error::{CudaError, Result};
use crate::types::{
    Copy3d, Copy3dPeer, DEFAULT, DEVICE_TO_DEVICE, DEVICE_TO_HOST, Extent, HOST_TO_DEVICE, PitchedPtr, Pos,
};

/// The kinds of memory on both sides of a copy, source first, in the driver's words.
fn sides(kind: u32) -> Result<(u32, u32)> {
    match kind {
        0 => Ok((HOST, HOST)),
        HOST_TO_DEVICE => Ok((HOST, DEVICE)),
        DEVICE_TO_HOST => Ok((DEVICE, HOST)),
        DEVICE_TO_DEVICE => Ok((DEVICE, DEVICE)),
        DEFAULT => Ok((UNIFIED, UNIFIED)),
        _ => Err(CudaError::INVALID_MEMCPY_DIRECTION),
    }
}

fn side_2d(kind: u32, pointer: *mut c_void, pitch: usize) -> Side2d {
    let (device, array) = (pointer as Pointer, std::ptr::null_mut());
    Side2d { x: 0, y: 0, kind, host: pointer, device, array, pitch }
}

impl Cuda {
    /// One side of a three-dimensional copy. Positions in an array are in elements.
    fn side_3d(&self, kind: u32, array: *mut c_void, ptr: PitchedPtr, pos: Pos, context: Handle) -> Result<Side3d> {
        if !array.is_null() && !ptr.ptr.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        let (kind, x) = if array.is_null() { (kind, pos.x) } else { (ARRAY, pos.x * self.element(array)?) };
        let (host, device) = (ptr.ptr, ptr.ptr as Pointer);
        let (y, z, pitch, height) = (pos.y, pos.z, ptr.pitch, ptr.ysize);
        Ok(Side3d { x, y, z, level: 0, kind, host, device, array, context, pitch, height })
    }

    /// A three-dimensional copy, if there is something to copy. With an array on a side its width is in elements.
    fn region_3d(&self, from: Side3d, to: Side3d, extent: Extent) -> Result<Option<Memcpy3d>> {
        let width = match if from.array.is_null() { to.array } else { from.array } {
            array if array.is_null() => extent.width,
            array => extent.width * self.element(array)?,
        };
        let region = Memcpy3d { from, to, width, height: extent.height, depth: extent.depth };
        Ok((!is_empty(extent)).then_some(region))
    }

    /// Copies rows.
    ///
    /// # Safety
    /// Both sides are valid.
    pub unsafe fn copy_region(&self, region: &Memcpy2d, order: Order) -> Result {
        // SAFETY: by contract; the driver reads the region before it returns.
        unsafe {
            ordered(self, order, || (self.driver.copy_2d)(region), |stream| (self.driver.copy_2d_async)(region, stream))
        }
    }
}

impl Copies for Cuda {
    unsafe fn copy(&self, to: *mut c_void, from: *const c_void, count: usize, kind: u32, order: Order) -> Result {
        self.enter()?;
        let kinds = sides(kind)?;
        if count == 0 {
            return Ok(());
        }
        let (driver, to_device, from_device) = (&self.driver, to as Pointer, from as Pointer);
        // SAFETY: by contract.
        unsafe {
            match kinds {
                (HOST, DEVICE) => ordered(
                    self,
                    order,
                    || (driver.copy_to_device)(to_device, from, count),
                    |stream| (driver.copy_to_device_async)(to_device, from, count, stream),
                ),
                (DEVICE, HOST) => ordered(
                    self,
                    order,
                    || (driver.copy_to_host)(to, from_device, count),
                    |stream| (driver.copy_to_host_async)(to, from_device, count, stream),
                ),
                _ => ordered(
                    self,
                    order,
                    || (driver.copy)(to_device, from_device, count),
                    |stream| (driver.copy_async)(to_device, from_device, count, stream),
                ),
            }
        }
    }

    unsafe fn copy_2d(&self, copy: &Copy2d, order: Order) -> Result {
        self.enter()?;
        let (from, to) = sides(copy.kind)?;
        if copy.width > copy.to_pitch || copy.width > copy.from_pitch {
            return Err(CudaError::INVALID_PITCH);
        }
        if copy.width == 0 || copy.height == 0 {
            return Ok(());
        }
        let region = Memcpy2d {
            from: side_2d(from, copy.from.cast_mut(), copy.from_pitch),
            to: side_2d(to, copy.to, copy.to_pitch),
            width: copy.width,
            height: copy.height,
        };
        // SAFETY: by contract.
        unsafe { self.copy_region(&region, order) }
    }

    unsafe fn copy_3d(&self, copy: &Copy3d, order: Order) -> Result {
        self.enter()?;
        let (from, to) = sides(copy.kind)?;
        let null = std::ptr::null_mut();
        let from = self.side_3d(from, copy.src_array, copy.src_ptr, copy.src_pos, null)?;
        let to = self.side_3d(to, copy.dst_array, copy.dst_ptr, copy.dst_pos, null)?;
        let Some(region) = self.region_3d(from, to, copy.extent)? else { return Ok(()) };
        // SAFETY: by contract; the driver reads the region before it returns.
        unsafe {
            ordered(
                self,
                order,
                || (self.driver.copy_3d)(&raw const region),
                |stream| (self.driver.copy_3d_async)(&raw const region, stream),
            )
        }
    }

    unsafe fn copy_peer(
        &self,
        to: (*mut c_void, i32),
        from: (*const c_void, i32),
        count: usize,
        order: Order,
    ) -> Result {
        let (to_context, from_context) = (self.context(self.gpu(to.1)?)?, self.context(self.gpu(from.1)?)?);
        self.enter()?;
        if count == 0 {
            return Ok(());
        }
        let (to, from) = (to.0 as Pointer, from.0 as Pointer);
        // SAFETY: by contract.
        unsafe {
            ordered(
                self,
                order,
                || (self.driver.copy_peer)(to, to_context, from, from_context, count),
                |stream| (self.driver.copy_peer_async)(to, to_context, from, from_context, count, stream),
            )
        }
    }

    unsafe fn copy_3d_peer(&self, copy: &Copy3dPeer, order: Order) -> Result {
        let (to, from) = (self.context(self.gpu(copy.dst_device)?)?, self.context(self.gpu(copy.src_device)?)?);
        self.enter()?;
        let from = self.side_3d(DEVICE, copy.src_array, copy.src_ptr, copy.src_pos, from)?;
        let to = self.side_3d(DEVICE, copy.dst_array, copy.dst_ptr, copy.dst_pos, to)?;
        let Some(region) = self.region_3d(from, to, copy.extent)? else { return Ok(()) };
        // SAFETY: by contract; the driver reads the region before it returns.
        unsafe {
            ordered(
                self,
                order,
                || (self.driver.copy_3d_peer)(&raw const region),
                |stream| (self.driver.copy_3d_peer_async)(&raw const region, stream),
            )
        }
    }

    unsafe fn fill(&self, fill: &Fill, order: Order) -> Result {
        let Fill { to, pitch, value, width, height } = *fill;
        let (driver, at) = (&self.driver, to as Pointer);
        let rows = |order| {
            ordered(
                self,
                order,
                // SAFETY: by contract.
                || unsafe { (driver.fill_2d)(at, pitch, value, width, height) },
                // SAFETY: by contract.
                |stream| unsafe { (driver.fill_2d_async)(at, pitch, value, width, height, stream) },
            )
        };
        // SAFETY: by contract.
        unsafe { copies::fill(self, fill, order, rows) }
    }

    unsafe fn fill_3d(&self, to: PitchedPtr, value: u8, extent: Extent, order: Order) -> Result {
        // SAFETY: by contract.
        unsafe { copies::fill_slices(self, to, value, extent, order) }
    }
}
