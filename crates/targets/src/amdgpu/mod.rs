//! AMD's GPUs: what their chips offer.

pub mod limits;
