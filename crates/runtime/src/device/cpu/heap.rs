//! Allocation: device, managed and host memory are all host memory here, tracked so that wrong pointers get CUDA's
//! errors.
//!
//! Device memory is aligned to 256 bytes. A copy whose device side does not lie in an allocation (or a device variable)
//! is `cudaErrorInvalidValue`, as on a GPU.
//!
//! Blocks go through memory as a GPU would have it, a few bytes from each of many rows: with pages of 4 KB an access of a row that is new
//! waits for the page as long as for the line. What is large is asked for in pages of 2 MB. What lies at the same place of such pages is in
//! the same set of a cache, so that arrays, which are gone through side by side, begin apart.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::{kernel, limits};
use crate::error::{CudaError, Result};

const ALIGNMENT: usize = 256;
/// From so many bytes on memory is asked for in large pages.
const LARGE: usize = 4 << 20;
const LARGE_PAGE: usize = 2 << 20;
/// How far apart in the sets of a cache such memory begins, and how many of it one after the other.
const APART: usize = 17 * ALIGNMENT;
const PLACES: usize = 16;
/// `cudaMallocPitch` rounds rows up to this.
pub const PITCH: usize = 512;

/// Values are those of `cudaMemoryType`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Host = 1,
    Device = 2,
    Managed = 3,
    /// `cudaHostRegister`: the program's own memory.
    Registered = 4,
}

#[derive(Clone, Copy)]
pub struct Allocation {
    pub start: usize,
    pub size: usize,
    pub kind: Kind,
    pub flags: u32,
    /// What the C library gave; it may begin before.
    base: usize,
}

#[derive(Default)]
struct Heap {
    live: BTreeMap<usize, Allocation>,
    used: usize,
    /// How often memory was asked for in large pages.
    large: usize,
}

fn heap() -> MutexGuard<'static, Heap> {
    static HEAP: OnceLock<Mutex<Heap>> = OnceLock::new();
    HEAP.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// The allocation that holds an address.
pub fn find(address: *const c_void) -> Option<Allocation> {
    let address = address as usize;
    let heap = heap();
    let (_, found) = heap.live.range(..=address).next_back()?;
    (address < found.start + found.size.max(1)).then_some(*found)
}

/// Whether `[address, address + len)` is memory that a GPU could reach.
pub fn device_range(address: *const c_void, len: usize) -> bool {
    let start = address as usize;
    if let Some(found) = find(address) {
        return start + len <= found.start + found.size;
    }
    kernel::in_variable(start, len)
}

pub fn allocate(size: usize, kind: Kind, flags: u32) -> Result<*mut c_void> {
    if size == 0 {
        return Ok(std::ptr::null_mut());
    }
    if size > limits::total_memory() {
        return Err(CudaError::MEMORY_ALLOCATION);
    }
    let mut heap = heap();
    let (alignment, before) = if size < LARGE {
        (ALIGNMENT, 0)
    } else {
        heap.large += 1;
        (LARGE_PAGE, heap.large % PLACES * APART)
    };
    let bytes = before + size.next_multiple_of(ALIGNMENT);
    let mut pointer = std::ptr::null_mut();
    // SAFETY: a valid alignment and an output variable.
    let failed = unsafe { libc::posix_memalign(&raw mut pointer, alignment, bytes) } != 0;
    if failed || pointer.is_null() {
        return Err(CudaError::MEMORY_ALLOCATION);
    }
    if alignment == LARGE_PAGE {
        // SAFETY: whole pages of what has just been allocated; their content stays.
        unsafe { libc::madvise(pointer, bytes - bytes % LARGE_PAGE, libc::MADV_HUGEPAGE) };
    }
    let (base, start) = (pointer as usize, pointer as usize + before);
    heap.live.insert(start, Allocation { start, size, kind, flags, base });
    heap.used += size;
    Ok(start as *mut c_void)
}

/// Frees an allocation of one of `kinds`; null is fine.
pub fn release(pointer: *mut c_void, kinds: &[Kind]) -> Result {
    if pointer.is_null() {
        return Ok(());
    }
    let mut heap = heap();
    let Some(found) = heap.live.get(&(pointer as usize)).copied().filter(|found| kinds.contains(&found.kind)) else {
        return Err(CudaError::INVALID_VALUE);
    };
    heap.used -= found.size;
    heap.live.remove(&found.start);
    drop(heap);
    // SAFETY: it came from `posix_memalign` and has just left the table, so it is freed once.
    unsafe { libc::free(found.base as *mut c_void) };
    Ok(())
}

/// Frees everything on the device (`cudaDeviceReset`).
pub fn release_all() {
    let live = std::mem::take(&mut *heap()).live;
    for found in live.values().filter(|found| found.kind != Kind::Registered) {
        // SAFETY: came from `posix_memalign` and has left the table.
        unsafe { libc::free(found.base as *mut c_void) };
    }
}

/// Takes note of the program's own memory.
pub fn register(pointer: *mut c_void, size: usize, flags: u32) -> Result {
    if find(pointer).is_some() {
        return Err(CudaError::HOST_MEMORY_ALREADY_REGISTERED);
    }
    let start = pointer as usize;
    heap().live.insert(start, Allocation { start, size, kind: Kind::Registered, flags, base: start });
    Ok(())
}

/// Forgets the program's own memory.
pub fn unregister(pointer: *mut c_void) -> Result {
    let mut heap = heap();
    match heap.live.get(&(pointer as usize)) {
        Some(found) if found.kind == Kind::Registered => {
            heap.live.remove(&(pointer as usize));
            Ok(())
        }
        _ => Err(CudaError::HOST_MEMORY_NOT_REGISTERED),
    }
}

/// Bytes that are allocated.
pub fn used() -> usize {
    heap().used
}

/// Advice and prefetching take managed memory; both are hints, and there is one memory here.
pub fn advisable(pointer: *const c_void, count: usize) -> Result {
    match find(pointer) {
        Some(found) if found.kind == Kind::Managed && pointer as usize + count <= found.start + found.size => Ok(()),
        None if kernel::in_variable(pointer as usize, count) => Ok(()),
        _ => Err(CudaError::INVALID_VALUE),
    }
}
