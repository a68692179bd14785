//! Memory pools, which the driver has.

use std::ffi::c_void;

use super::state::Cuda;
use crate::device::seam::{Pools, Stream};
use crate::error::{CudaError, Result};
use crate::types::PoolProps;

/// A function that came with drivers of CUDA 11.2.
fn newer<T: Copy>(function: Option<T>) -> Result<T> {
    function.ok_or(CudaError::NEWER_DRIVER)
}

impl Pools for Cuda {
    fn default_pool(&self, device: i32) -> Result<*mut c_void> {
        let mut pool = std::ptr::null_mut();
        // SAFETY: valid for a write.
        self.done(unsafe { newer(self.driver.default_pool)?(&raw mut pool, self.gpu(device)?.handle) })?;
        Ok(pool)
    }

    fn pool(&self, device: i32) -> Result<*mut c_void> {
        let mut pool = std::ptr::null_mut();
        // SAFETY: valid for a write.
        self.done(unsafe { newer(self.driver.pool)?(&raw mut pool, self.gpu(device)?.handle) })?;
        Ok(pool)
    }

    fn set_pool(&self, device: i32, pool: *mut c_void) -> Result {
        // SAFETY: a pool of the program's.
        self.done(unsafe { newer(self.driver.set_pool)?(self.gpu(device)?.handle, pool) })
    }

    fn create_pool(&self, props: &PoolProps) -> Result<*mut c_void> {
        self.enter()?;
        let mut pool = std::ptr::null_mut();
        // SAFETY: valid for a write; the properties are those of the driver's API.
        self.done(unsafe { newer(self.driver.pool_create)?(&raw mut pool, props) })?;
        Ok(pool)
    }

    fn destroy_pool(&self, pool: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: a pool of the program's.
        self.done(unsafe { newer(self.driver.pool_destroy)?(pool) })
    }

    fn trim_pool(&self, pool: *mut c_void, keep: usize) -> Result {
        self.enter()?;
        // SAFETY: a pool of the program's.
        self.done(unsafe { newer(self.driver.pool_trim)?(pool, keep) })
    }

    unsafe fn pool_attribute(&self, pool: *mut c_void, which: u32, value: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: by contract.
        self.done(unsafe { newer(self.driver.pool_attribute)?(pool, which, value) })
    }

    unsafe fn set_pool_attribute(&self, pool: *mut c_void, which: u32, value: *const c_void) -> Result {
        self.enter()?;
        // SAFETY: by contract.
        self.done(unsafe { newer(self.driver.pool_set_attribute)?(pool, which, value) })
    }

    fn allocate_from(&self, size: usize, pool: *mut c_void, stream: Stream) -> Result<*mut c_void> {
        self.enter()?;
        let mut pointer = 0;
        // SAFETY: valid for a write.
        self.done(unsafe { newer(self.driver.allocate_from_pool)?(&raw mut pointer, size, pool, stream) })?;
        Ok(pointer as *mut c_void)
    }
}
