//! What the user wants of the compiler, apart from what clang is told.

use std::path::PathBuf;

use regex_lite::Regex;
use regrain_passes::affine::teams::Superposition;
use regrain_targets::image::Piece;
use regrain_targets::toolkit::SmArch;
use regrain_targets::{Arch, Settings};
use regrain_tuning::Space;
use regrain_tuning::calibration::Calibration;
pub use regrain_tuning::calibration::VARIABLE as CALIBRATION;

/// Which remarks of a class are wanted: those whose name the expression is found in.
#[derive(Clone, Debug, Default)]
pub struct Pattern(Option<Regex>);

impl Pattern {
    /// All whose name has a match of a regular expression, as clang's `-Rpass=` takes it.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(expression: &str) -> Result<Self, String> {
        Regex::new(expression).map(|regex| Self(Some(regex))).map_err(|error| error.to_string())
    }

    fn matches(&self, name: &str) -> bool {
        self.0.as_ref().is_some_and(|regex| regex.is_match(name))
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_ref().map(Regex::as_str) == other.0.as_ref().map(Regex::as_str)
    }
}

impl Eq for Pattern {}

/// Remarks about our own work, by clang's kinds. A remark ends in the option that asks for it, as in `[-Rpass=regrain]`; one without
/// says what was missed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// `-Rpass=`: what was done.
    pub passed: Pattern,
    /// `-Rpass-missed=`: what was not, and why.
    pub missed: Pattern,
    /// `-Rpass-analysis=`: the numbers of what was weighed.
    pub analysis: Pattern,
}

impl Remarks {
    /// Whether a remark is wanted.
    pub fn shows(&self, remark: &str) -> bool {
        let head = remark.lines().next().unwrap_or_default();
        let option = head.rsplit_once("[-Rpass").and_then(|(_, end)| end.strip_suffix(']')?.split_once('='));
        let (class, name) = option.unwrap_or(("-missed", "regrain"));
        match class {
            "" => self.passed.matches(name),
            "-analysis" => self.analysis.matches(name),
            _ => self.missed.matches(name),
        }
    }

    /// Whether any remark with this name is wanted.
    pub fn name(&self, name: &str) -> bool {
        [&self.passed, &self.missed, &self.analysis].into_iter().any(|pattern| pattern.matches(name))
    }
}

/// Which side of a source is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// Host and device code, in one object.
    #[default]
    Both,
    /// `--cuda-device-only`
    Device,
    /// `--cuda-host-only`
    Host,
}

/// What is made of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emit {
    /// Which side.
    pub side: Side,
    /// `-S`: text in place of an object.
    pub text: bool,
    /// `-emit-llvm`
    pub llvm: bool,
    /// nvcc's `-fatbin`: one file with the device code for all chips.
    pub fat_binary: bool,
    /// nvcc's `-ptx` for the CPU: what programs load as text.
    pub module_text: bool,
}

/// Which files are wanted beside the output of a source.
#[derive(Clone, Debug, Default)]
pub struct SideFiles {
    /// `-fsave-optimization-record`
    pub record: Option<Record>,
    /// `-ftime-trace`: where the trace goes.
    pub trace: Option<PathBuf>,
    /// `-save-temps`, nvcc's `-keep`.
    pub kept: Option<Kept>,
}

/// The record of optimisation.
#[derive(Clone, Debug)]
pub struct Record {
    /// Where it goes.
    pub path: PathBuf,
    /// LLVM's bitstream in place of YAML.
    pub bitstream: bool,
}

/// What is kept of what is made on the way.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Where.
    pub folder: PathBuf,
    /// By nvcc's names, else by clang's.
    pub as_nvcc: bool,
}

/// How long the search for grains may take, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Budget {
    /// A quarter of the time that clang took for the device side, but at least 0.3 s, on the CPU 0.2 s.
    #[default]
    AsClang,
    /// So many seconds.
    Seconds(f64),
    /// As long as it takes.
    Unlimited,
}

