//! The device's memory of a checked program: one range of addresses, and a byte of state beside each byte of it.
//!
//! The states lie [`SPAN`] bytes behind what they are of. Addresses are only counted up, so what is freed stays known; memory is of the system's
//! pages, which it has back when it is freed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::between;
use super::callers::Caller;
use crate::device::cpu::{heap, pages};

/// Bytes of the range; where the system does not give so many, or more is kept of each byte, a sixteenth.
const SPANS: [usize; 3] = [4 << 40, 256 << 30, 16 << 30];
const ALIGNMENT: usize = 512;
/// The least and the most bytes between two allocations.
const APART: (usize, usize) = (1 << 10, 1 << 20);

/// A byte that may be accessed.
pub const ALLOCATED: u8 = 1;
/// A byte that somebody has written.
pub const WRITTEN: u8 = 2;

static BASE: AtomicUsize = AtomicUsize::new(0);
static SPAN: AtomicUsize = AtomicUsize::new(0);
/// What each byte of state is to have, for loads and for stores.
static LOADED: AtomicU64 = AtomicU64::new(0);
static STORED: AtomicU64 = AtomicU64::new(0);

const EACH: u64 = 0x0101_0101_0101_0101;

/// What an allocation is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Host(heap::Kind),
    Kernel,
}

/// An allocation, also one that was freed.
#[derive(Clone)]
pub struct Record {
    pub start: usize,
    pub size: usize,
    pub owner: Owner,
    /// `None` for what kernels allocate.
    pub made: Option<Caller>,
    pub freed: Option<Caller>,
    pub is_live: bool,
}

#[derive(Default)]
struct Memory {
    next: usize,
    records: BTreeMap<usize, Record>,
}

fn memory() -> MutexGuard<'static, Memory> {
    static MEMORY: OnceLock<Mutex<Memory>> = OnceLock::new();
    MEMORY.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says what is looked at.
pub fn expect(memory: bool, init: bool) {
    let allocated = if memory { EACH * u64::from(ALLOCATED) } else { 0 };
    let written = if init { EACH * u64::from(WRITTEN) } else { 0 };
    LOADED.store(allocated | written, Ordering::Relaxed);
    STORED.store(allocated, Ordering::Relaxed);
}

/// Whether it matters what has been written.
#[inline]
pub fn minds_writes() -> bool {
    LOADED.load(Ordering::Relaxed) & u64::from(WRITTEN) != 0
}

/// Something writes memory and does not say where: what has been written is no longer known.
pub fn forget_writes() {
    LOADED.fetch_and(!(EACH * u64::from(WRITTEN)), Ordering::Relaxed);
}

/// What bytes of state are to have for a load or a store.
#[inline]
pub fn wanted(stores: bool) -> u64 {
    if stores { STORED.load(Ordering::Relaxed) } else { LOADED.load(Ordering::Relaxed) }
}

/// Where the state of an address stands; `None` if it is not of the device's memory.
#[inline]
pub fn state(address: usize, size: usize) -> Option<*mut u8> {
    let span = SPAN.load(Ordering::Relaxed);
    let offset = address.wrapping_sub(BASE.load(Ordering::Relaxed));
    (offset < span && size <= span - offset).then(|| (address + span) as *mut u8)
}

/// How far bytes of the device's memory lie from its beginning.
pub fn offset(address: usize, size: usize) -> Option<usize> {
    state(address, size).map(|_| address - BASE.load(Ordering::Relaxed))
}

/// Whether all of `size` bytes of state have what is `wanted`.
///
/// # Safety
/// `state` is valid for `size` bytes.
#[inline]
pub unsafe fn has(state: *const u8, size: usize, wanted: u64) -> bool {
    // SAFETY: by contract. Other threads may write the same bytes: a value is one of before or after.
    unsafe {
        match size {
            1 => u64::from(state.read_volatile()) & wanted & 0xff == wanted & 0xff,
            2 => u64::from(state.cast::<u16>().read_unaligned()) & wanted & 0xffff == wanted & 0xffff,
            4 => u64::from(state.cast::<u32>().read_unaligned()) & wanted & 0xffff_ffff == wanted & 0xffff_ffff,
            8 => state.cast::<u64>().read_unaligned() & wanted == wanted,
            16 => state.cast::<[u64; 2]>().read_unaligned().iter().all(|bytes| bytes & wanted == wanted),
            _ => {
                let whole = size & !7;
                let is_right = |at: usize| state.add(at).cast::<u64>().read_unaligned() & wanted == wanted;
                (0..whole).step_by(8).all(is_right)
                    && (whole..size).all(|at| u64::from(state.add(at).read()) & wanted & 0xff == wanted & 0xff)
            }
        }
    }
}

/// Marks bytes as written.
///
/// # Safety
/// `state` is valid for `size` bytes.
#[inline]
pub unsafe fn mark(state: *mut u8, size: usize) {
    // SAFETY: by contract.
    unsafe {
        match size {
            4 => state.cast::<u32>().write_unaligned(0x0303_0303),
            8 => state.cast::<u64>().write_unaligned(0x0303_0303_0303_0303),
            _ => state.write_bytes(ALLOCATED | WRITTEN, size),
        }
    }
}

