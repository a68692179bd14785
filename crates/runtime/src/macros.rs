//! `cuda_api!`: how every `cuda*` function of this runtime is written.

/// Defines exported `cuda*` functions. The body is a `Result`; its error becomes the return value and the thread's last
/// error.
///
/// `fn name / alias [on] (...)` also exports `alias`, the per-thread-default-stream spelling that the header selects
/// with `CUDA_API_PER_THREAD_DEFAULT_STREAM`. In the body, `on` is the `Default` stream of
/// that spelling.
macro_rules! cuda_api {
    () => {};
    ($(#[$meta:meta])* fn $name:ident / $alias:ident [$on:ident] ($($arg:ident : $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        cuda_api! { $(#[$meta])* fn $name($($arg: $ty),*) { let $on = $crate::macros::Default::Legacy; $body } }
        cuda_api! { $(#[$meta])* fn $alias($($arg: $ty),*) { let $on = $crate::macros::Default::PerThread; $body } }
        cuda_api! { $($rest)* }
    };
    ($(#[$meta:meta])* fn $name:ident ($($arg:ident : $ty:ty),* $(,)?) $body:block $($rest:tt)*) => {
        $(#[$meta])*
        /// # Safety
        /// The contract of the CUDA function of this name: pointers are valid for what it reads and writes.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "CUDA's names")]
        #[allow(clippy::too_many_arguments, reason = "CUDA's signatures")]
        #[allow(unused_unsafe, reason = "some bodies touch no pointer")]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            // SAFETY: the caller keeps the contract of the CUDA function of this name; null pointers are checked by the
            // body.
            $crate::error::api(stringify!($name), || unsafe { $body })
        }
        cuda_api! { $($rest)* }
    };
}
pub(crate) use cuda_api;

use crate::device::seam::{Order, PER_THREAD, Stream};
use crate::error::{CudaError, Result};

/// The default stream of a spelling of a function.
#[derive(Clone, Copy)]
pub enum Default {
    Legacy,
    PerThread,
}

impl Default {
    /// The stream that the program means by `given`.
    pub fn stream(self, given: Stream) -> Stream {
        match self {
            Self::PerThread if given.is_null() => PER_THREAD,
            _ => given,
        }
    }

    /// The flags of a look-up of a function, with that for this spelling unless they say one.
    pub fn flags(self, given: u64) -> u64 {
        const PER_THREAD: u64 = 2;
        match self {
            Self::PerThread if given == 0 => PER_THREAD,
            _ => given,
        }
    }

    /// A copy on `given` that nobody waits for.
    pub fn later(self, given: Stream) -> Order {
        Order { stream: self.stream(given), waits: false }
    }

    /// A copy that the call waits for.
    pub fn now(self) -> Order {
        Order { stream: self.stream(std::ptr::null_mut()), waits: true }
    }
}

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
