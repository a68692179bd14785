//! Launches, attributes of kernels, occupancy.

use std::ffi::c_void;

use super::layout::{Code, Handle};
use super::modules;
use super::vendor::{Vendor, newer};
use crate::abi::Dim3;
use crate::device::seam::{ATTRIBUTE_COOPERATIVE, Kernels, Launch};
use crate::error::{CudaError, Result};
use crate::images::registry::{Function, Variable};
use crate::types::FuncAttributes;

/// What a program may set.
pub const MAX_DYNAMIC_SHARED: u32 = 8;
const LAST_ATTRIBUTE: u32 = 15;

/// The kernel on the calling thread's GPU.
pub fn here(device: &impl Vendor, function: &'static Function) -> Result<Handle> {
    let gpu = device.enter()?;
    modules::function(device, function, gpu)
}

/// Says how a kernel uses caches or banks. A library that has no function for it has nothing to be told.
fn hint(
    device: &impl Vendor,
    function: &'static Function,
    set: Option<unsafe extern "C" fn(Handle, u32) -> Code>,
    config: u32,
) -> Result {
    let function = here(device, function)?;
    // SAFETY: a kernel of the library.
    set.map_or(Ok(()), |set| device.done(unsafe { set(function, config) }))
}

impl<T: Vendor> Kernels for T {
    fn symbol(&self, variable: &'static Variable) -> Result<(*mut c_void, usize)> {
        modules::variable(self, variable)
    }

    fn bind_managed(&self, variable: &'static Variable) -> Result {
        modules::load_managed(self, variable)
    }

    fn attributes(&self, function: &'static Function) -> Result<FuncAttributes> {
        let handle = here(self, function)?;
        let figure = |which| self.function_figure(function, handle, which);
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
        Vendor::set_attribute(self, function, which, value)
    }

    fn set_function_cache(&self, function: &'static Function, config: u32) -> Result {
        hint(self, function, self.functions().function_set_cache, config)
    }

    fn set_function_banks(&self, function: &'static Function, config: u32) -> Result {
        hint(self, function, self.functions().function_set_shared, config)
    }

    fn parameter(&self, function: &'static Function, index: usize) -> Result<(usize, usize)> {
        let ask = newer(self.functions().function_parameter)?;
        let function = here(self, function)?;
        let (mut offset, mut size) = (0, 0);
        // SAFETY: a kernel of the driver; valid for writes.
        self.done(unsafe { ask(function, index, &raw mut offset, &raw mut size) })?;
        Ok((offset, size))
    }

    fn occupancy(&self, function: &'static Function, threads: i32, shared: usize, flags: u32) -> Result<i32> {
        let function = here(self, function)?;
        let mut count = 0;
        // SAFETY: a kernel of the driver; valid for a write.
        self.done(unsafe { (self.functions().occupancy)(&raw mut count, function, threads, shared, flags) })?;
        Ok(count)
    }

    fn available_shared(&self, function: &'static Function, blocks: i32, threads: i32) -> Result<usize> {
        let ask = newer(self.functions().available_shared)?;
        let function = here(self, function)?;
        let mut size = 0;
        // SAFETY: a kernel of the driver; valid for a write.
        self.done(unsafe { ask(&raw mut size, function, blocks, threads) })?;
        Ok(size)
    }

    unsafe fn launch(&self, function: &'static Function, launch: &Launch) -> Result {
        let gpu = self.enter()?;
        let handle = modules::function(self, function, gpu)?;
        self.shape(gpu)?.check(launch.grid, launch.block)?;
        self.check_shared(function, handle, launch.shared)?;
        let shared = u32::try_from(launch.shared).map_err(|_| CudaError::INVALID_VALUE)?;
        // One attribute says nothing that the older function could not say.
        let alone = match launch.attributes {
            [] => Some(launch.cooperative),
            [only] if only.id == ATTRIBUTE_COOPERATIVE => Some(only.value[0] as u32 != 0),
            _ => None,
        };
        let (Dim3 { x, y, z }, block, args) = (launch.grid, launch.block, launch.args);
        let stream = self.stream(launch.stream);
        // SAFETY: by contract.
        unsafe {
            match alone {
                None => self.launch_with(handle, launch, shared),
                Some(true) => {
                    let start = newer(self.functions().launch_cooperative)?;
                    self.done(start(handle, x, y, z, block.x, block.y, block.z, shared, stream, args))
                }
                Some(false) => {
                    let (start, extra) = (self.functions().launch, std::ptr::null_mut());
                    self.done(start(handle, x, y, z, block.x, block.y, block.z, shared, stream, args, extra))
                }
            }
        }
    }
}
