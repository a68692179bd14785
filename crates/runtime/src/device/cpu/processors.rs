//! How many processors there are, how many OS threads run blocks, and on which processor one runs.
//!
//! Linux wakes a thread on the processor that it ran on before, or on that of who wakes it, unless another one is idle. Where all have something to do,
//! be it of the lowest priority, two threads that sleep now and then may share one for as long as they run: each waits for the end of
//! the other's slice, some milliseconds. A thread is then kept off the processor that the launching thread is on.

use std::sync::OnceLock;

/// The processors that this process may use.
pub fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
}

/// Number of OS threads that run blocks: `REGRAIN_CPU_THREADS`, else the processors this process may use.
pub fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| {
        let available = processors();
        match std::env::var("REGRAIN_CPU_THREADS") {
            Err(_) => available,
            Ok(text) => match text.trim().parse::<usize>() {
                Ok(count) if (1..=4096).contains(&count) => count,
                _ => {
                    eprintln!(
                        "regrain runtime: warning: expected REGRAIN_CPU_THREADS to be a number from 1 to 4096, \
                         got '{text}'"
                    );
                    available
                }
            },
        }
    })
}

/// An OS thread, and the processor that it ran on when it was asked.
pub struct Place {
    thread: libc::pid_t,
    processor: libc::c_int,
}

/// What no processor is called.
const NOWHERE: libc::c_int = -1;

impl Place {
    /// The calling thread's.
    pub fn here() -> Self {
        // SAFETY: asks.
        Self { thread: unsafe { libc::gettid() }, processor: current() }
    }

    /// The OS thread.
    pub fn thread(&self) -> libc::pid_t {
        self.thread
    }

    /// Keeps the thread off a processor if it was there, and if the process may use another one.
    pub fn make_way(&mut self, processor: libc::c_int) {
        if self.processor != processor {
            return;
        }
        self.processor = NOWHERE;
        let Ok(index) = usize::try_from(processor) else { return };
        // SAFETY: the set is this function's own, and of the size that is stated; a thread that is no more is an error that nothing follows from.
        unsafe {
            let mut allowed: libc::cpu_set_t = std::mem::zeroed();
            let size = size_of_val(&allowed);
            if index >= 8 * size || libc::sched_getaffinity(libc::getpid(), size, &raw mut allowed) != 0 {
                return;
            }
            libc::CPU_CLR(index, &mut allowed);
            if libc::CPU_COUNT(&allowed) != 0 {
                libc::sched_setaffinity(self.thread, size, &raw const allowed);
            }
        }
    }
}

/// The processor that the calling thread runs on.
pub fn current() -> libc::c_int {
    // SAFETY: asks.
    unsafe { libc::sched_getcpu() }
}

/// Takes the calling thread off a processor, if it is there.
pub fn leave(processor: libc::c_int) {
    if current() == processor {
        Place::here().make_way(processor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_use(processor: libc::c_int) -> bool {
        // SAFETY: the set is this function's own, and of the size that is stated.
        unsafe {
            let mut allowed: libc::cpu_set_t = std::mem::zeroed();
            libc::sched_getaffinity(0, size_of_val(&allowed), &raw mut allowed);
            libc::CPU_ISSET(usize::try_from(processor).expect("a processor"), &allowed)
        }
    }

    #[test]
    fn a_thread_makes_way() {
        std::thread::spawn(|| {
            // A process of one processor has nowhere to go.
            let is_alone = (0..libc::CPU_SETSIZE).filter(|processor| may_use(*processor)).count() == 1;
            let mut place = Place::here();
            let here = place.processor;
            place.make_way(here);
            assert_eq!(may_use(here), is_alone);
            assert_eq!(current() == here, is_alone);
        })
        .join()
        .expect("the thread ends");
    }

    #[test]
    fn a_thread_that_is_elsewhere_stays() {
        std::thread::spawn(|| {
            let mut place = Place::here();
            let other = place.processor + 1;
            place.make_way(other);
            leave(NOWHERE);
            assert!(may_use(current()) && place.processor + 1 == other);
        })
        .join()
        .expect("the thread ends");
    }
}
