//! Modules and libraries: code that a program loads while it runs, and what is found in it.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::frame::{current, driver_api, started};
use super::jit::Options;
use crate::device::choice;
use crate::device::cpu;
use crate::error::{CudaError, Result, check};
use crate::images::loaded::{self, Loaded, Refusal};
use crate::images::registry::{self, Function};
use crate::macros::put;

type Handle = *mut c_void;

/// What is loaded, by the handle of the module or library.
#[derive(Default)]
struct Table {
    modules: HashMap<usize, Loaded>,
    made: usize,
}

/// Handles are never reused, so that a stale one is recognised.
const FIRST_HANDLE: usize = 0x4d4f_0010;

fn table() -> MutexGuard<'static, Table> {
    static TABLE: OnceLock<Mutex<Table>> = OnceLock::new();
    TABLE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// The kernel behind a `CUfunction` or `CUkernel`.
pub fn function(handle: Handle) -> Result<&'static Function> {
    registry::of_handle(handle)
}

/// Says why nothing was loaded where `CUDA_LOG_FILE` asks for it, as CUDA's own driver does.
fn log(refusal: &Refusal) {
    let text = format!("regrain runtime: error {}: nothing is loaded: {}\n", refusal.error.0, refusal.text);
    match std::env::var("CUDA_LOG_FILE").as_deref() {
        Ok("stdout") => print_to(&mut std::io::stdout(), &text),
        Ok("stderr") => print_to(&mut std::io::stderr(), &text),
        Ok(path) if !path.is_empty() => {
            if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path) {
                print_to(&mut file, &text);
            }
        }
        _ => {}
    }
}

/// A log that cannot be written is no failure of the program's.
fn print_to(to: &mut dyn std::io::Write, text: &str) {
    let _ = to.write_all(text.as_bytes());
}

/// Loads what lies at `data`.
///
/// # Safety
/// As `cuModuleLoadData`.
pub unsafe fn load(handle: *mut Handle, data: *const c_void, options: &Options) -> Result {
    // SAFETY: by contract.
    unsafe { load_known(handle, data, None, options) }
}

/// # Safety
/// As [`load`]; `data` leads to as many bytes as are `known`, and to some more.
unsafe fn load_known(handle: *mut Handle, data: *const c_void, known: Option<usize>, options: &Options) -> Result {
    check(!handle.is_null() && !data.is_null())?;
    current()?;
    if choice::kind() != cpu::machine::ROW.kind {
        return Err(CudaError::NOT_SUPPORTED);
    }
    // SAFETY: by contract.
    let loaded = unsafe { loaded::load(data, known) }.map_err(|refusal| {
        log(&refusal);
        // SAFETY: buffers of options are valid by contract.
        unsafe { options.tell(&refusal.text) };
        refusal.error
    })?;
    // SAFETY: as above.
    unsafe { options.tell("") };
    for kernel in &loaded.kernels {
        registry::handle_of(kernel);
    }
    let mut table = table();
    let made = FIRST_HANDLE + 16 * table.made;
    table.made += 1;
    table.modules.insert(made, loaded);
    // SAFETY: not null, and valid for a write by contract.
    unsafe { put(handle, made as Handle) }
}

/// Loads a file.
///
/// # Safety
/// As `cuModuleLoad`.
pub unsafe fn load_file(handle: *mut Handle, path: *const c_char, options: &Options) -> Result {
    check(!handle.is_null() && !path.is_null())?;
    current()?;
    // SAFETY: a C string by contract.
    let path = unsafe { CStr::from_ptr(path) }.to_string_lossy();
    let mut bytes = std::fs::read(&*path).map_err(|_| CudaError::FILE_NOT_FOUND)?;
    let known = Some(bytes.len());
    bytes.extend([0; loaded::BEHIND]);
    // SAFETY: so many bytes, and some more.
    unsafe { load_known(handle, bytes.as_ptr().cast(), known, options) }
}

pub fn unload(handle: Handle) -> Result {
    // What is launched of it ends first.
    started()?.flush();
    let mut table = table();
    let gone = table.modules.remove(&(handle as usize)).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
    drop(table);
    for kernel in &gone.kernels {
        registry::forget_handle(kernel);
    }
    gone.unload();
    Ok(())
}

/// What `ask` finds in a module.
fn in_module<T>(handle: Handle, ask: impl FnOnce(&Loaded) -> Result<T>) -> Result<T> {
    started()?;
    ask(table().modules.get(&(handle as usize)).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?)
}

/// The kernel of a name.
///
/// # Safety
/// `name` is null or a C string.
pub unsafe fn kernel(module: Handle, name: *const c_char) -> Result<Handle> {
    check(!name.is_null())?;
    // SAFETY: by contract.
    let name = unsafe { CStr::from_ptr(name) };
    in_module(module, |module| {
        let found = module.kernels.iter().find(|kernel| kernel.name == name).ok_or(CudaError::SYMBOL_NOT_FOUND)?;
        Ok(std::ptr::from_ref(*found).cast_mut().cast())
    })
}

