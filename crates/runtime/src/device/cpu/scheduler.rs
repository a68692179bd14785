//! The coroutine form: every CUDA thread of a block is a stackful coroutine, all on one OS thread.
//!
//! Order is deterministic: warps in order, lanes in order, or both by a seed (`shuffle.rs`), each until it waits. A warp runs on until none of its lanes
//! is ready, which keeps warp collectives within one warp's working set. A coroutine is made when a thread is to start
//! and none is free to run it: one whose thread has returned goes on with the next, so a block whose threads do not
//! wait needs one coroutine and no switch.
//!
//! When no thread can run and some wait, the block is stuck: `report.rs` says where, and the kernel fails.

use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::checks::{self, Scope};
use super::hints::SPINS_PER_YIELD;
use super::job::Job;
use super::relief::{self, Patience};
use super::stack::Coro;
use super::state::{State, Thread, Warp, Worker};
use super::switch::set_running;
use super::{barrier, report, sanitizer, warp, wave};
use crate::abi::Entry;
use crate::error::CudaError;

/// Turns of threads that all may wait, before the block is taken to wait for another one.
const SWEEPS: u32 = 64;

/// Runs the block that TLS names.
///
/// # Safety
/// `worker` belongs to this OS thread and is prepared for `job`, which has a thread form.
pub unsafe fn run_block(worker: *mut Worker, job: &Job) {
    // SAFETY: by contract; references are dropped before a coroutine runs.
    unsafe {
        (*worker).start_block(job);
        sanitizer::anew();
        let mut sweeps = 0u32;
        loop {
            let ran = sweep(worker, job);
            if (*worker).abandon || job.failed() {
                (*worker).discard();
                return;
            }
            if (*worker).live == 0 {
                if (*worker).exited {
                    (*worker).discard();
                }
                return;
            }
            let yielded = (*worker).wake_yielded();
            sweeps += u32::from(yielded);
            if yielded && ((*worker).live == 1 || sweeps.is_multiple_of(SWEEPS)) {
                relief::wait(worker, Patience::Long);
            }
            if !yielded && !ran {
                report::stuck(&*worker);
                job.fail(CudaError::LAUNCH_FAILURE, "");
            }
        }
    }
}

/// Gives every warp a turn. Returns whether any thread ran.
///
/// # Safety
/// As [`run_block`].
unsafe fn sweep(worker: *mut Worker, job: &Job) -> bool {
    let mut ran = false;
    // SAFETY: by contract.
    unsafe {
        let warps = job.threads().div_ceil(32) as usize;
        let order = (*worker).random.as_mut().map(|random| random.order(0..warps as u64));
        for turn in 0..warps {
            let warp = order.as_ref().map_or(turn, |order| order[turn] as usize);
            let mut lane = 0;
            loop {
                let ready = (&(*worker).warps)[warp].ready;
                if ready == 0 {
                    if warp::release_asking(worker, warp) || wave::release(worker, warp) {
                        ran = true;
                        continue;
                    }
                    break;
                }
                let after = ready & (u32::MAX.checked_shl(lane).unwrap_or(0));
                let pick = if after == 0 { ready } else { after };
                lane = match &mut (*worker).random {
                    Some(random) => random.bit(ready),
                    None => pick.trailing_zeros(),
                };
                ran = true;
                resume(worker, job, warp * 32 + lane as usize);
                if (*worker).abandon {
                    return true;
                }
                lane += 1;
            }
        }
    }
    ran
}

/// Runs one thread until it waits or ends; if it ends, its coroutine goes on with the threads after it.
///
/// # Safety
/// As [`run_block`]; `index` is a live, ready thread.
unsafe fn resume(worker: *mut Worker, job: &Job, index: usize) {
    // SAFETY: by contract. Entry points use other fields than the slab, which does not change while a coroutine runs.
    unsafe {
        let fresh = (&(*worker).warps)[index / 32].fresh & 1 << (index % 32) != 0;
        let slot = if fresh {
            let Some(slot) = create(worker, job) else {
                job.fail(CudaError::MEMORY_ALLOCATION, "cannot map the stack of a thread");
                (*worker).abandon = true;
                return;
            };
            slot
        } else {
            (&(*worker).threads)[index].slot
        };
        set_running(worker, index);
        (*worker).slot = slot;
        (*worker).yielder = (&(*worker).threads)[index].yielder;
        let entry: *mut Option<Coro> = (*worker).coroutines.as_mut_ptr().add(slot as usize);
        let Some(coroutine) = (*entry).as_mut() else { return };
        if let CoroutineResult::Return(()) = sanitizer::inside(|| coroutine.resume(())) {
            let Some(coroutine) = (*entry).take() else { return };
            (*worker).free_slots.push(slot);
            let stack = coroutine.into_stack();
            if stack.overflowed() {
                job.fail(
                    CudaError::HARDWARE_STACK_ERROR,
                    "stack overflow; raise it with cudaDeviceSetLimit(cudaLimitStackSize, ...)",
                );
                (*worker).abandon = true;
            }
            (*worker).stacks.give(stack);
        }
    }
}

