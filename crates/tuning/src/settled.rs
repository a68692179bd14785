//! What programs settled on that choose by themselves, as a choice for a compiled program.
//!
//! Such a program measures a candidate no more often than it takes to see that it is slower, so the samples alone may be too few
//! to choose by. What it settled on is chosen where all launch shapes agree, else the one with the least time over all of them.

use crate::database::Shape;
use crate::grain::Grain;
use crate::record::Summary;

/// What launches of several shapes settled on together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// The grain.
    pub grain: Grain,
    /// Its mean time per launch, in nanoseconds; 0 where it was not measured for all shapes.
    pub time: f64,
    /// The original's.
    pub original: f64,
    /// Launch shapes that it rests on.
    pub shapes: usize,
}

/// The choice that programs made who launch these shapes, if at least half of the launches are of shapes for which one was made.
pub fn choose(shapes: &[Shape], usable: &[Grain]) -> Option<Settled> {
    let is_usable = |shape: &&Shape| shape.settled.is_some_and(|grain| usable.contains(&grain));
    let settled: Vec<&Shape> = shapes.iter().filter(is_usable).collect();
    let weight: f64 = settled.iter().map(|shape| shape.weight()).sum();
    if weight <= 0.0 || 2.0 * weight < shapes.iter().map(Shape::weight).sum() {
        return None;
    }
    let mut grains: Vec<Grain> = settled.iter().filter_map(|shape| shape.settled).collect();
    grains.sort_unstable();
    grains.dedup();
    let total = |grain: &Grain| -> Option<f64> {
        settled.iter().map(|shape| Some(typical(shape, grain)? * shape.weight())).sum::<Option<f64>>()
    };
    let grain = match grains[..] {
        [only] => only,
        _ => {
            let known = grains.iter().chain([&Grain::ORIGINAL]).filter_map(|grain| Some((total(grain)?, *grain)));
            known.min_by(|a, b| a.0.total_cmp(&b.0))?.1
        }
    };
    let mean = |grain| total(grain).map_or(0.0, |total| total / weight);
    Some(Settled { grain, time: mean(&grain), original: mean(&Grain::ORIGINAL), shapes: settled.len() })
}

/// What a launch of a shape takes with a grain: the median of its warm samples, else of its cold ones.
fn typical(shape: &Shape, grain: &Grain) -> Option<f64> {
    let times = shape.candidates.get(grain)?;
    let summary = Summary::of(&times.warm).or_else(|| Summary::of(&times.cold))?;
    Some(summary.median as f64)
}
