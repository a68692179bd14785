//! A row of the table of devices, and why a device cannot be had.

use super::seam::Device;
use crate::error::CudaError;
use crate::images::image::Images;
use crate::images::registry::Module;

/// A device that this runtime knows.
pub struct Row {
    /// As in `REGRAIN_DEVICE`.
    pub name: &'static str,
    /// As `__regrain_device_kind` says it to compiled programs.
    pub kind: u32,
    /// Whether a translation unit's images hold one for it.
    pub holds: fn(&Images) -> bool,
    /// The device, if this machine has one that can run what the program holds.
    pub open: fn(&[&'static Module]) -> Result<&'static dyn Device, Refusal>,
}

/// Why a device cannot be had.
pub struct Refusal {
    /// What the calls return.
    pub error: CudaError,
    /// What was looked for and what was found.
    pub text: String,
}
