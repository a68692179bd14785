//! Which version of a kernel is the fastest for launches of one class: what is tried next, and when it is clear.
//!
//! ```text
//! launches:  first | original | others      round 0        round 1               round n
//!            once each, not counted         o b a          a o b       ...       b o          o b b b b b ...
//!                                           each version once, in a random order, no version that is out
//! ```
//!
//! *Rounds.* What a launch has to do changes from one to the next in many programs, and so does the machine's pace. So versions
//! are compared within a round alone, and the order of a round is random: no rhythm of the program's favours one of them.
//!
//! *When it is clear.* One version beats another if it was faster in so many of the rounds that both ran in that equal versions would
//! come to this in one case of twenty (the sign test: five rounds of five, seven of eight, twelve of sixteen). How far apart they must
//! be for that is a matter of how far the samples spread, and of nothing else. What another beats is out. So is, after two rounds, what was
//! always slower than the original by more than the original's own times differ. The original stays where no version beats it in
//! [`MOST_ROUNDS`] rounds, and of those that beat it the one with the least median ratio is taken.
//!
//! *What it costs.* The first launch runs what the compiler takes for the best. A version is tried only while what its trials have cost, beyond
//! the original's time, is less than its part of [`LOSS_SHARE`] of the time that all launches of the class took: so a bad version is tried seldom.
//! What a first trial will cost is not known; it is taken for what the version costs in a class with about as many blocks, else for
//! [`Start::ratios`]. So a class with few launches tries nothing. After [`MOST_LAUNCHES`] launches there are no more trials.
//!
//! Nothing here knows time or devices: it is fed with what launches took.

use regrain_tuning::record::Summary;

/// Rounds in which a version is compared with the original at most.
pub const MOST_ROUNDS: usize = 16;
/// Launches among which there are trials at most.
pub const MOST_LAUNCHES: u64 = 1000;
/// What part of the time of all launches the trials of slower versions may take.
pub const LOSS_SHARE: f64 = 0.05;
/// How seldom equal versions may look as if one beat the other.
const DOUBT: f64 = 0.05;

/// What a launch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The version.
    pub version: usize,
    /// What becomes of its time.
    pub part: Part,
}

/// What becomes of a launch's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Nobody wants it.
    Untimed,
    /// The version's first launch, which comes with loading and cold caches.
    Cold,
    /// A sample of this round.
    Round(u16),
}

/// What is known of a class when the first launch of it comes.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// The original's number.
    pub original: usize,
    /// Versions whose first launch is not counted, the one that runs first at the front. It is one of them in any case.
    pub cold: Vec<usize>,
    /// What runs where nothing is known.
    pub first: usize,
    /// For each version, whether it is out of the question.
    pub out: Vec<bool>,
    /// For each version, how its time is taken to compare with the original's before it is tried; 1 where nothing is said.
    pub ratios: Vec<f64>,
    /// Whether a launch is over before the next can be timed.
    pub alone: bool,
    /// Where the order of the rounds comes from.
    pub seed: u64,
}

/// The launches of one class.
#[derive(Debug)]
pub struct Class {
    original: usize,
    first: usize,
    alone: bool,
    random: u64,
    /// Versions whose first launch is still to come, and is not counted.
    cold: Vec<usize>,
    /// What is tried next, the last first.
    queue: Vec<Trial>,
    /// Timed launches whose time is not known yet.
    pending: usize,
    versions: Vec<Version>,
    rounds: usize,
    launches: u64,
    untimed: u64,
    settled: Option<usize>,
}

/// What is known of a version.
#[derive(Clone, Debug, Default)]
pub struct Version {
    /// Times of first launches, nanoseconds.
    pub cold: Vec<u64>,
    /// It was found slower than another.
    pub out: bool,
    /// It could not be launched.
    pub failed: bool,
    /// How its time compares with the original's elsewhere.
    expected: f64,
    rounds: Vec<Option<u64>>,
}

impl Version {
    /// Samples, nanoseconds, in the order of the rounds.
    pub fn warm(&self) -> impl Iterator<Item = u64> + '_ {
        self.rounds.iter().flatten().copied()
    }

    /// How many samples there are.
    pub fn samples(&self) -> usize {
        self.warm().count() + self.cold.len()
    }

    fn median(&self) -> Option<f64> {
        let sorted = |mut all: Vec<u64>| {
            all.sort_unstable();
            Summary::of(&all).map(|summary| summary.median as f64)
        };
        sorted(self.warm().collect()).or_else(|| sorted(self.cold.clone()))
    }

    fn is_live(&self) -> bool {
        !self.out && !self.failed
    }
}

impl Class {
    /// A class of which nothing was launched in this process.
    pub fn new(start: &Start) -> Self {
        let version = |(at, out): (usize, &bool)| {
            let expected = start.ratios.get(at).copied().unwrap_or(1.0);
            Version { out: *out, expected, ..Version::default() }
        };
        Self {
            original: start.original,
            first: start.first,
            alone: start.alone,
            random: start.seed | 1,
            cold: start.cold.clone(),
            queue: Vec::new(),
            pending: 0,
            versions: start.out.iter().enumerate().map(version).collect(),
            rounds: 0,
            launches: 0,
            untimed: 0,
            settled: None,
        }
    }

