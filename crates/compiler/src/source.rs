//! One CUDA source on its way to one output: its tools, temporary files and both sides as clang gives them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use inkwell::context::Context;
use inkwell::module::Module;
use regrain_frontend::own_tools;
use regrain_frontend::second_look::Concessions;
use regrain_frontend::{Clang, Side, TranslationUnit, clang};
use regrain_targets::Arch;
use regrain_targets::image::KernelOptions;
use regrain_targets::target::Code;
use regrain_targets::toolkit::{SmArch, Toolkit};

use crate::commands::{Commands, Running};
use crate::context::expect_context;
use crate::error::{Error, Result};
use crate::options::{Options, SideFiles};
use crate::unfinished::Unfinished;

/// The tools that sources are compiled with.
pub struct Toolchain {
    /// The front end's compiler.
    pub clang: Clang,
    /// CUDA's headers, assembler and libraries.
    pub toolkit: Toolkit,
    /// How commands are run.
    pub commands: Commands,
}

/// One CUDA source on its way to one output.
#[derive(Clone)]
pub struct Source<'s> {
    /// The tools.
    pub toolchain: &'s Toolchain,
    /// What the user wants.
    pub options: &'s Options,
    /// The source, with what clang is told.
    pub unit: TranslationUnit,
    /// What clang is told about the rule for make (`-MD` and its kin), of which one side alone must hear.
    pub dependencies: Vec<OsString>,
    /// What code is made for, without repetition.
    pub archs: &'s [Arch],
    /// Where the result goes.
    pub output: PathBuf,
    /// A folder for temporary files that no other source has.
    pub scratch: PathBuf,
    /// What is made beside the output.
    pub side_files: SideFiles,
    /// The language of a sequential source, of whose loops launches are made (`-fregrain-parallelize`); none for CUDA.
    pub sequential: Option<String>,
}

/// Bitcode of both sides, on disk.
pub struct Sides {
    /// The host side, if it was wanted.
    pub host: Option<PathBuf>,
    /// The device side for each chip asked for, in their order.
    pub device: Vec<PathBuf>,
    /// How long clang took for the device side.
    pub device_time: Duration,
}

