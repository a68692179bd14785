//! Work of isl in a process of its own.
//!
//! A context's budget counts operations, but eliminating the variables of a large relation is none of them and takes any time. It cannot be
//! stopped either, so it is done in a process that can, which hands over what it made.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `work` gives, if that is within `seconds` of processor time; nothing of it (no bytes) if it panics. It is done in a copy of this process and
/// leaves nothing else here. And the seconds that it took, with those of what it did in copies of its own.
pub fn computed(seconds: u64, work: impl FnOnce() -> Vec<u8>) -> (Option<Vec<u8>>, f64) {
    // SAFETY: both ends of the pipe are owned by one file each, in this process and in the copy. The copy has this thread alone and its own memory.
    // It computes and allocates, for which the allocators of C and of Rust are made ready by their handlers of fork, and leaves without what a
    // process does at its end.
    unsafe {
        let mut ends = [0; 2];
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return (None, 0.0);
        }
        let (mut from, mut to) = (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1]));
        let child = libc::fork();
        if child == 0 {
            let limit = libc::rlimit { rlim_cur: seconds, rlim_max: seconds };
            libc::setrlimit(libc::RLIMIT_CPU, &raw const limit);
            // A panic is met again, where it can be told of.
            let made = catch_unwind(AssertUnwindSafe(work)).unwrap_or_default();
            let handed = to.write_all(&made);
            libc::_exit(i32::from(handed.is_err()));
        }
        drop(to);
        let mut made = Vec::new();
        let is_read = child > 0 && from.read_to_end(&mut made).is_ok();
        let (mut status, mut usage) = (0, std::mem::zeroed::<libc::rusage>());
        let ended = child > 0 && libc::wait4(child, &raw mut status, 0, &raw mut usage) == child;
        let is_made = is_read && ended && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
        (is_made.then_some(made), seconds(usage.ru_utime) + seconds(usage.ru_stime))
    }
}
