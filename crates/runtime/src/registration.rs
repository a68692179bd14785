//! What clang's host code registers before `main`: images, kernels, variables.
//!
//! clang emits a constructor that calls `__cudaRegisterFatBinary(&wrapper)`, then `__cudaRegisterFunction` for every kernel stub and
//! `__cudaRegisterVar` for every variable. The wrapper's `data` points to the image table of the CPU target; anything else (a cubin
//! of another tool chain) is a message and launches that fail with `cudaErrorInvalidKernelImage`.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicI32, AtomicU32};
use std::sync::{Arc, OnceLock, RwLock};

use crate::abi::{CpuImage, CpuVar, Entry, FATBIN_WRAPPER_MAGIC, FatbinWrapper, IMAGE_MAGIC};
use crate::error::{CudaError, Result};

/// A registered kernel, safe to use from any thread.
pub struct Kernel {
    pub name: String,
    /// As in the source; made when first asked for.
    source_name: OnceLock<String>,
    pub c_name: *const c_char,
    pub thread_entry: Option<Entry>,
    pub block_entry: Option<Entry>,
    pub variants: Vec<([u32; 3], Entry)>,
    pub param_sizes: Vec<u32>,
    pub max_threads: u32,
    pub static_shared: u32,
    pub local_bytes: u32,
    /// `cudaFuncAttributeMaxDynamicSharedMemorySize`, as raised by the program.
    pub max_dynamic_shared: AtomicU32,
    pub carveout: AtomicI32,
    /// Warned already: sites of divergent barriers are reported once per kernel and site.
    pub launches: AtomicU32,
}

// SAFETY: `c_name` points to a constant string of the program; everything else is owned and immutable or atomic.
unsafe impl Send for Kernel {}
// SAFETY: see `Send`.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// The kernel's name as in the source, where the program's C++ library can tell.
    pub fn source_name(&self) -> &str {
        self.source_name.get_or_init(|| {
            // A version of a kernel carries its grain behind a dollar sign, and more that only the compiler minds.
            let mut parts = self.name.split('$');
            let kernel = crate::report::demangle(parts.next().unwrap_or_default());
            match parts.next() {
                None | Some("original") => kernel,
                Some(grain) => format!("{kernel} at grain {grain}"),
            }
        })
    }
}

#[derive(Clone, Copy)]
pub struct Variable {
    pub address: usize,
    pub size: usize,
}

#[derive(Default)]
struct Registry {
    /// Host stub address to kernel. An `Err` remembers why a stub cannot be launched.
    kernels: HashMap<usize, std::result::Result<Arc<Kernel>, CudaError>>,
    /// Host shadow address to device storage.
    variables: HashMap<usize, Variable>,
}

fn registry() -> &'static RwLock<Registry> {
    static REGISTRY: OnceLock<RwLock<Registry>> = OnceLock::new();
    REGISTRY.get_or_init(RwLock::default)
}

fn write() -> std::sync::RwLockWriteGuard<'static, Registry> {
    registry().write().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn read() -> std::sync::RwLockReadGuard<'static, Registry> {
    registry().read().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The kernel behind a host stub.
pub fn kernel(stub: *const c_void) -> Result<Arc<Kernel>> {
    match read().kernels.get(&(stub as usize)) {
        Some(Ok(kernel)) => Ok(kernel.clone()),
        Some(Err(error)) => Err(*error),
        None => Err(CudaError::INVALID_DEVICE_FUNCTION),
    }
}

/// The device storage behind a host variable.
pub fn variable(shadow: *const c_void) -> Result<Variable> {
    read().variables.get(&(shadow as usize)).copied().ok_or(CudaError::INVALID_SYMBOL)
}

/// What `__cudaRegisterFatBinary` hands out: its address is clang's handle.
struct Handle {
    image: Option<&'static CpuImage>,
}

