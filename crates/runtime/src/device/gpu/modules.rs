//! Images on GPUs: loaded when they are first needed there, and forgotten when the GPU is reset.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use super::layout::Handle;
use super::memory::MEMORY_MANAGED;
use super::vendor::{NOT_FOUND, Vendor};
use crate::error::{CudaError, Result};
use crate::images::registry::{self, Function, Module, Variable};

/// A handle of the driver's as a number.
type Number = usize;

/// What is kept with a module.
struct Loaded {
    /// The module of each GPU, or why there is none.
    on: Vec<Mutex<Option<Result<Number>>>>,
    /// The GPU on which the managed variables lie.
    home: OnceLock<usize>,
}

/// What is kept with a kernel: its handle on each GPU.
struct Handles(Vec<RwLock<Option<Number>>>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The modules that are loaded on a GPU.
pub fn loaded(gpu: usize) -> Vec<Handle> {
    let modules = registry::modules().into_iter();
    let numbers = modules.filter_map(|module| *lock(&module.slot.get::<Loaded>()?.on[gpu])).filter_map(Result::ok);
    // Units of a program share what is loaded.
    numbers.collect::<BTreeSet<Number>>().into_iter().map(|number| number as Handle).collect()
}

/// Forgets what was loaded on a GPU.
pub fn forget(gpu: usize) {
    for module in registry::modules() {
        if let Some(loaded) = module.slot.get::<Loaded>() {
            *lock(&loaded.on[gpu]) = None;
        }
    }
    for function in registry::functions() {
        if let Some(Handles(on)) = function.slot.get::<Handles>() {
            *on[gpu].write().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

/// A module on the calling thread's GPU, which is `gpu`.
fn module(device: &impl Vendor, of: &'static Module, gpu: usize) -> Result<Handle> {
    let loaded = of.slot.get_or_make(|| Loaded {
        on: (0..device.gpu_count()).map(|_| Mutex::default()).collect(),
        home: OnceLock::new(),
    })?;
    let mut on = lock(&loaded.on[gpu]);
    if let Some(known) = *on {
        return known.map(|handle| handle as Handle);
    }
    let managed = registry::managed_variables(of);
    if !managed.is_empty() && *loaded.home.get_or_init(|| gpu) != gpu {
        eprintln!("regrain runtime: error: an image with managed variables runs on one GPU alone");
        return Err(CudaError::NOT_SUPPORTED);
    }
    let made = device.load(&of.images, gpu).and_then(|handle| {
        managed.into_iter().try_for_each(|variable| bind(device, handle, variable)).map(|()| handle as Number)
    });
    *on = Some(made);
    made.map(|handle| handle as Handle)
}

/// Sets the host's pointer to a managed variable.
fn bind(device: &impl Vendor, module: Handle, variable: &'static Variable) -> Result {
    let (address, _) = find_variable(device, module, variable)?;
    if device.pointer(address)?.kind != MEMORY_MANAGED {
        return Err(CudaError::NOT_SUPPORTED);
    }
    // SAFETY: the shadow of a managed variable is the program's pointer to the storage.
    unsafe { (variable.shadow as *mut *mut c_void).write(address) };
    Ok(())
}

fn find_variable(device: &impl Vendor, module: Handle, variable: &'static Variable) -> Result<(*mut c_void, usize)> {
    let (mut address, mut size) = (0, 0);
    // SAFETY: a module of the driver, a C string; valid for writes.
    let code = unsafe {
        (device.functions().module_variable)(&raw mut address, &raw mut size, module, variable.name.as_ptr())
    };
    if code == NOT_FOUND {
        return Err(CudaError::INVALID_SYMBOL);
    }
    device.done(code)?;
    Ok((address as *mut c_void, if variable.size == 0 { size } else { variable.size.min(size) }))
}

/// Where a variable lies on the calling thread's GPU, and its size.
pub fn variable(device: &impl Vendor, variable: &'static Variable) -> Result<(*mut c_void, usize)> {
    let gpu = device.enter()?;
    find_variable(device, module(device, variable.module, gpu)?, variable)
}

/// Loads a module on the calling thread's GPU, which binds its managed variables, but for those of units that share the module and
/// are registered later.
pub fn load_managed(device: &impl Vendor, variable: &'static Variable) -> Result {
    let gpu = device.enter()?;
    let handle = module(device, variable.module, gpu)?;
    bind(device, handle, variable)
}

/// A kernel on the calling thread's GPU, which is `gpu`.
pub fn function(device: &impl Vendor, function: &'static Function, gpu: usize) -> Result<Handle> {
    let Handles(on) =
        function.slot.get_or_make(|| Handles((0..device.gpu_count()).map(|_| RwLock::default()).collect()))?;
    if let Some(known) = *on[gpu].read().unwrap_or_else(PoisonError::into_inner) {
        return Ok(known as Handle);
    }
    let module = module(device, function.module, gpu)?;
    let mut handle = std::ptr::null_mut();
    // SAFETY: a module of the driver, a C string; valid for a write.
    let code = unsafe { (device.functions().module_function)(&raw mut handle, module, function.name.as_ptr()) };
    if code == NOT_FOUND {
        return Err(CudaError::INVALID_DEVICE_FUNCTION);
    }
    device.done(code)?;
    *on[gpu].write().unwrap_or_else(PoisonError::into_inner) = Some(handle as Number);
    Ok(handle)
}
