//! Texture and surface objects. A handle is the address of what the device library reads (`regrain_texture.h`).

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::arrays::{self, Array};
use super::failure::device_ok;
use super::heap::device_range;
use super::machine::Cpu;
use super::{mipmaps, runners};
use crate::device::seam::{ObjectParts, Textures};
use crate::device::texture_rules::{
    CLAMP, WRAP, address_modes, channels, check_settings, integers_of, reads_integers, view_format,
};
use crate::error::{CudaError, Result, check};
use crate::types::{
    ARRAY_CUBE, ARRAY_LAYERED, ARRAY_OF_SURFACES, ChannelFormat, Extent, FLOAT, RESOURCE_ARRAY, RESOURCE_LINEAR,
    RESOURCE_MIPMAP, RESOURCE_PITCHED, Resource, ResourceView, TextureSettings,
};

/// The most levels that there can be.
const LEVELS: usize = 18;

/// One level, as the device library sees it: bytes from row to row and from slice to slice.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Level {
    data: usize,
    row: usize,
    slice: usize,
    size: [i32; 3],
    unused: i32,
}

/// `struct regrain_texture`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Texture {
    channels: u32,
    bits: u32,
    kind: u32,
    to_float: u32,
    srgb: u32,
    mode: [u32; 3],
    normalized: u32,
    linear: u32,
    linear_levels: u32,
    levels: u32,
    border: [f32; 4],
    bias: f32,
    lowest: f32,
    highest: f32,
    quick: u32,
    level: [Level; LEVELS],
}

const _: () = assert!(std::mem::offset_of!(Texture, border) == 48 && std::mem::offset_of!(Texture, level) == 80);

/// An object, and what it was made of.
struct Object {
    texture: Box<Texture>,
    parts: ObjectParts,
}

fn objects() -> MutexGuard<'static, HashMap<u64, Object>> {
    static OBJECTS: OnceLock<Mutex<HashMap<u64, Object>>> = OnceLock::new();
    OBJECTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// What device code reads of the object that an address is in: where that begins, and its bytes.
pub fn object_at(address: usize) -> Option<(usize, usize)> {
    let objects = objects();
    let is_in = |handle: &&u64| address.wrapping_sub(**handle as usize) < size_of::<Texture>();
    objects.keys().find(is_in).map(|handle| (*handle as usize, size_of::<Texture>()))
}

/// Forgets all objects (`cudaDeviceReset`).
pub fn forget_all() {
    objects().clear();
    mipmaps::forget_all();
}

impl Level {
    fn of_array(array: &Array) -> Self {
        let Extent { width, height, depth } = array.extent;
        let size = [width, height, depth].map(|size| size.max(1) as i32);
        Self { data: array.data, row: array.row(), slice: array.row() * array.rows(), size, unused: 0 }
    }

    /// Memory with a format: `size` elements, rows of so many bytes.
    fn of_memory(resource: &Resource, element: usize, [width, height]: [usize; 2], row: usize) -> Result<Self> {
        check(width > 0 && height > 0 && i32::try_from(width.max(height)).is_ok())?;
        check(width.checked_mul(element).is_some_and(|bytes| row >= bytes))?;
        check(row.checked_mul(height).is_some())?;
        check(device_range(resource.pointer, row * (height - 1) + width * element))?;
        let size = [width as i32, height as i32, 1];
        Ok(Self { data: resource.pointer as usize, row, slice: row * height, size, unused: 0 })
    }
}

/// The levels of a resource, its format, and the flags of its arrays.
fn levels(resource: &Resource) -> Result<(Vec<Level>, ChannelFormat, u32)> {
    let of_memory = || channels(resource.format).map(|(count, bits)| (count * bits / 8) as usize);
    let arrays = match resource.kind {
        RESOURCE_ARRAY => vec![resource.pointer],
        RESOURCE_MIPMAP => mipmaps::levels(resource.pointer)?,
        RESOURCE_LINEAR => {
            let element = of_memory()?;
            let count = resource.sizes[0] / element;
            let level = Level::of_memory(resource, element, [count, 1], count * element)?;
            return Ok((vec![level], resource.format, 0));
        }
        RESOURCE_PITCHED => {
            let [width, height, pitch] = resource.sizes;
            let level = Level::of_memory(resource, of_memory()?, [width, height], pitch)?;
            return Ok((vec![level], resource.format, 0));
        }
        _ => return Err(CudaError::INVALID_VALUE),
    };
    let arrays: Vec<_> = arrays.into_iter().map(|handle| arrays::array(handle)).collect::<Result<_>>()?;
    let first = arrays.first().ok_or(CudaError::INVALID_VALUE)?;
    Ok((arrays.iter().map(Level::of_array).collect(), first.format, first.flags))
}

/// Leaves the levels that a view names, and the layers of what has some.
fn narrow(levels: &mut Vec<Level>, view: &ResourceView, layered: bool) -> Result {
    let [first, last] = [view.first_level, view.last_level].map(|level| level as usize);
    check(first <= last && last < levels.len())?;
    levels.truncate(last + 1);
    levels.drain(..first);
    if layered {
        let [first, last] = [view.first_layer, view.last_layer].map(|layer| layer as usize);
        for level in levels {
            check(first <= last && last < level.size[2] as usize)?;
            level.data += first * level.slice;
            level.size[2] = (last - first + 1) as i32;
        }
    }
    Ok(())
}

