//! One record: what one run of a program measured of one kernel at one launch shape.
//!
//! A record keeps the samples themselves, of every candidate. So records of several runs give an exact median together, and
//! merging databases is a union of records, which neither order nor repetition changes.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::grain::Grain;

/// What was measured: two records with equal keys are about the same thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Hash of the kernel's content: no name, no path.
    pub hash: String,
    /// Threads in a block, as the program launches it.
    pub block: [u32; 3],
    /// Blocks in the grid, as the program launches it.
    pub grid: [u32; 3],
    /// Dynamic shared memory, in bytes.
    pub shared: u64,
    /// As in `sm_80`, or `cpu:<processor>x<threads>`.
    pub target: String,
    /// Version of the compiler that made the candidates.
    pub version: String,
}

impl Key {
    /// The key without the grid and dynamic shared memory: what has one version in a compiled program.
    pub fn without_grid(&self) -> Self {
        Self { grid: [0; 3], shared: 0, ..self.clone() }
    }
}

/// Times of one candidate, in nanoseconds, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Times {
    /// Launches of a version that this process had launched before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warm: Vec<u64>,
    /// First launches in a process: loading and cold caches are part of them. They compare with each other alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cold: Vec<u64>,
    /// The version could not be launched: it is never chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

impl Times {
    /// All samples, warm and cold.
    pub fn samples(&self) -> usize {
        self.warm.len() + self.cold.len()
    }

    /// Takes in the samples of `other`.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in [(&mut self.warm, &other.warm), (&mut self.cold, &other.cold)] {
            mine.extend(theirs);
            mine.sort_unstable();
        }
        self.failed |= other.failed;
    }
}

/// What one run of a program measured of one kernel at one launch shape.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Record {
    /// The kernel's symbol, for readers alone.
    pub kernel: String,
    /// What was measured.
    #[serde(flatten)]
    pub key: Key,
    /// The run, by a random name.
    pub run: String,
    /// When the run wrote it, in seconds since 1970.
    pub date: u64,
    /// Launches of this shape in the run, measured or not.
    pub launches: u64,
    /// [`space_checksum`] of the candidates.
    pub space: String,
    /// Every candidate, also those without a sample so far.
    pub candidates: BTreeMap<Grain, Times>,
    /// What the program settled on, where it chooses by itself (`-fregrain-adaptive`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Grain>,
}

impl Record {
    /// Samples of all candidates.
    pub fn samples(&self) -> usize {
        self.candidates.values().map(Times::samples).sum()
    }

    /// The fuller of two records of the same run and key: a run writes several times, each time with more.
    pub fn fuller(self, other: Self) -> Self {
        let rank = |record: &Self| (record.samples(), record.launches, record.date);
        if (rank(&self), &self) >= (rank(&other), &other) { self } else { other }
    }

    /// Takes in what another site of the same run measured of the same key.
    pub fn add(&mut self, other: &Self) {
        for (grain, times) in &other.candidates {
            self.candidates.entry(*grain).or_default().add(times);
        }
        self.launches += other.launches;
        self.settled = self.settled.or(other.settled);
        self.date = self.date.max(other.date);
        self.space = space_checksum(self.candidates.keys());
    }
}

/// Checksum of a search space: FNV-1a over the sorted names of its grains, in hexadecimal.
pub fn space_checksum<'g>(grains: impl IntoIterator<Item = &'g Grain>) -> String {
    let mut names: Vec<String> = grains.into_iter().map(ToString::to_string).collect();
    names.sort_unstable();
    names.dedup();
    format!("{:016x}", fnv1a(names.join(" ").as_bytes()))
}

/// FNV-1a with 64 bits: small, and the same on every machine and in every version.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Samples in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// How many there are.
    pub samples: usize,
    /// Median, in nanoseconds.
    pub median: u64,
    /// Minimum, in nanoseconds.
    pub minimum: u64,
    /// Median absolute deviation from the median, in nanoseconds.
    pub mad: u64,
}

impl Summary {
    /// Sums up samples in ascending order; `None` if there is none.
    pub fn of(times: &[u64]) -> Option<Self> {
        let median = median(times)?;
        let mut deviations: Vec<u64> = times.iter().map(|time| time.abs_diff(median)).collect();
        deviations.sort_unstable();
        Some(Self { samples: times.len(), median, minimum: times[0], mad: self::median(&deviations)? })
    }

    /// Standard error of the median, in nanoseconds, if the samples were normally distributed.
    pub fn error(&self) -> f64 {
        1.2533 * 1.4826 * self.mad as f64 / (self.samples as f64).sqrt()
    }
}

/// Median of values in ascending order; of an even number, the mean of the middle two.
fn median(sorted: &[u64]) -> Option<u64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 { Some(upper) } else { Some(sorted[middle - 1].midpoint(upper)) }
}

impl Serialize for Grain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Grain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_summed_up() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[7]), Some(Summary { samples: 1, median: 7, minimum: 7, mad: 0 }));
        assert_eq!(Summary::of(&[1, 2, 4, 100]), Some(Summary { samples: 4, median: 3, minimum: 1, mad: 1 }));
        assert_eq!(Summary::of(&[u64::MAX, u64::MAX]).map(|s| s.median), Some(u64::MAX));
    }

    #[test]
    fn the_checksum_is_of_the_set() {
        let grains: Vec<Grain> = ["b2x1x1", "original"].iter().map(|text| text.parse().unwrap()).collect();
        let sum = space_checksum(&grains);
        assert_eq!(sum, space_checksum(grains.iter().rev().chain(&grains)));
        assert_ne!(sum, space_checksum(&grains[..1]));
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
