//! Hints of generated code that other threads should run: in loops that spin, and between the accesses of a warp in
//! lockstep.

use super::relief::{self, Patience};
use super::state::{Mode, Worker, current};
use super::switch::{leave, yield_now};
use crate::abi::tls;

/// Hints from one change of threads to the next.
pub const SPINS_PER_YIELD: u32 = 32;
/// Of rows, each of whose lanes gives a hint: who looks once waits for nobody.
pub const SPINS_OF_ROWS_PER_YIELD: u32 = 1024;

unsafe extern "C" {
    /// Generated code calls this in loops around atomics and volatile accesses, so that a thread that waits for another
    /// lets it run.
    pub fn __regrain_spin_hint();
}

/// As many hints were given as change nothing.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_spin_hint_due() {
    let worker = current();
    if worker.is_null() {
        return;
    }
    // SAFETY: a non-null worker belongs to this OS thread and is running a block.
    unsafe {
        let most = if (*worker).mode == Mode::Whole { SPINS_OF_ROWS_PER_YIELD } else { SPINS_PER_YIELD };
        (*tls()).hints = most - 1;
        give_way(worker);
    }
}

/// Generated code calls this after each volatile access: the lanes of a warp go in step from one to the next, as code
/// of the time before `__syncwarp` takes for granted. It also lets a thread run that this one waits for. Where no lanes are
/// to change places it is a hint like others: giving the processor away takes milliseconds where other programs want it.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_lockstep() {
    let worker = current();
    // SAFETY: a non-null worker belongs to this OS thread and is running a block.
    unsafe {
        if !worker.is_null() && (*worker).mode == Mode::Coroutines && (*worker).live > 1 {
            give_way(worker);
        } else {
            __regrain_spin_hint();
        }
    }
}

/// Lets the other threads of the block run, or other blocks where there are none.
///
/// # Safety
/// `worker` belongs to this OS thread and is running a thread of a block.
unsafe fn give_way(worker: *mut Worker) {
    // SAFETY: by contract.
    unsafe {
        if (*worker).job().failed() {
            leave(worker);
        }
        match (*worker).mode {
            Mode::Coroutines if (*worker).live > 1 => yield_now(worker),
            _ => relief::wait(worker, Patience::Long),
        }
    }
}
