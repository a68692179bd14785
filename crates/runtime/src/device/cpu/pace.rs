//! How long the blocks of a kernel take, and whether others help, as its launches before showed.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How long a thread takes.
#[derive(Default)]
pub struct Pace {
    /// In 1/1024 nanoseconds, the mean of launches before with more weight on the last ones; 0 while nothing is known.
    mean: AtomicU64,
    launches: AtomicU32,
    /// How many times in a row about the mean was measured.
    alike: AtomicU32,
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

    /// Whether a launch is to be timed for the sake of those behind it alone.
    pub fn is_due(&self) -> bool {
        let launches = self.launches.load(Ordering::Relaxed).wrapping_add(1);
        self.launches.store(launches, Ordering::Relaxed);
        launches.is_multiple_of(TIMED) || self.mean.load(Ordering::Relaxed) == 0
    }

    /// Whether the next launch need not be timed: those before took about the same.
    pub fn is_steady(&self) -> bool {
        self.alike.load(Ordering::Relaxed) >= ALIKE && !self.is_due()
    }

    /// As [`Pace::learn`] where other OS threads ran other blocks at the same time, and data went to and fro between their caches: slower than that no
    /// thread is alone.
    pub fn learn_beside(&self, nanoseconds: u64, blocks: u64, threads: u32) {
        if self.of(blocks, threads).is_none_or(|alone| nanoseconds < alone) {
            self.learn(nanoseconds, blocks, threads);
        }
    }

    /// Takes note of `blocks` of `threads` threads that took so many nanoseconds.
    pub fn learn(&self, nanoseconds: u64, blocks: u64, threads: u32) {
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
}

/// The most grids that begin without help before it is tried again. It costs little: small ones take less than waking somebody twice, large ones
/// call others behind a first part (`lead`).
const MOST: u32 = 1024;

impl Help {
    /// Whether the next grid goes without.
    pub fn is_off(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        if left != 0 {
            self.left.store(left - 1, Ordering::Relaxed);
        }
        left != 0
    }

    /// Takes note of a grid that others helped with.
    pub fn learn(&self, paid: bool) {
        let last = self.last.load(Ordering::Relaxed);
        let next = if paid { last / 2 } else { (last * 2).clamp(1, MOST) };
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
    fn help_that_does_not_pay_is_tried_less_and_less() {
        let help = Help::default();
        let off = |help: &Help| std::iter::repeat_with(|| help.is_off()).take_while(|off| *off).count();
        assert_eq!(off(&help), 0);
        let pauses: Vec<usize> = (0..13)
            .map(|_| {
                help.learn(false);
                off(&help)
            })
            .collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024]);
        help.learn(true);
        assert_eq!(off(&help), 512);
        (0..10).for_each(|_| help.learn(true));
        assert_eq!(off(&help), 0);
    }
}
