//! An invocation: its arguments, tools, targets and temporary files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};
use regrain_compiler::{Commands, Toolchain, compile, note};
use regrain_frontend::{Clang, TranslationUnit};
use regrain_targets::target::Code;
use regrain_targets::toolkit::Toolkit;
use regrain_targets::{Arch, TARGETS, find};

use crate::args::{Args, Input, Output};
use crate::dependencies;

/// What all steps of one invocation share.
pub struct Session {
    /// The command line.
    pub args: Args,
    /// The compiler that we drive.
    pub clang: Clang,
    /// How commands are run.
    pub commands: Commands,
    /// What code is made for. Empty when nothing of CUDA is compiled or linked.
    pub archs: Vec<Arch>,
    toolchain: Option<Toolchain>,
    scratch: tempfile::TempDir,
}

impl Session {
    /// Sets an invocation up: finds the tools it needs, refuses what cannot be done.
    pub fn new(args: Args) -> Result<Self> {
        let clang = Clang::find()?;
        let commands = Commands { verbose: args.verbose, dry_run: args.dry_run };
        let compiles_cuda = args.inputs.iter().any(|i| i.cuda);
        let mut archs = parse(&args.archs, &clang)?;
        if args.archs.is_empty() && (compiles_cuda || args.kind == Output::Linked) {
            archs.extend(installed(&clang));
            if args.verbose && compiles_cuda {
                let found: Vec<String> = archs.iter().map(ToString::to_string).collect();
                note(&format!("no --offload-arch: compiling for what is in this machine, {}", found.join(", ")));
            }
        }
        let mut args = args;
        args.options.emulate = args.emulate.as_deref().map(|name| emulated(name, &archs, &args)).transpose()?;
        let toolkit = match Toolkit::find(args.cuda_path.as_deref()) {
            Ok(toolkit) => Some(toolkit),
            Err(error) if compiles_cuda => return Err(error.into()),
            Err(_) => None,
        };
        if let (true, Some(toolkit)) = (compiles_cuda, &toolkit) {
            let all = archs.iter().chain(&args.options.emulate);
            all.into_iter().try_for_each(|arch| arch.target.check(&arch.name, toolkit))?;
        }
        let toolchain = toolkit.map(|toolkit| Toolchain { clang: clang.clone(), toolkit, commands });
        let scratch =
            tempfile::Builder::new().prefix("regrain-").tempdir().context("cannot make a temporary folder")?;
        let session = Self { args, clang, commands, archs, toolchain, scratch };
        session.check_inputs()?;
        session.check_space(compiles_cuda)?;
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
        let makes_files = matches!(args.kind, Output::Object | Output::Assembly);
        let several = sources > 1 || (sources == 1 && compile::makes_several_files(&args.options, &self.archs));
        if args.output.is_some() && makes_files && several {
            bail!("cannot specify -o when generating multiple output files");
        }
        if args.inputs.is_empty() && args.kind != Output::ClangOnly && !args.verbose {
            bail!("no input files");
        }
        Ok(())
    }

    /// Blocks of a task mean something only where code is linked into the program.
    fn check_space(&self, compiles_cuda: bool) -> Result<()> {
        let is_blocks = |arch: &Arch| matches!(arch.target.code(), Code::Blocks(_));
        let Some(space) = self.args.options.alternatives.as_ref().filter(|space| space.sets_tasks()) else {
            return Ok(());
        };
        if compiles_cuda && !self.archs.iter().all(is_blocks) {
            let archs: Vec<String> = self.archs.iter().map(ToString::to_string).collect();
            bail!(
                "invalid argument '-fregrain-alternatives={space}' not allowed with '--offload-arch={}': tasks are for --offload-arch=cpu",
                archs.join(",")
            );
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
            let options = [
                "--offload-arch=",
                "--cuda-gpu-arch=",
                "-fregrain-",
                "-fno-regrain-",
                "--cuda-path=",
                "--rocm-",
                "-mcode-object-version=",
            ];
            options.iter().any(|option| text.starts_with(option))
        };
        command.args(self.args.all.iter().filter(|arg| !ours(arg)));
        if let Some(toolkit) = self.toolchain.as_ref().map(|toolchain| &toolchain.toolkit) {
            if cuda {
                command.arg(format!("--cuda-path={}", toolkit.root.display())).arg("-Wno-unknown-cuda-version");
                command.arg(format!("--offload-arch={}", compile::lowest_chip(&self.archs)));
                let device_only = self.args.options.emit.side == regrain_compiler::Side::Device;
                if self.args.kind == Output::ClangOnly && !device_only {
                    command.arg("--cuda-host-only");
                }
            } else if !self.args.inputs.is_empty() {
                command.arg("-idirafter").arg(&toolkit.include);
            }
        }
        self.run(&mut command)
    }

