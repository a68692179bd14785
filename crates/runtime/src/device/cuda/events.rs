//! Events: the driver's own.

use std::ffi::c_void;

use super::state::Cuda;
use crate::device::seam::{Events, Stream};
use crate::error::{CudaError, Result};

impl Events for Cuda {
    fn create_event(&self, flags: u32) -> Result<*mut c_void> {
        self.enter()?;
        let mut event = std::ptr::null_mut();
        // SAFETY: valid for a write.
        self.done(unsafe { (self.driver.event_create)(&raw mut event, flags) })?;
        Ok(event)
    }

    fn record_event(&self, event: *mut c_void, stream: Stream, flags: u32) -> Result {
        self.enter()?;
        // SAFETY: handles of the program's.
        self.done(unsafe {
            if flags == 0 {
                (self.driver.event_record)(event, stream)
            } else {
                self.driver.event_record_flags.ok_or(CudaError::NEWER_DRIVER)?(event, stream, flags)
            }
        })
    }

    fn query_event(&self, event: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: an event of the program's.
        self.done(unsafe { (self.driver.event_query)(event) })
    }

    fn synchronize_event(&self, event: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: an event of the program's.
        self.done(unsafe { (self.driver.event_synchronize)(event) })
    }

    fn destroy_event(&self, event: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: an event of the program's.
        self.done(unsafe { (self.driver.event_destroy)(event) })
    }

    fn elapsed(&self, start: *mut c_void, end: *mut c_void) -> Result<f32> {
        self.enter()?;
        let mut milliseconds = 0.0;
        // SAFETY: events of the program's; valid for a write.
        self.done(unsafe { (self.driver.event_elapsed)(&raw mut milliseconds, start, end) })?;
        Ok(milliseconds)
    }
}
