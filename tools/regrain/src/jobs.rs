//! An invocation: its arguments, tools and temporary files, and how commands are run, shown or only printed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use regrain_frontend::{Clang, Unit};
use regrain_targets::toolkit::Toolkit;

use crate::arch::Targets;
use crate::args::{Args, Input, Output};
use crate::{dependencies, diagnostics};

/// What all steps of one invocation share.
pub struct Session {
    /// The command line.
    pub args: Args,
    /// The compiler that we drive.
    pub clang: Clang,
    /// What code is made for. Empty when nothing of CUDA is compiled or linked.
    pub targets: Targets,
    toolkit: Option<Toolkit>,
    scratch: tempfile::TempDir,
}

impl Session {
    /// Sets an invocation up: finds the tools it needs, refuses what cannot be done.
    pub fn new(args: Args) -> Result<Self> {
        let clang = Clang::find()?;
        let compiles_cuda = args.inputs.iter().any(|i| i.cuda);
        let mut targets = Targets::parse(&args.archs)?;
        if args.archs.is_empty() && (compiles_cuda || args.kind == Output::Linked) {
            targets = Targets::find(&clang);
            if args.verbose && compiles_cuda {
                let found = if targets.cpu {
                    "no GPU found, compiling for the CPU".to_owned()
                } else {
                    format!("found {}", targets.sm[0])
                };
                diagnostics::note(&format!("no --offload-arch: {found}"));
            }
        }
        let toolkit = match Toolkit::find(args.cuda_path.as_deref()) {
            Ok(toolkit) => Some(toolkit),
            Err(error) if compiles_cuda => return Err(error.into()),
            Err(_) => None,
        };
        if let (true, Some(toolkit)) = (compiles_cuda, &toolkit) {
            targets.check(toolkit)?;
        }
        if let Some(space) =
            args.alternatives.as_ref().filter(|space| compiles_cuda && !targets.cpu && space.sets_tasks())
        {
            let archs: Vec<String> = targets.sm.iter().map(ToString::to_string).collect();
            bail!(
                "invalid argument '-fregrain-alternatives={space}' not allowed with '--offload-arch={}': tasks are for --offload-arch=cpu",
                archs.join(",")
            );
        }
        let scratch =
            tempfile::Builder::new().prefix("regrain-").tempdir().context("cannot make a temporary folder")?;
        let session = Self { args, clang, targets, toolkit, scratch };
        session.check_inputs()?;
        Ok(session)
    }

    fn check_inputs(&self) -> Result<()> {
        let args = &self.args;
        for input in &args.inputs {
            if input.path != Path::new("-") && !input.path.exists() {
                bail!("no such file or directory: '{}'", input.path.display());
            }
        }
        let sources = args.inputs.iter().filter(|i| i.source).count();
        if args.output.is_some() && sources > 1 && matches!(args.kind, Output::Object | Output::Assembly) {
            bail!("cannot specify -o when generating multiple output files");
        }
        if args.inputs.is_empty() && args.kind != Output::ClangOnly && !args.verbose {
            bail!("no input files");
        }
        Ok(())
    }

    /// Whether nothing here is for us: no CUDA is compiled into code and nothing is linked against a CUDA runtime.
    pub fn is_for_clang_alone(&self) -> bool {
        let compiles_cuda = self.args.inputs.iter().any(|i| i.cuda);
        match self.args.kind {
            Output::ClangOnly => true,
            Output::Linked => self.args.inputs.is_empty(),
            Output::Object | Output::Assembly => !compiles_cuda,
        }
    }

    /// Runs clang on the user's own command line, without what only we understand.
    pub fn hand_over(&self) -> Result<()> {
        let mut command = Command::new(self.clang.path());
        let cuda = self.args.inputs.iter().any(|i| i.cuda);
        let ours = |arg: &OsString| {
            let text = arg.to_string_lossy();
            text.starts_with("--offload-arch=")
                || text.starts_with("--cuda-gpu-arch=")
                || text.starts_with("-fregrain-")
                || text.starts_with("--cuda-path=")
        };
        command.args(self.args.all.iter().filter(|arg| !ours(arg)));
        if let Some(toolkit) = &self.toolkit {
            if cuda {
                command.arg(format!("--cuda-path={}", toolkit.root.display())).arg("-Wno-unknown-cuda-version");
                let arch = self.targets.lowest_cuda_arch();
                command.arg(format!("--offload-arch={arch}"));
                if self.args.kind == Output::ClangOnly && !self.args.device_only {
                    command.arg("--cuda-host-only");
                }
            } else if !self.args.inputs.is_empty() {
                command.arg("-idirafter").arg(&toolkit.include);
            }
        }
        self.run(&mut command)
    }

    /// The CUDA toolkit.
    pub fn toolkit(&self) -> Result<&Toolkit> {
        self.toolkit.as_ref().context("cannot find a CUDA toolkit; provide its path via '--cuda-path'")
    }

    /// A path in the invocation's temporary folder.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// What the front end needs to know of one CUDA source.
    pub fn unit(&self, input: &Input) -> Result<Unit> {
        let toolkit = self.toolkit()?;
        Ok(Unit {
            input: input.path.clone(),
            options: dependencies::divide(&self.args.compile).0,
            cuda_path: toolkit.root.clone(),
            cuda_version: toolkit.version.to_string(),
            relocatable: self.args.relocatable,
        })
    }

    /// Runs a command whose standard error is the user's, showing it with `-v` and only printing it with `-###`.
    pub fn run(&self, command: &mut Command) -> Result<()> {
        if self.announce(command) {
            return Ok(());
        }
        let program = command.get_program().to_string_lossy().into_owned();
        let status = command.status().with_context(|| format!("cannot run '{program}'"))?;
        if !status.success() {
            // The program has said why.
            return Err(regrain_frontend::Error::Rejected { stderr: String::new() }.into());
        }
        Ok(())
    }

    /// Shows a command that is about to be run; `true` when it must not be.
    pub fn announce(&self, command: &Command) -> bool {
        if self.args.verbose || self.args.dry_run {
            eprintln!("{}", quoted(command));
        }
        self.args.dry_run
    }

    /// Where the output for `input` goes when `-o` does not say: the source's name with another extension, here.
    pub fn default_output(&self, input: &Input, extension: &str) -> PathBuf {
        match &self.args.output {
            Some(path) => path.clone(),
            None => {
                let stem = input.path.file_stem().unwrap_or("a".as_ref());
                Path::new(stem).with_extension(extension)
            }
        }
    }
}

/// A command line as `-###` prints it.
fn quoted(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| format!(" \"{}\"", word.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""))).collect()
}
