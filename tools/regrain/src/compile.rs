//! Compiling the sources of an invocation.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, anyhow, bail};
use inkwell::context::Context;
use inkwell::module::Module;
use regrain_frontend::{Side, Unit, clang};

use regrain_targets::toolkit::SmArch;

use crate::args::{Input, Output};
use crate::jobs::Session;
use crate::{cpu, dependencies, nvidia};

/// Compiles every source; gives the objects to link in place of the sources, in the order of the inputs.
pub fn all(session: &Session) -> Result<HashMap<usize, PathBuf>> {
    let mut objects = HashMap::new();
    for (index, input) in session.args.inputs.iter().enumerate() {
        if !input.source {
            continue;
        }
        let output = match session.args.kind {
            Output::Linked => session.scratch(&format!("{index}.o")),
            Output::Assembly => session.default_output(input, extension_of_text(session)),
            _ => session.default_output(input, "o"),
        };
        if input.cuda {
            cuda(session, input, index, &output)?;
        } else {
            plain(session, input, &output)?;
        }
        objects.insert(index, output);
    }
    Ok(objects)
}

fn extension_of_text(session: &Session) -> &'static str {
    match (session.args.emit_llvm, session.args.device_only && !session.targets.cpu) {
        (true, _) => "ll",
        (false, true) => "ptx",
        (false, false) => "s",
    }
}

/// A source that is not CUDA: clang's. The toolkit's headers are found after all others, as nvcc's users expect.
fn plain(session: &Session, input: &Input, output: &Path) -> Result<()> {
    let mut command = Command::new(session.clang.path());
    command.args(&session.args.compile);
    command.arg(if session.args.kind == Output::Assembly { "-S" } else { "-c" });
    if session.args.emit_llvm {
        command.arg("-emit-llvm");
    }
    if let Ok(toolkit) = session.toolkit() {
        command.arg("-idirafter").arg(&toolkit.include);
    }
    if let Some(language) = &input.language {
        command.args(["-x", language]);
    }
    command.arg(&input.path).arg("-o").arg(output);
    session.run(&mut command)
}

fn cuda(session: &Session, input: &Input, index: usize, output: &Path) -> Result<()> {
    let compilation = Compilation { session, unit: session.unit(input)?, index, output };
    if session.args.host_only {
        return compilation.host_only();
    }
    // The finished file is moved into place, so that a failure leaves nothing half done behind.
    if session.targets.cpu { cpu::compile(&compilation) } else { nvidia::compile(&compilation) }
}

/// One CUDA source on its way to one output.
pub struct Compilation<'s> {
    /// The invocation.
    pub session: &'s Session,
    /// The source.
    pub unit: Unit,
    index: usize,
    /// Where the result goes.
    pub output: &'s Path,
}

/// Bitcode of both sides, on disk.
pub struct Sides {
    /// The host side, if it was wanted.
    pub host: Option<PathBuf>,
    /// The device side for each architecture asked for, in their order.
    pub device: Vec<PathBuf>,
}

