//! Graphs: work that is described first and done as often as wanted.
//!
//! - `work.rs`: what one node does, kept until it is done;
//! - `graph.rs`: nodes and what they depend on, and the order that they are done in;
//! - `replay.rs`: graphs that are launched again and again;
//! - `capture.rs`: streams that record what they are asked to do as nodes;
//! - `conditional.rs`: nodes with graphs that are done as kernels say;
//! - `embedded.rs`: graphs inside of graphs;
//! - `memory.rs`: nodes that allocate and free, and `objects.rs`: what else graphs have;
//! - `says.rs`: what a node does, as the program reads it back, and `dot.rs`: a graph as a picture;
//! - `calls.rs` and `changes.rs`: what the program calls.
//!
//! The nodes of a graph are done one after the other, as one piece of work of the stream that it is launched in.

mod calls;
pub mod capture;
mod changes;
pub mod conditional;
mod dot;
mod embedded;
pub mod graph;
pub mod memory;
mod objects;
mod replay;
mod says;
pub mod work;
