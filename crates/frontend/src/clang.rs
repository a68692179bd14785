//! Running clang 22 for one side of a CUDA translation unit.
//!
//! Both sides are compiled with `-Xclang -disable-llvm-passes`: the IR is what clang's code generation gives, marked
//! for the optimisation level but not yet optimised. The device side leaves out libdevice (`-nocudalib`), which is
//! linked as late as possible; clang then forgets the SDK's version and would emit the launch protocol of 2010, so
//! the version is given explicitly.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use crate::crash::without_crash;
use crate::dialect;
use crate::error::Error;
use crate::own_tools::Tool;
use crate::unit::TranslationUnit;

/// A clang 22 on this machine.
#[derive(Clone, Debug)]
pub struct Clang {
    /// `clang`, not `clang++`: what the language is follows from the input.
    path: PathBuf,
    /// Our own executable, where it stands for clang.
    own: Option<PathBuf>,
}

/// Where LLVM 22's packages have it.
const USUAL: &str = "/usr/lib/llvm-22/bin/clang";

/// Which half of a CUDA source to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side<'a> {
    /// The code for the processor that runs the program, with registration code for a device binary.
    Host,
    /// The kernels, as NVPTX IR.
    Device {
        /// The chip, as in `sm_70`.
        arch: &'a str,
    },
}

/// The newest SDK version that clang 22 fully knows; a later toolkit is treated as this one.
const NEWEST_KNOWN_SDK: (u32, u32) = (12, 8);

impl Clang {
    /// `$REGRAIN_CLANG`, LLVM 22's own directory, or `clang-22` on the path.
    pub fn find() -> Result<Self, Error> {
        if let Some(path) = std::env::var_os("REGRAIN_CLANG") {
            return Ok(Self { path: path.into(), own: None });
        }
        let usual = Path::new(USUAL);
        if usual.exists() {
            return Ok(Self { path: usual.into(), own: None });
        }
        which::which("clang-22").map(|path| Self { path, own: None }).map_err(|_| {
            Error::User("cannot find clang 22 (looked for /usr/lib/llvm-22/bin/clang and clang-22 on PATH)".into())
        })
    }

    /// The executable.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A program of the same LLVM, such as `ld.lld`.
    pub fn sibling(&self, name: &str) -> PathBuf {
        let real = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let beside = real.with_file_name(name);
        if beside.exists() { beside } else { PathBuf::from(name) }
    }

    /// Lets our own executable stand for the usual clang where that compiles, and for its linker.
    #[must_use]
    pub fn with_own(self, executable: PathBuf) -> Self {
        let is_usual = self.path == Path::new(USUAL);
        Self { own: is_usual.then_some(executable), ..self }
    }

    /// The command of the compiler.
    pub fn compiler(&self) -> Command {
        self.tool(Tool::Clang, self.path.clone())
    }

    /// The command of the linker of the same LLVM.
    pub fn linker(&self) -> Command {
        self.tool(Tool::Lld, self.sibling("ld.lld"))
    }

    fn tool(&self, tool: Tool, path: PathBuf) -> Command {
        self.own.as_ref().map_or_else(|| Command::new(&path), |own| tool.command(own, &path))
    }

    /// The command that compiles one side of `unit` to bitcode at `output`.
    ///
    /// # Errors
    /// Our headers are not there.
    pub fn bitcode_command(&self, unit: &TranslationUnit, side: Side<'_>, output: &Path) -> Result<Command, Error> {
        let lines = match side {
            // Line tables cost no code and let every later message name its line. What the user asks for beyond them comes behind.
            Side::Device { .. } => &["-gline-tables-only"][..],
            Side::Host => &[],
        };
        let mut command = self.command_with(lines, unit)?;
        command.args(match side {
            Side::Device { .. } => &unit.device_options,
            Side::Host => &unit.host_options,
        });
        command.args(["-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes"]);
        match side {
            Side::Device { arch } => {
                command.arg("--cuda-device-only").arg(format!("--cuda-gpu-arch={arch}"));
                command.args(["-nocudalib", "-Xclang"]).arg(sdk_version(&unit.cuda_version));
                if let Some(ptx) = newer_ptx(&unit.cuda_version) {
                    command.args(["-Xclang", "-target-feature", "-Xclang", ptx]);
                }
                if unit.relocatable {
                    // clang would hash the output's name too, which is another one each time.
                    command.arg("-fgpu-rdc").arg(format!("-cuid={}", unit.id()));
                }
            }
            Side::Host => {
                // Any file will do: the device binary is put in place after this side has been compiled.
                command.args(["--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", "/dev/null"]);
            }
        }
        command.arg("-o").arg(output).arg(&unit.input);
        Ok(command)
    }

