//! The C entry points of `cpp/*.cpp`, as bindgen makes them of `cpp/bridge.h`, and what handing over strings takes.
//!
//! Nothing here is public: the other modules of this crate wrap every function safely.

use mlir_sys::MlirStringRef;
use std::ffi::{c_char, c_void};

pub(crate) use generated::*;

mod generated {
    #![allow(non_upper_case_globals, unused_imports)]
    use llvm_sys::{
        prelude::{LLVMContextRef, LLVMModuleRef, LLVMValueRef},
        target_machine::LLVMTargetMachineRef,
    };
    use mlir_sys::*;

    include!(concat!(env!("OUT_DIR"), "/bridge.rs"));
}

/// A borrowed string as MLIR's C API takes it.
pub(crate) fn string(text: &str) -> MlirStringRef {
    bytes(text.as_bytes())
}

/// Borrowed bytes as MLIR's C API takes them.
pub(crate) fn bytes(data: &[u8]) -> MlirStringRef {
    MlirStringRef { data: data.as_ptr().cast(), length: data.len() }
}

/// Copies a string that C++ lent us.
pub(crate) fn to_str<'a>(raw: MlirStringRef) -> &'a str {
    if raw.data.is_null() || raw.length == 0 {
        return "";
    }
    // SAFETY: callers pass strings that MLIR interned in a context outliving `'a`, or copy at once.
    let data = unsafe { std::slice::from_raw_parts(raw.data.cast::<u8>(), raw.length) };
    if data.is_ascii() {
        // SAFETY: ASCII is UTF-8. Names are asked for all the time, and the general check takes several times as long.
        return unsafe { std::str::from_utf8_unchecked(data) };
    }
    std::str::from_utf8(data).unwrap_or("<not utf-8>")
}

/// Appends what it is given to the `Vec<u8>` behind `user`.
///
/// # Safety
/// `data` has `size` readable bytes; `user` points to a live `Vec<u8>` that nothing else touches during the call.
unsafe extern "C" fn append(data: *const c_char, size: usize, user: *mut c_void) {
    if size == 0 {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let out = &mut *user.cast::<Vec<u8>>();
        out.extend_from_slice(std::slice::from_raw_parts(data.cast::<u8>(), size));
    }
}

/// Appends what MLIR prints to the `Vec<u8>` behind `user`.
///
/// # Safety
/// As for `append`.
unsafe extern "C" fn append_ref(text: MlirStringRef, user: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { append(text.data, text.length, user) }
}

/// Runs `call` with a sink and what belongs to it; gives its result and the bytes that the sink was given.
pub(crate) fn gather<R>(call: impl FnOnce(RegrainSink, *mut c_void) -> R) -> (R, Vec<u8>) {
    let mut out: Vec<u8> = Vec::new();
    let result = call(Some(append), (&raw mut out).cast());
    (result, out)
}

/// As `gather`, for a call whose result is whether it succeeded: what it made, or the reason why it did not.
pub(crate) fn attempt(call: impl FnOnce(RegrainSink, *mut c_void) -> bool) -> Result<Vec<u8>, String> {
    match gather(call) {
        (true, made) => Ok(made),
        (false, reason) => Err(String::from_utf8_lossy(&reason).into_owned()),
    }
}

/// The text that a function of MLIR's own C API prints.
pub(crate) fn print(call: impl FnOnce(mlir_sys::MlirStringCallback, *mut c_void)) -> String {
    let mut out: Vec<u8> = Vec::new();
    call(Some(append_ref), (&raw mut out).cast());
    String::from_utf8_lossy(&out).into_owned()
}
