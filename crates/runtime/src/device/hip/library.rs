//! HIP's library: where it is found, and the functions that are taken from it.

use std::ffi::{CStr, c_void};

use crate::device::gpu::layout::{Handle, Pointer};
use crate::device::gpu::library::{self, Functions, Names, library, too_old};
use crate::types::{ChannelFormat, Copy3d, Extent};

/// Tried in this order, the newest first: the number is that of ROCm's major version. Found by the loader's own rules,
/// then where ROCm's packages put it.
const PATHS: [&CStr; 5] =
    [c"libamdhip64.so.7", c"libamdhip64.so.6", c"libamdhip64.so.5", c"libamdhip64.so", c"/opt/rocm/lib/libamdhip64.so"];

/// What HIP calls the functions that all libraries have.
const NAMES: Names = Names {
    init: c"hipInit",
    device_count: c"hipGetDeviceCount",
    device_name: c"hipDeviceGetName",
    device_memory: c"hipDeviceTotalMem",
    device_attribute: c"hipDeviceGetAttribute",
    device_bus_id: c"hipDeviceGetPCIBusId",
    synchronize: c"hipDeviceSynchronize",
    limit: c"hipDeviceGetLimit",
    cache: c"hipDeviceGetCacheConfig",
    set_cache: c"hipDeviceSetCacheConfig",
    stream_priorities: c"hipDeviceGetStreamPriorityRange",
    can_access_peer: c"hipDeviceCanAccessPeer",
    peer_attribute: c"hipDeviceGetP2PAttribute",
    allocate: c"hipMalloc",
    free: c"hipFree",
    allocate_managed: c"hipMallocManaged",
    allocate_host: c"hipHostMalloc",
    free_host: c"hipHostFree",
    register: c"hipHostRegister",
    unregister: c"hipHostUnregister",
    host_pointer: c"hipHostGetDevicePointer",
    host_flags: c"hipHostGetFlags",
    memory_info: c"hipMemGetInfo",
    prefetch: c"hipMemPrefetchAsync",
    advise: c"hipMemAdvise",
    fill: c"hipMemsetD8",
    fill_async: c"hipMemsetD8Async",
    stream_create: c"hipStreamCreateWithPriority",
    stream_destroy: c"hipStreamDestroy",
    stream_synchronize: c"hipStreamSynchronize",
    stream_query: c"hipStreamQuery",
    stream_flags: c"hipStreamGetFlags",
    stream_priority: c"hipStreamGetPriority",
    stream_wait: c"hipStreamWaitEvent",
    stream_attach: c"hipStreamAttachMemAsync",
    stream_capturing: c"hipStreamIsCapturing",
    stream_callback: c"hipStreamAddCallback",
    event_create: c"hipEventCreateWithFlags",
    event_record: c"hipEventRecord",
    event_query: c"hipEventQuery",
    event_synchronize: c"hipEventSynchronize",
    event_destroy: c"hipEventDestroy",
    event_elapsed: c"hipEventElapsedTime",
    module_load: c"hipModuleLoadData",
    module_function: c"hipModuleGetFunction",
    module_variable: c"hipModuleGetGlobal",
    function_attribute: c"hipFuncGetAttribute",
    occupancy: c"hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    launch: c"hipModuleLaunchKernel",
    device_uuid: c"hipDeviceGetUuid",
    set_limit: c"hipDeviceSetLimit",
    shared: c"hipDeviceGetSharedMemConfig",
    set_shared: c"hipDeviceSetSharedMemConfig",
    host_function: c"hipLaunchHostFunc",
    exchange_capture_mode: c"hipThreadExchangeStreamCaptureMode",
    event_record_flags: c"hipEventRecordWithFlags",
    stream_id: c"hipStreamGetId",
    launch_cooperative: c"hipModuleLaunchCooperativeKernel",
    // HIP has these for functions that the host registered alone, and they do nothing on AMD GPUs.
    function_set_cache: c"",
    function_set_shared: c"",
    function_parameter: c"",
    available_shared: c"",
    allocate_async: c"hipMallocAsync",
    free_async: c"hipFreeAsync",
    allocate_from_pool: c"hipMallocFromPoolAsync",
    default_pool: c"hipDeviceGetDefaultMemPool",
    pool: c"hipDeviceGetMemPool",
    set_pool: c"hipDeviceSetMemPool",
    pool_create: c"hipMemPoolCreate",
    pool_destroy: c"hipMemPoolDestroy",
    pool_trim: c"hipMemPoolTrimTo",
    pool_attribute: c"hipMemPoolGetAttribute",
    pool_set_attribute: c"hipMemPoolSetAttribute",
};

