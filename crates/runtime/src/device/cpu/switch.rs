//! Switches: which thread of a block runs, from it to the scheduler, for a while or for good, and from a fiber or a block to the next.

use corosensei::Yielder;

use super::state::{Mode, State, Worker};

/// Makes a thread the running one, as generated code sees it.
///
/// # Safety
/// `worker` belongs to this OS thread, and `index` is a thread of its block.
#[inline(always)]
pub unsafe fn set_running(worker: *mut Worker, index: usize) {
    // SAFETY: this OS thread's own storage.
    unsafe {
        let tls = (*worker).tls;
        (*tls).tid = (&(*worker).threads)[index].tid;
        (*tls).laneid = (index % 32) as u32;
        (*tls).warpid = (index / 32) as u32;
        (*worker).current = index;
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
        match (*worker).waiting.yielder {
            Some(fiber) => suspend_fiber(worker, fiber),
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

/// Gives the other fibers of a loop that waits their turn.
///
/// # Safety
/// `yielder` is that of the running fiber.
pub unsafe fn suspend_fiber(worker: *mut Worker, yielder: *const Yielder<(), ()>) {
    // SAFETY: by contract.
    unsafe {
        (*yielder).suspend(());
        (*worker).waiting.yielder = Some(yielder);
    }
}

/// Ends the turn of the running block: it is at the barrier of the grid.
///
/// # Safety
/// Called from the coroutine of the block whose turn it is.
pub unsafe fn give_way(worker: *mut Worker) {
    // SAFETY: the yielder belongs to the running coroutine.
    unsafe { (*(*worker).whole_yielder).suspend(()) };
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
            match ((*worker).mode, (*worker).waiting.yielder) {
                (Mode::Coroutines, _) => suspend(worker),
                (_, Some(fiber)) => (*fiber).suspend(()),
                _ => (*(*worker).whole_yielder).suspend(()),
            }
        }
    }
}
