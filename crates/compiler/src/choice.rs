//! Which alternative of each launch is taken: what pruning leaves, ranked by the model, or by measured times.

use std::collections::BTreeMap;

use regrain_passes::alternatives::candidates::{Candidate, LaunchCandidates};
use regrain_tuning::Grain;
use regrain_tuning::choice::{Missing, Policy, Query};
use regrain_tuning::database::Database;
use regrain_tuning::model::{self, Prediction, Processor, Shape};
use regrain_tuning::occupancy::{Resources, occupancy};
use regrain_tuning::prune::{Floor, after_assembly};

use crate::decisions::{Decision, Row};

/// Threads of a block where its size is not known.
const USUAL_THREADS: u32 = 256;

/// What is chosen for, and what the assembler said there: resources by the launch's symbol and the grain.
pub struct Chip<'s> {
    /// As in `sm_80` or `cpu`.
    pub name: String,
    /// The source, for rows.
    pub source: &'s str,
    /// What the model needs to know.
    pub processor: Processor<'s>,
    /// Reports; empty where nothing was assembled.
    pub resources: BTreeMap<(String, Grain), Resources>,
}

impl Chip<'_> {
    fn resources(&self, launch: &LaunchCandidates, grain: Grain) -> Option<&Resources> {
        self.resources.get(&(launch.symbol.clone(), grain))
    }

    fn row(&self, launch: &LaunchCandidates, grain: Grain, decision: Decision) -> Row {
        let mut row = Row::new(self.source, &launch.kernel, launch.shape, &self.name, grain, decision);
        row.resources = self.resources(launch, grain).copied();
        if let (Processor::Gpu(limits), Some(resources)) = (&self.processor, &row.resources) {
            row.occupancy = Some(occupancy(limits, block_threads(launch, grain), resources));
        }
        row
    }

    /// Why a grain is not worth a try, by the assembler's report.
    fn pruned(&self, launch: &LaunchCandidates, candidate: &Candidate) -> Option<String> {
        let Processor::Gpu(limits) = &self.processor else { return None };
        if self.resources.is_empty() || candidate.grain.is_original() {
            return None;
        }
        let original = self.resources(launch, Grain::ORIGINAL)?;
        let Some(ours) = self.resources(launch, candidate.grain) else {
            return Some("it could not be assembled".into());
        };
        let threads = |grain| block_threads(launch, grain);
        let found = after_assembly(
            limits,
            (ours, threads(candidate.grain)),
            (original, threads(Grain::ORIGINAL)),
            &Floor::default(),
        );
        found.map(|pruned| pruned.to_string())
    }

    fn predict(&self, launch: &LaunchCandidates, candidate: &Candidate) -> Option<Prediction> {
        let statistics = candidate.statistics.as_ref()?;
        let resources = self.resources(launch, candidate.grain);
        let ours =
            model::Candidate { statistics, resources, epilogues: candidate.epilogues, tasks: candidate.grain.tasks };
        let shape = Shape { grid: None, block: launch.shape.map(|shape| shape.map(u64::from)) };
        Some(model::predict(&ours, &shape, &self.processor))
    }
}

/// Threads of a block of `launch` at a grain.
fn block_threads(launch: &LaunchCandidates, grain: Grain) -> u32 {
    let original = launch.shape.map_or(USUAL_THREADS, |shape| shape.iter().product());
    (original / u32::try_from(grain.thread_total()).unwrap_or(1)).max(1)
}

/// What was found out about one alternative on one chip.
struct Weighed {
    row: Row,
    prediction: Option<Prediction>,
    pruned: bool,
}

fn weigh(launch: &LaunchCandidates, chip: &Chip<'_>) -> Vec<Weighed> {
    let mut all: Vec<Weighed> = launch
        .candidates
        .iter()
        .map(|candidate| {
            let mut row = chip.row(launch, candidate.grain, Decision::Passed);
            row.reason = chip.pruned(launch, candidate);
            let pruned = row.reason.is_some();
            if pruned {
                row.decision = Decision::Pruned;
            }
            Weighed { row, prediction: chip.predict(launch, candidate), pruned }
        })
        .collect();
    let mut order: Vec<usize> = (0..all.len()).filter(|at| !all[*at].pruned && all[*at].prediction.is_some()).collect();
    let time = |one: &Weighed| one.prediction.as_ref().map_or(f64::INFINITY, |prediction| prediction.time);
    order.sort_by(|a, b| time(&all[*a]).total_cmp(&time(&all[*b])));
    for (rank, at) in order.into_iter().enumerate() {
        all[at].row.rank = Some(rank + 1);
    }
    for one in &mut all {
        one.row.prediction.clone_from(&one.prediction);
    }
    all
}

