//! `cudaGetLastError` and the texts of errors.

use std::ffi::c_char;

use crate::device::choice::device_if_chosen;
use crate::error::{c_string, clear_last, last};

/// A failure of the device that stays comes before the thread's own.
fn peek() -> u32 {
    device_if_chosen().and_then(|device| device.sticky()).map_or_else(last, |error| error.0)
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetLastError() -> u32 {
    let code = peek();
    clear_last();
    code
}

#[unsafe(no_mangle)]
extern "C" fn cudaPeekAtLastError() -> u32 {
    peek()
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorName(code: u32) -> *const c_char {
    c_string(code, |entry| &entry.0)
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorString(code: u32) -> *const c_char {
    c_string(code, |entry| &entry.1)
}
