//! The command line: what is ours, what is clang's.
//!
//! A table, not a general parser: options that are not in it go to clang as they are, so the driver never stands in
//! the way of an option that clang knows.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use regrain_compiler::{Budget, Options, Pattern, Side};

/// What an invocation makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Output {
    /// An executable or shared library.
    #[default]
    Linked,
    /// `-c`
    Object,
    /// `-S`
    Assembly,
    /// `-E`, `-M`, `-MM`, `-fsyntax-only`, `--version` and the like: clang's own affair altogether.
    ClangOnly,
}

/// An input file with the language that `-x` or its name gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Path, or `-`.
    pub path: PathBuf,
    /// Whether it is CUDA source.
    pub cuda: bool,
    /// The language that `-x` named, if one did.
    pub language: Option<String>,
    /// A source file; otherwise something for the linker.
    pub source: bool,
}

/// A parsed command line.
#[derive(Clone, Debug, Default)]
pub struct Args {
    /// Inputs in order.
    pub inputs: Vec<Input>,
    /// `-o`
    pub output: Option<PathBuf>,
    /// What is made.
    pub kind: Output,
    /// `--offload-arch=`, in the order given, split at commas.
    pub archs: Vec<String>,
    /// `-fregrain-emulate=`
    pub emulate: Option<String>,
    /// `--cuda-path=`
    pub cuda_path: Option<PathBuf>,
    /// `-v`
    pub verbose: bool,
    /// `-###`
    pub dry_run: bool,
    /// `-ftime-report`, of which clang is told too.
    pub time_report: bool,
    /// `--help`
    pub help: bool,
    /// What the compiler itself is asked for.
    pub options: Options,
    /// What compiling gets: everything that is not listed here and not for the linker alone.
    pub compile: Vec<OsString>,
    /// What linking gets, in order with the inputs that are not sources.
    pub link: Vec<OsString>,
    /// Everything as it was given, response files expanded.
    pub all: Vec<OsString>,
}

/// Options of clang that take the next argument as their value.
const WITH_VALUE: &[&str] = &[
    "--param",
    "-B",
    "-D",
    "-F",
    "-I",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-U",
    "-Xarch_device",
    "-Xarch_host",
    "-Xassembler",
    "-Xclang",
    "-Xcuda-fatbinary",
    "-Xcuda-ptxas",
    "-Xpreprocessor",
    "-arch",
    "-aux-info",
    "-dumpbase",
    "-idirafter",
    "-imacros",
    "-include",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-iwithprefix",
    "-mllvm",
    "-target",
];

/// The same, for the linker alone.
const LINK_WITH_VALUE: &[&str] = &["-L", "-T", "-Xlinker", "-e", "-l", "-rpath", "-u", "-z"];

/// Prefixes of options for the linker alone.
const LINK_PREFIXES: &[&str] = &[
    "-L",
    "-l",
    "-Wl,",
    "-rdynamic",
    "-static",
    "-shared",
    "-nostdlib",
    "-nostartfiles",
    "-fuse-ld=",
    "-rpath",
    "-pie",
    "-no-pie",
    "-s",
];

/// Those of them that look like one but concern compiling.
const NOT_LINK: &[&str] = &["-std", "-save-temps", "-stdlib", "-serialize-diagnostics", "-static-libstdc"];

/// Options after which clang compiles nothing of CUDA that would need us.
const CLANG_ONLY: &[&str] = &[
    "--help",
    "--version",
    "-E",
    "-M",
    "-MM",
    "-dumpmachine",
    "-dumpversion",
    "-fsyntax-only",
    "-help",
    "-print-search-dirs",
    "-print-resource-dir",
    "-print-libgcc-file-name",
    "--print-search-dirs",
    "-print-multiarch",
];

/// What the driver adds to clang's options, for `--help`.
pub const HELP: &str = "\
OVERVIEW: Regrain, clang for CUDA at any grain

USAGE: regrain [options] file...

