//! CUDA arrays: the driver's own. Copies that wrap at the end of a row are `cudaErrorNotSupported`.

use std::ffi::c_void;

use super::layout::{ARRAY, ArrayDescriptor, DEVICE, HOST, Memcpy2d, Side2d, UNIFIED};
use super::state::Cuda;
use crate::device::gpu::copies::{Side, memory_side};
use crate::device::gpu::vendor::Vendor;
use crate::device::seam::{Arrays, Order, Window};
use crate::device::texture_rules::{channels, normalized_format, normalized_number};
use crate::error::{CudaError, Result};
use crate::types::{ARRAY_CUBE, ARRAY_GATHERED, ARRAY_LAYERED, ARRAY_OF_SURFACES, ChannelFormat, Extent};

/// Flags that are carried out, which have the driver's numbers: layered, surface load and store, cubemap, texture
/// gather.
const KNOWN_FLAGS: u32 = ARRAY_LAYERED | ARRAY_OF_SURFACES | ARRAY_CUBE | ARRAY_GATHERED;
/// (`cudaChannelFormatKind`, bits of a channel, `CUarray_format`)
const FORMATS: [(u32, i32, u32); 8] = [
    (0, 8, 0x08),
    (0, 16, 0x09),
    (0, 32, 0x0a),
    (1, 8, 0x01),
    (1, 16, 0x02),
    (1, 32, 0x03),
    (2, 16, 0x10),
    (2, 32, 0x20),
];

/// `CU_AD_FORMAT_UNORM_INT8X1`, the first format of the normalized kinds.
const FIRST_NORMALIZED: u32 = 0xc0;

/// The driver's format, and the number of channels, which all have one size.
pub fn to_driver(format: ChannelFormat) -> Result<(u32, u32)> {
    let (count, bits) = channels(format)?;
    if let Some(number) = normalized_number(format.kind) {
        return Ok((FIRST_NORMALIZED + number, count));
    }
    let known = FORMATS.iter().find(|known| (known.0, known.1.cast_unsigned()) == (format.kind, bits));
    known.map(|known| (known.2, count)).ok_or(CudaError::INVALID_CHANNEL_DESCRIPTOR)
}

/// The runtime's format of an array.
pub fn from_driver(descriptor: &ArrayDescriptor) -> Result<ChannelFormat> {
    if let Some(format) = normalized_format(descriptor.format.wrapping_sub(FIRST_NORMALIZED)) {
        let fits = channels(format).is_ok_and(|(count, _)| count == descriptor.channels);
        return if fits { Ok(format) } else { Err(CudaError::INVALID_VALUE) };
    }
    let known = FORMATS.iter().find(|known| known.2 == descriptor.format).ok_or(CudaError::NOT_SUPPORTED)?;
    let mut bits = [0; 4];
    bits.iter_mut().take(descriptor.channels as usize).for_each(|channel| *channel = known.1);
    Ok(ChannelFormat { bits, kind: known.0 })
}

/// An array in the driver's terms.
pub fn array_descriptor(format: ChannelFormat, extent: Extent, flags: u32) -> Result<ArrayDescriptor> {
    let (format, channels) = to_driver(format)?;
    if flags & !KNOWN_FLAGS != 0 {
        return Err(CudaError::NOT_SUPPORTED);
    }
    let Extent { width, height, depth } = extent;
    Ok(ArrayDescriptor { width, height, depth, format, channels, flags })
}

impl Cuda {
    /// What an array is.
    pub fn descriptor(&self, array: *const c_void) -> Result<ArrayDescriptor> {
        let mut descriptor = ArrayDescriptor::default();
        if array.is_null() {
            return Err(CudaError::INVALID_RESOURCE_HANDLE);
        }
        // SAFETY: valid for a write; an array of the program's.
        self.done(unsafe { (self.driver.array_descriptor)(&raw mut descriptor, array.cast_mut()) })?;
        Ok(descriptor)
    }

    /// Bytes of an array's element.
    pub fn element(&self, array: *const c_void) -> Result<usize> {
        let format = from_driver(&self.descriptor(array)?)?;
        Ok(format.bits.iter().sum::<i32>() as usize / 8)
    }
}

impl Arrays for Cuda {
    fn create_array(&self, format: ChannelFormat, extent: Extent, flags: u32) -> Result<*mut c_void> {
        self.enter()?;
        let descriptor = array_descriptor(format, extent, flags)?;
        let mut array = std::ptr::null_mut();
        // SAFETY: valid for a write and a read.
        self.done(unsafe { (self.driver.array_create)(&raw mut array, &raw const descriptor) })?;
        Ok(array)
    }

    fn free_array(&self, array: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: an array of the program's.
        if array.is_null() { Ok(()) } else { self.done(unsafe { (self.driver.array_destroy)(array) }) }
    }

    fn array_info(&self, array: *const c_void) -> Result<(ChannelFormat, Extent, u32)> {
        self.enter()?;
        let found = self.descriptor(array)?;
        let extent = Extent { width: found.width, height: found.height, depth: found.depth };
        Ok((from_driver(&found)?, extent, found.flags))
    }

    unsafe fn copy_window(&self, window: &Window, order: Order) -> Result {
        self.enter()?;
        let kind = match memory_side(window)? {
            Side::Host => HOST,
            Side::Device => DEVICE,
            Side::Unified => UNIFIED,
        };
        if window.width == 0 || window.height == 0 {
            return Ok(());
        }
        let null = std::ptr::null_mut();
        let (host, device, pitch) = (window.memory, window.memory as u64, window.pitch);
        let memory = Side2d { x: 0, y: 0, kind, host, device, array: null, pitch };
        let array = window.array.cast_mut();
        let array = Side2d { x: window.x, y: window.y, kind: ARRAY, host: null, device: 0, array, pitch: 0 };
        let (from, to) = if window.into_array { (memory, array) } else { (array, memory) };
        let region = Memcpy2d { from, to, width: window.width, height: window.height };
        // SAFETY: by contract; the driver reads the region before it returns.
        unsafe { self.copy_region(&region, order) }
    }
}