impl Source<'_> {
    /// A temporary file of this source.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// The source's name without folder and extension, for messages and dumps.
    pub fn stem(&self) -> String {
        self.unit.input.file_stem().map_or_else(|| "stdin".into(), |s| s.to_string_lossy().into_owned())
    }

    /// Whether device code waits to be linked with that of other units: the CPU's is linked as the host's is, and what is asked for by
    /// itself is given.
    pub(crate) fn awaits_link(&self) -> bool {
        self.options.relocatable
            && self.options.emit.side != crate::options::Side::Device
            && self.archs.iter().any(|arch| matches!(arch.target.code(), Code::Kernels(_)))
    }

    /// How code for `arch` is made of device code.
    pub(crate) fn kernel_options(&self, arch: &str) -> KernelOptions {
        let options = self.options;
        KernelOptions {
            arch: arch.to_owned(),
            level: options.device_level().into(),
            lines: options.lines,
            debug: options.debug_device,
            relocatable: options.relocatable && options.emit.side == crate::options::Side::Device,
            assembler: options.assembler.clone(),
            lld: self.toolchain.clang.sibling("ld.lld"),
            settings: options.settings.clone(),
        }
    }

    /// Runs clang for the host, unless only the device side is wanted, and for each of `chips`, side by side, and does something meanwhile. `None`:
    /// only shown (`-###`).
    ///
    /// # Errors
    /// What clang refuses, in its own words.
    pub fn sides(&self, chips: &[SmArch], meanwhile: impl FnOnce()) -> Result<Option<Sides>> {
        let mut meanwhile = Some(meanwhile);
        let host = (self.options.emit.side == crate::options::Side::Both).then(|| self.scratch("host.bc"));
        let device: Vec<PathBuf> = chips.iter().map(|chip| self.scratch(&format!("{chip}.bc"))).collect();
        let mut concessions = Concessions::of(&self.unit);
        let mut kept = None;
        let results = loop {
            let mut commands = self.side_commands(chips, &device, host.as_deref(), &concessions)?;
            for command in &mut commands {
                self.toolchain.commands.announce(command);
                self.toolchain.commands.ask(command);
            }
            let results = side_by_side(&mut commands, || {
                self.expect();
                meanwhile.take().into_iter().for_each(|work| work());
            });
            let Some(stderr) = rejection(&results) else { break results };
            if concessions.is_last() {
                // What the user wrote is what the user is told of.
                break kept.unwrap_or(results);
            }
            if !concessions.concede(&self.toolchain.clang, &self.unit, &self.scratch, &stderr)? {
                break results;
            }
            kept = Some(results);
        };
        let device_time = results.iter().take(chips.len()).map(|(_, time)| *time).max().unwrap_or_default();
        let mut said = Vec::new();
        for (result, _) in say_once(results) {
            let stderr = result?;
            if !said.contains(&stderr) {
                eprint!("{stderr}");
                said.push(stderr);
            }
        }
        let made = Sides { host, device, device_time };
        Ok((!self.toolchain.commands.dry_run).then_some(made))
    }

    /// Has ready what is wanted next, which takes some milliseconds: for while clang runs.
    pub(crate) fn expect(&self) {
        if self.options.device_level() > 0 {
            expect_context();
        }
        for arch in self.archs {
            if let Code::Blocks(blocks) = arch.target.code() {
                blocks.expect();
            }
        }
    }

    fn side_commands(
        &self,
        chips: &[SmArch],
        device: &[PathBuf],
        host: Option<&Path>,
        concessions: &Concessions,
    ) -> Result<Vec<Command>> {
        let clang = &self.toolchain.clang;
        let mut commands = Vec::new();
        for (chip, path) in chips.iter().zip(device) {
            let mut command = clang.bitcode_command(&self.unit, Side::Device { arch: &chip.to_string() }, path)?;
            if self.options.level.is_none() {
                // Device code is optimised unless the user says otherwise: that is what CUDA's users expect.
                command.arg("-O3");
            }
            commands.push(command);
        }
        if let Some(path) = host {
            let mut command = clang.bitcode_command(&self.unit, Side::Host, path)?;
            command.args(concessions.host_options(&self.unit));
            commands.push(command);
        }
        if let Some(last) = commands.last_mut() {
            last.args(&self.dependencies);
        }
        for (number, command) in commands.iter_mut().enumerate() {
            self.trace(command, &chips.get(number).map_or_else(|| "host".into(), ToString::to_string));
        }
        let list: Vec<String> = chips.iter().map(|chip| chip.cuda_arch_macro().to_string()).collect();
        let conceded = concessions.options(&self.scratch)?;
        for command in &mut commands {
            command.args(&conceded);
            // CCCL's headers name a namespace by it, which host and device must agree on. clang defines it too, for
            // the one architecture that a command is for.
            command.arg("-U__CUDA_ARCH_LIST__").arg(format!("-D__CUDA_ARCH_LIST__={}", list.join(",")));
        }
        Ok(commands)
    }

    /// Compiles the host side, registration code in place, with the user's own options: to an object, or to text with
    /// `-S`. Gives the file that it made.
    ///
    /// # Errors
    /// clang fails.
    pub fn host_object(&self, host: &Module<'_>) -> Result<PathBuf> {
        self.start_host_object(host, "host")?.finish(self)
    }

    /// Whether each side may become several objects, that are joined: not where the user sees what it is made of.
    pub(crate) fn may_part(&self) -> bool {
        let Options { emit, dump_ir, .. } = self.options;
        let SideFiles { record, kept, .. } = &self.side_files;
        let is_shown = emit.text || emit.llvm || dump_ir.is_some() || record.is_some() || kept.is_some();
        emit.side == crate::options::Side::Both && !is_shown
    }

    /// Starts to compile the host side, or the part that is called `name`, beside what is still to be done.
    pub(crate) fn start_host_object(&self, host: &Module<'_>, name: &str) -> Result<HostObject> {
        self.prepare_host_object(host, name)?.start(self)
    }

    /// The same, still to be started.
    pub(crate) fn prepare_host_object(&self, host: &Module<'_>, name: &str) -> Result<PreparedObject> {
        let bitcode = self.scratch(&format!("{name}-registered.bc"));
        write_bitcode(host, &bitcode)?;
        let made = self.scratch(&format!("{name}.{}", if self.options.emit.text { "s" } else { "o" }));
        let mut command = self.host_code_command();
        self.trace(&mut command, &format!("{name}-code"));
        self.record(&mut command);
        self.add_kind(&mut command);
        command.arg(&bitcode).arg("-o").arg(&made);
        Ok(PreparedObject { command, bitcode, made })
    }

    /// clang on the host's IR with the user's own options. Device code is in its object or is joined to it, as no LTO object could
    /// hold it: with `-flto` too it is machine code.
    pub(crate) fn host_code_command(&self) -> Command {
        let mut command = self.toolchain.clang.compiler();
        let own = self.unit.options.iter().chain(&self.unit.host_options);
        let is_lto = |option: &OsString| {
            let text = option.to_string_lossy();
            ["-flto", "-ffat-lto-objects", "-fwhole-program-vtables", "-fsplit-lto-unit"]
                .iter()
                .any(|o| text.starts_with(o))
        };
        command.args(own.filter(|option| !is_lto(option))).args(["-Wno-unused-command-line-argument", "-x", "ir"]);
        command
    }

    fn add_kind(&self, command: &mut Command) {
        command.arg(if self.options.emit.text { "-S" } else { "-c" });
        if self.options.emit.llvm {
            command.arg("-emit-llvm");
        }
    }

    /// Joins objects into one.
    ///
    /// # Errors
    /// The linker fails.
    pub fn merge(&self, objects: &[PathBuf]) -> Result<PathBuf> {
        let merged = self.scratch("merged.o");
        let mut command = self.toolchain.clang.linker();
        // For so little it takes longer to start threads.
        command.args(["-r", "--threads=1"]).args(objects).arg("-o").arg(&merged);
        // Not shown: CMake takes the first line with a linker for the program's link.
        match own_tools::link_here(&command) {
            Some(true) => {}
            Some(false) => return Err(regrain_frontend::Error::Rejected { stderr: String::new() }.into()),
            None => Commands::default().run(&mut command)?,
        }
        Ok(merged)
    }

    /// Moves a finished file to the output, which `-` makes standard output.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn deliver(&self, finished: &Path) -> Result<()> {
        let output = &self.output;
        if output == Path::new("-") {
            let mut file = std::fs::File::open(finished).map_err(Error::io("read", finished))?;
            return std::io::copy(&mut file, &mut std::io::stdout()).map(drop).map_err(Error::io("write", output));
        }
        place(finished, output).map_err(Error::io("write", output))
    }

    /// `--cuda-host-only`: clang's own affair.
    pub(crate) fn host_only(&self) -> Result<()> {
        let mut command = self.toolchain.clang.cuda_command(&self.unit)?;
        command.arg("--cuda-host-only");
        self.add_kind(&mut command);
        command.args(&self.dependencies).arg(&self.unit.input).arg("-o").arg(&self.output);
        self.toolchain.commands.run_clang(&mut command)
    }
}

