//! Kernels by their handles: launches, attributes, occupancy.

use std::ffi::{c_char, c_void};

use super::frame::{current, driver_api, started};
use super::modules::function;
use crate::abi::Dim3;
use crate::device::cuda::layout::LaunchConfig;
use crate::device::seam::{Launch, Stream};
use crate::error::{CudaError, Result, check};
use crate::images::registry::Function;
use crate::macros::put;

type Handle = *mut c_void;
type Arguments = *mut *mut c_void;

/// `CU_LAUNCH_PARAM_BUFFER_POINTER` and `CU_LAUNCH_PARAM_BUFFER_SIZE`, in a list that null ends.
const BUFFER: usize = 1;
const BUFFER_SIZE: usize = 2;

/// One pointer for each parameter: what the program gives, or places in the one buffer that it gives instead.
///
/// # Safety
/// As `cuLaunchKernel` asks of `kernelParams` and `extra`.
unsafe fn arguments(function: &'static Function, given: Arguments, extra: Arguments) -> Result<Vec<*mut c_void>> {
    let device = current()?;
    let places = || (0..).map_while(|index| device.parameter(function, index).ok());
    let (mut buffer, mut size) = (std::ptr::null_mut::<u8>(), 0);
    let mut at = extra;
    // SAFETY: by contract: pairs, and null behind them.
    unsafe {
        while !at.is_null() && !(*at).is_null() {
            match *at as usize {
                BUFFER => buffer = (*at.add(1)).cast(),
                BUFFER_SIZE => size = *(*at.add(1)).cast::<usize>(),
                _ => return Err(CudaError::INVALID_VALUE),
            }
            at = at.add(2);
        }
        if extra.is_null() {
            let count = places().count();
            check(count == 0 || !given.is_null())?;
            return Ok((0..count).map(|index| *given.add(index)).collect());
        }
    }
    check(given.is_null() && (!buffer.is_null() || size == 0))?;
    let place = |(offset, bytes): (usize, usize)| {
        check(offset + bytes <= size)?;
        Ok(buffer.wrapping_add(offset).cast())
    };
    places().map(place).collect()
}

/// A launch: its shape, and the rest.
struct Asked<'a> {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: Stream,
    cooperative: bool,
    attributes: &'a [crate::types::LaunchAttribute],
}

/// # Safety
/// As `cuLaunchKernel`.
unsafe fn launch(kernel: Handle, asked: &Asked, given: Arguments, extra: Arguments) -> Result {
    let device = current()?;
    let function = function(kernel)?;
    let dim = |[x, y, z]: [u32; 3]| Dim3 { x, y, z };
    // SAFETY: by contract.
    unsafe {
        let mut args = arguments(function, given, extra)?;
        let launch = Launch {
            grid: dim(asked.grid),
            block: dim(asked.block),
            args: args.as_mut_ptr(),
            shared: asked.shared as usize,
            stream: asked.stream,
            cooperative: asked.cooperative,
            attributes: asked.attributes,
        };
        device.launch(function, &launch)
    }
}

