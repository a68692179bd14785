//! Streams: the library's own.

use std::ffi::c_void;

use super::layout::{Code, Handle};
use super::vendor::{Vendor, newer};
use crate::device::seam::{Graphs, Stream, Streams};
use crate::error::{CudaError, Result};

/// What the program asked to be called, while it waits for its turn.
struct Waiting {
    call: Call,
    data: *mut c_void,
    translate: fn(Code) -> CudaError,
}

enum Call {
    Callback(unsafe extern "C" fn(Stream, u32, *mut c_void)),
    Function(unsafe extern "C" fn(*mut c_void)),
}

/// Calls the program's function; a callback with the runtime's error code.
unsafe extern "C" fn call(stream: Handle, code: Code, waiting: *mut c_void) {
    // SAFETY: the box that `wait` gave away; the library calls this once. The function is the program's.
    unsafe {
        let waiting = Box::from_raw(waiting.cast::<Waiting>());
        match waiting.call {
            Call::Callback(callback) => {
                let code = if code == 0 { 0 } else { (waiting.translate)(code).0 };
                callback(stream, code, waiting.data);
            }
            Call::Function(function) => function(waiting.data),
        }
    }
}

/// Puts a call of the program's into a stream.
///
/// # Safety
/// It may be called with `data` from any thread.
unsafe fn wait<T: Vendor>(device: &T, stream: Stream, what: Call, data: *mut c_void) -> Result {
    device.enter()?;
    let waiting = Box::into_raw(Box::new(Waiting { call: what, data, translate: device.translate() }));
    let stream = device.stream(stream);
    // SAFETY: by contract; where the library refuses, the box is taken back, as nobody will call it.
    let done = device.done(unsafe { (device.functions().stream_callback)(stream, call, waiting.cast(), 0) });
    if done.is_err() {
        // SAFETY: made above, and nobody else's.
        drop(unsafe { Box::from_raw(waiting) });
    }
    done
}

impl<T: Vendor> Graphs for T {}

impl<T: Vendor> Streams for T {
    fn create_stream(&self, flags: u32, priority: i32) -> Result<Stream> {
        self.enter()?;
        let mut stream = std::ptr::null_mut();
        // SAFETY: valid for a write.
        self.done(unsafe { (self.functions().stream_create)(&raw mut stream, flags, priority) })?;
        Ok(stream)
    }

    fn destroy_stream(&self, stream: Stream) -> Result {
        self.enter()?;
        if stream as usize <= 2 {
            return Err(CudaError::INVALID_RESOURCE_HANDLE);
        }
        // SAFETY: a stream of the program's.
        self.done(unsafe { (self.functions().stream_destroy)(stream) })
    }

    fn synchronize_stream(&self, stream: Stream) -> Result {
        self.enter()?;
        // SAFETY: a stream of the program's.
        self.done(unsafe { (self.functions().stream_synchronize)(self.stream(stream)) })?;
        self.waited(false)
    }

    fn query_stream(&self, stream: Stream) -> Result {
        self.enter()?;
        // SAFETY: a stream of the program's.
        self.done(unsafe { (self.functions().stream_query)(self.stream(stream)) })
    }

    fn stream_flags(&self, stream: Stream) -> Result<u32> {
        self.enter()?;
        let mut flags = 0;
        // SAFETY: a stream of the program's; valid for a write.
        self.done(unsafe { (self.functions().stream_flags)(self.stream(stream), &raw mut flags) })?;
        Ok(flags)
    }

    fn stream_priority(&self, stream: Stream) -> Result<i32> {
        self.enter()?;
        let mut priority = 0;
        // SAFETY: a stream of the program's; valid for a write.
        self.done(unsafe { (self.functions().stream_priority)(self.stream(stream), &raw mut priority) })?;
        Ok(priority)
    }

    fn stream_id(&self, stream: Stream) -> Result<u64> {
        let ask = newer(self.functions().stream_id)?;
        self.enter()?;
        let mut id = 0;
        // SAFETY: a stream of the program's; valid for a write.
        self.done(unsafe { ask(self.stream(stream), &raw mut id) })?;
        Ok(id)
    }

    fn stream_device(&self, stream: Stream) -> Result<i32> {
        let current = self.enter()?;
        if stream as usize <= 2 { Ok(current as i32) } else { Vendor::stream_device(self, stream, current) }
    }

    fn wait_event(&self, stream: Stream, event: *mut c_void, flags: u32) -> Result {
        self.enter()?;
        // SAFETY: handles of the program's.
        self.done(unsafe { (self.functions().stream_wait)(self.stream(stream), event, flags) })
    }

    fn attach(&self, stream: Stream, pointer: *mut c_void, length: usize, flags: u32) -> Result {
        self.enter()?;
        // SAFETY: a stream of the program's; the driver checks the pointer.
        self.done(unsafe { (self.functions().stream_attach)(self.stream(stream), pointer as u64, length, flags) })
    }

    fn capture_status(&self, stream: Stream) -> Result<u32> {
        self.enter()?;
        let mut status = 0;
        // SAFETY: a stream of the program's; valid for a write.
        self.done(unsafe { (self.functions().stream_capturing)(self.stream(stream), &raw mut status) })?;
        Ok(status)
    }

    fn exchange_capture_mode(&self, mut mode: u32) -> Result<u32> {
        self.enter()?;
        // SAFETY: valid for reading and writing.
        self.done(unsafe { newer(self.functions().exchange_capture_mode)?(&raw mut mode) })?;
        Ok(mode)
    }

    unsafe fn host_function(
        &self,
        stream: Stream,
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> Result {
        let Some(put) = self.functions().host_function else {
            // SAFETY: by contract.
            return unsafe { wait(self, stream, Call::Function(function), data) };
        };
        self.enter()?;
        // SAFETY: by contract.
        self.done(unsafe { put(self.stream(stream), function, data) })
    }

    unsafe fn callback(
        &self,
        stream: Stream,
        callback: unsafe extern "C" fn(Stream, u32, *mut c_void),
        data: *mut c_void,
    ) -> Result {
        // SAFETY: by contract.
        unsafe { wait(self, stream, Call::Callback(callback), data) }
    }

    fn priorities(&self) -> Result<(i32, i32)> {
        self.enter()?;
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: valid for writes.
        self.done(unsafe { (self.functions().stream_priorities)(&raw mut least, &raw mut greatest) })?;
        Ok((least, greatest))
    }
}
