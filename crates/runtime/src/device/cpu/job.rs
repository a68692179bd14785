//! One kernel launch as the thread pool sees it.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use super::failure;
use super::grid_barrier::GridBarrier;
use super::kernel::Kernel;
use super::parts::Parts;
use super::shuffle::Shuffle;
use crate::abi::{Dim3, Entry};
use crate::error::CudaError;

/// The most threads along x that go as one, of blocks of one row and of several.
const LONGEST_LINE: u32 = 1 << 16;
const LONGEST_ROW: u32 = 1 << 12;

/// The number of another grid.
pub fn next_grid() -> u32 {
    static GRIDS: AtomicU32 = AtomicU32::new(1);
    GRIDS.fetch_add(1, Ordering::Relaxed)
}

pub struct Job {
    pub kernel: &'static Kernel,
    pub grid: Dim3,
    pub block: Dim3,
    pub args: *mut *mut c_void,
    pub shared: u32,
    pub grid_id: u32,
    pub stack_size: usize,
    /// Chosen split form, if any.
    pub block_entry: Option<Entry>,
    pub thread_entry: Option<Entry>,
    /// An order of chance for its blocks and their threads.
    pub shuffle: Option<Shuffle>,
    /// For cooperative launches.
    pub grid_barrier: Option<GridBarrier>,
    pub total: u64,
    /// Blocks of a task: what a worker takes at once, and whether the program asked for so many.
    pub chunk: u64,
    pub chunk_is_asked: bool,
    /// From how many bytes of each thread on stores go past the caches.
    pub streams: u32,
    /// When others were called to it.
    pub called: OnceLock<Instant>,
    pub next: AtomicU64,
    /// The rest of its blocks, divided among OS threads that were called to it.
    pub parts: OnceLock<&'static Parts>,
    /// Blocks that were taken and not begun, and how many tasks of them there are.
    pub returned: Mutex<Vec<Range<u64>>>,
    pub returns: AtomicU32,
    /// What an OS thread does that is called because blocks wait (`pool::help`).
    pub help: fn(&Self),
    /// OS threads that work at it, and those that were called because blocks waited.
    pub workers: AtomicU32,
    pub relief: Mutex<Vec<JoinHandle<()>>>,
    pub has_failed: AtomicBool,
    /// Whether a thread of it has come to what this target has not.
    pub is_refused: AtomicBool,
}

// SAFETY: `args` is read-only for the duration of the launch, during which the launching thread waits.
unsafe impl Send for Job {}
// SAFETY: see `Send`.
unsafe impl Sync for Job {}

impl Job {
    /// Makes a job that has ended ready for another run, all blocks of which are one worker's.
    pub fn restart(&mut self) {
        self.grid_id = next_grid();
        *self.next.get_mut() = self.total;
        self.parts = OnceLock::new();
        *self.returns.get_mut() = 0;
        self.returned.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        *self.has_failed.get_mut() = false;
        *self.is_refused.get_mut() = false;
    }

    /// Whether blocks run in the thread form.
    pub fn coroutines(&self) -> bool {
        self.block_entry.is_none()
    }

    /// Whether blocks take turns on OS threads, from one barrier of the grid to the next.
    pub fn blocks_take_turns(&self) -> bool {
        self.grid_barrier.is_some() && self.block_entry.is_some() && self.kernel.blocks_meet
    }

    pub fn threads(&self) -> u32 {
        self.block.x * self.block.y * self.block.z
    }

    /// How many blocks may go as one: where threads lie in y or z too, what one row of them reads is to stay in the cache until the next.
    pub fn longest_run(&self) -> u64 {
        let most = if self.block.y * self.block.z == 1 { LONGEST_LINE } else { LONGEST_ROW };
        u64::from(most / self.block.x.max(1)).max(1)
    }

    /// Makes tasks so large that each takes as long as a thread takes to see that there are any, and holds the blocks that may go as one,
    /// where their size is free and `workers` have two each.
    pub fn fit_chunk(&mut self, nanoseconds: u64, workers: u64) {
        let most = (self.total / (2 * workers)).max(self.chunk);
        if self.kernel.runs.load(Ordering::Relaxed) && !self.chunk_is_asked {
            self.chunk = self.longest_run().min(self.grid.x.into()).clamp(self.chunk, most);
        }
        if let Some(time) = self.kernel.pace.of(1, self.threads())
            && !self.chunk_is_asked
        {
            self.chunk = nanoseconds.div_ceil(time.max(1)).clamp(self.chunk, most);
        }
        if !self.chunk_is_asked && self.total >= workers * self.whole(1) {
            self.chunk = self.whole(self.chunk);
        }
    }

