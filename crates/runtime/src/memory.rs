//! Allocation: device, managed and host memory are all host memory here, tracked so that wrong pointers get CUDA's errors.
//!
//! Device memory is aligned to 256 bytes. A copy whose device side does not lie in an allocation (or a device variable) is
//! `cudaErrorInvalidValue`, as on a GPU.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::error::{CudaError, Result, device_ok};
use crate::macros::{cuda_api, put};

const ALIGNMENT: usize = 256;
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
}

#[derive(Default)]
struct Heap {
    live: BTreeMap<usize, Allocation>,
    used: usize,
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
    crate::registration::in_variable(start, len)
}

pub fn allocate(size: usize, kind: Kind, flags: u32) -> Result<*mut c_void> {
    if size == 0 {
        return Ok(std::ptr::null_mut());
    }
    if size > crate::device::total_memory() {
        return Err(CudaError::MEMORY_ALLOCATION);
    }
    let mut pointer = std::ptr::null_mut();
    // SAFETY: a valid alignment and an output variable.
    let failed = unsafe { libc::posix_memalign(&raw mut pointer, ALIGNMENT, size.next_multiple_of(ALIGNMENT)) } != 0;
    if failed || pointer.is_null() {
        return Err(CudaError::MEMORY_ALLOCATION);
    }
    let start = pointer as usize;
    let mut heap = heap();
    heap.live.insert(start, Allocation { start, size, kind, flags });
    heap.used += size;
    Ok(pointer)
}

/// Frees an allocation of one of `kinds`; null is fine.
pub fn release(pointer: *mut c_void, kinds: &[Kind]) -> Result {
    if pointer.is_null() {
        return Ok(());
    }
    let mut heap = heap();
    match heap.live.get(&(pointer as usize)) {
        Some(found) if kinds.contains(&found.kind) => {
            heap.used -= found.size;
            heap.live.remove(&(pointer as usize));
        }
        _ => return Err(CudaError::INVALID_VALUE),
    }
    drop(heap);
    // SAFETY: it came from `posix_memalign` and has just left the table, so it is freed once.
    unsafe { libc::free(pointer) };
    Ok(())
}

/// Frees everything on the device (`cudaDeviceReset`).
pub fn release_all() {
    let live = std::mem::take(&mut *heap()).live;
    for found in live.values().filter(|found| found.kind != Kind::Registered) {
        // SAFETY: came from `posix_memalign` and has left the table.
        unsafe { libc::free(found.start as *mut c_void) };
    }
}

