//! The blocks of a grid divided among OS threads.
//!
//! Each takes those of a part of its own first, which is the same one in each launch: what it brought into its caches in one launch is there in the next.
//! Then it takes what others have left.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// The parts of one grid at a time.
pub struct Parts(Box<[Part]>);

/// A line of the caches for each, as each OS thread is at its own.
#[derive(Default)]
#[repr(align(64))]
struct Part {
    /// The first block that nobody has taken.
    next: AtomicU64,
    end: AtomicU64,
}

impl Parts {
    /// A part for each of so many OS threads.
    pub fn new(members: usize) -> Self {
        Self((0..members).map(|_| Part::default()).collect())
    }

    /// Divides blocks into parts that are multiples of some, while nobody takes any.
    pub fn divide(&self, blocks: Range<u64>, multiple: u64) {
        let each = (blocks.end - blocks.start).div_ceil(self.0.len() as u64).next_multiple_of(multiple.max(1));
        let mut next = blocks.start;
        for part in &self.0 {
            let end = next.saturating_add(each).min(blocks.end);
            part.next.store(next, Ordering::Relaxed);
            part.end.store(end, Ordering::Relaxed);
            next = end;
        }
    }

    /// The next blocks for an OS thread, up to `count`: of its own part, or of the first one that has any.
    pub fn take(&self, member: usize, count: u64) -> Option<Range<u64>> {
        let own = self.0.get(member).and_then(|own| own.take(count));
        own.or_else(|| self.0.iter().find_map(|part| part.take(count)))
    }

    /// Whether there are blocks that nobody has taken.
    pub fn has_blocks(&self) -> bool {
        self.0.iter().any(Part::has_blocks)
    }
}

impl Part {
    fn has_blocks(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.end.load(Ordering::Relaxed)
    }

    fn take(&self, count: u64) -> Option<Range<u64>> {
        if !self.has_blocks() {
            return None;
        }
        let (start, end) = (self.next.fetch_add(count, Ordering::Relaxed), self.end.load(Ordering::Relaxed));
        (start < end).then(|| start..start.saturating_add(count).min(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_ones_own_comes_first_and_is_the_same_each_time() {
        let parts = Parts::new(3);
        for _ in 0..2 {
            parts.divide(4..100, 8);
            assert_eq!(parts.take(1, 8), Some(36..44));
            assert_eq!(parts.take(2, 100), Some(68..100));
            assert_eq!(parts.take(2, 8), Some(4..12), "what others have left");
        }
    }

    #[test]
    fn each_block_is_taken_once() {
        let (parts, members) = (Parts::new(4), 6);
        for (blocks, multiple) in [(0..0, 1), (0..1, 8), (5..8, 1), (0..10_007, 16)] {
            parts.divide(blocks.clone(), multiple);
            assert_eq!(parts.has_blocks(), !blocks.is_empty());
            let all = |member| std::iter::from_fn(|| parts.take(member, 7)).flatten().collect::<Vec<u64>>();
            let mut taken = std::thread::scope(|scope| {
                let threads = (0..members).map(|member| scope.spawn(move || all(member))).collect::<Vec<_>>();
                threads.into_iter().flat_map(|thread| thread.join().expect("blocks")).collect::<Vec<_>>()
            });
            taken.sort_unstable();
            assert_eq!(taken, blocks.collect::<Vec<_>>());
            assert!(!parts.has_blocks());
        }
    }
}
