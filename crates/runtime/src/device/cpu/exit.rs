//! PTX `exit` inside a function: one CUDA thread ends while the others go on.
//!
//! The thread's coroutine stays suspended for good; it counts as returned, and its stack is taken back when the block
//! is over.

use super::scheduler::ended;
use super::state::{Mode, current};
use super::switch::{leave, suspend};
use crate::error::CudaError;

/// Ends the calling CUDA thread.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_exit_thread() {
    let worker = current();
    if worker.is_null() {
        std::process::abort();
    }
    // SAFETY: a non-null worker belongs to this OS thread and runs this thread; nothing of it runs after `ended`.
    unsafe {
        if (*worker).mode != Mode::Coroutines {
            (*worker).job().fail(CudaError::LAUNCH_FAILURE, "a thread exits alone in code that runs whole blocks");
            leave(worker);
        }
        (*worker).exited = true;
        ended(worker, (*worker).current);
        loop {
            suspend(worker);
        }
    }
}
