//! Which grain the measurements speak for, or why they say nothing.
//!
//! A program has one version of a kernel for a block shape, but launches it with many grids. So the times are added up over
//! the grids, each as often as it was launched, and the grain with the least total wins: if it beats the original by more
//! than the noise and a margin. A candidate that could not be launched once is out.

use std::fmt;

use crate::database::{Database, Shape};
use crate::grain::Grain;
use crate::record::Summary;
use crate::settled::{self, Settled};

/// How many standard errors of a difference are noise: the best of many candidates is a lucky one.
const SIGMAS: f64 = 2.0;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Query<'q> {
    /// The kernel's symbol: to tell a changed kernel from one that was never measured.
    pub kernel: &'q str,
    /// Hash of the kernel's content.
    pub hash: &'q str,
    /// The block shape of the launches; `None` takes all.
    pub block: Option<[u32; 3]>,
    /// As in `sm_80`, or `cpu:<processor>x<threads>`.
    pub target: &'q str,
    /// Version of the compiler.
    pub version: &'q str,
    /// The candidates that there are now; empty leaves them unchecked.
    pub candidates: &'q [Grain],
}

/// When measurements are enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Samples of each candidate, over all grids together; see [`needed`].
    pub samples: usize,
    /// By what part of its time the original must be beaten.
    pub margin: f64,
}

impl Default for Policy {
    fn default() -> Self {
        Self { samples: 3, margin: 0.02 }
    }
}

/// How many samples of each candidate a grid needs when there are `grids` of them: together they give `samples`, but each
/// has at least three, so that one wild sample does not move its median.
pub fn needed(samples: usize, grids: usize) -> usize {
    samples.div_ceil(grids.max(1)).max(samples.min(3)).max(1)
}

/// The grain that was fastest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The winner; the original if nothing beat it.
    pub grain: Grain,
    /// Its mean time per launch, in nanoseconds.
    pub time: f64,
    /// The original's mean time per launch, in nanoseconds.
    pub original: f64,
    /// Launch shapes that it rests on.
    pub shapes: usize,
    /// Candidates that were compared.
    pub candidates: usize,
}

impl Choice {
    /// How many times faster than the original.
    pub fn gain(&self) -> f64 {
        if self.time > 0.0 { self.original / self.time } else { 1.0 }
    }
}

/// Why the measurements choose nothing. The first five say that a profile is stale, or of something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A kernel of this name was measured, but it was another one.
    OtherContent,
    /// Measured with another version of the compiler.
    OtherVersion(String),
    /// Measured on another target.
    OtherTarget(String),
    /// Measured with other block shapes.
    OtherBlock([u32; 3]),
    /// A candidate that there is now was never measured.
    OtherSpace(Grain),
    /// Some candidates have too few samples.
    Incomplete {
        /// Samples that are there.
        measured: usize,
        /// Samples that are needed.
        needed: usize,
    },
    /// Nothing is known of it.
    Unknown,
}

impl Missing {
    /// Whether there is a profile of the kernel that no longer fits.
    pub fn is_stale(&self) -> bool {
        !matches!(self, Self::Incomplete { .. } | Self::Unknown)
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherContent => write!(f, "the profile is stale: the kernel was changed since it was measured"),
            Self::OtherVersion(found) => write!(f, "the profile is stale: measured with version '{found}'"),
            Self::OtherTarget(found) => write!(f, "the profile is stale: measured on '{found}'"),
            Self::OtherBlock([x, y, z]) => {
                write!(f, "the profile is stale: measured with blocks of {x}x{y}x{z} threads")
            }
            Self::OtherSpace(grain) => write!(f, "the profile is stale: candidate '{grain}' was never measured"),
            Self::Incomplete { measured, needed } => {
                write!(f, "the profile is incomplete: {measured} of {needed} samples")
            }
            Self::Unknown => write!(f, "the kernel is not in the profile"),
        }
    }
}

impl Database {
    /// The grain that the measurements speak for.
    pub fn choose(&self, query: &Query<'_>, policy: &Policy) -> Result<Choice, Missing> {
        let shapes = self.fitting(query)?;
        let known = |grain: &&Grain| shapes.iter().any(|shape| shape.candidates.contains_key(grain));
        if let Some(new) = query.candidates.iter().find(|grain| !known(grain)) {
            return Err(Missing::OtherSpace(*new));
        }
        let is_candidate = |grain: &Grain| query.candidates.is_empty() || query.candidates.contains(grain);
        choose_among(shapes, policy, is_candidate)
    }

