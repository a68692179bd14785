//! What code is made for: one target's architectures.

use std::path::PathBuf;

use regrain_targets::target::Kernels;
use regrain_targets::toolkit::SmArch;
use regrain_targets::{Arch, Target};

/// The architectures of one target.
pub(crate) struct Group<'s> {
    pub(crate) target: &'static dyn Target,
    pub(crate) archs: Vec<&'s Arch>,
    /// The chip whose device code each of them gets.
    pub(crate) chips: Vec<SmArch>,
}

/// One target's architectures, with clang's device code for each.
pub(crate) struct Chips<'s> {
    pub(crate) target: &'static dyn Kernels,
    pub(crate) archs: Vec<&'s Arch>,
    pub(crate) chips: Vec<SmArch>,
    pub(crate) bitcode: Vec<PathBuf>,
    /// Whether kernels get versions for the constant shapes that they are launched with.
    pub(crate) specialised: bool,
}
