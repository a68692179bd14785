//! Random CUDA kernels: trees, their text, and running them in several forms.

pub mod ast;
pub mod flow;
pub mod grains;
pub mod harness;
pub mod place;
pub mod print;
pub mod tiles;
pub mod tools;
pub mod values;
