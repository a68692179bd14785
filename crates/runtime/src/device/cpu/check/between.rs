//! Races between blocks of a grid, and between grids and copies of different streams, in the device's memory and in variables
//! (`REGRAIN_CHECK_RACES=blocks,streams`).
//!
//! Each word has its last plain write and two plain reads, with the run (a grid, or a copy), the block and the time in the run. As between threads of
//! a block (`races`), two accesses of two blocks may be in order if somebody of the first block has told something since its access, and somebody of the
//! second has looked since then: by an atomic operation, a volatile access or the grid's barrier. What orders runs is in `orders`.

use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::asked::{Asked, How, VALUED};
use super::kinds::Kind;
use super::memory;
use super::orders::{self, Place};
use super::sites;

const BLOCKS: u8 = 1;
const STREAMS: u8 = 2;
/// What `REGRAIN_CHECK_RACES` asks for.
static ASKED: AtomicU8 = AtomicU8::new(0);

/// Blocks with times of their own; of a larger grid some share one, so that races are missed.
const MOST_BLOCKS: u64 = 1 << 16;
/// Numbers of blocks that are told apart.
const BLOCK: u32 = (1 << 28) - 1;
/// Behind so many operations that order threads nothing is compared.
const LAST_TIME: u32 = 3 << 30;

/// An access of a word.
#[derive(Clone, Copy, Default)]
pub struct Past {
    time: u32,
    run: u32,
    /// The block, and from bit 28 on the bytes of the word.
    block: u32,
    /// Where, as the distance from [`ANCHOR`].
    place: i32,
}

/// What a word was made by its last write, as far as that is known.
#[derive(Clone, Copy, Default)]
struct Value {
    bits: u32,
    /// The bits that are known.
    known: u32,
}

/// The accesses of a word.
#[derive(Clone, Copy, Default)]
struct Accesses {
    write: Past,
    value: Value,
    reads: [Past; 2],
}

/// A word's accesses, in a line of the processor's caches with the lock that they are behind. Unlocked and without accesses it is all zeros.
#[repr(C, align(64))]
struct Cell {
    accesses: UnsafeCell<Accesses>,
    is_locked: AtomicBool,
}

impl Cell {
    /// What `act` makes of the accesses, which are nobody else's meanwhile.
    fn locked<T>(&self, act: impl FnOnce(&mut Accesses) -> T) -> T {
        while self.is_locked.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            std::hint::spin_loop();
        }
        // SAFETY: nobody else's while the cell is locked.
        let result = act(unsafe { &mut *self.accesses.get() });
        self.is_locked.store(false, Ordering::Release);
        result
    }
}

/// An access that is to be compared with those of the past.
struct Access {
    address: usize,
    size: usize,
    writes: bool,
    /// What is written, where it is known: at most eight bytes.
    value: Option<u64>,
    now: Past,
}

const CELL: usize = size_of::<Cell>();

static ANCHOR: u8 = 0;
static CELLS: AtomicUsize = AtomicUsize::new(0);

/// Reads what is asked for.
pub fn begin() {
    let Some(text) = std::env::var("REGRAIN_CHECK_RACES").ok().filter(|text| !text.is_empty()) else { return };
    let mut asked = 0;
    for name in text.split(',') {
        asked |= match name {
            "blocks" => BLOCKS,
            "streams" => STREAMS,
            other => {
                eprintln!(
                    "regrain runtime: warning: expected REGRAIN_CHECK_RACES to be of 'blocks' and 'streams', got '{other}'"
                );
                0
            }
        };
    }
    ASKED.store(asked, Ordering::Relaxed);
}

/// Whether anything is compared.
#[inline]
pub fn is_on() -> bool {
    ASKED.load(Ordering::Relaxed) != 0 && Kind::Race.is_on()
}

/// The device's memory lies at `base`; whether there is room for what is kept of it.
pub fn prepare(span: usize) -> bool {
    if !is_on() {
        return true;
    }
    let Some(cells) = memory::map(span / 4 * CELL) else { return false };
    CELLS.store(cells, Ordering::Relaxed);
    true
}

/// Memory is freed.
pub fn forget(start: usize, size: usize) {
    if let Some(cell) = of_memory(start, size) {
        memory::forget(cell, size / 4 * CELL);
    }
}

fn of_memory(address: usize, size: usize) -> Option<usize> {
    let cells = CELLS.load(Ordering::Relaxed);
    let offset = memory::offset(address, size).filter(|_| cells != 0)?;
    Some(cells + offset / 4 * CELL)
}

/// A grid that runs.
pub struct Grid {
    place: Arc<Place>,
    time: AtomicU32,
    /// When a block last told others something.
    arrived: Vec<AtomicU32>,
    releases: AtomicBool,
}

fn grids() -> MutexGuard<'static, HashMap<u32, Arc<Grid>>> {
    static GRIDS: OnceLock<Mutex<HashMap<u32, Arc<Grid>>>> = OnceLock::new();
    GRIDS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// This thread of the host begins to run the grid of that number.
