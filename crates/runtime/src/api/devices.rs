//! Devices: number, choice, figures, settings.

use std::ffi::{CStr, c_char};

use crate::compiled;
use crate::device::choice::{device, kind};
use crate::error::{CudaError, check};
use crate::macros::{cuda_api, put};

/// Asked by host code that has versions of a launch for several devices: 0 for the CPU, 1 for CUDA, 2 for HIP.
#[unsafe(no_mangle)]
extern "C" fn __regrain_device_kind() -> u32 {
    kind()
}

cuda_api! {
    fn cudaGetDeviceCount(count: *mut i32) {
        check(!count.is_null())?;
        // As CUDA does where it finds nothing.
        count.write(0);
        put(count, device()?.count()?)
    }
    fn cudaGetDevice(current: *mut i32) { put(current, device()?.current()?) }
    fn cudaSetDevice(index: i32) { device()?.set_current(index) }
    fn cudaInitDevice(index: i32, _device_flags: u32, _flags: u32) { device()?.check(index) }
    fn cudaSetValidDevices(devices: *mut i32, count: i32) {
        check(count >= 0 && (count == 0 || !devices.is_null()))?;
        let device = device()?;
        (0..count as usize).try_for_each(|at| device.check(*devices.add(at)))
    }
    fn cudaDeviceReset() { device()?.reset() }
    fn cudaThreadExit() { device()?.reset() }
    fn cudaDeviceSynchronize() { device()?.synchronize() }
    fn cudaThreadSynchronize() { device()?.synchronize() }

    fn cudaSetDeviceFlags(flags: u32) {
        check(flags & !0x1f == 0)?;
        device()?.set_flags(flags)
    }
    fn cudaGetDeviceFlags(flags: *mut u32) { put(flags, device()?.flags()?) }

    fn cudaDeviceSetLimit(limit: u32, value: usize) { device()?.set_limit(limit, value) }
    fn cudaThreadSetLimit(limit: u32, value: usize) { device()?.set_limit(limit, value) }
    fn cudaDeviceGetLimit(value: *mut usize, limit: u32) { put(value, device()?.limit(limit)?) }
    fn cudaThreadGetLimit(value: *mut usize, limit: u32) { put(value, device()?.limit(limit)?) }

    fn cudaDeviceSetCacheConfig(config: u32) {
        check(config <= 3)?;
        device()?.set_cache_config(config)
    }
    fn cudaThreadSetCacheConfig(config: u32) {
        check(config <= 3)?;
        device()?.set_cache_config(config)
    }
    fn cudaDeviceGetCacheConfig(config: *mut u32) { put(config, device()?.cache_config()?) }
    fn cudaThreadGetCacheConfig(config: *mut u32) { put(config, device()?.cache_config()?) }
    fn cudaDeviceSetSharedMemConfig(config: u32) {
        check(config <= 2)?;
        device()?.set_shared_config(config)
    }
    fn cudaDeviceGetSharedMemConfig(config: *mut u32) { put(config, device()?.shared_config()?) }

    fn cudaDriverGetVersion(version: *mut i32) { put(version, device()?.driver_version()?) }
    fn cudaRuntimeGetVersion(version: *mut i32) { put(version, compiled::cuda_version()) }

    fn cudaDeviceCanAccessPeer(can: *mut i32, index: i32, peer: i32) {
        put(can, device()?.can_access_peer(index, peer)?.into())
    }
    fn cudaDeviceEnablePeerAccess(peer: i32, flags: u32) { device()?.enable_peer(peer, flags) }
    fn cudaDeviceDisablePeerAccess(peer: i32) { device()?.disable_peer(peer) }
    fn cudaDeviceGetP2PAttribute(value: *mut i32, which: u32, from: i32, to: i32) {
        put(value, device()?.peer_attribute(which, from, to)?)
    }

    fn cudaDeviceGetAttribute(value: *mut i32, which: u32, index: i32) {
        put(value, device()?.attribute(which, index)?)
    }
    fn cudaDeviceGetPCIBusId(text: *mut c_char, len: i32, index: i32) {
        let id = device()?.bus_id(index)?;
        check(!text.is_null() && len > id.len() as i32)?;
        std::ptr::copy_nonoverlapping(id.as_ptr().cast(), text, id.len());
        text.add(id.len()).write(0);
        Ok(())
    }

    fn cudaDeviceGetByPCIBusId(index: *mut i32, text: *const c_char) {
        check(!index.is_null() && !text.is_null())?;
        let device = device()?;
        let asked = CStr::from_ptr(text).to_string_lossy().to_lowercase();
        // The domain may be left out, where it is 0.
        let is_it = |id: &str| id == asked || id.strip_prefix("0000:") == Some(&asked);
        for number in 0..device.count()? {
            if is_it(&device.bus_id(number)?.to_lowercase()) {
                return put(index, number);
            }
        }
        Err(CudaError::INVALID_DEVICE)
    }

    fn cudaProfilerStart() { Ok(()) }
    fn cudaProfilerStop() { Ok(()) }
    fn cudaCtxResetPersistingL2Cache() { Ok(()) }
}