/// Makes a coroutine that starts with the current thread. Returns its place, or `None` without memory for a stack.
///
/// # Safety
/// As [`run_block`]; `worker` and `job` outlive the coroutine.
unsafe fn create(worker: *mut Worker, job: &Job) -> Option<u32> {
    // SAFETY: by contract; no coroutine runs now. The closure captures raw pointers that outlive it.
    unsafe {
        let entry = job.thread_entry?;
        let stack = (*worker).stacks.take()?;
        let slot = (*worker).free_slots.pop().unwrap_or((*worker).coroutines.len() as u32);
        let job: *const Job = job;
        let body = move |yielder: &Yielder<(), ()>, ()| run_from_current(worker, &*job, entry, yielder);
        let coroutine = Some(Coroutine::with_stack_unchecked(stack, body));
        if slot as usize == (*worker).coroutines.len() {
            (*worker).coroutines.push(coroutine);
        } else {
            (&mut (*worker).coroutines)[slot as usize] = coroutine;
        }
        Some(slot)
    }
}

/// What a coroutine does: the current thread, then as many threads after it as can start now. A thread that never waits
/// so costs no switch.
///
/// # Safety
/// In a coroutine of `worker`.
unsafe fn run_from_current(worker: *mut Worker, job: &Job, entry: Entry, yielder: *const Yielder<(), ()>) {
    // SAFETY: by contract; references are dropped before the entry runs.
    unsafe {
        (*worker).yielder = yielder;
        loop {
            let index = (*worker).current;
            (&mut (*worker).warps)[index / 32].fresh &= !(1 << (index % 32));
            entry(job.args);
            ended(worker, index);
            if (*worker).abandon || job.failed() || !can_start(worker, index + 1) {
                return;
            }
            set_running(worker, index + 1);
        }
    }
}

/// Whether a thread is still to start and the warp before it, if it begins one, has nothing left to run.
///
/// # Safety
/// As [`run_block`].
#[inline(always)]
unsafe fn can_start(worker: *mut Worker, index: usize) -> bool {
    // SAFETY: by contract.
    let warps = unsafe { &(*worker).warps };
    // SAFETY: by contract.
    if unsafe { (*worker).random.is_some() } {
        return false;
    }
    let Some(warp) = warps.get(index / 32) else { return false };
    warp.fresh & 1 << (index % 32) != 0 && (!index.is_multiple_of(32) || warps[index / 32 - 1].ready == 0)
}

/// A thread has returned: others may have waited only for it.
///
/// # Safety
/// As [`run_block`].
#[inline(always)]
pub unsafe fn ended(worker: *mut Worker, index: usize) {
    // SAFETY: by contract; nothing else of this worker runs meanwhile.
    unsafe {
        // It counts as arrived at the barriers that the others come to.
        if let Some(checker) = checks::checker() {
            checker.arrives(index, Scope::Block);
        }
        let bit = 1 << (index % 32);
        let warp = &mut (&mut (*worker).warps)[index / 32];
        warp.live &= !bit;
        warp.ready &= !bit;
        (*worker).live -= 1;
        if warp.exchanging != 0 {
            warp::after_exit(worker, index / 32);
        }
        if (*worker).barriers.waited_for() {
            barrier::after_exit(worker);
        }
        if (*worker).waves_waiting != 0 {
            wave::after_exit(worker);
        }
    }
}

impl Worker {
    /// Sets up the threads for all blocks of a job, unless they still are from the job before.
    pub fn prepare_threads(&mut self, job: &Job) {
        if self.shape == job.block.array() {
            return;
        }
        self.shape = job.block.array();
        let (x, y) = (job.block.x, job.block.y);
        self.threads.clear();
        self.threads.extend((0..job.threads()).map(|t| Thread {
            yielder: std::ptr::null(),
            site: std::ptr::null(),
            tid: [t % x, t / x % y, t / x / y],
            state: State::Ready,
            slot: 0,
            mask: 0,
            value: 0,
            out: std::ptr::null_mut(),
            result: 0,
        }));
    }

    fn start_block(&mut self, job: &Job) {
        let count = job.threads();
        self.live = count;
        // Anew in each block, so that a block's order is its own.
        // SAFETY: the worker runs on the OS thread whose state it is.
        unsafe { (*self.tls).hints = SPINS_PER_YIELD - 1 };
        self.barriers.reset();
        (self.wave_warps, self.waves_waiting) = (1, 0);
        self.start_warps(job);
    }

    /// All threads of the block are to start.
    pub fn start_warps(&mut self, job: &Job) {
        let count = job.threads();
        self.warps.clear();
        self.warps.extend((0..count.div_ceil(32)).map(|warp| {
            let lanes = (count - warp * 32).min(32);
            let live = u32::MAX >> (32 - lanes);
            Warp { live, ready: live, fresh: live, ..Warp::default() }
        }));
    }

    /// Makes threads that yielded ready again. Returns whether there were any.
    fn wake_yielded(&mut self) -> bool {
        let mut any = false;
        for warp in &mut self.warps {
            any |= warp.yielded != 0;
            warp.ready |= std::mem::take(&mut warp.yielded);
        }
        any
    }

    /// Gives up all threads of the block.
    fn discard(&mut self) {
        for mut coroutine in self.coroutines.drain(..).flatten() {
            if !coroutine.done() {
                // SAFETY: the frames are generated code and entry points that hold nothing to drop across a switch.
                unsafe { coroutine.force_reset() };
            }
            self.stacks.give(coroutine.into_stack());
        }
        self.free_slots.clear();
        self.shape = [0; 3];
        self.abandon = false;
        self.exited = false;
    }
}
