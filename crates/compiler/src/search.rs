//! The search for the grain of each launch: which alternatives are tried, and which of them stay.
//!
//! # The search for a grain
//!
//! ```text
//! @__regrain_dispatch.k ─ regrain-expand-alternatives ─ optimised ─ statistics ─┬─ CPU, or a profile that fits: one stays ────────┐
//!                         (refused, shared memory, size: left out)              └─ GPU: isolate ─ each kernel assembled by itself ─┴─ lowered, linked in
//!                                                                                  (in parallel, through the cache) ─ pruned ─ ranked
//! ```
//!
//! - The search space is `-fregrain-alternatives=`, else `Space::for_gpu` or `for_cpu` by the block shape, marked on each dispatch function
//!   (`regrain.space`) because a pass knows no target. It is a sum of products of block factors, thread factors and *blocks per task*, the
//!   number that a thread of the CPU's pool takes from a grid at once (`p16`; usually a sixteenth of an even share, at most 256). A CPU's own space
//!   tries 1 and 64 of the original grain alone; a GPU has none, and stating it there is an error. The number is a matter of the launch:
//!   `regrain.tasks` on the wrapper becomes a call of `__regrain_blocks_per_task` before `cudaLaunchKernel`, and kernels that differ in nothing
//!   else are one. It changes no result; kernels whose blocks may wait for one another get no larger tasks than the usual. Where the host launches a kernel with constant block shapes, only those get
//!   alternatives. A body of more than 8000 operations is left out, on a CPU of more than 2000, of more than 64000 where the space is stated.
//! - On a GPU the kernel of each alternative is taken out of its module (`regrain_targets::extract` reads no other bodies), compiled and
//!   assembled on its own; the key of the cache (`regrain_targets::cache`) is the hash of that bitcode, of all options, the toolkit and this
//!   compiler, so a change of one kernel reassembles no other. Clang's module is compiled beside them and is the result where nothing
//!   was chosen. Where no space is stated, the model first ranks by estimated registers, and only its best three alternatives are
//!   assembled.
//! - What a search for GPUs led to is remembered for the whole source (`search_cache.rs`, in the same cache): images, host code, remarks and rows of the
//!   report. The key is the hash of clang's device code for each chip, the constant shapes of launches, the options and the tuning
//!   database; a rebuild that hits raises nothing and says and makes the same. Dumps, `-fregrain-specialize`, and versions that failed
//!   to assemble are not remembered.
//! - On a GPU what the model chooses is for large grids: `regrain-choose-by-grid` lets launches of fewer blocks than pay run the original.
//! - Pruning (`tuning::prune`) and the choice (`tuning::model`, or `tuning::choice` from a database) are arithmetic on plain data. An
//!   alternative must beat the original by a margin. For several chips one alternative is chosen, by the mean of its relative times; it is
//!   out if one chip prunes it.
//! - `-fregrain-profile-generate` keeps all that is not pruned: `regrain-profile-alternatives` makes the host code ask the profiler.
//!   `-fregrain-profile-use` selects before anything is assembled. A record fits by the hash of the kernel in parallel form
//!   (`regrain-hash-kernels`), its block shape, target and version; else the model decides and a remark says why.
//! - `-fregrain-adaptive` keeps the original and up to three more, the best by the model, and `regrain-profile-alternatives` makes the host
//!   code ask the profiler's crate, which settles on one (`profiler::adaptive`). What the model would have chosen runs first.
//! - Where the user states no space and measures nothing, the search has a *budget* (`-fregrain-search-budget=`): a quarter of
//!   the time that clang took for the device side, at least 0.3 s, on the CPU 0.2 s. What looks as if most time went there comes first; launches that are not reached keep their grain, with
//!   one remark.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::Instant;

use regrain_passes::alternatives::candidates::{Kept, LaunchCandidates};
use regrain_passes::alternatives::expand_alternatives::{Omission, USUAL_OPERATIONS, USUAL_OPERATIONS_OF_BLOCKS};
use regrain_passes::launch::launch_function::described;
use regrain_targets::image::Image;
use regrain_targets::target::Code;
use regrain_targets::{Arch, Report, Target};
use regrain_tuning::database::Database;
use regrain_tuning::model::Processor;
use regrain_tuning::occupancy::Resources;
use regrain_tuning::{Grain, Space, VERSION};

use crate::choice::{self, Chip, Choice};
use crate::decisions::{Decision, Row, Statement, publish};
use crate::diagnostics::RemarkLog;
use crate::error::Result;
use crate::grains::Search;
use crate::options::Options;

/// Alternatives of a kernel that are assembled where nobody said which to try, beside the original.
const MOST_ASSEMBLED: usize = 3;

/// Alternatives that a program chooses among by itself, beside the original.
const MOST_ADAPTIVE: usize = 3;