/// What is the host's object or a part of it once clang has made it.
pub(crate) struct PreparedObject {
    command: Command,
    /// What it is made of.
    bitcode: PathBuf,
    made: PathBuf,
}

impl PreparedObject {
    /// Has clang make it.
    pub(crate) fn start(mut self, source: &Source<'_>) -> Result<HostObject> {
        let running = source.toolchain.commands.start_clang(&mut self.command)?;
        Ok(HostObject { running, bitcode: self.bitcode, made: self.made })
    }
}

/// The host's object or a part of it, which clang is making.
pub(crate) struct HostObject {
    running: Running,
    /// What it is made of.
    bitcode: PathBuf,
    made: PathBuf,
}

impl HostObject {
    /// Waits for it, and gives the file.
    pub(crate) fn finish(self, source: &Source<'_>) -> Result<PathBuf> {
        self.running.finish()?;
        source.keep_host(&self.bitcode, &self.made)?;
        Ok(self.made)
    }
}

/// What a run of clang gives.
type Run = (std::result::Result<String, regrain_frontend::Error>, Duration);

/// Of two sides that both know no such processor, the host's words alone: the device side has more errors that follow from it.
fn say_once(mut results: Vec<Run>) -> Vec<Run> {
    let rejects = |run: &Run| matches!(&run.0, Err(regrain_frontend::Error::Rejected { stderr }) if stderr.contains("error: unknown target CPU"));
    if results.len() > 1 && results.last().is_some_and(rejects) {
        results.drain(..results.len() - 1);
    }
    results
}

/// Puts a finished file in place of `output`, whole or not at all.
///
/// # Errors
/// It cannot be written there.
pub fn place(finished: &Path, output: &Path) -> std::io::Result<()> {
    // What is no file, as /dev/null, stays what it is.
    if output.metadata().is_ok_and(|seen| !seen.is_file()) {
        return std::fs::copy(finished, output).map(drop);
    }
    if std::fs::rename(finished, output).is_ok() {
        return Ok(());
    }
    // The temporary folder is on another file system.
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    let beside = output.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let unfinished = Unfinished::new(&beside);
    std::fs::copy(finished, &beside)?;
    std::fs::rename(&beside, output)?;
    unfinished.done();
    Ok(())
}

/// Runs commands at the same time, and does something meanwhile; gives what each said, and how long it took.
fn side_by_side(commands: &mut [Command], meanwhile: impl FnOnce()) -> Vec<Run> {
    let timed = |command: &mut Command| {
        let start = Instant::now();
        (clang::run(command), start.elapsed())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = commands.iter_mut().map(|command| scope.spawn(move || timed(command))).collect();
        meanwhile();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// What clang said where it rejected the source.
fn rejection(results: &[Run]) -> Option<String> {
    let said = results.iter().filter_map(|(result, _)| match result {
        Err(regrain_frontend::Error::Rejected { stderr }) => Some(stderr.as_str()),
        _ => None,
    });
    Some(said.collect::<String>()).filter(|text| !text.is_empty())
}

/// Reads bitcode that clang wrote.
pub(crate) fn read_bitcode<'ctx>(context: &'ctx Context, path: &Path) -> Result<Module<'ctx>> {
    Module::parse_bitcode_from_path(path, context)
        .map_err(|e| Error::internal(format!("cannot read '{}': {e}", path.display())))
}

/// Writes bitcode for clang.
pub(crate) fn write_bitcode(module: &Module<'_>, path: &Path) -> Result<()> {
    // Not by LLVM, which ends the process where the disk is full.
    let bitcode = module.write_bitcode_to_memory();
    std::fs::write(path, bitcode.as_slice()).map_err(Error::io("write", path))
}

/// Writes a module as text or bitcode.
pub(crate) fn write_module(module: &Module<'_>, path: &Path, text: bool) -> Result<()> {
    if text {
        std::fs::write(path, module.print_to_string().to_bytes()).map_err(Error::io("write", path))
    } else {
        write_bitcode(module, path)
    }
}
