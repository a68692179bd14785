//! The driver library: where it is found, and the functions that are taken from it.

use std::ffi::{CStr, c_char, c_void};

use super::layout::{ArrayDescriptor, Callback, Code, Handle, LaunchConfig, Memcpy2d, Memcpy3d, Pointer};
use crate::types::{Location, PoolProps};

/// Tried in this order; the first is found by the loader's own rules.
const PATHS: [&CStr; 3] = [c"libcuda.so.1", c"/usr/lib/wsl/lib/libcuda.so.1", c"/usr/local/nvidia/lib64/libcuda.so.1"];

/// Declares the table of functions. Those of the second block came with later drivers and may be missing.
macro_rules! driver {
    (needs { $($name:ident = $symbol:literal ($($ty:ty),*);)* } may_have { $($more:ident = $label:literal ($($arg:ty),*);)* }) => {
        /// The functions of the driver library.
        pub struct Driver {
            $(pub $name: unsafe extern "C" fn($($ty),*) -> Code,)*
            $(pub $more: Option<unsafe extern "C" fn($($arg),*) -> Code>,)*
        }

        impl Driver {
            /// Looks the functions up; the error is the name of one that is missing.
            ///
            /// # Safety
            /// `library` is a handle of `dlopen` of the driver library.
            unsafe fn find(library: *mut c_void) -> Result<Self, &'static CStr> {
                // SAFETY: by contract; the signatures are those of the driver's header.
                unsafe {
                    Ok(Self {
                        $($name: symbol(library, $symbol).ok_or($symbol)?,)*
                        $($more: symbol(library, $label),)*
                    })
                }
            }
        }
    };
}

