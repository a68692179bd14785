//! Which candidate the next launch of a kernel runs, and what has been measured so far.
//!
//! Each candidate's first launch in the process is *cold* and comes with loading and cold caches; it is kept apart, and
//! the same candidate runs again at once where the program launches the kernel again. Then the candidate with the
//! fewest samples is next, those of earlier runs included: so a program that launches a kernel once in a run converges
//! over several runs. When every candidate has enough, the best runs.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use regrain_tuning::Grain;
use regrain_tuning::choice::needed;
use regrain_tuning::database::{Database, Shape};
use regrain_tuning::record::{Key, Record, Summary, Times, space_checksum};

/// A sample beside which other launches ran is repeated this often; then it counts.
const PATIENCE: u32 = 3;

/// Launch shapes of a kernel that are measured at most; others run the original.
const MOST_SHAPES: usize = 1024;

/// A launch as the program wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Launch {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads in a block.
    pub block: [u32; 3],
    /// Dynamic shared memory, in bytes.
    pub shared: u64,
}

/// What a launch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Index of the candidate.
    pub candidate: usize,
    /// Index of the launch shape.
    pub shape: usize,
    /// Whether a sample is wanted.
    pub timed: bool,
    /// Whether it is the candidate's first launch in this process.
    pub cold: bool,
}

/// What names a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its symbol.
    pub kernel: String,
    /// Hash of its content.
    pub hash: String,
    /// As in `sm_80`.
    pub target: String,
    /// Version of the compiler.
    pub version: String,
    /// The candidates, in the order of the site.
    pub grains: Vec<Grain>,
}

/// One kernel with its candidates.
pub struct Kernel {
    /// What names it.
    pub identity: Identity,
    /// Whether launches are synchronous.
    pub on_cpu: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    shapes: Vec<Measured>,
    index: HashMap<Launch, usize>,
    /// Launch shapes met in this process, by block shape.
    grids: HashMap<[u32; 3], usize>,
    /// How often each candidate was launched in this process.
    launched: Vec<u64>,
    /// Candidates that could not be launched.
    failed: Vec<bool>,
    /// Whether one of them failed in this process.
    fails: bool,
    /// The candidate whose first launch was the kernel's last: it runs again.
    again: Option<usize>,
}

/// One launch shape.
struct Measured {
    launch: Launch,
    launches: u64,
    /// Launch shapes with this block shape that earlier runs measured.
    known_grids: usize,
    /// Of this process.
    own: Vec<Times>,
    /// Of earlier runs.
    known: Vec<Times>,
    /// Launched and not yet known, warm and cold.
    pending: Vec<[usize; 2]>,
    /// How often a sample was disturbed.
    disturbed: Vec<u32>,
    /// The best, once all have enough.
    best: Option<usize>,
}

impl Measured {
    fn new(launch: Launch, known: Vec<Times>, known_grids: usize) -> Self {
        let count = known.len();
        Self {
            launch,
            launches: 0,
            known_grids,
            own: vec![Times::default(); count],
            known,
            pending: vec![[0; 2]; count],
            disturbed: vec![0; count],
            best: None,
        }
    }

    /// Warm and cold samples that are there or on their way.
    fn counts(&self, candidate: usize) -> [usize; 2] {
        let (own, known, pending) = (&self.own[candidate], &self.known[candidate], self.pending[candidate]);
        [own.warm.len() + known.warm.len() + pending[0], own.cold.len() + known.cold.len() + pending[1]]
    }

    /// The fastest by what is there, if all that may run have comparable samples.
    fn fastest(&self, usable: &[usize]) -> Option<usize> {
        let medians = |of: fn(&Times) -> &Vec<u64>| -> Option<Vec<(u64, usize)>> {
            let median = |candidate: &usize| {
                let mut all = of(&self.own[*candidate]).clone();
                all.extend(of(&self.known[*candidate]));
                all.sort_unstable();
                Some((Summary::of(&all)?.median, *candidate))
            };
            usable.iter().map(median).collect()
        };
        let medians = medians(|times| &times.warm).or_else(|| medians(|times| &times.cold))?;
        medians.into_iter().min().map(|(_, candidate)| candidate)
    }
}

