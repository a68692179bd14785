//! Devices: number, names, figures.

use std::ffi::{c_char, c_void};

use super::frame::{driver_api, started};
use super::known;
use crate::api::devices as runtime;
use crate::device::choice::device;
use crate::error::{CudaError, Result, check, quietly};
use crate::macros::put;

/// `CUdevprop`.
#[repr(C)]
struct Properties {
    max_threads: i32,
    max_block: [i32; 3],
    max_grid: [i32; 3],
    shared: i32,
    constant: i32,
    warp: i32,
    pitch: i32,
    registers: i32,
    clock: i32,
    texture_alignment: i32,
}

/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR`, and the minor one.
const CAPABILITY: [u32; 2] = [75, 76];
/// No attribute has a larger number. Those that the runtime does not know are of what is not there.
const LAST_ATTRIBUTE: u32 = 160;

/// Writes a device's name with NUL, cut to the room that there is.
///
/// # Safety
/// `text` is valid for `room` bytes.
unsafe fn write_name(text: *mut c_char, room: i32, name: &[c_char]) -> Result {
    check(!text.is_null() && room > 0)?;
    let length = name.iter().take_while(|byte| **byte != 0).count().min(room as usize - 1);
    // SAFETY: by contract.
    unsafe {
        std::ptr::copy_nonoverlapping(name.as_ptr(), text, length);
        text.add(length).write(0);
    }
    Ok(())
}

fn attribute(which: u32, index: i32) -> Result<i32> {
    let device = started()?;
    check((1..=LAST_ATTRIBUTE).contains(&which))?;
    device.check(index)?;
    device.attribute(which, index).or_else(|error| if error == CudaError::INVALID_VALUE { Ok(0) } else { Err(error) })
}

/// The runtime's answer to a question about devices, once it may be asked.
macro_rules! asked {
    ($call:expr) => {{
        started()?;
        quietly(|| $call)
    }};
}

driver_api! {
    fn cuInit(flags: u32) {
        check(flags == 0)?;
        device()?;
        known::initialise();
        Ok(())
    }
    fn cuDriverGetVersion(version: *mut i32) { put(version, device()?.driver_version()?) }

    fn cuDeviceGetCount(count: *mut i32) { asked!(runtime::cudaGetDeviceCount(count)) }
    fn cuDeviceGet(device: *mut i32, ordinal: i32) {
        check(!device.is_null())?;
        started()?.check(ordinal)?;
        put(device, ordinal)
    }
    fn cuDeviceGetName(text: *mut c_char, room: i32, index: i32) {
        write_name(text, room, &started()?.properties(index)?.name)
    }
    fn cuDeviceGetUuid(uuid: *mut [u8; 16], index: i32) { put(uuid, started()?.properties(index)?.uuid) }
    fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], index: i32) { put(uuid, started()?.properties(index)?.uuid) }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, index: i32) { put(bytes, started()?.properties(index)?.totalGlobalMem) }
    fn cuDeviceGetAttribute(value: *mut i32, which: u32, index: i32) { put(value, attribute(which, index)?) }
    fn cuDeviceComputeCapability(major: *mut i32, minor: *mut i32, index: i32) {
        put(major, attribute(CAPABILITY[0], index)?)?;
        put(minor, attribute(CAPABILITY[1], index)?)
    }
    fn cuDeviceGetProperties(properties: *mut Properties, index: i32) {
        let known = started()?.properties(index)?;
        put(properties, Properties {
            max_threads: known.maxThreadsPerBlock,
            max_block: known.maxThreadsDim,
            max_grid: known.maxGridSize,
            shared: known.sharedMemPerBlock as i32,
            constant: known.totalConstMem as i32,
            warp: known.warpSize,
            pitch: known.memPitch as i32,
            registers: known.regsPerBlock,
            clock: known.clockRate,
            texture_alignment: known.textureAlignment as i32,
        })
    }
    fn cuDeviceGetPCIBusId(text: *mut c_char, length: i32, index: i32) {
        asked!(runtime::cudaDeviceGetPCIBusId(text, length, index))
    }
    fn cuDeviceGetByPCIBusId(index: *mut i32, text: *const c_char) {
        asked!(runtime::cudaDeviceGetByPCIBusId(index, text))
    }
    fn cuDeviceCanAccessPeer(can: *mut i32, index: i32, peer: i32) {
        asked!(runtime::cudaDeviceCanAccessPeer(can, index, peer))
    }
    fn cuDeviceGetP2PAttribute(value: *mut i32, which: u32, from: i32, to: i32) {
        asked!(runtime::cudaDeviceGetP2PAttribute(value, which, from, to))
    }
    fn cuCtxEnablePeerAccess(peer: *mut c_void, flags: u32) {
        let peer = known::device_of(peer)?;
        asked!(runtime::cudaDeviceEnablePeerAccess(peer, flags))
    }
    fn cuCtxDisablePeerAccess(peer: *mut c_void) {
        let peer = known::device_of(peer)?;
        asked!(runtime::cudaDeviceDisablePeerAccess(peer))
    }
    fn cuDeviceGetExecAffinitySupport(supported: *mut i32, _kind: u32, index: i32) {
        started()?.check(index)?;
        put(supported, 0)
    }
    fn cuProfilerInitialize(_file: *const c_char, _output: *const c_char, _mode: u32) { Ok(()) }
    fn cuProfilerStart() { Ok(()) }
    fn cuProfilerStop() { Ok(()) }
}