pub fn begin_grid(number: u32, blocks: u64) {
    let mut arrived = Vec::new();
    arrived.resize_with(blocks.clamp(1, MOST_BLOCKS) as usize, AtomicU32::default);
    let grid = Grid { place: orders::place(), time: AtomicU32::new(1), arrived, releases: AtomicBool::new(false) };
    grids().insert(number, Arc::new(grid));
}

pub fn end_grid(number: u32) {
    grids().remove(&number);
}

/// The block that an OS thread runs.
#[derive(Default)]
pub struct Here {
    number: u32,
    grid: Option<Arc<Grid>>,
    block: u32,
    /// When the block last looked at what others told.
    left: u32,
    /// It is about to look: it has done so by its next access.
    looks: bool,
    /// Another run, and whether it comes before.
    known: (u32, bool),
    /// The variable that was accessed last: beginning, end and cells.
    variable: (usize, usize, usize),
}

/// What was found.
pub struct Race {
    pub past_writes: bool,
    pub is_same_grid: bool,
    /// The block, by its number in the grid.
    pub block: u32,
    pub place: *const sites::Place,
}

impl Here {
    /// A block of a grid begins.
    pub fn begin(&mut self, number: u32, block: u64) {
        if self.number != number || self.grid.is_none() {
            self.grid = grids().get(&number).cloned();
            self.number = number;
            self.known = (0, false);
        }
        self.block = block as u32 & BLOCK;
        (self.left, self.looks) = (0, false);
    }

    /// A thread of the block tells others what it did.
    pub fn arrives(&self) {
        let Some(grid) = &self.grid else { return };
        let time = grid.time.fetch_add(1, Ordering::AcqRel) + 1;
        // In order with the access that tells it, which is the program's and may be a plain one.
        grid.arrived[self.block as usize % grid.arrived.len()].store(time, Ordering::SeqCst);
        if !grid.releases.swap(true, Ordering::Relaxed) {
            grid.place.releases();
        }
    }

    /// A thread of the block is about to look at what others told. What they tell until it does, while this is told before, is looked at as well.
    pub fn leaves(&mut self) {
        self.looks = true;
    }

    /// A plain access; `variable` is the one that was accessed last. An earlier access that it races with.
    pub fn access(&mut self, asked: &Asked, variable: (usize, usize)) -> Option<Race> {
        // Not cloned: the count of the references would be written by all threads at each access.
        let grid = self.grid.take()?;
        let race = self.access_in(&grid, asked, variable);
        self.grid = Some(grid);
        race
    }

    fn access_in(&mut self, grid: &Grid, asked: &Asked, variable: (usize, usize)) -> Option<Race> {
        let cells = match of_memory(asked.address, asked.size) {
            Some(cells) => cells,
            None => self.of_variable(asked, variable)?,
        };
        if std::mem::take(&mut self.looks) {
            self.left = grid.time.fetch_add(1, Ordering::AcqRel) + 1;
        }
        let time = grid.time.load(Ordering::Relaxed);
        // A grid's own accesses of one run all have this place.
        let now = Past { time, run: grid.place.run, block: self.block, place: near(asked.place) };
        let Asked { address, size, .. } = *asked;
        let value = (asked.flags & VALUED != 0 && asked.how == How::Store).then_some(asked.value);
        let access = Access { address, size, writes: asked.how != How::Load, value, now };
        walk(cells, &access, |past| {
            let is_same = past.run == now.run;
            time > LAST_TIME || if is_same { self.is_in_order(grid, past) } else { self.is_behind(grid, past.run) }
        })
        .map(|(past, past_writes)| race(&past, past_writes, past.run == now.run))
    }

    fn is_in_order(&self, grid: &Grid, past: &Past) -> bool {
        let block = past.block & BLOCK;
        block == self.block
            || ASKED.load(Ordering::Relaxed) & BLOCKS == 0
            || grid.arrived[block as usize % grid.arrived.len()].load(Ordering::Acquire) > past.time
                && self.left > past.time
    }

    fn is_behind(&mut self, grid: &Grid, run: u32) -> bool {
        if ASKED.load(Ordering::Relaxed) & STREAMS == 0 {
            return true;
        }
        if self.known.0 != run {
            self.known = (run, grid.place.is_behind(run, false));
        }
        self.known.1 || self.left != 0 && grid.place.is_behind(run, true)
    }

    /// The cells of an access of a variable.
    fn of_variable(&mut self, asked: &Asked, (start, end): (usize, usize)) -> Option<usize> {
        static VARIABLES: Mutex<Option<HashMap<usize, usize>>> = Mutex::new(None);
        if asked.address < start || asked.address + asked.size > end {
            return None;
        }
        if self.variable.0 != start || self.variable.1 != end {
            let mut variables = VARIABLES.lock().unwrap_or_else(PoisonError::into_inner);
            let known = variables.get_or_insert_default();
            let cells = match known.get(&start) {
                Some(cells) => *cells,
                None => memory::map(((end - start) / 4 + 2) * CELL)?,
            };
            known.insert(start, cells);
            self.variable = (start, end, cells);
        }
        Some(self.variable.2 + (asked.address / 4 - start / 4) * CELL)
    }
}

