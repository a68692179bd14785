//! Work of isl in a process of its own.
//!
//! A context's budget counts operations, but eliminating the variables of a large relation is none of them and takes any time. It cannot be
//! stopped either, so it is done in a process that can, which hands over what it made.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Work that is done in a copy of this process.
#[must_use]
pub struct Computing {
    copy: libc::pid_t,
    made: Option<File>,
}

/// Begins `work` in a copy of this process, which may take so much processor time and leaves nothing else here.
pub fn begin(limit: Duration, work: impl FnOnce() -> Vec<u8>) -> Computing {
    // SAFETY: both ends of the pipe are owned by one file each, in this process and in the copy. The copy has this thread alone and its own memory.
    // It computes and allocates, for which the allocators of C and of Rust are made ready by their handlers of fork, and leaves without what a
    // process does at its end.
    unsafe {
        let mut ends = [0; 2];
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Computing { copy: -1, made: None };
        }
        let (from, mut to) = (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1]));
        let copy = libc::fork();
        if copy == 0 {
            // Its signal ends the copy.
            let none = libc::timeval { tv_sec: 0, tv_usec: 0 };
            let end = libc::timeval { tv_sec: limit.as_secs() as libc::time_t, tv_usec: limit.subsec_micros().into() };
            libc::setitimer(
                libc::ITIMER_PROF,
                &libc::itimerval { it_interval: none, it_value: end },
                std::ptr::null_mut(),
            );
            // A panic is met again, where it can be told of.
            let made = catch_unwind(AssertUnwindSafe(work)).unwrap_or_default();
            let handed = to.write_all(&made);
            libc::_exit(i32::from(handed.is_err()));
        }
        Computing { copy, made: (copy > 0).then_some(from) }
    }
}

impl Computing {
    /// What it gave, if it was in time; nothing of it (no bytes) if it panicked. And the seconds that it took, with those of what it did in copies
    /// of its own.
    pub fn finish(self) -> (Option<Vec<u8>>, f64) {
        let Some(mut from) = self.made else { return (None, 0.0) };
        let mut made = Vec::new();
        let is_read = from.read_to_end(&mut made).is_ok();
        // SAFETY: a process that nobody else waits for, and room for what is told of it.
        let (ended, status, usage) = unsafe {
            let (mut status, mut usage) = (0, std::mem::zeroed::<libc::rusage>());
            (libc::wait4(self.copy, &raw mut status, 0, &raw mut usage) == self.copy, status, usage)
        };
        let is_made = is_read && ended && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
        (is_made.then_some(made), seconds(usage.ru_utime) + seconds(usage.ru_stime))
    }
}
