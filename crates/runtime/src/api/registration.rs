//! What clang's host code registers before `main`: images, kernels, variables.
//!
//! clang emits a constructor that calls `__cudaRegisterFatBinary(&wrapper)`, then `__cudaRegisterFunction` for every
//! kernel stub and `__cudaRegisterVar` for every variable. Kernels and variables that an image lacks register without a
//! word: versions of a kernel exist for one device and not for another. Using one that the chosen device's image lacks
//! is the error.

use std::ffi::{c_char, c_int, c_void};

use crate::abi::FatbinWrapper;
use crate::device::choice::{arrived, device, device_if_chosen};
use crate::images::image::{Images, open};
use crate::images::registry::{self, Module};

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *const FatbinWrapper) -> *mut *mut c_void {
    // SAFETY: called by clang's module constructor with its own wrapper.
    let images = unsafe { open(wrapper) }.unwrap_or_else(|message| {
        eprintln!("regrain runtime: error: {message}");
        Images::default()
    });
    arrived(&images);
    std::ptr::from_ref(registry::add_module(images)).cast_mut().cast()
}

/// The module behind clang's handle.
///
/// # Safety
/// The handle came from [`__cudaRegisterFatBinary`], whose modules live for ever.
unsafe fn module(handle: *mut *mut c_void) -> &'static Module {
    // SAFETY: by contract.
    unsafe { &*handle.cast::<Module>() }
}

/// All of a module is registered. The program may touch its managed variables from now on, so their storage must be
/// there: the device is chosen here if there are any.
#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterFatBinaryEnd(handle: *mut *mut c_void) {
    // SAFETY: the handle came from `__cudaRegisterFatBinary`.
    let variables = registry::managed_variables(unsafe { module(handle) });
    if variables.is_empty() {
        return;
    }
    let Ok(device) = device() else { return };
    for variable in variables {
        if let Err(error) = device.bind_managed(variable) {
            let name = variable.name.to_string_lossy();
            eprintln!("regrain runtime: error: managed variable '{name}' has no storage (error {})", error.0);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaUnregisterFatBinary(handle: *mut *mut c_void) {
    if !handle.is_null() {
        // SAFETY: the handle came from `__cudaRegisterFatBinary`.
        registry::forget_module(unsafe { module(handle) });
    }
    if let Some(device) = device_if_chosen() {
        device.flush();
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterFunction(
    handle: *mut *mut c_void,
    stub: *const c_char,
    _device_function: *mut c_char,
    device_name: *const c_char,
    _thread_limit: c_int,
    _tid: *mut c_void,
    _bid: *mut c_void,
    _block: *mut c_void,
    _grid: *mut c_void,
    _warp_size: *mut c_int,
) {
    // SAFETY: the handle came from `__cudaRegisterFatBinary`; the name is a constant string.
    unsafe { registry::add_function(module(handle), stub.cast(), device_name) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterVar(
    handle: *mut *mut c_void,
    shadow: *mut c_char,
    _device_address: *mut c_char,
    device_name: *const c_char,
    _external: c_int,
    size: usize,
    _constant: c_int,
    _global: c_int,
) {
    // SAFETY: as in `__cudaRegisterFunction`.
    unsafe { registry::add_variable(module(handle), shadow.cast(), device_name, size, false) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterManagedVar(
    handle: *mut *mut c_void,
    shadow: *mut *mut c_void,
    _device_address: *mut c_char,
    device_name: *const c_char,
    _external: c_int,
    size: usize,
    _constant: c_int,
    _global: c_int,
) {
    // SAFETY: as in `__cudaRegisterFunction`.
    unsafe { registry::add_variable(module(handle), shadow.cast(), device_name, size, true) };
}

/// Texture references were removed in CUDA 12; a program that still registers one is told so.
#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterTexture(
    _handle: *mut *mut c_void,
    _shadow: *const c_void,
    _device_address: *const *const c_void,
    _name: *const c_char,
    _dim: c_int,
    _norm: c_int,
    _external: c_int,
) {
    eprintln!("regrain runtime: error: texture references are not supported");
}

/// See [`__cudaRegisterTexture`].
#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterSurface(
    _handle: *mut *mut c_void,
    _shadow: *const c_void,
    _device_address: *const *const c_void,
    _name: *const c_char,
    _dim: c_int,
    _external: c_int,
) {
    eprintln!("regrain runtime: error: surface references are not supported");
}

#[unsafe(no_mangle)]
extern "C" fn __cudaInitModule(_handle: *mut *mut c_void) -> c_char {
    1
}