/// Memory that is 0, committed where it is written.
pub fn map(bytes: usize) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh anonymous mapping.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    (start != libc::MAP_FAILED).then_some(start as usize)
}

impl Memory {
    /// Has addresses, if the system gives some.
    fn ready(&mut self) -> bool {
        if self.next != 0 {
            return true;
        }
        let first = usize::from(between::is_on());
        let found = SPANS[first..].iter().find_map(|span| Some((map(2 * span)?, *span)));
        let Some((start, span)) = found.filter(|(_, span)| between::prepare(*span)) else { return false };
        self.next = start;
        SPAN.store(span, Ordering::Relaxed);
        BASE.store(start, Ordering::Relaxed);
        true
    }

    /// The record of the allocation that begins last before `address`, and the first behind.
    fn around(&self, address: usize) -> [Option<&Record>; 2] {
        let before = self.records.range(..=address).next_back();
        let behind = self.records.range(address + 1..).next();
        [before, behind].map(|found| found.map(|(_, record)| record))
    }
}

/// Memory; of the host's view that the device reaches, all counts as written.
pub fn allocate(size: usize, owner: Owner, made: Option<Caller>) -> Option<usize> {
    let mut memory = memory();
    if !memory.ready() {
        return None;
    }
    let apart = size.clamp(APART.0, APART.1);
    let start = (memory.next + apart).next_multiple_of(ALIGNMENT);
    let end = BASE.load(Ordering::Relaxed) + SPAN.load(Ordering::Relaxed);
    if size > end - start || end - start - size < 2 * apart {
        return None;
    }
    memory.next = start + size;
    let is_written = !matches!(owner, Owner::Host(heap::Kind::Device) | Owner::Kernel);
    let first = if is_written { ALLOCATED | WRITTEN } else { ALLOCATED };
    // SAFETY: inside the mapping, and nobody else's yet.
    unsafe { std::ptr::write_bytes(state(start, size)?, first, size) };
    memory.records.insert(start, Record { start, size, owner, made, freed: None, is_live: true });
    Some(start)
}

/// Frees what was allocated; whether it was.
pub fn release(start: usize, freed: Option<Caller>) -> bool {
    let mut memory = memory();
    let Some(record) = memory.records.get_mut(&start).filter(|record| record.is_live) else { return false };
    (record.is_live, record.freed) = (false, freed);
    let size = record.size;
    if let Some(state) = state(start, size) {
        clear(state as usize, size);
        forget(start, size);
        between::forget(start, size);
    }
    true
}

/// Bytes of the mapping to 0.
fn clear(start: usize, size: usize) {
    let pages = forget(start, size);
    let parts =
        [(start, pages.0.saturating_sub(start).min(size)), (pages.1, (start + size).saturating_sub(pages.1).min(size))];
    for (at, size) in parts {
        // SAFETY: inside the mapping.
        unsafe { std::ptr::write_bytes(at as *mut u8, 0, size) };
    }
}

/// Gives whole pages back to the system, which then are 0; where they begin and end, both at the end of the bytes where there are none.
pub fn forget(start: usize, size: usize) -> (usize, usize) {
    // SAFETY: a part of the mapping that nobody uses any more.
    unsafe { pages::drop_whole(start, size) }
}

/// The allocation that begins at an address, also one that was freed.
pub fn at(start: usize) -> Option<Record> {
    memory().records.get(&start).cloned()
}

/// The allocation that is nearest to an address.
pub fn nearest(address: usize) -> Option<Record> {
    let memory = memory();
    let [before, behind] = memory.around(address);
    let distance = |record: &Record| match address.checked_sub(record.start) {
        Some(inside) => inside.saturating_sub(record.size.saturating_sub(1)),
        None => record.start - address,
    };
    [before, behind].into_iter().flatten().min_by_key(|record| distance(record)).cloned()
}

/// What the host has allocated and not freed.
pub fn live() -> Vec<Record> {
    let memory = memory();
    memory.records.values().filter(|record| record.is_live && record.owner != Owner::Kernel).cloned().collect()
}

/// The host has written `count` bytes: those that come from device memory are as written as there.
pub fn written(to: usize, from: usize, count: usize) {
    let Some(target) = state(to, count) else { return };
    let source = if from == 0 { None } else { state(from, count) };
    // SAFETY: inside the states of the mapping.
    unsafe {
        if source.is_none() && has(target, count, EACH * u64::from(ALLOCATED)) {
            return target.write_bytes(ALLOCATED | WRITTEN, count);
        }
    }
    for i in 0..count {
        // SAFETY: inside the states of the mapping. Bytes that are not allocated stay so.
        unsafe {
            let of_source = source.map_or(WRITTEN, |source| source.add(i).read() & WRITTEN);
            let byte = &*target.add(i).cast::<AtomicU8>();
            let old = byte.load(Ordering::Relaxed);
            if old & ALLOCATED != 0 {
                byte.store(ALLOCATED | of_source, Ordering::Relaxed);
            }
        }
    }
}
