//! Races between the threads of a block.
//!
//! Each word keeps its last write, its last atomic operation and two reads, with the thread, the place in the source and the time. Time counts operations that order
//! threads. A thread *arrives* at one (what it did before may be seen by others) and *leaves* it (it may see what others did before): a barrier, an
//! operation of a warp, an atomic operation (which a thread leaves where it uses the result), a volatile access. Two accesses may be in order if the first thread
//! has arrived somewhere since its access, and the second has left somewhere since then. Whether that was the same operation is not asked, but that
//! operations of a warp order its lanes alone, so that no order is missed.
//!
//! Words of shared memory have a cell each, those of other memory share a table, in which a word takes the place of another one: then races are missed.

use std::ffi::c_void;

use super::sites::Place;
use crate::device::cpu::checks::Scope;

/// Words that the table has room for.
const WORDS: usize = 1 << 16;
/// Times begin anew behind this one.
const LAST_TIME: u32 = 3 << 30;
const THREADS: usize = 1024;

/// How an access is to others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Class {
    #[default]
    Plain,
    Volatile,
    Atomic,
}

/// An access of a word.
#[derive(Clone, Copy)]
pub struct Past {
    time: u32,
    pub thread: u16,
    bytes: u8,
    pub class: Class,
    pub place: *const Place,
}

impl Default for Past {
    fn default() -> Self {
        Self { time: 0, thread: 0, bytes: 0, class: Class::Plain, place: std::ptr::null() }
    }
}

/// The accesses of a word.
#[derive(Clone, Copy, Default)]
pub struct Cell {
    /// Which word, in the table.
    word: usize,
    write: Past,
    atomic: Past,
    reads: [Past; 2],
}

#[derive(Clone, Copy, Default)]
struct Times {
    arrived: u32,
    left: u32,
    arrived_in_warp: u32,
    left_in_warp: u32,
}

/// What one access is.
#[derive(Clone, Copy)]
pub struct Access {
    pub address: usize,
    pub size: usize,
    pub thread: usize,
    pub writes: bool,
    pub class: Class,
    /// A store of what is there already.
    pub is_silent: bool,
    pub place: *const Place,
}

/// An earlier access that nothing orders with the one at hand.
#[derive(Clone, Copy)]
pub struct Race {
    pub past: Past,
    pub past_writes: bool,
}

/// The times of a block's threads.
struct Clock {
    time: u32,
    /// When the block began: what is older is another block's.
    begin: u32,
    threads: Vec<Times>,
    warps: Vec<Times>,
}

/// The times of a block's threads, and the table.
pub struct Races {
    clock: Clock,
    table: Vec<Cell>,
}

impl Races {
    pub fn new() -> Self {
        Self { clock: Clock { time: 1, begin: 1, threads: Vec::new(), warps: Vec::new() }, table: Vec::new() }
    }

    /// A block begins.
    pub fn begin(&mut self) -> bool {
        let clock = &mut self.clock;
        let anew = clock.time > LAST_TIME || clock.threads.is_empty();
        if anew {
            clock.time = 1;
            clock.threads = vec![Times::default(); THREADS];
            clock.warps = vec![Times::default(); THREADS / 32];
            self.table = vec![Cell::default(); WORDS];
        }
        clock.time += 1;
        clock.begin = clock.time;
        anew
    }

    /// Takes note of an access of shared memory (`cells`, which begins at `start`) or other memory; an earlier one that it races with.
    pub fn access(&mut self, access: &Access, shared: Option<(&mut [Cell], usize)>) -> Option<Race> {
        let Self { clock, table } = self;
        let mut shared = shared;
        let (mut at, end) = (access.address, access.address + access.size);
        let mut found = None;
        while at < end {
            let word = at / 4;
            let next = ((word + 1) * 4).min(end);
            let bytes = (((1u16 << (next - at)) - 1) << (at % 4)) as u8;
            let (cell, is_shared) = match &mut shared {
                Some((cells, start)) => (&mut cells[word - *start / 4], true),
                None => {
                    let cell = &mut table[(word ^ word >> 16 ^ word >> 32) & (WORDS - 1)];
                    if cell.word != word {
                        *cell = Cell { word, ..Cell::default() };
                    }
                    (cell, false)
                }
            };
            let race = clock.meet(cell, access, bytes, is_shared);
            found = found.or(race);
            at = next;
        }
        found
    }

