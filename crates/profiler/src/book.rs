//! Where a program writes what it measures: the tuning database, by merging into the file under its lock. A failure is one
//! warning.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use regrain_tuning::database::{Database, Error};
use regrain_tuning::record::Record;

/// The database of one run.
pub struct Book {
    path: PathBuf,
    /// The run's name in the database.
    run: String,
    /// A child of `fork` inherits the samples of its parent, who writes them.
    process: u32,
    has_warned: AtomicBool,
}

impl Book {
    /// The database at `path`, with what is in it. `None`, after a warning that ends in `otherwise`, where it cannot be read.
    pub fn open(path: PathBuf, otherwise: &str) -> Option<(Self, Database)> {
        let database = match Database::open(&path) {
            Ok(database) => database,
            Err(Error::Io { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => Database::default(),
            Err(error) => {
                warn(&format!("{error}; {otherwise}"));
                return None;
            }
        };
        let run = format!("{:016x}", RandomState::new().build_hasher().finish());
        Some((Self { path, run, process: std::process::id(), has_warned: AtomicBool::new(false) }, database))
    }

    /// Writes records without run and date; those of one key become one.
    pub fn write(&self, all: impl IntoIterator<Item = Record>, patience: Duration) {
        let date = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs());
        let mut records: BTreeMap<_, Record> = BTreeMap::new();
        for record in all {
            let record = Record { run: self.run.clone(), date, ..record };
            match records.get_mut(&record.key) {
                Some(known) => known.add(&record),
                None => _ = records.insert(record.key.clone(), record),
            }
        }
        if records.is_empty() || self.process != std::process::id() {
            return;
        }
        let put = |database: &mut Database| records.into_values().for_each(|record| database.insert(record));
        if let Err(error) = Database::update(&self.path, patience, put)
            && !self.has_warned.swap(true, Ordering::Relaxed)
        {
            warn(&error.to_string());
        }
    }
}

/// `REGRAIN_TUNING_DB`, made absolute.
pub fn named_path() -> Option<PathBuf> {
    let given = std::env::var_os("REGRAIN_TUNING_DB").filter(|path| !path.is_empty())?;
    std::path::absolute(Path::new(&given)).map_err(no_place).ok()
}

/// A file beside the executable.
pub fn usual_path() -> Option<PathBuf> {
    let path = std::env::current_exe().map(|path| {
        let mut path = path.into_os_string();
        path.push(".regrain-tuning");
        path.into()
    });
    path.map_err(no_place).ok()
}

fn no_place(error: std::io::Error) {
    warn(&format!("cannot find a place for the tuning database: {error}"));
}

/// Says something on standard error.
pub fn warn(text: &str) {
    say(&format!("regrain profiler: warning: {text}\n"));
}

/// Writes to standard error. That it is closed is no reason to fail.
pub fn say(text: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(text.as_bytes());
}
