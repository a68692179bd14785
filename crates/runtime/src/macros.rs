//! `cuda_api!`: how every `cuda*` function of this runtime is written.

/// Defines exported `cuda*` functions. The body is a `Result`; its error becomes the return value and the thread's last error.
///
/// `fn name / alias (...)` also exports `alias`, the per-thread-default-stream spelling that the header selects with
/// `CUDA_API_PER_THREAD_DEFAULT_STREAM`. Work is synchronous here, so both default streams behave alike.
macro_rules! cuda_api {
    () => {};
    ($(#[$meta:meta])* fn $name:ident / $alias:ident ($($arg:ident : $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        cuda_api! { $(#[$meta])* fn $name($($arg: $ty),*) $body }
        cuda_api! { $(#[$meta])* fn $alias($($arg: $ty),*) $body }
        cuda_api! { $($rest)* }
    };
    ($(#[$meta:meta])* fn $name:ident ($($arg:ident : $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        $(#[$meta])*
        /// # Safety
        /// The contract of the CUDA function of this name: pointers are valid for what it reads and writes.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, clippy::too_many_arguments, unused_unsafe)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            // SAFETY: the caller keeps the contract of the CUDA function of this name; null pointers are checked by the body.
            $crate::error::api(|| unsafe { $body })
        }
        cuda_api! { $($rest)* }
    };
}
pub(crate) use cuda_api;

use crate::error::{CudaError, Result};

/// Writes an output parameter; null is `cudaErrorInvalidValue`.
///
/// # Safety
/// `target` is null or valid for a write of `T`.
pub unsafe fn put<T>(target: *mut T, value: T) -> Result {
    if target.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: not null, and valid for a write by the caller's contract.
    unsafe { target.write(value) };
    Ok(())
}
