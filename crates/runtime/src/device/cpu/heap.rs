//! Allocation: device, managed and host memory are all host memory here, tracked so that wrong pointers get CUDA's
//! errors.
//!
//! Device memory is aligned to 256 bytes; what is small is cut from slabs (`slabs`). A copy whose device side does not lie in an
//! allocation (or a device variable) is `cudaErrorInvalidValue`, as on a GPU.
//!
//! Blocks go through memory as a GPU would have it, a few bytes from each of many rows: with pages of 4 KB an access of a row that is new
//! waits for the page as long as for the line. What is large is asked for in pages of 2 MB. What lies at the same place of such pages is in
//! the same set of a cache, so that arrays, which are gone through side by side, begin apart.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::c_void;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::slabs::{self, Slabs};
use super::{advice, checks, files, kernel, limits, pages};
use crate::error::{CudaError, Result};

const ALIGNMENT: usize = 256;
/// From so many bytes on memory is asked for in large pages.
const LARGE: usize = 4 << 20;
const LARGE_PAGE: usize = 2 << 20;
/// How far apart in the sets of a cache memory begins, and how many of it one after the other. Not near each other in a page either: a load waits for
/// the stores before it at about its place in another page.
const APART: usize = 21 * ALIGNMENT;
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
    source: Source,
    /// The pool that it counts for, 0 for none.
    pool: usize,
    /// It is to be freed behind work that may use it.
    leaves: bool,
}

/// Where memory comes from.
#[derive(Clone, Copy)]
enum Source {
    /// The C library gave it; it may begin before.
    Library {
        base: usize,
    },
    Slab,
    /// The checker.
    Checker,
    /// The program.
    Program,
}

/// Bytes that are in use, and the most that were since the program asked to begin anew.
#[derive(Clone, Copy, Default)]
pub struct Amounts {
    pub used: usize,
    pub most: usize,
}

#[derive(Default)]
struct Heap {
    live: BTreeMap<usize, Allocation>,
    used: usize,
    slabs: Slabs,
    /// What is in use of each pool that there was something of.
    pools: BTreeMap<usize, Amounts>,
    /// How often memory was asked for that is not cut from slabs.
    whole: usize,
    /// What other processes may have, by where it begins: a file, and how many bytes.
    shared: BTreeMap<usize, (OwnedFd, usize)>,
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
    if let Some(made) = checks::checker().and_then(|checker| checker.allocate(size, kind)) {
        let start = made.ok_or(CudaError::MEMORY_ALLOCATION)?;
        let mut heap = heap();
        heap.live
            .insert(start, Allocation { start, size, kind, flags, source: Source::Checker, pool: 0, leaves: false });
        heap.used += size;
        return Ok(start as *mut c_void);
    }
    let mut heap = heap();
    let is_small = size <= slabs::LARGEST && matches!(kind, Kind::Device | Kind::Managed);
    let made = match is_small {
        true => heap.slabs.take(size, || aligned(slabs::SLAB, slabs::SLAB)).map(|start| (start, Source::Slab)),
        false => {
            heap.whole += 1;
            let before = heap.whole % PLACES * APART;
            let (alignment, before) = match kind {
                _ if size >= LARGE => (LARGE_PAGE, before),
                // Nothing else is in the pages of device memory, so that other processes can have it.
                Kind::Device => (pages::size(), before % pages::size()),
                _ => (ALIGNMENT, 0),
            };
            let base = large(alignment, (before + size).next_multiple_of(alignment.min(pages::size())));
            base.map(|base| (base + before, Source::Library { base }))
        }
    };
    let (start, source) = made.ok_or(CudaError::MEMORY_ALLOCATION)?;
    heap.live.insert(start, Allocation { start, size, kind, flags, source, pool: 0, leaves: false });
    heap.used += size;
    Ok(start as *mut c_void)
}

/// Counts memory that has just been allocated for a pool.
pub fn count_for(pool: usize, pointer: *mut c_void) {
    let mut heap = heap();
    let Some(found) = heap.live.get_mut(&(pointer as usize)) else { return };
    found.pool = pool;
    let size = found.size;
    let amounts = heap.pools.entry(pool).or_default();
    amounts.used += size;
    amounts.most = amounts.most.max(amounts.used);
}

/// What is in use of a pool.
pub fn amounts(pool: usize) -> Amounts {
    heap().pools.get(&pool).copied().unwrap_or_default()
}

/// Begins anew with the most that is in use of a pool.
pub fn forget_most(pool: usize) {
    if let Some(amounts) = heap().pools.get_mut(&pool) {
        amounts.most = amounts.used;
    }
}

/// Memory of the C library.
fn aligned(alignment: usize, bytes: usize) -> Option<usize> {
    let mut pointer = std::ptr::null_mut();
    // SAFETY: a valid alignment and an output variable.
    let failed = unsafe { libc::posix_memalign(&raw mut pointer, alignment, bytes) } != 0;
    (!failed && !pointer.is_null()).then_some(pointer as usize)
}

