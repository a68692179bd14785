//! Memory pools: the library's own.

use std::ffi::c_void;

use super::vendor::{Vendor, newer};
use crate::device::seam::{Pools, Stream, VirtualMemory};
use crate::error::Result;
use crate::types::PoolProps;

impl<T: Vendor> VirtualMemory for T {}

impl<T: Vendor> Pools for T {
    fn default_pool(&self, device: i32) -> Result<*mut c_void> {
        let mut pool = std::ptr::null_mut();
        // SAFETY: valid for a write.
        self.done(unsafe { newer(self.functions().default_pool)?(&raw mut pool, self.number(device)?) })?;
        Ok(pool)
    }

    fn pool(&self, device: i32) -> Result<*mut c_void> {
        let mut pool = std::ptr::null_mut();
        // SAFETY: valid for a write.
        self.done(unsafe { newer(self.functions().pool)?(&raw mut pool, self.number(device)?) })?;
        Ok(pool)
    }

    fn set_pool(&self, device: i32, pool: *mut c_void) -> Result {
        // SAFETY: a pool of the program's.
        self.done(unsafe { newer(self.functions().set_pool)?(self.number(device)?, pool) })
    }

    fn create_pool(&self, props: &PoolProps) -> Result<*mut c_void> {
        self.enter()?;
        let mut pool = std::ptr::null_mut();
        // SAFETY: valid for a write; the properties are those of the driver's API.
        self.done(unsafe { newer(self.functions().pool_create)?(&raw mut pool, props) })?;
        Ok(pool)
    }

    fn destroy_pool(&self, pool: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: a pool of the program's.
        self.done(unsafe { newer(self.functions().pool_destroy)?(pool) })
    }

    fn trim_pool(&self, pool: *mut c_void, keep: usize) -> Result {
        self.enter()?;
        // SAFETY: a pool of the program's.
        self.done(unsafe { newer(self.functions().pool_trim)?(pool, keep) })
    }

    unsafe fn pool_attribute(&self, pool: *mut c_void, which: u32, value: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: by contract.
        self.done(unsafe { newer(self.functions().pool_attribute)?(pool, which, value) })
    }

    unsafe fn set_pool_attribute(&self, pool: *mut c_void, which: u32, value: *const c_void) -> Result {
        self.enter()?;
        // SAFETY: by contract.
        self.done(unsafe { newer(self.functions().pool_set_attribute)?(pool, which, value) })
    }

    fn allocate_from(&self, size: usize, pool: *mut c_void, stream: Stream) -> Result<*mut c_void> {
        self.enter()?;
        let mut pointer = 0;
        // SAFETY: valid for a write.
        self.done(unsafe {
            newer(self.functions().allocate_from_pool)?(&raw mut pointer, size, pool, self.stream(stream))
        })?;
        Ok(pointer as *mut c_void)
    }
}
