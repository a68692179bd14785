//! Allocation and pointers.

use std::ffi::c_void;

use super::layout::Pointer;
use super::state::Cuda;
use crate::device::seam::{Memory, Space, Stream};
use crate::error::{CudaError, Result};
use crate::types::{Location, PointerAttributes};

/// The widest access for which the driver aligns the rows of pitched memory.
const ELEMENT: u32 = 16;
/// `CU_POINTER_ATTRIBUTE_*`: memory type, device pointer, host pointer, whether it is managed, index of the device.
const ATTRIBUTES: [u32; 5] = [2, 3, 4, 8, 9];
/// Values of `cudaMemoryType`.
const MEMORY_DEVICE: u32 = 2;
/// See [`MEMORY_DEVICE`].
pub const MEMORY_MANAGED: u32 = 3;
/// `cudaMemLocationType`: a device, and the host.
const ON_DEVICE: u32 = 1;
const ON_HOST: u32 = 2;
/// `CU_DEVICE_CPU`.
const CPU: i32 = -1;

/// What `cuPointerGetAttributes` writes.
#[derive(Default)]
struct Found {
    kind: u32,
    device: Pointer,
    host: u64,
    managed: u32,
    ordinal: i32,
}

impl Cuda {
    /// A place of memory for the functions from before `cudaMemLocation`.
    fn old_location(&self, location: Location) -> Result<i32> {
        match location.kind {
            ON_DEVICE => Ok(self.gpu(location.id)?.handle),
            ON_HOST => Ok(CPU),
            _ => Err(CudaError::NEWER_DRIVER),
        }
    }
}

impl Memory for Cuda {
    fn allocate(&self, size: usize, space: Space, flags: u32) -> Result<*mut c_void> {
        self.enter()?;
        if size == 0 {
            return Ok(std::ptr::null_mut());
        }
        let (mut device, mut host) = (0, std::ptr::null_mut());
        // SAFETY: valid for a write.
        unsafe {
            self.done(match space {
                Space::Device => (self.driver.allocate)(&raw mut device, size),
                Space::Managed => (self.driver.allocate_managed)(&raw mut device, size, flags),
                Space::Host => (self.driver.allocate_host)(&raw mut host, size, flags),
            })?;
        }
        Ok(if space == Space::Host { host } else { device as *mut c_void })
    }

    fn free(&self, pointer: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: the driver checks the pointer.
        if pointer.is_null() { Ok(()) } else { self.done(unsafe { (self.driver.free)(pointer as Pointer) }) }
    }

    fn free_host(&self, pointer: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: the driver checks the pointer.
        if pointer.is_null() { Ok(()) } else { self.done(unsafe { (self.driver.free_host)(pointer) }) }
    }

    fn allocate_async(&self, size: usize, stream: Stream) -> Result<*mut c_void> {
        let allocate = self.driver.allocate_async.ok_or(CudaError::NEWER_DRIVER)?;
        self.enter()?;
        if size == 0 {
            return Ok(std::ptr::null_mut());
        }
        let mut pointer = 0;
        // SAFETY: valid for a write.
        self.done(unsafe { allocate(&raw mut pointer, size, stream) })?;
        Ok(pointer as *mut c_void)
    }

    fn free_async(&self, pointer: *mut c_void, stream: Stream) -> Result {
        let free = self.driver.free_async.ok_or(CudaError::NEWER_DRIVER)?;
        self.enter()?;
        // SAFETY: the driver checks the pointer.
        if pointer.is_null() { Ok(()) } else { self.done(unsafe { free(pointer as Pointer, stream) }) }
    }

    fn allocate_pitched(&self, width: usize, height: usize) -> Result<(*mut c_void, usize)> {
        self.enter()?;
        if width == 0 || height == 0 {
            return Ok((std::ptr::null_mut(), 0));
        }
        let (mut pointer, mut pitch) = (0, 0);
        // SAFETY: valid for writes.
        let code = unsafe { (self.driver.allocate_pitched)(&raw mut pointer, &raw mut pitch, width, height, ELEMENT) };
        self.done(code)?;
        Ok((pointer as *mut c_void, pitch))
    }

