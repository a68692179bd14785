//! Attributes of kernels and occupancy.
//!
//! Occupancy is CUDA's arithmetic over threads, blocks and shared memory of a multiprocessor; registers do not limit it
//! here.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use super::failure::device_ok;
use super::graphs::capture;
use super::graphs::work::{Recorded, Work};
use super::kept::Kept;
use super::kernel::{Kernel, bind, kernel, storage};
use super::later::{self, Choice};
use super::machine::Cpu;
use super::trace::Event;
use super::{children, launches, limits};
use crate::device::seam::{Events, Kernels, Launch};
use crate::error::{CudaError, Result};
use crate::images::registry::{Function, Variable};
use crate::types::{FuncAttributes, LaunchAttribute};

/// Nominal: CPU code has no such figure, and programs divide by it.
const REGISTERS_PER_THREAD: i32 = 32;
const MAX_DYNAMIC_SHARED: u32 = 8;
const CARVEOUT: u32 = 9;

pub fn attributes(kernel: &Kernel) -> FuncAttributes {
    let version = limits::arch() as i32 / 10;
    let max_threads =
        if kernel.max_threads == 0 { limits::MAX_THREADS_PER_BLOCK } else { kernel.max_threads.min(1024) };
    FuncAttributes {
        shared: kernel.static_shared as usize,
        constant: 0,
        local: kernel.local_bytes as usize,
        max_threads: max_threads as i32,
        registers: REGISTERS_PER_THREAD,
        ptx_version: version,
        binary_version: version,
        cache_mode_ca: 0,
        max_dynamic_shared: limits::dynamic_shared_limit(kernel) as i32,
        carveout: kernel.carveout.load(Ordering::Relaxed),
        cluster_dim_must_be_set: 0,
        required_cluster: [0; 3],
        cluster_policy: 0,
        non_portable_cluster: 0,
        reserved: [0; 16],
    }
}

fn set_attribute(kernel: &Kernel, which: u32, value: i32) -> Result {
    match which {
        MAX_DYNAMIC_SHARED => {
            let (_, optin, _, _) = limits::sm_limits();
            let value = u32::try_from(value).map_err(|_| CudaError::INVALID_VALUE)?;
            if value > optin.saturating_sub(kernel.static_shared) {
                return Err(CudaError::INVALID_VALUE);
            }
            kernel.max_dynamic_shared.store(value, Ordering::Relaxed);
            Ok(())
        }
        CARVEOUT if (-1..=100).contains(&value) => {
            kernel.carveout.store(value, Ordering::Relaxed);
            Ok(())
        }
        10..=15 => Err(CudaError::NOT_SUPPORTED),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

pub fn occupancy(kernel: &Kernel, threads: i32, shared: usize) -> Result<i32> {
    let threads = u32::try_from(threads).ok().filter(|count| *count > 0).ok_or(CudaError::INVALID_VALUE)?;
    Ok(limits::max_blocks_per_sm(kernel, threads, shared) as i32)
}

/// Offset of a parameter in CUDA's parameter space.
fn parameter(kernel: &Kernel, index: usize) -> Result<(usize, usize)> {
    let mut offset = 0usize;
    for (at, (size, aligned)) in kernel.param_sizes.iter().zip(&kernel.param_alignments).enumerate() {
        let size = *size as usize;
        offset = offset.next_multiple_of(*aligned as usize);
        if at == index {
            return Ok((offset, size));
        }
        offset += size;
    }
    Err(CudaError::INVALID_VALUE)
}

/// A launch whose attributes name events: they are recorded behind it. CUDA promises no more than that blocks have got
/// so far then.
///
/// # Safety
/// As [`Kernels::launch`].
unsafe fn launch_with_events(function: &'static Function, launch: &Launch) -> Result {
    let (events, others): (Vec<LaunchAttribute>, _) =
        launch.attributes.iter().partition(|attribute| attribute.event().is_some());
    let others: Vec<LaunchAttribute> = others;
    // SAFETY: by contract.
    unsafe { Cpu.launch(function, &Launch { attributes: &others, ..*launch })? };
    let events = events.iter().filter_map(LaunchAttribute::event);
    events.into_iter().try_for_each(|(event, flags)| Cpu.record_event(event, launch.stream, flags))
}

fn a_launch(function: &'static Function, launch: &Launch) -> Event {
    launches::event_of(kernel(function).map_or("a kernel of another device", Kernel::source_name), launch)
}

impl Kernels for Cpu {
    fn symbol(&self, variable: &'static Variable) -> Result<(*mut c_void, usize)> {
        device_ok()?;
        storage(variable).map(|found| (found.address as *mut c_void, found.size))
    }

    fn bind_managed(&self, variable: &'static Variable) -> Result {
        bind(variable)
    }

    fn attributes(&self, function: &'static Function) -> Result<FuncAttributes> {
        device_ok()?;
        Ok(attributes(kernel(function)?))
    }

    fn set_attribute(&self, function: &'static Function, which: u32, value: i32) -> Result {
        device_ok()?;
        set_attribute(kernel(function)?, which, value)
    }

    fn set_function_cache(&self, function: &'static Function, _config: u32) -> Result {
        kernel(function).map(|_| ())
    }

    fn set_function_banks(&self, function: &'static Function, _config: u32) -> Result {
        kernel(function).map(|_| ())
    }

    fn parameter(&self, function: &'static Function, index: usize) -> Result<(usize, usize)> {
        parameter(kernel(function)?, index)
    }

    fn occupancy(&self, function: &'static Function, threads: i32, shared: usize, _flags: u32) -> Result<i32> {
        occupancy(kernel(function)?, threads, shared)
    }

    fn available_shared(&self, function: &'static Function, blocks: i32, threads: i32) -> Result<usize> {
        let found = kernel(function)?;
        let (per_sm, optin, _, _) = limits::sm_limits();
        if blocks <= 0 || occupancy(found, threads, 0)? < blocks {
            return Err(CudaError::INVALID_VALUE);
        }
        Ok((per_sm / blocks as u32).min(optin).saturating_sub(found.static_shared) as usize)
    }

    unsafe fn launch(&self, function: &'static Function, launch: &Launch) -> Result {
        if launch.attributes.iter().any(|attribute| attribute.event().is_some()) {
            // SAFETY: by contract.
            return unsafe { launch_with_events(function, launch) };
        }
        let waits = kernel(function).is_ok_and(|kernel| launches::foresee(kernel, launch.block));
        // SAFETY: by contract.
        let keep = || unsafe { Recorded::new(function, launch) }.map(Work::Kernel);
        let choice = || {
            device_ok()?;
            let work = keep()?;
            Ok(if work.has_events() { Choice::Wait } else { Choice::Later(Kept::Work(work)) })
        };
        let cost = || launches::cost(kernel(function).ok()?, launch.grid, launch.block);
        let says = || a_launch(function, launch);
        capture::recorded(launch.stream, keep, || {
            let now = |way| children::launch(function, launch, way);
            later::submit(launch.stream, waits, cost, Some(&says), choice, now)
        })
    }

    fn keeps_grain(&self) -> bool {
        launches::keeps_grain()
    }

    fn blocks_per_task(&self, blocks: u32) {
        launches::set_blocks_per_task(blocks);
    }
}
