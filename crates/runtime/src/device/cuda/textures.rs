//! Texture and surface objects, and mipmapped arrays: the driver's own.
//!
//! What an object was made of is kept here, in the program's terms. The driver frees an object with its GPU's context.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::arrays::{array_descriptor, from_driver, to_driver};
use super::layout::{ResourceDescriptor, TextureDescriptor, ViewDescriptor};
use super::state::Cuda;
use crate::device::gpu::vendor::Vendor;
use crate::device::seam::{ObjectParts, Textures};
use crate::device::texture_rules::{address_modes, check_settings, reads_integers, view_format};
use crate::error::{CudaError, Result, check};
use crate::types::{
    ChannelFormat, Extent, RESOURCE_ARRAY, RESOURCE_LINEAR, RESOURCE_MIPMAP, RESOURCE_PITCHED, Resource, ResourceView,
    TextureSettings,
};

/// `CU_TRSF_READ_AS_INTEGER`.
const AS_INTEGER: u32 = 0x01;
/// `CU_TRSF_NORMALIZED_COORDINATES`.
const NORMALIZED: u32 = 0x02;
/// `CU_TRSF_SRGB`.
const SRGB: u32 = 0x10;
/// `CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION`.
const NO_TRILINEAR_OPTIMIZATION: u32 = 0x20;
/// `CU_TRSF_SEAMLESS_CUBEMAP`.
const SEAMLESS: u32 = 0x40;

/// An object of the program's: the index of its GPU, whether it is a texture, and the driver's handle. Handles are
/// numbers that each GPU, and each kind of object, may have for itself.
type Key = (usize, bool, u64);

/// What the program's objects were made of.
#[derive(Default)]
pub struct Objects(Mutex<HashMap<Key, ObjectParts>>);

impl Objects {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, ObjectParts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, key: Key, parts: ObjectParts) {
        self.lock().insert(key, parts);
    }

    fn parts(&self, key: Key) -> Result<ObjectParts> {
        self.lock().get(&key).copied().ok_or(CudaError::INVALID_VALUE)
    }

    /// Forgets the objects of a GPU, which is reset.
    pub fn forget(&self, gpu: usize) {
        self.lock().retain(|key, _| key.0 != gpu);
    }
}

/// A resource in the driver's terms. Their kinds have the same numbers.
fn resource_descriptor(resource: &Resource) -> Result<ResourceDescriptor> {
    let [first, ..] = resource.sizes;
    let (format, sizes) = match resource.kind {
        RESOURCE_ARRAY | RESOURCE_MIPMAP if resource.pointer.is_null() => {
            return Err(CudaError::INVALID_RESOURCE_HANDLE);
        }
        RESOURCE_ARRAY | RESOURCE_MIPMAP => ((0, 0), [0; 3]),
        RESOURCE_LINEAR => (to_driver(resource.format)?, [first, 0, 0]),
        RESOURCE_PITCHED => (to_driver(resource.format)?, resource.sizes),
        _ => return Err(CudaError::INVALID_VALUE),
    };
    let pointer = resource.pointer as u64;
    let (kind, (format, channels)) = (resource.kind, format);
    Ok(ResourceDescriptor { kind, pointer, format, channels, sizes, reserved: [0; 11], flags: 0 })
}

/// The settings of a texture in the driver's terms; compressed blocks have no `format`.
fn texture_descriptor(settings: &TextureSettings, format: Option<ChannelFormat>) -> TextureDescriptor {
    let flags = [
        (format.is_some_and(|format| reads_integers(settings, format)), AS_INTEGER),
        (settings.normalized != 0, NORMALIZED),
        (settings.srgb != 0, SRGB),
        (settings.disable_trilinear_optimization != 0, NO_TRILINEAR_OPTIMIZATION),
        (settings.seamless != 0, SEAMLESS),
    ];
    TextureDescriptor {
        address: address_modes(settings),
        filter: settings.filter,
        flags: flags.iter().filter(|flag| flag.0).fold(0, |flags, flag| flags | flag.1),
        anisotropy: settings.max_anisotropy,
        level_filter: settings.level_filter,
        level_bias: settings.level_bias,
        lowest_level: settings.lowest_level,
        highest_level: settings.highest_level,
        border: settings.border,
        reserved: [0; 12],
    }
}

/// A view in the driver's terms. Formats have the same numbers.
fn view_descriptor(view: &ResourceView) -> ViewDescriptor {
    let Extent { width, height, depth } = view.extent;
    ViewDescriptor {
        format: view.format,
        width,
        height,
        depth,
        first_level: view.first_level,
        last_level: view.last_level,
        first_layer: view.first_layer,
        last_layer: view.last_layer,
        reserved: [0; 16],
    }
}

