//! The driver library: where it is found, and the functions that are taken from it.

use std::ffi::{CStr, c_void};

use super::layout::{
    ArrayDescriptor, LaunchConfig, Memcpy2d, Memcpy3d, ResourceDescriptor, TextureDescriptor, ViewDescriptor,
};
use crate::device::gpu::layout::{Handle, Pointer};
use crate::device::gpu::library::{self, Functions, Names, library, too_old};
use crate::types::Location;

/// Tried in this order; the first is found by the loader's own rules.
const PATHS: [&CStr; 3] = [c"libcuda.so.1", c"/usr/lib/wsl/lib/libcuda.so.1", c"/usr/local/nvidia/lib64/libcuda.so.1"];

/// What the driver calls the functions that all libraries have.
const NAMES: Names = Names {
    init: c"cuInit",
    device_count: c"cuDeviceGetCount",
    device_name: c"cuDeviceGetName",
    device_memory: c"cuDeviceTotalMem_v2",
    device_attribute: c"cuDeviceGetAttribute",
    device_bus_id: c"cuDeviceGetPCIBusId",
    synchronize: c"cuCtxSynchronize",
    limit: c"cuCtxGetLimit",
    cache: c"cuCtxGetCacheConfig",
    set_cache: c"cuCtxSetCacheConfig",
    stream_priorities: c"cuCtxGetStreamPriorityRange",
    can_access_peer: c"cuDeviceCanAccessPeer",
    peer_attribute: c"cuDeviceGetP2PAttribute",
    allocate: c"cuMemAlloc_v2",
    free: c"cuMemFree_v2",
    allocate_managed: c"cuMemAllocManaged",
    allocate_host: c"cuMemHostAlloc",
    free_host: c"cuMemFreeHost",
    register: c"cuMemHostRegister_v2",
    unregister: c"cuMemHostUnregister",
    host_pointer: c"cuMemHostGetDevicePointer_v2",
    host_flags: c"cuMemHostGetFlags",
    memory_info: c"cuMemGetInfo_v2",
    prefetch: c"cuMemPrefetchAsync",
    advise: c"cuMemAdvise",
    fill: c"cuMemsetD8_v2",
    fill_async: c"cuMemsetD8Async",
    stream_create: c"cuStreamCreateWithPriority",
    stream_destroy: c"cuStreamDestroy_v2",
    stream_synchronize: c"cuStreamSynchronize",
    stream_query: c"cuStreamQuery",
    stream_flags: c"cuStreamGetFlags",
    stream_priority: c"cuStreamGetPriority",
    stream_wait: c"cuStreamWaitEvent",
    stream_attach: c"cuStreamAttachMemAsync",
    stream_capturing: c"cuStreamIsCapturing",
    stream_callback: c"cuStreamAddCallback",
    event_create: c"cuEventCreate",
    event_record: c"cuEventRecord",
    event_query: c"cuEventQuery",
    event_synchronize: c"cuEventSynchronize",
    event_destroy: c"cuEventDestroy_v2",
    event_elapsed: c"cuEventElapsedTime",
    module_load: c"cuModuleLoadData",
    module_function: c"cuModuleGetFunction",
    module_variable: c"cuModuleGetGlobal_v2",
    function_attribute: c"cuFuncGetAttribute",
    occupancy: c"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    launch: c"cuLaunchKernel",
    device_uuid: c"cuDeviceGetUuid",
    set_limit: c"cuCtxSetLimit",
    shared: c"cuCtxGetSharedMemConfig",
    set_shared: c"cuCtxSetSharedMemConfig",
    host_function: c"cuLaunchHostFunc",
    exchange_capture_mode: c"cuThreadExchangeStreamCaptureMode",
    event_record_flags: c"cuEventRecordWithFlags",
    stream_id: c"cuStreamGetId",
    launch_cooperative: c"cuLaunchCooperativeKernel",
    function_set_cache: c"cuFuncSetCacheConfig",
    function_set_shared: c"cuFuncSetSharedMemConfig",
    function_parameter: c"cuFuncGetParamInfo",
    available_shared: c"cuOccupancyAvailableDynamicSMemPerBlock",
    allocate_async: c"cuMemAllocAsync",
    free_async: c"cuMemFreeAsync",
    allocate_from_pool: c"cuMemAllocFromPoolAsync",
    default_pool: c"cuDeviceGetDefaultMemPool",
    pool: c"cuDeviceGetMemPool",
    set_pool: c"cuDeviceSetMemPool",
    pool_create: c"cuMemPoolCreate",
    pool_destroy: c"cuMemPoolDestroy",
    pool_trim: c"cuMemPoolTrimTo",
    pool_attribute: c"cuMemPoolGetAttribute",
    pool_set_attribute: c"cuMemPoolSetAttribute",
};

