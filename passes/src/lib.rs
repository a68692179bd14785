//! The passes of Regrain: one room for each kind of work, in it one file for each pass.

mod carried;
mod table;

pub mod affine;
pub mod alternatives;
pub mod analysis;
pub mod coarsen;
pub mod launch;
pub mod lower;
pub mod optimise;
pub mod pipelines;
pub mod raise;
pub mod refusals;
pub mod registry;
pub mod statistics;
