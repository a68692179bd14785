//! Where the OS threads of the pool come to a grid, and leave it.
//!
//! The launching thread opens the gate for a job and shuts it when no block is left; then it waits until everybody has
//! left. Whoever waits looks for a while before it sleeps.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::job::Job;

/// How many are inside: the low half of the state.
const INSIDE: u64 = u32::MAX as u64;
const OPEN: u64 = 1 << 32;
/// The number of the job stands above.
const NUMBER: u32 = 33;

/// Looks, each of some ten nanoseconds, before the processor is offered to others: to the thread that is waited for, if it has none.
const LOOKS: u32 = 64;

/// The gate to the one job that the pool works at.
pub struct Gate {
    state: AtomicU64,
    job: AtomicPtr<Job>,
    /// Those who sleep outside, and whether the launching thread does.
    asleep: AtomicU32,
    host_sleeps: AtomicBool,
    lock: Mutex<()>,
    opened: Condvar,
    left: Condvar,
}

/// A thread that has come in.
pub struct Visit {
    /// Valid until the visitor has left.
    pub job: *const Job,
    pub number: u64,
    /// How long it waited, and whether it slept when the gate was opened.
    pub waited: Duration,
    pub slept: bool,
}

impl Gate {
    pub const fn new() -> Self {
        Self {
            state: AtomicU64::new(0),
            job: AtomicPtr::new(std::ptr::null_mut()),
            asleep: AtomicU32::new(0),
            host_sleeps: AtomicBool::new(false),
            lock: Mutex::new(()),
            opened: Condvar::new(),
            left: Condvar::new(),
        }
    }

    /// How many sleep outside.
    pub fn asleep(&self) -> u32 {
        self.asleep.load(Ordering::Relaxed)
    }

    /// Lets threads in, and wakes up to `wake` of them; whether it woke any. The job stays valid until [`Gate::shut`] returns.
    pub fn open(&self, job: &Job, wake: u32) -> bool {
        self.job.store(std::ptr::from_ref(job).cast_mut(), Ordering::Relaxed);
        let number = (self.state.load(Ordering::Relaxed) >> NUMBER) + 1;
        // Before the count of sleepers is read: who goes to sleep looks at the state after it is counted.
        self.state.store(number << NUMBER | OPEN, Ordering::SeqCst);
        let sleepers = self.asleep.load(Ordering::SeqCst).min(wake);
        if sleepers != 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            (0..sleepers).for_each(|_| self.opened.notify_one());
        }
        sleepers != 0
    }

    /// Lets nobody in any more, and waits until all have left.
    pub fn shut(&self, looks_for: Duration) {
        let inside = || self.state.load(Ordering::SeqCst) & INSIDE != 0;
        self.state.fetch_and(!OPEN, Ordering::SeqCst);
        if look(looks_for, || !inside()) {
            return;
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.host_sleeps.store(true, Ordering::SeqCst);
        while inside() {
            guard = self.left.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.host_sleeps.store(false, Ordering::SeqCst);
    }

    /// Waits for a job other than the one of number `seen`, and comes in.
    pub fn enter(&self, seen: u64, looks_for: Duration) -> Visit {
        let start = Instant::now();
        let mut visit = None;
        let come = |visit: &mut Option<u64>| {
            *visit = self.try_enter(seen);
            visit.is_some()
        };
        let mut slept = false;
        if !look(looks_for, || come(&mut visit)) {
            let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.asleep.fetch_add(1, Ordering::SeqCst);
            while !come(&mut visit) {
                guard = self.opened.wait(guard).unwrap_or_else(PoisonError::into_inner);
                slept = true;
            }
            self.asleep.fetch_sub(1, Ordering::SeqCst);
        }
        let job = self.job.load(Ordering::Relaxed);
        Visit { job, number: visit.unwrap_or(seen), waited: start.elapsed(), slept }
    }

    /// Counts the calling thread in, if the gate is open for another job than that of number `seen`.
    fn try_enter(&self, seen: u64) -> Option<u64> {
        let enters = |state: u64| (state & OPEN != 0 && state >> NUMBER != seen).then_some(state + 1);
        let before = self.state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, enters).ok()?;
        Some(before >> NUMBER)
    }

    /// Counts a visitor out.
    pub fn leave(&self) {
        let before = self.state.fetch_sub(1, Ordering::SeqCst);
        if before & (OPEN | INSIDE) == 1 && self.host_sleeps.load(Ordering::SeqCst) {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.left.notify_one();
        }
    }
}

/// Looks for something for a while. Whether it came.
pub fn look(time: Duration, mut found: impl FnMut() -> bool) -> bool {
    if found() {
        return true;
    }
    let start = Instant::now();
    loop {
        for _ in 0..LOOKS {
            std::hint::spin_loop();
            if found() {
                return true;
            }
        }
        if start.elapsed() >= time {
            return false;
        }
        std::thread::yield_now();
    }
}
