//! What is known of a program: analyses change nothing and import no transformation.

pub mod accesses;
pub mod addresses;
pub mod counted_loop;
pub mod facts;
pub mod phases;
pub mod uniformity;
