//! Contexts: made, destroyed, pushed and popped, and the primary one of each device.

use std::ffi::c_void;

use super::frame::{driver_api, started};
use super::known::{
    FIRST_HANDLE, STACK, check_current, contexts, current, current_handle, device_of, entered, primary_of,
};
use crate::error::{self, CudaError, Result, check};
use crate::macros::put;

type Handle = *mut c_void;

/// What a context's version is; later ones are the same.
const API_VERSION: u32 = 3020;

fn create(context: *mut Handle, flags: u32, index: i32) -> Result {
    check(!context.is_null() && flags & !0xff == 0)?;
    started()?.check(index)?;
    let handle = contexts().make(index, flags, false);
    STACK.with_borrow_mut(|stack| stack.push(handle));
    entered()?;
    // SAFETY: not null, and valid for a write as the caller of the CUDA function promises.
    unsafe { put(context, handle as Handle) }
}

fn destroy(context: Handle) -> Result {
    started()?;
    let mut known = contexts();
    if known.get(context)?.is_primary {
        return Err(CudaError::INVALID_CONTEXT);
    }
    known.live.remove(&(context as usize));
    drop(known);
    // It goes from the top of the calling thread's stack; elsewhere it stays as one that is destroyed.
    STACK.with_borrow_mut(|stack| stack.pop_if(|top| *top == context as usize));
    entered()
}

fn push(context: Handle) -> Result {
    started()?;
    contexts().get(context)?;
    STACK.with_borrow_mut(|stack| stack.push(context as usize));
    entered()
}

fn pop(context: *mut Handle) -> Result {
    started()?;
    let top = STACK.with_borrow_mut(Vec::pop).ok_or(CudaError::INVALID_CONTEXT)?;
    entered()?;
    if context.is_null() {
        return Ok(());
    }
    // SAFETY: not null, and valid for a write as the caller of the CUDA function promises.
    unsafe { put(context, top as Handle) }
}

fn set_current(context: Handle) -> Result {
    started()?;
    if !context.is_null() {
        contexts().get(context)?;
    }
    STACK.with_borrow_mut(|stack| {
        stack.pop();
        stack.extend((!context.is_null()).then_some(context as usize));
    });
    entered()
}

fn release(index: i32) -> Result {
    started()?.check(index)?;
    let mut known = contexts();
    match known.primary.get_mut(&index).filter(|primary| primary.users > 0) {
        Some(primary) => primary.users -= 1,
        None => return Err(CudaError::INVALID_CONTEXT),
    }
    Ok(())
}

fn set_primary_flags(index: i32, flags: u32) -> Result {
    check(flags & !0xff == 0)?;
    started()?.check(index)?;
    let mut known = contexts();
    known.primary(index);
    known.primary.entry(index).and_modify(|primary| primary.flags = flags);
    Ok(())
}

/// `CUctxCreateParams`: how much of a device a context is to have, of which nothing is known here.
#[repr(C)]
struct CreateParameters {
    affinities: *const c_void,
    count: i32,
    cig: *const c_void,
}

