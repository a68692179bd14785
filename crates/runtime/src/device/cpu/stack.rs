//! Stacks for coroutines: mapped in arenas, committed lazily by the kernel, reused in last-in-first-out order.
//!
//! Each stack has a guard below it while the process is well below `vm.max_map_count` (a guard splits a mapping in two);
//! beyond that, a canary word at the low end is checked when the stack is given back. Tops are staggered so that the
//! frames of a block's threads do not all fall into the same cache sets.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use corosensei::Coroutine;
use corosensei::stack::{Stack, StackPointer};

use super::{pages, sanitizer};

/// No access there: frames up to this size that go beyond a stack are found. It takes addresses alone.
const GUARD: usize = 64 << 10;
const ARENA_STACKS: usize = 32;
const CANARY: u64 = 0x5245_4752_4149_4e21;

/// One stack of a [`StackPool`].
pub struct Slot {
    base: StackPointer,
    limit: StackPointer,
    guarded: bool,
}

// SAFETY: base and limit bound a mapping that outlives the slot (the pool unmaps only when all slots are back), both
// 16-aligned.
unsafe impl Stack for Slot {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.limit
    }
}

impl Slot {
    /// Whether the thread that ran here went past the low end of an unguarded stack.
    pub fn overflowed(&self) -> bool {
        // SAFETY: an unguarded slot's lowest word is mapped and was written at creation.
        !self.guarded && unsafe { *(self.limit.get() as *const u64) } != CANARY
    }
}

/// Where a stack lies.
pub struct Bounds {
    low: usize,
    high: usize,
}

impl Bounds {
    /// Below the stack, where it is guarded.
    pub fn guard(&self) -> Range<usize> {
        self.low..self.low + GUARD
    }

    /// An address in the middle of what can be used, aligned as frames are.
    pub fn middle(&self) -> usize {
        (self.guard().end + (self.high - self.guard().end) / 2).next_multiple_of(64)
    }
}

/// Code on a stack of its own: a CUDA thread, a run through the threads of a loop, or a block.
pub type Coro = Coroutine<(), (), (), Slot>;

struct Arena {
    start: *mut libc::c_void,
    len: usize,
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: exactly what `mmap` returned; no slot of it is in use (see `StackPool::resize`).
        unsafe { libc::munmap(self.start, self.len) };
    }
}

/// The stacks of one worker.
pub struct StackPool {
    size: usize,
    free: Vec<Slot>,
    arenas: Vec<Arena>,
    made: usize,
}

impl StackPool {
    pub fn new() -> Self {
        Self { size: 0, free: Vec::new(), arenas: Vec::new(), made: 0 }
    }

    /// Sets the size of each stack. All stacks must have been given back.
    pub fn resize(&mut self, size: usize) {
        let size = size.next_multiple_of(pages::size()) + GUARD;
        if size == self.size {
            return;
        }
        assert_eq!(self.free.len(), self.made, "a stack is still in use");
        self.free.clear();
        self.arenas.clear();
        self.made = 0;
        self.size = size;
    }

    /// A stack, or `None` when the system has no more memory to map.
    pub fn take(&mut self) -> Option<Slot> {
        if self.free.is_empty() {
            self.grow(ARENA_STACKS)?;
        }
        self.free.pop()
    }

    /// Maps a single stack, for a pool that holds just one.
    pub fn take_one(&mut self) -> Option<Slot> {
        if self.free.is_empty() {
            self.grow(1)?;
        }
        self.free.pop()
    }

    /// Whether `address` is on one of the stacks.
    pub fn holds(&self, address: usize) -> bool {
        self.arenas.iter().any(|arena| (arena.start as usize..arena.start as usize + arena.len).contains(&address))
    }

    /// The stack that an address is on, or just below.
    pub fn at(&self, address: usize) -> Option<Bounds> {
        let arena = self.arenas.iter().find(|arena| address.wrapping_sub(arena.start as usize) < arena.len)?;
        let start = arena.start as usize;
        let low = start + (address - start) / self.size * self.size;
        Some(Bounds { low, high: low + self.size })
    }

    pub fn give(&mut self, slot: Slot) {
        sanitizer::forget(slot.limit.get(), self.size);
        self.free.push(slot);
    }

    fn grow(&mut self, count: usize) -> Option<()> {
        let len = self.size * count;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        // SAFETY: a fresh anonymous mapping.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        self.arenas.push(Arena { start, len });
        let guarded = reserve_guards(count);
        for index in (0..count).rev() {
            let low = start as usize + index * self.size;
            if guarded {
                // SAFETY: the lowest pages of this slot, inside the mapping made above.
                unsafe { libc::mprotect(low as *mut libc::c_void, GUARD, libc::PROT_NONE) };
            } else {
                // SAFETY: the lowest word of this slot, mapped for writing.
                unsafe { *(low as *mut u64) = CANARY };
            }
            let colour = ((self.made + index) % 16) * 256;
            let top = low + self.size - colour;
            self.free.push(Slot { base: StackPointer::new(top)?, limit: StackPointer::new(low)?, guarded });
        }
        self.made += count;
        Some(())
    }
}

/// Whether `count` more guard pages fit: at most half of the process's mappings go to guards.
fn reserve_guards(count: usize) -> bool {
    static USED: AtomicUsize = AtomicUsize::new(0);
    static LIMIT: OnceLock<usize> = OnceLock::new();
    let limit = *LIMIT.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
        text.trim().parse::<usize>().unwrap_or(65530) / 4
    });
    USED.fetch_add(count, Ordering::Relaxed) + count <= limit
}