/// What is chosen for a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The number of the alternative; the original's is 0.
    pub at: usize,
    /// Grids of fewer blocks run the original.
    pub least_blocks: Option<u64>,
}

/// An alternative that is chosen is to be faster by so much in each grid that runs it.
const FASTER: f64 = 0.02;

/// From how many blocks on an alternative is faster than the original on all chips, where the model tells grids apart.
fn least_blocks(weighed: &[Vec<Weighed>], at: usize) -> Option<u64> {
    let of = |chip: &Vec<Weighed>| {
        let (ours, theirs) = (chip[at].prediction.as_ref()?, chip[0].prediction.as_ref()?);
        let both = ours.in_grids.iter().zip(&theirs.in_grids).rev();
        let faster = both.take_while(|((_, ours), (_, theirs))| *ours < theirs * (1.0 - FASTER));
        // The largest grid is the one that it was chosen for.
        faster.last().map(|((blocks, _), _)| *blocks).or_else(|| Some(ours.in_grids.last()?.0))
    };
    weighed.iter().filter_map(of).max()
}

/// Chooses by the model: the alternative that is best over all chips, if it beats the original by the margin on average. Gives further what
/// to say.
pub fn by_model(launch: &LaunchCandidates, chips: &[Chip<'_>]) -> (Choice, Vec<Row>) {
    let weighed: Vec<Vec<Weighed>> = chips.iter().map(|chip| weigh(launch, chip)).collect();
    let mean = |at: usize| {
        let gains: Option<f64> = weighed.iter().map(|chip| relative(&chip[at], &chip[0])).sum();
        gains.map(|sum| sum / weighed.len() as f64)
    };
    let margin = chips.iter().map(|chip| chip.processor.margin()).fold(0.0, f64::max);
    // A number of blocks in a task must beat the runtime's own by the margin too.
    let is_worth_it = |at: usize, time: f64| {
        let grain = launch.candidates[at].grain;
        let usual =
            launch.candidates.iter().position(|other| other.grain == grain.with_usual_tasks() && other.grain != grain);
        usual.and_then(mean).is_none_or(|usual| time < usual * (1.0 - margin))
    };
    let mut best = (0, 1.0 - margin);
    for at in 1..launch.candidates.len() {
        if let Some(time) = mean(at).filter(|time| *time < best.1 && is_worth_it(at, *time)) {
            best = (at, time);
        }
    }
    let at = best.0;
    let choice = Choice { at, least_blocks: if at == 0 { None } else { least_blocks(&weighed, at) } };
    let mut all = rows(weighed, at, Decision::ChosenByModel, None);
    for row in all.iter_mut().filter(|row| row.decision == Decision::ChosenByModel) {
        row.least_blocks = choice.least_blocks;
    }
    (choice, all)
}

/// The time of an alternative by the original's; `None` if it is out.
fn relative(one: &Weighed, original: &Weighed) -> Option<f64> {
    let (ours, theirs) = (one.prediction.as_ref()?, original.prediction.as_ref()?);
    Some(ours.time / theirs.time).filter(|ratio| !one.pruned && ratio.is_finite())
}

fn rows(weighed: Vec<Vec<Weighed>>, chosen: usize, decision: Decision, reason: Option<&str>) -> Vec<Row> {
    let mut rows = Vec::new();
    for mut chip in weighed {
        if let Some(one) = chip.get_mut(chosen) {
            one.row.decision = decision;
            one.row.reason = reason.map(str::to_owned);
        }
        rows.extend(chip.into_iter().map(|one| one.row));
    }
    rows
}

/// Chooses by measured times. `Err` says why they choose nothing.
pub fn by_profile(
    launch: &LaunchCandidates,
    chip: &Chip<'_>,
    target: &str,
    database: &Database,
    version: &str,
) -> Result<(usize, Vec<Row>), Missing> {
    let query = Query {
        kernel: &launch.kernel,
        hash: &launch.content,
        block: launch.shape,
        target,
        version,
        // Those that were pruned then were not measured, and which these were only the assembler knows.
        candidates: &[],
    };
    let choice = database.choose(&query, &Policy::default())?;
    let at = launch.candidates.iter().position(|candidate| candidate.grain == choice.grain);
    let at = at.ok_or(Missing::OtherSpace(choice.grain))?;
    let reason = format!(
        "{:.3} times as fast as the original, measured with {} launch shapes and {} grains",
        choice.gain(),
        choice.shapes,
        choice.candidates
    );
    Ok((at, rows(vec![weigh(launch, chip)], at, Decision::ChosenByProfile, Some(&reason))))
}

/// The alternatives that a profiling program tries: all that are not pruned on any chip.
pub fn to_be_timed(launch: &LaunchCandidates, chips: &[Chip<'_>]) -> (Vec<usize>, Vec<Row>) {
    let mut weighed: Vec<Vec<Weighed>> = chips.iter().map(|chip| weigh(launch, chip)).collect();
    let kept: Vec<usize> =
        (0..launch.candidates.len()).filter(|at| weighed.iter().all(|chip| !chip[*at].pruned)).collect();
    for chip in &mut weighed {
        for at in &kept {
            chip[*at].row.decision = Decision::Profiled;
        }
    }
    (kept, weighed.into_iter().flatten().map(|one| one.row).collect())
}

/// The alternatives that a program chooses among by itself: the original, and of those that are not pruned on any chip the best by the
/// model, `most` at most, each with code of its own. Gives further the one that the model chooses, which is among them.
pub fn to_be_kept(launch: &LaunchCandidates, chips: &[Chip<'_>], most: usize) -> (Vec<usize>, usize, Vec<Row>) {
    let chosen = by_model(launch, chips).0.at;
    let mut weighed: Vec<Vec<Weighed>> = chips.iter().map(|chip| weigh(launch, chip)).collect();
    let mean = |at: usize| -> Option<f64> { weighed.iter().map(|chip| relative(&chip[at], &chip[0])).sum() };
    let mut order: Vec<(f64, usize)> = (1..launch.candidates.len()).filter_map(|at| Some((mean(at)?, at))).collect();
    // What the model chooses comes first: it may have the code of one that ranks higher, and stays for its number of tasks.
    order.sort_by(|a, b| (a.1 != chosen).cmp(&(b.1 != chosen)).then(a.0.total_cmp(&b.0)));
    let code = |at: usize| launch.candidates[at].grain.with_usual_tasks();
    let mut kept = vec![0];
    for (_, at) in order {
        let is_new = !kept.iter().any(|other| code(*other) == code(at));
        if kept.len() <= most && (is_new || at == chosen) {
            kept.push(at);
        }
    }
    kept.sort_unstable();
    for chip in &mut weighed {
        for at in &kept {
            chip[*at].row.decision = if kept.len() > 1 { Decision::Adaptive } else { Decision::ChosenByModel };
        }
    }
    (kept, chosen, weighed.into_iter().flatten().map(|one| one.row).collect())
}

/// The alternatives that are worth assembling for the model, when nobody said which to try: those that could win by estimated
/// registers, the best first, and no more than `most`.
pub fn promising(launch: &LaunchCandidates, chips: &[Chip<'_>], most: usize) -> Vec<usize> {
    let ratio = |at: usize| {
        let all = chips.iter().map(|chip| {
            let time = |at: usize| Some(chip.predict(launch, &launch.candidates[at])?.time);
            Some(time(at)? / time(0)?)
        });
        all.sum::<Option<f64>>().filter(|sum| sum.is_finite())
    };
    let even = chips.len() as f64;
    let mut found: Vec<(f64, usize)> =
        (1..launch.candidates.len()).filter_map(|at| Some((ratio(at).filter(|r| *r < even)?, at))).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().take(most).map(|(_, at)| at).collect()
}

/// What to say of the alternatives that are not assembled because those in `promising` look better; without any the original
/// is chosen here.
pub fn passed_before_assembly(launch: &LaunchCandidates, chips: &[Chip<'_>], promising: &[usize]) -> Vec<Row> {
    let mut rows = Vec::new();
    for chip in chips {
        for (at, mut one) in weigh(launch, chip).into_iter().enumerate() {
            match at {
                0 if promising.is_empty() => one.row.decision = Decision::ChosenByModel,
                0 => continue,
                at if promising.contains(&at) => continue,
                _ => {}
            }
            one.row.reason = Some("by estimated registers, without assembling it".into());
            rows.push(one.row);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use regrain_tuning::statistics::{Kind, Statistics};

    use regrain_tuning::limits::CpuLimits;

    use super::*;

    fn chip(limits: &CpuLimits) -> [Chip<'_>; 1] {
        [Chip { name: "cpu".into(), source: "a.cu", processor: Processor::Cpu(limits), resources: BTreeMap::new() }]
    }

    /// A kernel with little to do in a block, at some grains.
    fn launch(grains: &[&str]) -> LaunchCandidates {
        let candidate = |name: &&str| {
            let grain: Grain = name.parse().expect("a grain");
            let copies = grain.block_total() as f64;
            let mut statistics = Statistics { blocks: grain.blocks, threads: grain.threads, ..Statistics::default() };
            statistics.block = [16.0.into(), 1.0.into(), 1.0.into()];
            statistics.counts.insert(Kind::F32, (4.0 * copies).into());
            Candidate { grain, statistics: Some(statistics), epilogues: 0 }
        };
        let candidates = grains.iter().map(candidate).collect();
        LaunchCandidates {
            symbol: "s".into(),
            kernel: "k".into(),
            shape: Some([16, 1, 1]),
            content: String::new(),
            candidates,
        }
    }

    #[test]
    fn the_usual_tasks_stay_where_others_are_hardly_better() {
        let limits = CpuLimits { cores: 2, ..CpuLimits::default() };
        let chips = chip(&limits);
        let launch = launch(&["original", "b4x1x1", "b4x1x1p200"]);
        let (Choice { at: chosen, .. }, rows) = by_model(&launch, &chips);
        let time = |at: usize| rows[at].prediction.as_ref().expect("a prediction").time;
        assert!(time(2) < time(1) && time(1) < 0.9 * time(0), "{rows:?}");
        assert_eq!(chosen, 1);
    }

    fn kept(grains: &[&str], most: usize) -> (Vec<String>, String) {
        let limits = CpuLimits { cores: 2, ..CpuLimits::default() };
        let launch = launch(grains);
        let (kept, chosen, rows) = to_be_kept(&launch, &chip(&limits), most);
        let name = |at: &usize| launch.candidates[*at].grain.to_string();
        let adaptive: Vec<String> =
            rows.iter().filter(|row| row.decision == Decision::Adaptive).map(|row| row.grain.clone()).collect();
        let kept: Vec<String> = kept.iter().map(name).collect();
        assert!(adaptive == kept || kept.len() == 1, "{rows:?}");
        (kept, name(&chosen))
    }

    #[test]
    fn a_program_that_chooses_gets_the_original_and_the_best_with_code_of_their_own() {
        let grains = ["original", "b2x1x1", "b4x1x1", "b8x1x1", "p1", "p64", "b8x1x1p64"];
        assert_eq!(kept(&grains, 2), (vec!["original".into(), "b4x1x1".into(), "b8x1x1".into()], "b8x1x1".into()));
        assert_eq!(kept(&grains, 8).0, ["original", "b2x1x1", "b4x1x1", "b8x1x1"]);
        assert_eq!(kept(&["original"], 2), (vec!["original".into()], "original".into()));
    }

    #[test]
    fn what_the_model_chooses_is_among_what_is_kept() {
        // Another number of tasks has no code of its own, but where the model chooses it, it stays.
        assert_eq!(
            kept(&["original", "b4x1x1p200"], 1),
            (vec!["original".into(), "b4x1x1p200".into()], "b4x1x1p200".into())
        );
    }

    #[test]
    fn tasks_without_the_usual_ones_beside_them_are_weighed_against_the_original() {
        let limits = CpuLimits { cores: 2, ..CpuLimits::default() };
        let chips = chip(&limits);
        assert_eq!(by_model(&launch(&["original", "b4x1x1p200"]), &chips).0.at, 1);
        assert_eq!(by_model(&launch(&["original", "p1", "p200"]), &chips).0.at, 0);
    }
}
