//! `regrain-order EXECUTABLE FILE -- COMMAND...`: which functions of an executable a command calls, in the order of their first calls, for lld to
//! place them in (`--symbol-ordering-file`).
//!
//! The drivers have all of LLVM, MLIR, clang and lld in themselves, 130 MB of code, of which a compilation calls a tenth, some here and some there:
//! each is another page to map, and a driver starts itself several times as clang. Side by side they are found in a few pages.
//!
//! A breakpoint is at the beginning of each function in all processes of the command that run the executable, and goes when a thread comes to it. So
//! a function costs one trap, however often it is called.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod trace;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

/// Writes which functions of an executable a command calls.
#[derive(Parser)]
#[command(name = "regrain-order", version)]
struct Arguments {
    /// The executable, at fixed addresses, with its symbols.
    executable: PathBuf,
    /// Where the names go, one a line.
    file: PathBuf,
    /// The command, which runs the executable itself or by others.
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

fn main() -> ExitCode {
    match order(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("regrain-order: error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn order(arguments: &Arguments) -> Result<()> {
    use anyhow::Context as _;

    let names = trace::called(&arguments.executable, &arguments.command)?;
    let file = &arguments.file;
    std::fs::write(file, names.join("\n") + "\n").with_context(|| format!("cannot write '{}'", file.display()))
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn order(_: &Arguments) -> Result<()> {
    anyhow::bail!("breakpoints are known for Linux on x86-64 alone")
}