impl Cuda {
    /// The format of what fetches from a texture read; `None` for compressed blocks.
    fn format(&self, parts: &ObjectParts) -> Result<Option<ChannelFormat>> {
        if let Some(view) = parts.view.filter(|view| view.format != 0) {
            return Ok(view_format(view.format));
        }
        let Resource { kind, pointer, format, .. } = parts.resource;
        Ok(Some(match kind {
            RESOURCE_ARRAY => from_driver(&self.descriptor(pointer)?)?,
            RESOURCE_MIPMAP => from_driver(&self.descriptor(self.mipmap_level(pointer, 0)?)?)?,
            _ => format,
        }))
    }

    /// Destroys an object of the current GPU, and forgets what it was made of.
    fn destroy(&self, is_texture: bool, handle: u64) -> Result {
        let gpu = self.enter()?;
        if handle == 0 {
            return Ok(());
        }
        let driver = &self.driver;
        let destroy = if is_texture { driver.texture_destroy } else { driver.surface_destroy };
        // Held until the object is forgotten: the driver may give its handle to another at once.
        let mut objects = self.objects.lock();
        // SAFETY: an object of the program's.
        self.done(unsafe { destroy(handle) })?;
        objects.remove(&(gpu, is_texture, handle));
        Ok(())
    }
}

impl Textures for Cuda {
    fn create_texture(&self, parts: &ObjectParts) -> Result<u64> {
        let gpu = self.enter()?;
        let settings = parts.settings.ok_or(CudaError::INVALID_VALUE)?;
        let resource = resource_descriptor(&parts.resource)?;
        let format = self.format(parts)?;
        if let Some(format) = format {
            check_settings(&settings, format, parts.resource.kind == RESOURCE_LINEAR)?;
        }
        let texture = texture_descriptor(&settings, format);
        let view = parts.view.as_ref().map(view_descriptor);
        let view = view.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let mut handle = 0;
        // SAFETY: valid for a write and reads; the view may be null.
        self.done(unsafe {
            (self.driver.texture_create)(&raw mut handle, &raw const resource, &raw const texture, view)
        })?;
        self.objects.keep((gpu, true, handle), *parts);
        Ok(handle)
    }

    fn destroy_texture(&self, texture: u64) -> Result {
        self.destroy(true, texture)
    }

    fn texture_parts(&self, texture: u64) -> Result<ObjectParts> {
        self.objects.parts((self.enter()?, true, texture))
    }

    fn create_surface(&self, resource: &Resource) -> Result<u64> {
        let gpu = self.enter()?;
        check(resource.kind == RESOURCE_ARRAY)?;
        let descriptor = resource_descriptor(resource)?;
        let mut handle = 0;
        // SAFETY: valid for a write and a read.
        self.done(unsafe { (self.driver.surface_create)(&raw mut handle, &raw const descriptor) })?;
        self.objects.keep((gpu, false, handle), ObjectParts { resource: *resource, settings: None, view: None });
        Ok(handle)
    }

    fn destroy_surface(&self, surface: u64) -> Result {
        self.destroy(false, surface)
    }

    fn surface_resource(&self, surface: u64) -> Result<Resource> {
        self.objects.parts((self.enter()?, false, surface)).map(|parts| parts.resource)
    }

    fn create_mipmap(&self, format: ChannelFormat, extent: Extent, levels: u32, flags: u32) -> Result<*mut c_void> {
        self.enter()?;
        let descriptor = array_descriptor(format, extent, flags)?;
        let mut mipmap = std::ptr::null_mut();
        // SAFETY: valid for a write and a read.
        self.done(unsafe { (self.driver.mipmap_create)(&raw mut mipmap, &raw const descriptor, levels) })?;
        Ok(mipmap)
    }

    fn mipmap_level(&self, mipmap: *const c_void, level: u32) -> Result<*mut c_void> {
        self.enter()?;
        if mipmap.is_null() {
            return Err(CudaError::INVALID_RESOURCE_HANDLE);
        }
        let mut array = std::ptr::null_mut();
        // SAFETY: valid for a write; a mipmapped array of the program's.
        self.done(unsafe { (self.driver.mipmap_level)(&raw mut array, mipmap.cast_mut(), level) })?;
        Ok(array)
    }

    fn free_mipmap(&self, mipmap: *mut c_void) -> Result {
        self.enter()?;
        // SAFETY: a mipmapped array of the program's.
        if mipmap.is_null() { Ok(()) } else { self.done(unsafe { (self.driver.mipmap_destroy)(mipmap) }) }
    }
}
