//! Streams: the driver's own. The default streams have the same handles in both APIs.

use std::ffi::c_void;

use super::layout::{Code, Handle};
use super::state::{Cuda, translate};
use crate::device::seam::{Stream, Streams};
use crate::error::{CudaError, Result};

/// The program's callback while it waits for its turn.
struct Waiting {
    callback: unsafe extern "C" fn(Stream, u32, *mut c_void),
    data: *mut c_void,
}

/// Calls the program's callback with the runtime's error code.
unsafe extern "C" fn call(stream: Handle, code: Code, waiting: *mut c_void) {
    // SAFETY: the box that `callback` gave away; the driver calls this once. The callback is the program's.
    unsafe {
        let waiting = Box::from_raw(waiting.cast::<Waiting>());
        let code = if code == 0 { 0 } else { translate(code).0 };
        (waiting.callback)(stream, code, waiting.data);
    }
}

impl Streams for Cuda {
    fn create_stream(&self, flags: u32, priority: i32) -> Result<Stream> {
        self.enter()?;
        let mut stream = std::ptr::null_mut();
        // SAFETY: valid for a write.
        self.done(unsafe { (self.driver.stream_create)(&raw mut stream, flags, priority) })?;
        Ok(stream)
    }

    fn destroy_stream(&self, stream: Stream) -> Result {
        self.enter()?;
        if stream as usize <= 2 {
            return Err(CudaError::INVALID_RESOURCE_HANDLE);
        }
        // SAFETY: a stream of the program's.
        self.done(unsafe { (self.driver.stream_destroy)(stream) })
    }

    fn synchronize_stream(&self, stream: Stream) -> Result {
        self.enter()?;
        // SAFETY: a stream of the program's.
        self.done(unsafe { (self.driver.stream_synchronize)(stream) })
    }

    fn query_stream(&self, stream: Stream) -> Result {
        self.enter()?;
        // SAFETY: a stream of the program's.
        self.done(unsafe { (self.driver.stream_query)(stream) })
    }

    fn stream_flags(&self, stream: Stream) -> Result<u32> {
        self.enter()?;
        let mut flags = 0;
        // SAFETY: a stream of the program's; valid for a write.
        self.done(unsafe { (self.driver.stream_flags)(stream, &raw mut flags) })?;
        Ok(flags)
    }

    fn stream_priority(&self, stream: Stream) -> Result<i32> {
        self.enter()?;
        let mut priority = 0;
        // SAFETY: a stream of the program's; valid for a write.
        self.done(unsafe { (self.driver.stream_priority)(stream, &raw mut priority) })?;
        Ok(priority)
    }

    fn stream_id(&self, stream: Stream) -> Result<u64> {
        let ask = self.driver.stream_id.ok_or(CudaError::NEWER_DRIVER)?;
        self.enter()?;
        let mut id = 0;
        // SAFETY: a stream of the program's; valid for a write.
        self.done(unsafe { ask(stream, &raw mut id) })?;
        Ok(id)
    }

    fn stream_device(&self, stream: Stream) -> Result<i32> {
        let current = self.enter()?;
        if stream as usize <= 2 {
            return Ok(current as i32);
        }
        let mut context = std::ptr::null_mut();
        // SAFETY: a stream of the program's; valid for a write.
        self.done(unsafe { (self.driver.stream_context)(stream, &raw mut context) })?;
        for (index, gpu) in self.gpus.iter().enumerate() {
            if self.context_if_retained(gpu) == context as usize {
                return Ok(index as i32);
            }
        }
        Err(CudaError::INVALID_DEVICE)
    }

    fn wait_event(&self, stream: Stream, event: *mut c_void, flags: u32) -> Result {
        self.enter()?;
        // SAFETY: handles of the program's.
        self.done(unsafe { (self.driver.stream_wait)(stream, event, flags) })
    }

    fn attach(&self, stream: Stream, pointer: *mut c_void, length: usize, flags: u32) -> Result {
        self.enter()?;
        // SAFETY: a stream of the program's; the driver checks the pointer.
        self.done(unsafe { (self.driver.stream_attach)(stream, pointer as u64, length, flags) })
    }

    fn capture_status(&self, stream: Stream) -> Result<u32> {
        self.enter()?;
        let mut status = 0;
        // SAFETY: a stream of the program's; valid for a write.
        self.done(unsafe { (self.driver.stream_capturing)(stream, &raw mut status) })?;
        Ok(status)
    }

    fn exchange_capture_mode(&self, mut mode: u32) -> Result<u32> {
        self.enter()?;
        // SAFETY: valid for reading and writing.
        self.done(unsafe { (self.driver.exchange_capture_mode)(&raw mut mode) })?;
        Ok(mode)
    }

    unsafe fn host_function(
        &self,
        stream: Stream,
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> Result {
        self.enter()?;
        // SAFETY: by contract.
        self.done(unsafe { (self.driver.host_function)(stream, function, data) })
    }

    unsafe fn callback(
        &self,
        stream: Stream,
        callback: unsafe extern "C" fn(Stream, u32, *mut c_void),
        data: *mut c_void,
    ) -> Result {
        self.enter()?;
        let waiting = Box::into_raw(Box::new(Waiting { callback, data }));
        // SAFETY: by contract; where the driver refuses, the box is taken back, as nobody will call it.
        let done = self.done(unsafe { (self.driver.stream_callback)(stream, call, waiting.cast(), 0) });
        if done.is_err() {
            // SAFETY: made above, and nobody else's.
            drop(unsafe { Box::from_raw(waiting) });
        }
        done
    }

    fn priorities(&self) -> Result<(i32, i32)> {
        self.enter()?;
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: valid for writes.
        self.done(unsafe { (self.driver.stream_priorities)(&raw mut least, &raw mut greatest) })?;
        Ok((least, greatest))
    }
}
