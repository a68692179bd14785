//! `cudaDeviceProp`, in the layout of the CUDA version that the program was compiled against.

use std::ffi::c_void;

use crate::compiled::{cuda_version, is_cuda_13};
use crate::device::choice::device;
use crate::error::{CudaError, Result, check};
use crate::macros::{cuda_api, put};
use crate::properties::{DeviceProp, DeviceProp13};

/// The first device that is as capable as `wanted` asks.
fn choose(wanted: (i32, i32)) -> Result<i32> {
    let device = device()?;
    for index in 0..device.count()? {
        if (device.attribute(75, index)?, device.attribute(76, index)?) >= wanted {
            return Ok(index);
        }
    }
    Ok(0)
}

cuda_api! {
    /// The name that headers of CUDA 12 give calls of `cudaGetDeviceProperties`.
    fn cudaGetDeviceProperties_v2(prop: *mut DeviceProp, index: i32) {
        check(!prop.is_null())?;
        put(prop, device()?.properties(index)?)
    }

    /// Headers of CUDA 13 call it by this name, and those before CUDA 12, whose structure ends earlier.
    fn cudaGetDeviceProperties(prop: *mut DeviceProp13, index: i32) {
        check(!prop.is_null())?;
        if cuda_version() < 12000 {
            return Err(CudaError::NOT_SUPPORTED);
        }
        put(prop, device()?.properties(index)?.into())
    }

    fn cudaChooseDevice(index: *mut i32, prop: *const c_void) {
        check(!prop.is_null())?;
        let wanted = if is_cuda_13() {
            let prop = &*prop.cast::<DeviceProp13>();
            (prop.major, prop.minor)
        } else {
            let prop = &*prop.cast::<DeviceProp>();
            (prop.major, prop.minor)
        };
        put(index, choose(wanted)?)
    }
}
