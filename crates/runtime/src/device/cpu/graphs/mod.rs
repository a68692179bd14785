//! Graphs: work that is described first and done as often as wanted.
//!
//! - `work.rs`: what one node does, kept until it is done;
//! - `graph.rs`: nodes and what they depend on, and the order that they are done in;
//! - `capture.rs`: streams that record what they are asked to do as nodes;
//! - `calls.rs`: what the program calls.
//!
//! The nodes of a graph are done one after the other by the thread that launches it, as all work of this device is.

mod calls;
pub mod capture;
mod graph;
pub mod work;