    /// So many blocks, or a few more, so that none is left over of those that go together.
    pub fn whole(&self, blocks: u64) -> u64 {
        blocks.next_multiple_of(u64::from(self.kernel.together.load(Ordering::Relaxed)).max(1))
    }

    /// Divides the blocks that nobody has taken among OS threads, before any is called to the grid, where no block may wait for an earlier one.
    pub fn divide(&self, parts: &'static Parts) {
        if self.block_entry.is_none() || self.kernel.blocks_may_wait {
            return;
        }
        let rest = self.next.swap(self.total, Ordering::Relaxed).min(self.total)..self.total;
        parts.divide(rest, if self.chunk_is_asked { self.chunk } else { self.whole(1) });
        let _ = self.parts.set(parts);
    }

    /// The next task for a worker of that number in the pool.
    pub fn next_chunk(&self, member: usize) -> Option<Range<u64>> {
        self.take(member, self.chunk)
    }

    /// The next blocks for a worker, up to `count`: in increasing order where they are not divided, so that a block may wait for an earlier one.
    fn take(&self, member: usize, count: u64) -> Option<Range<u64>> {
        if self.failed() {
            return None;
        }
        if self.returns.load(Ordering::Acquire) != 0
            && let Some(block) = self.next_returned()
        {
            return Some(block..block + 1);
        }
        if let Some(parts) = self.parts.get() {
            return parts.take(member, count);
        }
        // What waits for the block before it must not wait for a whole task.
        let count = if self.kernel.waits.load(Ordering::Relaxed) { 1 } else { count };
        if self.next.load(Ordering::Relaxed) >= self.total {
            return None;
        }
        let start = self.next.fetch_add(count, Ordering::Relaxed);
        (start < self.total).then(|| start..start.saturating_add(count).min(self.total))
    }

    /// [`Job::take`] while nobody but this OS thread takes any: without what orders those who do.
    pub fn take_alone(&self, count: u64) -> Option<Range<u64>> {
        if self.kernel.waits.load(Ordering::Relaxed) {
            return self.take(0, count);
        }
        let start = self.next.load(Ordering::Relaxed);
        let end = start.saturating_add(count).min(self.total);
        if self.failed() || start >= end {
            return None;
        }
        self.next.store(end, Ordering::Relaxed);
        Some(start..end)
    }

    /// Gives blocks back that a worker took and cannot begin now.
    pub fn give_back(&self, blocks: Range<u64>) {
        if !blocks.is_empty() {
            self.returned.lock().unwrap_or_else(PoisonError::into_inner).push(blocks);
            self.returns.fetch_add(1, Ordering::Release);
        }
    }

    /// The first block that was given back.
    fn next_returned(&self) -> Option<u64> {
        let mut returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner);
        let at = (0..returned.len()).min_by_key(|at| returned[*at].start)?;
        let block = returned[at].next();
        if returned[at].is_empty() {
            returned.swap_remove(at);
            self.returns.fetch_sub(1, Ordering::Relaxed);
        }
        block
    }

    /// Whether there are blocks that nobody has begun or is about to.
    pub fn has_blocks(&self) -> bool {
        let is_divided = || self.parts.get().is_some_and(|parts| parts.has_blocks());
        self.returns.load(Ordering::Acquire) != 0 || self.next.load(Ordering::Relaxed) < self.total || is_divided()
    }

    pub fn failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Records that the kernel does what the target cannot: its launch fails, and nothing else does.
    pub fn refuse(&self, message: &str) {
        // Once: versions of a kernel, and further launches, have the same to say.
        static SAID: Mutex<BTreeSet<(String, String)>> = Mutex::new(BTreeSet::new());
        let said = (self.kernel.source_name().to_string(), message.to_owned());
        if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(said) {
            self.say(message);
        }
        self.is_refused.store(true, Ordering::SeqCst);
        self.stop();
    }

    /// Records that the kernel failed; the message goes to stderr.
    pub fn fail(&self, error: CudaError, message: &str) {
        failure::set_pending(error);
        self.stop();
        if !message.is_empty() {
            self.say(message);
        }
    }

    fn stop(&self) {
        self.has_failed.store(true, Ordering::SeqCst);
        if let Some(barrier) = &self.grid_barrier {
            barrier.wake();
        }
    }

    fn say(&self, message: &str) {
        eprintln!("regrain runtime: error: kernel '{}': {message}", self.kernel.source_name());
    }
}
