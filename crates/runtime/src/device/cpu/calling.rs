//! When the launching thread calls others to a grid.
//!
//! Another thread takes a while to come: some hundred nanoseconds if it looks out for work, some microseconds if it sleeps. Both are measured
//! as threads come. A grid that takes the launching thread less than that it runs by itself; what it takes is what the blocks of
//! launches before took (`pace`), and then what the first blocks of this one take, so that a wrong guess costs little.
//!
//! Small launches that follow one another would each be too small to wake a thread for, but all of them gain from one
//! that is awake. So what each would have gained is added up, and when that comes to the price of waking, a thread is woken.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The longest that a thread which waits keeps a processor busy.
pub const LONGEST_LOOK: Duration = Duration::from_micros(50);

/// What a thread that looks out for work is taken to need to come before one has been seen to: a line of the cache goes to and fro a few times.
const AWAKE: u64 = 500;
/// The same of one that sleeps: the kernel is asked, and another processor leaves its own sleep. If that were taken for nothing, a thread that has never
/// slept as yet would be called to all grids, and would never sleep.
const ASLEEP: u64 = 10_000;

/// Time from a call until a thread comes: measured, 0 while nothing is known.
#[derive(Default)]
pub struct Delays {
    awake: AtomicU64,
    asleep: AtomicU64,
    /// What it costs the one that calls to wake somebody.
    waking: AtomicU64,
}

/// A mean of times that has become known. A thread that had no processor says little about the next: what is short counts more.
fn learn(known: &AtomicU64, time: Duration) {
    let (old, new) = (known.load(Ordering::Relaxed), nanoseconds(time));
    let mean = match new {
        new if old == 0 => new,
        new if new < old => u64::midpoint(old, new),
        new => old + (new - old).min(old) / 8,
    };
    known.store(mean.max(1), Ordering::Relaxed);
}

/// A clock that goes on every few milliseconds, and costs a fifth of one that says more.
pub fn glance() -> (i64, i64) {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is this function's own.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut time) };
    (time.tv_sec, time.tv_nsec)
}

pub fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Delays {
    /// Takes note of a thread that came so long after it was called.
    pub fn learn(&self, time: Duration, slept: bool) {
        learn(if slept { &self.asleep } else { &self.awake }, time);
    }

    /// Takes note of how long a call took that woke somebody.
    pub fn learn_waking(&self, time: Duration) {
        learn(&self.waking, time);
    }

    /// Nanoseconds until a thread comes that is awake.
    pub fn awake(&self) -> u64 {
        match self.awake.load(Ordering::Relaxed) {
            0 => AWAKE,
            known => known,
        }
    }

    /// Nanoseconds until a thread comes that sleeps, and that the call takes.
    pub fn asleep(&self) -> u64 {
        match self.asleep.load(Ordering::Relaxed) {
            0 => ASLEEP,
            known => known + self.waking.load(Ordering::Relaxed),
        }
    }

    /// Whether one more thread pays for work of `time` nanoseconds: half of it is longer than the thread takes to come.
    pub fn pays(&self, time: u64, asleep: bool) -> bool {
        time / 2 > if asleep { self.asleep() } else { self.awake() }
    }
}

/// How long a thread that has nothing to do looks out for work: at least for the price of waking it, and longer where the next
/// job usually comes that soon.
#[derive(Default)]
pub struct Patience(Duration);

impl Patience {
    pub fn time(&self) -> Duration {
        self.0.min(LONGEST_LOOK)
    }

    /// Takes note of how long work was waited for, where waking costs so many nanoseconds.
    pub fn learn(&mut self, waited: Duration, asleep: u64) {
        let wanted = if waited < LONGEST_LOOK { (2 * waited).max(self.0) } else { self.0 / 2 };
        self.0 = wanted.max(Duration::from_nanos(asleep)).min(LONGEST_LOOK);
    }
}

/// What small launches would have gained from a thread that is awake.
#[derive(Default)]
pub struct Credit {
    nanoseconds: u64,
    /// When the last launch was to end.
    last: Option<Instant>,
}

impl Credit {
    /// Whether waking somebody is worth it for a launch that takes `time` nanoseconds and those that are likely to follow.
    pub fn worth(&mut self, delays: &Delays, time: u64) -> bool {
        let gain = (time / 2).saturating_sub(delays.awake());
        gain != 0 && self.worth_now(delays, time, gain, Instant::now())
    }

    fn worth_now(&mut self, delays: &Delays, time: u64, gain: u64, now: Instant) -> bool {
        // A thread that is woken is awake at the next launch only if that comes soon.
        let last = self.last.replace(now + Duration::from_nanos(time));
        let soon = last.is_some_and(|last| now.saturating_duration_since(last) <= LONGEST_LOOK);
        self.nanoseconds = if soon { self.nanoseconds + gain } else { gain };
        let worth = self.nanoseconds > delays.asleep();
        if worth {
            self.nanoseconds = 0;
        }
        worth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays() -> Delays {
        let delays = Delays::default();
        delays.learn(Duration::from_nanos(300), false);
        delays.learn(Duration::from_nanos(15_000), true);
        delays.learn_waking(Duration::from_nanos(5_000));
        delays
    }

    #[test]
    fn work_longer_than_a_call_calls() {
        let delays = delays();
        assert!(delays.pays(50_000, true) && delays.pays(1_000, false));
        assert!(!delays.pays(30_000, true) && !delays.pays(500, false));
    }

    #[test]
    fn a_thread_that_never_slept_is_not_called_to_everything() {
        let delays = Delays::default();
        assert!(!delays.pays(2_000, true) && delays.pays(100_000, true));
    }

    #[test]
    fn small_launches_in_a_row_wake_a_thread() {
        let (delays, start) = (delays(), Instant::now());
        let worth = |credit: &mut Credit, microseconds: u64| {
            credit.worth_now(&delays, 4_300, 1_850, start + Duration::from_micros(microseconds))
        };
        let mut credit = Credit::default();
        assert_eq!((0..100).position(|turn| worth(&mut credit, turn * 5)), Some(10));
        assert!(!(0..100).any(|turn| worth(&mut credit, 1_000 * (turn + 1))));
        assert!(!credit.worth(&delays, 400));
    }

    #[test]
    fn a_thread_without_a_processor_says_little() {
        let delays = delays();
        delays.learn(Duration::from_millis(10), true);
        assert!(delays.asleep() < 22_500);
        delays.learn(Duration::from_micros(10), true);
        assert!(delays.asleep() < 20_000);
    }

    #[test]
    fn a_thread_looks_out_as_long_as_work_comes_soon() {
        let mut patience = Patience::default();
        patience.learn(Duration::from_micros(15), 4_000);
        assert_eq!(patience.time(), Duration::from_micros(30));
        (0..10).for_each(|_| patience.learn(Duration::from_millis(1), 4_000));
        assert_eq!(patience.time(), Duration::from_micros(4));
        (0..10).for_each(|_| patience.learn(Duration::from_millis(1), 400_000));
        assert_eq!(patience.time(), LONGEST_LOOK);
    }
}
