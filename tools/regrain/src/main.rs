//! `regrain`: a drop-in for clang when compiling CUDA.
//!
//! A thin main: the command line is read ([`args`]), targets are chosen ([`arch`]), each CUDA source is compiled
//! ([`compile`]), the rest goes to clang, and clang links ([`link`]).

mod arch;
mod args;
mod choice;
mod compile;
mod cpu;
mod decisions;
mod dependencies;
mod diagnostics;
mod dispatch;
mod dump;
mod jobs;
mod link;
mod memory;
mod nvidia;
mod parallel;
mod search;

use std::process::ExitCode;

use anyhow::Result;

use crate::args::Output;
use crate::jobs::Session;

fn main() -> ExitCode {
    regrain_targets::jobs::join_make();
    init_tracing();
    let outcome = std::panic::catch_unwind(run).unwrap_or_else(|_| {
        Err(anyhow::anyhow!("internal error: the compiler panicked; please report this with the command line"))
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            diagnostics::report(&error);
            ExitCode::FAILURE
        }
    }
}

/// `REGRAIN_LOG=<filter>` shows what the passes and the driver do; passes do nothing where the cache has what they lead to.
fn init_tracing() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("REGRAIN_LOG").unwrap_or_default();
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).without_time().init();
}

fn run() -> Result<()> {
    let args = args::of_process()?;
    let session = Session::new(args)?;
    if session.args.help {
        println!("{}", args::HELP);
    }
    if session.is_for_clang_alone() {
        return session.hand_over();
    }
    let objects = compile::all(&session)?;
    match session.args.kind {
        Output::Linked => link::link(&session, &objects),
        _ => Ok(()),
    }
}
