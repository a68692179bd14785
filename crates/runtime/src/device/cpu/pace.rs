//! How long the blocks of a kernel take, and whether others help, as its launches before showed.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// How long a thread takes.
#[derive(Default)]
pub struct Pace {
    /// In 1/1024 nanoseconds, the mean of launches before with more weight on the last ones; 0 while nothing is known.
    mean: AtomicU64,
    launches: AtomicU32,
    /// How many times in a row about the mean was measured.
    alike: AtomicU32,
    /// Whether it was measured without others at work at the same grid.
    is_own: AtomicBool,
}

const UNIT: u64 = 1024;
/// Of how many launches that nobody need time one is timed.
const TIMED: u32 = 16;
/// From how many measurements on that are alike the next is taken to be.
const ALIKE: u32 = 8;

impl Pace {
    /// Nanoseconds that `blocks` of `threads` threads take one after the other, if that is known.
    pub fn of(&self, blocks: u64, threads: u32) -> Option<u64> {
        let pace = self.mean.load(Ordering::Relaxed);
        (pace != 0).then(|| pace.saturating_mul(blocks.saturating_mul(u64::from(threads))) / UNIT)
    }

    /// Counts a launch. Whether it is to be timed for the sake of those behind it alone.
    pub fn times_next(&self) -> bool {
        let launches = self.launches.load(Ordering::Relaxed).wrapping_add(1);
        self.launches.store(launches, Ordering::Relaxed);
        launches.is_multiple_of(TIMED) || self.mean.load(Ordering::Relaxed) == 0
    }

    /// Whether launches before took about the same.
    pub fn is_steady(&self) -> bool {
        self.alike.load(Ordering::Relaxed) >= ALIKE
    }

    /// Whether a thread was alone when its time was taken; else it may be much faster than what is known.
    pub fn is_own(&self) -> bool {
        self.is_own.load(Ordering::Relaxed)
    }

    /// As [`Pace::learn`] where other OS threads ran other blocks at the same time, and data went to and fro between their caches: slower than that no
    /// thread is alone.
    pub fn learn_beside(&self, nanoseconds: u64, blocks: u64, threads: u32) {
        if self.of(blocks, threads).is_none_or(|alone| nanoseconds < alone) {
            self.take_in(nanoseconds, blocks, threads);
        }
    }

    /// Takes note of `blocks` of `threads` threads that took so many nanoseconds.
    pub fn learn(&self, nanoseconds: u64, blocks: u64, threads: u32) {
        if !self.is_own.swap(true, Ordering::Relaxed) {
            self.mean.store(0, Ordering::Relaxed);
        }
        self.take_in(nanoseconds, blocks, threads);
    }

    fn take_in(&self, nanoseconds: u64, blocks: u64, threads: u32) {
        let count = blocks.saturating_mul(u64::from(threads)).max(1);
        let new = (nanoseconds.saturating_mul(UNIT) / count).max(1);
        let old = self.mean.load(Ordering::Relaxed);
        let is_alike = new / 2 <= old && old / 2 <= new;
        let alike = if is_alike { self.alike.load(Ordering::Relaxed).saturating_add(1) } else { 0 };
        self.alike.store(alike, Ordering::Relaxed);
        // Of launches at the same time one is forgotten, which does no harm.
        self.mean.store(if old == 0 { new } else { (old / 4 * 3 + new / 4).max(1) }, Ordering::Relaxed);
    }
}

/// Whether others help: after a grid that gained nothing from them they are left out of the next one, then of the
/// next two, four and so on, and of half as many when it pays again. One grid alone says little: times of less than a microsecond vary, and
/// others that look out for the next grid slow down the thread that shares a core with them.
#[derive(Default)]
pub struct Help {
    /// How many grids are to go without.
    left: AtomicU32,
    /// How many did the last time.
    last: AtomicU32,
    /// Whether somebody was woken for the next grid that others help with.
    woken: AtomicBool,
}

/// What a call costs, as far as it is known, beside the grid that it was for.
#[derive(Clone, Copy)]
pub struct Price {
    /// Of waking somebody, in nanoseconds.
    pub call: u64,
    /// What the grid takes without help.
    pub time: u64,
}

