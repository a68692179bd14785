//! What NVIDIA's driver does in its own way.

use std::ffi::c_void;
use std::sync::OnceLock;

use super::layout::LaunchConfig;
use super::pick::{Capability, pick};
use super::state::{Cuda, translate};
use crate::device::gpu::kernels::here;
use crate::device::gpu::layout::{Code, Handle, Pointer};
use crate::device::gpu::library::Functions;
use crate::device::gpu::memory::{CPU, MEMORY_DEVICE, MEMORY_MANAGED, ON_DEVICE, ON_HOST};
use crate::device::gpu::shape::Shape;
use crate::device::gpu::vendor::{Vendor, describe, newer};
use crate::device::seam::{Launch, Stream};
use crate::error::{CudaError, Result};
use crate::images::image::Images;
use crate::images::offload::ImageKind;
use crate::images::registry::Function;
use crate::types::{Location, PointerAttributes};

/// The widest access for which the driver aligns the rows of pitched memory.
const ELEMENT: u32 = 16;
/// `CU_POINTER_ATTRIBUTE_*`: memory type, device pointer, host pointer, whether it is managed, index of the device.
const ATTRIBUTES: [u32; 5] = [2, 3, 4, 8, 9];
/// `CUfunction_attribute` has the numbers of `cudaFuncAttribute` where both have one; those from here on came later.
const FIRST_LATER: u32 = 10;

/// What `cuPointerGetAttributes` writes.
#[derive(Default)]
struct Found {
    kind: u32,
    device: Pointer,
    host: u64,
    managed: u32,
    ordinal: i32,
}

/// The bytes to load on a GPU, in words and as they are. PTX is copied, to end with NUL.
fn image(images: &Images, gpu: Capability) -> Result<(String, std::borrow::Cow<'static, [u8]>)> {
    if let Some(fatbin) = images.fatbin {
        return Ok(("NVIDIA fat binary".into(), fatbin.into()));
    }
    if images.offload.is_empty() {
        return Err(CudaError::INVALID_KERNEL_IMAGE);
    }
    let Some(found) = pick(&images.offload, gpu) else {
        eprintln!("regrain runtime: error: no image for a GPU of sm_{}{}; there is: {images}", gpu.0, gpu.1);
        return Err(CudaError::NO_KERNEL_IMAGE);
    };
    let bytes = match found.kind {
        ImageKind::Ptx => [found.bytes, b"\0"].concat().into(),
        _ => found.bytes.into(),
    };
    Ok((found.to_string(), bytes))
}

impl Cuda {
    /// A place of memory for the functions from before `cudaMemLocation`.
    fn old_location(&self, location: Location) -> Result<i32> {
        match location.kind {
            ON_DEVICE => Ok(self.gpu(location.id)?.handle),
            ON_HOST => Ok(CPU),
            _ => Err(CudaError::NEWER_DRIVER),
        }
    }
}

impl Vendor for Cuda {
    fn functions(&self) -> &Functions {
        &self.functions
    }

    fn gpu_count(&self) -> usize {
        self.gpus.len()
    }

    fn number(&self, gpu: i32) -> Result<i32> {
        self.gpu(gpu).map(|gpu| gpu.handle)
    }

    fn enter(&self) -> Result<usize> {
        self.enter_context()
    }

    fn current_gpu(&self) -> Result<usize> {
        self.gpu_of_context()
    }

    fn select(&self, gpu: usize) -> Result {
        self.select_context(gpu)
    }

    fn done(&self, code: Code) -> Result {
        self.result(code)
    }

    fn translate(&self) -> fn(Code) -> CudaError {
        translate
    }

    fn driver_version(&self) -> Result<i32> {
        let mut version = 0;
        // SAFETY: valid for a write.
        self.done(unsafe { (self.driver.driver_version)(&raw mut version) })?;
        Ok(version)
    }

    fn failure(&self) -> Option<CudaError> {
        self.kept_failure()
    }

    fn figure(&self, gpu: i32, which: u32) -> Result<i32> {
        let mut value = 0;
        // SAFETY: valid for a write.
        self.done(unsafe { (self.functions.device_attribute)(&raw mut value, which, self.number(gpu)?) })?;
        Ok(value)
    }

