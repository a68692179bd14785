//! Copies and fills.

use std::ffi::c_void;

use super::state::Amd;
use crate::device::gpu::copies::{self, is_empty, ordered};
use crate::device::gpu::vendor::Vendor;
use crate::device::seam::{Copies, Copy2d, Fill, Order};
use crate::error::{CudaError, Result};
use crate::types::{Copy3d, Copy3dPeer, DEFAULT, Extent, PitchedPtr};

/// `hipMemcpyKind` has the numbers of `cudaMemcpyKind`; those beyond are HIP's own.
fn known(kind: u32) -> Result {
    if kind <= DEFAULT { Ok(()) } else { Err(CudaError::INVALID_MEMCPY_DIRECTION) }
}

/// A side of a three-dimensional copy is an array or memory.
fn one(array: *mut c_void, memory: PitchedPtr) -> Result {
    if array.is_null() || memory.ptr.is_null() { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
}

impl Copies for Amd {
    unsafe fn copy(&self, to: *mut c_void, from: *const c_void, count: usize, kind: u32, order: Order) -> Result {
        self.enter()?;
        known(kind)?;
        if count == 0 {
            return Ok(());
        }
        ordered(
            self,
            order,
            // SAFETY: by contract.
            || unsafe { (self.hip.copy)(to, from, count, kind) },
            // SAFETY: by contract.
            |stream| unsafe { (self.hip.copy_async)(to, from, count, kind, stream) },
        )
    }

    unsafe fn copy_2d(&self, copy: &Copy2d, order: Order) -> Result {
        self.enter()?;
        let Copy2d { to, to_pitch, from, from_pitch, width, height, kind } = *copy;
        known(kind)?;
        if width > to_pitch || width > from_pitch {
            return Err(CudaError::INVALID_PITCH);
        }
        if width == 0 || height == 0 {
            return Ok(());
        }
        ordered(
            self,
            order,
            // SAFETY: by contract.
            || unsafe { (self.hip.copy_2d)(to, to_pitch, from, from_pitch, width, height, kind) },
            // SAFETY: by contract.
            |stream| unsafe { (self.hip.copy_2d_async)(to, to_pitch, from, from_pitch, width, height, kind, stream) },
        )
    }

    /// `hipMemcpy3DParms` has the layout of `cudaMemcpy3DParms`.
    unsafe fn copy_3d(&self, copy: &Copy3d, order: Order) -> Result {
        self.enter()?;
        known(copy.kind)?;
        one(copy.src_array, copy.src_ptr)?;
        one(copy.dst_array, copy.dst_ptr)?;
        if is_empty(copy.extent) {
            return Ok(());
        }
        ordered(
            self,
            order,
            // SAFETY: by contract; HIP reads the parameters before it returns.
            || unsafe { (self.hip.copy_3d)(copy) },
            // SAFETY: by contract.
            |stream| unsafe { (self.hip.copy_3d_async)(copy, stream) },
        )
    }

    unsafe fn copy_peer(
        &self,
        (to, to_gpu): (*mut c_void, i32),
        (from, from_gpu): (*const c_void, i32),
        count: usize,
        order: Order,
    ) -> Result {
        let (to_gpu, from_gpu) = (self.number(to_gpu)?, self.number(from_gpu)?);
        self.enter()?;
        if count == 0 {
            return Ok(());
        }
        ordered(
            self,
            order,
            // SAFETY: by contract.
            || unsafe { (self.hip.copy_peer)(to, to_gpu, from, from_gpu, count) },
            // SAFETY: by contract.
            |stream| unsafe { (self.hip.copy_peer_async)(to, to_gpu, from, from_gpu, count, stream) },
        )
    }

    /// HIP has no such function; all GPUs share one address space, in which the pointers tell the GPUs.
    unsafe fn copy_3d_peer(&self, copy: &Copy3dPeer, order: Order) -> Result {
        self.number(copy.src_device)?;
        self.number(copy.dst_device)?;
        let same = Copy3d {
            src_array: copy.src_array,
            src_pos: copy.src_pos,
            src_ptr: copy.src_ptr,
            dst_array: copy.dst_array,
            dst_pos: copy.dst_pos,
            dst_ptr: copy.dst_ptr,
            extent: copy.extent,
            kind: DEFAULT,
        };
        // SAFETY: by contract.
        unsafe { self.copy_3d(&same, order) }
    }

    unsafe fn fill(&self, fill: &Fill, order: Order) -> Result {
        let Fill { to, pitch, value, width, height } = *fill;
        let (hip, value) = (&self.hip, i32::from(value));
        let rows = |order| {
            ordered(
                self,
                order,
                // SAFETY: by contract.
                || unsafe { (hip.fill_2d)(to, pitch, value, width, height) },
                // SAFETY: by contract.
                |stream| unsafe { (hip.fill_2d_async)(to, pitch, value, width, height, stream) },
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
