//! How much coarser a version of a kernel is than its program wrote it.

use std::fmt;
use std::str::FromStr;

/// The largest factor, and the most blocks of a task, that are accepted.
pub const LARGEST: i64 = 1 << 20;

/// How much coarser, as asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factors {
    /// A product, to be balanced over the dimensions of a loop.
    Total(i64),
    /// One for each dimension.
    Each([i64; 3]),
}

impl Factors {
    /// Reads `N`, `X,Y,Z` or `XxYxZ`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("coarsening factor '{text}', expected N or X,Y,Z, each at least 1");
        let number = |number: &str| number.trim().parse().ok().filter(|number| (1..=LARGEST).contains(number));
        let numbers: Option<Vec<i64>> = text.split([',', 'x']).map(number).collect();
        match numbers.ok_or_else(bad)?[..] {
            [total] => Ok(Self::Total(total)),
            [x, y, z] => Ok(Self::Each([x, y, z])),
            _ => Err(bad()),
        }
    }

    /// The product over the dimensions.
    pub fn total(self) -> i64 {
        match self {
            Self::Total(total) => total,
            Self::Each(factors) => factors.iter().product(),
        }
    }
}

/// Spreads the prime factors of a total, the largest first, each to the live dimension with the smallest factor so far: 16
/// gives 4,2,2 and 6 gives 3,2,1. A factor of a dimension whose size is known divides the size where that is possible.
pub fn balance(total: i64, live: [bool; 3], sizes: [Option<i64>; 3]) -> [i64; 3] {
    let live = if live.contains(&true) { live } else { [true, false, false] };
    let mut factors = [1; 3];
    for prime in primes(total) {
        let fits = |axis: &usize| sizes[*axis].is_none_or(|size| size % (factors[*axis] * prime) == 0);
        let axes = || (0..3).filter(|axis| live[*axis]);
        let fitting = axes().filter(fits).min_by_key(|axis| factors[*axis]);
        if let Some(axis) = fitting.or_else(|| axes().min_by_key(|axis| factors[*axis])) {
            factors[axis] *= prime;
        }
    }
    if sizes == [None; 3] {
        descend(&mut factors, live);
    }
    factors
}

/// Puts the larger factors before the smaller.
fn descend(factors: &mut [i64; 3], live: [bool; 3]) {
    let axes: Vec<usize> = (0..3).filter(|axis| live[*axis]).collect();
    let mut values: Vec<i64> = axes.iter().map(|axis| factors[*axis]).collect();
    values.sort_unstable_by(|a, b| b.cmp(a));
    for (axis, value) in axes.into_iter().zip(values) {
        factors[axis] = value;
    }
}

/// The prime factors of a number, the largest first.
fn primes(mut number: i64) -> Vec<i64> {
    let mut found = Vec::new();
    let mut candidate = 2;
    while candidate * candidate <= number {
        while number % candidate == 0 {
            found.push(candidate);
            number /= candidate;
        }
        candidate += 1;
    }
    if number > 1 {
        found.push(number);
    }
    found.reverse();
    found
}

/// The grain of one version of a kernel: how many original blocks one of its blocks is, how many original threads one of its
/// threads, by dimension, and on a CPU how many of its blocks a thread of the machine takes at once.
///
/// Written `original`, `b4x2x1`, `t2x1x1`, `p16`, or what is not usual of these in that order, as in `b4x2x1t2x1x1p16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grain {
    /// Original blocks in a block.
    pub blocks: [i64; 3],
    /// Original threads in a thread.
    pub threads: [i64; 3],
    /// Blocks in a task of a CPU, 1 or more; `None` for the runtime's own number.
    pub tasks: Option<u32>,
}

impl Grain {
    /// What the program wrote.
    pub const ORIGINAL: Self = Self { blocks: [1; 3], threads: [1; 3], tasks: None };

    /// The same kernel with the runtime's own number of blocks in a task.
    pub fn with_usual_tasks(self) -> Self {
        Self { tasks: None, ..self }
    }

    /// Whether nothing differs from what the program wrote.
    pub fn is_original(&self) -> bool {
        *self == Self::ORIGINAL
    }

    /// Original blocks in a block.
    pub fn block_total(&self) -> i64 {
        self.blocks.iter().product()
    }

    /// Original threads in a thread.
    pub fn thread_total(&self) -> i64 {
        self.threads.iter().product()
    }
}

/// Reads how many blocks a task has: digits alone.
pub(crate) fn blocks_of_task(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|blocks| digits && (1..=LARGEST).contains(&i64::from(*blocks)))
}

impl fmt::Display for Grain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_original() {
            return f.pad("original");
        }
        let mut text = String::new();
        for (letter, factors) in [('b', self.blocks), ('t', self.threads)] {
            if factors != [1; 3] {
                let [x, y, z] = factors;
                text += &format!("{letter}{x}x{y}x{z}");
            }
        }
        if let Some(tasks) = self.tasks {
            text += &format!("p{tasks}");
        }
        f.pad(&text)
    }
}

impl FromStr for Grain {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("grain '{text}', expected 'original', or as in 'b4x2x1t2x1x1' or 'p16'");
        if text == "original" {
            return Ok(Self::ORIGINAL);
        }
        if text.is_empty() {
            return Err(bad());
        }
        let three = |text: &str| match Factors::parse(text) {
            Ok(Factors::Each(factors)) => Ok(factors),
            _ => Err(bad()),
        };
        let mut grain = Self::ORIGINAL;
        let (text, tasks) = text.split_once('p').map_or((text, None), |(rest, tasks)| (rest, Some(tasks)));
        let (blocks, threads) = text.split_once('t').map_or((text, None), |(blocks, threads)| (blocks, Some(threads)));
        if !blocks.is_empty() {
            grain.blocks = three(blocks.strip_prefix('b').ok_or_else(bad)?)?;
        }
        if let Some(threads) = threads {
            grain.threads = three(threads)?;
        }
        if let Some(tasks) = tasks {
            grain.tasks = Some(blocks_of_task(tasks).ok_or_else(bad)?);
        }
        Ok(grain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_balanced() {
        let any = [None; 3];
        assert_eq!(balance(16, [true; 3], any), [4, 2, 2]);
        assert_eq!(balance(6, [true; 3], any), [3, 2, 1]);
        assert_eq!(balance(24, [true; 3], any), [4, 3, 2]);
        assert_eq!(balance(16, [true, false, false], any), [16, 1, 1]);
        assert_eq!(balance(8, [false, true, false], any), [1, 8, 1]);
        assert_eq!(balance(7, [false; 3], any), [7, 1, 1]);
        assert_eq!(balance(6, [true, true, false], [Some(16), Some(9), None]), [2, 3, 1]);
    }

    #[test]
    fn grains_are_read_as_they_are_written() {
        for text in
            ["original", "b4x2x1", "t2x1x1", "b4x2x1t2x1x1", "p16", "p1", "b4x1x1p16", "t2x1x1p3", "b2x1x1t2x1x1p64"]
        {
            assert_eq!(text.parse::<Grain>().map(|grain| grain.to_string()), Ok(text.to_owned()));
        }
        for text in [
            "",
            "b4",
            "x",
            "b4x2x1t",
            "t0x1x1",
            "b1x1",
            "originals",
            "p",
            "p0",
            "p-1",
            "p+1",
            "p16b2x1x1",
            "p1p2",
            "originalp16",
            "p1x1x1",
            "p1048577",
        ] {
            assert!(text.parse::<Grain>().is_err(), "{text}");
        }
    }
}
