//! One kernel launch as the thread pool sees it.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::failure;
use super::grid_barrier::GridBarrier;
use super::kernel::Kernel;
use crate::abi::{Dim3, Entry};
use crate::error::CudaError;

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
    /// For cooperative launches.
    pub grid_barrier: Option<GridBarrier>,
    pub total: u64,
    /// Blocks of a task: what a worker takes at once.
    pub chunk: u64,
    pub next: AtomicU64,
    pub has_failed: AtomicBool,
}

// SAFETY: `args` is read-only for the duration of the launch, during which the launching thread waits.
unsafe impl Send for Job {}
// SAFETY: see `Send`.
unsafe impl Sync for Job {}

impl Job {
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

    /// The next blocks for a worker: in increasing order, so that a block may wait for an earlier one.
    pub fn next_chunk(&self) -> Option<Range<u64>> {
        if self.failed() {
            return None;
        }
        let start = self.next.fetch_add(self.chunk, Ordering::Relaxed);
        (start < self.total).then(|| start..(start + self.chunk).min(self.total))
    }

    pub fn failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Records that the kernel failed; the message goes to stderr.
    pub fn fail(&self, error: CudaError, message: &str) {
        self.has_failed.store(true, Ordering::SeqCst);
        failure::set_pending(error);
        if let Some(barrier) = &self.grid_barrier {
            barrier.wake();
        }
        if !message.is_empty() {
            eprintln!("regrain runtime: error: kernel '{}': {message}", self.kernel.source_name());
        }
    }
}