OPTIONS OF REGRAIN:
  --offload-arch=<list>      cpu, sm_NN, gfxNNN; without it the GPU that is there, else cpu
  --cuda-path=<dir>          the CUDA toolkit (default: CUDA_PATH, .toolchain/cuda, /usr/local/cuda, ptxas on PATH)
  --rocm-path=<dir>          AMD's ROCm, for its device libraries (default: ROCM_PATH, /opt/rocm, the system's own)
  --rocm-device-lib-path=<dir>
                             the folder of ocml.bc
  -mcode-object-version=<n>  4, 5 or 6: the form of code for AMD's GPUs (default: 4, which ROCm 5, 6 and 7 load)
  -mwavefrontsize64          on AMD's chips that have both, waves of 64 threads in place of 32
  -fregrain-dump-ir=<dir>    one readable file for each stage
  -fregrain-resource-usage   registers, spills, stack and shared memory of each kernel, from the assembler
  -fregrain-round-trip       code from the parallel form even where nothing was transformed
  -fregrain-emulate=<arch>   for --offload-arch=cpu: the CPU runs what is shipped for this GPU, as it is before instruction selection
  -fregrain-specialize       on NVIDIA, a further version of each kernel for each constant block shape
  -fregrain-coarsen-blocks=<factors>, -fregrain-coarsen-threads=<factors>
                             this grain for every kernel where it is right: N or X,Y,Z
  -fregrain-cpu=<name>       processor for device code on the CPU (default: this one)
  -fregrain-alternatives=<space>
                             the grains that are tried: none, default, or as in blocks=1,2,4:threads=1,2, on the CPU
                             with blocks per task, :tasks=auto,1,64; further ones behind +
  -fregrain-search-budget=<seconds>
                             the most that a search takes where nothing is stated; none; default: a quarter of what clang
                             takes for the device side, at least 0.3, on the CPU 0.2
  -fregrain-report=<file>    append what was decided about each grain, one JSON object on a line
  -fregrain-profile-generate make a program that tries the alternatives and writes their times to a tuning database
                             (REGRAIN_TUNING_DB, else beside the program)
  -fregrain-profile-use=<file>
                             choose by the times in a tuning database
  -fregrain-adaptive         make a program that chooses among up to four versions of each kernel by the times of its own first
                             launches, and remembers what it settled on where REGRAIN_TUNING_DB names a tuning database
  -Rpass=REGEX               of what matches: which grain was chosen (regrain), which thread loops go in rows
                             (regrain-vectorize-threads); clang's passes by their names
  -Rpass-missed=REGEX        why a kernel was not raised, not split, or kept from a grain; why threads go one by one
  -Rpass-analysis=REGEX      the numbers behind the choice of a grain; how threads of rows access memory, by source line

  -ftime-report              where time goes, clang's and ours: by step, by pass and by kernel

  REGRAIN_APPEND_FLAGS       in the environment: options that stand behind those of the command line

Everything else is clang's:
";

/// Options that stand behind those of every command line, as a shell would split them.
const APPEND_FLAGS: &str = "REGRAIN_APPEND_FLAGS";

/// The command line of this process, with what the environment appends.
pub fn of_process() -> Result<Args> {
    let appended = std::env::var(APPEND_FLAGS).unwrap_or_default();
    let words = shlex::split(&appended).with_context(|| format!("unbalanced quotes in {APPEND_FLAGS}"))?;
    parse(std::env::args_os().skip(1).chain(words.into_iter().map(OsString::from)))
}

/// Parses a command line, `@file`s included.
pub fn parse(raw: impl IntoIterator<Item = OsString>) -> Result<Args> {
    let all = expand(raw)?;
    let mut args = Args { all: all.clone(), ..Args::default() };
    let mut language: Option<String> = None;
    let mut rest = all.into_iter();
    while let Some(arg) = rest.next() {
        let text = arg.to_string_lossy().into_owned();
        if text == "-" || !text.starts_with('-') {
            args.add_input(PathBuf::from(arg), language.as_deref());
            continue;
        }
        let mut value =
            |name: &str| rest.next().with_context(|| format!("argument to '{name}' is missing (expected 1 value)"));
        if text == "-x" {
            language = match value("-x")?.to_string_lossy().as_ref() {
                "none" => None,
                name => Some(name.to_owned()),
            };
        } else if text == "-o" {
            args.output = Some(value("-o")?.into());
        } else if args.ours(&text)? {
        } else if WITH_VALUE.contains(&text.as_str()) {
            let next = value(&text)?;
            args.compile.extend([arg, next]);
        } else if LINK_WITH_VALUE.contains(&text.as_str()) {
            let next = value(&text)?;
            args.link.extend([arg, next]);
        } else if let Some(name) = text.strip_prefix("-o").filter(|n| !n.is_empty() && !text.starts_with("-objc")) {
            args.output = Some(name.into());
        } else {
            args.forward(arg, &text);
        }
    }
    args.complete();
    Ok(args)
}

/// Whether an option asks for source lines in the object file; `None` for one that has nothing to do with it.
fn asks_for_lines(option: &str) -> Option<bool> {
    match option {
        "-g0" | "-ggdb0" => Some(false),
        "-g" | "-g1" | "-g2" | "-g3" | "-glldb" | "-gmlt" | "-gline-tables-only" | "-gline-directives-only" => {
            Some(true)
        }
        "-gdwarf-aranges" => None,
        _ => ["-ggdb", "-gdwarf"].iter().any(|kind| option.starts_with(kind)).then_some(true),
    }
}