    /// All launches run this version: it was settled before.
    pub fn decide(&mut self, version: usize) {
        self.settled = Some(version);
    }

    /// What all launches run from now on, once that is clear.
    pub fn settled(&self) -> Option<usize> {
        self.settled
    }

    /// Everything that was measured.
    pub fn versions(&self) -> &[Version] {
        &self.versions
    }

    /// For each version, how its time compares with the original's as far as that is known, 1 where it is not.
    pub fn known_ratios(&self) -> Vec<f64> {
        let ratio = |version: usize| median(self.ratios(version, self.original));
        (0..self.versions.len()).map(|version| ratio(version).unwrap_or(self.versions[version].expected)).collect()
    }

    /// Launches that it was asked for.
    pub fn launches(&self) -> u64 {
        self.launches
    }

    /// What the next launch runs.
    pub fn choose(&mut self) -> Trial {
        self.launches += 1;
        if self.launches > MOST_LAUNCHES && self.settled.is_none() {
            self.settled = Some(self.leader());
        }
        if self.settled.is_none() && self.queue.is_empty() && self.pending == 0 {
            self.begin_round();
        }
        while self.settled.is_none()
            && !(self.alone && self.pending > 0)
            && let Some(trial) = self.queue.pop()
        {
            if trial.part == Part::Cold || self.may_try(trial.version) {
                self.pending += 1;
                return trial;
            }
        }
        self.untimed += 1;
        Trial { version: self.settled.unwrap_or_else(|| self.leader()), part: Part::Untimed }
    }

    /// The time of a trial, in nanoseconds.
    pub fn add(&mut self, trial: Trial, time: u64) {
        let version = &mut self.versions[trial.version];
        match trial.part {
            Part::Untimed => return,
            Part::Cold => version.cold.push(time),
            Part::Round(round) => version.rounds[usize::from(round)] = Some(time),
        }
        self.is_over();
    }

    /// The time of a trial is not known, and will not be.
    pub fn void(&mut self, trial: Trial) {
        if trial.part != Part::Untimed {
            self.is_over();
        }
    }

    /// The time of a trial means nothing, because other launches ran beside it: it is made again.
    pub fn again(&mut self, trial: Trial) {
        if trial.part != Part::Untimed {
            self.pending = self.pending.saturating_sub(1);
            self.queue.push(trial);
        }
    }

    /// A version could not be launched: it never is again. The original's errors are the program's own.
    pub fn fail(&mut self, version: usize) {
        if version != self.original {
            self.versions[version].failed = true;
            if self.settled == Some(version) {
                self.settled = Some(self.original);
            }
        }
    }

    fn is_over(&mut self) {
        self.pending = self.pending.saturating_sub(1);
        if self.settled.is_none() && self.queue.is_empty() && self.pending == 0 {
            self.judge();
        }
    }

    /// The original, what is open and may be tried, and what beats the original so far: each once, in a random order.
    fn begin_round(&mut self) {
        self.judge();
        let (winning, open) = self.standings();
        if self.settled.is_some() || self.begin_cold(&open) {
            return;
        }
        let may_run = |version: &usize| self.may_try(*version) && !self.cold.contains(version);
        let mut round: Vec<usize> = open.into_iter().filter(may_run).collect();
        if round.is_empty() {
            return;
        }
        round.extend(winning.into_iter().chain([self.original]));
        for last in (1..round.len()).rev() {
            let other = (self.next_random() % (last as u64 + 1)) as usize;
            round.swap(last, other);
        }
        let number = u16::try_from(self.rounds).unwrap_or(u16::MAX);
        self.rounds += 1;
        self.versions.iter_mut().for_each(|version| version.rounds.push(None));
        self.queue = round.into_iter().map(|version| Trial { version, part: Part::Round(number) }).collect();
    }

    /// First launches, of those that may be tried: whether there are any.
    fn begin_cold(&mut self, open: &[usize]) -> bool {
        let is_due = |version: &usize| {
            let is_anyway = self.launches == 1 && *version == self.first || *version == self.original;
            is_anyway || open.contains(version) && self.may_try(*version)
        };
        let (due, later): (Vec<usize>, Vec<usize>) = self.cold.iter().partition(|version| is_due(version));
        self.cold = later;
        self.queue = due.iter().rev().map(|version| Trial { version: *version, part: Part::Cold }).collect();
        !due.is_empty()
    }

