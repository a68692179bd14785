//! What earlier runs know of a class of launches.
//!
//! What they settled on holds, and so does what their samples speak for where there are enough (also those of a program that was
//! built to measure). Else samples of earlier runs say what is to be tried first, so that a program that launches a kernel once in a run
//! settles after some runs.

use regrain_tuning::Grain;
use regrain_tuning::choice::{Policy, choose_for};
use regrain_tuning::database::Shape;

/// What is known.
#[derive(Debug, PartialEq, Eq)]
pub enum Recalled {
    /// Nothing, or it is about other versions.
    Nothing,
    /// What all launches run.
    Settled(usize),
    /// Too little to choose by.
    Some {
        /// The version with the fewest samples.
        fewest: usize,
        /// Which ones were slower than the original in all of several runs.
        slower: Vec<bool>,
        /// How many samples there are of all.
        known: usize,
    },
}

/// What `shapes`, those of one class, say of a kernel's versions.
pub fn recall(shapes: &[Shape], grains: &[Grain]) -> Recalled {
    let knows_all = |shape: &&Shape| grains.iter().all(|grain| shape.candidates.contains_key(grain));
    let mut fitting: Vec<Shape> = shapes.iter().filter(knows_all).cloned().collect();
    if fitting.is_empty() {
        return Recalled::Nothing;
    }
    let slower: Vec<bool> = grains.iter().map(|grain| is_slower(&fitting, grain)).collect();
    let out = |grain: &Grain| !grains.iter().zip(&slower).any(|(own, slower)| own == grain && !slower);
    for shape in &mut fitting {
        let settled = shape.settled;
        shape.candidates.retain(|grain, _| !out(grain) || settled == Some(*grain) && grains.contains(grain));
    }
    if let Ok(choice) = choose_for(&fitting, &Policy::default())
        && let Some(version) = grains.iter().position(|grain| *grain == choice.grain)
    {
        return Recalled::Settled(version);
    }
    let samples = |version: usize| -> usize {
        fitting.iter().filter_map(|shape| shape.candidates.get(&grains[version])).map(|times| times.samples()).sum()
    };
    let fewest = (0..grains.len()).filter(|version| !slower[*version]).min_by_key(|version| samples(*version));
    Recalled::Some { fewest: fewest.unwrap_or(0), slower, known: (0..grains.len()).map(samples).sum() }
}

/// Whether a grain could not be launched, or was slower than the original by more than the original's own times differ. First launches of
/// processes compare with each other alone.
fn is_slower(shapes: &[Shape], grain: &Grain) -> bool {
    let is_slower = |shape: &Shape| {
        let (Some(own), Some(original)) = (shape.candidates.get(grain), shape.candidates.get(&Grain::ORIGINAL)) else {
            return false;
        };
        let [own_times, times] = if own.warm.is_empty() || original.warm.is_empty() {
            [&own.cold, &original.cold]
        } else {
            [&own.warm, &original.warm]
        };
        if own_times.len() < 2 || times.len() < 2 {
            return own.failed;
        }
        let (least, most) = (times[0], times[times.len() - 1]);
        own.failed || own_times[0].saturating_sub(most) > most - least
    };
    !grain.is_original() && shapes.iter().any(is_slower)
}
