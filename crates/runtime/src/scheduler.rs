//! The coroutine form: every CUDA thread of a block is a stackful coroutine, all on one OS thread.
//!
//! Order is deterministic: warps in order, lanes in order, each until it waits. A warp runs on until none of its lanes is ready, which keeps
//! warp collectives within one warp's working set. A coroutine is made when its thread first runs and its stack goes
//! back when the thread ends, so a kernel that does not wait uses one stack.
//!
//! When no thread can run and some wait, the block is stuck: `report.rs` says where, and the kernel fails.

use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::abi::{Entry, Site};
use crate::error::CudaError;
use crate::job::Job;
use crate::stack::Slot;
use crate::worker::Worker;

pub type Coro = Coroutine<(), (), (), Slot>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Ready,
    /// At the barrier of this index (`GRID` for the grid-wide one).
    Barrier(u8),
    /// In a warp collective.
    Warp,
    /// In `__activemask`.
    Active,
    Done,
}

/// One cache line per thread: it is touched at each switch.
#[repr(align(64))]
pub struct Thread {
    pub yielder: *const Yielder<(), ()>,
    pub state: State,
    pub site: *const Site,
    pub tid: [u32; 3],
    /// Warp collective: named lanes, deposit, where the deposits go.
    pub mask: u32,
    pub value: u64,
    pub out: *mut u64,
    /// What the synchronising call returns.
    pub result: u32,
}

#[derive(Clone, Copy, Default)]
pub struct Warp {
    pub live: u32,
    pub ready: u32,
    /// Ready, but only after everybody else has had a turn.
    pub yielded: u32,
    /// Lanes waiting in a warp collective.
    pub exchanging: u32,
    /// Lanes waiting in `__activemask`.
    pub asking: u32,
}