/// Writes where a variable lies, and its size.
///
/// # Safety
/// As `cuModuleGetGlobal`.
pub unsafe fn variable(pointer: *mut usize, size: *mut usize, module: Handle, name: *const c_char) -> Result {
    check(!name.is_null())?;
    // SAFETY: by contract; names of an image are C strings.
    unsafe {
        let name = CStr::from_ptr(name);
        let (address, bytes) = in_module(module, |module| {
            let found = module.variables.iter().find(|variable| CStr::from_ptr(variable.name) == name);
            let found = found.ok_or(CudaError::SYMBOL_NOT_FOUND)?;
            Ok((found.address as usize, found.size as usize))
        })?;
        if !pointer.is_null() {
            put(pointer, address)?;
        }
        if size.is_null() { Ok(()) } else { put(size, bytes) }
    }
}

pub fn number_of_kernels(module: Handle) -> Result<u32> {
    in_module(module, |module| Ok(module.kernels.len() as u32))
}

/// Writes as many handles of a module's kernels as there is room for.
///
/// # Safety
/// `kernels` is valid for so many.
pub unsafe fn list(kernels: *mut Handle, room: u32, module: Handle) -> Result {
    check(!kernels.is_null())?;
    in_module(module, |module| {
        for (at, kernel) in module.kernels.iter().take(room as usize).enumerate() {
            // SAFETY: by contract.
            unsafe { kernels.add(at).write(std::ptr::from_ref(*kernel).cast_mut().cast()) };
        }
        Ok(())
    })
}

/// The module that a kernel is in.
fn module_of(kernel: Handle) -> Result<Handle> {
    let function = function(kernel)?;
    let table = table();
    let holds = |loaded: &Loaded| std::ptr::eq(loaded.module, function.module);
    let found = table.modules.iter().find(|(_, loaded)| holds(loaded)).map(|(handle, _)| *handle as Handle);
    found.ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}

driver_api! {
    fn cuModuleLoad(module: *mut Handle, path: *const c_char) { load_file(module, path, &Options::NONE) }
    fn cuModuleLoadData(module: *mut Handle, image: *const c_void) { load(module, image, &Options::NONE) }
    fn cuModuleLoadDataEx(
        module: *mut Handle, image: *const c_void, count: u32, options: *const u32, values: *const *mut c_void
    ) {
        load(module, image, &Options::new(count, options, values)?)
    }
    fn cuModuleLoadFatBinary(module: *mut Handle, image: *const c_void) { load(module, image, &Options::NONE) }
    fn cuModuleUnload(module: Handle) { unload(module) }
    fn cuModuleGetLoadingMode(mode: *mut u32) { put(mode, 1) }
    fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) {
        check(!function.is_null())?;
        put(function, kernel(module, name)?)
    }
    fn cuModuleGetFunctionCount(count: *mut u32, module: Handle) { put(count, number_of_kernels(module)?) }
    fn cuModuleEnumerateFunctions(functions: *mut Handle, room: u32, module: Handle) { list(functions, room, module) }
    fn cuModuleGetGlobal_v2(pointer: *mut usize, size: *mut usize, module: Handle, name: *const c_char) {
        variable(pointer, size, module, name)
    }

    fn cuLibraryLoadData(
        library: *mut Handle, code: *const c_void, options: *const u32, values: *const *mut c_void, count: u32,
        _library_options: *const u32, _library_values: *const *mut c_void, _library_count: u32
    ) {
        load(library, code, &Options::new(count, options, values)?)
    }
    fn cuLibraryLoadFromFile(
        library: *mut Handle, path: *const c_char, options: *const u32, values: *const *mut c_void, count: u32,
        _library_options: *const u32, _library_values: *const *mut c_void, _library_count: u32
    ) {
        load_file(library, path, &Options::new(count, options, values)?)
    }
    fn cuLibraryUnload(library: Handle) { unload(library) }
    fn cuLibraryGetKernel(kernel: *mut Handle, library: Handle, name: *const c_char) {
        check(!kernel.is_null())?;
        put(kernel, self::kernel(library, name)?)
    }
    fn cuLibraryGetKernelCount(count: *mut u32, library: Handle) { put(count, number_of_kernels(library)?) }
    fn cuLibraryEnumerateKernels(kernels: *mut Handle, room: u32, library: Handle) { list(kernels, room, library) }
    fn cuLibraryGetModule(module: *mut Handle, library: Handle) {
        in_module(library, |_| Ok(()))?;
        put(module, library)
    }
    fn cuLibraryGetGlobal(pointer: *mut usize, size: *mut usize, library: Handle, name: *const c_char) {
        variable(pointer, size, library, name)
    }
    fn cuKernelGetFunction(function: *mut Handle, kernel: Handle) {
        self::function(kernel)?;
        put(function, kernel)
    }
    fn cuKernelGetLibrary(library: *mut Handle, kernel: Handle) { put(library, module_of(kernel)?) }
    fn cuFuncGetModule(module: *mut Handle, function: Handle) { put(module, module_of(function)?) }
}
