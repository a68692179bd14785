//! What kernels for AMD's chips print and how they fail: a buffer of our own, in place of HIP's, whose form belongs to
//! AMD's own compiler and library.
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
//! was waited for, and when the program ends. Where kernels are emulated the buffer is the CPU's own.

use std::sync::atomic::{AtomicU32, Ordering};

use super::printf;
use super::records::{Record, read};
use crate::error::{CudaError, Result};

/// Bytes before the records.
pub const HEADER: usize = 16;
/// What `failed` is after an assertion; anything else but 0 is a trap.
const ASSERTION: u32 = 2;

/// The buffer of a GPU.
pub struct Output {
    /// Address on the host.
    pub host: usize,
    /// Address on the GPU.
    pub device: u64,
    capacity: usize,
    /// Bytes that were read since the buffer was last empty.
    seen: usize,
}

impl Output {
    /// A buffer in memory of `HEADER + capacity` zero bytes.
    pub fn new(host: usize, device: u64, capacity: usize) -> Self {
        let output = Self { host, device, capacity, seen: 0 };
        output.word(4).store(capacity as u32, Ordering::SeqCst);
        output
    }

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
    pub fn drain(&mut self, idle: bool) -> Result {
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
