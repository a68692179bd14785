//! Block barriers: the sixteen named ones, with thread counts and reductions, and the block's part of the grid barrier.
//!
//! A barrier of the whole block opens when every live thread waits at it: threads that have returned count as arrived,
//! as on hardware. Waiting threads at different source lines are let through, as hardware does, with one warning per
//! kernel and line; `REGRAIN_CPU_CHECK=1` turns both into a failed kernel. A barrier with a count opens when that many
//! threads have arrived; those that returned do not count there.

use super::checks::{self, Scope};
use super::report;
use super::state::{Barrier, GRID, Mode, State, Worker, current, take_site};
use super::switch::{give_way, leave, wait};
use crate::abi::Site;
use crate::error::CudaError;

/// What a barrier with reduction computes.
#[derive(Clone, Copy)]
enum Red {
    None,
    Popc(bool),
    And(bool),
    Or(bool),
}

impl Red {
    fn predicate(self) -> bool {
        match self {
            Red::None => false,
            Red::Popc(p) | Red::And(p) | Red::Or(p) => p,
        }
    }
}

/// Whether two sites are the same source line.
fn same_site(a: *const Site, b: *const Site) -> bool {
    a == b || report::describe(a) == report::describe(b)
}

fn scope_of(id: usize) -> Scope {
    if id == GRID { Scope::Grid } else { Scope::Block }
}

/// Waits at barrier `id`; returns the reduction.
///
/// # Safety
/// Called from generated code or an entry point on a worker's OS thread.
#[inline]
unsafe fn sync(id: usize, nthreads: u32, red: Red, arrive_only: bool) -> u32 {
    let worker = current();
    if worker.is_null() {
        return 0;
    }
    // SAFETY: a non-null worker belongs to this OS thread and runs this thread.
    unsafe {
        let site = take_site(worker);
        let total = (*worker).job().threads();
        if (*worker).mode != Mode::Coroutines {
            return alone(worker, total, red);
        }
        let index = (*worker).current;
        (&mut (*worker).threads)[index].site = site;
        if let Some(checker) = checks::checker() {
            checker.arrives(index, scope_of(id));
        }
        let warps = total.div_ceil(32) as usize;
        let barrier = &mut (&mut (*worker).barriers.slots)[id];
        barrier.lanes.resize(warps, 0);
        if barrier.waiting + barrier.arrived == 0 {
            barrier.site = site as usize;
            barrier.all = true;
        } else if !barrier.diverged && barrier.site != site as usize {
            barrier.diverged = !same_site(barrier.site as *const Site, site);
        }
        barrier.expected = nthreads;
        barrier.reduces |= !matches!(red, Red::None);
        barrier.count += u32::from(red.predicate());
        barrier.all &= red.predicate();
        barrier.any |= red.predicate();
        (*worker).barriers.pending |= 1 << id;
        if arrive_only {
            barrier.arrived += 1;
            open_if_complete(worker, id);
            return 0;
        }
        barrier.waiting += 1;
        barrier.lanes[index / 32] |= 1 << (index % 32);
        // The last thread to arrive passes without a switch.
        (&mut (*worker).warps)[index / 32].ready &= !(1 << (index % 32));
        (&mut (*worker).threads)[index].state = State::Barrier(id as u8);
        // What the reduction is depends on the caller, so it is noted per thread and resolved at the opening.
        (&mut (*worker).threads)[index].mask = match red {
            Red::None => 0,
            Red::Popc(_) => 1,
            Red::And(_) => 2,
            Red::Or(_) => 3,
        };
        if !open_if_complete(worker, id) {
            wait(worker, State::Barrier(id as u8));
        }
        if (*worker).abandon {
            leave(worker);
        }
        (&(*worker).threads)[index].result
    }
}

/// A barrier outside the coroutine form: right for a block of one thread only.
///
/// # Safety
/// As [`sync`].
#[cold]
unsafe fn alone(worker: *mut Worker, total: u32, red: Red) -> u32 {
    if total > 1 {
        // SAFETY: by contract.
        unsafe {
            (*worker).job().fail(CudaError::LAUNCH_FAILURE, "reached a barrier in its split form");
            leave(worker);
        }
    }
    u32::from(red.predicate())
}

