//! Arrays, mipmapped arrays, texture and surface objects: the runtime's, described by the driver's structures.

use std::ffi::c_void;

use super::frame::{current, driver_api};
use crate::device::cuda::layout::{ArrayDescriptor, ResourceDescriptor, TextureDescriptor, ViewDescriptor};
use crate::device::cuda::{array_descriptor, from_driver};
use crate::device::seam::ObjectParts;
use crate::error::{CudaError, Result, check};
use crate::macros::put;
use crate::types::{ChannelFormat, Extent, RESOURCE_ARRAY, RESOURCE_MIPMAP, Resource, ResourceView, TextureSettings};

type Handle = *mut c_void;

/// `CU_TRSF_READ_AS_INTEGER`, `_NORMALIZED_COORDINATES`, `_SRGB`, `_DISABLE_TRILINEAR_OPTIMIZATION`,
/// `_SEAMLESS_CUBEMAP`.
const AS_INTEGER: u32 = 0x01;
const NORMALIZED: u32 = 0x02;
const SRGB: u32 = 0x10;
const NO_TRILINEAR_OPTIMIZATION: u32 = 0x20;
const SEAMLESS: u32 = 0x40;

/// `CUDA_ARRAY_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy)]
struct PlainDescriptor {
    width: usize,
    height: usize,
    format: u32,
    channels: u32,
}

