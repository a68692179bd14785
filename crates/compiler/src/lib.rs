//! The compiler: CUDA sources to objects, for one target or several, through the parallel form.
//!
//! [`compile()`] takes a [`Source`] with its [`Options`] from clang's IR to an object: the device side is made for each target
//! ([`target`](regrain_targets::target)), the host side gets launches that choose among versions of kernels, and the images.
//! A search weighs the versions, by a model or by measured times. Command line, files and linking are the driver's.

mod blocks;
mod chips;
mod choice;
pub mod commands;
pub mod compile;
mod context;
mod decisions;
mod device_side;
mod diagnostics;
mod dump;
mod error;
mod grains;
mod images;
mod kernels;
pub mod options;
mod parallelize;
pub mod program;
mod relocatable;
mod search;
mod search_cache;
mod side_files;
mod source;
mod stages;
pub mod time_report;
pub mod unfinished;
mod versions;
mod words;

pub use commands::Commands;
pub use diagnostics::note;
pub use error::{Error, Result};
pub use options::{Budget, CALIBRATION, Emit, Kept, Options, Pattern, Record, Remarks, Side, SideFiles};
pub use program::Program;
pub use regrain_passes::affine::teams::Superposition;
pub use source::{Source, Toolchain, place};

/// Compiles a source to its output. Nothing is left at the output when it fails.
///
/// # Errors
/// What the user, the program or this compiler did wrong; what cannot be raised, coarsened or split is none.
pub fn compile(source: &Source<'_>) -> Result<()> {
    match &source.sequential {
        Some(language) => parallelize::compile(source, language),
        None => compile::compile(source),
    }
}
