//! `regrain-tune run`: runs a program built for profiling until its database is complete; with `--build`, it builds the program
//! for profiling before that and with the winners after.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, IsTerminal, Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use regrain_tuning::choice::needed;
use regrain_tuning::{Database, Key};

use crate::show;

/// The driver takes these options as if they stood at the end of its command line.
const APPEND_FLAGS: &str = "REGRAIN_APPEND_FLAGS";

/// Options of `run`.
#[derive(Args)]
pub struct Arguments {
    /// A shell command that builds the program anew, as in 'make -B'; it is run with the options for profiling in
    /// REGRAIN_APPEND_FLAGS, and in the end with those for the winners
    #[arg(long, value_name = "COMMAND")]
    build: Option<String>,
    /// Samples of each candidate, over all grids, and at least three for each grid
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(3..=1000))]
    samples: u16,
    /// Runs at most
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    max_runs: u32,
    /// The database (default: REGRAIN_TUNING_DB, else 'regrain.tuning' in this folder)
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Show what the program prints
    #[arg(long)]
    show_output: bool,
    /// The program with its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Why the runs ended.
enum End {
    Complete,
    /// Two runs in a row gave nothing new.
    Stalled,
    MaxRuns,
    /// A command failed with this exit code.
    Failed(u8),
}

/// Runs the whole loop; returns the exit code.
pub fn run(arguments: &Arguments) -> Result<u8> {
    let given = arguments
        .db
        .clone()
        .or_else(|| std::env::var_os("REGRAIN_TUNING_DB").filter(|db| !db.is_empty()).map(Into::into));
    let path =
        std::path::absolute(given.unwrap_or_else(|| "regrain.tuning".into())).context("cannot find this folder")?;
    let before = open_if_there(&path)?;
    if let Some(build) = &arguments.build
        && let Some(code) = self::build(build, "-fregrain-profile-generate")?
    {
        return Ok(code);
    }
    let mut loop_ = Loop { arguments, path: &path, known: runs_of(&before), runs: 0, bar: bar() };
    let end = loop_.until_complete(before)?;
    loop_.bar.finish_and_clear();
    let runs = loop_.runs;
    let note = match end {
        End::Failed(code) => return Ok(code),
        End::Complete => "every candidate is measured",
        End::Stalled => "the last two runs measured nothing new",
        End::MaxRuns => "no more runs are allowed ('--max-runs')",
    };
    let database = open_if_there(&path)?;
    if database.is_empty() {
        bail!("the program recorded nothing in '{}': was it built with '-fregrain-profile-generate'?", path.display());
    }
    println!("{runs} {}: {note}", if runs == 1 { "run" } else { "runs" });
    println!("{}", show::summary(&database));
    if let Some(build) = &arguments.build {
        let path = path.to_str().with_context(|| format!("'{}' is not UTF-8", path.display()))?;
        let option = format!("-fregrain-profile-use={path}");
        return Ok(self::build(build, &shlex::try_quote(&option)?)?.unwrap_or(0));
    }
    Ok(0)
}

fn open_if_there(path: &Path) -> Result<Database> {
    if path.exists() { crate::open(path) } else { Ok(Database::default()) }
}

fn runs_of(database: &Database) -> BTreeSet<String> {
    database.records().map(|record| record.run.clone()).collect()
}

struct Loop<'a> {
    arguments: &'a Arguments,
    path: &'a Path,
    /// Runs that were in the database before.
    known: BTreeSet<String>,
    runs: u32,
    bar: ProgressBar,
}

impl Loop<'_> {
    fn until_complete(&mut self, mut before: Database) -> Result<End> {
        let mut idle = 0;
        while self.runs < self.arguments.max_runs {
            if let Some(code) = self.once()? {
                return Ok(End::Failed(code));
            }
            self.runs += 1;
            let now = open_if_there(self.path)?;
            let (have, need) = self.progress(&now);
            self.tell(have, need);
            if need > 0 && have >= need {
                return Ok(End::Complete);
            }
            idle = if now == before { idle + 1 } else { 0 };
            if idle == 2 {
                // What was there from the start may be complete without a new run.
                return Ok(if need == 0 && !now.is_empty() { End::Complete } else { End::Stalled });
            }
            before = now;
        }
        Ok(End::MaxRuns)
    }

    /// Samples that are there and that are needed, of the launch shapes that the program has now.
    fn progress(&self, database: &Database) -> (usize, usize) {
        let active: BTreeSet<&Key> =
            database.records().filter(|record| !self.known.contains(&record.run)).map(|record| &record.key).collect();
        let mut sum = (0, 0);
        for shapes in database.versions().values() {
            let samples = needed(self.arguments.samples.into(), shapes.len());
            for (have, need) in
                shapes.iter().filter(|shape| active.contains(&shape.key)).map(|shape| shape.progress(samples))
            {
                sum = (sum.0 + have, sum.1 + need);
            }
        }
        sum
    }

    fn tell(&self, have: usize, need: usize) {
        self.bar.set_length(need as u64);
        self.bar.set_position(have as u64);
        self.bar.set_message(format!("run {}", self.runs));
        if !io::stderr().is_terminal() {
            let state = if need == 0 { "nothing new".to_owned() } else { format!("{have} of {need} samples") };
            eprintln!("run {}: {state}", self.runs);
        }
    }

    /// One run of the program; its exit code if it failed.
    fn once(&self) -> Result<Option<u8>> {
        let [program, words @ ..] = self.arguments.command.as_slice() else { bail!("no command") };
        let mut command = Command::new(program);
        command
            .args(words)
            .env("REGRAIN_TUNING_DB", self.path)
            .env("REGRAIN_TUNING_SAMPLES", self.arguments.samples.to_string());
        let mut kept = None;
        if !self.arguments.show_output {
            let file = tempfile::tempfile().context("cannot make a temporary file")?;
            let copy = || file.try_clone().map(Stdio::from).context("cannot make a temporary file");
            command.stdout(copy()?).stderr(copy()?);
            kept = Some(file);
        }
        let status = command.status().with_context(|| format!("cannot run '{program}'"))?;
        if status.success() {
            return Ok(None);
        }
        self.bar.finish_and_clear();
        if let Some(mut file) = kept {
            show_file(&mut file)?;
        }
        Ok(Some(complain(&self.arguments.command.join(" "), status)))
    }
}

fn bar() -> ProgressBar {
    // Without a terminal there is a line for each run instead.
    let bar = if io::stderr().is_terminal() { ProgressBar::new(0) } else { ProgressBar::hidden() };
    let style = ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len} samples, {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
    bar.set_message("run 1");
    bar
}

fn show_file(file: &mut File) -> Result<()> {
    file.rewind()?;
    io::copy(file, &mut io::stderr())?;
    Ok(io::stderr().flush()?)
}

/// Builds with one more option; the exit code if that failed.
fn build(command: &str, option: &str) -> Result<Option<u8>> {
    let flags = match std::env::var(APPEND_FLAGS) {
        Ok(flags) if !flags.is_empty() => format!("{flags} {option}"),
        _ => option.to_owned(),
    };
    let status =
        Command::new("sh").args(["-c", command]).env(APPEND_FLAGS, flags).status().context("cannot run 'sh'")?;
    Ok(if status.success() { None } else { Some(complain(command, status)) })
}

/// Says how a command failed; its exit code as a shell would give it.
fn complain(command: &str, status: ExitStatus) -> u8 {
    eprintln!("regrain-tune: error: '{command}' failed: {status}");
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}
