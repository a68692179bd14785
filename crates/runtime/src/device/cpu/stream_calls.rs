//! What streams are asked to do.

use std::ffi::c_void;
use std::sync::PoisonError;

use super::checks::{self, Order};
use super::failure::device_ok;
use super::graphs::capture;
use super::graphs::work::Work;
use super::heap::{self, Kind};
use super::kept::{Kept, call};
use super::later::{self, Choice};
use super::machine::Cpu;
use super::streams::{PRIORITIES, check, create, destroy, finish, get};
use super::{events, pool, runners, values};
use crate::device::seam::{Stream, Streams, ValueOperation};
use crate::error::{CudaError, Result};

/// Values of `cudaStreamAttrID`: how caches are used, how threads wait, domains of memory. Results are the same without them.
const HINTS: [u32; 4] = [1, 3, 9, 10];
const PRIORITY: u32 = 8;

impl Streams for Cpu {
    fn create_stream(&self, flags: u32, priority: i32) -> Result<Stream> {
        create(flags, priority)
    }

    fn destroy_stream(&self, stream: Stream) -> Result {
        destroy(stream)
    }

    fn synchronize_stream(&self, stream: Stream) -> Result {
        let target = get(stream)?;
        capture::refuse_on(stream)?;
        checks::order(Order::HostWaitsFor(&target));
        match runners::is_idle() {
            true => pool::drain(),
            false => runners::wait_for(&target)?,
        }
        finish()
    }

    fn query_stream(&self, stream: Stream) -> Result {
        let target = get(stream)?;
        capture::refuse_on(stream)?;
        if !runners::is_done(&target) {
            return runners::not_ready();
        }
        checks::order(Order::HostWaitsFor(&target));
        finish()
    }

    fn stream_flags(&self, stream: Stream) -> Result<u32> {
        Ok(get(stream)?.flags)
    }

    fn stream_priority(&self, stream: Stream) -> Result<i32> {
        Ok(get(stream)?.priority)
    }

    fn stream_id(&self, stream: Stream) -> Result<u64> {
        check(stream)?;
        Ok(stream as u64)
    }

    fn stream_device(&self, stream: Stream) -> Result<i32> {
        check(stream)?;
        Ok(0)
    }

    fn wait_event(&self, stream: Stream, event: *mut c_void, _flags: u32) -> Result {
        device_ok()?;
        check(stream)?;
        capture::wait_event(stream, event, || {
            events::wait_elsewhere(event)?;
            match events::ahead(event)? {
                None => {
                    checks::order(Order::WaitsForEvent(&*get(stream)?, event as usize));
                    Ok(())
                }
                Some(point) => runners::push(&get(stream)?, Kept::Wait(point), None),
            }
        })
    }

    fn attach(&self, stream: Stream, pointer: *mut c_void, _length: usize, flags: u32) -> Result {
        device_ok()?;
        check(stream)?;
        match heap::find(pointer) {
            Some(found) if found.kind == Kind::Managed && matches!(flags, 1 | 2 | 4) => Ok(()),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    fn capture_status(&self, stream: Stream) -> Result<u32> {
        Ok(capture::get(stream)?.map_or(0, |capture| capture.status))
    }

    fn exchange_capture_mode(&self, mode: u32) -> Result<u32> {
        capture::exchange_mode(mode)
    }

    unsafe fn host_function(
        &self,
        stream: Stream,
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> Result {
        device_ok()?;
        check(stream)?;
        let work = Work::Host(function, data);
        capture::recorded(
            stream,
            || Ok(work.clone()),
            || {
                let choice = || Ok(Choice::Later(Kept::Work(work.clone())));
                let done = later::submit(stream, false, || None, None, choice, |way| work.run(stream, way));
                // What it does may be seen by anybody.
                checks::order(Order::HostWaitsForAll);
                done
            },
        )
    }

    unsafe fn callback(
        &self,
        stream: Stream,
        callback: unsafe extern "C" fn(Stream, u32, *mut c_void),
        data: *mut c_void,
    ) -> Result {
        check(stream)?;
        capture::refuse_on(stream)?;
        let choice = || Ok(Choice::Later(Kept::Callback(callback, data)));
        checks::order(Order::HostWaitsForAll);
        later::submit(
            stream,
            false,
            || None,
            None,
            choice,
            |_| {
                call(callback, stream, data);
                Ok(())
            },
        )
    }

    unsafe fn values(&self, stream: Stream, operations: &[ValueOperation]) -> Result {
        device_ok()?;
        check(stream)?;
        capture::refuse_on(stream)?;
        operations.iter().try_for_each(ValueOperation::check)?;
        let waits = operations.iter().any(ValueOperation::waits);
        if waits {
            later::expect_waiting();
        }
        let choice = || Ok(Choice::Later(Kept::Values(operations.into())));
        later::submit(stream, waits, || Some(0), None, choice, |_| values::perform(operations))
    }

    fn stream_attribute(&self, stream: Stream, which: u32) -> Result<[u64; 8]> {
        let found = get(stream)?;
        match which {
            PRIORITY => Ok([u64::from(found.priority as u32), 0, 0, 0, 0, 0, 0, 0]),
            _ if HINTS.contains(&which) => {
                let known = found.attributes.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(known.iter().find(|known| known.0 == which).map_or([0; 8], |known| known.1))
            }
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    fn set_stream_attribute(&self, stream: Stream, which: u32, value: [u64; 8]) -> Result {
        let found = get(stream)?;
        if !HINTS.contains(&which) {
            // A stream keeps the priority that it was made with.
            return Err(if which == PRIORITY { CudaError::NOT_SUPPORTED } else { CudaError::INVALID_VALUE });
        }
        let mut known = found.attributes.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|known| known.0 != which);
        known.push((which, value));
        Ok(())
    }

    fn priorities(&self) -> Result<(i32, i32)> {
        Ok(PRIORITIES)
    }
}
