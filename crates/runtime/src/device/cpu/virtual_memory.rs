//! Virtual memory: addresses that are reserved, memory that is made apart, and mapped there piece by piece.
//!
//! Memory is a file without a name, so it can be at several addresses at once and be handed to another process. What
//! is mapped side by side and
//! may be accessed is one allocation to the rest of the device; what is reserved alone is none, and a kernel that gets
//! there fails.

use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::failure::device_ok;
use super::heap;
use super::limits::{check_device, total_memory};
use super::machine::Cpu;
use super::{files, runners};
use crate::device::seam::VirtualMemory;
use crate::error::{CudaError, Result, check};
use crate::types::{Location, MemoryProperties};

/// Sizes and addresses are multiples of it, as on NVIDIA's GPUs: a large page.
const GRANULARITY: usize = 2 << 20;
/// `CU_MEM_ALLOCATION_TYPE_PINNED`, `CU_MEM_LOCATION_TYPE_DEVICE`, `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`.
const PINNED: u32 = 1;
const ON_DEVICE: u32 = 1;
const FILE_DESCRIPTOR: u32 = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READ`, which is a part of `_READWRITE`.
const READ: u32 = 1;
const READ_AND_WRITE: u32 = 3;

/// Memory that was made.
struct Physical {
    file: OwnedFd,
    size: usize,
    handle_types: u32,
    /// How often the program has its handle, and how often it is mapped.
    users: usize,
    maps: usize,
}

/// Memory in its place.
#[derive(Clone, Copy)]
struct Mapped {
    size: usize,
    handle: u64,
    access: u32,
}

#[derive(Default)]
struct Reservation {
    size: usize,
    maps: BTreeMap<usize, Mapped>,
    /// Where allocations begin that the rest of the device sees.
    seen: Vec<usize>,
}

#[derive(Default)]
struct State {
    memory: HashMap<u64, Physical>,
    reserved: BTreeMap<usize, Reservation>,
    made: u64,
}

/// Handles are never reused, so that a stale one is recognised.
const FIRST_HANDLE: u64 = 0x564d_0010;

fn state() -> MutexGuard<'static, State> {
    static STATE: OnceLock<Mutex<State>> = OnceLock::new();
    STATE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_whole(size: usize) -> bool {
    size != 0 && size.is_multiple_of(GRANULARITY)
}

fn check_properties(asked: &MemoryProperties) -> Result {
    check(asked.kind == PINNED)?;
    if asked.location.kind != ON_DEVICE || asked.handle_types & !FILE_DESCRIPTOR != 0 {
        return Err(CudaError::NOT_SUPPORTED);
    }
    check_device(asked.location.id)
}

/// Sets what is at `size` bytes of addresses that are reserved: nothing, or a file. What was there is gone.
fn map(start: usize, size: usize, file: Option<RawFd>) -> Result {
    let flags = match file {
        None => libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        Some(_) => libc::MAP_SHARED,
    };
    let file = file.unwrap_or(-1);
    // SAFETY: addresses that were reserved, and are nobody else's.
    let at = unsafe { libc::mmap(start as *mut c_void, size, libc::PROT_NONE, flags | libc::MAP_FIXED, file, 0) };
    if at == libc::MAP_FAILED { Err(CudaError::MEMORY_ALLOCATION) } else { Ok(()) }
}

impl Reservation {
    /// Shows the rest of the device what is here now.
    fn show(&mut self) {
        self.seen.drain(..).for_each(heap::displace);
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (start, map) in self.maps.iter().filter(|(_, map)| map.access != 0) {
            match runs.last_mut().filter(|(first, size)| first + *size == *start) {
                Some((_, size)) => *size += map.size,
                None => runs.push((*start, map.size)),
            }
        }
        for (start, size) in runs {
            heap::place(start, size);
            self.seen.push(start);
        }
    }

    /// The pieces that a range is made of, without a rest.
    fn pieces(&self, start: usize, size: usize) -> Result<Vec<usize>> {
        let mut next = start;
        let mut found = Vec::new();
        for (at, map) in self.maps.range(start..start + size) {
            check(*at == next)?;
            next += map.size;
            found.push(*at);
        }
        check(!found.is_empty() && next == start + size)?;
        Ok(found)
    }
}

impl State {
    fn add(&mut self, file: OwnedFd, size: usize, handle_types: u32) -> u64 {
        let handle = FIRST_HANDLE + 16 * self.made;
        self.made += 1;
        self.memory.insert(handle, Physical { file, size, handle_types, users: 1, maps: 0 });
        handle
    }

    /// Memory that the program has a handle of.
    fn get(&mut self, handle: u64) -> Result<&mut Physical> {
        self.memory.get_mut(&handle).filter(|memory| memory.users > 0).ok_or(CudaError::INVALID_VALUE)
    }

    fn forget_unused(&mut self, handle: u64) {
        if self.memory.get(&handle).is_some_and(|memory| memory.users == 0 && memory.maps == 0) {
            self.memory.remove(&handle);
        }
    }

    /// The reservation that a range lies in.
    fn around(&mut self, start: usize, size: usize) -> Result<&mut Reservation> {
        let (first, found) = self.reserved.range_mut(..=start).next_back().ok_or(CudaError::INVALID_VALUE)?;
        let end = start.checked_add(size).ok_or(CudaError::INVALID_VALUE)?;
        check(end <= first + found.size)?;
        Ok(found)
    }
}

impl VirtualMemory for Cpu {
    fn granularity(&self, asked: &MemoryProperties) -> Result<usize> {
        check_properties(asked)?;
        Ok(GRANULARITY)
    }

    fn create_memory(&self, size: usize, asked: &MemoryProperties) -> Result<u64> {
        device_ok()?;
        check_properties(asked)?;
        check(is_whole(size))?;
        if size > total_memory() {
            return Err(CudaError::MEMORY_ALLOCATION);
        }
        let file = files::make(size)?;
        Ok(state().add(file, size, asked.handle_types))
    }

    fn release_memory(&self, handle: u64) -> Result {
        let mut state = state();
        state.get(handle)?.users -= 1;
        state.forget_unused(handle);
        Ok(())
    }

    fn memory_properties(&self, handle: u64) -> Result<MemoryProperties> {
        let handle_types = state().get(handle)?.handle_types;
        let location = Location { kind: ON_DEVICE, id: 0 };
        Ok(MemoryProperties { kind: PINNED, handle_types, location, metadata: std::ptr::null_mut(), flags: [0; 8] })
    }

    fn retain_memory(&self, address: usize) -> Result<u64> {
        let mut state = state();
        let found = state.around(address, 1)?;
        let (start, map) = found.maps.range(..=address).next_back().ok_or(CudaError::INVALID_VALUE)?;
        check(address < start + map.size)?;
        let handle = map.handle;
        state.memory.get_mut(&handle).ok_or(CudaError::INVALID_VALUE)?.users += 1;
        Ok(handle)
    }

    fn reserve(&self, size: usize, alignment: usize, wanted: usize) -> Result<usize> {
        check(is_whole(size) && (alignment == 0 || alignment.is_power_of_two()))?;
        let alignment = alignment.max(GRANULARITY);
        let room = size.checked_add(alignment).ok_or(CudaError::MEMORY_ALLOCATION)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: new addresses; `wanted` is a hint.
        let base = unsafe { libc::mmap(wanted as *mut c_void, room, libc::PROT_NONE, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(CudaError::MEMORY_ALLOCATION);
        }
        let (base, start) = (base as usize, (base as usize).next_multiple_of(alignment));
        // SAFETY: what is before and behind in what was just reserved.
        unsafe {
            libc::munmap(base as *mut c_void, start - base);
            libc::munmap((start + size) as *mut c_void, base + room - (start + size));
        }
        state().reserved.insert(start, Reservation { size, ..Reservation::default() });
        Ok(start)
    }

    fn unreserve(&self, start: usize, size: usize) -> Result {
        let mut state = state();
        let found = state.reserved.get(&start).ok_or(CudaError::INVALID_VALUE)?;
        check(found.size == size && found.maps.is_empty())?;
        state.reserved.remove(&start);
        // SAFETY: addresses that were reserved, with nothing at them.
        unsafe { libc::munmap(start as *mut c_void, size) };
        Ok(())
    }

    fn map_memory(&self, start: usize, size: usize, offset: usize, handle: u64) -> Result {
        device_ok()?;
        let mut state = state();
        let memory = state.get(handle)?;
        check(offset == 0 && size == memory.size && start.is_multiple_of(GRANULARITY))?;
        let file = memory.file.as_raw_fd();
        let found = state.around(start, size)?;
        let before = found.maps.range(..start + size).next_back();
        check(before.is_none_or(|(at, map)| at + map.size <= start))?;
        map(start, size, Some(file))?;
        found.maps.insert(start, Mapped { size, handle, access: 0 });
        state.get(handle)?.maps += 1;
        Ok(())
    }

    fn unmap_memory(&self, start: usize, size: usize) -> Result {
        runners::wait_for_all()?;
        let mut state = state();
        let found = state.around(start, size)?;
        let mut gone = Vec::new();
        for piece in found.pieces(start, size)? {
            gone.extend(found.maps.remove(&piece).map(|map| map.handle));
        }
        found.show();
        map(start, size, None)?;
        for handle in gone {
            if let Some(memory) = state.memory.get_mut(&handle) {
                memory.maps -= 1;
            }
            state.forget_unused(handle);
        }
        Ok(())
    }

    fn set_access(&self, start: usize, size: usize, location: Location, access: u32) -> Result {
        check(matches!(access, 0 | READ | READ_AND_WRITE))?;
        if location.kind != ON_DEVICE {
            return Err(CudaError::NOT_SUPPORTED);
        }
        check_device(location.id)?;
        let mut state = state();
        let found = state.around(start, size)?;
        for piece in found.pieces(start, size)? {
            found.maps.entry(piece).and_modify(|map| map.access = access);
        }
        let protection = match access {
            0 => libc::PROT_NONE,
            READ => libc::PROT_READ,
            _ => libc::PROT_READ | libc::PROT_WRITE,
        };
        // SAFETY: addresses of the program's, with memory at all of them.
        if unsafe { libc::mprotect(start as *mut c_void, size, protection) } != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        found.show();
        Ok(())
    }

    fn access(&self, location: Location, address: usize) -> Result<u32> {
        check(location.kind == ON_DEVICE)?;
        check_device(location.id)?;
        let mut state = state();
        let (start, map) =
            state.around(address, 1)?.maps.range(..=address).next_back().ok_or(CudaError::INVALID_VALUE)?;
        check(address < start + map.size)?;
        Ok(map.access)
    }

    fn export_memory(&self, handle: u64, kind: u32) -> Result<i32> {
        let mut state = state();
        let memory = state.get(handle)?;
        check(kind == FILE_DESCRIPTOR && memory.handle_types & kind != 0)?;
        let copy = memory.file.try_clone().map_err(|_| CudaError::OPERATING_SYSTEM)?;
        Ok(copy.into_raw_fd())
    }

    fn import_memory(&self, descriptor: i32, kind: u32) -> Result<u64> {
        check(kind == FILE_DESCRIPTOR && descriptor >= 0)?;
        // SAFETY: a descriptor of the program's, which it keeps; where it is none, copying it fails.
        let file = unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned();
        let file = file.map_err(|_| CudaError::INVALID_VALUE)?;
        // SAFETY: an open file, and a place for what it is.
        let size = unsafe {
            let mut found: libc::stat = std::mem::zeroed();
            check(libc::fstat(file.as_raw_fd(), &raw mut found) == 0)?;
            found.st_size as usize
        };
        check(is_whole(size))?;
        Ok(state().add(file, size, FILE_DESCRIPTOR))
    }
}
