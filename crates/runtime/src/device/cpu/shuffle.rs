//! `REGRAIN_CPU_SEED`: blocks and threads in an order of chance, the same one for the same seed.
//!
//! CUDA promises no order of blocks, nor of threads between two points where they wait. A program that relies on one is found by running it
//! with a few seeds, and found again by the seed. All blocks of a launch run on the launching OS thread, their threads as coroutines
//! (`scheduler.rs`): each until it waits, then one of those that can go on. Blocks change places with those that the device holds beside them
//! at once, as on a GPU, so that a block may still wait for an earlier one.
//!
//! Two things are not the seed's: blocks of a cooperative launch have an OS thread each, and where a block waits for one that has not begun,
//! a further OS thread comes (`relief.rs`).

use std::ops::Range;
use std::sync::OnceLock;

/// The seed that the program is run with, if there is one.
pub fn seed() -> Option<u64> {
    static SEED: OnceLock<Option<u64>> = OnceLock::new();
    *SEED.get_or_init(|| {
        let text = std::env::var("REGRAIN_CPU_SEED").ok().filter(|text| !text.is_empty())?;
        let seed = text.trim().parse().ok();
        if seed.is_none() {
            eprintln!("regrain runtime: warning: expected REGRAIN_CPU_SEED to be a number, got '{text}'");
        }
        seed
    })
}

/// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014).
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    fn new(parts: [u64; 3]) -> Self {
        parts.iter().fold(Self(0), |random, part| Self(random.0 ^ part).jumped())
    }

    fn jumped(mut self) -> Self {
        Self(self.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `bound`, which is not 0.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// One of the bits that are set in `bits`, of which there are some.
    pub fn bit(&mut self, bits: u32) -> u32 {
        let skipped = self.below(bits.count_ones().into());
        (0..skipped).fold(bits, |left, _| left & (left - 1)).trailing_zeros()
    }

    /// `numbers` in an order of chance.
    pub fn order(&mut self, numbers: Range<u64>) -> Vec<u64> {
        let mut order: Vec<u64> = numbers.collect();
        for last in (1..order.len()).rev() {
            order.swap(last, self.below(last as u64 + 1) as usize);
        }
        order
    }
}

/// The order of a launch.
pub struct Shuffle {
    seed: u64,
    launch: u64,
    /// Blocks that the device holds at once.
    resident: u64,
}

impl Shuffle {
    /// The order of the launch with this number, if there is a seed.
    pub fn new(launch: u32, resident: impl FnOnce() -> u32) -> Option<Self> {
        seed().map(|seed| Self { seed, launch: launch.into(), resident: resident().max(1).into() })
    }

    /// The block that runs in the place of `block`, of `total`.
    pub fn block(&self, block: u64, total: u64) -> u64 {
        let first = block - block % self.resident;
        let mut random = Random::new([self.seed, self.launch, first]);
        random.order(first..total.min(first + self.resident))[(block - first) as usize]
    }

    /// What chooses among the threads of `block`.
    pub fn threads(&self, block: u64) -> Random {
        Random::new([self.seed, self.launch, !block])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_runs_once_among_those_that_are_resident_with_it() {
        for seed in 0..50 {
            let shuffle = Shuffle { seed, launch: 3, resident: 7 };
            let order: Vec<u64> = (0..30).map(|block| shuffle.block(block, 30)).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..30).collect::<Vec<_>>());
            assert!(order.iter().zip(0..).all(|(block, place)| block / 7 == place / 7), "{order:?}");
        }
    }

    #[test]
    fn every_order_comes() {
        let orders: std::collections::HashSet<Vec<u64>> =
            (0..200).map(|seed| Random::new([seed, 0, 0]).order(0..4)).collect();
        assert_eq!(orders.len(), 24);
        let bits: std::collections::HashSet<u32> =
            (0..100).map(|seed| Random::new([seed, 0, 0]).bit(0x8001_0002)).collect();
        assert_eq!(bits, [1, 16, 31].into());
    }
}
