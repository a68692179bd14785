//! How every `cu*` function of this runtime is written, and where its errors come from.
//!
//! Where the device of the process is NVIDIA's, each function is the one of NVIDIA's library with that name; elsewhere
//! it is what its body says,
//! over the same seam as the runtime's functions. Errors are the runtime's, in numbers of the driver's.

use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::{known, unsupported};
use crate::device::choice;
use crate::device::cuda::{self, driver_function};
use crate::device::seam::Device;
use crate::error::{CudaError, Result};

/// A function of NVIDIA's library, once it is looked up.
pub struct Real(AtomicPtr<c_void>);

impl Real {
    pub const fn new() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// Its address, if the device of the process is NVIDIA's; `None` where the function here is to run.
    pub fn get(&self, name: &CStr) -> Option<*const c_void> {
        let known = self.0.load(Ordering::Acquire);
        if !known.is_null() {
            return Some(known);
        }
        if choice::kind() != cuda::machine::ROW.kind {
            return None;
        }
        unsupported::connect();
        let found = driver_function(name).unwrap_or(unsupported::refuse as *const c_void);
        self.0.store(found.cast_mut(), Ordering::Release);
        Some(found)
    }
}

/// Defines exported `cu*` functions, and the table of them. The body is a `Result`; its error becomes the return value.
///
/// `fn name / alias [on] (...)` also exports `alias`, the per-thread-default-stream spelling. In the body, `on` is the
/// `Default` stream of that
/// spelling.
macro_rules! driver_api {
    (@ [$($done:ident)*]) => {
        /// What is exported here.
        pub static ENTRIES: &[$crate::driver::entry::Entry] = &[$($crate::driver::entry::Entry {
            name: stringify!($done),
            address: $done as *const std::ffi::c_void,
        }),*];
    };
    (@ [$($done:ident)*] fn $name:ident / $alias:ident [$on:ident] ($($arg:ident : $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        $crate::driver::frame::one_function! { $name ($($arg: $ty),*) { let $on = $crate::macros::Default::Legacy; $body } }
        $crate::driver::frame::one_function! { $alias ($($arg: $ty),*) { let $on = $crate::macros::Default::PerThread; $body } }
        $crate::driver::frame::driver_api! { @ [$($done)* $name $alias] $($rest)* }
    };
    (@ [$($done:ident)*] fn $name:ident ($($arg:ident : $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        $crate::driver::frame::one_function! { $name ($($arg: $ty),*) $body }
        $crate::driver::frame::driver_api! { @ [$($done)* $name] $($rest)* }
    };
    (fn $($rest:tt)*) => { $crate::driver::frame::driver_api! { @ [] fn $($rest)* } };
}
pub(crate) use driver_api;

/// One exported `cu*` function.
macro_rules! one_function {
    ($name:ident ($($arg:ident : $ty:ty),*) $body:block) => {
        /// # Safety
        /// The contract of the function of this name in CUDA's driver API: pointers are valid for what it reads and
        /// writes.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "CUDA's names")]
        #[allow(clippy::too_many_arguments, reason = "CUDA's signatures")]
        #[allow(unused_unsafe, reason = "some bodies touch no pointer")]
        unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            static REAL: $crate::driver::frame::Real = $crate::driver::frame::Real::new();
            const NAME: &std::ffi::CStr = $crate::driver::entry::c_name(concat!(stringify!($name), "\0"));
            if let Some(real) = REAL.get(NAME) {
                // SAFETY: NVIDIA's function of this name has this signature; the caller keeps its contract.
                return unsafe {
                    std::mem::transmute::<*const std::ffi::c_void, unsafe extern "C" fn($($ty),*) -> u32>(real)($($arg),*)
                };
            }
            // SAFETY: the caller keeps the contract of the function of this name; null pointers are checked by the
            // body.
            $crate::driver::frame::run(|| unsafe { $body })
        }
    };
}
pub(crate) use one_function;

/// Runs the body of a function: its error in the driver's numbers. A panic is `CUDA_ERROR_UNKNOWN`.
pub fn run(body: impl FnOnce() -> Result) -> u32 {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => result(error),
        Err(_) => CudaError::UNKNOWN.0,
    }
}

/// `CUresult` for an error of the runtime: those that the driver has not are the nearest that it has.
pub fn result(error: CudaError) -> u32 {
    match error {
        CudaError::INVALID_SYMBOL | CudaError::INVALID_DEVICE_FUNCTION => CudaError::SYMBOL_NOT_FOUND.0,
        CudaError::INSUFFICIENT_DRIVER | CudaError::NEWER_DRIVER => CudaError::NOT_SUPPORTED.0,
        // Configurations, pitches, directions, channels, filters: all that is wrong with an argument.
        CudaError(9..=99) => CudaError::INVALID_VALUE.0,
        CudaError(code) => code,
    }
}

/// The device, once the program has called `cuInit` or a function of the runtime.
pub fn started() -> Result<&'static dyn Device> {
    if known::is_started() { choice::device() } else { Err(CudaError::INITIALIZATION) }
}

/// The device of the calling thread's context.
pub fn current() -> Result<&'static dyn Device> {
    let device = started()?;
    known::check_current().map(|()| device)
}