    fn register(&self, pointer: *mut c_void, size: usize, flags: u32) -> Result {
        self.enter()?;
        // SAFETY: the program's memory, as the CUDA function asks.
        self.done(unsafe { (self.driver.register)(pointer, size, flags) })
    }

    fn unregister(&self, pointer: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: the driver checks the pointer.
        self.done(unsafe { (self.driver.unregister)(pointer) })
    }

    fn device_pointer(&self, host: *mut c_void) -> Result<*mut c_void> {
        self.enter()?;
        let mut pointer = 0;
        // SAFETY: valid for a write; the driver checks the pointer.
        self.done(unsafe { (self.driver.host_pointer)(&raw mut pointer, host, 0) })?;
        Ok(pointer as *mut c_void)
    }

    fn host_flags(&self, host: *mut c_void) -> Result<u32> {
        self.enter()?;
        let mut flags = 0;
        // SAFETY: valid for a write; the driver checks the pointer.
        self.done(unsafe { (self.driver.host_flags)(&raw mut flags, host) })?;
        Ok(flags)
    }

    fn memory_info(&self) -> Result<(usize, usize)> {
        self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: valid for writes.
        self.done(unsafe { (self.driver.memory_info)(&raw mut free, &raw mut total) })?;
        Ok((free, total))
    }

    fn pointer_attributes(&self, pointer: *const c_void) -> Result<PointerAttributes> {
        self.enter()?;
        let mut found = Found::default();
        let mut places: [*mut c_void; 5] = [
            (&raw mut found.kind).cast(),
            (&raw mut found.device).cast(),
            (&raw mut found.host).cast(),
            (&raw mut found.managed).cast(),
            (&raw mut found.ordinal).cast(),
        ];
        let count = ATTRIBUTES.len() as u32;
        // SAFETY: as many places as attributes, each valid for a write of that attribute's type.
        let code = unsafe {
            (self.driver.pointer_attributes)(count, ATTRIBUTES.as_ptr(), places.as_mut_ptr(), pointer as Pointer)
        };
        self.done(code)?;
        let (device, host) = (found.device as *mut c_void, found.host as *mut c_void);
        let null = std::ptr::null_mut();
        Ok(match (found.kind, found.managed) {
            (0, _) => PointerAttributes { kind: 0, ordinal: -2, device: null, host: pointer.cast_mut() },
            (_, 1..) => PointerAttributes { kind: MEMORY_MANAGED, ordinal: found.ordinal, device, host },
            (MEMORY_DEVICE, _) => PointerAttributes { kind: MEMORY_DEVICE, ordinal: found.ordinal, device, host: null },
            (kind, _) => PointerAttributes { kind, ordinal: found.ordinal, device, host },
        })
    }

    fn prefetch(&self, pointer: *const c_void, count: usize, to: Location, stream: Stream) -> Result {
        self.enter()?;
        let pointer = pointer as Pointer;
        // SAFETY: the driver checks the range.
        self.done(unsafe {
            match self.driver.prefetch_v2 {
                Some(prefetch) => prefetch(pointer, count, to, 0, stream),
                None => (self.driver.prefetch)(pointer, count, self.old_location(to)?, stream),
            }
        })
    }

    fn advise(&self, pointer: *const c_void, count: usize, advice: u32, location: Location) -> Result {
        self.enter()?;
        let pointer = pointer as Pointer;
        // SAFETY: the driver checks the range.
        self.done(unsafe {
            match self.driver.advise_v2 {
                Some(advise) => advise(pointer, count, advice, location),
                None => (self.driver.advise)(pointer, count, advice, self.old_location(location)?),
            }
        })
    }
}