library! {
    /// The functions that only HIP has, or has in its own way.
    Hip
    needs {
        runtime_version = c"hipRuntimeGetVersion" (*mut i32);
        current = c"hipGetDevice" (*mut i32);
        set_current = c"hipSetDevice" (i32);
        reset = c"hipDeviceReset" ();
        flags = c"hipGetDeviceFlags" (*mut u32);
        set_flags = c"hipSetDeviceFlags" (u32);
        enable_peer = c"hipDeviceEnablePeerAccess" (i32, u32);
        disable_peer = c"hipDeviceDisablePeerAccess" (i32);
        pointer_attribute = c"hipPointerGetAttribute" (*mut c_void, u32, Pointer);
        allocate_pitched = c"hipMallocPitch" (*mut *mut c_void, *mut usize, usize, usize);
        copy = c"hipMemcpy" (*mut c_void, *const c_void, usize, u32);
        copy_async = c"hipMemcpyAsync" (*mut c_void, *const c_void, usize, u32, Handle);
        copy_peer = c"hipMemcpyPeer" (*mut c_void, i32, *const c_void, i32, usize);
        copy_peer_async = c"hipMemcpyPeerAsync" (*mut c_void, i32, *const c_void, i32, usize, Handle);
        copy_2d = c"hipMemcpy2D" (*mut c_void, usize, *const c_void, usize, usize, usize, u32);
        copy_2d_async = c"hipMemcpy2DAsync" (*mut c_void, usize, *const c_void, usize, usize, usize, u32, Handle);
        copy_3d = c"hipMemcpy3D" (*const Copy3d);
        copy_3d_async = c"hipMemcpy3DAsync" (*const Copy3d, Handle);
        fill_2d = c"hipMemset2D" (*mut c_void, usize, i32, usize, usize);
        fill_2d_async = c"hipMemset2DAsync" (*mut c_void, usize, i32, usize, usize, Handle);
        array_create = c"hipMallocArray" (*mut Handle, *const ChannelFormat, usize, usize, u32);
        array_create_3d = c"hipMalloc3DArray" (*mut Handle, *const ChannelFormat, Extent, u32);
        array_destroy = c"hipFreeArray" (Handle);
        copy_to_array = c"hipMemcpy2DToArray" (Handle, usize, usize, *const c_void, usize, usize, usize, u32);
        copy_to_array_async = c"hipMemcpy2DToArrayAsync"
            (Handle, usize, usize, *const c_void, usize, usize, usize, u32, Handle);
        copy_from_array = c"hipMemcpy2DFromArray" (*mut c_void, usize, Handle, usize, usize, usize, usize, u32);
        copy_from_array_async = c"hipMemcpy2DFromArrayAsync"
            (*mut c_void, usize, Handle, usize, usize, usize, usize, u32, Handle);
        module_unload = c"hipModuleUnload" (Handle);
    }
    may_have {
        properties = c"hipGetDeviceProperties" (*mut c_void, i32);
        properties_6 = c"hipGetDevicePropertiesR0600" (*mut c_void, i32);
        stream_device = c"hipStreamGetDevice" (Handle, *mut i32);
    }
}

/// Loads HIP; its functions, and the file that was found. The error says where it was looked for and what the loader
/// answered.
pub fn load() -> Result<(Functions, Hip, String), String> {
    let (library, path) = library::load(&PATHS).map_err(|tried| format!("no AMD HIP library; {tried}"))?;
    // SAFETY: a handle of HIP, never closed.
    let found = unsafe { Functions::find(library, &NAMES).and_then(|common| Ok((common, Hip::find(library)?))) };
    let (common, hip) = found.map_err(|name| too_old(path, name))?;
    Ok((common, hip, path.to_string_lossy().into_owned()))
}