impl Compilation<'_> {
    /// A temporary file of this source.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.session.scratch(&format!("{}-{name}", self.index))
    }

    /// The source's name without folder and extension, for messages and dumps.
    pub fn stem(&self) -> String {
        self.unit.input.file_stem().map_or_else(|| "stdin".into(), |s| s.to_string_lossy().into_owned())
    }

    /// Runs clang for the host and for each of `archs`, side by side. `None`: only shown (`-###`).
    pub fn sides(&self, archs: &[SmArch]) -> Result<Option<Sides>> {
        let session = self.session;
        let host = (!session.args.device_only).then(|| self.scratch("host.bc"));
        let device: Vec<PathBuf> = archs.iter().map(|arch| self.scratch(&format!("{arch}.bc"))).collect();
        let mut commands = Vec::new();
        for (arch, path) in archs.iter().zip(&device) {
            let mut command = session.clang.bitcode_command(&self.unit, Side::Device { arch: &arch.to_string() }, path);
            if session.args.level.is_none() {
                // Device code is optimised unless the user says otherwise: that is what CUDA's users expect.
                command.arg("-O3");
            }
            commands.push(command);
        }
        if let Some(path) = &host {
            commands.push(session.clang.bitcode_command(&self.unit, Side::Host, path));
        }
        if let Some(last) = commands.last_mut() {
            last.args(self.dependency_options());
        }
        if self.unit.input == Path::new("-") {
            bail!("CUDA source on standard input is compiled twice; give it a name");
        }
        let list: Vec<String> = archs.iter().map(|arch| arch.cuda_arch_macro().to_string()).collect();
        for command in &mut commands {
            // CCCL's headers name a namespace by it, which host and device must agree on. clang defines it too, for
            // the one architecture that a command is for.
            command.arg("-U__CUDA_ARCH_LIST__").arg(format!("-D__CUDA_ARCH_LIST__={}", list.join(",")));
        }
        let mut dry = false;
        for command in &commands {
            dry |= session.announce(command);
        }
        if dry {
            return Ok(None);
        }
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = commands.iter_mut().map(|command| scope.spawn(move || clang::run(command))).collect();
            threads.into_iter().map(|t| t.join().expect("running a command does not panic")).collect()
        });
        let mut said = Vec::new();
        for result in results {
            let stderr = result?;
            if !said.contains(&stderr) {
                eprint!("{stderr}");
                said.push(stderr);
            }
        }
        Ok(Some(Sides { host, device }))
    }

    fn dependency_options(&self) -> Vec<OsString> {
        let (_, options) = dependencies::divide(&self.session.args.compile);
        match self.session.args.kind {
            Output::Linked => dependencies::complete(options, Path::new(&self.stem()).with_extension("o").as_path()),
            _ => dependencies::complete(options, self.output),
        }
    }

    /// Compiles the host side, registration code in place, with the user's own options: to an object, or to text with
    /// `-S`. Gives the file that it made.
    pub fn host_object(&self, host: &Module<'_>) -> Result<PathBuf> {
        let bitcode = self.scratch("host-registered.bc");
        write_bitcode(host, &bitcode)?;
        let text = self.session.args.kind == Output::Assembly;
        let made = self.scratch(if text { "host.s" } else { "host.o" });
        let mut command = Command::new(self.session.clang.path());
        command.args(&self.unit.options).args(["-Wno-unused-command-line-argument", "-x", "ir"]);
        command.arg(if text { "-S" } else { "-c" });
        if self.session.args.emit_llvm {
            command.arg("-emit-llvm");
        }
        command.arg(&bitcode).arg("-o").arg(&made);
        self.session.run(&mut command)?;
        Ok(made)
    }

    /// Moves a finished file to the output, which `-` makes standard output.
    pub fn deliver(&self, finished: &Path) -> Result<()> {
        if self.output == Path::new("-") {
            let mut file = std::fs::File::open(finished).context("cannot read a temporary file")?;
            return std::io::copy(&mut file, &mut std::io::stdout()).map(drop).context("cannot write standard output");
        }
        if std::fs::rename(finished, self.output).is_ok() {
            return Ok(());
        }
        std::fs::copy(finished, self.output)
            .map(drop)
            .with_context(|| format!("cannot write '{}'", self.output.display()))
    }

    fn host_only(&self) -> Result<()> {
        let mut command = self.session.clang.cuda_command(&self.unit);
        command.arg("--cuda-host-only").arg(if self.session.args.kind == Output::Assembly { "-S" } else { "-c" });
        if self.session.args.emit_llvm {
            command.arg("-emit-llvm");
        }
        command.arg(&self.unit.input).arg("-o").arg(self.output);
        self.session.run(&mut command)
    }
}

/// Reads bitcode that clang wrote.
pub fn read_bitcode<'ctx>(context: &'ctx Context, path: &Path) -> Result<Module<'ctx>> {
    Module::parse_bitcode_from_path(path, context).map_err(|e| anyhow!("cannot read '{}': {e}", path.display()))
}

/// Writes bitcode for clang.
pub fn write_bitcode(module: &Module<'_>, path: &Path) -> Result<()> {
    if module.write_bitcode_to_path(path) { Ok(()) } else { Err(anyhow!("cannot write '{}'", path.display())) }
}