library! {
    /// The functions that only the driver library has, or has in its own way.
    Driver
    needs {
        driver_version = c"cuDriverGetVersion" (*mut i32);
        device = c"cuDeviceGet" (*mut i32, i32);
        primary_retain = c"cuDevicePrimaryCtxRetain" (*mut Handle, i32);
        primary_release = c"cuDevicePrimaryCtxRelease_v2" (i32);
        primary_reset = c"cuDevicePrimaryCtxReset_v2" (i32);
        primary_set_flags = c"cuDevicePrimaryCtxSetFlags_v2" (i32, u32);
        primary_state = c"cuDevicePrimaryCtxGetState" (i32, *mut u32, *mut i32);
        context_current = c"cuCtxGetCurrent" (*mut Handle);
        context_set_current = c"cuCtxSetCurrent" (Handle);
        context_device = c"cuCtxGetDevice" (*mut i32);
        enable_peer = c"cuCtxEnablePeerAccess" (Handle, u32);
        disable_peer = c"cuCtxDisablePeerAccess" (Handle);
        allocate_pitched = c"cuMemAllocPitch_v2" (*mut Pointer, *mut usize, usize, usize, u32);
        pointer_attributes = c"cuPointerGetAttributes" (u32, *const u32, *mut *mut c_void, Pointer);
        copy = c"cuMemcpy" (Pointer, Pointer, usize);
        copy_async = c"cuMemcpyAsync" (Pointer, Pointer, usize, Handle);
        copy_to_device = c"cuMemcpyHtoD_v2" (Pointer, *const c_void, usize);
        copy_to_device_async = c"cuMemcpyHtoDAsync_v2" (Pointer, *const c_void, usize, Handle);
        copy_to_host = c"cuMemcpyDtoH_v2" (*mut c_void, Pointer, usize);
        copy_to_host_async = c"cuMemcpyDtoHAsync_v2" (*mut c_void, Pointer, usize, Handle);
        copy_peer = c"cuMemcpyPeer" (Pointer, Handle, Pointer, Handle, usize);
        copy_peer_async = c"cuMemcpyPeerAsync" (Pointer, Handle, Pointer, Handle, usize, Handle);
        copy_2d = c"cuMemcpy2DUnaligned_v2" (*const Memcpy2d);
        copy_2d_async = c"cuMemcpy2DAsync_v2" (*const Memcpy2d, Handle);
        copy_3d = c"cuMemcpy3D_v2" (*const Memcpy3d);
        copy_3d_async = c"cuMemcpy3DAsync_v2" (*const Memcpy3d, Handle);
        copy_3d_peer = c"cuMemcpy3DPeer" (*const Memcpy3d);
        copy_3d_peer_async = c"cuMemcpy3DPeerAsync" (*const Memcpy3d, Handle);
        fill_2d = c"cuMemsetD2D8_v2" (Pointer, usize, u8, usize, usize);
        fill_2d_async = c"cuMemsetD2D8Async" (Pointer, usize, u8, usize, usize, Handle);
        stream_context = c"cuStreamGetCtx" (Handle, *mut Handle);
        array_create = c"cuArray3DCreate_v2" (*mut Handle, *const ArrayDescriptor);
        array_destroy = c"cuArrayDestroy" (Handle);
        array_descriptor = c"cuArray3DGetDescriptor_v2" (*mut ArrayDescriptor, Handle);
        mipmap_create = c"cuMipmappedArrayCreate" (*mut Handle, *const ArrayDescriptor, u32);
        mipmap_level = c"cuMipmappedArrayGetLevel" (*mut Handle, Handle, u32);
        mipmap_destroy = c"cuMipmappedArrayDestroy" (Handle);
        texture_create = c"cuTexObjectCreate"
            (*mut u64, *const ResourceDescriptor, *const TextureDescriptor, *const ViewDescriptor);
        texture_destroy = c"cuTexObjectDestroy" (u64);
        surface_create = c"cuSurfObjectCreate" (*mut u64, *const ResourceDescriptor);
        surface_destroy = c"cuSurfObjectDestroy" (u64);
        function_set_attribute = c"cuFuncSetAttribute" (Handle, u32, i32);
    }
    may_have {
        launch_ex = c"cuLaunchKernelEx" (*const LaunchConfig, Handle, *mut *mut c_void, *mut *mut c_void);
        prefetch_v2 = c"cuMemPrefetchAsync_v2" (Pointer, usize, Location, u32, Handle);
        advise_v2 = c"cuMemAdvise_v2" (Pointer, usize, u32, Location);
    }
}

/// A function of the driver library by its name, where that library is there.
pub fn driver_function(name: &CStr) -> Option<*const c_void> {
    let (library, _) = library::load(&PATHS).ok()?;
    // SAFETY: a handle of the driver library, never closed; the address is not called here.
    unsafe { library::symbol::<*const c_void>(library, name) }
}

/// Loads the driver library. The error says where it was looked for and what the loader answered.
pub fn load() -> Result<(Functions, Driver), String> {
    let (library, path) = library::load(&PATHS).map_err(|tried| format!("no NVIDIA driver library; {tried}"))?;
    // SAFETY: a handle of the driver library, never closed.
    let found = unsafe { Functions::find(library, &NAMES).and_then(|common| Ok((common, Driver::find(library)?))) };
    found.map_err(|name| too_old(path, name))
}