/// What the user wants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// What is made.
    pub emit: Emit,
    /// `-O` level, 0 to 3; `None` where nothing was said.
    pub level: Option<u8>,
    /// `-fgpu-rdc`: device code that is linked with that of other units.
    pub relocatable: bool,
    /// Whether objects say which source lines their code comes from.
    pub lines: bool,
    /// Whether a debugger is to step through device code, which should then be what the program wrote.
    pub debug_device: bool,
    /// What a program holds of the code for each chip; `None` for what is usual.
    pub pieces: Option<Vec<Piece>>,
    /// The chips for which the source sees the architecture of an earlier one.
    pub seen: Vec<(String, SmArch)>,
    /// Processor for device code on the CPU; `None` for this one.
    pub cpu: Option<String>,
    /// What is passed on to the assembler of device code (`-Xcuda-ptxas`).
    pub assembler: Vec<String>,
    /// What is said of some targets alone.
    pub settings: Settings,
    /// `-fregrain-check=`: what is checked while kernels run, a sum of `regrain_targets::target::CHECKS`.
    pub checks: u32,
    /// `-fregrain-round-trip`: code from the parallel form even where no transformation fired.
    pub round_trip: bool,
    /// `-fregrain-emulate=`: the CPU runs what is made for this architecture.
    pub emulate: Option<Arch>,
    /// `-fregrain-specialize`: versions of kernels for constant block shapes on a GPU too.
    pub specialize: bool,
    /// `-fregrain-coarsen-blocks=`: this grain for every kernel where it is right, as an option of the pass.
    pub coarsen_blocks: Option<String>,
    /// `-fregrain-coarsen-threads=`: likewise for threads.
    pub coarsen_threads: Option<String>,
    /// `-fregrain-alternatives=`: which grains are tried; `None` for the target's own choice.
    pub alternatives: Option<Space>,
    /// `-fregrain-search-budget=`
    pub budget: Budget,
    /// `-fregrain-profile-generate`: the program tries alternatives and times them.
    pub profile_generate: bool,
    /// `-fregrain-adaptive`: the program chooses among a few alternatives by itself.
    pub adaptive: bool,
    /// `-fregrain-profile-use=`: a tuning database to choose by.
    pub profile_use: Option<PathBuf>,
    /// `-fregrain-dump-ir=`
    pub dump_ir: Option<PathBuf>,
    /// `-fregrain-resource-usage`
    pub resource_usage: bool,
    /// `-fregrain-report=`: where what was decided about grains goes, one JSON object on a line.
    pub report: Option<PathBuf>,
    /// `-fregrain-parallelize`: launches are made of loops of C and C++.
    pub parallelize: bool,
    /// `-fregrain-parallelize-from=`: the operations that a launch made of loops is to have.
    pub parallelize_from: Option<u64>,
    /// `-fregrain-parallelize-tiles=`: the iterations of a tile in each dimension where tiles run in waves.
    pub parallelize_tiles: Option<Vec<i64>>,
    /// What things take on the machine, for what is made of loops.
    pub calibration: Calibration,
    /// `-fregrain-parallelize-schedule=`: whether threads go by another loop than blocks.
    pub parallelize_schedule: Superposition,
    /// `-fregrain-emit-cuda=`: where what loops became is written as CUDA C++.
    pub emit_cuda: Option<PathBuf>,
    /// Which remarks are wanted.
    pub remarks: Remarks,
}

impl Options {
    /// The level of optimisation of device code, which is optimised unless the user says otherwise.
    pub fn device_level(&self) -> u8 {
        self.level.unwrap_or(3)
    }

    /// The options without what only decides where results go and what is shown of them: what is made of the same device code
    /// by the same of these is the same. Of a tuning database the content counts, not the name.
    pub(crate) fn that_matter(&self) -> Self {
        Self {
            remarks: Remarks::default(),
            report: None,
            resource_usage: false,
            profile_use: self.profile_use.as_ref().map(|_| PathBuf::new()),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_makes_no_difference() {
        let plain = Options { level: Some(2), ..Options::default() };
        let all = Pattern::parse(".*").unwrap();
        let shown = Options {
            remarks: Remarks { passed: all.clone(), missed: all.clone(), analysis: all },
            report: Some("r".into()),
            resource_usage: true,
            ..plain.clone()
        };
        assert_eq!(plain.that_matter(), shown.that_matter());
        let by = |path: &str| Options { profile_use: Some(path.into()), ..plain.clone() }.that_matter();
        assert_eq!(by("a"), by("b"));
        assert_ne!(by("a"), plain.that_matter());
    }

    #[test]
    fn what_is_searched_makes_a_difference() {
        let plain = Options { level: Some(2), ..Options::default() };
        let others = [
            Options { level: Some(3), ..plain.clone() },
            Options { alternatives: Some("blocks=1,2".parse().expect("a space")), ..plain.clone() },
            Options { profile_generate: true, ..plain.clone() },
            Options { adaptive: true, ..plain.clone() },
            Options { round_trip: true, ..plain.clone() },
            Options { checks: 1, ..plain.clone() },
            Options { lines: true, ..plain.clone() },
            Options { assembler: vec!["--maxrregcount=32".into()], ..plain.clone() },
            Options { budget: Budget::Seconds(1.0), ..plain.clone() },
        ];
        for other in others {
            assert_ne!(plain.that_matter(), other.that_matter(), "{other:?}");
        }
    }

    #[test]
    fn remarks_are_selected_by_name_and_class() {
        let wanted = Remarks { analysis: Pattern::parse("vectorize|split").unwrap(), ..Remarks::default() };
        assert!(
            wanted.shows("a.cu:1:2: remark: rows [-Rpass-analysis=regrain-vectorize-threads]\nfloat x[4]\n      ^")
        );
        assert!(!wanted.shows("a.cu:1:2: remark: rows [-Rpass=regrain-vectorize-threads]"));
        assert!(!wanted.shows("a.cu: remark: grain original is passed over [-Rpass-analysis=regrain]"));
        assert!(!wanted.shows("a.cu: remark: not raised"));
        assert!(wanted.name("regrain-vectorize-threads") && !wanted.name("regrain"));
        let missed = Remarks { missed: Pattern::parse("^regrain$").unwrap(), ..Remarks::default() };
        assert!(missed.shows("a.cu: remark: not raised"));
        assert!(Pattern::parse("(").is_err());
    }
}
