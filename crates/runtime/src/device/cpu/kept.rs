//! Work that a stream was asked for and that is done later, by whichever OS thread gets to it.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;

use super::events::Point;
use super::failure::{self, device_ok};
use super::graphs::work::Work;
use super::heap;
use super::pool::Way;
use super::streams::Stream;
use super::trace::{self, Event};
use super::values;
use crate::device::seam::{StreamCallback, ValueOperation};
use crate::error::{self, CudaError, Result};

pub enum Kept {
    Work(Work),
    /// A copy out of memory of the host that the program may have used again since.
    Staged {
        to: *mut c_void,
        bytes: Box<[u8]>,
    },
    Callback(StreamCallback, *mut c_void),
    Record(Arc<Point>),
    /// Done as soon as the event has been reached.
    Wait(Arc<Point>),
    Free(*mut c_void),
    Values(Box<[ValueOperation]>),
}

// SAFETY: pointers of the program, which it may use from any thread.
unsafe impl Send for Kept {}

thread_local! {
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread runs a function of the program's in a stream: that must not wait for streams.
pub fn in_host_function() -> bool {
    IN_HOST_FUNCTION.get()
}

/// Runs a function of the program's in a stream.
pub fn host_function(function: impl FnOnce()) {
    let before = IN_HOST_FUNCTION.replace(true);
    error::apart(function);
    IN_HOST_FUNCTION.set(before);
}

impl Kept {
    /// Whether it can be done now, as far as it alone says.
    pub fn is_ready(&self) -> bool {
        match self {
            Self::Wait(point) => point.is_reached(),
            _ => true,
        }
    }

    /// Where the stream gets with it, if that is an event.
    pub fn point(&self) -> Option<Arc<Point>> {
        match self {
            Self::Record(point) => Some(point.clone()),
            _ => None,
        }
    }

    /// Does it. A failure is told to whoever waits.
    pub fn perform(self, stream: &Stream, says: Option<Event>) {
        let handle = stream.handle as *mut c_void;
        let done = match says {
            Some(says) => trace::traced(handle, || says, || self.run(stream)),
            None => self.run(stream),
        };
        match done {
            Err(error) if device_ok().is_ok() => failure::set_late(error),
            _ => (),
        }
    }

    fn run(self, stream: &Stream) -> Result {
        let handle = stream.handle as *mut c_void;
        match self {
            Self::Work(work) => {
                device_ok()?;
                work.run(handle, Way::Beside { legacy: stream.is_legacy() })
            }
            Self::Staged { to, bytes } => {
                device_ok()?;
                // SAFETY: the program's memory, as it promised; what was staged is as long.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast::<u8>(), bytes.len()) };
                Ok(())
            }
            Self::Free(pointer) => heap::finish_release(pointer),
            Self::Values(operations) => {
                device_ok()?;
                values::perform(&operations)
            }
            // Whoever waits is to go on, and is called, whatever has become of the device.
            Self::Callback(callback, data) => {
                call(callback, handle, data);
                Ok(())
            }
            Self::Record(_) | Self::Wait(_) => Ok(()),
        }
    }
}

/// Calls the program back, with what has become of the device.
pub fn call(callback: StreamCallback, stream: *mut c_void, data: *mut c_void) {
    let status = device_ok().err().map_or(0, |CudaError(code)| code);
    // SAFETY: what the program promised when it asked for the call.
    host_function(|| unsafe { callback(stream, status, data) });
}
