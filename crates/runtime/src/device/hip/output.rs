//! What kernels print and how they fail: a buffer of our own, in place of HIP's, whose form belongs to AMD's own
//! compiler and library.
//!
//! A module that needs it has a device variable `__regrain_output`, a pointer that is set before the first launch. It
//! leads to memory of the host that GPUs see:
//!
//! ```text
//! struct { uint32_t written, capacity, failed, pad; uint8_t data[capacity]; }
//! ```
//!
//! A thread claims room for a [record](super::records) with one atomic addition to `written`; what does not fit is
//! dropped, as on NVIDIA's GPUs. A failed assertion (2) or trap (3) sets `failed`. The host reads the buffer after work
//! was waited for, and when the program ends.

use std::ffi::c_void;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, Ordering};

use super::records::{Record, read};
use super::state::Amd;
use crate::device::gpu::layout::{Handle, Pointer};
use crate::device::gpu::vendor::NOT_FOUND;
use crate::device::printf;
use crate::error::{CudaError, Result};
use crate::types::HOST_TO_DEVICE;

/// Bytes before the records.
const HEADER: usize = 16;
/// `hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent`: seen by all GPUs, with atomics of the whole
/// system.
const FLAGS: u32 = 0x1 | 0x2 | 0x4000_0000;
/// What `failed` is after an assertion; anything else but 0 is a trap.
const ASSERTION: u32 = 2;

/// The buffer of a GPU.
pub struct Output {
    /// Address on the host.
    host: usize,
    /// Address on the GPU.
    device: Pointer,
    capacity: usize,
    /// Bytes that were read since the buffer was last empty.
    seen: usize,
}

impl Output {
    /// A number of the header.
    fn word(&self, at: usize) -> &AtomicU32 {
        // SAFETY: aligned memory of the buffer's own, which lives until the GPU is reset, when no reader is left;
        // kernels change it with atomics alone.
        unsafe { &*((self.host + at) as *const AtomicU32) }
    }

    fn written(&self) -> &AtomicU32 {
        self.word(0)
    }

    /// Takes the next record that is complete, and clears its bytes for the next use of that room.
    fn next(&mut self) -> Option<Vec<u8>> {
        let end = (self.written().load(Ordering::SeqCst) as usize).min(self.capacity);
        if self.seen + 8 > end {
            return None;
        }
        let start = HEADER + self.seen;
        let size = self.word(start).load(Ordering::Acquire) as usize;
        if size == 0 || !size.is_multiple_of(8) || self.seen + size > self.capacity {
            return None;
        }
        // SAFETY: within the buffer; the record is complete, so no kernel touches it.
        let record = unsafe {
            let bytes = std::slice::from_raw_parts_mut((self.host + start) as *mut u8, size);
            let record = bytes[4..].to_vec();
            bytes.fill(0);
            record
        };
        self.seen += size;
        Some(record)
    }

    /// Makes room. When all of the GPU's work is done (`idle`) nobody writes; else only if no thread has claimed room
    /// since the last record that was read.
    fn rewind(&mut self, idle: bool) {
        let seen = self.seen as u32;
        let emptied = if idle {
            // What a thread claimed and did not complete before its end.
            let end = (self.written().load(Ordering::SeqCst) as usize).min(self.capacity).max(self.seen);
            // SAFETY: within the buffer, which nobody else touches now.
            unsafe { ((self.host + HEADER + self.seen) as *mut u8).write_bytes(0, end - self.seen) };
            self.written().store(0, Ordering::SeqCst);
            true
        } else {
            seen != 0 && self.written().compare_exchange(seen, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        };
        if emptied {
            self.seen = 0;
        }
    }

    /// Shows what is complete. The error is that of a kernel that failed.
    fn drain(&mut self, idle: bool) -> Result {
        while let Some(record) = self.next() {
            match read(&record) {
                Some(Record::Print(bytes)) => printf::write(&bytes),
                Some(Record::Assertion(found)) => {
                    let [message, file, function] = &found.texts;
                    printf::assertion(message, file, found.line, function, found.block, found.thread);
                }
                Some(Record::Trap) => {}
                None => eprintln!("regrain runtime: error: a kernel's output is broken ({} bytes)", record.len() + 4),
            }
        }
        printf::flush();
        self.rewind(idle);
        match self.word(8).load(Ordering::SeqCst) {
            0 => Ok(()),
            ASSERTION => Err(CudaError::ASSERT),
            _ => Err(CudaError::LAUNCH_FAILURE),
        }
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
        let output = Output { host: host as usize, device, capacity, seen: 0 };
        output.word(4).store(capacity as u32, Ordering::SeqCst);
        Ok(output)
    }

    /// Shows what kernels of a GPU printed. What a failed kernel leaves stays with the GPU.
    pub fn drain_output(&self, gpu: usize, idle: bool) -> Result {
        let gpu = &self.gpus[gpu];
        let mut kept = gpu.output.lock().unwrap_or_else(PoisonError::into_inner);
        let drained = kept.as_mut().map_or(Ok(()), |output| output.drain(idle));
        if let Err(error) = drained {
            gpu.fail(error);
        }
        drained
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
