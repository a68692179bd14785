//! Launches, attributes of kernels, occupancy.

use std::ffi::c_void;

use super::layout::{Handle, LaunchConfig};
use super::state::{Cuda, Shape};
use crate::abi::Dim3;
use crate::device::seam::{Kernels, Launch};
use crate::error::{CudaError, Result};
use crate::images::registry::{Function, Variable};
use crate::types::FuncAttributes;

/// `CUfunction_attribute` has the numbers of `cudaFuncAttribute` where both have one; those from here on came later.
const FIRST_LATER: u32 = 10;
/// What a program may set.
const MAX_DYNAMIC_SHARED: u32 = 8;
const LAST_ATTRIBUTE: u32 = 15;
/// `cudaLaunchAttributeCooperative`.
const COOPERATIVE: u32 = 2;

/// The checks that CUDA's runtime makes before it asks the driver.
fn check_shape(limits: &Shape, grid: Dim3, block: Dim3) -> Result {
    let within = |dim: [u32; 3], most: [u32; 3]| dim.iter().zip(most).all(|(size, most)| (1..=most).contains(size));
    let threads = block.array().iter().try_fold(1_u32, |product, size| product.checked_mul(*size));
    let fits = within(grid.array(), limits.grid)
        && within(block.array(), limits.block)
        && threads.is_some_and(|threads| threads <= limits.threads);
    if fits { Ok(()) } else { Err(CudaError::INVALID_CONFIGURATION) }
}

impl Cuda {
    /// The kernel on the calling thread's GPU.
    fn here(&self, function: &'static Function) -> Result<Handle> {
        let gpu = self.enter()?;
        self.function(function, gpu)
    }

    fn function_figure(&self, function: Handle, which: u32) -> Result<i32> {
        let mut value = 0;
        // SAFETY: a kernel of the driver; valid for a write.
        let code = unsafe { (self.driver.function_attribute)(&raw mut value, which, function) };
        if code != 0 && which >= FIRST_LATER { Ok(0) } else { self.done(code).map(|()| value) }
    }

    /// A launch with attributes, by the function that takes them.
    ///
    /// # Safety
    /// As [`Kernels::launch`].
    unsafe fn launch_with(&self, function: Handle, launch: &Launch, shared: u32) -> Result {
        let Some(start) = self.driver.launch_ex else {
            return Err(CudaError::NEWER_DRIVER);
        };
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

impl Kernels for Cuda {
    fn symbol(&self, variable: &'static Variable) -> Result<(*mut c_void, usize)> {
        self.variable(variable)
    }

    fn bind_managed(&self, variable: &'static Variable) -> Result {
        self.load_managed(variable)
    }

    fn attributes(&self, function: &'static Function) -> Result<FuncAttributes> {
        let function = self.here(function)?;
        let figure = |which| self.function_figure(function, which);
        let size = |which| figure(which).map(|value| usize::try_from(value).unwrap_or(0));
        Ok(FuncAttributes {
            max_threads: figure(0)?,
            shared: size(1)?,
            constant: size(2)?,
            local: size(3)?,
            registers: figure(4)?,
            ptx_version: figure(5)?,
            binary_version: figure(6)?,
            cache_mode_ca: figure(7)?,
            max_dynamic_shared: figure(MAX_DYNAMIC_SHARED)?,
            carveout: figure(9)?,
            cluster_dim_must_be_set: figure(10)?,
            required_cluster: [figure(11)?, figure(12)?, figure(13)?],
            non_portable_cluster: figure(14)?,
            cluster_policy: figure(15)?,
            reserved: [0; 16],
        })
    }

    fn set_attribute(&self, function: &'static Function, which: u32, value: i32) -> Result {
        if !(MAX_DYNAMIC_SHARED..=LAST_ATTRIBUTE).contains(&which) {
            return Err(CudaError::INVALID_VALUE);
        }
        let function = self.here(function)?;
        // SAFETY: a kernel of the driver.
        self.done(unsafe { (self.driver.function_set_attribute)(function, which, value) })
    }

    fn set_function_cache(&self, function: &'static Function, config: u32) -> Result {
        let function = self.here(function)?;
        // SAFETY: a kernel of the driver.
        self.done(unsafe { (self.driver.function_set_cache)(function, config) })
    }

    fn set_function_banks(&self, function: &'static Function, config: u32) -> Result {
        let set = self.driver.function_set_shared.ok_or(CudaError::NEWER_DRIVER)?;
        let function = self.here(function)?;
        // SAFETY: a kernel of the driver.
        self.done(unsafe { set(function, config) })
    }

    fn parameter(&self, function: &'static Function, index: usize) -> Result<(usize, usize)> {
        let ask = self.driver.function_parameter.ok_or(CudaError::NEWER_DRIVER)?;
        let function = self.here(function)?;
        let (mut offset, mut size) = (0, 0);
        // SAFETY: a kernel of the driver; valid for writes.
        self.done(unsafe { ask(function, index, &raw mut offset, &raw mut size) })?;
        Ok((offset, size))
    }

    fn occupancy(&self, function: &'static Function, threads: i32, shared: usize, flags: u32) -> Result<i32> {
        let function = self.here(function)?;
        let mut count = 0;
        // SAFETY: a kernel of the driver; valid for a write.
        self.done(unsafe { (self.driver.occupancy)(&raw mut count, function, threads, shared, flags) })?;
        Ok(count)
    }

    fn available_shared(&self, function: &'static Function, blocks: i32, threads: i32) -> Result<usize> {
        let ask = self.driver.available_shared.ok_or(CudaError::NEWER_DRIVER)?;
        let function = self.here(function)?;
        let mut size = 0;
        // SAFETY: a kernel of the driver; valid for a write.
        self.done(unsafe { ask(&raw mut size, function, blocks, threads) })?;
        Ok(size)
    }

    unsafe fn launch(&self, function: &'static Function, launch: &Launch) -> Result {
        let gpu = self.enter()?;
        let function = self.function(function, gpu)?;
        check_shape(&self.shape(&self.gpus[gpu])?, launch.grid, launch.block)?;
        let shared = u32::try_from(launch.shared).map_err(|_| CudaError::INVALID_VALUE)?;
        // One attribute says nothing that the older function could not say.
        let alone = match launch.attributes {
            [] => Some(launch.cooperative),
            [only] if only.id == COOPERATIVE => Some(only.value[0] as u32 != 0),
            _ => None,
        };
        let (Dim3 { x, y, z }, block, stream, args) = (launch.grid, launch.block, launch.stream, launch.args);
        // SAFETY: by contract.
        unsafe {
            match alone {
                None => self.launch_with(function, launch, shared),
                Some(true) => self.done((self.driver.launch_cooperative)(
                    function, x, y, z, block.x, block.y, block.z, shared, stream, args,
                )),
                Some(false) => {
                    let extra = std::ptr::null_mut();
                    self.done((self.driver.launch)(
                        function, x, y, z, block.x, block.y, block.z, shared, stream, args, extra,
                    ))
                }
            }
        }
    }
}
