//! Grains of kernels: how they are named and searched, what they cost by the model, and what was measured of them.
//!
//! Plain data and arithmetic: nothing here knows MLIR, LLVM or a device. The compiler fills in what it finds out
//! (`statistics`, limits, reports), asks the `model` for a rank, and reads measured times from a [`database`]; programs
//! built for profiling write that database.

pub mod calibration;
pub mod choice;
pub mod database;
pub mod expr;
pub mod grain;
pub mod limits;
pub mod model;
pub mod occupancy;
pub mod polynomial;
pub mod prune;
pub mod record;
pub mod rows;
pub mod settled;
pub mod space;
pub mod statistics;
pub mod store;
pub mod tasks;

pub use choice::{Choice, Missing, Policy, Query};
pub use database::Database;
pub use grain::{Factors, Grain};
pub use record::{Key, Record};
pub use space::Space;

/// The version under which times are recorded: another one makes other code.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
