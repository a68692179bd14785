//! The GPUs of a vendor as a CUDA machine.

use std::ffi::{CStr, c_char};

use super::modules;
use super::vendor::{Vendor, newer};
use super::{figures, layout::Code};
use crate::device::seam::Machine;
use crate::error::{self, Result};
use crate::properties::DeviceProp;

/// A number that the library writes.
fn number<N: Default>(device: &impl Vendor, ask: impl FnOnce(*mut N) -> Code) -> Result<N> {
    let mut value = N::default();
    device.done(ask(&raw mut value))?;
    Ok(value)
}

impl<T: Vendor> Machine for T {
    fn count(&self) -> Result<i32> {
        Ok(self.gpu_count() as i32)
    }

    fn current(&self) -> Result<i32> {
        self.current_gpu().map(|index| index as i32)
    }

    fn set_current(&self, device: i32) -> Result {
        self.number(device)?;
        self.select(device as usize)
    }

    fn properties(&self, device: i32) -> Result<DeviceProp> {
        figures::all(self, device)
    }

    fn attribute(&self, which: u32, device: i32) -> Result<i32> {
        self.number(device)?;
        self.figure(device, which)
    }

    fn bus_id(&self, device: i32) -> Result<String> {
        let mut text = [0 as c_char; 64];
        let handle = self.number(device)?;
        // SAFETY: valid for a write of that length; the library ends it with NUL.
        unsafe {
            self.done((self.functions().device_bus_id)(text.as_mut_ptr(), text.len() as i32, handle))?;
            Ok(CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned())
        }
    }

    fn driver_version(&self) -> Result<i32> {
        Vendor::driver_version(self)
    }

    fn limit(&self, which: u32) -> Result<usize> {
        self.enter()?;
        Vendor::limit(self, which)
    }

    fn set_limit(&self, which: u32, value: usize) -> Result {
        self.enter()?;
        Vendor::set_limit(self, which, value)
    }

    fn flags(&self) -> Result<u32> {
        Vendor::flags(self)
    }

    fn set_flags(&self, flags: u32) -> Result {
        Vendor::set_flags(self, flags)
    }

    fn cache_config(&self) -> Result<u32> {
        self.enter()?;
        // SAFETY: valid for a write.
        number(self, |value| unsafe { (self.functions().cache)(value) })
    }

    fn set_cache_config(&self, config: u32) -> Result {
        self.enter()?;
        // SAFETY: plain values.
        self.done(unsafe { (self.functions().set_cache)(config) })
    }

    fn shared_config(&self) -> Result<u32> {
        let ask = newer(self.functions().shared)?;
        self.enter()?;
        // SAFETY: valid for a write.
        number(self, |value| unsafe { ask(value) })
    }

    fn set_shared_config(&self, config: u32) -> Result {
        let set = newer(self.functions().set_shared)?;
        self.enter()?;
        // SAFETY: plain values.
        self.done(unsafe { set(config) })
    }

    fn can_access_peer(&self, device: i32, peer: i32) -> Result<bool> {
        let (device, peer) = (self.number(device)?, self.number(peer)?);
        // SAFETY: valid for a write.
        let can: i32 = number(self, |value| unsafe { (self.functions().can_access_peer)(value, device, peer) })?;
        Ok(can != 0)
    }

    fn peer_attribute(&self, which: u32, from: i32, to: i32) -> Result<i32> {
        let (from, to, which) = (self.number(from)?, self.number(to)?, self.peer_attribute_number(which)?);
        // SAFETY: valid for a write.
        number(self, |value| unsafe { (self.functions().peer_attribute)(value, which, from, to) })
    }

    fn enable_peer(&self, peer: i32, flags: u32) -> Result {
        self.number(peer)?;
        Vendor::enable_peer(self, peer, flags)
    }

    fn disable_peer(&self, peer: i32) -> Result {
        self.number(peer)?;
        Vendor::disable_peer(self, peer)
    }

    fn synchronize(&self) -> Result {
        self.enter()?;
        // SAFETY: no arguments.
        self.done(unsafe { (self.functions().synchronize)() })?;
        self.waited(true)
    }

    fn reset(&self) -> Result {
        let index = self.reset_current()?;
        modules::forget(index);
        error::clear_last();
        Ok(())
    }

    fn sticky(&self) -> Option<error::CudaError> {
        self.failure()
    }

    fn flush(&self) {
        Vendor::flush(self);
    }
}