impl Args {
    /// What the whole command line says of the compiler's options.
    fn complete(&mut self) {
        let options = &mut self.options;
        options.emit.text = self.kind == Output::Assembly;
        // The last option about lines holds.
        options.lines = self.compile.iter().rev().find_map(|option| asks_for_lines(option.to_str()?)).unwrap_or(false);
        options.debug_device =
            self.compile.iter().any(|option| option == "-G" || option == "--cuda-noopt-device-debug");
        let pairs = self.compile.iter().zip(self.compile.iter().skip(1));
        let passed_on = pairs.filter(|(option, _)| *option == "-Xcuda-ptxas");
        options.assembler = passed_on.map(|(_, value)| value.to_string_lossy().into_owned()).collect();
    }

    /// Takes an option that the driver itself handles; `false` leaves it to clang.
    fn ours(&mut self, text: &str) -> Result<bool> {
        let value = |name: &str| text.strip_prefix(name).map(str::to_owned);
        if let Some(list) = value("--offload-arch=").or_else(|| value("--cuda-gpu-arch=")) {
            self.archs.extend(list.split(',').filter(|a| !a.is_empty()).map(str::to_owned));
        } else if let Some(path) = value("--cuda-path=") {
            self.cuda_path = Some(path.into());
        } else if let Some(path) = value("--rocm-path=") {
            self.options.settings.rocm_path = Some(path.into());
        } else if let Some(path) = value("--rocm-device-lib-path=") {
            self.options.settings.device_lib_path = Some(path.into());
        } else if let Some(version) = value("-mcode-object-version=") {
            self.options.settings.code_object = match version.as_str() {
                "4" | "5" | "6" => version.parse().ok(),
                _ => bail!("invalid value '{version}' in '{text}': expected 4, 5 or 6"),
            };
        } else if let Some(path) = value("-fregrain-dump-ir=") {
            self.options.dump_ir = Some(path.into());
        } else if let Some(cpu) = value("-fregrain-cpu=") {
            self.options.cpu = Some(cpu).filter(|c| c != "native");
        } else if let Some(arch) = value("-fregrain-emulate=") {
            self.emulate = Some(arch);
        } else if let Some(factors) = value("-fregrain-coarsen-blocks=") {
            self.options.coarsen_blocks = Some(coarsening(&factors)?);
        } else if let Some(factors) = value("-fregrain-coarsen-threads=") {
            self.options.coarsen_threads = Some(coarsening(&factors)?);
        } else if let Some(space) = value("-fregrain-alternatives=") {
            self.options.alternatives =
                if space == "default" { None } else { Some(space.parse().map_err(|reason: String| anyhow!(reason))?) };
        } else if let Some(budget) = value("-fregrain-search-budget=") {
            self.options.budget = search_budget(&budget)?;
        } else if let Some(path) = value("-fregrain-report=") {
            self.options.report = Some(path.into());
        } else if let Some(path) = value("-fregrain-profile-use=") {
            self.options.profile_use = Some(path.into());
        } else {
            match text {
                _ if text.starts_with("-Rpass") || text.starts_with("-Rno-pass") => return self.remarks(text),
                "-c" => self.kind = Output::Object,
                "-S" => self.kind = Output::Assembly,
                "-###" => self.dry_run = true,
                "-mwavefrontsize64" => self.options.settings.wave64 = Some(true),
                "-mno-wavefrontsize64" => self.options.settings.wave64 = Some(false),
                "-v" | "--verbose" => self.verbose = true,
                "-emit-llvm" => self.options.emit.llvm = true,
                "-fgpu-rdc" => self.options.relocatable = true,
                "-fno-gpu-rdc" => self.options.relocatable = false,
                "--cuda-device-only" => self.options.emit.side = Side::Device,
                "--cuda-host-only" => self.options.emit.side = Side::Host,
                "-fregrain-profile-generate" => self.options.profile_generate = true,
                "-fregrain-adaptive" => self.options.adaptive = true,
                "-fno-regrain-adaptive" => self.options.adaptive = false,
                "-fregrain-specialize" => self.options.specialize = true,
                "-fregrain-resource-usage" => self.options.resource_usage = true,
                "-ftime-report" => {
                    self.time_report = true;
                    return Ok(false);
                }
                "-fregrain-round-trip" => self.options.round_trip = true,
                _ if text.starts_with("-fregrain-") || text.starts_with("-fno-regrain-") => {
                    bail!("unknown argument: '{text}'")
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Takes an option that asks for remarks; `false` leaves it to clang too, for its own.
    fn remarks(&mut self, text: &str) -> Result<bool> {
        let (option, expression) = text.split_once('=').unwrap_or((text, ".*"));
        let wanted = &mut self.options.remarks;
        let (class, off) = match option.strip_prefix("-Rno-") {
            Some(class) => (class, true),
            None => (&option[2..], false),
        };
        let pattern = match class {
            "pass" => &mut wanted.passed,
            "pass-missed" => &mut wanted.missed,
            "pass-analysis" => &mut wanted.analysis,
            _ => return Ok(false),
        };
        *pattern = match off {
            true => Pattern::default(),
            false => Pattern::parse(expression).map_err(|reason| anyhow!("in '{text}': invalid regex: {reason}"))?,
        };
        // What begins so can be no pass of clang's.
        Ok(expression.starts_with("regrain"))
    }

    fn forward(&mut self, arg: OsString, text: &str) {
        if CLANG_ONLY.contains(&text) {
            self.kind = Output::ClangOnly;
            self.help |= text.ends_with("-help");
        }
        if let Some(level) = text.strip_prefix("-O") {
            self.options.level = Some(match level {
                "0" => 0,
                "g" | "1" => 1,
                "" | "2" | "s" | "z" => 2,
                _ => 3,
            });
        }
        let link = LINK_PREFIXES.iter().any(|p| text.starts_with(p)) && !NOT_LINK.iter().any(|p| text.starts_with(p));
        if link {
            self.link.push(arg);
            return;
        }
        // These two concern both steps.
        if text.starts_with("-fopenmp")
            || text == "-pthread"
            || text.starts_with("-fsanitize")
            || text.starts_with("-m")
        {
            self.link.push(arg.clone());
        }
        self.compile.push(arg);
    }

    fn add_input(&mut self, path: PathBuf, language: Option<&str>) {
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or("");
        let source = language.is_some()
            || path == Path::new("-")
            || matches!(
                extension,
                "cu" | "c" | "cc" | "cpp" | "cxx" | "C" | "c++" | "i" | "ii" | "s" | "S" | "m" | "mm" | "ll" | "bc"
            );
        let cuda = language.map_or(extension == "cu", |l| l == "cuda" || l == "cu");
        let input = Input { path, cuda, language: language.map(str::to_owned), source };
        if !source {
            self.link.push(input.path.clone().into());
        }
        self.inputs.push(input);
    }
}

/// Replaces `@file` by the file's words, as clang does.
fn expand(raw: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>> {
    let mut out = Vec::new();
    for arg in raw {
        let text = arg.to_string_lossy().into_owned();
        match text.strip_prefix('@').filter(|name| Path::new(name).exists()) {
            Some(name) => {
                let content =
                    std::fs::read_to_string(name).with_context(|| format!("cannot read response file '{name}'"))?;
                let words =
                    shlex::split(&content).with_context(|| format!("unbalanced quotes in response file '{name}'"))?;
                out.extend(expand(words.into_iter().map(OsString::from))?);
            }
            None => out.push(arg),
        }
    }
    Ok(out)
}

/// The value of `-fregrain-search-budget=`.
fn search_budget(text: &str) -> Result<Budget> {
    match text {
        "default" => Ok(Budget::AsClang),
        "none" => Ok(Budget::Unlimited),
        number => match number.parse::<f64>() {
            Ok(seconds) if (0.0..=1e6).contains(&seconds) => Ok(Budget::Seconds(seconds)),
            _ => bail!("search budget '{text}', expected seconds, 'none' or 'default'"),
        },
    }
}

/// Coarsening factors as a pass takes them.
fn coarsening(factors: &str) -> Result<String> {
    regrain_passes::coarsen::coarsening::Factors::parse(factors).map_err(|reason| anyhow!(reason))?;
    let option = if factors.contains(',') { "factors" } else { "factor" };
    Ok(format!("{option}={factors}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Args {
        parse(line.split_whitespace().map(OsString::from)).expect("a valid command line")
    }

    #[test]
    fn separates_compiling_from_linking() {
        let args = parsed("a.cu b.o -O3 -Iinc -I inc2 -lm -L lib -o app -DX=1 -std=c++17 -fopenmp");
        assert_eq!(args.compile, ["-O3", "-Iinc", "-I", "inc2", "-DX=1", "-std=c++17", "-fopenmp"]);
        assert_eq!(args.link, ["b.o", "-lm", "-L", "lib", "-fopenmp"]);
        assert_eq!(args.output.as_deref(), Some(Path::new("app")));
        assert!(args.inputs[0].cuda && !args.inputs[1].source);
    }

    #[test]
    fn takes_lists_of_architectures() {
        assert_eq!(parsed("--offload-arch=cpu,sm_80 --offload-arch=sm_90 a.cu").archs, ["cpu", "sm_80", "sm_90"]);
    }

    #[test]
    fn language_option_makes_cuda() {
        let args = parsed("-x cuda a.cpp -x none b.cpp -c");
        assert!(args.inputs[0].cuda && !args.inputs[1].cuda);
        assert_eq!(args.kind, Output::Object);
    }

    #[test]
    fn unknown_option_of_ours_is_an_error() {
        assert!(parse(["-fregrain-nonsense".into()]).is_err());
    }
}
