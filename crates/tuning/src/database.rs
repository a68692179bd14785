//! The tuning database: records of many runs, read from and written to JSON Lines.
//!
//! ```text
//! {"format":"regrain-tuning","version":1}
//! {"kernel":"_Z3addPf","hash":"9f..","block":[256,1,1],"grid":[64,1,1],"shared":0,"target":"sm_80","version":"0.1.0",
//!  "run":"5e..","date":1763660000,"launches":120,"space":"c3..","candidates":{"original":{"warm":[4100,4120],"cold":[9800]},..}}
//! ```
//!
//! One record is one line. There is at most one record of a run and a key; merging is the union, and of two records of the
//! same run and key the fuller one stays. So merging is commutative, associative and idempotent. A line that is no record is
//! passed over with a warning that names file and line, and is written back as it was.
//!
//! *Key.* Hash of the kernel's content, block and grid shape, dynamic shared memory, target, version of the compiler. No path and no file
//! name: moving or renaming things loses nothing. A record further has the name of its run. Merging is the union by key and run, the
//! fuller record staying where both have one; so it is commutative, associative and idempotent, and no sample counts twice.
//!
//! A program that chooses by itself (`-fregrain-adaptive`) measures no more than it needs, and says in a record what it settled on:
//! `"settled":"b2x1x1"`. That counts, where there is one, before the times (`settled.rs`).
//!
//! *Writing.* Under an advisory lock of the file itself: read, merge, write a new file beside it, rename. Who waited for the lock of
//! a file that has been replaced starts again. A line that cannot be read is passed over with a warning and written back as it was;
//! a file of another kind, or of a newer format, is an error and left alone. A program never fails because of its profile.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fmt, io};

use serde::{Deserialize, Serialize};

use crate::grain::Grain;
use crate::record::{Key, Record, Times};

/// The version of the format that is written here, and the newest that can be read.
pub const FORMAT_VERSION: u32 = 1;
const FORMAT: &str = "regrain-tuning";

/// Why a database cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error("cannot {what} tuning database '{}': {cause}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The database.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The file is something else.
    #[error("{}:1: not a tuning database: expected a first line as in '{{\"format\":\"{FORMAT}\",\"version\":{FORMAT_VERSION}}}'", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a newer Regrain.
    #[error("{}:1: tuning database of format version {found}, expected at most {FORMAT_VERSION}: it was written by a newer regrain", path.display())]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// The version that it states.
        found: u64,
    },
    /// Somebody else kept the database locked for too long.
    #[error("tuning database '{}' is locked by another process", path.display())]
    Locked {
        /// The database.
        path: PathBuf,
    },
}

/// A line that was passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: warning: damaged record passed over: {}", self.path.display(), self.line, self.reason)
    }
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u64,
}

/// Records of any number of runs.
#[derive(Clone, Debug, Default)]
pub struct Database {
    records: BTreeMap<Key, BTreeMap<String, Record>>,
    /// Lines that could not be read, as they were.
    damaged: BTreeSet<Vec<u8>>,
    warnings: Vec<Warning>,
}

/// Equal when they would be written the same.
impl PartialEq for Database {
    fn eq(&self, other: &Self) -> bool {
        self.records == other.records && self.damaged == other.damaged
    }
}