/// The same, in large pages where it is aligned to them.
fn large(alignment: usize, bytes: usize) -> Option<usize> {
    let base = aligned(alignment, bytes)?;
    if alignment == LARGE_PAGE {
        // SAFETY: whole pages of what has just been allocated; their content stays.
        unsafe { libc::madvise(base as *mut c_void, bytes - bytes % LARGE_PAGE, libc::MADV_HUGEPAGE) };
    }
    Some(base)
}

impl Heap {
    /// Gives the memory of an allocation back that has just left the table.
    fn give_back(&mut self, gone: &Allocation) {
        match gone.source {
            Source::Library { base } => {
                if let Some((_, bytes)) = self.shared.remove(&base) {
                    files::take_back(base, bytes);
                }
                // SAFETY: it came from `posix_memalign`, and is freed once.
                unsafe { libc::free(base as *mut c_void) };
            }
            Source::Checker => {
                if let Some(checker) = checks::checker() {
                    checker.release(gone.start);
                }
            }
            Source::Slab => self.slabs.give(gone.start, gone.size),
            Source::Program => (),
        }
    }
}

/// Frees an allocation of one of `kinds`; null is fine.
pub fn release(pointer: *mut c_void, kinds: &[Kind]) -> Result {
    begin_release(pointer, kinds)?;
    finish_release(pointer)
}

/// Checks what is to be freed: it is there until [`finish_release`], and cannot be freed once more.
pub fn begin_release(pointer: *mut c_void, kinds: &[Kind]) -> Result {
    if pointer.is_null() {
        return Ok(());
    }
    let mut heap = heap();
    let found = heap.live.get_mut(&(pointer as usize)).filter(|found| kinds.contains(&found.kind) && !found.leaves);
    let Some(found) = found else {
        if let Some(checker) = checks::checker() {
            checker.not_released(pointer as usize);
        }
        return Err(CudaError::INVALID_VALUE);
    };
    if matches!(found.source, Source::Program) {
        return Err(CudaError::INVALID_VALUE);
    }
    found.leaves = true;
    Ok(())
}

/// Frees what is known to be freed.
pub fn finish_release(pointer: *mut c_void) -> Result {
    let mut heap = heap();
    if let Some(found) = heap.live.remove(&(pointer as usize)) {
        heap.used -= found.size;
        if let Some(amounts) = heap.pools.get_mut(&found.pool) {
            amounts.used -= found.size;
        }
        heap.give_back(&found);
        if found.kind == Kind::Managed {
            advice::forget(found.start, found.size);
        }
    }
    Ok(())
}

/// Frees everything on the device (`cudaDeviceReset`).
pub fn release_all() {
    if let Some(checker) = checks::checker() {
        checker.leaks();
    }
    let mut heap = heap();
    for found in std::mem::take(&mut heap.live).values() {
        heap.give_back(found);
    }
    heap.used = 0;
    heap.pools.clear();
}

/// Takes note of memory that was mapped, and is device memory as long as it is there.
pub fn place(start: usize, size: usize) {
    let source = Source::Program;
    let mapped = Allocation { start, size, kind: Kind::Device, flags: 0, source, pool: 0, leaves: false };
    heap().live.insert(start, mapped);
}

/// Forgets memory that was mapped.
pub fn displace(start: usize) {
    heap().live.remove(&start);
}

/// Takes note of the program's own memory.
pub fn register(pointer: *mut c_void, size: usize, flags: u32) -> Result {
    if find(pointer).is_some() {
        return Err(CudaError::HOST_MEMORY_ALREADY_REGISTERED);
    }
    let start = pointer as usize;
    let source = Source::Program;
    let registered = Allocation { start, size, kind: Kind::Registered, flags, source, pool: 0, leaves: false };
    heap().live.insert(start, registered);
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

/// Memory as another process can have it: an open file, its bytes, and where in it an allocation lies.
pub struct Part {
    pub file: RawFd,
    pub bytes: usize,
    pub offset: usize,
    pub size: usize,
}

/// Makes the pages of an allocation those of a file; of small memory the whole slab.
pub fn share(pointer: *const c_void) -> Result<Part> {
    let mut heap = heap();
    let found = heap.live.get(&(pointer as usize)).copied();
    let found = found.filter(|found| found.kind == Kind::Device).ok_or(CudaError::INVALID_VALUE)?;
    let (start, bytes) = match found.source {
        Source::Slab => (found.start - found.start % slabs::SLAB, slabs::SLAB),
        Source::Library { base } => (base, (found.start - base + found.size).next_multiple_of(pages::size())),
        Source::Checker | Source::Program => return Err(CudaError::NOT_SUPPORTED),
    };
    let (file, bytes) = match heap.shared.entry(start) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(new) => new.insert((files::give(start, bytes)?, bytes)),
    };
    Ok(Part { file: file.as_raw_fd(), bytes: *bytes, offset: found.start - start, size: found.size })
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
