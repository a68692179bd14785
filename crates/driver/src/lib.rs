//! The drivers: `regrain`, a drop-in for clang when compiling CUDA, and `regrain-nvcc`, which takes nvcc's command line.
//!
//! The command line is read ([`parse`]) by a [`table`] of options, tools and targets are found ([`session`]), each source is
//! compiled ([`compile`]) by the compiler's library or by clang, and clang links ([`link`]), before which device code that waits for it is
//! linked ([`device_link`]).

#![allow(clippy::print_stdout, reason = "a tool speaks on standard output")]

pub mod archs;
pub mod args;
mod compile;
mod database;
mod dependencies;
mod device_link;
mod device_linker;
mod inform;
mod inputs;
mod interrupt;
mod libraries;
mod link;
pub mod nvcc;
mod nvcc_listing;
mod our_library;
pub mod ours;
pub mod parse;
mod preprocess;
mod session;
pub mod table;
mod toolkit_view;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Error, Result};
use regrain_frontend::own_tools;
use regrain_targets::toolkit::Toolkit;

pub use crate::args::Driver;
use crate::args::{Args, Output};
use crate::session::Session;

/// For LLVM's libraries too, which allocate far more than we do: long compilations take 5 to 9 % less time than with the C library's.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// All of a driver.
pub fn main(driver: Driver) -> ExitCode {
    if let Some(code) = own_tools::play() {
        return u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from);
    }
    regrain_targets::jobs::join_make();
    init_tracing();
    interrupt::watch();
    let outcome = std::panic::catch_unwind(|| run(driver)).unwrap_or_else(|_| {
        Err(anyhow::anyhow!("internal error: the compiler panicked; please report this with the command line"))
    });
    interrupt::wait_if_ending();
    match outcome {
        Ok(code) => code,
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

fn run(driver: Driver) -> Result<ExitCode> {
    if let Some(tool) = device_linker::tool() {
        let words: Vec<String> = std::env::args().skip(1).collect();
        return tool(&words).map(|()| ExitCode::SUCCESS);
    }
    let args = parse::of_process(driver)?;
    if let Some(what) = args.inform.clone() {
        inform::inform(&args, &what)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.extra.clean {
        return clean(&args).map(|()| ExitCode::SUCCESS);
    }
    if driver == Driver::Nvcc && (args.verbose || args.dry_run) {
        list_as_nvcc(&args)?;
    }
    let session = Session::new(args)?;
    if session.is_for_clang_alone() {
        return session.hand_over().map(|()| ExitCode::SUCCESS);
    }
    if session.args.time_report {
        regrain_compiler::time_report::start();
    }
    let compiled = compile::all(&session);
    if session.args.time_report {
        eprint!("{}", regrain_compiler::time_report::text());
    }
    let objects = compiled?;
    let Some(output) = final_output(&session.args) else { return Ok(ExitCode::SUCCESS) };
    match session.args.kind {
        Output::Archive => link::archive(&session, &objects, &output)?,
        Output::DeviceLinked => link::device_code(&session, &objects, &output)?,
        _ => link::link(&session, &objects, &output)?,
    }
    if session.args.extra.run && !session.args.dry_run {
        run_program(&session.args, &output)
    } else {
        Ok(ExitCode::SUCCESS)
    }
}

/// The lines that nvcc prints before its commands.
fn list_as_nvcc(args: &Args) -> Result<()> {
    let toolkit = Toolkit::find(args.cuda_path.as_deref())?;
    let own = std::env::current_exe().context("cannot find my own executable")?;
    let chips = archs::asked_of_nvidia(args, &toolkit)?;
    let view = toolkit_view::of(&toolkit, toolkit_view::runtime_is_ours());
    eprint!("{}", nvcc_listing::lines(args, [&toolkit.root, &view], &own.with_file_name("regrain"), &chips));
    Ok(())
}

/// The file that is made of all inputs together, if there is one.
fn final_output(args: &Args) -> Option<std::path::PathBuf> {
    let usual = match args.kind {
        Output::Linked => "a.out",
        Output::Archive => "a.a",
        Output::DeviceLinked => "a_dlink.o",
        Output::Object | Output::Assembly | Output::ClangOnly => return None,
    };
    let folder = args.extra.output_directory.as_deref().unwrap_or(Path::new(""));
    Some(args.output.clone().unwrap_or_else(|| folder.join(usual)))
}

/// nvcc's `-run`.
fn run_program(args: &Args, program: &Path) -> Result<ExitCode> {
    let program = program.canonicalize().with_context(|| format!("cannot run '{}'", program.display()))?;
    let status = Command::new(&program).args(&args.extra.run_args).status();
    let status = status.with_context(|| format!("cannot run '{}'", program.display()))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// nvcc's `-clean`: deletes what the rest of the command line would make.
fn clean(args: &Args) -> Result<()> {
    let mut files: Vec<std::path::PathBuf> = final_output(args).into_iter().collect();
    if files.is_empty() {
        let extension = args.extra.extension.unwrap_or(if args.kind == Output::Assembly { "s" } else { "o" });
        let folder = args.extra.output_directory.as_deref().unwrap_or(Path::new(""));
        let made = args.inputs.iter().filter(|input| input.source).filter_map(|input| input.path.file_stem());
        let made = made.map(|stem| folder.join(format!("{}.{extension}", stem.to_string_lossy())));
        files = args.output.clone().map_or_else(|| made.collect(), |output| vec![output]);
    }
    for file in files.iter().filter(|file| file.is_file()) {
        std::fs::remove_file(file).with_context(|| format!("cannot remove '{}'", file.display()))?;
    }
    Ok(())
}

/// Prints an error, clang's way. What is located and worded already is shown as it is.
fn report(error: &Error) {
    use regrain_compiler::Error as Compiler;
    let text = match error.downcast_ref() {
        Some(Compiler::Frontend(regrain_frontend::Error::Rejected { stderr })) => stderr.clone(),
        Some(Compiler::Target(regrain_targets::Error::Unsupported(what))) => format!("{what}\n"),
        Some(Compiler::Target(located @ regrain_targets::Error::Located { .. })) => format!("{located}\n"),
        _ => {
            let mut parts: Vec<String> = error.chain().map(ToString::to_string).collect();
            // A message may have its cause's words in it.
            parts.dedup_by(|cause, message| message.ends_with(cause.as_str()));
            format!("regrain: error: {}\n", parts.join(": "))
        }
    };
    // Nobody may be listening any more.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
