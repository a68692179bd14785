//! Attributes of kernels and occupancy.
//!
//! Occupancy is CUDA's arithmetic over threads, blocks and shared memory of a multiprocessor; registers do not limit it here.

use std::ffi::{c_char, c_void};
use std::sync::atomic::Ordering;

use crate::device;
use crate::error::{CudaError, Result, device_ok};
use crate::macros::{cuda_api, put};
use crate::registration::{Kernel, kernel};

/// `cudaFuncAttributes`.
#[repr(C)]
pub struct FuncAttributes {
    shared: usize,
    constant: usize,
    local: usize,
    max_threads: i32,
    registers: i32,
    ptx_version: i32,
    binary_version: i32,
    cache_mode_ca: i32,
    max_dynamic_shared: i32,
    carveout: i32,
    cluster_dim_must_be_set: i32,
    required_cluster: [i32; 3],
    cluster_policy: i32,
    non_portable_cluster: i32,
    reserved: [i32; 16],
}

const _: () = assert!(size_of::<FuncAttributes>() == 144);

/// Nominal: CPU code has no such figure, and programs divide by it.
const REGISTERS_PER_THREAD: i32 = 32;
const MAX_DYNAMIC_SHARED: u32 = 8;
const CARVEOUT: u32 = 9;

fn attributes(kernel: &Kernel) -> FuncAttributes {
    let version = device::arch() as i32 / 10;
    let max_threads =
        if kernel.max_threads == 0 { device::MAX_THREADS_PER_BLOCK } else { kernel.max_threads.min(1024) };
    FuncAttributes {
        shared: kernel.static_shared as usize,
        constant: 0,
        local: kernel.local_bytes as usize,
        max_threads: max_threads as i32,
        registers: REGISTERS_PER_THREAD,
        ptx_version: version,
        binary_version: version,
        cache_mode_ca: 0,
        max_dynamic_shared: crate::launch::dynamic_shared_limit(kernel) as i32,
        carveout: kernel.carveout.load(Ordering::Relaxed),
        cluster_dim_must_be_set: 0,
        required_cluster: [0; 3],
        cluster_policy: 0,
        non_portable_cluster: 0,
        reserved: [0; 16],
    }
}

fn set_attribute(kernel: &Kernel, which: u32, value: i32) -> Result {
    match which {
        MAX_DYNAMIC_SHARED => {
            let (_, optin, _, _) = device::sm_limits();
            let value = u32::try_from(value).map_err(|_| CudaError::INVALID_VALUE)?;
            if value > optin.saturating_sub(kernel.static_shared) {
                return Err(CudaError::INVALID_VALUE);
            }
            kernel.max_dynamic_shared.store(value, Ordering::Relaxed);
            Ok(())
        }
        CARVEOUT if (-1..=100).contains(&value) => {
            kernel.carveout.store(value, Ordering::Relaxed);
            Ok(())
        }
        10..=15 => Err(CudaError::NOT_SUPPORTED),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

fn occupancy(stub: *const c_void, threads: i32, shared: usize) -> Result<i32> {
    let kernel = kernel(stub)?;
    let threads = u32::try_from(threads).ok().filter(|count| *count > 0).ok_or(CudaError::INVALID_VALUE)?;
    Ok(device::max_blocks_per_sm(&kernel, threads, shared) as i32)
}

/// Offset of a parameter in CUDA's parameter space: naturally aligned by its size, at most 16.
fn parameter(kernel: &Kernel, index: usize) -> Result<(usize, usize)> {
    let mut offset = 0usize;
    for (at, size) in kernel.param_sizes.iter().enumerate() {
        let size = *size as usize;
        offset = offset.next_multiple_of((1 << size.trailing_zeros()).clamp(1, 16));
        if at == index {
            return Ok((offset, size));
        }
        offset += size;
    }
    Err(CudaError::INVALID_VALUE)
}

cuda_api! {
    fn cudaFuncGetAttributes(target: *mut FuncAttributes, stub: *const c_void) {
        device_ok()?;
        put(target, attributes(&*kernel(stub)?))
    }

    fn cudaFuncSetAttribute(stub: *const c_void, which: u32, value: i32) {
        device_ok()?;
        set_attribute(&*kernel(stub)?, which, value)
    }

    fn cudaFuncSetCacheConfig(stub: *const c_void, config: u32) {
        kernel(stub)?;
        if config > 3 { Err(CudaError::INVALID_VALUE) } else { Ok(()) }
    }

    fn cudaFuncSetSharedMemConfig(stub: *const c_void, config: u32) {
        kernel(stub)?;
        if config > 2 { Err(CudaError::INVALID_VALUE) } else { Ok(()) }
    }

    fn cudaFuncGetName(name: *mut *const c_char, stub: *const c_void) {
        put(name, kernel(stub)?.c_name)
    }

    fn cudaFuncGetParamInfo(stub: *const c_void, index: usize, offset: *mut usize, size: *mut usize) {
        let (at, bytes) = parameter(&*kernel(stub)?, index)?;
        put(offset, at)?;
        if size.is_null() { Ok(()) } else { put(size, bytes) }
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(count: *mut i32, stub: *const c_void, threads: i32, shared: usize) {
        put(count, occupancy(stub, threads, shared)?)
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        count: *mut i32, stub: *const c_void, threads: i32, shared: usize, flags: u32
    ) {
        if flags > 1 { return Err(CudaError::INVALID_VALUE); }
        put(count, occupancy(stub, threads, shared)?)
    }

    fn cudaOccupancyAvailableDynamicSMemPerBlock(size: *mut usize, stub: *const c_void, blocks: i32, threads: i32) {
        let found = kernel(stub)?;
        let (per_sm, optin, _, _) = device::sm_limits();
        if blocks <= 0 || occupancy(stub, threads, 0)? < blocks { return Err(CudaError::INVALID_VALUE); }
        put(size, (per_sm / blocks as u32).min(optin).saturating_sub(found.static_shared) as usize)
    }
}
