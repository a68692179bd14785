//! `regrain-tune`: looks into tuning databases, puts them together, and drives the loop of building, measuring and building
//! again; and measures the machine.
//!
//! A thin main: the subcommands are in [`show`], [`report`], [`run`], [`calibrate`] and [`prune`]; reading, merging and choosing is `regrain-tuning`'s.

#![allow(clippy::print_stdout, reason = "a tool speaks on standard output")]

mod calibrate;
mod filter;
mod prune;
mod report;
mod run;
mod show;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand, ValueEnum};
use regrain_tuning::{Database, Policy};

/// Tuning databases of Regrain: what was measured of each kernel at each grain.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show each kernel's candidates, and which one wins
    Show(show::Arguments),
    /// Show what the compiler weighed, from the files of -fregrain-report
    Report(report::Arguments),
    /// Put databases together
    Merge {
        /// Where to write the result
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Databases
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Write a database as a table, one row for each candidate of each launch shape
    Export {
        /// The format
        #[arg(long, value_enum)]
        format: Format,
        /// A database
        file: PathBuf,
        /// Where to write it (standard output if absent)
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Remove records to which all the conditions apply
    Prune(prune::Arguments),
    /// Run a program until every candidate of every kernel is measured
    Run(run::Arguments),
    /// Measure what launches, blocks and operations take on this machine
    Calibrate(calibrate::Arguments),
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Csv,
    Json,
}

fn main() -> ExitCode {
    match dispatch(Arguments::parse().command) {
        Ok(code) => ExitCode::from(code),
        // Whoever reads our output may stop reading.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("regrain-tune: error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn dispatch(command: Command) -> Result<u8> {
    match command {
        Command::Show(arguments) => show::show(&arguments)?,
        Command::Report(arguments) => report::report(&arguments)?,
        Command::Merge { output, files } => open_all(&files)?.save(&output)?,
        Command::Export { format, file, output } => export(&open(&file)?, format, output.as_deref())?,
        Command::Prune(arguments) => prune::prune(&arguments)?,
        Command::Calibrate(arguments) => calibrate::calibrate(&arguments)?,
        Command::Run(arguments) => return run::run(&arguments),
    }
    Ok(0)
}

/// Reads a database; its damaged lines are warnings.
fn open(path: &Path) -> Result<Database> {
    let database = Database::open(path)?;
    for warning in database.warnings() {
        eprintln!("{warning}");
    }
    Ok(database)
}

/// Reads databases and puts them together.
fn open_all(paths: &[PathBuf]) -> Result<Database> {
    let mut all = Database::default();
    for path in paths {
        all.merge(open(path)?);
    }
    Ok(all)
}

fn export(database: &Database, format: Format, output: Option<&Path>) -> Result<()> {
    let rows = database.rows(&Policy::default());
    let mut bytes = Vec::new();
    match format {
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(&mut bytes);
            rows.iter().try_for_each(|row| writer.serialize(row))?;
            writer.flush()?;
        }
        Format::Json => {
            serde_json::to_writer_pretty(&mut bytes, &rows)?;
            bytes.push(b'\n');
        }
    }
    match output {
        Some(path) => std::fs::write(path, bytes).with_context(|| format!("cannot write '{}'", path.display())),
        None => io::stdout().write_all(&bytes).context("cannot write to standard output"),
    }
}