    /// The command that preprocesses one side of `unit` to `output`.
    ///
    /// # Errors
    /// Our headers are not there.
    pub fn preprocess_command(&self, unit: &TranslationUnit, side: Side<'_>, output: &Path) -> Result<Command, Error> {
        let mut command = self.command_with(&[], unit)?;
        match side {
            Side::Device { arch } => {
                command.args(&unit.device_options).arg("--cuda-device-only").arg(format!("--cuda-gpu-arch={arch}"));
            }
            Side::Host => {
                command.args(&unit.host_options).arg("--cuda-host-only");
            }
        }
        command.arg("-E").arg("-o").arg(output).arg(&unit.input);
        Ok(command)
    }

    /// clang on the host side of a CUDA source with the user's options, and nothing else.
    ///
    /// # Errors
    /// Our headers are not there.
    pub fn cuda_command(&self, unit: &TranslationUnit) -> Result<Command, Error> {
        let mut command = self.command_with(&[], unit)?;
        command.args(&unit.host_options);
        Ok(command)
    }

    /// The same, with options that the user's may override.
    fn command_with(&self, defaults: &[&str], unit: &TranslationUnit) -> Result<Command, Error> {
        let mut command = self.compiler();
        if let Some(source) = unit.stdin.as_ref().and_then(|path| std::fs::File::open(path).ok()) {
            command.stdin(source);
        }
        command.args(["-x", "cuda"]).args(defaults).arg(format!("--cuda-path={}", unit.cuda_path.display()));
        // A toolkit newer than clang knows is no news to the user, who did not choose clang's age.
        command.arg("-Wno-unknown-cuda-version").args(dialect::options(unit)?).args(&unit.options);
        Ok(command)
    }
}

fn sdk_version(version: &str) -> String {
    let (major, minor) = numbers(version).min(NEWEST_KNOWN_SDK);
    format!("-target-sdk-version={major}.{minor}")
}

/// The PTX of a toolkit that is newer than clang 22, whose chips need it.
fn newer_ptx(version: &str) -> Option<&'static str> {
    (numbers(version) >= (13, 0)).then_some("+ptx90")
}

/// Major and minor version.
fn numbers(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// What clang says of a texture reference, which CUDA 12 no longer has, and what to say instead.
const TEXTURE_REFERENCE: (&str, &str) = (
    "no template named 'texture'",
    "no template named 'texture': CUDA 12 took texture references away; texture objects (cudaCreateTextureObject) replace them",
);

/// Runs `command` and gives what it printed on standard error.
pub fn run(command: &mut Command) -> Result<String, Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|source| Error::Io { path: program, source })?;
    let stderr =
        without_crash(&String::from_utf8_lossy(&output.stderr)).replace(TEXTURE_REFERENCE.0, TEXTURE_REFERENCE.1);
    if output.status.success() {
        return Ok(stderr);
    }
    // clang that dies may have no word for it; what it was at is all that can be said then.
    let died = death(&output.status).or_else(|| (!stderr.contains("error:")).then(|| "failed without a word".into()));
    let told = died.map_or(String::new(), |how| {
        format!("regrain: error: '{}' {how} compiling this source\n", command.get_program().to_string_lossy())
    });
    Err(Error::Rejected { stderr: stderr + &told })
}

/// How a program ended, if not by itself.
pub fn death(status: &ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt;
    status.signal().map(|signal| format!("was killed by signal {signal}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_toolkit_is_treated_as_the_newest_known_one() {
        assert_eq!(sdk_version("11.4"), "-target-sdk-version=11.4");
        assert_eq!(sdk_version("12.9"), "-target-sdk-version=12.8");
        assert_eq!(sdk_version("13.0.1"), "-target-sdk-version=12.8");
    }
}
