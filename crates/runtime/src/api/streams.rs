//! Streams and events.

use std::ffi::c_void;

use crate::device::choice::device;
use crate::error::{CudaError, check};
use crate::macros::{cuda_api, put};

type HostFunction = unsafe extern "C" fn(*mut c_void);
type StreamCallback = unsafe extern "C" fn(*mut c_void, u32, *mut c_void);

cuda_api! {
    fn cudaStreamCreate(stream: *mut *mut c_void) {
        check(!stream.is_null())?;
        put(stream, device()?.create_stream(0, 0)?)
    }

    fn cudaStreamCreateWithFlags(stream: *mut *mut c_void, flags: u32) {
        check(!stream.is_null() && flags <= 1)?;
        put(stream, device()?.create_stream(flags, 0)?)
    }

    fn cudaStreamCreateWithPriority(stream: *mut *mut c_void, flags: u32, priority: i32) {
        check(!stream.is_null() && flags <= 1)?;
        put(stream, device()?.create_stream(flags, priority)?)
    }

    fn cudaStreamDestroy(stream: *mut c_void) { device()?.destroy_stream(stream) }

    fn cudaStreamGetAttribute / cudaStreamGetAttribute_ptsz [on] (
        stream: *mut c_void, which: u32, value: *mut [u64; 8]
    ) {
        put(value, device()?.stream_attribute(on.stream(stream), which)?)
    }
    fn cudaStreamSetAttribute / cudaStreamSetAttribute_ptsz [on] (
        stream: *mut c_void, which: u32, value: *const [u64; 8]
    ) {
        let value = *value.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        device()?.set_stream_attribute(on.stream(stream), which, value)
    }
    fn cudaStreamCopyAttributes / cudaStreamCopyAttributes_ptsz [on] (to: *mut c_void, from: *mut c_void) {
        /// Those that can be set.
        const ALL: [u32; 4] = [1, 3, 9, 10];
        let device = device()?;
        for which in ALL {
            let value = device.stream_attribute(on.stream(from), which)?;
            device.set_stream_attribute(on.stream(to), which, value)?;
        }
        Ok(())
    }

    fn cudaStreamSynchronize / cudaStreamSynchronize_ptsz [on] (stream: *mut c_void) {
        device()?.synchronize_stream(on.stream(stream))
    }

    fn cudaStreamQuery / cudaStreamQuery_ptsz [on] (stream: *mut c_void) { device()?.query_stream(on.stream(stream)) }

    fn cudaStreamGetFlags / cudaStreamGetFlags_ptsz [on] (stream: *mut c_void, flags: *mut u32) {
        put(flags, device()?.stream_flags(on.stream(stream))?)
    }

    fn cudaStreamGetPriority / cudaStreamGetPriority_ptsz [on] (stream: *mut c_void, priority: *mut i32) {
        put(priority, device()?.stream_priority(on.stream(stream))?)
    }

    fn cudaStreamGetId / cudaStreamGetId_ptsz [on] (stream: *mut c_void, id: *mut u64) {
        put(id, device()?.stream_id(on.stream(stream))?)
    }

    fn cudaStreamGetDevice / cudaStreamGetDevice_ptsz [on] (stream: *mut c_void, index: *mut i32) {
        put(index, device()?.stream_device(on.stream(stream))?)
    }

    fn cudaStreamWaitEvent / cudaStreamWaitEvent_ptsz [on] (stream: *mut c_void, event: *mut c_void, flags: u32) {
        check(flags <= 1)?;
        device()?.wait_event(on.stream(stream), event, flags)
    }

    fn cudaStreamAttachMemAsync / cudaStreamAttachMemAsync_ptsz [on] (
        stream: *mut c_void, pointer: *mut c_void, length: usize, flags: u32
    ) {
        device()?.attach(on.stream(stream), pointer, length, flags)
    }

    fn cudaStreamIsCapturing / cudaStreamIsCapturing_ptsz [on] (stream: *mut c_void, status: *mut u32) {
        put(status, device()?.capture_status(on.stream(stream))?)
    }

    fn cudaThreadExchangeStreamCaptureMode(mode: *mut u32) {
        let asked = *mode.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        put(mode, device()?.exchange_capture_mode(asked)?)
    }

    fn cudaLaunchHostFunc / cudaLaunchHostFunc_ptsz [on] (
        stream: *mut c_void, function: Option<HostFunction>, data: *mut c_void
    ) {
        device()?.host_function(on.stream(stream), function.ok_or(CudaError::INVALID_VALUE)?, data)
    }

    fn cudaStreamAddCallback / cudaStreamAddCallback_ptsz [on] (
        stream: *mut c_void, callback: Option<StreamCallback>, data: *mut c_void, flags: u32
    ) {
        check(flags == 0)?;
        device()?.callback(on.stream(stream), callback.ok_or(CudaError::INVALID_VALUE)?, data)
    }

    fn cudaDeviceGetStreamPriorityRange(least: *mut i32, greatest: *mut i32) {
        let priorities = device()?.priorities()?;
        if !least.is_null() { put(least, priorities.0)?; }
        if !greatest.is_null() { put(greatest, priorities.1)?; }
        Ok(())
    }

    fn cudaEventCreate(event: *mut *mut c_void) {
        check(!event.is_null())?;
        put(event, device()?.create_event(0)?)
    }

    fn cudaEventCreateWithFlags(event: *mut *mut c_void, flags: u32) {
        check(!event.is_null())?;
        put(event, device()?.create_event(flags)?)
    }

    fn cudaEventRecord / cudaEventRecord_ptsz [on] (event: *mut c_void, stream: *mut c_void) {
        device()?.record_event(event, on.stream(stream), 0)
    }

    fn cudaEventRecordWithFlags / cudaEventRecordWithFlags_ptsz [on] (
        event: *mut c_void, stream: *mut c_void, flags: u32
    ) {
        check(flags <= 1)?;
        device()?.record_event(event, on.stream(stream), flags)
    }

    fn cudaEventQuery(event: *mut c_void) { device()?.query_event(event) }

    fn cudaEventSynchronize(event: *mut c_void) { device()?.synchronize_event(event) }

    fn cudaEventDestroy(event: *mut c_void) { device()?.destroy_event(event) }

    fn cudaEventElapsedTime(milliseconds: *mut f32, start: *mut c_void, end: *mut c_void) {
        put(milliseconds, device()?.elapsed(start, end)?)
    }

    fn cudaEventElapsedTime_v2(milliseconds: *mut f32, start: *mut c_void, end: *mut c_void) {
        put(milliseconds, device()?.elapsed(start, end)?)
    }
}
