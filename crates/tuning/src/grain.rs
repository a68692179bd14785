//! How much coarser a version of a kernel is than its program wrote it, and which versions are tried.

use std::fmt;
use std::str::FromStr;

/// The largest factor that is accepted.
const LARGEST: i64 = 1 << 20;

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

/// The grain of one version of a kernel: how many original blocks one of its blocks is, and how many original threads one
/// of its threads, by dimension.
///
/// Written `original`, `b4x2x1`, `t2x1x1` or `b4x2x1t2x1x1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grain {
    /// Original blocks in a block.
    pub blocks: [i64; 3],
    /// Original threads in a thread.
    pub threads: [i64; 3],
}

impl Grain {
    /// What the program wrote.
    pub const ORIGINAL: Self = Self { blocks: [1; 3], threads: [1; 3] };

    /// Whether nothing is coarser.
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
        f.pad(&text)
    }
}

impl FromStr for Grain {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("grain '{text}', expected 'original', or as in 'b4x2x1t2x1x1'");
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
        let (blocks, threads) = match text.split_once('t') {
            Some((blocks, threads)) => (blocks, Some(threads)),
            None => (text, None),
        };
        if !blocks.is_empty() {
            grain.blocks = three(blocks.strip_prefix('b').ok_or_else(bad)?)?;
        }
        if let Some(threads) = threads {
            grain.threads = three(threads)?;
        }
        Ok(grain)
    }
}

/// Which grains of a kernel are tried: all pairs of a block and a thread factor.
///
/// Written `blocks=1,2,4:threads=1,2`, each factor a total or `XxYxZ`; `none` is the original grain alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// Factors of blocks.
    pub blocks: Vec<Factors>,
    /// Factors of threads.
    pub threads: Vec<Factors>,
}

impl Space {
    /// The original grain alone.
    pub fn none() -> Self {
        Self { blocks: vec![Factors::Total(1)], threads: vec![Factors::Total(1)] }
    }

    /// What is tried on a GPU where nothing is said, by the block shape of the launch (`None`: not known). Small blocks are
    /// made larger rather than their threads coarser, so that whole warps are left; large ones give threads away.
    pub fn for_gpu(block: Option<[u32; 3]>) -> Self {
        let threads = block.map(|block| block.iter().product::<u32>());
        let (blocks, threads): (&[i64], &[i64]) = match threads {
            Some(..64) => (&[1, 2, 4, 8], &[1]),
            Some(64..128) => (&[1, 2, 4], &[1, 2]),
            Some(512..) => (&[1, 2], &[1, 2, 4]),
            _ => (&[1, 2, 4], &[1, 2]),
        };
        Self { blocks: totals(blocks), threads: totals(threads) }
    }

    /// What is tried on a CPU where nothing is said. Threads are iterations of loops that are vectorised: a factor shortens the
    /// loop, so one with few iterations is left as it is. Blocks are coarsened to run several side by side.
    pub fn for_cpu(block: Option<[u32; 3]>) -> Self {
        let row = block.map(|block| block[0]);
        let threads: &[i64] = if row.is_some_and(|row| row < 16) { &[1] } else { &[1, 2, 4] };
        Self { blocks: totals(&[1, 2, 4]), threads: totals(threads) }
    }

    /// Every pair that is coarser than the original, block factors changing fastest.
    pub fn pairs(&self) -> impl Iterator<Item = (Factors, Factors)> {
        let all = self.threads.iter().flat_map(|threads| self.blocks.iter().map(|blocks| (*blocks, *threads)));
        all.filter(|(blocks, threads)| blocks.total() > 1 || threads.total() > 1)
    }
}

fn totals(list: &[i64]) -> Vec<Factors> {
    list.iter().map(|total| Factors::Total(*total)).collect()
}

impl FromStr for Space {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut space = Self::none();
        if text == "none" {
            return Ok(space);
        }
        for part in text.split(':') {
            let (name, list) = part.split_once('=').ok_or_else(|| {
                format!("search space '{text}', expected 'none' or as in 'blocks=1,2,4:threads=1,2'")
            })?;
            let factors = list.split(',').map(Factors::parse).collect::<Result<Vec<_>, _>>()?;
            match name {
                "blocks" => space.blocks = factors,
                "threads" => space.threads = factors,
                _ => return Err(format!("search space '{text}': unknown dimension '{name}', expected 'blocks' or 'threads'")),
            }
        }
        Ok(space)
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |factors: &[Factors]| {
            let texts: Vec<String> = factors
                .iter()
                .map(|factors| match factors {
                    Factors::Total(total) => total.to_string(),
                    Factors::Each([x, y, z]) => format!("{x}x{y}x{z}"),
                })
                .collect();
            texts.join(",")
        };
        write!(f, "blocks={}:threads={}", list(&self.blocks), list(&self.threads))
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
        for text in ["original", "b4x2x1", "t2x1x1", "b4x2x1t2x1x1"] {
            assert_eq!(text.parse::<Grain>().map(|grain| grain.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "b4", "x", "b4x2x1t", "t0x1x1", "b1x1", "originals"] {
            assert!(text.parse::<Grain>().is_err(), "{text}");
        }
    }

    #[test]
    fn usual_spaces_follow_the_block() {
        assert_eq!(Space::for_gpu(Some([16, 1, 1])).to_string(), "blocks=1,2,4,8:threads=1");
        assert_eq!(Space::for_gpu(Some([16, 16, 1])).to_string(), "blocks=1,2,4:threads=1,2");
        assert_eq!(Space::for_gpu(Some([32, 32, 1])).to_string(), "blocks=1,2:threads=1,2,4");
        assert_eq!(Space::for_gpu(None), Space::for_gpu(Some([256, 1, 1])));
        assert_eq!(Space::for_cpu(Some([8, 8, 1])).to_string(), "blocks=1,2,4:threads=1");
    }

    #[test]
    fn spaces_are_products() {
        let space: Space = "blocks=1,2,4x2x1:threads=1,2".parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(space.to_string(), "blocks=1,2,4x2x1:threads=1,2");
        assert_eq!(space.pairs().count(), 5);
        assert_eq!("none".parse::<Space>().map(|s| s.pairs().count()), Ok(0));
        assert!("blocks".parse::<Space>().is_err() && "warps=2".parse::<Space>().is_err() && "blocks=0".parse::<Space>().is_err());
    }
}
