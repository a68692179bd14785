//! Launches, the configuration stack of `<<<>>>`, attributes of kernels and occupancy.

use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::mem::ManuallyDrop;

use crate::abi::Dim3;
use crate::device::choice::device;
use crate::device::seam::Launch;
use crate::error::{CudaError, Result, check};
use crate::images::registry::function;
use crate::macros::{cuda_api, put};
use crate::types::{FuncAttributes, LaunchAttribute, LaunchConfig};

/// What `<<<>>>` says, until the stub takes it.
type Configuration = (Dim3, Dim3, usize, *mut c_void);

/// Configurations that no stub has taken: the last one, and those below it where launches are nested.
struct Configurations {
    top: Option<Configuration>,
    below: Vec<Configuration>,
}

thread_local! {
    /// Never dropped, so that destructors of static objects can launch too; it holds no memory while it is empty.
    static CONFIGURATIONS: ManuallyDrop<RefCell<Configurations>> =
        const { ManuallyDrop::new(RefCell::new(Configurations { top: None, below: Vec::new() })) };
}

impl Configurations {
    fn push(&mut self, configuration: Configuration) {
        self.below.extend(self.top.replace(configuration));
    }

    fn pop(&mut self) -> Option<Configuration> {
        let below = self.below.pop();
        if below.is_none() {
            self.below = Vec::new();
        }
        std::mem::replace(&mut self.top, below)
    }
}

#[unsafe(no_mangle)]
extern "C" fn __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared: usize, stream: *mut c_void) -> u32 {
    CONFIGURATIONS.with(|stack| stack.borrow_mut().push((grid, block, shared, stream)));
    // Anything else would make the compiled launch skip the kernel.
    0
}

/// Asked by host code before it launches a coarser version of a kernel: whether the program is to run the kernels that
/// it wrote.
#[unsafe(no_mangle)]
extern "C" fn __regrain_keeps_grain() -> i32 {
    device().is_ok_and(|device| device.keeps_grain()).into()
}

/// Said by host code before a launch: how many blocks an OS thread is to take at once.
#[unsafe(no_mangle)]
extern "C" fn __regrain_blocks_per_task(blocks: u32) {
    if let Ok(device) = device() {
        device.blocks_per_task(blocks);
    }
}

/// The attributes of a launch.
///
/// # Safety
/// The list is as long as the configuration says.
unsafe fn attributes(config: &LaunchConfig) -> Result<&[LaunchAttribute]> {
    if config.num_attrs == 0 {
        return Ok(&[]);
    }
    check(!config.attrs.is_null())?;
    // SAFETY: by contract.
    Ok(unsafe { std::slice::from_raw_parts(config.attrs, config.num_attrs as usize) })
}

cuda_api! {
    fn __cudaPopCallConfiguration(grid: *mut Dim3, block: *mut Dim3, shared: *mut usize, stream: *mut *mut c_void) {
        let top = CONFIGURATIONS.with(|stack| stack.borrow_mut().pop()).ok_or(CudaError::MISSING_CONFIGURATION)?;
        put(grid, top.0)?;
        put(block, top.1)?;
        put(shared, top.2)?;
        put(stream, top.3)
    }

    fn cudaLaunchKernel / cudaLaunchKernel_ptsz [on] (
        stub: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: usize, stream: *mut c_void
    ) {
        let stream = on.stream(stream);
        let launch = Launch { grid, block, args, shared, stream, cooperative: false, attributes: &[] };
        device()?.launch(function(stub)?, &launch)
    }

    fn cudaLaunchCooperativeKernel / cudaLaunchCooperativeKernel_ptsz [on] (
        stub: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: usize, stream: *mut c_void
    ) {
        let stream = on.stream(stream);
        let launch = Launch { grid, block, args, shared, stream, cooperative: true, attributes: &[] };
        device()?.launch(function(stub)?, &launch)
    }

    fn cudaLaunchKernelExC / cudaLaunchKernelExC_ptsz [on] (
        config: *const LaunchConfig, stub: *const c_void, args: *mut *mut c_void
    ) {
        let config = config.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        let launch = Launch {
            grid: config.grid,
            block: config.block,
            args,
            shared: config.shared,
            stream: on.stream(config.stream),
            cooperative: false,
            attributes: attributes(config)?,
        };
        device()?.launch(function(stub)?, &launch)
    }

    /// For devices without numbers of 64 bits, which took arguments of 32 bits.
    fn cudaSetDoubleForDevice(number: *mut f64) { check(!number.is_null()) }

    /// See [`cudaSetDoubleForDevice`].
    fn cudaSetDoubleForHost(number: *mut f64) { check(!number.is_null()) }

    fn cudaFuncGetAttributes(target: *mut FuncAttributes, stub: *const c_void) {
        put(target, device()?.attributes(function(stub)?)?)
    }

    fn cudaFuncSetAttribute(stub: *const c_void, which: u32, value: i32) {
        device()?.set_attribute(function(stub)?, which, value)
    }

    fn cudaFuncSetCacheConfig(stub: *const c_void, config: u32) {
        check(config <= 3)?;
        device()?.set_function_cache(function(stub)?, config)
    }

    fn cudaFuncSetSharedMemConfig(stub: *const c_void, config: u32) {
        check(config <= 2)?;
        device()?.set_function_banks(function(stub)?, config)
    }

    fn cudaFuncGetName(name: *mut *const c_char, stub: *const c_void) { put(name, function(stub)?.name.as_ptr()) }

    fn cudaFuncGetParamInfo(stub: *const c_void, index: usize, offset: *mut usize, size: *mut usize) {
        let (at, bytes) = device()?.parameter(function(stub)?, index)?;
        put(offset, at)?;
        if size.is_null() { Ok(()) } else { put(size, bytes) }
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        count: *mut i32, stub: *const c_void, threads: i32, shared: usize
    ) {
        put(count, device()?.occupancy(function(stub)?, threads, shared, 0)?)
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        count: *mut i32, stub: *const c_void, threads: i32, shared: usize, flags: u32
    ) {
        check(flags <= 1)?;
        put(count, device()?.occupancy(function(stub)?, threads, shared, flags)?)
    }

    fn cudaOccupancyAvailableDynamicSMemPerBlock(size: *mut usize, stub: *const c_void, blocks: i32, threads: i32) {
        put(size, device()?.available_shared(function(stub)?, blocks, threads)?)
    }
}
