//! Which contexts there are, and which is the calling thread's. A device has one state here, so contexts are handles with a
//! device, flags and an order on each thread's stack: memory, streams and modules are those of the device, in whichever
//! context they were made.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::device::choice::device;
use crate::error::{self, CudaError, Result};

type Handle = *mut c_void;

/// What is known of a context.
pub struct Context {
    pub device: i32,
    pub flags: u32,
    pub is_primary: bool,
}

/// A device's primary context: its handle, how often it is retained, and its flags.
#[derive(Clone, Copy)]
pub struct Primary {
    pub handle: usize,
    pub users: u32,
    pub flags: u32,
}

#[derive(Default)]
pub struct Contexts {
    pub live: HashMap<usize, Context>,
    pub primary: HashMap<i32, Primary>,
    made: usize,
}

/// Handles are never reused, so that a stale one is recognised.
pub const FIRST_HANDLE: usize = 0x4354_0010;

static INITIALISED: AtomicBool = AtomicBool::new(false);

thread_local! {
    pub static STACK: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// All contexts.
pub fn contexts() -> MutexGuard<'static, Contexts> {
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
    /// A new one.
    pub fn make(&mut self, device: i32, flags: u32, is_primary: bool) -> usize {
        let handle = FIRST_HANDLE + 16 * self.made;
        self.made += 1;
        self.live.insert(handle, Context { device, flags, is_primary });
        handle
    }

    /// The primary context of a device, made when it is first asked for.
    pub fn primary(&mut self, device: i32) -> Primary {
        if let Some(known) = self.primary.get(&device) {
            return *known;
        }
        let made = Primary { handle: self.make(device, 0, true), users: 0, flags: 0 };
        self.primary.insert(device, made);
        made
    }

    /// One that is there.
    pub fn get(&self, handle: Handle) -> Result<&Context> {
        self.live.get(&(handle as usize)).ok_or(CudaError::INVALID_CONTEXT)
    }
}

/// The calling thread's context, 0 for none. A program that uses the runtime has the device's primary context
/// everywhere.
pub fn current() -> usize {
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
pub fn entered() -> Result {
    let Some(top) = STACK.with_borrow(|stack| stack.last().copied()) else { return Ok(()) };
    let of_top = contexts().live.get(&top).map(|found| found.device);
    of_top.map_or(Ok(()), |index| device()?.set_current(index))
}