fn attribute(kernel: Handle, which: u32) -> Result<i32> {
    let found = started()?.attributes(function(kernel)?)?;
    let size = |bytes: usize| Ok(i32::try_from(bytes).unwrap_or(i32::MAX));
    match which {
        0 => Ok(found.max_threads),
        1 => size(found.shared),
        2 => size(found.constant),
        3 => size(found.local),
        4 => Ok(found.registers),
        5 => Ok(found.ptx_version),
        6 => Ok(found.binary_version),
        7 => Ok(found.cache_mode_ca),
        8 => Ok(found.max_dynamic_shared),
        9 => Ok(found.carveout),
        10 => Ok(found.cluster_dim_must_be_set),
        11..=13 => Ok(found.required_cluster[which as usize - 11]),
        14 => Ok(found.non_portable_cluster),
        15 => Ok(found.cluster_policy),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// The most threads of a block, and how many blocks of so many fill the device.
///
/// # Safety
/// `shared_of` may be called with any number of threads.
unsafe fn best_block(
    kernel: Handle,
    shared_of: Option<unsafe extern "C" fn(i32) -> usize>,
    shared: usize,
    limit: i32,
) -> Result<(i32, i32)> {
    const MULTIPROCESSORS: u32 = 16;
    const WARP: i32 = 32;
    let (device, function) = (current()?, function(kernel)?);
    let most = device.attributes(function)?.max_threads;
    let most = if limit > 0 { most.min(limit) } else { most };
    let (mut best, mut blocks) = (0, 0);
    // Larger blocks first: a smaller one must keep more threads resident to be better.
    let sizes = (1..=(most + WARP - 1) / WARP).rev().map(|warps| (warps * WARP).min(most));
    for threads in sizes {
        // SAFETY: by contract.
        let shared = shared_of.map_or(shared, |shared_of| unsafe { shared_of(threads) });
        let resident = device.occupancy(function, threads, shared, 0)?;
        if resident * threads > best * blocks {
            (best, blocks) = (threads, resident);
        }
    }
    Ok((blocks * device.attribute(MULTIPROCESSORS, device.current()?)?, best))
}

driver_api! {
    fn cuLaunchKernel / cuLaunchKernel_ptsz [on] (
        kernel: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared: u32,
        stream: Stream, given: Arguments, extra: Arguments
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let stream = on.stream(stream);
        launch(kernel, &Asked { grid, block, shared, stream, cooperative: false, attributes: &[] }, given, extra)
    }

    fn cuLaunchCooperativeKernel / cuLaunchCooperativeKernel_ptsz [on] (
        kernel: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared: u32,
        stream: Stream, given: Arguments
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let asked = Asked { grid, block, shared, stream: on.stream(stream), cooperative: true, attributes: &[] };
        launch(kernel, &asked, given, std::ptr::null_mut())
    }

    fn cuLaunchKernelEx / cuLaunchKernelEx_ptsz [on] (
        config: *const LaunchConfig, kernel: Handle, given: Arguments, extra: Arguments
    ) {
        let config = config.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        check(config.count == 0 || !config.attributes.is_null())?;
        let attributes = match config.count {
            0 => &[],
            count => std::slice::from_raw_parts(config.attributes, count as usize),
        };
        let (grid, block, shared) = (config.grid, config.block, config.shared);
        let stream = on.stream(config.stream);
        launch(kernel, &Asked { grid, block, shared, stream, cooperative: false, attributes }, given, extra)
    }

    fn cuFuncGetAttribute(value: *mut i32, which: u32, kernel: Handle) { put(value, attribute(kernel, which)?) }
    fn cuFuncSetAttribute(kernel: Handle, which: u32, value: i32) {
        started()?.set_attribute(function(kernel)?, which, value)
    }
    fn cuKernelGetAttribute(value: *mut i32, which: u32, kernel: Handle, index: i32) {
        started()?.check(index)?;
        put(value, attribute(kernel, which)?)
    }
    fn cuKernelSetAttribute(which: u32, value: i32, kernel: Handle, index: i32) {
        started()?.check(index)?;
        started()?.set_attribute(function(kernel)?, which, value)
    }
    fn cuFuncSetCacheConfig(kernel: Handle, config: u32) {
        check(config <= 3)?;
        started()?.set_function_cache(function(kernel)?, config)
    }
    fn cuKernelSetCacheConfig(kernel: Handle, config: u32, index: i32) {
        check(config <= 3)?;
        started()?.check(index)?;
        started()?.set_function_cache(function(kernel)?, config)
    }
    fn cuFuncSetSharedMemConfig(kernel: Handle, config: u32) {
        check(config <= 2)?;
        started()?.set_function_banks(function(kernel)?, config)
    }
    fn cuFuncGetName(name: *mut *const c_char, kernel: Handle) { put(name, function(kernel)?.name.as_ptr()) }
    fn cuKernelGetName(name: *mut *const c_char, kernel: Handle) { put(name, function(kernel)?.name.as_ptr()) }
    fn cuFuncGetParamInfo(kernel: Handle, index: usize, offset: *mut usize, size: *mut usize) {
        let (at, bytes) = started()?.parameter(function(kernel)?, index)?;
        put(offset, at)?;
        if size.is_null() { Ok(()) } else { put(size, bytes) }
    }
    fn cuKernelGetParamInfo(kernel: Handle, index: usize, offset: *mut usize, size: *mut usize) {
        let (at, bytes) = started()?.parameter(function(kernel)?, index)?;
        put(offset, at)?;
        if size.is_null() { Ok(()) } else { put(size, bytes) }
    }
    fn cuFuncIsLoaded(state: *mut u32, kernel: Handle) {
        function(kernel)?;
        put(state, 1)
    }
    fn cuFuncLoad(kernel: Handle) { function(kernel).map(drop) }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(count: *mut i32, kernel: Handle, threads: i32, shared: usize) {
        put(count, current()?.occupancy(function(kernel)?, threads, shared, 0)?)
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        count: *mut i32, kernel: Handle, threads: i32, shared: usize, flags: u32
    ) {
        check(flags <= 1)?;
        put(count, current()?.occupancy(function(kernel)?, threads, shared, flags)?)
    }
    fn cuOccupancyMaxPotentialBlockSize(
        grid: *mut i32, block: *mut i32, kernel: Handle, shared_of: Option<unsafe extern "C" fn(i32) -> usize>,
        shared: usize, limit: i32
    ) {
        let (blocks, threads) = best_block(kernel, shared_of, shared, limit)?;
        put(grid, blocks)?;
        put(block, threads)
    }
    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid: *mut i32, block: *mut i32, kernel: Handle, shared_of: Option<unsafe extern "C" fn(i32) -> usize>,
        shared: usize, limit: i32, flags: u32
    ) {
        check(flags <= 1)?;
        let (blocks, threads) = best_block(kernel, shared_of, shared, limit)?;
        put(grid, blocks)?;
        put(block, threads)
    }
    fn cuOccupancyAvailableDynamicSMemPerBlock(size: *mut usize, kernel: Handle, blocks: i32, threads: i32) {
        put(size, current()?.available_shared(function(kernel)?, blocks, threads)?)
    }
}