/// # Safety
/// `descriptor` is null or valid.
unsafe fn described(descriptor: *const ArrayDescriptor) -> Result<(ChannelFormat, Extent, u32)> {
    // SAFETY: by contract.
    let found = unsafe { descriptor.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
    let extent = Extent { width: found.width, height: found.height, depth: found.depth };
    Ok((from_driver(found)?, extent, found.flags))
}

/// What an array was made with, in the driver's terms.
fn descriptor_of(array: Handle) -> Result<ArrayDescriptor> {
    let (format, extent, flags) = current()?.array_info(array)?;
    array_descriptor(format, extent, flags)
}

/// # Safety
/// `descriptor` is null or valid.
unsafe fn resource(descriptor: *const ResourceDescriptor) -> Result<Resource> {
    // SAFETY: by contract.
    let found = unsafe { descriptor.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
    let ResourceDescriptor { kind, pointer, format, channels, mut sizes, .. } = *found;
    let is_memory = !matches!(kind, RESOURCE_ARRAY | RESOURCE_MIPMAP);
    let format = match is_memory {
        true => from_driver(&ArrayDescriptor { format, channels, ..ArrayDescriptor::default() })?,
        false => {
            sizes = [0; 3];
            ChannelFormat { bits: [0; 4], kind: 0 }
        }
    };
    Ok(Resource { kind, pointer: pointer as Handle, format, sizes })
}

/// # Safety
/// `descriptor` is null or valid.
unsafe fn settings(descriptor: *const TextureDescriptor, is_float: bool) -> Result<TextureSettings> {
    // SAFETY: by contract.
    let found = unsafe { descriptor.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
    let has = |flag: u32| i32::from(found.flags & flag != 0);
    Ok(TextureSettings {
        address_mode: found.address,
        filter: found.filter,
        // The driver makes numbers of integers unless it is told not to; floating-point numbers are read as they are.
        read: u32::from(found.flags & AS_INTEGER == 0 && !is_float),
        srgb: has(SRGB),
        border: found.border,
        normalized: has(NORMALIZED),
        max_anisotropy: found.anisotropy,
        level_filter: found.level_filter,
        level_bias: found.level_bias,
        lowest_level: found.lowest_level,
        highest_level: found.highest_level,
        disable_trilinear_optimization: has(NO_TRILINEAR_OPTIMIZATION),
        seamless: has(SEAMLESS),
    })
}

/// Whether fetches from a resource find what is read as it is, whatever the flags say: floating-point numbers, and
/// integers of 32 bits.
fn is_read_as_is(resource: &Resource) -> Result<bool> {
    let device = current()?;
    let format = match resource.kind {
        RESOURCE_ARRAY => device.array_info(resource.pointer)?.0,
        RESOURCE_MIPMAP => device.array_info(device.mipmap_level(resource.pointer, 0)?)?.0,
        _ => resource.format,
    };
    Ok(format.kind == crate::types::FLOAT || format.bits[0] == 32)
}

fn view(found: &ViewDescriptor) -> ResourceView {
    ResourceView {
        format: found.format,
        extent: Extent { width: found.width, height: found.height, depth: found.depth },
        first_level: found.first_level,
        last_level: found.last_level,
        first_layer: found.first_layer,
        last_layer: found.last_layer,
    }
}

driver_api! {
    fn cuArrayCreate_v2(array: *mut Handle, descriptor: *const PlainDescriptor) {
        check(!array.is_null())?;
        let PlainDescriptor { width, height, format, channels } =
            *descriptor.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        let format = from_driver(&ArrayDescriptor { format, channels, ..ArrayDescriptor::default() })?;
        put(array, current()?.create_array(format, Extent { width, height, depth: 0 }, 0)?)
    }
    fn cuArray3DCreate_v2(array: *mut Handle, descriptor: *const ArrayDescriptor) {
        check(!array.is_null())?;
        let (format, extent, flags) = described(descriptor)?;
        put(array, current()?.create_array(format, extent, flags)?)
    }
    fn cuArrayGetDescriptor_v2(descriptor: *mut PlainDescriptor, array: Handle) {
        let ArrayDescriptor { width, height, format, channels, .. } = descriptor_of(array)?;
        put(descriptor, PlainDescriptor { width, height, format, channels })
    }
    fn cuArray3DGetDescriptor_v2(descriptor: *mut ArrayDescriptor, array: Handle) {
        put(descriptor, descriptor_of(array)?)
    }
    fn cuArrayDestroy(array: Handle) {
        check(!array.is_null())?;
        current()?.free_array(array)
    }
    fn cuMipmappedArrayCreate(mipmap: *mut Handle, descriptor: *const ArrayDescriptor, levels: u32) {
        check(!mipmap.is_null())?;
        let (format, extent, flags) = described(descriptor)?;
        put(mipmap, current()?.create_mipmap(format, extent, levels, flags)?)
    }
    fn cuMipmappedArrayGetLevel(array: *mut Handle, mipmap: Handle, level: u32) {
        put(array, current()?.mipmap_level(mipmap, level)?)
    }
    fn cuMipmappedArrayDestroy(mipmap: Handle) {
        check(!mipmap.is_null())?;
        current()?.free_mipmap(mipmap)
    }

    fn cuTexObjectCreate(
        texture: *mut u64, descriptor: *const ResourceDescriptor, asked: *const TextureDescriptor,
        seen: *const ViewDescriptor
    ) {
        check(!texture.is_null())?;
        let resource = resource(descriptor)?;
        let settings = Some(settings(asked, is_read_as_is(&resource)?)?);
        let parts = ObjectParts { resource, settings, view: seen.as_ref().map(view) };
        put(texture, current()?.create_texture(&parts)?)
    }
    fn cuTexObjectDestroy(texture: u64) { current()?.destroy_texture(texture) }
    fn cuSurfObjectCreate(surface: *mut u64, descriptor: *const ResourceDescriptor) {
        check(!surface.is_null())?;
        put(surface, current()?.create_surface(&resource(descriptor)?)?)
    }
    fn cuSurfObjectDestroy(surface: u64) { current()?.destroy_surface(surface) }
    fn cuDeviceGetTexture1DLinearMaxWidth(elements: *mut usize, _format: u32, _channels: u32, index: i32) {
        const LINEAR_WIDTH: u32 = 69;
        put(elements, current()?.attribute(LINEAR_WIDTH, index)? as usize)
    }
}
