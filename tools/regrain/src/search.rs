//! The search for the grain of each launch: which alternatives are tried, and which of them stay.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use anyhow::{Context, Result};
use inkwell::targets::TargetMachine;
use regrain_passes::alternatives::candidates::{Kept, Launch};
use regrain_passes::alternatives::expand_alternatives::{LeftOut, Omission};
use regrain_passes::launch::launch_function::described;
use regrain_targets::nvptx::DeviceImage;
use regrain_targets::toolkit::SmArch;
use regrain_tuning::database::Database;
use regrain_tuning::limits::{CpuLimits, limits};
use regrain_tuning::occupancy::Resources;
use regrain_tuning::{Grain, Space, VERSION};

use crate::args::Args;
use crate::choice::{self, Chip};
use crate::decisions::{Decision, Row, Statement, publish};
use crate::diagnostics::Missed;
use crate::parallel::Search;

/// Alternatives of a kernel that are assembled where nobody said which to try, beside the original.
const MOST_ASSEMBLED: usize = 3;

/// What launches are tuned for.
enum Target {
    Cpu(CpuLimits),
    Gpus(Vec<SmArch>),
}

/// A search, with what it found out so far.
pub struct Searcher<'s> {
    args: &'s Args,
    source: String,
    missed: &'s Missed,
    target: Target,
    database: Option<Database>,
    rows: RefCell<Vec<Row>>,
}

impl<'s> Searcher<'s> {
    /// A search for the CPU.
    pub fn for_cpu(args: &'s Args, source: &Path, missed: &'s Missed) -> Result<Self> {
        Self::new(args, source, missed, Target::Cpu(CpuLimits::native()))
    }

    /// A search for GPUs, all of which run what is chosen.
    pub fn for_gpus(args: &'s Args, source: &Path, missed: &'s Missed, archs: &[SmArch]) -> Result<Self> {
        Self::new(args, source, missed, Target::Gpus(archs.to_vec()))
    }

    fn new(args: &'s Args, source: &Path, missed: &'s Missed, target: Target) -> Result<Self> {
        let database = args.profile_use.as_deref().map(|path| {
            // A database that is not there yet is an empty one to those who write it, but not to us.
            std::fs::metadata(path).with_context(|| format!("cannot read tuning database '{}'", path.display()))?;
            let database = Database::open(path)?;
            for warning in database.warnings() {
                eprintln!("{warning}");
            }
            Ok::<_, anyhow::Error>(database)
        });
        let (source, rows) = (source.display().to_string(), RefCell::default());
        Ok(Self { args, source, missed, target, database: database.transpose()?, rows })
    }

    /// What the target is called in a tuning database.
    pub fn target_name(&self) -> String {
        match &self.target {
            Target::Cpu(limits) => {
                let host = || TargetMachine::get_host_cpu_name().to_string_lossy().into_owned();
                format!("cpu:{}x{}", self.args.cpu.clone().unwrap_or_else(host), limits.cores)
            }
            Target::Gpus(archs) => archs.iter().map(ToString::to_string).collect::<Vec<_>>().join("+"),
        }
    }

    fn chips(&self, mut resources: BTreeMap<String, BTreeMap<(String, Grain), Resources>>) -> Vec<Chip<'_>> {
        match &self.target {
            Target::Cpu(limits) => vec![Chip::cpu("cpu".into(), &self.source, limits)],
            Target::Gpus(archs) => archs
                .iter()
                .map(ToString::to_string)
                .map(|arch| {
                    let reports = resources.remove(&arch).unwrap_or_default();
                    let limits = limits(&arch);
                    Chip::gpu(arch, &self.source, limits, reports)
                })
                .collect(),
        }
    }

    /// The choice by measured times, if there are any that fit.
    fn by_profile(&self, launch: &Launch) -> Option<Grain> {
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
                self.missed.say(&text);
                None
            }
        }
    }

    /// Chooses when the assembler has spoken: which alternatives stay. `images` holds, for each GPU, the kernels by themselves,
    /// `mains` says whose launches they are.
    pub fn decide(
        &self,
        launches: &[Launch],
        resources: BTreeMap<String, BTreeMap<(String, Grain), Resources>>,
    ) -> Kept {
        let chips = self.chips(resources);
        let mut kept = Kept::new();
        for launch in launches {
            let (numbers, rows) = if self.args.profile_generate {
                choice::to_be_timed(launch, &chips)
            } else {
                let (at, rows) = choice::by_model(launch, &chips);
                (vec![at], rows)
            };
            self.rows.borrow_mut().extend(rows);
            kept.insert(launch.symbol.clone(), numbers.into_iter().map(|at| launch.candidates[at].grain).collect());
        }
        kept
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
        publish(&statements, self.args.remarks, self.args.report.as_deref())?;
        Ok(statements)
    }
}

impl Search for Searcher<'_> {
    fn space(&self, shape: Option<[u32; 3]>) -> Space {
        let usual = || match self.target {
            Target::Cpu(_) => Space::for_cpu(shape),
            Target::Gpus(_) => Space::for_gpu(shape),
        };
        self.args.alternatives.clone().unwrap_or_else(usual)
    }

    fn left_out(&self, omissions: &[Omission]) {
        let targets: Vec<String> = self.chips(BTreeMap::new()).into_iter().map(|chip| chip.name).collect();
        for (omission, target) in
            omissions.iter().flat_map(|omission| targets.iter().map(move |target| (omission, target)))
        {
            let decision = match omission.reason {
                LeftOut::Refused(_) | LeftOut::MayWait => Decision::Declined,
                _ => Decision::Pruned,
            };
            let mut row = Row::new(&self.source, &omission.kernel, omission.shape, target, omission.grain, decision);
            row.reason = Some(omission.reason.to_string());
            self.rows.borrow_mut().push(row);
        }
    }

    fn keep(&self, launch: &Launch) -> Vec<Grain> {
        if let Some(grain) = self.by_profile(launch) {
            return vec![grain];
        }
        let all = || launch.candidates.iter().map(|candidate| candidate.grain).collect();
        match &self.target {
            // Nothing is assembled for a CPU: all is known.
            Target::Cpu(_) => {
                self.decide(std::slice::from_ref(launch), BTreeMap::new()).remove(&launch.symbol).unwrap_or_default()
            }
            Target::Gpus(_) if self.args.profile_generate || self.args.alternatives.is_some() => all(),
            Target::Gpus(_) => {
                let chips = self.chips(BTreeMap::new());
                let found = choice::promising(launch, &chips, MOST_ASSEMBLED);
                self.rows.borrow_mut().extend(choice::passed_before_assembly(launch, &chips, &found));
                std::iter::once(0).chain(found).map(|at| launch.candidates[at].grain).collect()
            }
        }
    }
}

/// The reports of one chip, by the launches that they are of. `mains` are the kernels of the alternatives, `images` those
/// kernels in that order (`None`: not assembled), `whole` is clang's module with the original kernels.
pub fn resources(
    launches: &[Launch],
    mains: &[(String, Grain, String)],
    images: &[Option<DeviceImage>],
    whole: &DeviceImage,
) -> BTreeMap<(String, Grain), Resources> {
    let of =
        |image: &DeviceImage, name: &str| image.reports.iter().find(|report| report.name == name).map(as_resources);
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

fn as_resources(report: &regrain_targets::nvptx::Report) -> Resources {
    Resources {
        registers: report.registers,
        spill_stores: report.spill_stores,
        spill_loads: report.spill_loads,
        stack: report.stack_frame,
        static_shared: report.shared,
        dynamic_shared: 0,
    }
}
