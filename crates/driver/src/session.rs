//! An invocation: its arguments, tools, targets and temporary files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};
use regrain_compiler::unfinished::Unfinished;
use regrain_compiler::{Commands, Side, Toolchain, compile, note};
use regrain_frontend::{Clang, TranslationUnit, dialect, own_tools};
use regrain_targets::target::Code;
use regrain_targets::toolkit::Toolkit;
use regrain_targets::{Arch, find};

use crate::archs::{self, Wanted};
use crate::args::{Args, Driver, Input, Output};
use crate::dependencies;
use crate::{inform, preprocess};

/// How sources know whose command line it was. CMake does, too.
const NVCC_MACRO: &str = "-D__NVCC__=1";

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
    // In this order: it is no longer unfinished once it is gone.
    scratch: tempfile::TempDir,
    _unfinished: Unfinished,
}

/// clang, for which we stand ourselves where nobody looks at what is run.
fn found_clang(args: &Args) -> Result<Clang> {
    let clang = Clang::find()?;
    let options = [&args.clang, &args.compile, &args.compile_host, &args.compile_device];
    if args.verbose || args.dry_run || !options.into_iter().all(|options| own_tools::takes(options)) {
        return Ok(clang);
    }
    Ok(std::env::current_exe().map_or_else(|_| clang.clone(), |own| clang.clone().with_own(own)))
}

