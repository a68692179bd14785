//! Trying out whether isl comes to an end.
//!
//! A context's budget counts operations, but eliminating the variables of a large relation is none of them and takes any time. It cannot be
//! stopped either, so it is tried in a process of its own, which can.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Whether `work` ends within `seconds` of processor time. It is done in a copy of this process and leaves nothing here.
pub fn ends(seconds: u64, work: impl FnOnce()) -> bool {
    // SAFETY: the copy has this thread alone and its own memory. It computes and allocates, for which the allocators of C and of Rust are made
    // ready by their handlers of fork, and leaves without what a process does at its end.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            let limit = libc::rlimit { rlim_cur: seconds, rlim_max: seconds };
            libc::setrlimit(libc::RLIMIT_CPU, &raw const limit);
            // A panic is met again, where it can be told of.
            let _ = catch_unwind(AssertUnwindSafe(work));
            libc::_exit(0);
        }
        let mut status = 0;
        child > 0 && libc::waitpid(child, &raw mut status, 0) == child && libc::WIFEXITED(status)
    }
}
