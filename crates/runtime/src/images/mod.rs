//! The images that a program holds, read and registered without knowledge of any device.

pub mod image;
pub mod loaded;
pub mod offload;
pub mod registry;
