//! Blocks that wait for blocks.
//!
//! Blocks are handed out in ascending order, so one that waits for those before it makes progress: each of them is done or runs. One that
//! waits for a later block may hold the OS thread which that one needs. After a while another OS thread goes on with the grid, and another,
//! until as many blocks run side by side as the device reports to be resident: multiprocessors times occupancy. OS threads rather than
//! stacks of our own, because a block's shared memory is thread-local in the coroutine form, and because they need no yielding.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::fault::guard::guarded;
use super::job::Job;
use super::limits;
use super::runners;
use super::state::Worker;

/// How long a block waits before another OS thread goes on with the grid.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// All it does is to wait.
    Short,
    /// It may as well be at work.
    Long,
}

impl Patience {
    fn time(self) -> Duration {
        match self {
            Patience::Short => Duration::from_millis(1),
            Patience::Long => Duration::from_millis(20),
        }
    }
}

/// A thread of the block has got somewhere.
///
/// # Safety
/// `worker` belongs to this OS thread.
pub unsafe fn progress(worker: *mut Worker) {
    // SAFETY: by contract.
    unsafe { (*worker).waits_since = None };
}

/// The block that `worker` runs can only wait: others have their turn.
///
/// # Safety
/// `worker` belongs to this OS thread and runs a block.
pub unsafe fn wait(worker: *mut Worker, patience: Patience) {
    // SAFETY: by contract.
    unsafe {
        match (*worker).waits_since {
            None => {
                (*worker).waits_since = Some(Instant::now());
                (*worker).job().kernel.may_wait.store(true, Ordering::Relaxed);
            }
            Some(since) if since.elapsed() >= patience.time() => {
                (*worker).waits_since = None;
                (*worker).job().kernel.waits.store(true, Ordering::Relaxed);
                guarded(|| {
                    call(worker);
                    runners::relieve();
                });
            }
            Some(_) => (),
        }
    }
    std::thread::yield_now();
}

/// Lets another OS thread go on with the grid, if there are blocks left and the device could hold one more.
///
/// # Safety
/// As [`wait`].
unsafe fn call(worker: *mut Worker) {
    // SAFETY: by contract; the job outlives the OS threads that work at it (`join`).
    unsafe {
        let job: &'static Job = &*(*worker).job;
        let rest = std::mem::replace(&mut (*worker).chunk, 0..0);
        job.give_back(rest);
        if job.has_blocks() && enter(job) {
            let builder = std::thread::Builder::new().name("regrain-relief".into());
            match builder.spawn(move || {
                (job.help)(job);
                job.workers.fetch_sub(1, Ordering::Relaxed);
            }) {
                Ok(handle) => job.relief.lock().unwrap_or_else(PoisonError::into_inner).push(handle),
                Err(_) => drop(job.workers.fetch_sub(1, Ordering::Relaxed)),
            }
        }
    }
}

/// Counts one more OS thread, unless as many blocks run as are resident on the device.
fn enter(job: &Job) -> bool {
    let resident =
        limits::max_blocks_per_sm(job.kernel, job.threads(), job.shared as usize) * limits::multiprocessors();
    let more = |running: u32| (running < resident).then_some(running + 1);
    job.workers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
}

/// Waits for the OS threads that were called. Nobody else works at the job any more.
pub fn join(job: &Job) {
    if !job.kernel.waits.load(Ordering::Relaxed) {
        return;
    }
    loop {
        let called = job.relief.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match called {
            // A panic there has been reported where it happened.
            Some(handle) => drop(handle.join()),
            None => return,
        }
    }
}