/// Opens barrier `id` when everybody is there. Returns whether it opened.
///
/// # Safety
/// As [`sync`], or from the scheduler.
unsafe fn open_if_complete(worker: *mut Worker, id: usize) -> bool {
    // SAFETY: by contract; no reference lives across a switch.
    unsafe {
        let (live, total) = ((*worker).live, (*worker).job().threads());
        let barrier = &(&(*worker).barriers.slots)[id];
        let here = barrier.waiting + barrier.arrived;
        let complete = if barrier.expected == 0 { here >= live } else { here >= barrier.expected };
        if !complete || here == 0 {
            return false;
        }
        let exited = if barrier.expected == 0 { total - live } else { 0 };
        if (barrier.diverged || exited != 0) && !report::uneven_barrier(&*worker, id, exited, barrier.diverged) {
            (*worker).job().fail(CudaError::LAUNCH_FAILURE, "");
            (*worker).abandon = true;
            return false;
        }
        if id == GRID {
            arrive_at_grid(worker);
        }
        open(&mut *worker, id);
        true
    }
}

fn open(worker: &mut Worker, id: usize) {
    let barrier = &mut worker.barriers.slots[id];
    for (warp, lanes) in barrier.lanes.iter_mut().enumerate() {
        let mut left = std::mem::take(lanes);
        worker.warps[warp].ready |= left;
        while left != 0 {
            let index = warp * 32 + left.trailing_zeros() as usize;
            if let Some(checker) = checks::checker() {
                checker.leaves(index, scope_of(id));
            }
            let thread = &mut worker.threads[index];
            left &= left - 1;
            thread.state = State::Ready;
            thread.result = match thread.mask {
                1 => barrier.count,
                2 => u32::from(barrier.all),
                3 => u32::from(barrier.any),
                _ => 0,
            };
        }
    }
    let lanes = std::mem::take(&mut barrier.lanes);
    *barrier = Barrier { lanes, ..Barrier::default() };
    worker.barriers.pending &= !(1 << id);
}

/// The block of `worker` is complete at the grid barrier: waits for the other blocks.
///
/// # Safety
/// `worker` is this OS thread's and runs a block.
unsafe fn arrive_at_grid(worker: *mut Worker) {
    // SAFETY: by contract.
    let job = unsafe { (*worker).job() };
    if let Some(barrier) = &job.grid_barrier {
        barrier.wait(1, || job.failed());
    } else if job.total > 1 {
        job.fail(CudaError::LAUNCH_FAILURE, "grid-wide synchronisation in a launch that is not cooperative");
    }
}

/// A thread has returned: barriers of the whole block may open.
///
/// # Safety
/// From the scheduler, while no coroutine runs.
pub unsafe fn after_exit(worker: *mut Worker) {
    // SAFETY: by contract.
    unsafe {
        let mut pending = (*worker).barriers.pending;
        while pending != 0 {
            let id = pending.trailing_zeros() as usize;
            pending &= pending - 1;
            if (&(*worker).barriers.slots)[id].expected == 0 && (*worker).live != 0 {
                open_if_complete(worker, id);
            }
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_barrier(id: u32, nthreads: u32) {
    // SAFETY: called by generated code on a worker's OS thread.
    unsafe { sync(id as usize & 15, nthreads, Red::None, false) };
}

/// `bar.arrive`: counts at the barrier without waiting.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_barrier_arrive(id: u32, nthreads: u32) {
    // SAFETY: called by generated code on a worker's OS thread.
    unsafe { sync(id as usize & 15, nthreads, Red::None, true) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_barrier_red(op: u32, id: u32, nthreads: u32, predicate: u32) -> u32 {
    let predicate = predicate != 0;
    let red = match op {
        0 => Red::Popc(predicate),
        1 => Red::And(predicate),
        _ => Red::Or(predicate),
    };
    // SAFETY: called by generated code on a worker's OS thread.
    unsafe { sync(id as usize & 15, nthreads, red, false) }
}

/// Waits until all threads of all blocks of a cooperative launch are here.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_grid_barrier() {
    let worker = current();
    if worker.is_null() {
        return;
    }
    // SAFETY: called by generated code on a worker's OS thread.
    unsafe {
        if (*worker).mode == Mode::Coroutines {
            sync(GRID, 0, Red::None, false);
        } else if (*worker).job().blocks_take_turns() {
            give_way(worker);
        } else {
            arrive_at_grid(worker);
        }
        if (*worker).job().failed() {
            leave(worker);
        }
    }
}