impl Session {
    /// Sets an invocation up: finds the tools it needs, refuses what cannot be done.
    pub fn new(mut args: Args) -> Result<Self> {
        let clang = found_clang(&args)?;
        let as_nvcc = args.driver == Driver::Nvcc;
        let commands = Commands { verbose: args.verbose, dry_run: args.dry_run, as_nvcc };
        let compiles_cuda = args.inputs.iter().any(|i| i.cuda);
        let found = Toolkit::find(args.cuda_path.as_deref());
        let is_needed = compiles_cuda || args.kind == Output::Linked;
        let Wanted { archs, pieces, seen } = archs::wanted(&args, &clang, found.as_ref().ok(), is_needed)?;
        (args.options.pieces, args.options.seen) = (pieces, seen);
        if archs::is_ptx(&args) && archs.iter().all(|arch| matches!(arch.target.code(), Code::Blocks(_))) {
            // The CPU's is a module that programs load in its place.
            (args.options.emit.text, args.options.emit.module_text) = (false, true);
        }
        if args.verbose && compiles_cuda && !args.gpu.is_named() && args.driver == Driver::Regrain {
            let names: Vec<String> = archs.iter().map(ToString::to_string).collect();
            note(&format!("no --offload-arch: compiling for what is in this machine, {}", names.join(", ")));
        }
        args.options.emulate = args.emulate.as_deref().map(|name| emulated(name, &archs, &args)).transpose()?;
        if let Some(cpu) = args.options.cpu.as_deref().filter(|_| compiles_cuda) {
            check_cpu(&clang, cpu)?;
        }
        let toolkit = match found {
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
        let unfinished = Unfinished::of_others(scratch.path());
        // What the assemblers need lies there too. Only the first session of a process can say so.
        let _ = tempfile::env::override_temp_dir(scratch.path());
        let session = Self { args, clang, commands, archs, toolchain, scratch, _unfinished: unfinished };
        session.check_inputs()?;
        session.check_space(compiles_cuda)?;
        session.check_checks(compiles_cuda)?;
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
        if let (Some(extension @ ("cubin" | "ptx")), true) = (args.extra.extension, self.archs.len() > 1) {
            bail!("option '-{extension}' is not allowed when compiling for multiple GPU architectures");
        }
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

    /// Kernels are checked in the form that is clang's own code, in programs.
    fn check_checks(&self, compiles_cuda: bool) -> Result<()> {
        let options = &self.args.options;
        if options.checks == 0 || !compiles_cuda {
            return Ok(());
        }
        let is_blocks = |arch: &Arch| matches!(arch.target.code(), Code::Blocks(_));
        if !self.archs.iter().all(is_blocks) {
            let archs: Vec<String> = self.archs.iter().map(ToString::to_string).collect();
            let archs = archs.join(",");
            bail!(
                "'-fregrain-check=' is not allowed with '--offload-arch={archs}': kernels are checked on the CPU alone"
            );
        }
        if options.emulate.is_some() || options.round_trip {
            bail!("'-fregrain-check=' is not allowed with '-fregrain-emulate=' and '-fregrain-round-trip'");
        }
        if options.emit.side == Side::Device && !options.emit.text {
            bail!("'-fregrain-check=' is not allowed where device code is made alone: programs are checked");
        }
        Ok(())
    }

    /// Whether nothing here is for us: no CUDA is compiled into code and nothing is linked against a CUDA runtime.
    pub fn is_for_clang_alone(&self) -> bool {
        let compiles_cuda = self.args.inputs.iter().any(|i| i.cuda);
        match self.args.kind {
            Output::ClangOnly => true,
            Output::Linked => self.args.inputs.is_empty(),
            Output::Archive | Output::DeviceLinked => false,
            // nvcc has its own ideas of names and languages.
            Output::Object | Output::Assembly => !compiles_cuda && self.args.driver == Driver::Regrain,
        }
    }

    /// Runs clang on the user's own command line, without what only we understand.
    pub fn hand_over(&self) -> Result<()> {
        let asks_version = self.args.clang.iter().any(|word| word == "--version");
        let is_bare = self.args.inputs.is_empty() && (asks_version || self.args.verbose);
        let mut command = self.clang_command(Side::Host)?;
        if is_bare && !self.args.dry_run {
            return tell_version(&mut command);
        }
        if preprocess::is_asked(&self.args) {
            let mut device = self.clang_command(Side::Device)?;
            return preprocess::run(&self.args, &mut command, &mut device);
        }
        self.run(&mut command)
    }

    /// clang with the user's own command line. A source that clang is to look at for both sides is looked at for `side`.
    fn clang_command(&self, side: Side) -> Result<Command> {
        let mut command = Command::new(self.clang.path());
        let first = self.args.inputs.iter().find(|input| input.cuda);
        let cuda = first.is_some();
        if let (Some(input), Some(_)) = (first, &self.toolchain) {
            command.args(dialect::options(&self.unit(input)?)?);
        }
        match side {
            Side::Device => drop(command.args(without_files(&self.args.clang))),
            _ => drop(command.args(&self.args.clang)),
        }
        if self.args.driver == Driver::Nvcc {
            command.args(cuda.then_some(NVCC_MACRO));
            // In its own words these say more than clang's do.
            command.args((self.args.kind == Output::Object).then_some("-c"));
            if let (Some(output), Side::Host) = (&self.args.output, side) {
                command.arg("-o").arg(output);
            }
            if let Some(dialect) = &self.args.extra.standard {
                command.arg(format!("-std={dialect}"));
            }
        }
        let Some(toolkit) = self.toolchain.as_ref().map(|toolchain| &toolchain.toolkit) else { return Ok(command) };
        if cuda {
            command.arg(format!("--cuda-path={}", toolkit.root.display())).arg("-Wno-unknown-cuda-version");
            command.arg(format!("--offload-arch={}", compile::lowest_chip(&self.archs)));
            let device_only = self.args.options.emit.side == Side::Device;
            if side == Side::Device {
                command.arg("--cuda-device-only");
            } else if self.args.kind == Output::ClangOnly && !device_only {
                command.arg("--cuda-host-only");
            }
        } else if !self.args.inputs.is_empty() {
            command.arg("-idirafter").arg(&toolkit.include);
        }
        Ok(command)
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
        let mut options = dependencies::divide(&self.args.compile).0;
        options.extend((self.args.driver == Driver::Nvcc).then(|| NVCC_MACRO.into()));
        if let Some(dialect) = &self.args.extra.standard {
            options.push(format!("-std={dialect}").into());
        }
        Ok(TranslationUnit {
            input: input.path.clone(),
            stdin: None,
            options,
            host_options: self.args.compile_host.clone(),
            device_options: self.args.compile_device.clone(),
            cuda_path: toolkit.root.clone(),
            cuda_version: toolkit.compiler_version(),
            relocatable: self.args.options.relocatable,
        })
    }

    /// Runs clang so that its standard error is the user's, showing it with `-v` and only printing it with `-###`.
    pub fn run(&self, command: &mut Command) -> Result<()> {
        Ok(self.commands.run_clang(command)?)
    }

    /// Where a file goes that has no name by `-o`.
    pub fn in_output_directory(&self, name: &Path) -> PathBuf {
        self.args.extra.output_directory.as_ref().map_or_else(|| name.to_path_buf(), |folder| folder.join(name))
    }

    /// Where the output for `input` goes when `-o` does not say: the source's name with another extension, here.
    pub fn default_output(&self, input: &Input, extension: &str) -> PathBuf {
        match &self.args.output {
            Some(path) => path.clone(),
            None => {
                let stem = input.path.file_stem().unwrap_or("a".as_ref());
                self.in_output_directory(Path::new(&format!("{}.{extension}", stem.to_string_lossy())))
            }
        }
    }
}

/// clang's words about its version are about ours too.
fn tell_version(command: &mut Command) -> Result<()> {
    let said = command.output().context("cannot run clang")?;
    print!("{}", inform::clang_version(&String::from_utf8_lossy(&said.stdout)));
    eprint!("{}", inform::clang_version(&String::from_utf8_lossy(&said.stderr)));
    if said.status.success() {
        return Ok(());
    }
    Err(regrain_compiler::Error::from(regrain_frontend::Error::Rejected { stderr: String::new() }).into())
}

/// A command line of clang's whose result goes to standard output and that writes no rule for make.
fn without_files(words: &[OsString]) -> Vec<OsString> {
    let (words, _) = dependencies::divide(words);
    let mut kept = Vec::new();
    let mut rest = words.into_iter();
    while let Some(word) = rest.next() {
        match word.to_str() {
            Some("-o" | "--output") => drop(rest.next()),
            Some(joined) if joined.starts_with("-o") && !joined.starts_with("-objc") => {}
            _ => kept.push(word),
        }
    }
    kept
}

/// An error unless clang makes code for the processor `cpu`.
fn check_cpu(clang: &Clang, cpu: &str) -> Result<()> {
    let output = Command::new(clang.path()).arg("--print-supported-cpus").output();
    let output = output.with_context(|| format!("cannot run '{}'", clang.path().display()))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    // A list that is indented, between a heading and advice.
    let known: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix('\t')).map(str::trim).collect();
    if known.is_empty() || known.contains(&cpu) {
        return Ok(());
    }
    bail!("unknown processor '{cpu}' in '-fregrain-cpu={cpu}' (known are {})", known.join(", "))
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
        assert_eq!(chip(&["cpu"]), "sm_80");
        assert_eq!(chip(&["cpu", "sm_100", "sm_90a"]), "sm_90a");
    }
}