impl Kernel {
    /// A kernel of which nothing was measured in this process.
    pub fn new(identity: Identity) -> Self {
        let count = identity.grains.len();
        let state = State { launched: vec![0; count], failed: vec![false; count], ..State::default() };
        Self { on_cpu: identity.target.starts_with("cpu"), identity, state: Mutex::new(state) }
    }

    /// Index of the original.
    pub fn original(&self) -> usize {
        self.identity.grains.iter().position(Grain::is_original).unwrap_or(0)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The key of a launch shape.
    pub fn key(&self, launch: Launch) -> Key {
        let Identity { hash, target, version, .. } = self.identity.clone();
        Key { hash, block: launch.block, grid: launch.grid, shared: launch.shared, target, version }
    }

    /// What this launch runs. `samples` are wanted of each candidate; `known` gives what earlier runs measured of a
    /// shape.
    pub fn choose(&self, launch: Launch, samples: usize, known: &Known) -> Choice {
        let mut state = self.state();
        let shape = match state.index.get(&launch) {
            Some(shape) => *shape,
            None if state.shapes.len() >= MOST_SHAPES => {
                return Choice { candidate: self.original(), shape: 0, timed: false, cold: false };
            }
            None => self.meet(&mut state, launch, known),
        };
        state.shapes[shape].launches += 1;
        let grids = state.grids[&launch.block].max(state.shapes[shape].known_grids);
        let (candidate, timed) = self.pick(&mut state, shape, needed(samples, grids));
        let cold = state.launched[candidate] == 0;
        state.launched[candidate] += 1;
        state.again = cold.then_some(candidate);
        if timed {
            state.shapes[shape].pending[candidate][usize::from(cold)] += 1;
        }
        Choice { candidate, shape, timed, cold }
    }

    /// A launch shape that is new in this process.
    fn meet(&self, state: &mut State, launch: Launch, known: &Known) -> usize {
        let key = self.key(launch);
        let earlier = known.shapes.get(&key);
        let times = |grain: &Grain| earlier.and_then(|shape| shape.candidates.get(grain)).cloned().unwrap_or_default();
        let measured: Vec<Times> = self.identity.grains.iter().map(times).collect();
        for (candidate, times) in measured.iter().enumerate() {
            state.failed[candidate] |= times.failed && candidate != self.original();
        }
        state.shapes.push(Measured::new(launch, measured, known.grids(&key)));
        *state.grids.entry(launch.block).or_default() += 1;
        state.index.insert(launch, state.shapes.len() - 1);
        state.shapes.len() - 1
    }

    /// The next candidate, and whether it is timed.
    fn pick(&self, state: &mut State, shape: usize, needed: usize) -> (usize, bool) {
        let count = self.identity.grains.len();
        let usable: Vec<usize> = (0..count).filter(|candidate| !state.failed[*candidate]).collect();
        let measured = &mut state.shapes[shape];
        let lacks = |which: usize| usable.iter().any(|candidate| measured.counts(*candidate)[which] < needed);
        if !lacks(0) || !lacks(1) {
            let waits = usable.iter().any(|candidate| measured.pending[*candidate] != [0; 2]);
            let best = measured.best.filter(|best| usable.contains(best)).or_else(|| measured.fastest(&usable));
            measured.best = best.filter(|_| !waits);
            return (best.unwrap_or(self.original()), false);
        }
        let wants = |candidate: &usize| measured.counts(*candidate)[0] < needed;
        if let Some(again) = state.again.filter(|again| usable.contains(again) && wants(again)) {
            return (again, true);
        }
        // Shapes begin with different candidates, so that a slow moment hits no candidate in all of them.
        let rank = |candidate: &&usize| (measured.counts(**candidate), (**candidate + count - shape % count) % count);
        let next = usable.iter().filter(|candidate| wants(candidate)).min_by_key(rank);
        (next.copied().unwrap_or(self.original()), true)
    }

    /// A sample, in nanoseconds.
    pub fn add(&self, choice: &Choice, time: u64) {
        let mut state = self.state();
        let shape = &mut state.shapes[choice.shape];
        let own = &mut shape.own[choice.candidate];
        let samples = if choice.cold { &mut own.cold } else { &mut own.warm };
        samples.push(time);
        settle(shape, choice);
    }

    /// A timed launch gave no sample.
    pub fn void(&self, choice: &Choice) {
        settle(&mut self.state().shapes[choice.shape], choice);
    }

    /// A launch took `time` nanoseconds while others ran beside it.
    pub fn void_disturbed(&self, choice: &Choice, time: u64) {
        let times = {
            let disturbed = &mut self.state().shapes[choice.shape].disturbed[choice.candidate];
            *disturbed += 1;
            *disturbed
        };
        if times > PATIENCE { self.add(choice, time) } else { self.void(choice) }
    }

    /// The candidate could not be launched: it never is again. The original's errors are the program's own.
    pub fn fail(&self, candidate: usize) {
        if candidate != self.original() {
            let mut state = self.state();
            state.failed[candidate] = true;
            state.fails = true;
        }
    }

    /// What was measured here, as records without run and date.
    pub fn records(&self) -> Vec<Record> {
        let state = self.state();
        let worth = |shape: &&Measured| shape.own.iter().any(|times| times.samples() > 0) || state.fails;
        let record = |shape: &Measured| {
            let times = |(index, grain): (usize, &Grain)| {
                let mut times = shape.own[index].clone();
                times.warm.sort_unstable();
                times.cold.sort_unstable();
                times.failed = state.failed[index];
                (*grain, times)
            };
            let candidates: BTreeMap<_, _> = self.identity.grains.iter().enumerate().map(times).collect();
            Record {
                kernel: self.identity.kernel.clone(),
                key: self.key(shape.launch),
                run: String::new(),
                date: 0,
                launches: shape.launches,
                space: space_checksum(candidates.keys()),
                candidates,
                settled: None,
            }
        };
        state.shapes.iter().filter(worth).map(record).collect()
    }
}

fn settle(shape: &mut Measured, choice: &Choice) {
    let pending = &mut shape.pending[choice.candidate][usize::from(choice.cold)];
    *pending = pending.saturating_sub(1);
}

/// Whether an error of a launch says that this very version cannot be launched: bad value, bad configuration, bad
/// function or image, no image for the device, too many resources, cooperative launch too large. Others have to do with
/// earlier work.
pub fn is_refusal(error: i32) -> bool {
    matches!(error, 1 | 9 | 98 | 200 | 209 | 701 | 720)
}

/// What earlier runs measured.
#[derive(Default)]
pub struct Known {
    shapes: HashMap<Key, Shape>,
    grids: HashMap<Key, usize>,
}

impl Known {
    /// Reads it out of a database.
    pub fn of(database: &Database) -> Self {
        let mut known = Self::default();
        for shape in database.shapes() {
            *known.grids.entry(shape.key.without_grid()).or_default() += 1;
            known.shapes.insert(shape.key.clone(), shape);
        }
        known
    }

