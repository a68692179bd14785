//! CUDA arrays of one, two and three dimensions: HIP's own. Layered and cubemap arrays, and copies that wrap at the end
//! of a row, are `cudaErrorNotSupported`.

use std::ffi::c_void;
use std::sync::PoisonError;

use super::state::{Amd, Array};
use crate::device::gpu::copies::{memory_side, ordered};
use crate::device::gpu::vendor::Vendor;
use crate::device::seam::{Arrays, Order, Textures, Window};
use crate::error::{CudaError, Result};
use crate::types::{ARRAY_GATHERED, ARRAY_OF_SURFACES, ChannelFormat, Extent};

/// Flags that are carried out: surface load and store, texture gather.
const KNOWN_FLAGS: u32 = ARRAY_OF_SURFACES | ARRAY_GATHERED;

impl Amd {
    fn array(&self, array: *const c_void) -> Result<Array> {
        let arrays = self.arrays.lock().unwrap_or_else(PoisonError::into_inner);
        arrays.get(&(array as usize)).copied().ok_or(CudaError::INVALID_RESOURCE_HANDLE)
    }
}

impl Textures for Amd {}

impl Arrays for Amd {
    fn create_array(&self, format: ChannelFormat, extent: Extent, flags: u32) -> Result<*mut c_void> {
        self.enter()?;
        if flags & !KNOWN_FLAGS != 0 {
            return Err(CudaError::NOT_SUPPORTED);
        }
        let mut array = std::ptr::null_mut();
        // SAFETY: valid for a write and a read.
        self.done(unsafe {
            if extent.depth == 0 {
                (self.hip.array_create)(&raw mut array, &raw const format, extent.width, extent.height, flags)
            } else {
                (self.hip.array_create_3d)(&raw mut array, &raw const format, extent, flags)
            }
        })?;
        let mut arrays = self.arrays.lock().unwrap_or_else(PoisonError::into_inner);
        arrays.insert(array as usize, Array { format, extent, flags });
        Ok(array)
    }

    fn free_array(&self, array: *mut c_void) -> Result {
        self.enter()?;
        if array.is_null() {
            return Ok(());
        }
        let known = self.arrays.lock().unwrap_or_else(PoisonError::into_inner).remove(&(array as usize));
        known.ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
        // SAFETY: an array of the program's, which nobody else frees.
        self.done(unsafe { (self.hip.array_destroy)(array) })
    }

    fn array_info(&self, array: *const c_void) -> Result<(ChannelFormat, Extent, u32)> {
        self.enter()?;
        let Array { format, extent, flags } = self.array(array)?;
        Ok((format, extent, flags))
    }

    unsafe fn copy_window(&self, window: &Window, order: Order) -> Result {
        self.enter()?;
        self.array(window.array)?;
        memory_side(window)?;
        let Window { x, y, memory, pitch, width, height, kind, .. } = *window;
        if width == 0 || height == 0 {
            return Ok(());
        }
        let (hip, array) = (&self.hip, window.array.cast_mut());
        if window.into_array {
            return ordered(
                self,
                order,
                // SAFETY: by contract.
                || unsafe { (hip.copy_to_array)(array, x, y, memory, pitch, width, height, kind) },
                // SAFETY: by contract.
                |stream| unsafe { (hip.copy_to_array_async)(array, x, y, memory, pitch, width, height, kind, stream) },
            );
        }
        ordered(
            self,
            order,
            // SAFETY: by contract.
            || unsafe { (hip.copy_from_array)(memory, pitch, array, x, y, width, height, kind) },
            // SAFETY: by contract.
            |stream| unsafe { (hip.copy_from_array_async)(memory, pitch, array, x, y, width, height, kind, stream) },
        )
    }
}