cuda_api! {
    fn cudaMalloc(pointer: *mut *mut c_void, size: usize) {
        device_ok()?;
        if pointer.is_null() { return Err(CudaError::INVALID_VALUE); }
        put(pointer, allocate(size, Kind::Device, 0)?)
    }

    fn cudaMallocManaged(pointer: *mut *mut c_void, size: usize, flags: u32) {
        device_ok()?;
        if pointer.is_null() || size == 0 || !matches!(flags, 1 | 2) { return Err(CudaError::INVALID_VALUE); }
        put(pointer, allocate(size, Kind::Managed, flags)?)
    }

    fn cudaMallocHost(pointer: *mut *mut c_void, size: usize) {
        device_ok()?;
        if pointer.is_null() { return Err(CudaError::INVALID_VALUE); }
        put(pointer, allocate(size, Kind::Host, 0)?)
    }

    fn cudaHostAlloc(pointer: *mut *mut c_void, size: usize, flags: u32) {
        device_ok()?;
        if pointer.is_null() || flags & !7 != 0 { return Err(CudaError::INVALID_VALUE); }
        put(pointer, allocate(size, Kind::Host, flags)?)
    }

    fn cudaFree(pointer: *mut c_void) {
        device_ok()?;
        release(pointer, &[Kind::Device, Kind::Managed])
    }

    fn cudaFreeHost(pointer: *mut c_void) {
        device_ok()?;
        release(pointer, &[Kind::Host])
    }

    fn cudaMallocAsync / cudaMallocAsync_ptsz(pointer: *mut *mut c_void, size: usize, stream: *mut c_void) {
        device_ok()?;
        crate::stream::check(stream)?;
        if pointer.is_null() { return Err(CudaError::INVALID_VALUE); }
        put(pointer, allocate(size, Kind::Device, 0)?)
    }

    fn cudaFreeAsync / cudaFreeAsync_ptsz(pointer: *mut c_void, stream: *mut c_void) {
        device_ok()?;
        crate::stream::check(stream)?;
        release(pointer, &[Kind::Device])
    }

    fn cudaMallocPitch(pointer: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) {
        device_ok()?;
        if pointer.is_null() || pitch.is_null() { return Err(CudaError::INVALID_VALUE); }
        let row = width.next_multiple_of(PITCH);
        put(pitch, row)?;
        put(pointer, allocate(row.checked_mul(height).ok_or(CudaError::MEMORY_ALLOCATION)?, Kind::Device, 0)?)
    }

    fn cudaHostRegister(pointer: *mut c_void, size: usize, flags: u32) {
        device_ok()?;
        if pointer.is_null() || size == 0 || flags & !0xf != 0 { return Err(CudaError::INVALID_VALUE); }
        if find(pointer).is_some() { return Err(CudaError::HOST_MEMORY_ALREADY_REGISTERED); }
        let start = pointer as usize;
        heap().live.insert(start, Allocation { start, size, kind: Kind::Registered, flags });
        Ok(())
    }

    fn cudaHostUnregister(pointer: *mut c_void) {
        let mut heap = heap();
        match heap.live.get(&(pointer as usize)) {
            Some(found) if found.kind == Kind::Registered => { heap.live.remove(&(pointer as usize)); Ok(()) }
            _ => Err(CudaError::HOST_MEMORY_NOT_REGISTERED),
        }
    }

    fn cudaHostGetDevicePointer(device: *mut *mut c_void, host: *mut c_void, flags: u32) {
        match find(host) {
            Some(found) if flags == 0 && matches!(found.kind, Kind::Host | Kind::Registered) => put(device, host),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    fn cudaHostGetFlags(flags: *mut u32, host: *mut c_void) {
        match find(host) {
            Some(found) if matches!(found.kind, Kind::Host | Kind::Registered) => put(flags, found.flags),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    fn cudaMemGetInfo(free: *mut usize, total: *mut usize) {
        device_ok()?;
        let all = crate::device::total_memory();
        put(free, all.saturating_sub(heap().used))?;
        put(total, all)
    }

    fn cudaPointerGetAttributes(attributes: *mut PointerAttributes, pointer: *const c_void) {
        let unified = pointer.cast_mut();
        let null = std::ptr::null_mut();
        let (kind, device, host) = match find(pointer).map(|found| found.kind) {
            Some(Kind::Host | Kind::Registered) => (1, unified, unified),
            Some(Kind::Device) => (2, unified, null),
            Some(Kind::Managed) => (3, unified, unified),
            None if crate::registration::in_variable(pointer as usize, 1) => (2, unified, null),
            None => (0, null, unified),
        };
        let ordinal = if kind == 0 { -2 } else { 0 };
        put(attributes, PointerAttributes { kind, ordinal, device, host })
    }

    fn cudaMemPrefetchAsync / cudaMemPrefetchAsync_ptsz(pointer: *const c_void, count: usize, device: i32, stream: *mut c_void) {
        device_ok()?;
        crate::stream::check(stream)?;
        if device != 0 && device != -1 { return Err(CudaError::INVALID_DEVICE); }
        advisable(pointer, count)
    }

    fn cudaMemPrefetchAsync_v2 / cudaMemPrefetchAsync_v2_ptsz(
        pointer: *const c_void, count: usize, location: Location, _flags: u32, stream: *mut c_void
    ) {
        device_ok()?;
        crate::stream::check(stream)?;
        location.check()?;
        advisable(pointer, count)
    }

    fn cudaMemAdvise_v2(pointer: *const c_void, count: usize, advice: u32, location: Location) {
        device_ok()?;
        if !(1..=6).contains(&advice) { return Err(CudaError::INVALID_VALUE); }
        location.check()?;
        advisable(pointer, count)
    }

    fn cudaMemAdvise(pointer: *const c_void, count: usize, advice: u32, device: i32) {
        device_ok()?;
        if !(1..=6).contains(&advice) { return Err(CudaError::INVALID_VALUE); }
        if device != 0 && device != -1 { return Err(CudaError::INVALID_DEVICE); }
        advisable(pointer, count)
    }
}

/// Advice and prefetching take managed memory; both are hints, and there is one memory here.
fn advisable(pointer: *const c_void, count: usize) -> Result {
    match find(pointer) {
        Some(found) if found.kind == Kind::Managed && pointer as usize + count <= found.start + found.size => Ok(()),
        None if crate::registration::in_variable(pointer as usize, count) => Ok(()),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// `cudaPointerAttributes`.
#[repr(C)]
pub struct PointerAttributes {
    kind: u32,
    ordinal: i32,
    device: *mut c_void,
    host: *mut c_void,
}

/// `cudaMemLocation`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Location {
    kind: u32,
    id: i32,
}

impl Location {
    fn check(self) -> Result {
        match self.kind {
            1 => crate::device::check_device(self.id),
            2..=4 => Ok(()),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }
}