/// The most operations of a body that was asked for (`-fregrain-alternatives=`); assemblers take minutes for larger ones.
const STATED_OPERATIONS: i64 = 64_000;

/// A search, with what it found out so far.
pub struct Searcher<'s> {
    options: &'s Options,
    source: String,
    remarks: &'s RemarkLog,
    target: &'static dyn Target,
    /// The architectures, which all run what is chosen, and what the model knows of them.
    archs: Vec<(String, Processor<'static>)>,
    database: Option<Database>,
    deadline: Option<Instant>,
    rows: RefCell<Vec<Row>>,
    firsts: RefCell<BTreeMap<String, Grain>>,
    least_blocks: RefCell<BTreeMap<String, u64>>,
}

impl<'s> Searcher<'s> {
    /// A search for architectures of one target, all of which run what is chosen. Nothing is begun behind the `deadline`.
    ///
    /// # Errors
    /// A tuning database that cannot be read.
    pub fn new(
        options: &'s Options,
        source: &Path,
        remarks: &'s RemarkLog,
        target: &'static dyn Target,
        archs: &[&Arch],
        deadline: Option<Instant>,
    ) -> Result<Self> {
        let known = |arch: &&Arch| Ok((arch.name.clone(), target.processor(&arch.name)?));
        let archs = archs.iter().map(known).collect::<Result<Vec<_>>>()?;
        let database = options.profile_use.as_deref().map(|path| {
            let database = Database::open(path)?;
            for warning in database.warnings() {
                eprintln!("{warning}");
            }
            Ok::<_, crate::error::Error>(database)
        });
        Ok(Self {
            options,
            source: source.display().to_string(),
            remarks,
            archs,
            target,
            database: database.transpose()?,
            deadline,
            rows: RefCell::default(),
            firsts: RefCell::default(),
            least_blocks: RefCell::default(),
        })
    }

    /// When the search ends.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// What the target is called in a tuning database.
    pub fn target_name(&self) -> String {
        let archs: Vec<&str> = self.archs.iter().map(|(name, _)| name.as_str()).collect();
        self.target.record_name(&archs, self.options.cpu.as_deref())
    }

    fn chips(&self, mut resources: BTreeMap<String, BTreeMap<(String, Grain), Resources>>) -> Vec<Chip<'_>> {
        let mut chip = |(name, processor): &(String, Processor<'static>)| {
            let resources = resources.remove(name).unwrap_or_default();
            Chip { name: name.clone(), source: &self.source, processor: *processor, resources }
        };
        self.archs.iter().map(&mut chip).collect()
    }

    /// The choice by measured times, if there are any that fit.
    fn by_profile(&self, launch: &LaunchCandidates) -> Option<Grain> {
        let database = self.database.as_ref()?;
        let chips = self.chips(BTreeMap::new());
        match choice::by_profile(launch, chips.first()?, &self.target_name(), database, VERSION) {
            Ok((at, rows)) => {
                self.rows.borrow_mut().extend(rows);
                Some(launch.candidates[at].grain)
            }
            Err(missing) => {
                let (source, kernel) = (&self.source, described(&launch.kernel, launch.shape));
                let text = format!("{source}: remark: {kernel}: the model decides: {missing} [-Rpass-missed=regrain]");
                self.remarks.say(&text);
                None
            }
        }
    }

    /// Chooses when the assembler has spoken: which alternatives stay. `images` holds, for each GPU, the kernels by themselves,
    /// `mains` says whose launches they are.
    pub fn decide(
        &self,
        launches: &[LaunchCandidates],
        resources: BTreeMap<String, BTreeMap<(String, Grain), Resources>>,
    ) -> Kept {
        let chips = self.chips(resources);
        let mut kept = Kept::new();
        for launch in launches {
            let (numbers, rows) = if self.options.profile_generate {
                choice::to_be_timed(launch, &chips)
            } else if self.options.adaptive {
                let (kept, chosen, rows) = choice::to_be_kept(launch, &chips, MOST_ADAPTIVE);
                self.firsts.borrow_mut().insert(launch.symbol.clone(), launch.candidates[chosen].grain);
                (kept, rows)
            } else {
                let (Choice { at, least_blocks }, rows) = choice::by_model(launch, &chips);
                match least_blocks {
                    Some(blocks) => {
                        self.least_blocks.borrow_mut().insert(launch.symbol.clone(), blocks);
                        (vec![0, at], rows)
                    }
                    None => (vec![at], rows),
                }
            };
            self.rows.borrow_mut().extend(rows);
            kept.insert(launch.symbol.clone(), numbers.into_iter().map(|at| launch.candidates[at].grain).collect());
        }
        kept
    }

    /// What programs that choose by themselves run before they know anything, by the host function's name.
    pub fn firsts(&self) -> BTreeMap<String, Grain> {
        self.firsts.borrow().clone()
    }

    /// From how many blocks on launches run what was chosen for them, by the host function's name; below, the original.
    pub fn least_blocks(&self) -> BTreeMap<String, u64> {
        self.least_blocks.borrow().clone()
    }

    /// The measured times that it chooses by, all of them.
    pub fn database_text(&self) -> String {
        self.database.as_ref().map_or(String::new(), |database| format!("{database:?}"))
    }

    /// Gives the remarks, and writes the report. What was said comes back.
    pub fn publish(&self) -> Result<Vec<Statement>> {
        // What holds for all chips was said once for each of them.
        let mut rows = self.rows.borrow().clone();
        let mut said = HashSet::new();
        rows.retain(|row| said.insert((row.kernel.clone(), row.block, row.target.clone(), row.grain.clone())));
        let statements = rows.iter().map(Statement::new).collect::<Result<Vec<_>>>()?;
        publish(&statements, self.remarks, self.options.report.as_deref())?;
        Ok(statements)
    }
}

