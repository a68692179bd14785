//! What launches, blocks and operations take on a machine: measured by `regrain-tune calibrate`, or what is usual.
//!
//! ```text
//! {"format":"regrain-calibration","version":6,"target":"cpu","start":150,"launch":900,"block":30,"row":2,"operation":0.07,"window":100,
//!  "alone":0.35,"waits":{"add":0.7,"multiply":1.3,"divide":4.5,"forward":1.5,"other":0.35},"levels":[{"bytes":32768,"stream":0},..],
//!  "pages":[{"pages":64,"missed":0.5},..],"followed":[{"pages":64,"missed":7},..],"device":{"step":500,"point":150},
//!  "chip":{"step":60,"point":5},"copied":5}
//! ```
//!
//! A file of one machine. It is found by the variable [`VARIABLE`], for the compiler and for the tool that writes it; as a tuning database it is
//! never looked for anywhere else. The model that these are the parameters of is `compiler::parallelize::waves`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Names the file.
pub const VARIABLE: &str = "REGRAIN_CALIBRATION";
/// The version of the format that is written here, and the only one that is read.
pub const FORMAT_VERSION: u64 = 6;
const FORMAT: &str = "regrain-calibration";
/// The levels of memory at most.
pub const MOST_LEVELS: usize = 4;

/// A level of memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// So much fits, for one processor.
    pub bytes: f64,
    /// Nanoseconds that a line of many which nobody waits for takes to come from it, longer than one from the first level.
    pub stream: f64,
}

/// Something that a processor has of pages, such as their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// So many pages are in it.
    pub pages: f64,
    /// Nanoseconds of a page that is not, beside those of the table before.
    pub missed: f64,
}

/// What the threads of a block do together, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Together {
    /// A step: a store, a barrier and a load.
    pub step: f64,
    /// A further point of a thread in a step, beside what it waits for.
    pub point: f64,
}

/// The nanoseconds that operations keep one waiting that uses their result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waits {
    /// Sums and comparisons of floating-point numbers.
    pub add: f64,
    /// Products, alone and with a sum.
    pub multiply: f64,
    /// Quotients and roots.
    pub divide: f64,
    /// A store, until what it stored is loaded.
    pub forward: f64,
    /// All else.
    pub other: f64,
}

/// The parameters of a machine, all times in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    format: String,
    version: u64,
    /// What it was measured on: `cpu`, or a chip.
    pub target: String,
    /// A launch of one block, until it is done.
    pub start: f64,
    /// A launch that all processors have a part in, until all have done it.
    pub launch: f64,
    /// A block of a launch.
    pub block: f64,
    /// A row of a piece of a tile.
    pub row: f64,
    /// An operation of a row that others are behind.
    pub operation: f64,
    /// How many operations may wait in a processor at once.
    pub window: f64,
    /// An operation of an iteration where each waits for the one before.
    pub alone: f64,
    /// What operations keep others waiting.
    pub waits: Waits,
    /// The levels of memory, the smallest first; the last holds everything.
    pub levels: Vec<Level>,
    /// The tables of pages, the smallest first.
    pub pages: [Table; 2],
    /// Of how many pages lines of far memory are fetched ahead, one way and another, and what a row of a line of one more takes longer.
    pub followed: [Table; 2],
    /// Threads that have a tile together, in the memory of the device.
    pub device: Together,
    /// The same in shared memory.
    pub chip: Together,
    /// A line that the threads of a block bring from the one to the other.
    pub copied: f64,
}

/// What is taken for a machine that nobody measured: orders of magnitude of server processors, and of GPUs in what blocks do together.
impl Default for Calibration {
    fn default() -> Self {
        let level = |bytes: u64, stream| Level { bytes: bytes as f64, stream };
        Self {
            format: FORMAT.into(),
            version: FORMAT_VERSION,
            target: "cpu".into(),
            start: 500.0,
            launch: 3_500.0,
            block: 100.0,
            row: 1.0,
            operation: 0.08,
            window: 100.0,
            alone: 0.35,
            waits: Waits { add: 1.0, multiply: 1.2, divide: 4.0, forward: 1.5, other: 0.3 },
            levels: vec![level(32 << 10, 0.0), level(1 << 20, 0.2), level(32 << 20, 1.0), level(1 << 50, 3.0)],
            pages: [Table { pages: 64.0, missed: 0.5 }, Table { pages: 1_536.0, missed: 6.0 }],
            followed: [Table { pages: 16.0, missed: 3.0 }, Table { pages: 64.0, missed: 4.0 }],
            device: Together { step: 500.0, point: 150.0 },
            chip: Together { step: 60.0, point: 5.0 },
            copied: 5.0,
        }
    }
}

/// Why there are no parameters.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error("cannot read calibration '{}': {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The file is damaged, or something else.
    #[error("{}:{line}:{column}: damaged calibration: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where, from 1.
        line: usize,
        /// Where in the line, from 1.
        column: usize,
        /// What is wrong.
        reason: String,
    },
}

