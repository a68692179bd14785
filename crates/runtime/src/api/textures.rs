//! Texture and surface objects, and mipmapped arrays.

use std::ffi::c_void;

use crate::device::choice::device;
use crate::device::seam::ObjectParts;
use crate::error::{CudaError, check};
use crate::macros::{cuda_api, put};
use crate::types::{ChannelFormat, Extent, Resource, ResourceView, TextureSettings};

/// `cudaDevAttrMaxTexture1DLinearWidth`.
const LINEAR_WIDTH: u32 = 69;

cuda_api! {
    fn cudaCreateTextureObject(
        texture: *mut u64, resource: *const Resource, settings: *const TextureSettings, view: *const ResourceView
    ) {
        let resource = *resource.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        let settings = Some(*settings.as_ref().ok_or(CudaError::INVALID_VALUE)?);
        check(!texture.is_null())?;
        put(texture, device()?.create_texture(&ObjectParts { resource, settings, view: view.as_ref().copied() })?)
    }

    fn cudaDestroyTextureObject(texture: u64) { device()?.destroy_texture(texture) }

    fn cudaGetTextureObjectResourceDesc(resource: *mut Resource, texture: u64) {
        put(resource, device()?.texture_parts(texture)?.resource)
    }

    fn cudaGetTextureObjectTextureDesc(settings: *mut TextureSettings, texture: u64) {
        put(settings, device()?.texture_parts(texture)?.settings.ok_or(CudaError::INVALID_VALUE)?)
    }

    fn cudaGetTextureObjectResourceViewDesc(view: *mut ResourceView, texture: u64) {
        put(view, device()?.texture_parts(texture)?.view.ok_or(CudaError::INVALID_VALUE)?)
    }

    fn cudaCreateSurfaceObject(surface: *mut u64, resource: *const Resource) {
        let resource = resource.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        check(!surface.is_null())?;
        put(surface, device()?.create_surface(resource)?)
    }

    fn cudaDestroySurfaceObject(surface: u64) { device()?.destroy_surface(surface) }

    fn cudaGetSurfaceObjectResourceDesc(resource: *mut Resource, surface: u64) {
        put(resource, device()?.surface_resource(surface)?)
    }

    fn cudaMallocMipmappedArray(
        handle: *mut *mut c_void, format: *const ChannelFormat, extent: Extent, levels: u32, flags: u32
    ) {
        let format = *format.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        check(!handle.is_null())?;
        put(handle, device()?.create_mipmap(format, extent, levels, flags)?)
    }

    fn cudaGetMipmappedArrayLevel(array: *mut *mut c_void, mipmap: *const c_void, level: u32) {
        put(array, device()?.mipmap_level(mipmap, level)?)
    }

    fn cudaFreeMipmappedArray(mipmap: *mut c_void) { device()?.free_mipmap(mipmap) }

    fn cudaDeviceGetTexture1DLinearMaxWidth(elements: *mut usize, format: *const ChannelFormat, which: i32) {
        check(!format.is_null())?;
        put(elements, device()?.attribute(LINEAR_WIDTH, which)? as usize)
    }
}
