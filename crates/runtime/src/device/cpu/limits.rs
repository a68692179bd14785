//! What the CPU can take, in CUDA's terms.
//!
//! Limits follow the architecture that the source saw as `__CUDA_ARCH__`: a kernel written for 96 KiB of shared memory
//! gets them. One multiprocessor per worker thread.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::failure::device_ok;
use super::kernel::Kernel;
use super::processors;
use crate::compiled;
use crate::error::{CudaError, Result};

pub const MAX_THREADS_PER_BLOCK: u32 = 1024;
pub const SHARED_PER_BLOCK: u32 = 48 << 10;
pub const REGISTERS: i32 = 65536;
/// Bytes of CPU stack that a thread gets at least; C library calls need some.
const MIN_COROUTINE_STACK: usize = 256 << 10;

/// Architecture in the units of `__CUDA_ARCH__`: `REGRAIN_CPU_ARCH`, else what the program was compiled for.
pub fn arch() -> u32 {
    static ARCH: OnceLock<u32> = OnceLock::new();
    *ARCH.get_or_init(|| {
        let parse = |text: String| {
            let digits = text.trim().trim_start_matches("sm_").parse::<u32>().ok()?;
            Some(if digits < 300 { digits * 10 } else { digits })
        };
        std::env::var("REGRAIN_CPU_ARCH").ok().and_then(parse).unwrap_or_else(compiled::arch)
    })
}

/// (shared per multiprocessor, shared per block by opt-in, threads and blocks per multiprocessor)
pub fn sm_limits() -> (u32, u32, u32, u32) {
    match arch() {
        750 => (64 << 10, 64 << 10, 1024, 16),
        860 | 890 => (100 << 10, 99 << 10, 1536, if arch() == 860 { 16 } else { 24 }),
        800 | 870 => (164 << 10, 163 << 10, 2048, 32),
        1200.. => (100 << 10, 99 << 10, 1536, 24),
        900.. => (228 << 10, 227 << 10, 2048, 32),
        _ => (96 << 10, 96 << 10, 2048, 32),
    }
}

pub fn multiprocessors() -> u32 {
    processors::threads() as u32
}

/// Physical memory in bytes.
pub fn total_memory() -> usize {
    static TOTAL: OnceLock<usize> = OnceLock::new();
    *TOTAL.get_or_init(|| {
        // SAFETY: `sysconf` without preconditions.
        let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
        pages.max(1) as usize * size.max(4096) as usize
    })
}

/// Blocks of this kernel that fit one multiprocessor together.
pub fn max_blocks_per_sm(kernel: &Kernel, threads: u32, dynamic_shared: usize) -> u32 {
    let (shared_per_sm, _, threads_per_sm, blocks_per_sm) = sm_limits();
    let limit = if kernel.max_threads == 0 { MAX_THREADS_PER_BLOCK } else { kernel.max_threads };
    if threads == 0 || threads > limit {
        return 0;
    }
    let by_threads = threads_per_sm / threads.next_multiple_of(32);
    let shared = kernel.static_shared as usize + dynamic_shared;
    let by_shared = (shared_per_sm as usize).checked_div(shared).map_or(u32::MAX, |blocks| blocks as u32);
    by_threads.min(by_shared).min(blocks_per_sm)
}

const LIMIT_COUNT: usize = 7;
/// `cudaLimit` values 0 to 6 with CUDA's defaults: stack, printf fifo, heap, sync depth, pending launches, L2
/// granularity, persisting L2.
static LIMITS: [AtomicUsize; LIMIT_COUNT] = [
    AtomicUsize::new(1024),
    AtomicUsize::new(1 << 20),
    AtomicUsize::new(8 << 20),
    AtomicUsize::new(2),
    AtomicUsize::new(2048),
    AtomicUsize::new(64),
    AtomicUsize::new(0),
];

/// Size of a thread's stack in the coroutine form. CPU frames are larger than GPU ones, hence the factor.
pub fn coroutine_stack(kernel: &Kernel) -> usize {
    let asked = LIMITS[0].load(Ordering::Relaxed);
    MIN_COROUTINE_STACK.max(asked * 4 + (64 << 10)) + kernel.local_bytes as usize
}

/// Sets a `cudaLimit`.
pub fn set_limit(limit: u32, value: usize) -> Result {
    device_ok()?;
    let slot = LIMITS.get(limit as usize).ok_or(CudaError::UNSUPPORTED_LIMIT)?;
    if limit == 0 && value > (1 << 30) {
        return Err(CudaError::INVALID_VALUE);
    }
    slot.store(value, Ordering::Relaxed);
    Ok(())
}

/// A `cudaLimit`.
pub fn limit(limit: u32) -> Result<usize> {
    Ok(LIMITS.get(limit as usize).ok_or(CudaError::UNSUPPORTED_LIMIT)?.load(Ordering::Relaxed))
}

/// The only device there is.
pub fn check_device(device: i32) -> Result {
    if device == 0 { Ok(()) } else { Err(CudaError::INVALID_DEVICE) }
}

/// Dynamic shared memory that a launch of this kernel may ask for.
pub fn dynamic_shared_limit(kernel: &Kernel) -> u32 {
    let default = SHARED_PER_BLOCK.saturating_sub(kernel.static_shared);
    default.max(kernel.max_dynamic_shared.load(Ordering::Relaxed))
}
