//! What a command line asks for.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use regrain_compiler::{Options, Side, note};

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
    /// nvcc's `-lib`: an archive of the objects.
    Archive,
    /// `-dlink`: an object with the images of the device code of objects.
    DeviceLinked,
    /// `-E`, `-M`, `-MM`, `-fsyntax-only`, `--version` and the like: clang's own affair altogether.
    ClangOnly,
}

/// What is printed in place of compiling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inform {
    /// `--help`; with clang's own options too where that is wanted.
    Help {
        /// `--help-all`
        all: bool,
    },
    /// A script for a shell.
    Completions(String),
    /// The manual page.
    ManPage,
    /// nvcc's `--version`.
    Version,
    /// `-print-regrain-inputs`
    Inputs,
    /// nvcc's lists of chips: `sm_NN`, `compute_NN`.
    Chips {
        /// As in `sm_`.
        prefix: &'static str,
    },
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
    /// The language of a source of whose loops launches are made.
    pub sequential: Option<String>,
}

/// Which CUDA runtime a program is linked with, where it is not ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cudart {
    /// `libcudart_static.a`, or the shared one where `-lcudart` is among the libraries.
    #[default]
    Static,
    /// `libcudart.so`
    Shared,
    /// None at all.
    None,
}

/// Where files go that are made on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The working directory.
    Here,
    /// Where the output goes.
    BesideOutput,
    /// This folder.
    Folder(PathBuf),
}

/// nvcc's options about arithmetic of device code; `None` where nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arithmetic {
    /// `-use_fast_math`
    pub fast: bool,
    /// `-ftz`
    pub flush: Option<bool>,
    /// `-prec-div`
    pub precise_division: Option<bool>,
    /// `-prec-sqrt`
    pub precise_root: Option<bool>,
    /// `-fmad`
    pub fuse: Option<bool>,
}

/// Files that tell of a compilation, for sources that are compiled for both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// `-fsave-optimization-record`; whether as LLVM's bitstream.
    pub optimisation: Option<bool>,
    /// `-foptimization-record-file=`
    pub file: Option<PathBuf>,
    /// `-ftime-trace`, and what it names.
    pub trace: Option<Option<PathBuf>>,
    /// The same for clang, which gets it where it compiles alone.
    pub words: Vec<OsString>,
}

/// What nvcc's command line has beside compiling and linking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// `-odir`
    pub output_directory: Option<PathBuf>,
    /// `-run`
    pub run: bool,
    /// `-run-args`
    pub run_args: Vec<String>,
    /// `-clean`
    pub clean: bool,
    /// `-arbin`
    pub archiver: Option<PathBuf>,
    /// `-Xarchive`
    pub archive_options: Vec<String>,
    /// `-G`
    pub device_debug: bool,
    /// `-dopt=on`
    pub optimise_debugged: bool,
    /// What the files of `-ptx`, `-cubin` and `-fatbin` end in.
    pub extension: Option<&'static str>,
    /// Unknown words go to the host compiler.
    pub forward_to_compiler: bool,
    /// Unknown words go to the linker.
    pub forward_to_linker: bool,
    /// Words that nvcc does not know.
    pub unknown: Vec<String>,
    /// `-std=`, which is not for C.
    pub standard: Option<String>,
    /// `-Xnvlink`
    pub linker_of_device: Vec<String>,
    /// `-nodlink`
    pub no_device_link: bool,
}

/// Which command line is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Driver {
    /// clang's, with options of ours.
    #[default]
    Regrain,
    /// nvcc's.
    Nvcc,
}

impl Driver {
    /// The one that an executable of such a name is: both are one file where they are installed.
    pub fn named(program: Option<&OsStr>) -> Self {
        let name = program.and_then(|path| Path::new(path).file_stem());
        if name.is_some_and(|name| name == "regrain-nvcc" || name == "nvcc") { Self::Nvcc } else { Self::Regrain }
    }
}

