//! Kernels and variables of the program's CPU images.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::caches::Ways;
use super::pace::{Help, Pace};
use crate::abi::{
    CpuImage, CpuVar, Entry, FLAG_BLOCKS_WAIT, FLAG_CHECKED, FLAG_GRID_SYNC, FLAG_THREADS_WAIT, PARAMETER_ALIGNED_AT,
};
use crate::error::{CudaError, Result};
use crate::images::registry::{self, Function, Module, Variable};

/// A kernel, safe to use from any thread.
pub struct Kernel {
    pub name: String,
    /// As in the source; made when first asked for.
    source_name: OnceLock<String>,
    pub thread_entry: Option<Entry>,
    pub block_entry: Option<Entry>,
    pub variants: Vec<([u32; 3], Entry)>,
    pub param_sizes: Vec<u32>,
    /// How each is aligned among the others.
    pub param_alignments: Vec<u32>,
    pub max_threads: u32,
    pub static_shared: u32,
    pub local_bytes: u32,
    /// Its block forms wait for other blocks at the barrier of the grid.
    pub blocks_meet: bool,
    /// The variable of the kernel's image that leads to the buffer of what emulated kernels print.
    pub output: Option<usize>,
    /// `cudaFuncAttributeMaxDynamicSharedMemorySize`, as raised by the program.
    pub max_dynamic_shared: AtomicU32,
    pub carveout: AtomicI32,
    /// Its blocks have been seen in loops that may wait for one another.
    pub waits: AtomicBool,
    /// Its threads have done what threads do that wait for others, or for the host, or its block forms have loops for that.
    pub may_wait: AtomicBool,
    /// Whether threads of its block forms have loops in which they may wait.
    pub blocks_may_wait: bool,
    /// Whether threads of its coroutine form may wait without a barrier.
    pub threads_may_wait: bool,
    /// Its block forms have run several blocks in one call.
    pub runs: AtomicBool,
    /// How many blocks go through these together, where they have said so.
    pub together: AtomicU32,
    /// What its launches showed.
    pub pace: Pace,
    pub help: Help,
    pub ways: Ways,
    /// Whether its code tells a checker what it does.
    pub is_checked: bool,
}

impl Kernel {
    /// The kernel's name as in the source, where the program's C++ library can tell.
    pub fn source_name(&self) -> &str {
        self.source_name.get_or_init(|| {
            // A version of a kernel carries its grain behind a dollar sign, and more that only the compiler minds.
            let mut parts = self.name.split('$');
            let kernel = demangle(parts.next().unwrap_or_default());
            match parts.next() {
                None | Some("original") => kernel,
                Some(grain) => format!("{kernel} at grain {grain}"),
            }
        })
    }
}

unsafe extern "C" {
    fn __regrain_demangle(name: *const c_char) -> *mut c_char;
}

/// The source name of a kernel, where the program's C++ library can tell.
pub fn demangle(name: &str) -> String {
    let Some(Ok(c_name)) = name.starts_with("_Z").then(|| CString::new(name)) else { return name.to_owned() };
    // SAFETY: a C string in; out comes null or a C string from `malloc`.
    unsafe {
        let text = __regrain_demangle(c_name.as_ptr());
        if text.is_null() {
            return name.to_owned();
        }
        let demangled = CStr::from_ptr(text).to_string_lossy().into_owned();
        libc::free(text.cast());
        demangled
    }
}

