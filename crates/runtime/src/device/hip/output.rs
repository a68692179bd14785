//! The buffer of what kernels print ([`Output`]) in memory of HIP's.
//!
//! It is read after work was waited for, and when the program ends: before HIP's own destructors, after which the
//! memory may be gone.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, PoisonError};

use super::state::Amd;
use crate::device::gpu::layout::{Handle, Pointer};
use crate::device::gpu::vendor::NOT_FOUND;
use crate::device::output::{HEADER, Output};
use crate::error::{CudaError, Result};
use crate::types::HOST_TO_DEVICE;

/// `hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent`: seen by all GPUs, with atomics of the whole
/// system.
const FLAGS: u32 = 0x1 | 0x2 | 0x4000_0000;
/// The device whose buffers are shown when the program ends.
static SHOWN: OnceLock<&'static Amd> = OnceLock::new();
/// The program ends: nobody reads buffers any more.
static CLOSED: AtomicBool = AtomicBool::new(false);

extern "C" fn close() {
    if let Some(device) = SHOWN.get() {
        device.drain_all();
    }
    CLOSED.store(true, Ordering::SeqCst);
}

/// Shows what is left when the program ends. HIP has registered its own destructors before, so that they run later.
pub fn show_at_exit(device: &'static Amd) {
    if SHOWN.set(device).is_ok() {
        // SAFETY: a function without preconditions. Without room for it, buffers are read after waiting alone.
        let _ = unsafe { libc::atexit(close) };
    }
}

impl Amd {
    /// Gives a module that was loaded on a GPU, the calling thread's, the GPU's buffer, if it has a place for it.
    pub fn connect_output(&self, module: Handle, gpu: usize) -> Result {
        let (mut place, mut size) = (0, 0);
        // SAFETY: a module of HIP's, a C string; valid for writes.
        let code = unsafe {
            (self.functions.module_variable)(&raw mut place, &raw mut size, module, c"__regrain_output".as_ptr())
        };
        if code == NOT_FOUND {
            return Ok(());
        }
        self.result(code)?;
        if size != size_of::<Pointer>() {
            return Err(CudaError::INVALID_KERNEL_IMAGE);
        }
        let mut kept = self.gpus[gpu].output.lock().unwrap_or_else(PoisonError::into_inner);
        let output = match &mut *kept {
            Some(output) => output,
            none => none.insert(self.make_output()?),
        };
        let from = (&raw const output.device).cast::<c_void>();
        // SAFETY: the variable has the size of a pointer.
        self.result(unsafe { (self.hip.copy)(place as *mut c_void, from, size, HOST_TO_DEVICE) })
    }

    fn make_output(&self) -> Result<Output> {
        let capacity = self.printf_buffer.load(Ordering::Relaxed).clamp(64, 1 << 30).next_multiple_of(8);
        let (mut host, mut device) = (std::ptr::null_mut(), 0);
        // SAFETY: valid for writes; the memory that HIP gives is as large as was asked for.
        unsafe {
            self.result((self.functions.allocate_host)(&raw mut host, HEADER + capacity, FLAGS))?;
            self.result((self.functions.host_pointer)(&raw mut device, host, 0))?;
            host.cast::<u8>().write_bytes(0, HEADER + capacity);
        }
        Ok(Output::new(host as usize, device, capacity))
    }

    /// Shows what kernels of a GPU printed. What a failed kernel leaves stays with the GPU.
    pub fn drain_output(&self, gpu: usize, idle: bool) -> Result {
        if CLOSED.load(Ordering::SeqCst) {
            return Ok(());
        }
        let gpu = &self.gpus[gpu];
        let mut kept = gpu.output.lock().unwrap_or_else(PoisonError::into_inner);
        let drained = kept.as_mut().map_or(Ok(()), |output| output.drain(idle));
        if let Err(error) = drained {
            gpu.fail(error);
        }
        drained
    }

    /// Shows what kernels of all GPUs printed so far.
    pub fn drain_all(&self) {
        for gpu in 0..self.gpus.len() {
            let _ = self.drain_output(gpu, false);
        }
    }

    /// Frees the buffer of a GPU, on which nothing runs any more.
    pub fn drop_output(&self, gpu: usize) {
        let output = self.gpus[gpu].output.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(output) = output {
            // SAFETY: memory of HIP's that nobody uses any more. A failure loses the memory, no more.
            let _ = unsafe { (self.functions.free_host)(output.host as *mut c_void) };
        }
    }
}
