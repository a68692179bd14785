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
/// Values of `cudaTextureAddressMode` and of `CUaddress_mode`.
const WRAP: u32 = 0;
const CLAMP: u32 = 1;
const MIRROR: u32 = 2;
const LAST_MODE: u32 = 3;
/// `cudaChannelFormatKindFloat`.
const FLOAT: u32 = 2;

/// An object of the program's: the index of its GPU, whether it is a texture, and the driver's handle. Handles are
/// numbers that each GPU, and each kind of object, may have for itself.
type Key = (usize, bool, u64);

/// What the program's objects were made of.
#[derive(Default)]
pub struct Objects(Mutex<HashMap<Key, Parts>>);

struct Parts(ObjectParts);

// SAFETY: addresses in it are the program's, and are never followed here.
unsafe impl Send for Parts {}

impl Objects {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Parts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, key: Key, parts: ObjectParts) {
        self.lock().insert(key, Parts(parts));
    }

    fn parts(&self, key: Key) -> Result<ObjectParts> {
        self.lock().get(&key).map(|parts| parts.0).ok_or(CudaError::INVALID_VALUE)
    }

    /// Forgets the objects of a GPU, which is reset.
    pub fn forget(&self, gpu: usize) {
        self.lock().retain(|key, _| key.0 != gpu);
    }
}

/// What a fetch reads.
#[derive(Clone, Copy)]
enum Texel {
    Float,
    /// Of so many bits.
    Integer(i32),
}

impl Texel {
    fn of(format: ChannelFormat) -> Self {
        if format.kind == FLOAT { Self::Float } else { Self::Integer(format.bits[0]) }
    }

    /// Of a `cudaResourceViewFormat`, whose numbers go up with the size; `None` where it leaves the resource's.
    /// Compressed blocks hold no integers.
    fn of_view(format: u32) -> Option<Self> {
        match format {
            0 => None,
            1..=6 => Some(Self::Integer(8)),
            7..=12 => Some(Self::Integer(16)),
            13..=18 => Some(Self::Integer(32)),
            _ => Some(Self::Float),
        }
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

/// The settings of a texture in the driver's terms.
fn texture_descriptor(settings: &TextureSettings, texel: Texel, is_linear: bool) -> Result<TextureDescriptor> {
    match texel {
        Texel::Integer(32) if settings.read == 1 => return Err(CudaError::INVALID_NORM_SETTING),
        Texel::Integer(_) if settings.read != 1 && settings.filter == 1 && !is_linear => {
            return Err(CudaError::INVALID_FILTER_SETTING);
        }
        _ => {}
    }
    check(settings.address_mode.iter().all(|mode| *mode <= LAST_MODE) && settings.filter <= 1 && settings.read <= 1)?;
    let flags = [
        (settings.read == 0 && matches!(texel, Texel::Integer(_)), AS_INTEGER),
        (settings.normalized != 0, NORMALIZED),
        (settings.srgb != 0, SRGB),
        (settings.disable_trilinear_optimization != 0, NO_TRILINEAR_OPTIMIZATION),
        (settings.seamless != 0, SEAMLESS),
    ];
    // What repeats does so in coordinates from 0 to 1 alone.
    let address = settings.address_mode.map(|mode| match mode {
        WRAP | MIRROR if settings.normalized == 0 => CLAMP,
        mode => mode,
    });
    Ok(TextureDescriptor {
        address,
        filter: settings.filter,
        flags: flags.iter().filter(|flag| flag.0).fold(0, |flags, flag| flags | flag.1),
        anisotropy: settings.max_anisotropy,
        level_filter: settings.level_filter,
        level_bias: settings.level_bias,
        lowest_level: settings.lowest_level,
        highest_level: settings.highest_level,
        border: settings.border,
        reserved: [0; 12],
    })
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
    /// What fetches from a texture read.
    fn texel(&self, parts: &ObjectParts) -> Result<Texel> {
        if let Some(texel) = parts.view.and_then(|view| Texel::of_view(view.format)) {
            return Ok(texel);
        }
        let Resource { kind, pointer, format, .. } = parts.resource;
        Ok(Texel::of(match kind {
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
        let is_linear = parts.resource.kind == RESOURCE_LINEAR;
        let texture = texture_descriptor(&settings, self.texel(parts)?, is_linear)?;
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
