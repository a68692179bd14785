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
pub use compile::compile;
pub use diagnostics::note;
pub use error::{Error, Result};
pub use options::{Budget, CALIBRATION, Emit, Options, Pattern, Remarks, Side};
pub use program::Program;
pub use regrain_passes::affine::teams::Superposition;
pub use side_files::{Kept, Record, SideFiles};
pub use source::{Source, Toolchain, place};
