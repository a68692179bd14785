//! Events: the library's own.

use std::ffi::c_void;

use super::vendor::{Vendor, newer};
use crate::device::seam::{Events, Stream};
use crate::error::Result;

impl<T: Vendor> Events for T {
    fn create_event(&self, flags: u32) -> Result<*mut c_void> {
        self.enter()?;
        let mut event = std::ptr::null_mut();
        // SAFETY: valid for a write.
        self.done(unsafe { (self.functions().event_create)(&raw mut event, flags) })?;
        Ok(event)
    }

    fn record_event(&self, event: *mut c_void, stream: Stream, flags: u32) -> Result {
        self.enter()?;
        let stream = self.stream(stream);
        // SAFETY: handles of the program's.
        self.done(unsafe {
            if flags == 0 {
                (self.functions().event_record)(event, stream)
            } else {
                newer(self.functions().event_record_flags)?(event, stream, flags)
            }
        })
    }

    fn query_event(&self, event: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: an event of the program's.
        self.done(unsafe { (self.functions().event_query)(event) })
    }

    fn synchronize_event(&self, event: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: an event of the program's.
        self.done(unsafe { (self.functions().event_synchronize)(event) })?;
        self.waited(false)
    }

    fn destroy_event(&self, event: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: an event of the program's.
        self.done(unsafe { (self.functions().event_destroy)(event) })
    }

    fn elapsed(&self, start: *mut c_void, end: *mut c_void) -> Result<f32> {
        self.enter()?;
        let mut milliseconds = 0.0;
        // SAFETY: events of the program's; valid for a write.
        self.done(unsafe { (self.functions().event_elapsed)(&raw mut milliseconds, start, end) })?;
        Ok(milliseconds)
    }
}
