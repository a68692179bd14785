//! The CPU as a CUDA machine with one device.

use std::sync::atomic::{AtomicU32, Ordering};

use super::checks::{self, Order};
use super::graphs::{self, capture};
use super::limits::check_device;
use super::{arrays, failure, heap, limits, pool, properties, runners, streams, textures};
use crate::compiled;
use crate::device::printf;
use crate::device::row::Row;
use crate::device::seam::{Device, Machine};
use crate::error::{CudaError, Result};
use crate::properties::DeviceProp;

/// The device.
pub struct Cpu;

impl Device for Cpu {}

/// The CPU's row in the table of devices.
pub const ROW: Row = Row { name: "cpu", kind: 0, holds: |images| images.cpu.is_some(), open: |_| Ok(&Cpu) };

static FLAGS: AtomicU32 = AtomicU32::new(8);
static CACHE_CONFIG: AtomicU32 = AtomicU32::new(0);
static SHARED_CONFIG: AtomicU32 = AtomicU32::new(1);

/// `cudaDeviceP2PAttr` has four values; one device has no peer.
const P2P_ATTRIBUTES: u32 = 4;

impl Machine for Cpu {
    fn count(&self) -> Result<i32> {
        Ok(1)
    }

    fn current(&self) -> Result<i32> {
        Ok(0)
    }

    fn set_current(&self, device: i32) -> Result {
        check_device(device)
    }

    fn properties(&self, device: i32) -> Result<DeviceProp> {
        check_device(device)?;
        Ok(properties::properties().clone())
    }

    fn attribute(&self, which: u32, device: i32) -> Result<i32> {
        check_device(device)?;
        properties::attribute(which)
    }

    fn bus_id(&self, device: i32) -> Result<String> {
        check_device(device)?;
        Ok("0000:00:00.0".into())
    }

    fn driver_version(&self) -> Result<i32> {
        Ok(compiled::driver_version())
    }

    fn limit(&self, which: u32) -> Result<usize> {
        limits::limit(which)
    }

    fn set_limit(&self, which: u32, value: usize) -> Result {
        limits::set_limit(which, value)
    }

    fn flags(&self) -> Result<u32> {
        Ok(FLAGS.load(Ordering::Relaxed))
    }

    fn set_flags(&self, flags: u32) -> Result {
        FLAGS.store(flags, Ordering::Relaxed);
        Ok(())
    }

    fn cache_config(&self) -> Result<u32> {
        Ok(CACHE_CONFIG.load(Ordering::Relaxed))
    }

    fn set_cache_config(&self, config: u32) -> Result {
        CACHE_CONFIG.store(config, Ordering::Relaxed);
        Ok(())
    }

    fn shared_config(&self) -> Result<u32> {
        Ok(SHARED_CONFIG.load(Ordering::Relaxed))
    }

    fn set_shared_config(&self, config: u32) -> Result {
        SHARED_CONFIG.store(config.max(1), Ordering::Relaxed);
        Ok(())
    }

    fn can_access_peer(&self, device: i32, peer: i32) -> Result<bool> {
        check_device(device)?;
        check_device(peer)?;
        Ok(false)
    }

    fn peer_attribute(&self, which: u32, from: i32, to: i32) -> Result<i32> {
        check_device(from)?;
        check_device(to)?;
        if from == to || which == 0 || which > P2P_ATTRIBUTES { Err(CudaError::INVALID_VALUE) } else { Ok(0) }
    }

    fn enable_peer(&self, _peer: i32, flags: u32) -> Result {
        // A device is no peer of itself.
        if flags == 0 { Err(CudaError::INVALID_DEVICE) } else { Err(CudaError::INVALID_VALUE) }
    }

    fn disable_peer(&self, peer: i32) -> Result {
        check_device(peer)?;
        Err(CudaError::PEER_ACCESS_NOT_ENABLED)
    }

    fn synchronize(&self) -> Result {
        capture::refuse()?;
        checks::order(Order::HostWaitsForAll);
        match runners::is_idle() {
            true => pool::drain(),
            false => runners::wait_for_all()?,
        }
        streams::finish()
    }

    fn reset(&self) -> Result {
        runners::wait_for_all()?;
        printf::flush();
        arrays::forget_all();
        textures::forget_all();
        graphs::memory::forget_all();
        heap::release_all();
        failure::reset();
        Ok(())
    }

    fn sticky(&self) -> Option<CudaError> {
        failure::sticky()
    }

    fn flush(&self) {
        // Nobody is left to be told.
        let _ = runners::wait_for_all();
        printf::flush();
    }
}