    /// How many grids are known of the kernel and block shape of a key.
    fn grids(&self, key: &Key) -> usize {
        self.grids.get(&key.without_grid()).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAUNCH: Launch = Launch { grid: [8, 1, 1], block: [64, 1, 1], shared: 0 };

    fn kernel(grains: &[&str]) -> Kernel {
        let grains = grains.iter().map(|text| text.parse().unwrap()).collect();
        let [kernel, hash, target, version] = ["k", "h", "cpu:x", "1"].map(str::to_owned);
        Kernel::new(Identity { kernel, hash, target, version, grains })
    }

    /// Runs `launches` of one shape; a candidate takes its time of `times`. Returns the candidates that ran.
    fn run(kernel: &Kernel, launches: usize, times: &[u64], known: &Known) -> Vec<usize> {
        let launch = |_| {
            let choice = kernel.choose(LAUNCH, 2, known);
            if choice.timed {
                kernel.add(&choice, times[choice.candidate] * if choice.cold { 100 } else { 1 });
            }
            choice.candidate
        };
        (0..launches).map(launch).collect()
    }

    /// What a run leaves in the database.
    fn written(kernel: &Kernel, run: &str, database: &mut Database) {
        for record in kernel.records() {
            database.insert(Record { run: run.into(), ..record });
        }
    }

    #[test]
    fn a_candidate_is_warmed_and_sampled_and_then_the_best_runs() {
        let kernel = kernel(&["original", "b2x1x1", "b4x1x1"]);
        let ran = run(&kernel, 13, &[30, 10, 20], &Known::default());
        assert_eq!(ran, [0, 0, 1, 1, 2, 2, 0, 1, 2, 1, 1, 1, 1]);
        let record = &kernel.records()[0];
        assert_eq!(record.launches, 13);
        let times: Vec<_> = record.candidates.values().map(|times| (times.warm.clone(), times.cold.clone())).collect();
        assert_eq!(times, [(vec![30, 30], vec![3000]), (vec![10, 10], vec![1000]), (vec![20, 20], vec![2000])]);
    }

    #[test]
    fn one_launch_per_run_converges_over_runs() {
        let mut database = Database::default();
        for round in 0..4 {
            let kernel = kernel(&["original", "b2x1x1"]);
            assert_eq!(run(&kernel, 1, &[30, 10], &Known::of(&database)), [round % 2]);
            written(&kernel, &round.to_string(), &mut database);
        }
        let kernel = kernel(&["original", "b2x1x1"]);
        assert_eq!(run(&kernel, 2, &[30, 10], &Known::of(&database)), [1, 1]);
        assert!(kernel.records().is_empty());
        assert_eq!(database.shapes()[0].progress(2), (4, 4));
    }

    #[test]
    fn what_cannot_be_launched_is_never_tried_again() {
        let (mut database, kernel_now) = (Database::default(), kernel(&["original", "b2x1x1"]));
        kernel_now.fail(1);
        kernel_now.fail(0);
        assert!(run(&kernel_now, 9, &[30, 10], &Known::default()).iter().all(|candidate| *candidate == 0));
        written(&kernel_now, "a", &mut database);
        let later = kernel(&["original", "b2x1x1"]);
        assert!(run(&later, 9, &[30, 10], &Known::of(&database)).iter().all(|candidate| *candidate == 0));
    }

    #[test]
    fn launches_on_their_way_count_as_samples() {
        let kernel = kernel(&["original", "b2x1x1"]);
        let choices: Vec<Choice> = (0..20).map(|_| kernel.choose(LAUNCH, 2, &Known::default())).collect();
        assert_eq!(choices.iter().filter(|choice| choice.timed).count(), 6);
        assert!(choices[6..].iter().all(|choice| choice.candidate == 0));
        for choice in choices.iter().filter(|choice| choice.timed) {
            kernel.add(choice, [30, 10][choice.candidate]);
        }
        assert_eq!(kernel.choose(LAUNCH, 2, &Known::default()).candidate, 1);
    }

    #[test]
    fn a_disturbed_sample_counts_only_when_there_is_no_other() {
        let kernel = kernel(&["original", "b2x1x1"]);
        for round in 0..100 {
            let choice = kernel.choose(LAUNCH, 2, &Known::default());
            if !choice.timed {
                assert!(round > 8);
                return;
            }
            kernel.void_disturbed(&choice, 5);
        }
        panic!("does not converge");
    }

    #[test]
    fn shapes_begin_with_different_candidates() {
        let kernel = kernel(&["original", "b2x1x1", "b4x1x1"]);
        let first = |grid| {
            let choice = kernel.choose(Launch { grid: [grid, 1, 1], ..LAUNCH }, 1, &Known::default());
            kernel.add(&choice, 1);
            choice.candidate
        };
        // The second launch of each pair warms up what the first began.
        assert_eq!((1..=9).map(first).collect::<Vec<_>>(), [0, 0, 2, 2, 1, 1, 0, 1, 2]);
    }
}