    /// The tools that CUDA sources are compiled with.
    pub fn toolchain(&self) -> Result<&Toolchain> {
        self.toolchain.as_ref().context("cannot find a CUDA toolkit; provide its path via '--cuda-path'")
    }

    /// A path in the invocation's temporary folder.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// What the front end needs to know of one CUDA source.
    pub fn unit(&self, input: &Input) -> Result<TranslationUnit> {
        let toolkit = &self.toolchain()?.toolkit;
        Ok(TranslationUnit {
            input: input.path.clone(),
            options: dependencies::divide(&self.args.compile).0,
            cuda_path: toolkit.root.clone(),
            cuda_version: toolkit.version.to_string(),
            relocatable: self.args.options.relocatable,
        })
    }

    /// Runs clang so that its standard error is the user's, showing it with `-v` and only printing it with `-###`.
    pub fn run(&self, command: &mut Command) -> Result<()> {
        Ok(self.commands.run_clang(command)?)
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

/// Reads `--offload-arch=` values, each once. An architecture that nobody knows is an error.
fn parse(names: &[String], clang: &Clang) -> Result<Vec<Arch>> {
    let mut archs: Vec<Arch> = Vec::new();
    for name in names {
        let found = if name == "native" { installed(clang) } else { Some(find(name)?) };
        archs.extend(found.filter(|arch| !archs.contains(arch)));
    }
    Ok(archs)
}

/// Reads `-fregrain-emulate=`: what is made for that chip is to run on the CPU.
fn emulated(name: &str, archs: &[Arch], args: &Args) -> Result<Arch> {
    let not_allowed =
        |with: &str, why: &str| anyhow!("invalid argument '-fregrain-emulate={name}' not allowed with '{with}': {why}");
    let found = find(name)?;
    if matches!(found.target.code(), Code::Blocks(_)) {
        bail!("invalid argument '-fregrain-emulate={name}': it is not the name of a GPU");
    }
    if !archs.iter().any(|arch| matches!(arch.target.code(), Code::Blocks(_))) {
        let list: Vec<String> = archs.iter().map(ToString::to_string).collect();
        return Err(not_allowed(&format!("--offload-arch={}", list.join(",")), "it is for --offload-arch=cpu"));
    }
    if args.options.relocatable {
        return Err(not_allowed("-fgpu-rdc", "whole programs alone are emulated"));
    }
    if args.options.profile_generate {
        return Err(not_allowed("-fregrain-profile-generate", "the times would be those of the CPU"));
    }
    if args.options.adaptive {
        return Err(not_allowed("-fregrain-adaptive", "the times would be those of the CPU"));
    }
    Ok(found)
}

/// What is in this machine, by the first target that has something there.
fn installed(clang: &Clang) -> Option<Arch> {
    TARGETS.iter().find_map(|target| Some(Arch { target: *target, name: target.installed(clang.path())? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chip(list: &[&str]) -> String {
        let archs: Vec<Arch> = list.iter().map(|name| find(name).expect("known")).collect();
        compile::lowest_chip(&archs).to_string()
    }

    #[test]
    fn the_cpu_sees_the_lowest_architecture() {
        assert_eq!(chip(&["cpu", "sm_90", "sm_80"]), "sm_80");
        assert_eq!(chip(&["cpu"]), "sm_70");
        assert_eq!(chip(&["cpu", "sm_100", "sm_90a"]), "sm_90a");
    }
}
