//! Options of loading and linking, and the linker: nothing is compiled here, so a linker gives back the one module
//! that it got.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::frame::{current, driver_api};
use crate::error::{CudaError, Result, check};
use crate::images::loaded::BEHIND;
use crate::macros::put;

/// Values of `CUjit_option`.
const INFO_LOG: u32 = 3;
const INFO_LOG_SIZE: u32 = 4;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_SIZE: u32 = 6;

/// The options of a call, with their values, or where the values lie that come back.
pub struct Options {
    count: usize,
    names: *const u32,
    values: *const *mut c_void,
}

impl Options {
    pub const NONE: Self = Self { count: 0, names: std::ptr::null(), values: std::ptr::null() };

    /// The lists that a program gives.
    pub fn new(count: u32, names: *const u32, values: *const *mut c_void) -> Result<Self> {
        check(count == 0 || (!names.is_null() && !values.is_null()))?;
        Ok(Self { count: count as usize, names, values })
    }

    /// Where the value of an option stands.
    ///
    /// # Safety
    /// Both lists are as long as was said.
    unsafe fn place(&self, name: u32) -> Option<*mut *mut c_void> {
        // SAFETY: by contract.
        unsafe {
            let at = (0..self.count).find(|at| self.names.add(*at).read() == name)?;
            Some(self.values.add(at).cast_mut())
        }
    }

    /// Writes what went wrong, or nothing, to the logs that the program asks for, and how long it is.
    ///
    /// # Safety
    /// As the CUDA functions ask of options: a log is as long as the option of its size says.
    pub unsafe fn tell(&self, text: &str) {
        for (log, size, text) in [(INFO_LOG, INFO_LOG_SIZE, ""), (ERROR_LOG, ERROR_LOG_SIZE, text)] {
            // SAFETY: by contract.
            unsafe {
                let (Some(log), Some(size)) = (self.place(log), self.place(size)) else { continue };
                let (buffer, room) = (log.read().cast::<u8>(), size.read() as usize as u32 as usize);
                if buffer.is_null() || room == 0 {
                    continue;
                }
                let length = text.len().min(room - 1);
                std::ptr::copy_nonoverlapping(text.as_ptr(), buffer, length);
                buffer.add(length).write(0);
                size.write(if length == 0 { 0 } else { length + 1 } as *mut c_void);
            }
        }
    }
}

type Handle = *mut c_void;

/// What was added to linkers.
#[derive(Default)]
struct Linkers {
    added: HashMap<usize, Vec<Vec<u8>>>,
    made: usize,
}

const FIRST_HANDLE: usize = 0x4c4b_0010;

fn linkers() -> MutexGuard<'static, Linkers> {
    static LINKERS: OnceLock<Mutex<Linkers>> = OnceLock::new();
    LINKERS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

fn create(state: *mut Handle) -> Result {
    check(!state.is_null())?;
    current()?;
    let mut linkers = linkers();
    let handle = FIRST_HANDLE + 16 * linkers.made;
    linkers.made += 1;
    linkers.added.insert(handle, Vec::new());
    // SAFETY: not null, and valid for a write as the caller of the CUDA function promises.
    unsafe { put(state, handle as Handle) }
}

fn add(state: Handle, mut bytes: Vec<u8>) -> Result {
    current()?;
    bytes.extend([0; BEHIND]);
    linkers().added.get_mut(&(state as usize)).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?.push(bytes);
    Ok(())
}

/// # Safety
/// As `cuLinkAddData`.
unsafe fn add_data(state: Handle, data: *const c_void, size: usize) -> Result {
    check(!data.is_null() && size > 0)?;
    // SAFETY: by contract.
    add(state, unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) }.to_vec())
}

/// # Safety
/// As `cuLinkAddFile`.
unsafe fn add_file(state: Handle, path: *const c_char) -> Result {
    check(!path.is_null())?;
    // SAFETY: by contract.
    let path = unsafe { CStr::from_ptr(path) }.to_string_lossy();
    add(state, std::fs::read(&*path).map_err(|_| CudaError::FILE_NOT_FOUND)?)
}

driver_api! {
    fn cuLinkCreate(_count: u32, _options: *const u32, _values: *const *mut c_void, state: *mut Handle) {
        create(state)
    }
    fn cuLinkCreate_v2(_count: u32, _options: *const u32, _values: *const *mut c_void, state: *mut Handle) {
        create(state)
    }
    fn cuLinkAddData(
        state: Handle, _kind: u32, data: *mut c_void, size: usize, _name: *const c_char, _count: u32,
        _options: *const u32, _values: *const *mut c_void
    ) {
        add_data(state, data, size)
    }
    fn cuLinkAddData_v2(
        state: Handle, _kind: u32, data: *mut c_void, size: usize, _name: *const c_char, _count: u32,
        _options: *const u32, _values: *const *mut c_void
    ) {
        add_data(state, data, size)
    }
    fn cuLinkAddFile(
        state: Handle, _kind: u32, path: *const c_char, _count: u32, _options: *const u32, _values: *const *mut c_void
    ) {
        add_file(state, path)
    }
    fn cuLinkAddFile_v2(
        state: Handle, _kind: u32, path: *const c_char, _count: u32, _options: *const u32, _values: *const *mut c_void
    ) {
        add_file(state, path)
    }
    fn cuLinkComplete(state: Handle, image: *mut *const c_void, size: *mut usize) {
        check(!image.is_null())?;
        let linkers = linkers();
        // The bytes stay where they are until the linker is destroyed.
        let [module] = &linkers.added.get(&(state as usize)).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?[..] else {
            return Err(CudaError::NOT_SUPPORTED);
        };
        put(image, module.as_ptr().cast())?;
        if size.is_null() { Ok(()) } else { put(size, module.len() - BEHIND) }
    }
    fn cuLinkDestroy(state: Handle) {
        linkers().added.remove(&(state as usize)).map(drop).ok_or(CudaError::INVALID_RESOURCE_HANDLE)
    }
}