driver_api! {
    fn cuCtxCreate(context: *mut Handle, flags: u32, index: i32) { create(context, flags, index) }
    fn cuCtxCreate_v2(context: *mut Handle, flags: u32, index: i32) { create(context, flags, index) }
    fn cuCtxCreate_v3(context: *mut Handle, _parameters: *const c_void, count: i32, flags: u32, index: i32) {
        if count == 0 { create(context, flags, index) } else { Err(CudaError::NOT_SUPPORTED) }
    }
    fn cuCtxCreate_v4(context: *mut Handle, parameters: *const CreateParameters, flags: u32, index: i32) {
        match parameters.as_ref() {
            Some(asked) if asked.count != 0 || !asked.cig.is_null() => Err(CudaError::NOT_SUPPORTED),
            _ => create(context, flags, index),
        }
    }
    fn cuCtxDestroy(context: Handle) { destroy(context) }
    fn cuCtxDestroy_v2(context: Handle) { destroy(context) }
    fn cuCtxPushCurrent(context: Handle) { push(context) }
    fn cuCtxPushCurrent_v2(context: Handle) { push(context) }
    fn cuCtxPopCurrent(context: *mut Handle) { pop(context) }
    fn cuCtxPopCurrent_v2(context: *mut Handle) { pop(context) }
    fn cuCtxSetCurrent(context: Handle) { set_current(context) }
    fn cuCtxGetCurrent(context: *mut Handle) {
        started()?;
        put(context, current_handle())
    }
    fn cuCtxGetDevice(index: *mut i32) {
        started()?;
        put(index, device_of(current_handle())?)
    }
    fn cuCtxGetDevice_v2(index: *mut i32, context: Handle) {
        started()?;
        put(index, device_of(if context.is_null() { current_handle() } else { context })?)
    }
    fn cuCtxSynchronize_v2(context: Handle) {
        let device = started()?;
        if !context.is_null() { device_of(context)?; }
        device.synchronize()
    }
    fn cuCtxGetFlags(flags: *mut u32) {
        started()?;
        put(flags, contexts().get(current_handle())?.flags)
    }
    fn cuCtxSetFlags(flags: u32) {
        started()?;
        check(flags & !0xff == 0)?;
        let handle = current();
        contexts().live.get_mut(&handle).ok_or(CudaError::INVALID_CONTEXT)?.flags = flags;
        Ok(())
    }
    fn cuCtxGetId(context: Handle, id: *mut u64) {
        started()?;
        let asked = if context.is_null() { current_handle() } else { context };
        contexts().get(asked)?;
        put(id, ((asked as usize - FIRST_HANDLE) / 16 + 1) as u64)
    }
    fn cuCtxGetApiVersion(context: Handle, version: *mut u32) {
        started()?;
        if !context.is_null() { device_of(context)?; }
        put(version, API_VERSION)
    }
    fn cuStreamGetCtx / cuStreamGetCtx_ptsz [on] (stream: Handle, context: *mut Handle) {
        let device = started()?;
        check_current()?;
        let of_stream = device.stream_device(on.stream(stream))?;
        let is_here = device_of(current_handle())? == of_stream;
        put(context, if is_here { current_handle() } else { primary_of(of_stream) })
    }
    fn cuCtxAttach(context: *mut Handle, flags: u32) {
        check(flags == 0)?;
        check_current()?;
        put(context, current_handle())
    }
    fn cuCtxDetach(context: Handle) { destroy(context) }

    fn cuDevicePrimaryCtxRetain(context: *mut Handle, index: i32) {
        check(!context.is_null())?;
        started()?.check(index)?;
        let mut known = contexts();
        let handle = known.primary(index).handle;
        known.primary.entry(index).and_modify(|primary| primary.users += 1);
        put(context, handle as Handle)
    }
    fn cuDevicePrimaryCtxRelease(index: i32) { release(index) }
    fn cuDevicePrimaryCtxRelease_v2(index: i32) { release(index) }
    fn cuDevicePrimaryCtxSetFlags(index: i32, flags: u32) { set_primary_flags(index, flags) }
    fn cuDevicePrimaryCtxSetFlags_v2(index: i32, flags: u32) { set_primary_flags(index, flags) }
    fn cuDevicePrimaryCtxGetState(index: i32, flags: *mut u32, active: *mut i32) {
        check(!flags.is_null() && !active.is_null())?;
        started()?.check(index)?;
        let primary = contexts().primary(index);
        put(flags, primary.flags)?;
        put(active, (primary.users > 0 || error::runtime_is_used()).into())
    }
    fn cuDevicePrimaryCtxReset(index: i32) { reset(index) }
    fn cuDevicePrimaryCtxReset_v2(index: i32) { reset(index) }
}

fn reset(index: i32) -> Result {
    let device = started()?;
    device.check(index)?;
    let before = device.current()?;
    device.set_current(index)?;
    device.reset()?;
    device.set_current(before)
}