    /// The generator of Marsaglia, `xorshift64*`.
    fn next_random(&mut self) -> u64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33
    }

    /// The versions beside the original that are not out.
    fn rivals(&self) -> Vec<usize> {
        (0..self.versions.len()).filter(|at| *at != self.original && self.versions[*at].is_live()).collect()
    }

    /// Of the rivals that are not out, those that beat the original, and those of which it is open.
    fn standings(&self) -> (Vec<usize>, Vec<usize>) {
        let (winning, others): (Vec<usize>, Vec<usize>) =
            self.rivals().into_iter().partition(|version| self.beats(*version, self.original));
        let is_open = |version: &usize| self.ratios(*version, self.original).len() < MOST_ROUNDS;
        (winning, others.into_iter().filter(is_open).collect())
    }

    /// Puts out what is slower, and settles where nothing is open any more.
    fn judge(&mut self) {
        let (winning, _) = self.standings();
        for version in self.rivals() {
            let is_beaten = || winning.iter().chain([&self.original]).any(|other| self.beats(*other, version));
            if self.is_clearly_slower(version) || is_beaten() {
                self.versions[version].out = true;
            }
        }
        let (winning, open) = self.standings();
        if open.is_empty() {
            self.settled = Some(self.best(&winning));
        }
    }

    /// Of the versions that beat the original the one that does by most, else the original.
    fn best(&self, winning: &[usize]) -> usize {
        let ratio = |version: &usize| (median(self.ratios(*version, self.original)), *version);
        let all = winning.iter().map(ratio).filter_map(|(ratio, version)| Some((ratio?, version)));
        all.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(self.original, |(_, version)| version)
    }

    /// What runs where nothing is tried: what beats the original, else what the compiler chose unless it looks slower.
    fn leader(&self) -> usize {
        let best = self.best(&self.standings().0);
        let looks_slower = || median(self.ratios(self.first, self.original)).is_some_and(|ratio| ratio > 1.0);
        if best != self.original || !self.versions[self.first].is_live() || looks_slower() { best } else { self.first }
    }

    /// How the times of two versions compare in the rounds that both ran in.
    fn ratios(&self, one: usize, other: usize) -> Vec<f64> {
        let pairs = self.versions[one].rounds.iter().zip(&self.versions[other].rounds);
        pairs.filter_map(|(one, other)| Some((*one)? as f64 / (*other)?.max(1) as f64)).collect()
    }

    fn beats(&self, one: usize, other: usize) -> bool {
        let ratios = self.ratios(one, other);
        let lost = ratios.iter().filter(|ratio| **ratio >= 1.0).count();
        one != other && chance(ratios.len(), lost) <= DOUBT
    }

    /// Whether a version was always slower than the original, by more than the original's own times differ.
    fn is_clearly_slower(&self, version: usize) -> bool {
        let bounds = |version: usize| {
            let all = || self.versions[version].warm();
            Some((all().min()?, all().max()?, all().count())).filter(|(.., count)| *count >= 2)
        };
        let (Some((fastest, ..)), Some((least, most, _))) = (bounds(version), bounds(self.original)) else {
            return false;
        };
        fastest.saturating_sub(most) > most - least
    }

    /// Whether a version is worth a launch: what it has cost so far is made up for by launches that were as fast as can be.
    fn may_try(&self, version: usize) -> bool {
        if version == self.original {
            return true;
        }
        let rivals = self.versions.len().saturating_sub(1).max(1);
        self.versions[version].is_live() && self.lost(version) * rivals as f64 <= LOSS_SHARE * self.spent()
    }

    /// By how much the launches of a version were slower than the original's, nanoseconds. The fastest counts for all: what comes in
    /// between is not the version's fault. Before the first launch it is what is to be expected of that.
    fn lost(&self, version: usize) -> f64 {
        let (own, original) = (&self.versions[version], &self.versions[self.original]);
        let usual = original.median().or_else(|| self.versions[self.first].median());
        let Some(usual) = usual else { return if own.expected > 1.0 { f64::INFINITY } else { 0.0 } };
        if own.samples() == 0 {
            return (own.expected - 1.0).max(0.0) * usual;
        }
        // First launches load code; the first of all meets cold data too, whatever it runs.
        let first = original.cold.first().map_or(usual, |time| *time as f64);
        let is_telling = version != self.first && own.warm().count() < 2;
        let cold = own.cold.iter().map(|time| *time as f64 - first).filter(|_| is_telling);
        let over = own.warm().map(|time| time as f64 - usual).chain(cold).reduce(f64::min);
        own.samples() as f64 * over.unwrap_or(0.0).max(0.0)
    }

    /// What all launches took, nanoseconds.
    fn spent(&self) -> f64 {
        let timed: u64 =
            self.versions.iter().flat_map(|version| version.warm().chain(version.cold.iter().copied())).sum();
        timed as f64 + self.untimed as f64 * self.versions[self.leader()].median().unwrap_or(0.0)
    }
}

/// How often a fair coin that is thrown `count` times falls on the one side `lost` times or less.
fn chance(count: usize, lost: usize) -> f64 {
    let mut ways = 1.0;
    let mut sum = 0.0;
    for falls in 0..=lost.min(count) {
        sum += ways;
        ways *= (count - falls) as f64 / (falls + 1) as f64;
    }
    sum / 2.0_f64.powi(i32::try_from(count).unwrap_or(i32::MAX))
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { upper } else { f64::midpoint(values[middle - 1], upper) })
}

#[cfg(test)]
#[path = "settle_tests.rs"]
mod tests;
