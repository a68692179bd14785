//! Structures of the driver's API, laid out as in `cuda.h`.

use std::ffi::c_void;
use std::mem::offset_of;

use crate::device::gpu::layout::{Handle, Pointer};
use crate::types::LaunchAttribute;

/// `CUmemorytype`.
pub const HOST: u32 = 1;
/// See [`HOST`].
pub const DEVICE: u32 = 2;
/// See [`HOST`].
pub const ARRAY: u32 = 3;
/// The pointer tells.
pub const UNIFIED: u32 = 4;

/// One side of a two-dimensional copy.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Side2d {
    pub x: usize,
    pub y: usize,
    pub kind: u32,
    pub host: *mut c_void,
    pub device: Pointer,
    pub array: Handle,
    pub pitch: usize,
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
pub struct Memcpy2d {
    pub from: Side2d,
    pub to: Side2d,
    pub width: usize,
    pub height: usize,
}

/// One side of a three-dimensional copy.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Side3d {
    pub x: usize,
    pub y: usize,
    pub z: usize,
    pub level: usize,
    pub kind: u32,
    pub host: *mut c_void,
    pub device: Pointer,
    pub array: Handle,
    /// Null in a copy within one context.
    pub context: Handle,
    pub pitch: usize,
    pub height: usize,
}

/// `CUDA_MEMCPY3D`, and `CUDA_MEMCPY3D_PEER`, which has the contexts where the other has reserved fields.
#[repr(C)]
pub struct Memcpy3d {
    pub from: Side3d,
    pub to: Side3d,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct ArrayDescriptor {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    /// `CUarray_format`, of one channel.
    pub format: u32,
    pub channels: u32,
    pub flags: u32,
}

/// `CUDA_RESOURCE_DESC`.
#[repr(C)]
pub struct ResourceDescriptor {
    /// `CUresourcetype`.
    pub kind: u32,
    /// An array, a mipmapped array, or memory. What follows is of memory alone.
    pub pointer: Pointer,
    /// `CUarray_format`, of one channel.
    pub format: u32,
    pub channels: u32,
    /// Bytes; of pitched memory width and height in elements, and bytes from row to row.
    pub sizes: [usize; 3],
    pub reserved: [u64; 11],
    pub flags: u32,
}

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
pub struct TextureDescriptor {
    /// `CUaddress_mode` of each dimension.
    pub address: [u32; 3],
    /// `CUfilter_mode`.
    pub filter: u32,
    /// `CU_TRSF_*`.
    pub flags: u32,
    pub anisotropy: u32,
    /// `CUfilter_mode`.
    pub level_filter: u32,
    pub level_bias: f32,
    pub lowest_level: f32,
    pub highest_level: f32,
    pub border: [f32; 4],
    pub reserved: [u32; 12],
}

/// `CUDA_RESOURCE_VIEW_DESC`.
#[repr(C)]
pub struct ViewDescriptor {
    /// `CUresourceViewFormat`.
    pub format: u32,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub first_level: u32,
    pub last_level: u32,
    pub first_layer: u32,
    pub last_layer: u32,
    pub reserved: [u32; 16],
}

/// `CUlaunchConfig`.
#[repr(C)]
pub struct LaunchConfig {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub stream: Handle,
    /// `CUlaunchAttribute` is `cudaLaunchAttribute`, with the same values.
    pub attributes: *const LaunchAttribute,
    pub count: u32,
}

const _: () = assert!(size_of::<ArrayDescriptor>() == 40);
const _: () = assert!(size_of::<Memcpy2d>() == 128);
const _: () = assert!(size_of::<Memcpy3d>() == 200);
const _: () = assert!(size_of::<LaunchConfig>() == 56);
const _: () = assert!(size_of::<ResourceDescriptor>() == 144 && offset_of!(ResourceDescriptor, flags) == 136);
const _: () = assert!(size_of::<TextureDescriptor>() == 104 && offset_of!(TextureDescriptor, border) == 40);
const _: () = assert!(size_of::<ViewDescriptor>() == 112 && offset_of!(ViewDescriptor, first_level) == 32);
