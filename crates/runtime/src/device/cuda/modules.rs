//! Images on GPUs: loaded when they are first needed there, and forgotten when the GPU is reset.

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use super::layout::Handle;
use super::memory::MEMORY_MANAGED;
use super::pick::{Capability, pick};
use super::state::{Cuda, NOT_FOUND, describe};
use crate::device::seam::Memory;
use crate::error::{CudaError, Result};
use crate::images::image::Images;
use crate::images::offload::ImageKind;
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

/// The bytes to load on a GPU, in words and as they are. PTX is copied, to end with NUL.
fn image(images: &Images, gpu: Capability) -> Result<(String, std::borrow::Cow<'static, [u8]>)> {
    if let Some(fatbin) = images.fatbin {
        return Ok(("NVIDIA fat binary".into(), fatbin.into()));
    }
    if images.offload.is_empty() {
        return Err(CudaError::INVALID_KERNEL_IMAGE);
    }
    let Some(found) = pick(&images.offload, gpu) else {
        eprintln!("regrain runtime: error: no image for a GPU of sm_{}{}; there is: {images}", gpu.0, gpu.1);
        return Err(CudaError::NO_KERNEL_IMAGE);
    };
    let bytes = match found.kind {
        ImageKind::Ptx => [found.bytes, b"\0"].concat().into(),
        _ => found.bytes.into(),
    };
    Ok((found.to_string(), bytes))
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

impl Cuda {
    fn load(&self, module: &'static Module, gpu: usize) -> Result<Number> {
        let (what, bytes) = image(&module.images, self.gpus[gpu].capability)?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: a whole image of a kind that the driver knows; the GPU's context is current.
        let done = self.done(unsafe { (self.driver.module_load)(&raw mut handle, bytes.as_ptr().cast()) });
        if let Err(error) = done {
            eprintln!("regrain runtime: error: the driver does not load the {what}: {}", describe(error));
            return Err(error);
        }
        Ok(handle as Number)
    }

    /// A module on the calling thread's GPU, which is `gpu`.
    fn module(&self, module: &'static Module, gpu: usize) -> Result<Handle> {
        let loaded = module.slot.get_or_make(|| Loaded {
            on: self.gpus.iter().map(|_| Mutex::default()).collect(),
            home: OnceLock::new(),
        })?;
        let mut on = lock(&loaded.on[gpu]);
        if let Some(known) = *on {
            return known.map(|handle| handle as Handle);
        }
        let managed = registry::managed_variables(module);
        if !managed.is_empty() && *loaded.home.get_or_init(|| gpu) != gpu {
            eprintln!("regrain runtime: error: an image with managed variables runs on one GPU alone");
            return Err(CudaError::NOT_SUPPORTED);
        }
        let made = self.load(module, gpu).and_then(|handle| {
            managed.into_iter().try_for_each(|variable| self.bind(handle as Handle, variable)).map(|()| handle)
        });
        *on = Some(made);
        made.map(|handle| handle as Handle)
    }

    /// Sets the host's pointer to a managed variable.
    fn bind(&self, module: Handle, variable: &'static Variable) -> Result {
        let (address, _) = self.find_variable(module, variable)?;
        if self.pointer_attributes(address)?.kind != MEMORY_MANAGED {
            return Err(CudaError::NOT_SUPPORTED);
        }
        // SAFETY: the shadow of a managed variable is the program's pointer to the storage.
        unsafe { (variable.shadow as *mut *mut c_void).write(address) };
        Ok(())
    }

    fn find_variable(&self, module: Handle, variable: &'static Variable) -> Result<(*mut c_void, usize)> {
        let (mut address, mut size) = (0, 0);
        // SAFETY: a module of the driver, a C string; valid for writes.
        let code =
            unsafe { (self.driver.module_variable)(&raw mut address, &raw mut size, module, variable.name.as_ptr()) };
        if code == NOT_FOUND {
            return Err(CudaError::INVALID_SYMBOL);
        }
        self.done(code)?;
        Ok((address as *mut c_void, if variable.size == 0 { size } else { variable.size.min(size) }))
    }

    /// Where a variable lies on the calling thread's GPU, and its size.
    pub fn variable(&self, variable: &'static Variable) -> Result<(*mut c_void, usize)> {
        let gpu = self.enter()?;
        self.find_variable(self.module(variable.module, gpu)?, variable)
    }

    /// Loads a module on the calling thread's GPU; that binds its managed variables.
    pub fn load_managed(&self, variable: &'static Variable) -> Result {
        let gpu = self.enter()?;
        self.module(variable.module, gpu).map(|_| ())
    }

    /// A kernel on the calling thread's GPU, which is `gpu`.
    pub fn function(&self, function: &'static Function, gpu: usize) -> Result<Handle> {
        let Handles(on) =
            function.slot.get_or_make(|| Handles(self.gpus.iter().map(|_| RwLock::default()).collect()))?;
        if let Some(known) = *on[gpu].read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(known as Handle);
        }
        let module = self.module(function.module, gpu)?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: a module of the driver, a C string; valid for a write.
        let code = unsafe { (self.driver.module_function)(&raw mut handle, module, function.name.as_ptr()) };
        if code == NOT_FOUND {
            return Err(CudaError::INVALID_DEVICE_FUNCTION);
        }
        self.done(code)?;
        *on[gpu].write().unwrap_or_else(PoisonError::into_inner) = Some(handle as Number);
        Ok(handle)
    }
}
