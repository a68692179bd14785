//! What a target is: its limits, data layout and device libraries, how code for it is assembled, and what its back
//! end reports about a kernel.

pub mod cache;
pub mod cpu;
pub mod device_operations;
mod error;
mod extract;
pub mod from_nvvm;
pub mod jobs;
pub mod listing;
pub mod machines;
pub mod nvptx;
pub mod nvvm;
pub mod offload;
pub mod registration;
pub mod toolkit;

pub use cache::{Cache, Key};
pub use error::{Error, Unsupported};
pub use extract::extract;
/// The language of the device code that comes in.
pub use nvvm as device_language;

use regrain_tuning::model::Processor;

/// What code for the target `name` (`cpu`, or an architecture as `sm_80`) runs on.
pub fn processor(name: &str) -> Result<Processor<'static>, Error> {
    if name == "cpu" {
        return Ok(Processor::Cpu(cpu::limits()));
    }
    Ok(Processor::Gpu(nvptx::limits::limits(toolkit::SmArch::parse(name)?)?))
}