    fn kept_shape(&self, gpu: usize) -> &OnceLock<Shape> {
        &self.gpus[gpu].shape
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

    fn limit(&self, which: u32) -> Result<usize> {
        let mut value = 0;
        // SAFETY: valid for a write.
        self.done(unsafe { (self.functions.limit)(&raw mut value, which) })?;
        Ok(value)
    }

    fn set_limit(&self, which: u32, value: usize) -> Result {
        // SAFETY: plain values.
        self.done(unsafe { newer(self.functions.set_limit)?(which, value) })
    }

    fn peer_attribute_number(&self, which: u32) -> Result<u32> {
        Ok(which)
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

    fn reset_current(&self) -> Result<usize> {
        self.reset_context()
    }

    fn allocate_pitched(&self, width: usize, height: usize) -> Result<(*mut c_void, usize)> {
        let (mut pointer, mut pitch) = (0, 0);
        // SAFETY: valid for writes.
        let code = unsafe { (self.driver.allocate_pitched)(&raw mut pointer, &raw mut pitch, width, height, ELEMENT) };
        self.done(code)?;
        Ok((pointer as *mut c_void, pitch))
    }

    fn pointer(&self, pointer: *const c_void) -> Result<PointerAttributes> {
        let mut found = Found::default();
        let mut places: [*mut c_void; 5] = [
            (&raw mut found.kind).cast(),
            (&raw mut found.device).cast(),
            (&raw mut found.host).cast(),
            (&raw mut found.managed).cast(),
            (&raw mut found.ordinal).cast(),
        ];
        let count = ATTRIBUTES.len() as u32;
        // SAFETY: as many places as attributes, each valid for a write of that attribute's type.
        let code = unsafe {
            (self.driver.pointer_attributes)(count, ATTRIBUTES.as_ptr(), places.as_mut_ptr(), pointer as Pointer)
        };
        self.done(code)?;
        let (device, host) = (found.device as *mut c_void, found.host as *mut c_void);
        let null = std::ptr::null_mut();
        Ok(match (found.kind, found.managed) {
            (0, _) => PointerAttributes { kind: 0, ordinal: -2, device: null, host: pointer.cast_mut() },
            (_, 1..) => PointerAttributes { kind: MEMORY_MANAGED, ordinal: found.ordinal, device, host },
            (MEMORY_DEVICE, _) => PointerAttributes { kind: MEMORY_DEVICE, ordinal: found.ordinal, device, host: null },
            (kind, _) => PointerAttributes { kind, ordinal: found.ordinal, device, host },
        })
    }

    fn prefetch(&self, pointer: *const c_void, count: usize, to: Location, stream: Stream) -> Result {
        let pointer = pointer as Pointer;
        // SAFETY: the driver checks the range.
        self.done(unsafe {
            match self.driver.prefetch_v2 {
                Some(prefetch) => prefetch(pointer, count, to, 0, stream),
                None => (self.functions.prefetch)(pointer, count, self.old_location(to)?, stream),
            }
        })
    }

    fn advise(&self, pointer: *const c_void, count: usize, advice: u32, location: Location) -> Result {
        let pointer = pointer as Pointer;
        // SAFETY: the driver checks the range.
        self.done(unsafe {
            match self.driver.advise_v2 {
                Some(advise) => advise(pointer, count, advice, location),
                None => (self.functions.advise)(pointer, count, advice, self.old_location(location)?),
            }
        })
    }

    fn stream_device(&self, stream: Stream, _current: usize) -> Result<i32> {
        let mut context = std::ptr::null_mut();
        // SAFETY: a stream of the program's; valid for a write.
        self.done(unsafe { (self.driver.stream_context)(stream, &raw mut context) })?;
        for (index, gpu) in self.gpus.iter().enumerate() {
            if self.context_if_retained(gpu) == context as usize {
                return Ok(index as i32);
            }
        }
        Err(CudaError::INVALID_DEVICE)
    }

    fn load(&self, images: &Images, gpu: usize) -> Result<Handle> {
        let (what, bytes) = image(images, self.gpus[gpu].capability)?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: a whole image of a kind that the driver knows; the GPU's context is current.
        let done = self.done(unsafe { (self.functions.module_load)(&raw mut handle, bytes.as_ptr().cast()) });
        if let Err(error) = done {
            eprintln!("regrain runtime: error: the driver does not load the {what}: {}", describe(error));
            return Err(error);
        }
        Ok(handle)
    }

    fn set_attribute(&self, function: &'static Function, which: u32, value: i32) -> Result {
        let function = here(self, function)?;
        // SAFETY: a kernel of the driver.
        self.done(unsafe { (self.driver.function_set_attribute)(function, which, value) })
    }

    fn function_figure(&self, _function: &'static Function, handle: Handle, which: u32) -> Result<i32> {
        let mut value = 0;
        // SAFETY: a kernel of the driver; valid for a write.
        let code = unsafe { (self.functions.function_attribute)(&raw mut value, which, handle) };
        if code != 0 && which >= FIRST_LATER { Ok(0) } else { self.done(code).map(|()| value) }
    }

    unsafe fn launch_with(&self, function: Handle, launch: &Launch, shared: u32) -> Result {
        let start = newer(self.driver.launch_ex)?;
        let config = LaunchConfig {
            grid: launch.grid.array(),
            block: launch.block.array(),
            shared,
            stream: launch.stream,
            attributes: launch.attributes.as_ptr(),
            count: launch.attributes.len() as u32,
        };
        // SAFETY: by contract.
        self.done(unsafe { start(&raw const config, function, launch.args, std::ptr::null_mut()) })
    }
}
