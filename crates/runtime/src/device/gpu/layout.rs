//! Handles of the libraries' APIs.

use std::ffi::c_void;

/// A `CUresult` or `hipError_t`; 0 is success.
pub type Code = u32;
/// A `CUdeviceptr` or `hipDeviceptr_t`.
pub type Pointer = u64;
/// A context, stream, event, module, function, array or memory pool.
pub type Handle = *mut c_void;
/// A `CUstreamCallback` or `hipStreamCallback_t`.
pub type Callback = unsafe extern "C" fn(Handle, Code, *mut c_void);