/// What the options say of architectures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gpu {
    /// `--offload-arch=`, split at commas.
    pub named: Vec<String>,
    /// nvcc's `-arch`
    pub arch: Option<String>,
    /// nvcc's `-code`
    pub codes: Vec<String>,
    /// nvcc's `-gencode`: the architecture that the source sees, and what the program holds.
    pub generated: Vec<(String, Vec<String>)>,
    /// `--cuda-include-ptx=` and `--no-cuda-include-ptx=`, in order.
    pub ptx_options: Vec<(bool, String)>,
}

impl Gpu {
    /// Whether anything names an architecture.
    pub fn is_named(&self) -> bool {
        !self.named.is_empty() || self.arch.is_some() || !self.generated.is_empty()
    }
}

/// A parsed command line.
#[derive(Clone, Debug, Default)]
pub struct Args {
    /// Whose command line it is.
    pub driver: Driver,
    /// What is printed, if that is all.
    pub inform: Option<Inform>,
    /// Inputs in order.
    pub inputs: Vec<Input>,
    /// `-o`
    pub output: Option<PathBuf>,
    /// What is made.
    pub kind: Output,
    /// What device code is made for.
    pub gpu: Gpu,
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
    /// What is kept of what is made on the way, and where.
    pub keep: Option<Keep>,
    /// Files that tell of the compilation.
    pub records: Records,
    /// Which CUDA runtime is linked.
    pub cudart: Cudart,
    /// nvcc's arithmetic of device code.
    pub arithmetic: Arithmetic,
    /// What only nvcc has.
    pub extra: Extra,
    /// What the compiler itself is asked for.
    pub options: Options,
    /// What compiling gets: everything that is not listed in the table and not for the linker alone.
    pub compile: Vec<OsString>,
    /// What compiling the host side alone gets, of which the device side is not told.
    pub compile_host: Vec<OsString>,
    /// The same for the device side.
    pub compile_device: Vec<OsString>,
    /// What linking gets, in order with the inputs that are not sources.
    pub link: Vec<OsString>,
    /// The command line that clang alone is given, where all is its own affair.
    pub clang: Vec<OsString>,
    /// The language of the inputs that follow.
    pub language: Option<String>,
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

/// Whether options let square roots be inexact, as clang's libdevice has them always; the last that says anything about it holds.
fn asks_for_near_roots(so_far: bool, option: &str) -> bool {
    match option {
        "-ffast-math" | "-funsafe-math-optimizations" | "-fapprox-func" | "-fgpu-approx-transcendentals" | "-Ofast" => {
            true
        }
        "-fno-fast-math"
        | "-fno-unsafe-math-optimizations"
        | "-fno-approx-func"
        | "-fno-gpu-approx-transcendentals" => false,
        _ => so_far,
    }
}

impl Args {
    /// What the whole command line says of the compiler's options.
    pub(crate) fn complete(&mut self) -> Result<()> {
        self.reject_unknown()?;
        self.say_arithmetic();
        if matches!(self.kind, Output::Linked | Output::DeviceLinked) && !self.extra.linker_of_device.is_empty() {
            let ignored = self.extra.linker_of_device.join(" ");
            note(&format!("'-Xnvlink {ignored}' is ignored: device code is linked by LLVM"));
        }
        let mut contraction = self.compile.iter().chain(&self.compile_device).rev();
        let contraction = contraction.find_map(|word| word.to_str()?.strip_prefix("-ffp-contract="));
        self.options.settings.keeps_apart = contraction.is_some_and(|mode| matches!(mode, "off" | "on"));
        self.find_sequential();
        let options = &mut self.options;
        options.emit.text = self.kind == Output::Assembly;
        // The last option about lines holds. What stands behind -Xarch_host is not about device code.
        let before = std::iter::once(None).chain(self.compile.iter().map(Some));
        let for_host = |before: Option<&OsString>| before.is_some_and(|word| word == "-Xarch_host");
        let own = self.compile.iter().zip(before).filter(|(_, before)| !for_host(*before)).map(|(word, _)| word);
        let own: Vec<&OsString> = own.collect();
        options.lines |= own.iter().rev().find_map(|option| asks_for_lines(option.to_str()?)).unwrap_or(false);
        if self.extra.device_debug && !self.extra.optimise_debugged {
            (options.debug_device, options.level) = (true, Some(0));
            self.compile_device.extend(["-g".into(), "--cuda-noopt-device-debug".into()]);
        }
        Ok(())
    }

