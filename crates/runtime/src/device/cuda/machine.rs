//! Opening the driver.

use super::library::{Driver, load};
use super::pick::{is_nvidia, pick};
use super::state::{Cuda, Gpu, translate};
use crate::device::gpu::library::Functions;
use crate::device::gpu::vendor::describe;
use crate::device::row::{Refusal, Row};
use crate::device::seam::Device;
use crate::error::CudaError;
use crate::images::image::Images;
use crate::images::registry::Module;

/// The row of NVIDIA GPUs in the table of devices.
pub const ROW: Row = Row { name: "cuda", kind: 1, holds, open };

impl Device for Cuda {}

fn holds(images: &Images) -> bool {
    images.fatbin.is_some() || images.offload.iter().any(is_nvidia)
}

/// Whether some GPU can run some image of the program; what a fat binary holds only the driver knows.
fn fits(gpus: &[Gpu], modules: &[&'static Module]) -> bool {
    let mut images = modules.iter().map(|module| &module.images).filter(|images| holds(images)).peekable();
    images.peek().is_none()
        || images.any(|images| {
            images.fatbin.is_some() || gpus.iter().any(|gpu| pick(&images.offload, gpu.capability).is_some())
        })
}

fn open(modules: &[&'static Module]) -> std::result::Result<&'static dyn Device, Refusal> {
    let library = load().map_err(|text| Refusal { error: CudaError::INSUFFICIENT_DRIVER, text })?;
    let gpus = gpus(&library.0, &library.1)?;
    if gpus.is_empty() {
        let text = "the NVIDIA driver library is there, but finds no GPU (cuDeviceGetCount gives 0)".into();
        return Err(Refusal { error: CudaError::NO_DEVICE, text });
    }
    if !fits(&gpus, modules) {
        let names: Vec<String> =
            gpus.iter().map(|gpu| format!("sm_{}{}", gpu.capability.0, gpu.capability.1)).collect();
        let text = format!("no image of the program fits the GPUs of this machine ({})", names.join(", "));
        return Err(Refusal { error: CudaError::NO_KERNEL_IMAGE, text });
    }
    Ok(Box::leak(Box::new(Cuda::new(library, gpus))))
}

/// Starts the driver and asks for its GPUs.
fn gpus(common: &Functions, driver: &Driver) -> std::result::Result<Vec<Gpu>, Refusal> {
    let check = |function: &str, code| match code {
        0 => Ok(()),
        _ => Err(Refusal {
            error: translate(code),
            text: format!(
                "the NVIDIA driver library is there, but {function} answers with {}",
                describe(translate(code))
            ),
        }),
    };
    let mut count = 0;
    // SAFETY: `cuInit` takes no flags; all pointers are valid for a write.
    unsafe {
        check("cuInit", (common.init)(0))?;
        check("cuDeviceGetCount", (common.device_count)(&raw mut count))?;
        (0..count)
            .map(|index| {
                let (mut handle, mut major, mut minor) = (0, 0, 0);
                check("cuDeviceGet", (driver.device)(&raw mut handle, index))?;
                check("cuDeviceGetAttribute", (common.device_attribute)(&raw mut major, 75, handle))?;
                check("cuDeviceGetAttribute", (common.device_attribute)(&raw mut minor, 76, handle))?;
                Ok(Gpu::new(handle, (major as u32, minor as u32)))
            })
            .collect()
    }
}
