//! Opening HIP.

use super::arch::{candidates, is_amd, name};
use super::library::{Hip, load};
use super::output::show_at_exit;
use super::state::{Amd, Gpu, translate};
use crate::device::gpu::layout::Code;
use crate::device::gpu::library::Functions;
use crate::device::gpu::vendor::describe;
use crate::device::row::{Refusal, Row};
use crate::device::seam::Device;
use crate::error::CudaError;
use crate::images::image::Images;
use crate::images::registry::Module;

/// The row of AMD GPUs in the table of devices.
pub const ROW: Row = Row { name: "hip", kind: 2, holds, open };

/// `hipErrorNoDevice`, `hipErrorInvalidDevice`.
const NO_DEVICE: Code = 100;
const INVALID_DEVICE: Code = 101;

impl Device for Amd {}

fn holds(images: &Images) -> bool {
    images.offload.iter().any(is_amd)
}

/// Whether some GPU can run some image of the program.
fn fits(gpus: &[Gpu], modules: &[&'static Module]) -> bool {
    let mut images = modules.iter().map(|module| &module.images).filter(|images| holds(images)).peekable();
    images.peek().is_none()
        || images.any(|images| gpus.iter().any(|gpu| !candidates(&images.offload, gpu.name.as_deref()).is_empty()))
}

fn open(modules: &[&'static Module]) -> Result<&'static dyn Device, Refusal> {
    let (functions, hip, path) = load().map_err(|text| Refusal { error: CudaError::INSUFFICIENT_DRIVER, text })?;
    let (major, gpus) = gpus(&functions, &hip, &path)?;
    if gpus.is_empty() {
        let text = format!("AMD's HIP library ({path}) is there, but finds no GPU (hipGetDeviceCount gives 0)");
        return Err(Refusal { error: CudaError::NO_DEVICE, text });
    }
    if !fits(&gpus, modules) {
        let names: Vec<&str> = gpus.iter().filter_map(|gpu| gpu.name.as_deref()).collect();
        let text = format!("no image of the program fits the AMD GPUs of this machine ({})", names.join(", "));
        return Err(Refusal { error: CudaError::NO_KERNEL_IMAGE, text });
    }
    let device: &'static Amd = Box::leak(Box::new(Amd::new(functions, hip, major, gpus)));
    show_at_exit(device);
    Ok(device)
}

/// Starts HIP and asks for its GPUs; ROCm's major version comes before them.
fn gpus(functions: &Functions, hip: &Hip, path: &str) -> Result<(i32, Vec<Gpu>), Refusal> {
    let check = |function: &str, code| match code {
        0 => Ok(()),
        // Where there is no GPU, `hipInit` of ROCm 5 says so with the second.
        NO_DEVICE | INVALID_DEVICE => Err(Refusal {
            error: CudaError::NO_DEVICE,
            text: format!("AMD's HIP library ({path}) is there, but finds no GPU ({function} answers with {code})"),
        }),
        _ => Err(Refusal {
            error: translate(code),
            text: format!(
                "AMD's HIP library ({path}) is there, but {function} answers with {}",
                describe(translate(code))
            ),
        }),
    };
    let (mut count, mut version) = (0, 0);
    // SAFETY: `hipInit` takes no flags; all pointers are valid for a write.
    unsafe {
        check("hipInit", (functions.init)(0))?;
        check("hipGetDeviceCount", (functions.device_count)(&raw mut count))?;
        check("hipRuntimeGetVersion", (hip.runtime_version)(&raw mut version))?;
    }
    // HIP_VERSION is major * 10,000,000 + minor * 100,000 + patch.
    Ok((version / 10_000_000, (0..count).map(|gpu| Gpu::new(name(hip, gpu))).collect()))
}