/// Checks the wrapper and image magic.
///
/// # Safety
/// `wrapper` is null or points to a fat-binary wrapper whose data lives as long as the program.
unsafe fn open(wrapper: *const FatbinWrapper) -> std::result::Result<&'static CpuImage, String> {
    // SAFETY: null or valid by contract.
    let wrapper = unsafe { wrapper.as_ref() }.ok_or("the fat binary wrapper is null")?;
    if wrapper.magic != FATBIN_WRAPPER_MAGIC {
        return Err(format!("expected fat binary wrapper magic {FATBIN_WRAPPER_MAGIC:#x}, got {:#x}", wrapper.magic));
    }
    if wrapper.data.is_null() || wrapper.data.align_offset(align_of::<CpuImage>()) != 0 {
        return Err("the fat binary holds no image for the CPU target".into());
    }
    // SAFETY: not null and aligned; every kind of fat binary is at least eight bytes long.
    let magic = unsafe { wrapper.data.cast::<u64>().read() };
    if magic != IMAGE_MAGIC {
        return Err(format!(
            "expected a CPU image (magic {IMAGE_MAGIC:#x}), got {magic:#x}; was this object compiled with --offload-arch=cpu?"
        ));
    }
    // SAFETY: the magic says that this is an image table, which is a constant of the program.
    Ok(unsafe { &*wrapper.data })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *const FatbinWrapper) -> *mut *mut c_void {
    // SAFETY: called by clang's module constructor with its own wrapper.
    let image = match unsafe { open(wrapper) } {
        Ok(image) => Some(image),
        Err(message) => {
            eprintln!("regrain runtime: error: {message}");
            None
        }
    };
    Box::into_raw(Box::new(Handle { image })).cast()
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinaryEnd(_handle: *mut *mut c_void) {}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaUnregisterFatBinary(handle: *mut *mut c_void) {
    crate::printf::flush();
    if !handle.is_null() {
        // SAFETY: the handle came from `__cudaRegisterFatBinary` and is given back once.
        drop(unsafe { Box::from_raw(handle.cast::<Handle>()) });
    }
}

/// Reads a C string of the image.
///
/// # Safety
/// `text` is null or a C string.
unsafe fn string(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: by contract.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A slice of an image table; empty when null.
///
/// # Safety
/// `data` is null or points to `len` values that live as long as the program.
unsafe fn table<T>(data: *const T, len: u32) -> &'static [T] {
    if data.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: by contract.
    unsafe { std::slice::from_raw_parts(data, len as usize) }
}

fn find_kernel(image: &'static CpuImage, name: &str) -> Option<Kernel> {
    // SAFETY: the image is a constant of the program with valid tables.
    unsafe {
        let entry = table(image.kernels, image.num_kernels).iter().find(|entry| string(entry.name) == name)?;
        let variants = table(entry.variants, entry.num_variants);
        Some(Kernel {
            name: name.to_owned(),
            source_name: OnceLock::new(),
            c_name: entry.name,
            thread_entry: entry.thread_entry,
            block_entry: entry.block_entry,
            variants: variants.iter().filter_map(|v| Some((v.block, v.block_entry?))).collect(),
            param_sizes: table(entry.param_sizes, entry.num_params).to_vec(),
            max_threads: entry.max_threads,
            static_shared: entry.static_shared,
            local_bytes: entry.local_bytes,
            max_dynamic_shared: AtomicU32::new(0),
            carveout: AtomicI32::new(-1),
            launches: AtomicU32::new(0),
        })
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
    let (image, name) = unsafe { ((*handle.cast::<Handle>()).image, string(device_name)) };
    let entry = match image {
        None => Err(CudaError::INVALID_KERNEL_IMAGE),
        Some(image) => find_kernel(image, &name).map(Arc::new).ok_or(CudaError::INVALID_DEVICE_FUNCTION),
    };
    write().kernels.insert(stub as usize, entry);
}

fn find_variable(image: &'static CpuImage, name: &str) -> Option<&'static CpuVar> {
    // SAFETY: the image is a constant of the program with valid tables.
    unsafe { table(image.vars, image.num_vars).iter().find(|var| string(var.name) == name) }
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
    let (image, name) = unsafe { ((*handle.cast::<Handle>()).image, string(device_name)) };
    if let Some(var) = image.and_then(|image| find_variable(image, &name)) {
        let size = if size == 0 { var.size as usize } else { size };
        write().variables.insert(shadow as usize, Variable { address: var.address as usize, size });
    }
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
    // SAFETY: as in `__cudaRegisterFunction`; the shadow is the program's pointer to the managed storage.
    unsafe {
        let image = (*handle.cast::<Handle>()).image;
        if let Some(var) = image.and_then(|image| find_variable(image, &string(device_name))) {
            *shadow = var.address;
            let variable = Variable { address: var.address as usize, size };
            write().variables.insert(shadow as usize, variable);
        }
    }
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
    eprintln!("regrain runtime: error: texture references are not supported on the CPU target");
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
    eprintln!("regrain runtime: error: surface references are not supported on the CPU target");
}

#[unsafe(no_mangle)]
extern "C" fn __cudaInitModule(_handle: *mut *mut c_void) -> c_char {
    1
}

/// Whether a range lies in a device variable.
pub fn in_variable(start: usize, len: usize) -> bool {
    read().variables.values().any(|var| {
        start >= var.address && start + len <= var.address + var.size && start < var.address + var.size.max(1)
    })
}
