//! All passes and pipelines, made known to MLIR.

use mlir_bridge::pass::{self, PassInfo};

use crate::{affine, alternatives, coarsen, launch, lower, optimise, pipelines, raise, statistics};

/// The tables of the rooms, in the order in which a kernel meets them.
pub static ROOMS: &[&[PassInfo]] = &[
    raise::PASSES,
    affine::PASSES,
    alternatives::PASSES,
    coarsen::PASSES,
    optimise::PASSES,
    &[statistics::PASS],
    launch::PASSES,
    lower::PASSES,
];

/// Makes all passes and pipelines known to MLIR.
pub fn register() {
    ROOMS.iter().for_each(|passes| pass::register(passes));
    for pipeline in pipelines::PIPELINES {
        pass::register_pipeline(pipeline.name, pipeline.summary, pipeline.passes);
    }
}
