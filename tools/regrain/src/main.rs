//! `regrain`: a drop-in for clang when compiling CUDA.
//!
//! A thin main: the command line is read ([`args`]), tools and targets are found ([`session`]), each source is compiled
//! ([`compile`]) by the compiler's library or by clang, and clang links ([`link`]), before which device code that waits for it is linked
//! ([`device_link`]).

#![allow(clippy::print_stdout, reason = "a tool speaks on standard output")]

mod args;
mod compile;
mod dependencies;
mod device_link;
mod link;
mod session;

use std::process::ExitCode;

use anyhow::{Error, Result};

use crate::args::Output;
use crate::session::Session;

fn main() -> ExitCode {
    regrain_targets::jobs::join_make();
    init_tracing();
    let outcome = std::panic::catch_unwind(run).unwrap_or_else(|_| {
        Err(anyhow::anyhow!("internal error: the compiler panicked; please report this with the command line"))
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
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
    if session.args.time_report {
        regrain_compiler::time_report::start();
    }
    let compiled = compile::all(&session);
    if session.args.time_report {
        eprint!("{}", regrain_compiler::time_report::text());
    }
    let objects = compiled?;
    match session.args.kind {
        Output::Linked => link::link(&session, &objects),
        _ => Ok(()),
    }
}

/// Prints an error, clang's way. What is located and worded already is shown as it is.
fn report(error: &Error) {
    use regrain_compiler::Error as Compiler;
    match error.downcast_ref() {
        Some(Compiler::Frontend(regrain_frontend::Error::Rejected { stderr })) => eprint!("{stderr}"),
        Some(Compiler::Target(regrain_targets::Error::Unsupported(what))) => eprintln!("{what}"),
        Some(Compiler::Target(located @ regrain_targets::Error::Located { .. })) => eprintln!("{located}"),
        _ => {
            let mut parts: Vec<String> = error.chain().map(ToString::to_string).collect();
            // A message may have its cause's words in it.
            parts.dedup_by(|cause, message| message.ends_with(cause.as_str()));
            eprintln!("regrain: error: {}", parts.join(": "));
        }
    }
}
