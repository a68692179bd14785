//! What the devices behind a vendor's library share: NVIDIA's driver and HIP are laid out alike, so most of the seam is
//! written once, over the functions that both have with one signature ([`library`]) and what a vendor does in its own
//! way ([`vendor`]).

pub mod copies;
mod events;
mod figures;
pub mod kernels;
pub mod layout;
pub mod library;
mod machine;
pub mod memory;
pub mod modules;
mod pools;
pub mod shape;
mod streams;
pub mod vendor;
