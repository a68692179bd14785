//! The plain data of CUDA's runtime API, laid out as in its headers.

use std::ffi::c_void;

use crate::abi::Dim3;

/// Values of `cudaMemcpyKind`; 0 is host to host.
pub const HOST_TO_DEVICE: u32 = 1;
/// See [`HOST_TO_DEVICE`].
pub const DEVICE_TO_HOST: u32 = 2;
/// See [`HOST_TO_DEVICE`].
pub const DEVICE_TO_DEVICE: u32 = 3;
/// The pointers tell the direction.
pub const DEFAULT: u32 = 4;

/// `cudaExtent`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// `cudaPos` has the same fields as an extent, as offsets.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pos {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

/// `cudaPitchedPtr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PitchedPtr {
    pub ptr: *mut c_void,
    pub pitch: usize,
    pub xsize: usize,
    pub ysize: usize,
}

/// `cudaChannelFormatDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ChannelFormat {
    pub bits: [i32; 4],
    pub kind: u32,
}

/// `cudaChannelFormatKindFloat`.
pub const FLOAT: u32 = 2;

/// Flags of arrays: `cudaArrayLayered`.
pub const ARRAY_LAYERED: u32 = 1;
/// `cudaArraySurfaceLoadStore`.
pub const ARRAY_OF_SURFACES: u32 = 2;
/// `cudaArrayCubemap`.
pub const ARRAY_CUBE: u32 = 4;
/// `cudaArrayTextureGather`.
pub const ARRAY_GATHERED: u32 = 8;

/// `cudaResourceDesc`: an array, a mipmapped array, or memory with a format. A linear resource has its bytes in
/// the first of `sizes`, one with a pitch its width, height and pitch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Resource {
    pub kind: u32,
    pub pointer: *mut c_void,
    pub format: ChannelFormat,
    pub sizes: [usize; 3],
}

const _: () = assert!(size_of::<Resource>() == 64);

/// Values of `cudaResourceType`.
pub const RESOURCE_ARRAY: u32 = 0;
/// See [`RESOURCE_ARRAY`].
pub const RESOURCE_MIPMAP: u32 = 1;
/// See [`RESOURCE_ARRAY`].
pub const RESOURCE_LINEAR: u32 = 2;
/// See [`RESOURCE_ARRAY`].
pub const RESOURCE_PITCHED: u32 = 3;

/// `cudaTextureDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TextureSettings {
    pub address_mode: [u32; 3],
    pub filter: u32,
    pub read: u32,
    pub srgb: i32,
    pub border: [f32; 4],
    pub normalized: i32,
    pub max_anisotropy: u32,
    pub level_filter: u32,
    pub level_bias: f32,
    pub lowest_level: f32,
    pub highest_level: f32,
    pub disable_trilinear_optimization: i32,
    pub seamless: i32,
}

const _: () = assert!(size_of::<TextureSettings>() == 72);

/// `cudaResourceViewDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ResourceView {
    pub format: u32,
    pub extent: Extent,
    pub first_level: u32,
    pub last_level: u32,
    pub first_layer: u32,
    pub last_layer: u32,
}

const _: () = assert!(size_of::<ResourceView>() == 48);

/// `cudaMemcpy3DParms`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy3d {
    pub src_array: *mut c_void,
    pub src_pos: Pos,
    pub src_ptr: PitchedPtr,
    pub dst_array: *mut c_void,
    pub dst_pos: Pos,
    pub dst_ptr: PitchedPtr,
    pub extent: Extent,
    pub kind: u32,
}

const _: () = assert!(size_of::<Copy3d>() == 160);

/// `cudaMemcpy3DPeerParms`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy3dPeer {
    pub src_array: *mut c_void,
    pub src_pos: Pos,
    pub src_ptr: PitchedPtr,
    pub src_device: i32,
    pub dst_array: *mut c_void,
    pub dst_pos: Pos,
    pub dst_ptr: PitchedPtr,
    pub dst_device: i32,
    pub extent: Extent,
}

/// `cudaPointerAttributes`.
#[repr(C)]
pub struct PointerAttributes {
    pub kind: u32,
    pub ordinal: i32,
    pub device: *mut c_void,
    pub host: *mut c_void,
}

/// `cudaMemLocation`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Location {
    pub kind: u32,
    pub id: i32,
}

/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemoryProperties {
    pub kind: u32,
    pub handle_types: u32,
    pub location: Location,
    pub metadata: *mut c_void,
    pub flags: [u8; 8],
}

const _: () = assert!(size_of::<MemoryProperties>() == 32);

/// `cudaMemPoolProps`.
#[repr(C)]
pub struct PoolProps {
    pub alloc_type: u32,
    pub handle_types: u32,
    pub location_type: u32,
    pub location_id: i32,
    pub rest: [u64; 9],
}

const _: () = assert!(size_of::<PoolProps>() == 88);

/// `cudaFuncAttributes`.
#[repr(C)]
pub struct FuncAttributes {
    pub shared: usize,
    pub constant: usize,
    pub local: usize,
    pub max_threads: i32,
    pub registers: i32,
    pub ptx_version: i32,
    pub binary_version: i32,
    pub cache_mode_ca: i32,
    pub max_dynamic_shared: i32,
    pub carveout: i32,
    pub cluster_dim_must_be_set: i32,
    pub required_cluster: [i32; 3],
    pub cluster_policy: i32,
    pub non_portable_cluster: i32,
    pub reserved: [i32; 16],
}

const _: () = assert!(size_of::<FuncAttributes>() == 144);

/// `cudaLaunchConfig_t`.
#[repr(C)]
pub struct LaunchConfig {
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: usize,
    pub stream: *mut c_void,
    pub attrs: *const LaunchAttribute,
    pub num_attrs: u32,
}

/// `cudaLaunchAttribute`: an id and a union of 64 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchAttribute {
    pub id: u32,
    pub pad: u32,
    pub value: [u64; 8],
}

const _: () = assert!(size_of::<LaunchAttribute>() == 72);
const _: () = assert!(size_of::<LaunchConfig>() == 56);

/// `cudaKernelNodeParams`.
#[repr(C)]
pub struct KernelNode {
    pub function: *const c_void,
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: u32,
    pub args: *mut *mut c_void,
    pub extra: *mut *mut c_void,
}

/// `cudaMemAccessDesc`, `CUmemAccessDesc`: who may do what.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Access {
    pub location: Location,
    pub flags: u32,
}

/// `cudaMemsetParams`: a fill of elements of 1, 2 or 4 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemsetNode {
    pub to: *mut c_void,
    pub pitch: usize,
    pub value: u32,
    pub element: u32,
    pub width: usize,
    pub height: usize,
}

/// `cudaHostNodeParams`.
#[repr(C)]
pub struct HostNode {
    pub function: Option<unsafe extern "C" fn(*mut c_void)>,
    pub data: *mut c_void,
}

/// `cudaGraphEdgeData`.
#[repr(C)]
pub struct EdgeData {
    pub bytes: [u8; 8],
}

/// `cudaGraphExecUpdateResultInfo`.
#[repr(C)]
pub struct UpdateResult {
    pub result: u32,
    pub node: *mut c_void,
    pub from: *mut c_void,
}
