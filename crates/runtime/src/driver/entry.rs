//! Exported functions by their names.

use std::ffi::{CStr, c_void};

/// An exported function by its name.
pub struct Entry {
    pub name: &'static str,
    pub address: *const c_void,
}

// SAFETY: the address of a function.
unsafe impl Sync for Entry {}

/// A name that ends with NUL.
pub const fn c_name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}