/// Runs the block that TLS names.
///
/// # Safety
/// `worker` belongs to this OS thread and is prepared for `job`, which has a thread form.
pub unsafe fn run_block(worker: *mut Worker, job: &Job) {
    // SAFETY: by contract; references are dropped before a coroutine runs.
    unsafe {
        (*worker).start_block(job);
        loop {
            let ran = sweep(worker, job);
            if (*worker).abandon || job.failed() {
                (*worker).discard();
                return;
            }
            if (*worker).live == 0 {
                return;
            }
            if !(*worker).wake_yielded() && !ran {
                crate::report::stuck(&*worker);
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
        let warps = (&(*worker).warps).len();
        for warp in 0..warps {
            let mut lane = 0;
            loop {
                let ready = (&(*worker).warps)[warp].ready;
                if ready == 0 {
                    if crate::warp::release_asking(worker, warp) {
                        continue;
                    }
                    break;
                }
                let after = ready & (u32::MAX.checked_shl(lane).unwrap_or(0));
                let pick = if after == 0 { ready } else { after };
                lane = pick.trailing_zeros();
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

/// Runs one thread until it waits or ends.
///
/// # Safety
/// As [`run_block`]; `index` is a live thread.
unsafe fn resume(worker: *mut Worker, job: &Job, index: usize) {
    // SAFETY: by contract. The coroutine's slot is not touched by entry points, which use the other fields.
    unsafe {
        let tls = (*worker).tls;
        (*tls).tid = (&(*worker).threads)[index].tid;
        (*tls).laneid = (index % 32) as u32;
        (*tls).warpid = (index / 32) as u32;
        (*worker).current = index;
        let slot: *mut Option<Coro> = (*worker).coroutines.as_mut_ptr().add(index);
        if (*slot).is_none() {
            let Some(entry) = job.thread_entry else { return };
            let Some(stack) = (*worker).stacks.take() else {
                job.fail(CudaError::MEMORY_ALLOCATION, "cannot map the stack of a thread");
                (*worker).abandon = true;
                return;
            };
            *slot = Some(make(worker, entry, job, stack));
        }
        let Some(coroutine) = (*slot).as_mut() else { return };
        if let CoroutineResult::Return(()) = coroutine.resume(()) {
            if let Some(coroutine) = (*slot).take() {
                let stack = coroutine.into_stack();
                if stack.overflowed() {
                    job.fail(CudaError::HARDWARE_STACK_ERROR, "stack overflow; raise it with cudaDeviceSetLimit(cudaLimitStackSize, ...)");
                    (*worker).abandon = true;
                }
                (*worker).stacks.give(stack);
            }
            ended(worker, index);
        }
    }
}

/// # Safety
/// `worker` and `job` outlive the coroutine.
unsafe fn make(worker: *mut Worker, entry: Entry, job: &Job, stack: Slot) -> Coro {
    let args = job.args;
    // SAFETY: the closure captures raw pointers that outlive it by contract.
    unsafe {
        Coroutine::with_stack_unchecked(stack, move |yielder: &Yielder<(), ()>, ()| {
            let current = (*worker).current;
            (&mut (*worker).threads)[current].yielder = yielder;
            entry(args);
        })
    }
}

/// A thread has returned: others may have waited only for it.
///
/// # Safety
/// As [`run_block`].
unsafe fn ended(worker: *mut Worker, index: usize) {
    // SAFETY: no coroutine runs now, the scheduler has exclusive access.
    unsafe {
        let bit = 1 << (index % 32);
        (&mut (*worker).threads)[index].state = State::Done;
        let warp = &mut (&mut (*worker).warps)[index / 32];
        warp.live &= !bit;
        warp.ready &= !bit;
        (*worker).live -= 1;
        crate::warp::after_exit(worker, index / 32);
        crate::barrier::after_exit(worker);
    }
}

/// Switches from the running thread to the scheduler; comes back when the thread is ready again.
///
/// # Safety
/// Called from an entry point in the coroutine of the current thread.
#[inline(always)]
pub unsafe fn suspend(worker: *mut Worker) {
    // SAFETY: the yielder belongs to the running coroutine.
    unsafe {
        let yielder = (&(*worker).threads)[(*worker).current].yielder;
        (*yielder).suspend(());
    }
}

/// Marks the running thread as waiting at `site` and suspends it.
///
/// # Safety
/// As [`suspend`].
#[inline(always)]
pub unsafe fn wait(worker: *mut Worker, state: State) {
    // SAFETY: by contract.
    unsafe {
        let index = (*worker).current;
        (&mut (*worker).threads)[index].state = state;
        (&mut (*worker).warps)[index / 32].ready &= !(1 << (index % 32));
        suspend(worker);
    }
}

/// Lets all other threads of the block run first.
///
/// # Safety
/// As [`suspend`].
pub unsafe fn yield_now(worker: *mut Worker) {
    // SAFETY: by contract.
    unsafe {
        let index = (*worker).current;
        let warp = &mut (&mut (*worker).warps)[index / 32];
        warp.ready &= !(1 << (index % 32));
        warp.yielded |= 1 << (index % 32);
        suspend(worker);
    }
}

impl Worker {
    fn start_block(&mut self, job: &Job) {
        let count = job.threads();
        let (x, y) = (job.block.x, job.block.y);
        self.live = count;
        self.barriers.reset();
        self.coroutines.resize_with(count as usize, || None);
        self.threads.clear();
        self.threads.extend((0..count).map(|t| Thread {
            yielder: std::ptr::null(),
            state: State::Ready,
            site: std::ptr::null(),
            tid: [t % x, t / x % y, t / x / y],
            mask: 0,
            value: 0,
            out: std::ptr::null_mut(),
            result: 0,
        }));
        self.warps.clear();
        self.warps.extend((0..count.div_ceil(32)).map(|warp| {
            let lanes = (count - warp * 32).min(32);
            let live = u32::MAX >> (32 - lanes);
            Warp { live, ready: live, ..Warp::default() }
        }));
    }

    /// Makes threads that yielded ready again. Returns whether there were any.
    fn wake_yielded(&mut self) -> bool {
        let mut any = false;
        for warp in &mut self.warps {
            any |= warp.yielded != 0;
            warp.ready |= std::mem::take(&mut warp.yielded);
        }
        if any && self.live == 1 {
            std::thread::yield_now();
        }
        any
    }

    /// Gives up all threads of the block.
    fn discard(&mut self) {
        for slot in &mut self.coroutines {
            if let Some(mut coroutine) = slot.take() {
                if !coroutine.done() {
                    // SAFETY: the frames are generated code and entry points that hold nothing to drop across a switch.
                    unsafe { coroutine.force_reset() };
                }
                self.stacks.give(coroutine.into_stack());
            }
        }
        self.abandon = false;
    }
}
