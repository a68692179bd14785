//! Where the OS threads of the pool come to a grid, and leave it.
//!
//! The launching thread opens the gate for a job and shuts it when no block is left; then it waits until everybody has
//! left. Whoever waits looks for a while before it sleeps.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::job::Job;
use super::processors::{self, Place};

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
    /// Those who sleep outside, and how many of them have been woken and do not run yet.
    asleep: AtomicU32,
    coming: AtomicU32,
    /// Whether the launching thread sleeps.
    host_sleeps: AtomicBool,
    /// The processor that the launching thread was on when it opened the gate.
    host: AtomicI32,
    lock: Mutex<Outside>,
    opened: Condvar,
    left: Condvar,
}

/// Who sleeps outside.
struct Outside {
    sleepers: Vec<Place>,
    /// When somebody was woken last.
    woken: Option<Instant>,
}

/// A thread that has come in.
pub struct Visit {
    /// Valid until the visitor has left.
    pub job: *const Job,
    pub number: u64,
    /// How long it waited, and whether it looked out for work when the gate was opened.
    pub waited: Duration,
    pub was_awake: bool,
}

impl Gate {
    pub const fn new() -> Self {
        Self {
            state: AtomicU64::new(0),
            job: AtomicPtr::new(std::ptr::null_mut()),
            asleep: AtomicU32::new(0),
            coming: AtomicU32::new(0),
            host_sleeps: AtomicBool::new(false),
            host: AtomicI32::new(0),
            lock: Mutex::new(Outside { sleepers: Vec::new(), woken: None }),
            opened: Condvar::new(),
            left: Condvar::new(),
        }
    }

    /// How many do not look out for work, and whether one of them is about to.
    pub fn asleep(&self) -> u32 {
        self.asleep.load(Ordering::Relaxed)
    }

    pub fn is_somebody_coming(&self) -> bool {
        self.coming.load(Ordering::Relaxed) != 0
    }

    /// Lets threads in, and wakes up to `wake` of them; whether it woke any. The job stays valid until [`Gate::shut`] returns.
    pub fn open(&self, job: &Job, wake: u32) -> bool {
        self.job.store(std::ptr::from_ref(job).cast_mut(), Ordering::Relaxed);
        let here = processors::current();
        self.host.store(here, Ordering::Relaxed);
        let number = (self.state.load(Ordering::Relaxed) >> NUMBER) + 1;
        // Before the count of sleepers is read: who goes to sleep looks at the state after it is counted.
        self.state.store(number << NUMBER | OPEN, Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst) <= self.coming.load(Ordering::SeqCst) {
            return false;
        }
        let mut outside = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let sleepers = self.asleep.load(Ordering::SeqCst).saturating_sub(self.coming.load(Ordering::SeqCst)).min(wake);
        self.coming.fetch_add(sleepers, Ordering::SeqCst);
        outside.sleepers.iter_mut().for_each(|sleeper| sleeper.make_way(here));
        outside.woken = Some(Instant::now());
        drop(outside);
        (0..sleepers).for_each(|_| self.opened.notify_one());
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

    /// Waits for a job other than the one of number `seen`, and comes in. Who is woken and finds the gate shut looks out for the next job before it
    /// sleeps again: it may have been called for that one's sake. `comes` is told how long who slept took to come.
    pub fn enter(&self, seen: u64, looks_for: Duration, comes: impl Fn(Duration)) -> Visit {
        let start = Instant::now();
        let mut visit = None;
        let mut come = || {
            visit = self.try_enter(seen);
            visit.is_some()
        };
        let mut was_awake = true;
        while !look(looks_for, &mut come) {
            let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.asleep.fetch_add(1, Ordering::SeqCst);
            if come() {
                self.asleep.fetch_sub(1, Ordering::SeqCst);
                drop(guard);
                was_awake = false;
                break;
            }
            comes(self.sleep(guard));
            if come() {
                was_awake = false;
                break;
            }
        }
        Visit {
            job: self.job.load(Ordering::Relaxed),
            number: visit.unwrap_or(seen),
            waited: start.elapsed(),
            was_awake,
        }
    }

    /// Sleeps until it is called; how long ago that was. Who is called is none of the sleepers as soon as the lock is free again, or it would be called
    /// twice.
    fn sleep(&self, mut guard: MutexGuard<Outside>) -> Duration {
        let place = Place::here();
        let thread = place.thread();
        guard.sleepers.push(place);
        while self.coming.load(Ordering::SeqCst) == 0 {
            guard = self.opened.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.coming.fetch_sub(1, Ordering::SeqCst);
        self.asleep.fetch_sub(1, Ordering::SeqCst);
        guard.sleepers.retain(|sleeper| sleeper.thread() != thread);
        guard.woken.map(|woken| woken.elapsed()).unwrap_or_default()
    }

    /// Takes a visitor off the launching thread's processor, which both would wait for.
    pub fn settle(&self) {
        processors::leave(self.host.load(Ordering::Relaxed));
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
