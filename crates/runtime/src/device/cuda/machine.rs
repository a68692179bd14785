//! Opening the driver, and its GPUs as a CUDA machine.

use std::ffi::{CStr, c_char};

use super::library::{Driver, load};
use super::modules;
use super::pick::{is_nvidia, pick};
use super::state::{Cuda, Gpu, describe, translate};
use crate::device::row::{Refusal, Row};
use crate::device::seam::{Device, Machine};
use crate::error::{self, CudaError, Result};
use crate::images::image::Images;
use crate::images::registry::Module;
use crate::properties::DeviceProp;

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
    let driver = load().map_err(|text| Refusal { error: CudaError::INSUFFICIENT_DRIVER, text })?;
    let gpus = gpus(&driver)?;
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
    Ok(Box::leak(Box::new(Cuda::new(driver, gpus))))
}

/// Starts the driver and asks for its GPUs.
fn gpus(driver: &Driver) -> std::result::Result<Vec<Gpu>, Refusal> {
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
        check("cuInit", (driver.init)(0))?;
        check("cuDeviceGetCount", (driver.device_count)(&raw mut count))?;
        (0..count)
            .map(|index| {
                let (mut handle, mut major, mut minor) = (0, 0, 0);
                check("cuDeviceGet", (driver.device)(&raw mut handle, index))?;
                check("cuDeviceGetAttribute", (driver.device_attribute)(&raw mut major, 75, handle))?;
                check("cuDeviceGetAttribute", (driver.device_attribute)(&raw mut minor, 76, handle))?;
                Ok(Gpu::new(handle, (major as u32, minor as u32)))
            })
            .collect()
    }
}

impl Cuda {
    /// A number that the driver writes.
    fn number<T: Default>(&self, ask: impl FnOnce(*mut T) -> u32) -> Result<T> {
        let mut value = T::default();
        self.done(ask(&raw mut value))?;
        Ok(value)
    }
}

impl Machine for Cuda {
    fn count(&self) -> Result<i32> {
        Ok(self.gpus.len() as i32)
    }

    fn current(&self) -> Result<i32> {
        self.current_gpu().map(|index| index as i32)
    }

    fn set_current(&self, device: i32) -> Result {
        self.gpu(device)?;
        self.select(device as usize)
    }

    fn properties(&self, device: i32) -> Result<DeviceProp> {
        self.all_figures(self.gpu(device)?)
    }

    fn attribute(&self, which: u32, device: i32) -> Result<i32> {
        self.figure(self.gpu(device)?, which)
    }

    fn bus_id(&self, device: i32) -> Result<String> {
        let mut text = [0 as c_char; 64];
        let handle = self.gpu(device)?.handle;
        // SAFETY: valid for a write of that length; the driver ends it with NUL.
        unsafe {
            self.done((self.driver.device_bus_id)(text.as_mut_ptr(), text.len() as i32, handle))?;
            Ok(CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned())
        }
    }

    fn driver_version(&self) -> Result<i32> {
        // SAFETY: valid for a write.
        self.number(|value| unsafe { (self.driver.driver_version)(value) })
    }

    fn limit(&self, which: u32) -> Result<usize> {
        self.enter()?;
        // SAFETY: valid for a write.
        self.number(|value| unsafe { (self.driver.context_limit)(value, which) })
    }

    fn set_limit(&self, which: u32, value: usize) -> Result {
        self.enter()?;
        // SAFETY: plain values.
        self.done(unsafe { (self.driver.context_set_limit)(which, value) })
    }

    fn flags(&self) -> Result<u32> {
        let gpu = &self.gpus[self.current_gpu()?];
        let (mut flags, mut active) = (0, 0);
        // SAFETY: valid for writes.
        self.done(unsafe { (self.driver.primary_state)(gpu.handle, &raw mut flags, &raw mut active) })?;
        Ok(flags)
    }

    fn set_flags(&self, flags: u32) -> Result {
        let gpu = &self.gpus[self.current_gpu()?];
        // SAFETY: plain values.
        self.done(unsafe { (self.driver.primary_set_flags)(gpu.handle, flags) })
    }

    fn cache_config(&self) -> Result<u32> {
        self.enter()?;
        // SAFETY: valid for a write.
        self.number(|value| unsafe { (self.driver.context_cache)(value) })
    }

    fn set_cache_config(&self, config: u32) -> Result {
        self.enter()?;
        // SAFETY: plain values.
        self.done(unsafe { (self.driver.context_set_cache)(config) })
    }

    fn shared_config(&self) -> Result<u32> {
        let ask = self.driver.context_shared.ok_or(CudaError::NEWER_DRIVER)?;
        self.enter()?;
        // SAFETY: valid for a write.
        self.number(|value| unsafe { ask(value) })
    }

    fn set_shared_config(&self, config: u32) -> Result {
        let set = self.driver.context_set_shared.ok_or(CudaError::NEWER_DRIVER)?;
        self.enter()?;
        // SAFETY: plain values.
        self.done(unsafe { set(config) })
    }

    fn can_access_peer(&self, device: i32, peer: i32) -> Result<bool> {
        let (device, peer) = (self.gpu(device)?.handle, self.gpu(peer)?.handle);
        // SAFETY: valid for a write.
        let can: i32 = self.number(|value| unsafe { (self.driver.can_access_peer)(value, device, peer) })?;
        Ok(can != 0)
    }

    fn peer_attribute(&self, which: u32, from: i32, to: i32) -> Result<i32> {
        let (from, to) = (self.gpu(from)?.handle, self.gpu(to)?.handle);
        // SAFETY: valid for a write.
        self.number(|value| unsafe { (self.driver.peer_attribute)(value, which, from, to) })
    }

    fn enable_peer(&self, peer: i32, flags: u32) -> Result {
        let context = self.context(self.gpu(peer)?)?;
        self.enter()?;
        // SAFETY: a context of the driver.
        self.done(unsafe { (self.driver.enable_peer)(context, flags) })
    }

    fn disable_peer(&self, peer: i32) -> Result {
        let context = self.context(self.gpu(peer)?)?;
        self.enter()?;
        // SAFETY: a context of the driver.
        self.done(unsafe { (self.driver.disable_peer)(context) })
    }

    fn synchronize(&self) -> Result {
        self.enter()?;
        // SAFETY: no arguments.
        self.done(unsafe { (self.driver.context_synchronize)() })
    }

    fn reset(&self) -> Result {
        let index = self.reset_current()?;
        modules::forget(index);
        error::clear_last();
        Ok(())
    }

    fn sticky(&self) -> Option<CudaError> {
        self.failure()
    }
}
