//! The passes of Regrain, one file for each.

pub mod facts;
pub mod lift_control_flow;
pub mod pipelines;
pub mod raise_while_to_for;
pub mod registry;
pub mod thread_ops;