/// Whether fetches take the short way: see `regrain_texture.h`.
fn is_quick(texture: &Texture, flags: u32) -> bool {
    let level = &texture.level[0];
    let repeats = texture.mode.iter().all(|mode| matches!(*mode, WRAP | CLAMP));
    let fits = level.row.is_multiple_of(4) && level.slice * (level.size[2] as usize) < 4 << 31;
    texture.bits == 32 && texture.levels == 1 && repeats && fits && flags & ARRAY_CUBE == 0
}

fn texture(parts: &ObjectParts, settings: &TextureSettings) -> Result<Texture> {
    let (mut levels, mut format, flags) = levels(&parts.resource)?;
    if let Some(view) = &parts.view {
        narrow(&mut levels, view, flags & ARRAY_LAYERED != 0)?;
        let element = |format: ChannelFormat| format.bits.iter().sum::<i32>();
        if view.format != 0 {
            let other = view_format(view.format).ok_or(CudaError::NOT_SUPPORTED)?;
            check(element(other) == element(format))?;
            format = other;
        }
    }
    let (channels, bits) = channels(format)?;
    let of_memory = parts.resource.kind == RESOURCE_LINEAR;
    check_settings(settings, format, of_memory)?;
    let to_float = format.kind != FLOAT && !reads_integers(settings, format);
    let linear = settings.filter == 1 && !of_memory;
    // A face has no beyond.
    let cube = flags & ARRAY_CUBE != 0;
    let mode = if cube { [CLAMP; 3] } else { address_modes(settings) };
    let mut level = [Level::default(); LEVELS];
    check(levels.len() <= LEVELS)?;
    level[..levels.len()].copy_from_slice(&levels);
    let made = Texture {
        channels,
        bits,
        kind: integers_of(format).unwrap_or(format).kind,
        to_float: to_float.into(),
        srgb: (settings.srgb != 0 && to_float).into(),
        mode,
        normalized: (settings.normalized != 0 || cube).into(),
        linear: linear.into(),
        linear_levels: (settings.level_filter == 1).into(),
        levels: levels.len() as u32,
        border: settings.border,
        bias: settings.level_bias,
        lowest: settings.lowest_level,
        highest: settings.highest_level,
        quick: 0,
        level,
    };
    Ok(Texture { quick: is_quick(&made, flags).into(), ..made })
}

fn keep(texture: Texture, parts: ObjectParts) -> u64 {
    let texture = Box::new(texture);
    let handle = std::ptr::from_ref(&*texture) as u64;
    objects().insert(handle, Object { texture, parts });
    handle
}

fn parts(handle: u64, is_texture: bool) -> Result<ObjectParts> {
    let parts = objects().get(&handle).map(|object| object.parts).ok_or(CudaError::INVALID_VALUE)?;
    check(parts.settings.is_some() == is_texture)?;
    Ok(parts)
}

fn destroy(handle: u64, is_texture: bool) -> Result {
    if handle != 0 {
        parts(handle, is_texture)?;
        drop(objects().remove(&handle).map(|object| object.texture));
    }
    Ok(())
}

impl Textures for Cpu {
    fn create_texture(&self, parts: &ObjectParts) -> Result<u64> {
        device_ok()?;
        let settings = parts.settings.ok_or(CudaError::INVALID_VALUE)?;
        Ok(keep(texture(parts, &settings)?, *parts))
    }

    fn destroy_texture(&self, texture: u64) -> Result {
        runners::wait_for_all()?;
        destroy(texture, true)
    }

    fn texture_parts(&self, texture: u64) -> Result<ObjectParts> {
        parts(texture, true)
    }

    fn create_surface(&self, resource: &Resource) -> Result<u64> {
        device_ok()?;
        check(resource.kind == RESOURCE_ARRAY && arrays::array(resource.pointer)?.flags & ARRAY_OF_SURFACES != 0)?;
        let (levels, format, _) = levels(resource)?;
        let (channels, bits) = channels(format)?;
        let mut level = [Level::default(); LEVELS];
        level[0] = levels[0];
        let texture = Texture { channels, bits, kind: format.kind, levels: 1, level, ..Texture::default() };
        Ok(keep(texture, ObjectParts { resource: *resource, settings: None, view: None }))
    }

    fn destroy_surface(&self, surface: u64) -> Result {
        runners::wait_for_all()?;
        destroy(surface, false)
    }

    fn surface_resource(&self, surface: u64) -> Result<Resource> {
        Ok(parts(surface, false)?.resource)
    }

    fn create_mipmap(&self, format: ChannelFormat, extent: Extent, levels: u32, flags: u32) -> Result<*mut c_void> {
        mipmaps::create(format, extent, levels, flags)
    }

    fn mipmap_level(&self, mipmap: *const c_void, level: u32) -> Result<*mut c_void> {
        mipmaps::levels(mipmap)?.get(level as usize).copied().ok_or(CudaError::INVALID_VALUE)
    }

    fn free_mipmap(&self, mipmap: *mut c_void) -> Result {
        runners::wait_for_all()?;
        mipmaps::free(mipmap)
    }
}