driver! {
    needs {
        init = c"cuInit" (u32);
        driver_version = c"cuDriverGetVersion" (*mut i32);
        device_count = c"cuDeviceGetCount" (*mut i32);
        device = c"cuDeviceGet" (*mut i32, i32);
        device_name = c"cuDeviceGetName" (*mut c_char, i32, i32);
        device_memory = c"cuDeviceTotalMem_v2" (*mut usize, i32);
        device_attribute = c"cuDeviceGetAttribute" (*mut i32, u32, i32);
        device_bus_id = c"cuDeviceGetPCIBusId" (*mut c_char, i32, i32);
        device_uuid = c"cuDeviceGetUuid" (*mut [u8; 16], i32);
        primary_retain = c"cuDevicePrimaryCtxRetain" (*mut Handle, i32);
        primary_release = c"cuDevicePrimaryCtxRelease_v2" (i32);
        primary_reset = c"cuDevicePrimaryCtxReset_v2" (i32);
        primary_set_flags = c"cuDevicePrimaryCtxSetFlags_v2" (i32, u32);
        primary_state = c"cuDevicePrimaryCtxGetState" (i32, *mut u32, *mut i32);
        context_current = c"cuCtxGetCurrent" (*mut Handle);
        context_set_current = c"cuCtxSetCurrent" (Handle);
        context_device = c"cuCtxGetDevice" (*mut i32);
        context_synchronize = c"cuCtxSynchronize" ();
        context_limit = c"cuCtxGetLimit" (*mut usize, u32);
        context_set_limit = c"cuCtxSetLimit" (u32, usize);
        context_cache = c"cuCtxGetCacheConfig" (*mut u32);
        context_set_cache = c"cuCtxSetCacheConfig" (u32);
        stream_priorities = c"cuCtxGetStreamPriorityRange" (*mut i32, *mut i32);
        can_access_peer = c"cuDeviceCanAccessPeer" (*mut i32, i32, i32);
        peer_attribute = c"cuDeviceGetP2PAttribute" (*mut i32, u32, i32, i32);
        enable_peer = c"cuCtxEnablePeerAccess" (Handle, u32);
        disable_peer = c"cuCtxDisablePeerAccess" (Handle);
        allocate = c"cuMemAlloc_v2" (*mut Pointer, usize);
        free = c"cuMemFree_v2" (Pointer);
        allocate_managed = c"cuMemAllocManaged" (*mut Pointer, usize, u32);
        allocate_host = c"cuMemHostAlloc" (*mut *mut c_void, usize, u32);
        free_host = c"cuMemFreeHost" (*mut c_void);
        allocate_pitched = c"cuMemAllocPitch_v2" (*mut Pointer, *mut usize, usize, usize, u32);
        register = c"cuMemHostRegister_v2" (*mut c_void, usize, u32);
        unregister = c"cuMemHostUnregister" (*mut c_void);
        host_pointer = c"cuMemHostGetDevicePointer_v2" (*mut Pointer, *mut c_void, u32);
        host_flags = c"cuMemHostGetFlags" (*mut u32, *mut c_void);
        memory_info = c"cuMemGetInfo_v2" (*mut usize, *mut usize);
        pointer_attributes = c"cuPointerGetAttributes" (u32, *const u32, *mut *mut c_void, Pointer);
        prefetch = c"cuMemPrefetchAsync" (Pointer, usize, i32, Handle);
        advise = c"cuMemAdvise" (Pointer, usize, u32, i32);
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
        fill = c"cuMemsetD8_v2" (Pointer, u8, usize);
        fill_async = c"cuMemsetD8Async" (Pointer, u8, usize, Handle);
        fill_2d = c"cuMemsetD2D8_v2" (Pointer, usize, u8, usize, usize);
        fill_2d_async = c"cuMemsetD2D8Async" (Pointer, usize, u8, usize, usize, Handle);
        stream_create = c"cuStreamCreateWithPriority" (*mut Handle, u32, i32);
        stream_destroy = c"cuStreamDestroy_v2" (Handle);
        stream_synchronize = c"cuStreamSynchronize" (Handle);
        stream_query = c"cuStreamQuery" (Handle);
        stream_flags = c"cuStreamGetFlags" (Handle, *mut u32);
        stream_priority = c"cuStreamGetPriority" (Handle, *mut i32);
        stream_context = c"cuStreamGetCtx" (Handle, *mut Handle);
        stream_wait = c"cuStreamWaitEvent" (Handle, Handle, u32);
        stream_attach = c"cuStreamAttachMemAsync" (Handle, Pointer, usize, u32);
        stream_capturing = c"cuStreamIsCapturing" (Handle, *mut u32);
        stream_callback = c"cuStreamAddCallback" (Handle, Callback, *mut c_void, u32);
        exchange_capture_mode = c"cuThreadExchangeStreamCaptureMode" (*mut u32);
        host_function = c"cuLaunchHostFunc" (Handle, unsafe extern "C" fn(*mut c_void), *mut c_void);
        event_create = c"cuEventCreate" (*mut Handle, u32);
        event_record = c"cuEventRecord" (Handle, Handle);
        event_query = c"cuEventQuery" (Handle);
        event_synchronize = c"cuEventSynchronize" (Handle);
        event_destroy = c"cuEventDestroy_v2" (Handle);
        event_elapsed = c"cuEventElapsedTime" (*mut f32, Handle, Handle);
        array_create = c"cuArray3DCreate_v2" (*mut Handle, *const ArrayDescriptor);
        array_destroy = c"cuArrayDestroy" (Handle);
        array_descriptor = c"cuArray3DGetDescriptor_v2" (*mut ArrayDescriptor, Handle);
        module_load = c"cuModuleLoadData" (*mut Handle, *const c_void);
        module_function = c"cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
        module_variable = c"cuModuleGetGlobal_v2" (*mut Pointer, *mut usize, Handle, *const c_char);
        function_attribute = c"cuFuncGetAttribute" (*mut i32, u32, Handle);
        function_set_attribute = c"cuFuncSetAttribute" (Handle, u32, i32);
        function_set_cache = c"cuFuncSetCacheConfig" (Handle, u32);
        occupancy = c"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags" (*mut i32, Handle, i32, usize, u32);
        launch = c"cuLaunchKernel"
            (Handle, u32, u32, u32, u32, u32, u32, u32, Handle, *mut *mut c_void, *mut *mut c_void);
        launch_cooperative = c"cuLaunchCooperativeKernel"
            (Handle, u32, u32, u32, u32, u32, u32, u32, Handle, *mut *mut c_void);
    }
    may_have {
        context_shared = c"cuCtxGetSharedMemConfig" (*mut u32);
        context_set_shared = c"cuCtxSetSharedMemConfig" (u32);
        function_set_shared = c"cuFuncSetSharedMemConfig" (Handle, u32);
        available_shared = c"cuOccupancyAvailableDynamicSMemPerBlock" (*mut usize, Handle, i32, i32);
        event_record_flags = c"cuEventRecordWithFlags" (Handle, Handle, u32);
        launch_ex = c"cuLaunchKernelEx" (*const LaunchConfig, Handle, *mut *mut c_void, *mut *mut c_void);
        function_parameter = c"cuFuncGetParamInfo" (Handle, usize, *mut usize, *mut usize);
        stream_id = c"cuStreamGetId" (Handle, *mut u64);
        prefetch_v2 = c"cuMemPrefetchAsync_v2" (Pointer, usize, Location, u32, Handle);
        advise_v2 = c"cuMemAdvise_v2" (Pointer, usize, u32, Location);
        allocate_async = c"cuMemAllocAsync" (*mut Pointer, usize, Handle);
        free_async = c"cuMemFreeAsync" (Pointer, Handle);
        allocate_from_pool = c"cuMemAllocFromPoolAsync" (*mut Pointer, usize, Handle, Handle);
        default_pool = c"cuDeviceGetDefaultMemPool" (*mut Handle, i32);
        pool = c"cuDeviceGetMemPool" (*mut Handle, i32);
        set_pool = c"cuDeviceSetMemPool" (i32, Handle);
        pool_create = c"cuMemPoolCreate" (*mut Handle, *const PoolProps);
        pool_destroy = c"cuMemPoolDestroy" (Handle);
        pool_trim = c"cuMemPoolTrimTo" (Handle, usize);
        pool_attribute = c"cuMemPoolGetAttribute" (Handle, u32, *mut c_void);
        pool_set_attribute = c"cuMemPoolSetAttribute" (Handle, u32, *const c_void);
    }
}