/// Reads a C string of the image.
///
/// # Safety
/// `text` is null or a C string.
unsafe fn is(text: *const c_char, name: &CStr) -> bool {
    // SAFETY: by contract.
    !text.is_null() && unsafe { CStr::from_ptr(text) } == name
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

/// The image's variable of this name.
fn variable(image: &'static CpuImage, name: &CStr) -> Option<&'static CpuVar> {
    // SAFETY: the image is a constant of the program with valid tables.
    unsafe { table(image.vars, image.num_vars).iter().find(|var| is(var.name, name)) }
}

/// How a parameter is aligned: what the image says, or by its size, at most 16.
fn alignment(row: u32) -> u32 {
    match row >> PARAMETER_ALIGNED_AT {
        0 => (1 << row.trailing_zeros()).clamp(1, 16),
        said => 1 << (said - 1),
    }
}

fn find_kernel(image: &'static CpuImage, name: &CStr) -> Option<Kernel> {
    // SAFETY: the image is a constant of the program with valid tables.
    unsafe {
        let entry = table(image.kernels, image.num_kernels).iter().find(|entry| is(entry.name, name))?;
        let variants = table(entry.variants, entry.num_variants);
        let parameters = table(entry.param_sizes, entry.num_params);
        Some(Kernel {
            name: name.to_string_lossy().into_owned(),
            source_name: OnceLock::new(),
            thread_entry: entry.thread_entry,
            block_entry: entry.block_entry,
            variants: variants.iter().filter_map(|v| Some((v.block, v.block_entry?))).collect(),
            param_sizes: parameters.iter().map(|row| row & ((1 << PARAMETER_ALIGNED_AT) - 1)).collect(),
            param_alignments: parameters.iter().map(|row| alignment(*row)).collect(),
            max_threads: entry.max_threads,
            static_shared: entry.static_shared,
            local_bytes: entry.local_bytes,
            blocks_meet: entry.flags & FLAG_GRID_SYNC != 0,
            output: variable(image, c"__regrain_output").map(|found| found.address as usize),
            max_dynamic_shared: AtomicU32::new(0),
            carveout: AtomicI32::new(-1),
            waits: AtomicBool::new(false),
            may_wait: AtomicBool::new(entry.flags & FLAG_BLOCKS_WAIT != 0),
            blocks_may_wait: entry.flags & FLAG_BLOCKS_WAIT != 0,
            threads_may_wait: entry.flags & FLAG_THREADS_WAIT != 0,
            runs: AtomicBool::new(false),
            together: AtomicU32::new(0),
            pace: Pace::default(),
            help: Help::default(),
            ways: Ways::default(),
            is_checked: entry.flags & FLAG_CHECKED != 0,
        })
    }
}

/// The CPU's kernel behind a registered one.
#[inline]
pub fn kernel(function: &'static Function) -> Result<&'static Kernel> {
    let made = function.slot.get_or_make(|| match function.module.images.cpu {
        None => Err(CudaError::INVALID_KERNEL_IMAGE),
        Some(image) => find_kernel(image, function.name).ok_or(CudaError::INVALID_DEVICE_FUNCTION),
    })?;
    made.as_ref().map_err(|error| *error)
}

/// The kernel that device code knows by an address.
pub fn kernel_at(address: *const c_void) -> Result<&'static Kernel> {
    type Known = HashMap<usize, (&'static Module, &'static Kernel)>;
    static KNOWN: OnceLock<Mutex<Known>> = OnceLock::new();
    let mut known = KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, kernel)) = known.get(&(address as usize)).filter(|(module, _)| registry::has_module(module)) {
        return Ok(kernel);
    }
    let found = find_address(address)?;
    known.insert(address as usize, found);
    Ok(found.1)
}

/// Whether kernels launch others: whether device code knows the address of one.
pub fn device_code_may_launch() -> bool {
    registry::modules().into_iter().filter_map(|module| module.images.cpu).any(|image| {
        // SAFETY: the image of a module that has not gone is a constant with valid tables.
        let rows = unsafe { table(image.kernels, image.num_kernels) };
        rows.iter().any(|row| !row.address.is_null())
    })
}

fn find_address(address: *const c_void) -> Result<(&'static Module, &'static Kernel)> {
    for module in registry::modules() {
        let Some(image) = module.images.cpu else { continue };
        // SAFETY: the image of a module that has not gone is a constant with valid tables.
        let rows = unsafe { table(image.kernels, image.num_kernels) };
        let Some(row) = rows.iter().find(|row| !row.address.is_null() && row.address == address) else { continue };
        // SAFETY: names of an image are C strings.
        let name = unsafe { CStr::from_ptr(row.name) };
        // What the host says of a kernel holds for all launches of it.
        let registered = registry::functions().into_iter();
        let same = registered.filter(|function| std::ptr::eq(function.module, module)).find(|one| one.name == name);
        let found = match same {
            Some(function) => kernel(function)?,
            None => Box::leak(Box::new(find_kernel(image, name).ok_or(CudaError::INVALID_DEVICE_FUNCTION)?)),
        };
        return Ok((module, found));
    }
    Err(CudaError::INVALID_DEVICE_FUNCTION)
}

/// Where a variable lies.
#[derive(Clone, Copy)]
pub struct Storage {
    pub address: usize,
    pub size: usize,
}

/// The storage of a registered variable.
pub fn storage(variable: &'static Variable) -> Result<Storage> {
    let made: &Option<Storage> = variable.slot.get_or_make(|| {
        let found = self::variable(variable.module.images.cpu?, variable.name)?;
        let size = if variable.size == 0 { found.size as usize } else { variable.size };
        Some(Storage { address: found.address as usize, size })
    })?;
    made.ok_or(CudaError::INVALID_SYMBOL)
}

/// Whether a range lies in a device variable.
pub fn in_variable(start: usize, len: usize) -> bool {
    registry::any_variable(|variable| {
        storage(variable).is_ok_and(|found| {
            start >= found.address
                && start + len <= found.address + found.size
                && start < found.address + found.size.max(1)
        })
    })
}

/// Where the device variable begins that holds an address, and its bytes.
pub fn variable_at(address: usize) -> Option<(usize, usize)> {
    let mut at = None;
    registry::any_variable(|variable| {
        let found =
            storage(variable).ok().filter(|found| (found.address..found.address + found.size).contains(&address));
        at = at.or(found.map(|found| (found.address, found.size)));
        at.is_some()
    });
    at
}

/// Sets the host's pointer to a managed variable.
pub fn bind(variable: &'static Variable) -> Result {
    let found = storage(variable)?;
    // SAFETY: the shadow of a managed variable is the program's pointer to the storage.
    unsafe { (variable.shadow as *mut *mut c_void).write(found.address as *mut c_void) };
    Ok(())
}