impl Price {
    /// How many grids take so many times as long as a call.
    fn grids(self, times: u64) -> u64 {
        times.saturating_mul(self.call) / self.time.max(1)
    }
}

/// How many grids begin without help before it is tried again: those between two calls take at least, where somebody had to be woken, and at most so
/// many times as long as a call, and are no more than the last.
const LEAST_TIMES: u64 = 4;
const MOST_TIMES: u64 = 256;
const MOST: u64 = 1 << 14;

impl Help {
    /// Counts a grid. Whether it goes without.
    pub fn pauses_next(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        if left != 0 {
            self.left.store(left - 1, Ordering::Relaxed);
        }
        left != 0
    }

    /// Takes note of somebody who was woken for the grids behind this one.
    pub fn wakes(&self) {
        self.woken.store(true, Ordering::Relaxed);
    }

    /// Takes note of a grid that others helped with.
    pub fn learn(&self, paid: bool, price: Price) {
        let last = u64::from(self.last.load(Ordering::Relaxed));
        let most = price.grids(MOST_TIMES).clamp(1, MOST);
        let woken = self.woken.swap(false, Ordering::Relaxed);
        let least = if woken { price.grids(LEAST_TIMES).clamp(1, most) } else { 1 };
        let next = if paid { last / 2 } else { (last * 2).clamp(least, most) } as u32;
        self.last.store(next, Ordering::Relaxed);
        self.left.store(next, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_follows_blocks_and_threads() {
        let pace = Pace::default();
        assert_eq!(pace.of(16, 256), None);
        pace.learn(16_000, 4, 256);
        assert_eq!(pace.of(4, 256), Some(16_000));
        assert_eq!(pace.of(8, 128), Some(16_000));
    }

    #[test]
    fn the_last_launches_count_more() {
        let pace = Pace::default();
        pace.learn(1_000_000, 1, 1);
        (0..60).for_each(|_| pace.learn(1_000, 1, 1));
        assert!(pace.of(1, 1).is_some_and(|time| time < 10_000));
        pace.learn_beside(1_000_000, 1, 1);
        assert!(pace.of(1, 1).is_some_and(|time| time < 10_000));
        assert!(pace.is_steady());
        pace.learn(0, 1, 1024);
        assert!(!pace.is_steady());
        assert!(pace.of(1 << 40, 1024).is_some());
    }

    #[test]
    fn what_a_thread_takes_alone_replaces_what_it_took_beside_others() {
        let pace = Pace::default();
        pace.learn_beside(64_000, 1, 64);
        assert!(!pace.is_own() && pace.of(1, 64) == Some(64_000));
        pace.learn(640, 1, 64);
        assert!(pace.is_own() && pace.of(1, 64) == Some(640));
    }

    #[test]
    fn help_that_does_not_pay_is_tried_less_and_less() {
        let (help, price) = (Help::default(), Price { call: 20_000, time: 20_000 });
        let off = |help: &Help| std::iter::repeat_with(|| help.pauses_next()).take_while(|off| *off).count();
        assert_eq!(off(&help), 0);
        let pauses: Vec<usize> = (0..13)
            .map(|_| {
                help.learn(false, price);
                off(&help)
            })
            .collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 256, 256, 256, 256]);
        help.learn(true, price);
        assert_eq!(off(&help), 128);
        (0..10).for_each(|_| help.learn(true, price));
        assert_eq!(off(&help), 0);
    }

    #[test]
    fn small_grids_pause_as_long_as_a_call_is_expensive() {
        let (help, price) = (Help::default(), Price { call: 20_000, time: 640 });
        let off = |help: &Help| std::iter::repeat_with(|| help.pauses_next()).take_while(|off| *off).count();
        help.learn(false, price);
        assert_eq!(off(&help), 1);
        help.wakes();
        help.learn(false, price);
        assert_eq!(off(&help), 125);
        (0..20).for_each(|_| help.learn(false, price));
        assert_eq!(off(&help), 8000);
    }
}
