//! Allocation: the library's own.

use std::ffi::c_void;

use super::layout::Pointer;
use super::vendor::{Vendor, newer};
use crate::device::seam::{Memory, Space, Stream};
use crate::error::Result;
use crate::types::{Location, PointerAttributes};

/// Flags of host memory that CUDA knows; HIP has further ones.
const HOST_FLAGS: u32 = 0xf;
/// Values of `cudaMemoryType`: memory of a GPU, and managed memory.
pub const MEMORY_DEVICE: u32 = 2;
/// See [`MEMORY_DEVICE`].
pub const MEMORY_MANAGED: u32 = 3;
/// `cudaMemLocationType`: a device, and the host.
pub const ON_DEVICE: u32 = 1;
/// See [`ON_DEVICE`].
pub const ON_HOST: u32 = 2;
/// `CU_DEVICE_CPU`, `hipCpuDeviceId`.
pub const CPU: i32 = -1;

impl<T: Vendor> Memory for T {
    fn allocate(&self, size: usize, space: Space, flags: u32) -> Result<*mut c_void> {
        self.enter()?;
        if size == 0 {
            return Ok(std::ptr::null_mut());
        }
        let (mut device, mut host) = (0, std::ptr::null_mut());
        // SAFETY: valid for a write.
        unsafe {
            self.done(match space {
                Space::Device => (self.functions().allocate)(&raw mut device, size),
                Space::Managed => (self.functions().allocate_managed)(&raw mut device, size, flags),
                Space::Host => (self.functions().allocate_host)(&raw mut host, size, flags),
            })?;
        }
        Ok(if space == Space::Host { host } else { device as *mut c_void })
    }

    fn free(&self, pointer: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: the driver checks the pointer.
        if pointer.is_null() { Ok(()) } else { self.done(unsafe { (self.functions().free)(pointer as Pointer) }) }
    }

    fn free_host(&self, pointer: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: the driver checks the pointer.
        if pointer.is_null() { Ok(()) } else { self.done(unsafe { (self.functions().free_host)(pointer) }) }
    }

    fn allocate_async(&self, size: usize, stream: Stream) -> Result<*mut c_void> {
        let allocate = newer(self.functions().allocate_async)?;
        self.enter()?;
        if size == 0 {
            return Ok(std::ptr::null_mut());
        }
        let mut pointer = 0;
        // SAFETY: valid for a write.
        self.done(unsafe { allocate(&raw mut pointer, size, self.stream(stream)) })?;
        Ok(pointer as *mut c_void)
    }

    fn free_async(&self, pointer: *mut c_void, stream: Stream) -> Result {
        let free = newer(self.functions().free_async)?;
        self.enter()?;
        // SAFETY: the driver checks the pointer.
        if pointer.is_null() { Ok(()) } else { self.done(unsafe { free(pointer as Pointer, self.stream(stream)) }) }
    }

    fn allocate_pitched(&self, width: usize, height: usize) -> Result<(*mut c_void, usize)> {
        self.enter()?;
        if width == 0 || height == 0 {
            return Ok((std::ptr::null_mut(), 0));
        }
        Vendor::allocate_pitched(self, width, height)
    }

    fn register(&self, pointer: *mut c_void, size: usize, flags: u32) -> Result {
        self.enter()?;
        // SAFETY: the program's memory, as the CUDA function asks.
        self.done(unsafe { (self.functions().register)(pointer, size, flags) })
    }

    fn unregister(&self, pointer: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: the driver checks the pointer.
        self.done(unsafe { (self.functions().unregister)(pointer) })
    }

    fn device_pointer(&self, host: *mut c_void) -> Result<*mut c_void> {
        self.enter()?;
        let mut pointer = 0;
        // SAFETY: valid for a write; the driver checks the pointer.
        self.done(unsafe { (self.functions().host_pointer)(&raw mut pointer, host, 0) })?;
        Ok(pointer as *mut c_void)
    }

    fn host_flags(&self, host: *mut c_void) -> Result<u32> {
        self.enter()?;
        let mut flags = 0;
        // SAFETY: valid for a write; the driver checks the pointer.
        self.done(unsafe { (self.functions().host_flags)(&raw mut flags, host) })?;
        Ok(flags & HOST_FLAGS)
    }

    fn memory_info(&self) -> Result<(usize, usize)> {
        self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: valid for writes.
        self.done(unsafe { (self.functions().memory_info)(&raw mut free, &raw mut total) })?;
        Ok((free, total))
    }

    fn pointer_attributes(&self, pointer: *const c_void) -> Result<PointerAttributes> {
        self.enter()?;
        self.pointer(pointer)
    }

    fn prefetch(&self, pointer: *const c_void, count: usize, to: Location, stream: Stream) -> Result {
        self.enter()?;
        Vendor::prefetch(self, pointer, count, to, stream)
    }

    fn advise(&self, pointer: *const c_void, count: usize, advice: u32, location: Location) -> Result {
        self.enter()?;
        Vendor::advise(self, pointer, count, advice, location)
    }
}