    /// A thread comes to an operation that orders threads.
    pub fn arrives(&mut self, thread: usize, scope: Scope) {
        self.clock.arrives(thread, scope);
    }

    /// It goes on.
    pub fn leaves(&mut self, thread: usize, scope: Scope) {
        self.clock.leaves(thread, scope);
    }
}

impl Clock {
    fn arrives(&mut self, thread: usize, scope: Scope) {
        self.time += 1;
        let (Some(times), Some(warp)) = (self.threads.get_mut(thread), self.warps.get_mut(thread / 32)) else { return };
        match scope {
            Scope::Block | Scope::Grid => (times.arrived, warp.arrived) = (self.time, self.time),
            Scope::Warp => times.arrived_in_warp = self.time,
        }
    }

    fn leaves(&mut self, thread: usize, scope: Scope) {
        self.time += 1;
        let (Some(times), Some(warp)) = (self.threads.get_mut(thread), self.warps.get_mut(thread / 32)) else { return };
        match scope {
            Scope::Block | Scope::Grid => (times.left, warp.left) = (self.time, self.time),
            Scope::Warp => times.left_in_warp = self.time,
        }
    }

    /// Whether an earlier access may come before what `thread` does now.
    fn is_ordered(&self, past: &Past, thread: usize) -> bool {
        let (from, to) = (past.thread as usize, thread);
        let (a, b) = (self.threads[from], self.threads[to]);
        let since = |time: u32| time > past.time;
        if from / 32 == to / 32
            && (since(a.arrived) || since(a.arrived_in_warp))
            && (since(b.left) || since(b.left_in_warp))
        {
            return true;
        }
        // A lane may have told another one of its warp, which told the others.
        let arrived = since(a.arrived) || since(a.arrived_in_warp) && since(self.warps[from / 32].arrived);
        let left = since(b.left) || since(b.left_in_warp) && since(self.warps[to / 32].left);
        arrived && left
    }

    /// Whether two accesses are in each other's way.
    fn conflict(&self, past: &Past, access: &Access, bytes: u8, is_shared: bool) -> bool {
        let apart = match (past.class, access.class) {
            (Class::Volatile, _) | (_, Class::Volatile) | (Class::Atomic, Class::Atomic) => true,
            (Class::Plain, Class::Plain) => false,
            // Looking at what others count up is usual in memory that all blocks see.
            _ => !is_shared,
        };
        past.time >= self.begin
            && past.bytes & bytes != 0
            && past.thread as usize != access.thread
            && !apart
            && !self.is_ordered(past, access.thread)
    }

    fn meet(&self, cell: &mut Cell, access: &Access, bytes: u8, is_shared: bool) -> Option<Race> {
        let now =
            Past { time: self.time, thread: access.thread as u16, bytes, class: access.class, place: access.place };
        let is_race = |past: &Past| self.conflict(past, access, bytes, is_shared);
        let mut race = None;
        for write in [&cell.write, &cell.atomic] {
            if !(access.writes && access.is_silent) && is_race(write) {
                race = Some(Race { past: *write, past_writes: true });
            }
        }
        if access.writes {
            let read = cell.reads.iter().find(|read| is_race(read));
            race = race.or(read.map(|read| Race { past: *read, past_writes: false }));
            *(if access.class == Class::Atomic { &mut cell.atomic } else { &mut cell.write }) = now;
        } else {
            let [first, last] = &mut cell.reads;
            let is_over = first.time < self.begin || self.is_ordered(first, access.thread);
            if is_over || first.thread == now.thread {
                *first = now;
            } else {
                *last = now;
            }
        }
        race
    }
}

/// Whether memory holds a number already.
///
/// # Safety
/// `address` is valid for reads of `size` bytes, at most eight.
pub unsafe fn holds(address: *const c_void, size: usize, value: u64) -> bool {
    let mut bytes = [0u8; 8];
    // SAFETY: by contract.
    unsafe { std::ptr::copy_nonoverlapping(address.cast::<u8>(), bytes.as_mut_ptr(), size) };
    u64::from_le_bytes(bytes) == value
}