impl Calibration {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is no calibration.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|cause| Error::Io { path: path.to_owned(), cause })?;
        Self::parse(&text, path)
    }

    /// Reads the content of a file; `path` is for messages.
    ///
    /// # Errors
    /// It is no calibration.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let damaged = |line, column, reason: String| Error::Damaged { path: path.to_owned(), line, column, reason };
        let read: Self = serde_json::from_str(text).map_err(|error| {
            let words = error.to_string();
            let reason = words.rsplit_once(" at line ").map_or(words.as_str(), |(reason, _)| reason);
            damaged(error.line().max(1), error.column().max(1), reason.to_owned())
        })?;
        read.wrong().map_or(Ok(read), |reason| Err(damaged(1, 1, reason)))
    }

    /// What cannot be.
    fn wrong(&self) -> Option<String> {
        if self.format != FORMAT || self.version != FORMAT_VERSION {
            return Some(format!(
                "expected format \"{FORMAT}\" of version {FORMAT_VERSION}, got \"{}\" of version {}",
                self.format, self.version
            ));
        }
        let times = [
            ("start", self.start, 0.0),
            ("launch", self.launch, 1.0),
            ("block", self.block, 0.0),
            ("row", self.row, 0.0),
            ("operation", self.operation, 1e-6),
            ("alone", self.alone, 1e-6),
            ("add", self.waits.add, 0.0),
            ("multiply", self.waits.multiply, 0.0),
            ("divide", self.waits.divide, 0.0),
            ("forward", self.waits.forward, 0.0),
            ("other", self.waits.other, 0.0),
            ("missed", self.pages[0].missed, 0.0),
            ("missed", self.pages[1].missed, 0.0),
            ("missed", self.followed[0].missed, 0.0),
            ("missed", self.followed[1].missed, 0.0),
            ("step", self.device.step, 0.0),
            ("point", self.device.point, 0.0),
            ("step", self.chip.step, 0.0),
            ("point", self.chip.point, 0.0),
            ("copied", self.copied, 0.0),
        ];
        if let Some((name, time, least)) = times.into_iter().find(|(_, time, least)| !(*least..=1e9).contains(time)) {
            return Some(format!("expected nanoseconds from {least} to 1e9 in \"{name}\", got {time}"));
        }
        if !(1.0..=1e9).contains(&self.window) {
            return Some(format!("expected operations from 1 to 1e9 in \"window\", got {}", self.window));
        }
        if !self.pages.iter().chain(&self.followed).all(|table| (1.0..=1e18).contains(&table.pages)) {
            return Some("expected 1 to 1e18 pages in \"pages\"".to_owned());
        }
        let is_time = |time: f64| (0.0..=1e9).contains(&time);
        let is_right = |level: &Level| (1.0..=1e18).contains(&level.bytes) && is_time(level.stream);
        let ascends = self.levels.windows(2).all(|pair| pair[0].bytes < pair[1].bytes);
        let count = self.levels.len();
        if !(1..=MOST_LEVELS).contains(&count) || !ascends || !self.levels.iter().all(is_right) {
            return Some(format!("expected 1 to {MOST_LEVELS} levels of ascending sizes in \"levels\""));
        }
        None
    }

    /// The text of a file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The operations from which on a launch gains more from a second processor than it costs: half of them wait no more, each as long as
    /// one that waits for the one before.
    pub fn least_work(&self) -> u64 {
        (2.0 * self.launch / self.alone).round().min(1e15) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Calibration, String> {
        Calibration::parse(text, Path::new("c.json")).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_written_is_read() {
        let measured = Calibration { launch: 812.5, window: 512.0, ..Calibration::default() };
        assert_eq!(parse(&measured.text()), Ok(measured));
    }

    #[test]
    fn what_a_launch_costs_decides_how_much_it_is_to_do() {
        assert_eq!(Calibration::default().least_work(), 20_000);
        let cheap = Calibration { launch: 350.0, ..Calibration::default() };
        assert_eq!(cheap.least_work(), 2_000);
    }

    #[test]
    fn damage_is_told_with_its_place() {
        assert_eq!(parse("{\n  \"format\": }").unwrap_err(), "c.json:2:13: damaged calibration: expected value");
        let other = Calibration::default().text().replace("\"version\": 6", "\"version\": 1");
        let said = parse(&other).unwrap_err();
        assert!(said.contains("got \"regrain-calibration\" of version 1"), "{said}");
        for (from, to, what) in [
            ("\"launch\": 3500.0", "\"launch\": 0", "expected nanoseconds from 1 to 1e9 in \"launch\", got 0"),
            ("\"window\": 100.0", "\"window\": 0", "expected operations from 1 to 1e9 in \"window\", got 0"),
            ("\"divide\": 4.0", "\"divide\": -4.0", "expected nanoseconds from 0 to 1e9 in \"divide\", got -4"),
            ("32768.0", "1e30", "expected 1 to 4 levels of ascending sizes in \"levels\""),
            ("\"pages\": 64.0", "\"pages\": 0.5", "expected 1 to 1e18 pages in \"pages\""),
            ("\"missed\": 0.5", "\"missed\": -1", "expected nanoseconds from 0 to 1e9 in \"missed\", got -1"),
            ("\"row\"", "\"rows\"", "unknown field `rows`"),
        ] {
            let said = parse(&Calibration::default().text().replace(from, to)).unwrap_err();
            assert!(said.contains(what), "{said}");
        }
        let missing = Calibration::open(Path::new("/nowhere/c.json")).unwrap_err().to_string();
        assert!(missing.starts_with("cannot read calibration '/nowhere/c.json': "), "{missing}");
    }
}
