//! Memory pools: handles over the one device heap. Freed memory returns to the system at once, so a pool keeps nothing.

use std::collections::HashSet;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::device::check_device;
use crate::error::{CudaError, Result, device_ok};
use crate::macros::{cuda_api, put};
use crate::memory::{Kind, allocate};
use crate::stream;

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

/// The head of `cudaMemPoolProps`.
#[repr(C)]
pub struct PoolProps {
    alloc_type: u32,
    handle_types: u32,
    location_type: u32,
    location_id: i32,
}

cuda_api! {
    fn cudaDeviceGetDefaultMemPool(pool: *mut *mut c_void, device: i32) {
        check_device(device)?;
        put(pool, DEFAULT_POOL as *mut c_void)
    }

    fn cudaDeviceGetMemPool(pool: *mut *mut c_void, device: i32) {
        check_device(device)?;
        put(pool, CURRENT.load(Ordering::Relaxed) as *mut c_void)
    }

    fn cudaDeviceSetMemPool(device: i32, pool: *mut c_void) {
        check_device(device)?;
        check(pool)?;
        CURRENT.store(pool as usize, Ordering::Relaxed);
        Ok(())
    }

    fn cudaMemPoolCreate(pool: *mut *mut c_void, props: *const PoolProps) {
        static NEXT: AtomicUsize = AtomicUsize::new(DEFAULT_POOL + 16);
        device_ok()?;
        let props = props.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        if props.handle_types != 0 { return Err(CudaError::NOT_SUPPORTED); }
        if props.alloc_type != 1 { return Err(CudaError::INVALID_VALUE); }
        if props.location_type == 1 { check_device(props.location_id)?; }
        let handle = NEXT.fetch_add(16, Ordering::Relaxed);
        pools().insert(handle);
        put(pool, handle as *mut c_void)
    }

    fn cudaMemPoolDestroy(pool: *mut c_void) {
        if !pools().remove(&(pool as usize)) { return Err(CudaError::INVALID_VALUE); }
        let _ = CURRENT.compare_exchange(pool as usize, DEFAULT_POOL, Ordering::Relaxed, Ordering::Relaxed);
        Ok(())
    }

    fn cudaMemPoolTrimTo(pool: *mut c_void, _keep: usize) { check(pool) }

    fn cudaMemPoolSetAttribute(pool: *mut c_void, which: u32, value: *const c_void) {
        check(pool)?;
        if value.is_null() { return Err(CudaError::INVALID_VALUE); }
        match which {
            1..=3 => REUSE[which as usize - 1].store(value.cast::<i32>().read() as usize, Ordering::Relaxed),
            4 => RELEASE_THRESHOLD.store(value.cast::<u64>().read() as usize, Ordering::Relaxed),
            _ => return Err(CudaError::NOT_SUPPORTED),
        }
        Ok(())
    }

    fn cudaMemPoolGetAttribute(pool: *mut c_void, which: u32, value: *mut c_void) {
        check(pool)?;
        match which {
            1..=3 => put(value.cast(), REUSE[which as usize - 1].load(Ordering::Relaxed) as i32),
            4 => put(value.cast(), RELEASE_THRESHOLD.load(Ordering::Relaxed) as u64),
            _ => Err(CudaError::NOT_SUPPORTED),
        }
    }

    fn cudaMallocFromPoolAsync / cudaMallocFromPoolAsync_ptsz(
        pointer: *mut *mut c_void, size: usize, pool: *mut c_void, stream: *mut c_void
    ) {
        device_ok()?;
        check(pool)?;
        stream::check(stream)?;
        if pointer.is_null() { return Err(CudaError::INVALID_VALUE); }
        put(pointer, allocate(size, Kind::Device, 0)?)
    }
}