impl Search for Searcher<'_> {
    fn space(&self, shape: Option<[u32; 3]>) -> Space {
        self.options.alternatives.clone().unwrap_or_else(|| self.target.usual_space(shape))
    }

    fn most_operations(&self) -> i64 {
        match self.target.code() {
            _ if self.options.alternatives.is_some() => STATED_OPERATIONS,
            Code::Kernels(_) => USUAL_OPERATIONS,
            Code::Blocks(_) => USUAL_OPERATIONS_OF_BLOCKS,
        }
    }

    fn left_out(&self, omissions: &[Omission]) {
        let targets: Vec<String> = self.chips(BTreeMap::new()).into_iter().map(|chip| chip.name).collect();
        for (omission, target) in
            omissions.iter().flat_map(|omission| targets.iter().map(move |target| (omission, target)))
        {
            let decision = if omission.is_declined { Decision::Declined } else { Decision::Pruned };
            let mut row = Row::new(&self.source, &omission.kernel, omission.shape, target, omission.grain, decision);
            row.reason = Some(omission.reason.clone());
            self.rows.borrow_mut().push(row);
        }
    }

    fn keep(&self, launch: &LaunchCandidates) -> Vec<Grain> {
        if let Some(grain) = self.by_profile(launch) {
            return vec![grain];
        }
        let all = || launch.candidates.iter().map(|candidate| candidate.grain).collect();
        match self.target.code() {
            // Nothing is assembled by itself: all is known.
            Code::Blocks(_) => {
                self.decide(std::slice::from_ref(launch), BTreeMap::new()).remove(&launch.symbol).unwrap_or_default()
            }
            Code::Kernels(_) if self.options.profile_generate || self.options.alternatives.is_some() => all(),
            Code::Kernels(_) => {
                let chips = self.chips(BTreeMap::new());
                let found = choice::promising(launch, &chips, MOST_ASSEMBLED);
                self.rows.borrow_mut().extend(choice::passed_before_assembly(launch, &chips, &found));
                std::iter::once(0).chain(found).map(|at| launch.candidates[at].grain).collect()
            }
        }
    }

    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn out_of_time(&self, launches: usize) {
        if launches > 0 {
            let (source, archs) = (&self.source, self.archs.iter().map(|(name, _)| name.as_str()));
            let archs = archs.collect::<Vec<_>>().join(", ");
            self.remarks.say(&format!(
                "{source}: remark: {launches} launches keep their grain on {archs}: the search took as long as it may \
                 (-fregrain-search-budget=) [-Rpass-missed=regrain]"
            ));
        }
    }
}

/// The reports of one chip, by the launches that they are of. `mains` are the kernels of the alternatives, `images` those
/// kernels in that order (`None`: not assembled), `whole` is clang's module with the original kernels.
pub fn resources(
    launches: &[LaunchCandidates],
    mains: &[(String, Grain, String)],
    images: &[Option<Image>],
    whole: &Image,
) -> BTreeMap<(String, Grain), Resources> {
    let of = |image: &Image, name: &str| image.reports.iter().find(|report| report.name == name).map(as_resources);
    let mut found = BTreeMap::new();
    for launch in launches {
        found.extend(of(whole, &launch.kernel).map(|original| ((launch.symbol.clone(), Grain::ORIGINAL), original)));
    }
    for ((symbol, grain, name), image) in mains.iter().zip(images) {
        let report = image.as_ref().and_then(|image| of(image, name));
        found.extend(report.map(|report| ((symbol.clone(), *grain), report)));
    }
    found
}

/// What the back end reported, without the dynamic shared memory that the launch will ask for.
pub fn as_resources(report: &Report) -> Resources {
    Resources {
        registers: report.registers,
        accumulators: report.accumulators,
        scalar_registers: report.scalar_registers,
        scalar_spills: report.scalar_spills,
        spill_stores: report.spill_stores,
        spill_loads: report.spill_loads,
        stack: report.stack_frame,
        static_shared: report.shared,
        ..Resources::default()
    }
}