impl Database {
    /// Reads a database. A file that does not exist is an error.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(|cause| Error::Io { what: "read", path: path.to_owned(), cause })?;
        Self::parse(&bytes, path)
    }

    /// Reads the content of a file; `path` is for messages. An empty file is an empty database.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self, Error> {
        let mut database = Self::default();
        let mut lines =
            bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty());
        let Some((_, first)) = lines.next() else { return Ok(database) };
        let header = serde_json::from_slice::<Header>(first).ok().filter(|header| header.format == FORMAT);
        let header = header.ok_or_else(|| Error::NotADatabase { path: path.to_owned() })?;
        if header.version > u64::from(FORMAT_VERSION) {
            return Err(Error::NewerFormat { path: path.to_owned(), found: header.version });
        }
        for (index, line) in lines {
            match serde_json::from_slice::<Record>(line) {
                Ok(record) => database.insert(record),
                Err(error) => {
                    let reason = error.to_string().replace(" at line 1 column", " at column");
                    database.warnings.push(Warning { path: path.to_owned(), line: index + 1, reason });
                    database.damaged.insert(line.to_owned());
                }
            }
        }
        Ok(database)
    }

    /// The content of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{{\"format\":\"{FORMAT}\",\"version\":{FORMAT_VERSION}}}\n").into_bytes();
        for record in self.records() {
            // Strings, numbers and maps with names as keys: all of it can be written.
            if let Ok(line) = serde_json::to_vec(record) {
                bytes.extend(line);
                bytes.push(b'\n');
            }
        }
        for line in &self.damaged {
            bytes.extend(line);
            bytes.push(b'\n');
        }
        bytes
    }

    /// Lines that were passed over.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// All records, in the order of their keys.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.values().flat_map(BTreeMap::values)
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Takes in one record; if the run has one of this key already, the fuller one stays.
    pub fn insert(&mut self, mut record: Record) {
        for times in record.candidates.values_mut() {
            times.warm.sort_unstable();
            times.cold.sort_unstable();
        }
        let runs = self.records.entry(record.key.clone()).or_default();
        let record = match runs.remove(&record.run) {
            Some(known) => known.fuller(record),
            None => record,
        };
        runs.insert(record.run.clone(), record);
    }

    /// Takes in everything of `other`.
    pub fn merge(&mut self, other: Self) {
        for record in other.records.into_values().flat_map(BTreeMap::into_values) {
            self.insert(record);
        }
        self.damaged.extend(other.damaged);
        self.warnings.extend(other.warnings);
    }

    /// Keeps the records for which `keep` holds; returns how many are gone.
    pub fn retain(&mut self, keep: impl Fn(&Record) -> bool) -> usize {
        let before = self.records().count();
        for runs in self.records.values_mut() {
            runs.retain(|_, record| keep(record));
        }
        self.records.retain(|_, runs| !runs.is_empty());
        before - self.records().count()
    }

    /// Forgets the lines that could not be read; returns how many there were.
    pub fn drop_damaged(&mut self) -> usize {
        std::mem::take(&mut self.damaged).len()
    }

    /// What all runs together measured, by key.
    pub fn shapes(&self) -> Vec<Shape> {
        self.shapes_of(|_| true)
    }

    /// The same, put together by what has one version in a compiled program: keys without grid and dynamic shared memory.
    pub fn versions(&self) -> BTreeMap<Key, Vec<Shape>> {
        let mut versions: BTreeMap<Key, Vec<Shape>> = BTreeMap::new();
        for shape in self.shapes() {
            versions.entry(shape.key.without_grid()).or_default().push(shape);
        }
        versions
    }

    /// What all runs together measured of the keys for which `is_wanted` holds.
    pub fn shapes_of(&self, is_wanted: impl Fn(&Key) -> bool) -> Vec<Shape> {
        let wanted = self.records.iter().filter(|(key, _)| is_wanted(key));
        wanted.filter_map(|(key, runs)| Shape::of(key, runs.values())).collect()
    }

    /// What all runs together measured of one key.
    pub fn shape(&self, key: &Key) -> Option<Shape> {
        Shape::of(key, self.records.get(key)?.values())
    }
}

/// What all runs together measured of one kernel at one launch shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What was measured.
    pub key: Key,
    /// The kernel's symbol, as the latest run had it.
    pub kernel: String,
    /// Runs with a record of it.
    pub runs: usize,
    /// Launches in all runs.
    pub launches: u64,
    /// The latest run, in seconds since 1970.
    pub date: u64,
    /// Checksum of the latest run's search space.
    pub space: String,
    /// Every candidate of every run.
    pub candidates: BTreeMap<Grain, Times>,
    /// What the latest run that settled on something settled on.
    pub settled: Option<Grain>,
}

impl Shape {
    fn of<'r>(key: &Key, records: impl Iterator<Item = &'r Record> + Clone) -> Option<Self> {
        let latest = records.clone().max_by_key(|record| record.date)?;
        let settled = records.clone().filter(|record| record.settled.is_some()).max_by_key(|record| record.date);
        let mut shape = Self {
            key: key.clone(),
            kernel: latest.kernel.clone(),
            runs: 0,
            launches: 0,
            date: latest.date,
            space: latest.space.clone(),
            candidates: BTreeMap::new(),
            settled: settled.and_then(|record| record.settled),
        };
        for record in records {
            shape.runs += 1;
            shape.launches += record.launches;
            for (grain, times) in &record.candidates {
                shape.candidates.entry(*grain).or_default().add(times);
            }
        }
        Some(shape)
    }

    /// Launches in a run: how much the shape counts beside others. Runs that had nothing left to measure are not recorded,
    /// so the number of all launches would say less.
    pub fn weight(&self) -> f64 {
        self.launches as f64 / self.runs.max(1) as f64
    }

    /// The candidates that could be launched.
    pub fn usable(&self) -> impl Iterator<Item = (&Grain, &Times)> {
        self.candidates.iter().filter(|(_, times)| !times.failed)
    }

    /// How many of the samples that are needed are there, if each usable candidate needs `samples`: either all of them
    /// warm, or, where a program launches a kernel once in a run, all of them cold.
    pub fn progress(&self, samples: usize) -> (usize, usize) {
        let have =
            |of: fn(&Times) -> &Vec<u64>| self.usable().map(|(_, times)| of(times).len().min(samples)).sum::<usize>();
        (have(|times| &times.warm).max(have(|times| &times.cold)), samples * self.usable().count())
    }

    /// The samples by which candidates compare: warm ones if each usable candidate has enough, else cold ones.
    pub fn comparable(&self, samples: usize) -> Option<Vec<(Grain, &[u64])>> {
        let enough = |of: fn(&Times) -> &Vec<u64>| {
            let all = self.usable().all(|(_, times)| of(times).len() >= samples.max(1));
            all.then(|| self.usable().map(|(grain, times)| (*grain, of(times).as_slice())).collect())
        };
        enough(|times| &times.warm).or_else(|| enough(|times| &times.cold))
    }
}
