//! Memory and events of other processes.

use std::ffi::c_void;

use crate::device::choice::device;
use crate::device::seam::Foreign;
use crate::error::check;
use crate::macros::{cuda_api, put};

/// `cudaIpcMemLazyEnablePeerAccess`, the one flag that there is.
const LAZY: u32 = 1;

cuda_api! {
    fn cudaIpcGetMemHandle(handle: *mut Foreign, pointer: *mut c_void) {
        check(!handle.is_null())?;
        put(handle, device()?.memory_handle(pointer)?)
    }
    fn cudaIpcOpenMemHandle(pointer: *mut *mut c_void, handle: Foreign, flags: u32) {
        check(!pointer.is_null() && flags == LAZY)?;
        put(pointer, device()?.open_memory(&handle)?)
    }
    fn cudaIpcCloseMemHandle(pointer: *mut c_void) { device()?.close_memory(pointer) }
    fn cudaIpcGetEventHandle(handle: *mut Foreign, event: *mut c_void) {
        check(!handle.is_null())?;
        put(handle, device()?.event_handle(event)?)
    }
    fn cudaIpcOpenEventHandle(event: *mut *mut c_void, handle: Foreign) {
        check(!event.is_null())?;
        put(event, device()?.open_event(&handle)?)
    }
}