    /// Finds the sources of C and C++ that are compiled here with `-fregrain-parallelize`.
    fn find_sequential(&mut self) {
        let is_made = matches!(self.kind, Output::Object | Output::Assembly | Output::Linked);
        if !self.options.parallelize || !is_made || self.options.emit.side != Side::Both {
            return;
        }
        for input in self.inputs.iter_mut().filter(|input| input.source && !input.cuda) {
            let extension = input.path.extension().and_then(OsStr::to_str).unwrap_or("");
            input.sequential = match (input.language.as_deref(), extension) {
                (Some(language @ ("c" | "c++")), _) => Some(language.to_owned()),
                (None, "c") => Some("c".into()),
                (None, "cc" | "cpp" | "cxx" | "C" | "c++") => Some("c++".into()),
                _ => None,
            };
            input.cuda = input.sequential.is_some();
        }
    }

    fn reject_unknown(&mut self) -> Result<()> {
        let unknown = std::mem::take(&mut self.extra.unknown);
        let Extra { forward_to_compiler: compiler, forward_to_linker: linker, .. } = self.extra;
        if let Some(word) = unknown.first().filter(|_| !compiler && !linker) {
            bail!("unknown option '{word}'; options of the host compiler stand behind -Xcompiler");
        }
        for word in unknown {
            if compiler {
                self.host_words(std::slice::from_ref(&word))?;
            }
            if linker && !compiler {
                self.link.push(word.into());
            }
        }
        Ok(())
    }

    /// nvcc's options about arithmetic in clang's words. An option of its own holds against what `-use_fast_math` implies.
    fn say_arithmetic(&mut self) {
        let Arithmetic { fast, flush, precise_division, precise_root, fuse } = self.arithmetic;
        let given = self.compile.iter().chain(&self.compile_device).filter_map(|word| word.to_str());
        let fast_root = fast || given.fold(false, asks_for_near_roots);
        self.options.settings.exact_root = precise_root.unwrap_or(!fast_root);
        self.options.settings.near_quotient = precise_division == Some(false) && !fast;
        let mut say = |words: &[&str]| {
            self.compile_device.extend(words.iter().map(OsString::from));
        };
        if fast {
            say(&["-fgpu-approx-transcendentals"]);
        }
        match flush.or(fast.then_some(true)) {
            Some(true) => say(&["-fgpu-flush-denormals-to-zero"]),
            Some(false) => say(&["-fno-gpu-flush-denormals-to-zero"]),
            None => {}
        }
        if fast && !precise_division.unwrap_or(false) {
            say(&["-fapprox-func"]);
        }
        match fuse {
            Some(false) => say(&["-ffp-contract=off"]),
            Some(true) => say(&["-ffp-contract=fast"]),
            None => {}
        }
    }

    /// Adds an input file.
    pub(crate) fn add_input(&mut self, path: PathBuf) {
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or("");
        let language = self.language.clone();
        let source = language.is_some()
            || path == Path::new("-")
            || matches!(
                extension,
                "cu" | "c" | "cc" | "cpp" | "cxx" | "C" | "c++" | "i" | "ii" | "s" | "S" | "m" | "mm" | "ll" | "bc"
            );
        let cuda = language.as_deref().map_or(extension == "cu", |language| matches!(language, "cuda" | "cu"));
        self.clang.push(path.clone().into());
        if !source {
            self.link.push(path.clone().into());
        }
        self.inputs.push(Input { path, cuda, language, source, sequential: None });
    }
}
