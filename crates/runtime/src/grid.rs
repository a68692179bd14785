//! Cooperative launches: all blocks at once, one OS thread per block, and a barrier across them.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::job::Job;
use crate::worker::{Worker, run};

/// A barrier over the blocks of a grid that gives up when the kernel fails. A block that has ended counts as arrived.
pub struct GridBarrier {
    state: Mutex<Phase>,
    changed: Condvar,
}

struct Phase {
    blocks: u64,
    waiting: u64,
    phase: u64,
}

impl GridBarrier {
    pub fn new(blocks: u64) -> Self {
        Self { state: Mutex::new(Phase { blocks, waiting: 0, phase: 0 }), changed: Condvar::new() }
    }

    fn wait(&self, job: &Job) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting += 1;
        if state.waiting == state.blocks {
            self.open(&mut state);
            return;
        }
        let phase = state.phase;
        while state.phase == phase && !job.failed() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn open(&self, state: &mut Phase) {
        state.waiting = 0;
        state.phase += 1;
        self.changed.notify_all();
    }

    /// A block has ended.
    fn retire(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.blocks -= 1;
        if state.blocks != 0 && state.waiting == state.blocks {
            self.open(&mut state);
        }
    }

    /// Wakes all waiting blocks so that they see the failure.
    pub fn wake(&self) {
        let _state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.changed.notify_all();
    }
}

/// The block of `worker` is complete at the grid barrier: waits for the other blocks.
///
/// # Safety
/// `worker` is this OS thread's and runs a block.
pub unsafe fn arrive(worker: *mut Worker) {
    // SAFETY: by contract.
    let job = unsafe { (*worker).job() };
    if let Some(barrier) = &job.grid_barrier {
        barrier.wait(job);
    } else if job.total > 1 {
        job.fail(
            crate::error::CudaError::LAUNCH_FAILURE,
            "grid-wide synchronisation in a launch that is not cooperative",
        );
    }
}

/// Runs a cooperative grid: one OS thread per block.
pub fn run_cooperative(job: &Job) {
    std::thread::scope(|scope| {
        for _ in 0..job.total {
            let builder = std::thread::Builder::new().name("regrain-block".into());
            let result = builder.spawn_scoped(scope, || {
                crate::fault::prepare_thread();
                let mut worker = Worker::new();
                // SAFETY: a worker of this OS thread's own; the job is valid for the launch.
                unsafe { run(&raw mut *worker, job) };
                if let Some(barrier) = &job.grid_barrier {
                    barrier.retire();
                }
            });
            if result.is_err() {
                // Said before the scope joins: the blocks that did start wait for those that did not.
                job.fail(
                    crate::error::CudaError::COOPERATIVE_LAUNCH_TOO_LARGE,
                    "cannot start an OS thread for each block",
                );
                return;
            }
        }
    });
}
