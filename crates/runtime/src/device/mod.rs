//! What carries out CUDA calls: [`seam`] says what a device must do, [`choice`] picks the one of this process, and each
//! folder is one device.

pub mod choice;
pub mod cpu;
pub mod cuda;
pub mod gpu;
pub mod hip;
mod output;
mod printf;
mod records;
pub mod row;
pub mod seam;
mod seam_graphs;
mod texture_rules;
