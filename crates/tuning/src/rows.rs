//! A database as a flat table: one row for each candidate of each launch shape.

use serde::Serialize;

use crate::choice::{Policy, choose_for};
use crate::database::{Database, Shape};
use crate::grain::Grain;
use crate::record::Summary;

/// One candidate at one launch shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The kernel's symbol.
    pub kernel: String,
    /// Hash of its content.
    pub hash: String,
    /// As in `sm_80`.
    pub target: String,
    /// Version of the compiler.
    pub version: String,
    /// Threads in a block, as in `64x1x1`.
    pub block: String,
    /// Blocks in the grid.
    pub grid: String,
    /// Dynamic shared memory, in bytes.
    pub shared: u64,
    /// Launches in all runs.
    pub launches: u64,
    /// Runs with a record.
    pub runs: usize,
    /// The latest run, in seconds since 1970.
    pub date: u64,
    /// Checksum of the search space.
    pub space: String,
    /// The candidate.
    pub grain: Grain,
    /// Whether it could be launched.
    pub failed: bool,
    /// Warm samples.
    pub samples: usize,
    /// Their median, in nanoseconds.
    pub median_ns: Option<u64>,
    /// Their minimum, in nanoseconds.
    pub minimum_ns: Option<u64>,
    /// Their median absolute deviation, in nanoseconds.
    pub mad_ns: Option<u64>,
    /// First launches in a process.
    pub cold_samples: usize,
    /// Their median, in nanoseconds.
    pub cold_median_ns: Option<u64>,
    /// How many times faster than the original at this launch shape.
    pub gain: Option<f64>,
    /// Whether compiling with this database takes it for launches with this block shape.
    pub winner: bool,
}

impl Database {
    /// All of it, in the order of the versions.
    pub fn rows(&self, policy: &Policy) -> Vec<Row> {
        let all = self.versions().into_values();
        all.flat_map(|shapes| {
            let winner = choose_for(&shapes, policy).ok().map(|choice| choice.grain);
            shapes.iter().flat_map(|shape| rows_of(shape, winner)).collect::<Vec<_>>()
        })
        .collect()
    }
}

fn rows_of(shape: &Shape, winner: Option<Grain>) -> Vec<Row> {
    let key = &shape.key;
    let text = |[x, y, z]: [u32; 3]| format!("{x}x{y}x{z}");
    let row = |grain: &Grain| {
        let times = &shape.candidates[grain];
        let (warm, cold) = (Summary::of(&times.warm), Summary::of(&times.cold));
        Row {
            kernel: shape.kernel.clone(),
            hash: key.hash.clone(),
            target: key.target.clone(),
            version: key.version.clone(),
            block: text(key.block),
            grid: text(key.grid),
            shared: key.shared,
            launches: shape.launches,
            runs: shape.runs,
            date: shape.date,
            space: shape.space.clone(),
            grain: *grain,
            failed: times.failed,
            samples: times.warm.len(),
            median_ns: warm.map(|warm| warm.median),
            minimum_ns: warm.map(|warm| warm.minimum),
            mad_ns: warm.map(|warm| warm.mad),
            cold_samples: times.cold.len(),
            cold_median_ns: cold.map(|cold| cold.median),
            gain: shape.gain(grain),
            winner: winner == Some(*grain),
        }
    };
    shape.candidates.keys().map(row).collect()
}

impl Shape {
    /// How many times faster than the original a candidate is, by warm samples of both if there are any, else by cold ones.
    pub fn gain(&self, grain: &Grain) -> Option<f64> {
        let (own, original) = (self.candidates.get(grain)?, self.candidates.get(&Grain::ORIGINAL)?);
        let ratio = |original: &[u64], own: &[u64]| {
            Some(Summary::of(original)?.median as f64 / Summary::of(own)?.median.max(1) as f64)
        };
        ratio(&original.warm, &own.warm).or_else(|| ratio(&original.cold, &own.cold))
    }
}
