//! `regrain-tune prune`: removes records.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anyhow::{Result, bail};
use clap::Args;
use glob::Pattern;
use regrain_tuning::choice::needed;
use regrain_tuning::database::Shape;
use regrain_tuning::{Database, Key, Policy, Record};

use crate::filter;

/// Options of `prune`. All the conditions that are given must hold for a record to go.
#[derive(Args)]
pub struct Arguments {
    /// The database
    file: PathBuf,
    /// Records older than this, as in `30d` or `12h`
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    older_than: Option<Duration>,
    /// Records of another version than this one
    #[arg(long)]
    version_other: bool,
    /// Records of this target
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// Records of kernels whose name matches
    #[arg(long, value_name = "GLOB")]
    kernel: Option<Pattern>,
    /// Records of launch shapes of which too little was measured to choose
    #[arg(long)]
    incomplete: bool,
    /// Lines that cannot be read (by itself, nothing else goes)
    #[arg(long)]
    damaged: bool,
    /// Only say what would go
    #[arg(short = 'n', long)]
    dry_run: bool,
}

impl Arguments {
    fn has_conditions(&self) -> bool {
        self.older_than.is_some()
            || self.version_other
            || self.target.is_some()
            || self.kernel.is_some()
            || self.incomplete
    }
}

/// Removes what the conditions say.
pub fn prune(arguments: &Arguments) -> Result<()> {
    if !arguments.has_conditions() && !arguments.damaged {
        bail!(
            "nothing to prune: expected at least one of '--older-than', '--version-other', '--target', '--kernel', '--incomplete' and '--damaged'"
        );
    }
    let mut all = crate::open(&arguments.file)?;
    let before = all.records().count();
    let (gone, damaged) = if arguments.dry_run {
        remove(&mut all, arguments)
    } else {
        let mut gone = (0, 0);
        Database::update(&arguments.file, Duration::from_secs(30), |database| gone = remove(database, arguments))?;
        gone
    };
    let verb = if arguments.dry_run { "would remove" } else { "removed" };
    println!("{verb} {gone} of {before} records, {damaged} damaged lines");
    Ok(())
}

fn remove(database: &mut Database, arguments: &Arguments) -> (usize, usize) {
    let incomplete = incomplete(database);
    let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |now| now.as_secs());
    let goes = |record: &Record| {
        arguments.older_than.is_none_or(|age| record.date + age.as_secs() < now)
            && (!arguments.version_other || record.key.version != regrain_tuning::VERSION)
            && arguments.target.as_ref().is_none_or(|target| record.key.target == *target)
            && arguments.kernel.as_ref().is_none_or(|pattern| filter::matches(pattern, &record.kernel))
            && (!arguments.incomplete || incomplete.contains(&record.key))
    };
    let gone = if arguments.has_conditions() { database.retain(|record| !goes(record)) } else { 0 };
    (gone, if arguments.damaged { database.drop_damaged() } else { 0 })
}

/// Launch shapes that cannot take part in a choice.
fn incomplete(database: &Database) -> HashSet<Key> {
    let lacking = |shapes: Vec<Shape>| {
        let samples = needed(Policy::default().samples, shapes.len());
        let lacks = move |shape: &Shape| shape.comparable(samples).is_none();
        shapes.into_iter().filter(lacks).map(|shape| shape.key).collect::<Vec<_>>()
    };
    database.versions().into_values().flat_map(lacking).collect()
}
