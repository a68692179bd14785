//! HIP with its GPUs, and errors.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use super::library::Hip;
use crate::device::gpu::layout::Code;
use crate::device::gpu::library::Functions;
use crate::device::gpu::shape::Shape;
use crate::device::gpu::vendor::STICKY;
use crate::device::output::Output;
use crate::error::{CudaError, Result};
use crate::error_table::ERRORS;
use crate::types::{ChannelFormat, Extent};

/// `cudaLimitPrintfFifoSize` by default, bytes.
const PRINTF_BUFFER: usize = 1 << 20;

/// One GPU.
pub struct Gpu {
    /// As in `gfx90a:sramecc+:xnack-`, where HIP tells it.
    pub name: Option<String>,
    /// An error that stays until the GPU is reset.
    pub failed: AtomicU32,
    /// Largest grid, block and number of threads, asked for at the first launch.
    pub shape: OnceLock<Shape>,
    /// What kernels print into, once a module needs it.
    pub output: Mutex<Option<Output>>,
}

/// What is known of an array: HIP has no function that tells, in versions that are supported.
#[derive(Clone, Copy)]
pub struct Array {
    pub format: ChannelFormat,
    pub extent: Extent,
    pub flags: u32,
}

/// The device: HIP and its GPUs.
pub struct Amd {
    pub functions: Functions,
    pub hip: Hip,
    /// ROCm's major version.
    pub major: i32,
    pub gpus: Vec<Gpu>,
    /// The program's arrays, by their handles.
    pub arrays: Mutex<HashMap<usize, Array>>,
    /// Dynamic shared memory that the program set for kernels, by their entries in the registry.
    pub dynamic_shared: Mutex<HashMap<usize, i32>>,
    /// `cudaLimitPrintfFifoSize`.
    pub printf_buffer: AtomicUsize,
}

/// Errors of HIP whose number is another error in CUDA, or none: `hipErrorInvalidChannelDescriptor` and
/// `hipErrorInvalidTexture` of ROCm 6.3 and later.
const OTHERS: [(Code, CudaError); 2] = [(911, CudaError::INVALID_CHANNEL_DESCRIPTOR), (912, CudaError(18))];

/// The runtime's error for HIP's: the same number, but for the few above and those that CUDA does not have.
pub fn translate(code: Code) -> CudaError {
    if let Some((_, error)) = OTHERS.iter().find(|other| other.0 == code) {
        return *error;
    }
    let known = code != 0 && ERRORS.binary_search_by_key(&code, |entry| entry.0).is_ok();
    if known { CudaError(code) } else { CudaError::UNKNOWN }
}

impl Gpu {
    pub fn new(name: Option<String>) -> Self {
        Self { name, failed: AtomicU32::new(0), shape: OnceLock::new(), output: Mutex::default() }
    }

    /// Keeps an error that stays. The first wins.
    pub fn fail(&self, error: CudaError) {
        let _ = self.failed.compare_exchange(0, error.0, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// The error that stays.
    pub fn failure(&self) -> Option<CudaError> {
        Some(self.failed.load(Ordering::SeqCst)).filter(|code| *code != 0).map(CudaError)
    }
}

impl Amd {
    /// The device.
    pub fn new(functions: Functions, hip: Hip, major: i32, gpus: Vec<Gpu>) -> Self {
        let printf_buffer = AtomicUsize::new(PRINTF_BUFFER);
        Self { functions, hip, major, gpus, arrays: Mutex::default(), dynamic_shared: Mutex::default(), printf_buffer }
    }

    /// The calling thread's GPU, as HIP keeps it.
    pub fn here(&self) -> Result<usize> {
        let mut index = 0;
        // SAFETY: valid for a write.
        match unsafe { (self.hip.current)(&raw mut index) } {
            0 => usize::try_from(index).ok().filter(|at| *at < self.gpus.len()).ok_or(CudaError::INVALID_DEVICE),
            code => Err(translate(code)),
        }
    }

    /// The result of a function of HIP's. An error that stays is kept with the calling thread's GPU.
    pub fn result(&self, code: Code) -> Result {
        if code == 0 {
            return Ok(());
        }
        let error = translate(code);
        if STICKY.contains(&error.0)
            && let Ok(gpu) = self.here()
        {
            self.gpus[gpu].fail(error);
        }
        Err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_keep_their_number_where_cuda_has_the_same() {
        for code in [1, 2, 100, 209, 400, 500, 600, 700, 719, 720, 801] {
            assert_eq!(translate(code), CudaError(code));
        }
        assert_eq!((translate(911), translate(912)), (CudaError(20), CudaError(18)));
        for code in [202, 916, 1052, 1053, 1054] {
            assert_eq!(translate(code), CudaError::UNKNOWN);
        }
    }
}
