//! Memory pools: handles over the one device heap. Freed memory returns to the system at once, so a pool keeps nothing.

use std::collections::HashSet;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::failure::device_ok;
use super::limits::check_device;
use super::machine::Cpu;
use super::memory::allocate_in_order;
use super::{heap, streams};
use crate::device::seam::{Pools, Stream};
use crate::error::{self, CudaError, Result};
use crate::macros::put;
use crate::types::{Access, Location, PoolProps};

const DEFAULT_POOL: usize = 0x504f_0010;

fn pools() -> MutexGuard<'static, HashSet<usize>> {
    static POOLS: OnceLock<Mutex<HashSet<usize>>> = OnceLock::new();
    POOLS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

fn check(pool: *mut c_void) -> Result {
    if pool as usize == DEFAULT_POOL || pools().contains(&(pool as usize)) {
        Ok(())
    } else {
        Err(CudaError::INVALID_VALUE)
    }
}

static CURRENT: AtomicUsize = AtomicUsize::new(DEFAULT_POOL);
static RELEASE_THRESHOLD: AtomicUsize = AtomicUsize::new(0);
/// The reuse policies, which programs may read back.
static REUSE: [AtomicUsize; 3] = [AtomicUsize::new(1), AtomicUsize::new(1), AtomicUsize::new(1)];

/// The pool that memory comes from where no other one is named.
pub fn current() -> usize {
    CURRENT.load(Ordering::Relaxed)
}

/// `cudaMemPoolAttr`: bytes that the pool has, and of these in use, which are the same here; now and at most.
const RESERVED: u32 = 5;
const MOST_RESERVED: u32 = 6;
const USED: u32 = 7;
const MOST_USED: u32 = 8;

/// `cudaMemLocationTypeDevice`, and the three kinds of places on the host.
const ON_DEVICE: u32 = 1;
const ON_HOST: std::ops::RangeInclusive<u32> = 2..=4;
/// `cudaMemAccessFlagsProtNone`, `cudaMemAccessFlagsProtReadWrite`.
const NONE: u32 = 0;
const READ_AND_WRITE: u32 = 3;

impl Pools for Cpu {
    fn default_pool(&self, device: i32) -> Result<*mut c_void> {
        check_device(device)?;
        Ok(DEFAULT_POOL as *mut c_void)
    }

    fn pool(&self, device: i32) -> Result<*mut c_void> {
        check_device(device)?;
        Ok(current() as *mut c_void)
    }

    fn set_pool(&self, device: i32, pool: *mut c_void) -> Result {
        check_device(device)?;
        check(pool)?;
        CURRENT.store(pool as usize, Ordering::Relaxed);
        Ok(())
    }

    fn create_pool(&self, props: &PoolProps) -> Result<*mut c_void> {
        static NEXT: AtomicUsize = AtomicUsize::new(DEFAULT_POOL + 16);
        device_ok()?;
        if props.handle_types != 0 {
            return Err(CudaError::NOT_SUPPORTED);
        }
        if props.alloc_type != 1 {
            return Err(CudaError::INVALID_VALUE);
        }
        if props.location_type == 1 {
            check_device(props.location_id)?;
        }
        let handle = NEXT.fetch_add(16, Ordering::Relaxed);
        pools().insert(handle);
        Ok(handle as *mut c_void)
    }

    fn destroy_pool(&self, pool: *mut c_void) -> Result {
        if !pools().remove(&(pool as usize)) {
            return Err(CudaError::INVALID_VALUE);
        }
        let _ = CURRENT.compare_exchange(pool as usize, DEFAULT_POOL, Ordering::Relaxed, Ordering::Relaxed);
        Ok(())
    }

    fn trim_pool(&self, pool: *mut c_void, _keep: usize) -> Result {
        check(pool)
    }

    unsafe fn pool_attribute(&self, pool: *mut c_void, which: u32, value: *mut c_void) -> Result {
        check(pool)?;
        // SAFETY: by contract.
        unsafe {
            match which {
                1..=3 => put(value.cast(), REUSE[which as usize - 1].load(Ordering::Relaxed) as i32),
                4 => put(value.cast(), RELEASE_THRESHOLD.load(Ordering::Relaxed) as u64),
                RESERVED | USED => put(value.cast(), heap::amounts(pool as usize).used as u64),
                MOST_RESERVED | MOST_USED => put(value.cast(), heap::amounts(pool as usize).most as u64),
                _ => Err(CudaError::NOT_SUPPORTED),
            }
        }
    }

    unsafe fn set_pool_attribute(&self, pool: *mut c_void, which: u32, value: *const c_void) -> Result {
        check(pool)?;
        // SAFETY: by contract.
        unsafe {
            match which {
                1..=3 => REUSE[which as usize - 1].store(value.cast::<i32>().read() as usize, Ordering::Relaxed),
                4 => RELEASE_THRESHOLD.store(value.cast::<u64>().read() as usize, Ordering::Relaxed),
                MOST_RESERVED | MOST_USED if value.cast::<u64>().read() == 0 => heap::forget_most(pool as usize),
                RESERVED..=MOST_USED => return Err(CudaError::INVALID_VALUE),
                _ => return Err(CudaError::NOT_SUPPORTED),
            }
        }
        Ok(())
    }

    fn allocate_from(&self, size: usize, pool: *mut c_void, stream: Stream) -> Result<*mut c_void> {
        device_ok()?;
        check(pool)?;
        streams::check(stream)?;
        allocate_in_order(size, pool as usize, stream)
    }

    fn pool_access(&self, pool: *mut c_void, location: Location) -> Result<u32> {
        check(pool)?;
        match location.kind {
            ON_DEVICE => check_device(location.id).map(|()| READ_AND_WRITE),
            kind if ON_HOST.contains(&kind) => Ok(NONE),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    /// The device that a pool is of always has it all.
    fn set_pool_access(&self, pool: *mut c_void, asked: Access) -> Result {
        check(pool)?;
        match asked.location.kind {
            ON_DEVICE => check_device(asked.location.id)?,
            kind if ON_HOST.contains(&kind) => return Err(CudaError::NOT_SUPPORTED),
            _ => return Err(CudaError::INVALID_VALUE),
        }
        error::check(asked.flags == READ_AND_WRITE)
    }
}
