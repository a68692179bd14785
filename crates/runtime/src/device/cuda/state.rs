//! The driver with its GPUs, the context of the calling thread, and errors.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::library::Driver;
use super::pick::Capability;
use super::textures::Objects;
use crate::device::gpu::layout::{Code, Handle};
use crate::device::gpu::library::Functions;
use crate::device::gpu::shape::Shape;
use crate::device::gpu::vendor::STICKY;
use crate::error::{CudaError, Result};
use crate::error_table::ERRORS;

/// A context as a number, 0 for none.
type Context = usize;

/// One GPU.
pub struct Gpu {
    /// The `CUdevice`.
    pub handle: i32,
    pub capability: Capability,
    /// The primary context, once it is retained.
    context: Mutex<Context>,
    /// An error that stays until the GPU is reset.
    failed: AtomicU32,
    /// Largest grid, block and number of threads, asked for at the first launch.
    pub shape: OnceLock<Shape>,
}

/// The device: the driver and its GPUs.
pub struct Cuda {
    pub functions: Functions,
    pub driver: Driver,
    pub gpus: Vec<Gpu>,
    /// The program's texture and surface objects.
    pub objects: Objects,
    /// How often a GPU was reset.
    resets: AtomicU32,
    /// Contexts that were destroyed: other threads may still have them as their current one.
    retired: Mutex<Vec<Context>>,
}

/// What the calling thread was seen with last.
#[derive(Clone, Copy)]
struct Seen {
    gpu: usize,
    context: Context,
    resets: u32,
}

thread_local! {
    static SEEN: Cell<Seen> = const { Cell::new(Seen { gpu: 0, context: 0, resets: 0 }) };
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `cudaErrorIncompatibleDriverContext`.
const INCOMPATIBLE_CONTEXT: CudaError = CudaError(49);
/// The runtime's error for a driver's: the same number, but for the few that the runtime does not have.
pub fn translate(code: Code) -> CudaError {
    if ERRORS.binary_search_by_key(&code, |entry| entry.0).is_ok() { CudaError(code) } else { CudaError::UNKNOWN }
}

impl Gpu {
    /// A GPU whose context nobody has asked for.
    pub fn new(handle: i32, capability: Capability) -> Self {
        let (context, failed) = (Mutex::new(0), AtomicU32::new(0));
        Self { handle, capability, context, failed, shape: OnceLock::new() }
    }
}

impl Cuda {
    /// The device.
    pub fn new((functions, driver): (Functions, Driver), gpus: Vec<Gpu>) -> Self {
        let (objects, resets) = (Objects::default(), AtomicU32::new(0));
        Self { functions, driver, gpus, objects, resets, retired: Mutex::default() }
    }

    /// The result of a driver's function. An error that stays is kept with the calling thread's GPU.
    pub fn result(&self, code: Code) -> Result {
        if code == 0 {
            return Ok(());
        }
        let error = translate(code);
        if STICKY.contains(&error.0) {
            let _ = self.gpus[SEEN.get().gpu].failed.compare_exchange(0, error.0, Ordering::SeqCst, Ordering::SeqCst);
        }
        Err(error)
    }

    /// The GPU of an index of the program's.
    pub fn gpu(&self, index: i32) -> Result<&Gpu> {
        usize::try_from(index).ok().and_then(|at| self.gpus.get(at)).ok_or(CudaError::INVALID_DEVICE)
    }

    /// The error that stays, of the calling thread's GPU.
    pub fn kept_failure(&self) -> Option<CudaError> {
        Some(self.gpus[SEEN.get().gpu].failed.load(Ordering::SeqCst)).filter(|code| *code != 0).map(CudaError)
    }

    /// The primary context of a GPU.
    pub fn context(&self, gpu: &Gpu) -> Result<Handle> {
        let mut kept = lock(&gpu.context);
        if *kept == 0 {
            let mut context = std::ptr::null_mut();
            // SAFETY: valid for a write.
            self.result(unsafe { (self.driver.primary_retain)(&raw mut context, gpu.handle) })?;
            *kept = context as Context;
            lock(&self.retired).retain(|old| *old != *kept);
        }
        Ok(*kept as Handle)
    }

    /// The primary context of a GPU if it is retained, else 0.
    pub fn context_if_retained(&self, gpu: &Gpu) -> usize {
        *lock(&gpu.context)
    }

    /// The calling thread's current context, 0 for none.
    fn current_context(&self) -> Result<Context> {
        let mut context = std::ptr::null_mut();
        // SAFETY: valid for a write.
        self.result(unsafe { (self.driver.context_current)(&raw mut context) })?;
        Ok(context as Context)
    }

    /// Makes a GPU the calling thread's.
    pub fn select_context(&self, index: usize) -> Result {
        let context = self.context(&self.gpus[index])?;
        let resets = self.resets.load(Ordering::Acquire);
        // SAFETY: the context was retained.
        self.result(unsafe { (self.driver.context_set_current)(context) })?;
        SEEN.set(Seen { gpu: index, context: context as Context, resets });
        Ok(())
    }

    /// Sees to it that the calling thread has a GPU's context, and gives the index of that GPU. Another library may
    /// have changed the thread's context: that GPU is then the current one.
    pub fn enter_context(&self) -> Result<usize> {
        let context = self.current_context()?;
        let seen = SEEN.get();
        let resets = self.resets.load(Ordering::Acquire);
        if context != 0 && context == seen.context && resets == seen.resets {
            return Ok(seen.gpu);
        }
        if context == 0 || lock(&self.retired).contains(&context) {
            self.select_context(seen.gpu)?;
            return Ok(seen.gpu);
        }
        let mut handle = 0;
        // SAFETY: valid for a write.
        self.result(unsafe { (self.driver.context_device)(&raw mut handle) })?;
        let index = self.gpus.iter().position(|gpu| gpu.handle == handle).ok_or(CudaError::INVALID_DEVICE)?;
        if self.context(&self.gpus[index])? as Context != context {
            // A context that the program made itself: what is loaded and allocated here belongs to another.
            return Err(INCOMPATIBLE_CONTEXT);
        }
        SEEN.set(Seen { gpu: index, context, resets });
        Ok(index)
    }

    /// The calling thread's GPU, without making a context for it.
    pub fn gpu_of_context(&self) -> Result<usize> {
        if self.current_context()? == 0 { Ok(SEEN.get().gpu) } else { self.enter_context() }
    }

    /// Destroys the primary context of the calling thread's GPU.
    pub fn reset_context(&self) -> Result<usize> {
        let index = self.gpu_of_context()?;
        let gpu = &self.gpus[index];
        let mut kept = lock(&gpu.context);
        // SAFETY: a device of the driver; nothing of this library uses the context while it is reset.
        unsafe {
            self.result((self.driver.primary_reset)(gpu.handle))?;
            if *kept != 0 {
                lock(&self.retired).push(*kept);
                *kept = 0;
                self.result((self.driver.primary_release)(gpu.handle))?;
            }
            self.result((self.driver.context_set_current)(std::ptr::null_mut()))?;
        }
        self.objects.forget(index);
        gpu.failed.store(0, Ordering::SeqCst);
        self.resets.fetch_add(1, Ordering::AcqRel);
        Ok(index)
    }
}
