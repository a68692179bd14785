//! One block: its coordinates, and its split form.

use std::sync::atomic::Ordering;

use super::job::Job;
use super::state::Worker;
use crate::abi::Dim3;

/// Sets the block coordinates that generated code reads.
///
/// # Safety
/// `worker` belongs to this OS thread.
pub unsafe fn set_block(worker: *mut Worker, job: &Job, block: u64) {
    let Dim3 { x, y, .. } = job.grid;
    let (x, y) = (u64::from(x), u64::from(y));
    // SAFETY: this OS thread's own storage.
    unsafe { (*(*worker).tls).ctaid = [(block % x) as u32, (block / x % y) as u32, (block / x / y) as u32] };
}

/// Runs one block in split form.
///
/// # Safety
/// `worker` belongs to this OS thread, is prepared for `job` and in a coroutine of that block; the job's arguments and entries are valid.
pub unsafe fn run_whole_block(worker: *mut Worker, job: &Job) {
    let Some(entry) = job.block_entry else { return };
    // SAFETY: entry and arguments are valid by contract; TLS is this OS thread's own.
    unsafe {
        let tls = (*worker).tls;
        (*tls).tid = [0; 3];
        (*tls).laneid = 0;
        (*tls).warpid = 0;
        entry(job.args);
    }
}

/// Runs a block and as many of those behind it as its form takes at once, up to `most`; gives how many ran.
///
/// # Safety
/// As [`run_whole_block`].
pub unsafe fn run_whole_blocks(worker: *mut Worker, job: &Job, most: u64) -> u64 {
    // SAFETY: by contract; TLS is this OS thread's own.
    unsafe {
        let tls = (*worker).tls;
        let along = u64::from(job.grid.x - (*tls).ctaid[0]).min(most).min(job.longest_run());
        (*tls).available = along as u32;
        (*tls).taken = 1;
        run_whole_block(worker, job);
        let taken = (*tls).taken;
        if taken > 1 && !job.kernel.runs.load(Ordering::Relaxed) {
            job.kernel.runs.store(true, Ordering::Relaxed);
        }
        let together = (*tls).available;
        if u64::from(together) != along && job.kernel.together.load(Ordering::Relaxed) != together {
            job.kernel.together.store(together, Ordering::Relaxed);
        }
        u64::from(taken)
    }
}