/// The host copies or fills in the work that this thread does.
pub fn host_accesses(address: usize, size: usize, writes: bool) -> Option<Race> {
    if ASKED.load(Ordering::Relaxed) & STREAMS == 0 || size == 0 {
        return None;
    }
    let cells = of_memory(address, size)?;
    let place = orders::place();
    let now = Past { time: 0, run: place.run, block: BLOCK, place: 0 };
    let mut known = (0, true);
    let access = Access { address, size, writes, value: None, now };
    let found = walk(cells, &access, |past| {
        if known.0 != past.run {
            known = (past.run, past.run == now.run || place.is_behind(past.run, false));
        }
        known.1
    });
    found.map(|(past, past_writes)| race(&past, past_writes, false))
}

fn race(past: &Past, past_writes: bool, is_same_grid: bool) -> Race {
    let place = match past.place {
        0 => std::ptr::null(),
        distance => (&raw const ANCHOR).wrapping_offset(distance as isize).cast(),
    };
    Race { past_writes, is_same_grid, block: past.block & BLOCK, place }
}

/// The distance of a place, 0 where it is too far away.
fn near(place: *const sites::Place) -> i32 {
    i32::try_from((place as isize).wrapping_sub(&raw const ANCHOR as isize)).unwrap_or(0)
}

impl Access {
    /// What it writes of a word, its first byte in there being at `at`; what is beyond its end is not its own.
    fn value_at(&self, at: usize) -> Value {
        let Some(value) = self.value else { return Value::default() };
        let shift = at % 4 * 8;
        let bits = (value >> ((at - self.address) * 8)) as u32;
        Value { bits: bits << shift, known: u32::MAX << shift }
    }
}

/// Takes note of an access of some words in their cells; the first earlier one that is not in order with it.
fn walk(cells: usize, access: &Access, mut is_in_order: impl FnMut(&Past) -> bool) -> Option<(Past, bool)> {
    let Access { address, size, now, .. } = *access;
    let (mut at, end, first) = (address, address + size, address / 4);
    let mut found = None;
    while at < end {
        let word = at / 4;
        let next = ((word + 1) * 4).min(end);
        let bytes = ((1u32 << (next - at)) - 1) << (at % 4);
        let now = Past { block: now.block | bytes << 28, ..now };
        let value = access.writes.then(|| access.value_at(at));
        // SAFETY: inside the mapping of cells, which are zeros at first.
        let cell = unsafe { &*((cells + (word - first) * CELL) as *const Cell) };
        let race = cell.locked(|past| meet(past, now, value, &mut is_in_order));
        found = found.or(race);
        at = next;
    }
    found
}

/// The bits of bytes of a word, a bit for each.
fn bits_of(bytes: u32) -> u32 {
    // Each bit goes to the first one of its byte, and fills it from there.
    ((bytes & 0xf).wrapping_mul(0x0020_4081) & 0x0101_0101) * 0xff
}

/// `value`: what is written, if anything is. Two blocks that write the same say it together.
fn meet(
    cell: &mut Accesses,
    now: Past,
    value: Option<Value>,
    is_in_order: &mut impl FnMut(&Past) -> bool,
) -> Option<(Past, bool)> {
    let shared = |past: &Past| (past.block & now.block) >> 28;
    let mut conflicts = |past: &Past| past.run != 0 && shared(past) != 0 && !is_in_order(past);
    let is_same = value.is_some_and(|value| {
        let differ = value.bits ^ cell.value.bits | !(value.known & cell.value.known);
        bits_of(shared(&cell.write)) & differ == 0
    });
    let mut race = (!is_same && conflicts(&cell.write)).then_some((cell.write, true));
    // Bytes that a block accesses one after the other are one access, unless something that orders lies between.
    let is_one = |past: &Past| (past.run, past.time) == (now.run, now.time) && (past.block ^ now.block) & BLOCK == 0;
    let with = |past: &Past| Past { block: now.block | if is_one(past) { past.block & !BLOCK } else { 0 }, ..now };
    if let Some(value) = value {
        race = race.or(cell.reads.into_iter().find(|read| conflicts(read)).map(|read| (read, false)));
        let mine = bits_of(now.block >> 28);
        let kept = if is_one(&cell.write) { cell.value } else { Value::default() };
        let mix = |kept: u32, new: u32| kept & !mine | new & mine;
        cell.value = Value { bits: mix(kept.bits, value.bits), known: mix(kept.known, value.known) };
        cell.write = with(&cell.write);
    } else {
        let [first, last] = &mut cell.reads;
        let is_same = first.run == now.run && (first.block ^ now.block) & BLOCK == 0;
        let chosen = if first.run == 0 || is_same || is_in_order(first) { first } else { last };
        *chosen = with(chosen);
    }
    race
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_bytes() {
        assert_eq!([0, 1, 2, 4, 8].map(bits_of), [0, 0xff, 0xff00, 0xff_0000, 0xff00_0000]);
        assert_eq!([0xf, 0xa, 0x16].map(bits_of), [u32::MAX, 0xff00_ff00, 0x00ff_ff00]);
    }
}
