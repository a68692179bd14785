//! Switches between the threads of a block: from the running one to the scheduler, for a while or for good.

use super::fibers;
use super::state::{Mode, State, Worker};

/// Switches from the running thread to the scheduler; comes back when the thread is ready again.
///
/// # Safety
/// Called from an entry point in the coroutine of the current thread.
#[inline(always)]
pub unsafe fn suspend(worker: *mut Worker) {
    // SAFETY: the yielder belongs to the running coroutine.
    unsafe {
        let yielder = (*worker).yielder;
        let thread = &mut (&mut (*worker).threads)[(*worker).current];
        thread.yielder = yielder;
        thread.slot = (*worker).slot;
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
        match (*worker).waiting.yielder() {
            Some(fiber) => fibers::suspend(worker, fiber),
            None => suspend(worker),
        }
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

/// Leaves the running CUDA thread for good: the kernel has failed.
///
/// # Safety
/// Called from an entry point on the worker's own OS thread.
pub unsafe fn leave(worker: *mut Worker) -> ! {
    // SAFETY: by contract; the yielder belongs to the coroutine that runs now.
    unsafe {
        (*worker).abandon = true;
        loop {
            match ((*worker).mode, (*worker).waiting.yielder()) {
                (Mode::Coroutines, _) => suspend(worker),
                (_, Some(fiber)) => (*fiber).suspend(()),
                _ => (*(*worker).whole_yielder).suspend(()),
            }
        }
    }
}