    /// The winner alone.
    pub fn winner(&self, query: &Query<'_>, policy: &Policy) -> Option<Choice> {
        self.choose(query, policy).ok()
    }

    /// Why what was measured of the kernel no longer fits, if that is so.
    pub fn staleness(&self, query: &Query<'_>, policy: &Policy) -> Option<Missing> {
        self.choose(query, policy).err().filter(Missing::is_stale)
    }

    /// The shapes that a query is about, or in what the nearest differ.
    fn fitting(&self, query: &Query<'_>) -> Result<Vec<Shape>, Missing> {
        let by_hash = self.shapes_of(|key| key.hash == query.hash);
        let Some(latest) = latest(by_hash.iter()) else {
            let renamed =
                self.records().any(|record| record.kernel == query.kernel && record.key.target == query.target);
            return Err(if renamed { Missing::OtherContent } else { Missing::Unknown });
        };
        let other_target = Missing::OtherTarget(latest.key.target.clone());
        let on_target: Vec<Shape> = by_hash.into_iter().filter(|shape| shape.key.target == query.target).collect();
        let Some(latest) = self::latest(on_target.iter()) else { return Err(other_target) };
        let other_version = Missing::OtherVersion(latest.key.version.clone());
        let of_version: Vec<Shape> = on_target.into_iter().filter(|shape| shape.key.version == query.version).collect();
        let Some(latest) = self::latest(of_version.iter()) else { return Err(other_version) };
        let other_block = Missing::OtherBlock(latest.key.block);
        let fitting: Vec<Shape> =
            of_version.into_iter().filter(|shape| query.block.is_none_or(|block| shape.key.block == block)).collect();
        if fitting.is_empty() { Err(other_block) } else { Ok(fitting) }
    }
}

fn latest<'s>(shapes: impl Iterator<Item = &'s Shape>) -> Option<&'s Shape> {
    shapes.max_by_key(|shape| shape.date)
}

/// What one candidate took over all grids.
#[derive(Clone, Debug, Default)]
struct Total {
    time: f64,
    variance: f64,
    /// For each grid, its time by the original's, and the original's time there.
    ratios: Vec<(f64, f64)>,
}

impl Total {
    fn add(&mut self, own: &Summary, original: &Summary, launches: f64) {
        self.time += own.median as f64 * launches;
        self.variance += (own.error() * launches).powi(2);
        self.ratios.push((own.median as f64 / original.median.max(1) as f64, original.median as f64 * launches));
    }

    /// The ratio below and above which the original spends equal time: one wild sample does not move it.
    fn typical_ratio(&mut self) -> f64 {
        self.ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        let half = self.ratios.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
        let mut sum = 0.0;
        let reaches = |(_, weight): &&(f64, f64)| {
            sum += weight;
            sum >= half
        };
        self.ratios.iter().find(reaches).map_or(1.0, |(ratio, _)| *ratio)
    }
}

/// What compiling takes for launches of these shapes, which have one version in a compiled program.
pub fn choose_for(shapes: &[Shape], policy: &Policy) -> Result<Choice, Missing> {
    choose_among(shapes.to_vec(), policy, |_| true)
}

fn choose_among(
    mut shapes: Vec<Shape>,
    policy: &Policy,
    is_candidate: impl Fn(&Grain) -> bool,
) -> Result<Choice, Missing> {
    let mut grains: Vec<Grain> = shapes.iter().flat_map(|shape| shape.candidates.keys().copied()).collect();
    grains.sort_unstable();
    grains.dedup();
    let failed =
        |grain: &Grain| shapes.iter().any(|shape| shape.candidates.get(grain).is_some_and(|times| times.failed));
    grains.retain(|grain| grain.is_original() || is_candidate(grain) && !failed(grain));
    if let Some(Settled { grain, time, original, shapes }) = settled::choose(&shapes, &grains) {
        return Ok(Choice { grain, time, original, shapes, candidates: grains.len() });
    }
    for shape in &mut shapes {
        shape.candidates.retain(|grain, _| grains.contains(grain));
        for grain in &grains {
            // Of a candidate that this grid knows nothing of there are no samples.
            shape.candidates.entry(*grain).or_default().failed = false;
        }
    }
    let samples = needed(policy.samples, shapes.len());
    let complete: Vec<_> = shapes.iter().filter_map(|shape| Some((shape, shape.comparable(samples)?))).collect();
    let all: f64 = shapes.iter().map(Shape::weight).sum();
    let launches: f64 = complete.iter().map(|(shape, _)| shape.weight()).sum();
    if launches <= 0.0 || launches * 2.0 < all {
        let sums = shapes.iter().map(|shape| shape.progress(samples)).fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
        return Err(Missing::Incomplete { measured: sums.0, needed: sums.1 });
    }
    let mut totals = vec![Total::default(); grains.len()];
    for (shape, times) in &complete {
        let summaries: Vec<Summary> = times.iter().filter_map(|(_, times)| Summary::of(times)).collect();
        for (total, own) in totals.iter_mut().zip(&summaries) {
            // The original is the smallest grain, so the first.
            total.add(own, &summaries[0], shape.weight());
        }
    }
    Ok(pick(&grains, totals, policy, complete.len(), launches))
}