/// A function of a library, as a function pointer of type `T`.
///
/// # Safety
/// `library` is a handle of `dlopen`, and `T` is the function pointer type of that symbol.
unsafe fn symbol<T: Copy>(library: *mut c_void, name: &CStr) -> Option<T> {
    const { assert!(size_of::<T>() == size_of::<*mut c_void>()) };
    // SAFETY: by contract; a function pointer has the size and representation of an address.
    unsafe {
        let found = libc::dlsym(library, name.as_ptr());
        (!found.is_null()).then(|| std::mem::transmute_copy(&found))
    }
}

/// Loads the driver library. The error says where it was looked for and what the loader answered.
pub fn load() -> Result<Driver, String> {
    let mut answers = Vec::new();
    for path in PATHS {
        // SAFETY: a C string; the library's constructors are the driver's own.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        if !library.is_null() {
            // SAFETY: a handle of the driver library, never closed.
            return unsafe { Driver::find(library) }.map_err(|name| {
                format!("{} has no function {}: the driver is too old", path.to_string_lossy(), name.to_string_lossy())
            });
        }
        // SAFETY: null, or a C string that is valid until the next call of the loader.
        let answer = unsafe { libc::dlerror().cast_const().as_ref().map(|text| CStr::from_ptr(text)) };
        let answer = answer.map_or_else(|| "no reason given".into(), |text| text.to_string_lossy().into_owned());
        let path = path.to_string_lossy();
        answers.push(if answer.starts_with(&*path) { answer } else { format!("{path}: {answer}") });
    }
    Err(format!("no NVIDIA driver library; tried {}", answers.join("; ")))
}
