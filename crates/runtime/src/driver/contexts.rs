//! Contexts. A device has one state here, so contexts are handles with a device, flags and an order on each thread's
//! stack: memory, streams and
//! modules are those of the device, in whichever context they were made.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::frame::{driver_api, started};
use crate::device::choice::device;
use crate::error::{self, CudaError, Result, check};
use crate::macros::put;

type Handle = *mut c_void;

/// What is known of a context.
struct Context {
    device: i32,
    flags: u32,
    is_primary: bool,
}

/// A device's primary context: its handle, how often it is retained, and its flags.
#[derive(Clone, Copy)]
struct Primary {
    handle: usize,
    users: u32,
    flags: u32,
}

#[derive(Default)]
struct Contexts {
    live: HashMap<usize, Context>,
    primary: HashMap<i32, Primary>,
    made: usize,
}

/// Handles are never reused, so that a stale one is recognised.
const FIRST_HANDLE: usize = 0x4354_0010;
/// What a context's version is; later ones are the same.
const API_VERSION: u32 = 3020;

static INITIALISED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static STACK: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

fn contexts() -> MutexGuard<'static, Contexts> {
    static CONTEXTS: OnceLock<Mutex<Contexts>> = OnceLock::new();
    CONTEXTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// `cuInit` was called.
pub fn initialise() {
    INITIALISED.store(true, Ordering::Relaxed);
}

/// Whether the program has called `cuInit`, or the runtime, which does it by itself.
pub fn is_started() -> bool {
    INITIALISED.load(Ordering::Relaxed) || error::runtime_is_used()
}

impl Contexts {
    fn make(&mut self, device: i32, flags: u32, is_primary: bool) -> usize {
        let handle = FIRST_HANDLE + 16 * self.made;
        self.made += 1;
        self.live.insert(handle, Context { device, flags, is_primary });
        handle
    }

    fn primary(&mut self, device: i32) -> Primary {
        if let Some(known) = self.primary.get(&device) {
            return *known;
        }
        let made = Primary { handle: self.make(device, 0, true), users: 0, flags: 0 };
        self.primary.insert(device, made);
        made
    }

    fn get(&self, handle: Handle) -> Result<&Context> {
        self.live.get(&(handle as usize)).ok_or(CudaError::INVALID_CONTEXT)
    }
}

/// The calling thread's context, 0 for none. A program that uses the runtime has the device's primary context
/// everywhere.
fn current() -> usize {
    let top = STACK.with_borrow(|stack| stack.last().copied());
    let from_runtime = || {
        let device = device().ok().filter(|_| error::runtime_is_used())?.current().ok()?;
        Some(contexts().primary(device).handle)
    };
    top.or_else(from_runtime).unwrap_or(0)
}

/// An error unless the calling thread has a context that is still there.
pub fn check_current() -> Result {
    match current() {
        0 => Err(CudaError::INVALID_CONTEXT),
        handle if contexts().live.contains_key(&handle) => Ok(()),
        _ => Err(CudaError::CONTEXT_IS_DESTROYED),
    }
}

/// The calling thread's context as the program knows it; null for none.
pub fn current_handle() -> Handle {
    current() as Handle
}

/// The device of a context.
pub fn device_of(context: Handle) -> Result<i32> {
    contexts().get(context).map(|found| found.device)
}

/// The primary context of a device.
pub fn primary_of(device: i32) -> Handle {
    contexts().primary(device).handle as Handle
}

/// Makes the device of the context on top the thread's.
fn entered() -> Result {
    let Some(top) = STACK.with_borrow(|stack| stack.last().copied()) else { return Ok(()) };
    let of_top = contexts().live.get(&top).map(|found| found.device);
    of_top.map_or(Ok(()), |index| device()?.set_current(index))
}

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
