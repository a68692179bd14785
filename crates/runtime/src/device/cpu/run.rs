//! One OS thread runs blocks of a job.
//!
//! Two ways to run a block:
//! - *split*: `block_entry` runs the whole block (those that meet at the barrier of the grid take turns, `turns.rs`);
//! - *coroutines*: `thread_entry` runs every thread, in as many stackful coroutines as threads wait at once
//!   (`scheduler.rs`).
//!
//! Split blocks run inside one big coroutine per worker too, so that a trap or a failed assertion can leave them from
//! any depth.

use std::ops::Range;
use std::sync::atomic::Ordering;

use corosensei::{Coroutine, Yielder};

use super::block::{run_whole_blocks, set_block};
use super::caches;
use super::checks;
use super::job::Job;
use super::relief;
use super::sanitizer;
use super::scheduler::run_block;
use super::state::{Mode, Worker};
use super::turns;
use crate::abi::dynamic_shared;
use crate::error::CudaError;

/// Address space for split blocks; committed lazily.
const BIG_STACK: usize = 256 << 20;

/// Where a worker has its blocks from.
type Take<'a> = &'a mut dyn FnMut() -> Option<Range<u64>>;

/// Runs the blocks of `job` that `take` gives, until it has no more or the job failed.
///
/// # Safety
/// `worker` belongs to this OS thread and runs nothing; the job's arguments and entries are valid.
pub unsafe fn run(worker: *mut Worker, job: &Job, take: Take) {
    // SAFETY: exclusive access by contract; no coroutine is alive yet.
    unsafe {
        (*worker).prepare(job);
        if job.coroutines() {
            (*worker).mode = Mode::Coroutines;
            (*worker).stacks.resize(job.stack_size);
            (*worker).prepare_threads(job);
            while let Some(block) = next_block(worker, job, take) {
                let block = job.shuffle.as_ref().map_or(block, |order| order.block(block, job.total));
                set_block(worker, job, block);
                (*worker).random = job.shuffle.as_ref().map(|order| order.threads(block));
                if let Some(checker) = checks::checker() {
                    checker.begins(worker);
                }
                run_block(worker, job);
            }
        } else {
            (*worker).mode = Mode::Whole;
            match &job.grid_barrier {
                Some(barrier) if job.blocks_take_turns() => turns::run(worker, job, barrier),
                _ => run_whole(worker, job, take),
            }
        }
        (*worker).finish();
    }
}

impl Worker {
    fn prepare(&mut self, job: &Job) {
        self.job = job;
        self.abandon = false;
        self.chunk = 0..0;
        *self.guarded.get_mut() = 0;
        // Made here, as the handler of memory faults must not allocate.
        let _ = job.kernel.source_name();
        // SAFETY: this OS thread's own storage.
        let tls = unsafe { &mut *self.tls };
        tls.ntid = job.block.array();
        tls.nctaid = job.grid.array();
        tls.grid_id = job.grid_id;
        tls.dynamic_shared_size = job.shared;
        tls.dynamic_shared = dynamic_shared();
        tls.site = std::ptr::null();
        (tls.available, tls.taken) = (1, 1);
        tls.streams = job.streams;
        tls.runtime = (&raw mut *self).cast();
    }

    fn finish(&mut self) {
        caches::settle();
        self.mode = Mode::Idle;
        self.job = std::ptr::null();
        // SAFETY: this OS thread's own storage.
        unsafe { (*self.tls).runtime = std::ptr::null_mut() };
    }
}

/// The next block for `worker`: of those it has taken, else of a new task.
///
/// # Safety
/// `worker` belongs to this OS thread.
unsafe fn next_block(worker: *mut Worker, job: &Job, take: Take) -> Option<u64> {
    // SAFETY: by contract.
    unsafe {
        relief::progress(worker);
        if job.failed() {
            return None;
        }
        if (*worker).chunk.is_empty() {
            (*worker).chunk = take()?;
        }
        (*worker).chunk.next()
    }
}

/// Runs split blocks in the worker's big coroutine.
///
/// # Safety
/// As [`run`].
unsafe fn run_whole(worker: *mut Worker, job: &Job, take: Take) {
    // SAFETY: by contract.
    unsafe { on_big_stack(worker, job, || run_blocks(worker, job, take)) };
}

/// Runs small grids in split form one after the other, each to its end; those behind one that fails not at all.
///
/// # Safety
/// `worker` belongs to this OS thread and runs nothing; arguments and entries of the jobs are valid.
pub unsafe fn run_row<'a>(worker: *mut Worker, jobs: impl Iterator<Item = &'a mut Job>) {
    let mut jobs = jobs.peekable();
    let Some(first) = jobs.peek() else { return };
    let first: *const Job = &raw const **first;
    // SAFETY: exclusive access by contract; no coroutine is alive yet. The first job lives as long as the others.
    unsafe {
        (*worker).mode = Mode::Whole;
        on_big_stack(worker, &*first, || {
            for job in jobs {
                job.restart();
                let job = &*job;
                (*worker).prepare(job);
                (*worker).chunk = 0..job.total;
                run_blocks(worker, job, &mut || job.next_chunk(0));
                if job.kernel.waits.load(Ordering::Relaxed) {
                    relief::join(job);
                }
                if job.failed() {
                    return;
                }
            }
        });
        (*worker).finish();
    }
}

/// Runs blocks in split form, in a coroutine of theirs.
///
/// # Safety
/// As [`run`].
unsafe fn run_blocks(worker: *mut Worker, job: &Job, take: Take) {
    // SAFETY: by contract.
    unsafe {
        while let Some(block) = next_block(worker, job, take) {
            set_block(worker, job, block);
            let others = (*worker).chunk.end.saturating_sub((*worker).chunk.start);
            // A block that waits may have given the others back meanwhile; then it ran alone.
            (*worker).chunk.start += run_whole_blocks(worker, job, 1 + others) - 1;
        }
    }
}

/// Runs `body` in the worker's big coroutine, which `job` may leave from any depth.
///
/// # Safety
/// `worker` belongs to this OS thread and runs nothing else.
unsafe fn on_big_stack(worker: *mut Worker, job: &Job, body: impl FnOnce()) {
    // SAFETY: exclusive access; nothing else runs on this worker.
    let stack = unsafe {
        (*worker).big_stack.resize(BIG_STACK);
        (*worker).big_stack.take_one()
    };
    let Some(stack) = stack else {
        job.fail(CudaError::MEMORY_ALLOCATION, "cannot map a stack");
        return;
    };
    let body = move |yielder: &Yielder<(), ()>, ()| {
        // SAFETY: the worker outlives this coroutine and is used by this OS thread only.
        unsafe { (*worker).whole_yielder = yielder };
        body();
    };
    // SAFETY: the coroutine is finished or discarded before this function returns, so what it borrows outlives it.
    let mut coroutine: Coroutine<(), (), (), _> = unsafe { Coroutine::with_stack_unchecked(stack, body) };
    sanitizer::anew();
    sanitizer::inside(|| coroutine.resume(()));
    if !coroutine.done() {
        // SAFETY: the frames on that stack are generated code and entry points that hold nothing to drop.
        unsafe { coroutine.force_reset() };
    }
    // SAFETY: exclusive access again.
    unsafe {
        (*worker).whole_yielder = std::ptr::null();
        (*worker).big_stack.give(coroutine.into_stack());
    }
}