/// The least total that beats the original beyond doubt, else the original.
fn pick(grains: &[Grain], mut totals: Vec<Total>, policy: &Policy, shapes: usize, launches: f64) -> Choice {
    let original = totals[0].clone();
    let mut order: Vec<usize> = (1..totals.len()).collect();
    order.sort_by(|a, b| totals[*a].time.total_cmp(&totals[*b].time));
    let beats = |index: &usize| {
        let total = &mut totals[*index];
        let doubt = (SIGMAS * (original.variance + total.variance).sqrt()).max(policy.margin * original.time);
        original.time - total.time > doubt && total.typical_ratio() <= 1.0 - policy.margin
    };
    let best = order.into_iter().find(beats).unwrap_or(0);
    let time = totals[best].time / launches;
    Choice { grain: grains[best], time, original: original.time / launches, shapes, candidates: grains.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Key, Record, Times, space_checksum};

    const POLICY: Policy = Policy { samples: 3, margin: 0.01 };

    fn grain(text: &str) -> Grain {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    /// A run that launched a grid of `grid` blocks, and the warm times of each candidate.
    fn record(grid: u32, launches: u64, candidates: &[(&str, &[u64])]) -> Record {
        let times = |warm: &[u64]| Times { warm: warm.to_vec(), ..Times::default() };
        let candidates: std::collections::BTreeMap<_, _> =
            candidates.iter().map(|(name, warm)| (grain(name), times(warm))).collect();
        let key = Key {
            hash: "h".into(),
            block: [64, 1, 1],
            grid: [grid, 1, 1],
            shared: 0,
            target: "sm_80".into(),
            version: "1".into(),
        };
        let space = space_checksum(candidates.keys());
        Record { kernel: "k".into(), key, run: "r".into(), date: 1, launches, space, candidates, settled: None }
    }

    fn database(records: impl IntoIterator<Item = Record>) -> Database {
        let mut database = Database::default();
        records.into_iter().for_each(|record| database.insert(record));
        database
    }

    const QUERY: Query<'_> =
        Query { kernel: "k", hash: "h", block: Some([64, 1, 1]), target: "sm_80", version: "1", candidates: &[] };

    #[test]
    fn the_least_total_wins() {
        let fast =
            record(1, 10, &[("original", &[100, 101, 102]), ("b2x1x1", &[50, 51, 52]), ("b4x1x1", &[70, 71, 72])]);
        let choice = database([fast.clone()]).choose(&QUERY, &POLICY).unwrap();
        assert_eq!((choice.grain, choice.shapes, choice.candidates), (grain("b2x1x1"), 1, 3));
        assert!((choice.gain() - 101.0 / 51.0).abs() < 1e-9);
        // The other grid is launched so often that its winner is the winner of all.
        let often = record(
            2,
            10_000,
            &[("original", &[100, 101, 102]), ("b2x1x1", &[120, 121, 122]), ("b4x1x1", &[90, 91, 92])],
        );
        assert_eq!(database([fast, often]).winner(&QUERY, &POLICY).unwrap().grain, grain("b4x1x1"));
    }

    #[test]
    fn the_original_stays_unless_it_is_beaten_beyond_doubt() {
        let small = record(1, 1, &[("original", &[1000, 1000, 1000]), ("b2x1x1", &[995, 995, 995])]);
        assert!(database([small]).winner(&QUERY, &POLICY).unwrap().grain.is_original());
        let noisy = record(1, 1, &[("original", &[900, 1000, 1400]), ("b2x1x1", &[500, 980, 1500])]);
        assert!(database([noisy]).winner(&QUERY, &POLICY).unwrap().grain.is_original());
        let outlier = |grid, original| record(grid, 1, &[("original", &[original; 3]), ("b2x1x1", &[110; 3])]);
        let many = (1..=40).map(|grid| outlier(grid, if grid == 7 { 900 } else { 100 }));
        assert!(database(many).winner(&QUERY, &POLICY).unwrap().grain.is_original());
    }

    #[test]
    fn a_candidate_that_failed_once_is_out() {
        let mut failing = record(1, 1, &[("original", &[100, 100, 100]), ("b2x1x1", &[10, 10, 10])]);
        failing.candidates.get_mut(&grain("b2x1x1")).unwrap().failed = true;
        let other = record(2, 1, &[("original", &[100, 100, 100]), ("b2x1x1", &[10, 10, 10])]);
        assert!(database([failing, other]).winner(&QUERY, &POLICY).unwrap().grain.is_original());
    }

    #[test]
    fn cold_samples_decide_where_there_are_no_others() {
        let mut cold = record(1, 3, &[("original", &[]), ("b2x1x1", &[1])]);
        cold.candidates.get_mut(&Grain::ORIGINAL).unwrap().cold = vec![100, 100, 100];
        assert_eq!(
            database([cold.clone()]).choose(&QUERY, &POLICY),
            Err(Missing::Incomplete { measured: 3, needed: 6 })
        );
        cold.candidates.get_mut(&grain("b2x1x1")).unwrap().cold = vec![60, 60, 60];
        assert_eq!(database([cold]).winner(&QUERY, &POLICY).unwrap().time, 60.0);
    }

    #[test]
    fn says_in_what_a_profile_is_stale() {
        let known = database([record(1, 3, &[("original", &[100, 100, 100]), ("b2x1x1", &[60, 60, 60])])]);
        let stale = |query: Query<'_>| known.staleness(&query, &POLICY).map(|missing| missing.to_string());
        assert_eq!(stale(QUERY), None);
        assert_eq!(stale(Query { kernel: "moved", ..QUERY }), None);
        let prefix = "the profile is stale: ";
        let expected = |text: &str| Some(format!("{prefix}{text}"));
        assert_eq!(stale(Query { hash: "i", ..QUERY }), expected("the kernel was changed since it was measured"));
        assert_eq!(stale(Query { version: "2", ..QUERY }), expected("measured with version '1'"));
        assert_eq!(stale(Query { target: "sm_90", ..QUERY }), expected("measured on 'sm_80'"));
        assert_eq!(
            stale(Query { block: Some([32, 1, 1]), ..QUERY }),
            expected("measured with blocks of 64x1x1 threads")
        );
        let now = [Grain::ORIGINAL, grain("t2x1x1")];
        assert_eq!(stale(Query { candidates: &now, ..QUERY }), expected("candidate 't2x1x1' was never measured"));
        let unknown = Query { hash: "i", kernel: "j", ..QUERY };
        assert_eq!(known.choose(&unknown, &POLICY), Err(Missing::Unknown));
        let fewer = [Grain::ORIGINAL];
        assert!(known.choose(&Query { candidates: &fewer, ..QUERY }, &POLICY).unwrap().grain.is_original());
        assert_eq!(known.choose(&Query { block: None, ..QUERY }, &POLICY).unwrap().grain, grain("b2x1x1"));
    }

    #[test]
    fn every_grid_needs_three_samples_or_all_that_are_asked_for() {
        assert_eq!(
            [(5, 1), (5, 2), (5, 100), (9, 2), (2, 1), (2, 9), (1, 1), (0, 0)].map(|(n, g)| needed(n, g)),
            [5, 3, 3, 5, 2, 2, 1, 1]
        );
    }

    #[test]
    fn grids_that_are_launched_rarely_may_lack_samples() {
        let full = record(1, 9, &[("original", &[100; 3]), ("b2x1x1", &[60; 3])]);
        let lacking = record(2, 1, &[("original", &[100; 3]), ("b2x1x1", &[60; 2])]);
        assert_eq!(database([full.clone(), lacking.clone()]).winner(&QUERY, &POLICY).unwrap().shapes, 1);
        let often = Record { launches: 20, ..lacking };
        assert_eq!(database([full, often]).winner(&QUERY, &POLICY), None);
    }
}
