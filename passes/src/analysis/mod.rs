//! What is known of a program: analyses change nothing and import no transformation.

pub mod accesses;
pub mod addresses;
pub mod constants;
pub mod cost;
pub mod counted_loop;
pub mod facts;
pub mod functions;
pub mod loops;
pub mod meeting;
pub mod objects;
pub mod phases;
pub mod settled;
pub mod spaces;
pub mod synchronisation;
pub mod trips;
pub mod uniformity;
pub mod waiting;
