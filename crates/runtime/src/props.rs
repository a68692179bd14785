//! `cudaDeviceProp` and `cudaDeviceGetAttribute`.
//!
//! Figures that a CPU has are measured or asked from the system; limits follow the architecture (`device.rs`). Texture limits are those
//! of the arrays that can be allocated. Clock rates are nominal: the device clock counts nanoseconds.

use std::ffi::{c_char, c_int};

use crate::device::{self, check_device};
use crate::error::CudaError;
use crate::macros::{cuda_api, put};

/// `cudaDeviceProp` of CUDA 12, field by field in the header's order and spelling.
#[repr(C)]
#[allow(non_snake_case)]
#[derive(Clone)]
pub struct DeviceProp {
    pub name: [c_char; 256],
    pub uuid: [u8; 16],
    pub luid: [c_char; 8],
    pub luidDeviceNodeMask: u32,
    pub totalGlobalMem: usize,
    pub sharedMemPerBlock: usize,
    pub regsPerBlock: i32,
    pub warpSize: i32,
    pub memPitch: usize,
    pub maxThreadsPerBlock: i32,
    pub maxThreadsDim: [i32; 3],
    pub maxGridSize: [i32; 3],
    pub clockRate: i32,
    pub totalConstMem: usize,
    pub major: i32,
    pub minor: i32,
    pub textureAlignment: usize,
    pub texturePitchAlignment: usize,
    pub deviceOverlap: i32,
    pub multiProcessorCount: i32,
    pub kernelExecTimeoutEnabled: i32,
    pub integrated: i32,
    pub canMapHostMemory: i32,
    pub computeMode: i32,
    pub maxTexture1D: i32,
    pub maxTexture1DMipmap: i32,
    pub maxTexture1DLinear: i32,
    pub maxTexture2D: [i32; 2],
    pub maxTexture2DMipmap: [i32; 2],
    pub maxTexture2DLinear: [i32; 3],
    pub maxTexture2DGather: [i32; 2],
    pub maxTexture3D: [i32; 3],
    pub maxTexture3DAlt: [i32; 3],
    pub maxTextureCubemap: i32,
    pub maxTexture1DLayered: [i32; 2],
    pub maxTexture2DLayered: [i32; 3],
    pub maxTextureCubemapLayered: [i32; 2],
    pub maxSurface1D: i32,
    pub maxSurface2D: [i32; 2],
    pub maxSurface3D: [i32; 3],
    pub maxSurface1DLayered: [i32; 2],
    pub maxSurface2DLayered: [i32; 3],
    pub maxSurfaceCubemap: i32,
    pub maxSurfaceCubemapLayered: [i32; 2],
    pub surfaceAlignment: usize,
    pub concurrentKernels: i32,
    pub ECCEnabled: i32,
    pub pciBusID: i32,
    pub pciDeviceID: i32,
    pub pciDomainID: i32,
    pub tccDriver: i32,
    pub asyncEngineCount: i32,
    pub unifiedAddressing: i32,
    pub memoryClockRate: i32,
    pub memoryBusWidth: i32,
    pub l2CacheSize: i32,
    pub persistingL2CacheMaxSize: i32,
    pub maxThreadsPerMultiProcessor: i32,
    pub streamPrioritiesSupported: i32,
    pub globalL1CacheSupported: i32,
    pub localL1CacheSupported: i32,
    pub sharedMemPerMultiprocessor: usize,
    pub regsPerMultiprocessor: i32,
    pub managedMemory: i32,
    pub isMultiGpuBoard: i32,
    pub multiGpuBoardGroupID: i32,
    pub hostNativeAtomicSupported: i32,
    pub singleToDoublePrecisionPerfRatio: i32,
    pub pageableMemoryAccess: i32,
    pub concurrentManagedAccess: i32,
    pub computePreemptionSupported: i32,
    pub canUseHostPointerForRegisteredMem: i32,
    pub cooperativeLaunch: i32,
    pub cooperativeMultiDeviceLaunch: i32,
    pub sharedMemPerBlockOptin: usize,
    pub pageableMemoryAccessUsesHostPageTables: i32,
    pub directManagedMemAccessFromHost: i32,
    pub maxBlocksPerMultiProcessor: i32,
    pub accessPolicyMaxWindowSize: i32,
    pub reservedSharedMemPerBlock: usize,
    pub hostRegisterSupported: i32,
    pub sparseCudaArraySupported: i32,
    pub hostRegisterReadOnlySupported: i32,
    pub timelineSemaphoreInteropSupported: i32,
    pub memoryPoolsSupported: i32,
    pub gpuDirectRDMASupported: i32,
    pub gpuDirectRDMAFlushWritesOptions: u32,
    pub gpuDirectRDMAWritesOrdering: i32,
    pub memoryPoolSupportedHandleTypes: u32,
    pub deferredMappingCudaArraySupported: i32,
    pub ipcEventSupported: i32,
    pub clusterLaunch: i32,
    pub unifiedFunctionPointers: i32,
    pub reserved: [i32; 63],
}

const _: () = assert!(size_of::<DeviceProp>() == 1032);

/// Nominal clock of the device in kHz: `clock64()` counts nanoseconds.
const CLOCK_KHZ: i32 = 1_000_000;

/// `Regrain CPU (<model>)`.
fn device_name() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    format!("Regrain CPU ({})", model.map_or(std::env::consts::ARCH, |(_, name)| name.trim()))
}

fn cache_size() -> i32 {
    // SAFETY: `sysconf` without preconditions.
    let sizes = unsafe { [libc::sysconf(libc::_SC_LEVEL3_CACHE_SIZE), libc::sysconf(libc::_SC_LEVEL2_CACHE_SIZE)] };
    sizes.into_iter().find(|size| *size > 0).map_or(1 << 20, |size| size.min(i32::MAX.into()) as i32)
}

fn zeroed() -> DeviceProp {
    // SAFETY: all fields are integers or arrays of them.
    unsafe { std::mem::zeroed() }
}

pub fn properties() -> DeviceProp {
    let (shared_per_sm, optin, threads_per_sm, blocks_per_sm) = device::sm_limits();
    let arch = device::arch() as i32;
    let mut prop = DeviceProp {
        totalGlobalMem: device::total_memory(),
        sharedMemPerBlock: device::SHARED_PER_BLOCK as usize,
        regsPerBlock: device::REGISTERS,
        warpSize: 32,
        memPitch: i32::MAX as usize,
        maxThreadsPerBlock: device::MAX_THREADS_PER_BLOCK as i32,
        maxThreadsDim: [1024, 1024, 64],
        maxGridSize: [i32::MAX, 65535, 65535],
        clockRate: CLOCK_KHZ,
        totalConstMem: 65536,
        major: arch / 100,
        minor: arch / 10 % 10,
        textureAlignment: 512,
        texturePitchAlignment: 32,
        deviceOverlap: 1,
        multiProcessorCount: device::multiprocessors() as i32,
        integrated: 1,
        canMapHostMemory: 1,
        surfaceAlignment: 512,
        concurrentKernels: 1,
        asyncEngineCount: 1,
        unifiedAddressing: 1,
        memoryClockRate: CLOCK_KHZ,
        memoryBusWidth: 128,
        l2CacheSize: cache_size(),
        maxThreadsPerMultiProcessor: threads_per_sm as i32,
        streamPrioritiesSupported: 1,
        globalL1CacheSupported: 1,
        localL1CacheSupported: 1,
        sharedMemPerMultiprocessor: shared_per_sm as usize,
        regsPerMultiprocessor: device::REGISTERS,
        managedMemory: 1,
        hostNativeAtomicSupported: 1,
        singleToDoublePrecisionPerfRatio: 2,
        pageableMemoryAccess: 1,
        concurrentManagedAccess: 1,
        computePreemptionSupported: 1,
        canUseHostPointerForRegisteredMem: 1,
        cooperativeLaunch: 1,
        sharedMemPerBlockOptin: optin as usize,
        pageableMemoryAccessUsesHostPageTables: 1,
        directManagedMemAccessFromHost: 1,
        maxBlocksPerMultiProcessor: blocks_per_sm as i32,
        hostRegisterSupported: 1,
        memoryPoolsSupported: 1,
        unifiedFunctionPointers: 0,
        ..zeroed()
    };
    set_texture_limits(&mut prop);
    for (to, from) in prop.name.iter_mut().zip(device_name().bytes().take(255)) {
        *to = from as c_char;
    }
    prop.uuid = *b"regrain-cpu-0000";
    prop
}

fn set_texture_limits(prop: &mut DeviceProp) {
    prop.maxTexture1D = 131_072;
    prop.maxTexture1DLinear = 1 << 28;
    prop.maxTexture2D = [131_072, 65_536];
    prop.maxTexture2DLinear = [131_072, 65_000, 2_097_120];
    prop.maxTexture3D = [16_384, 16_384, 16_384];
}

/// The value of a `cudaDeviceAttr`; attributes of features that are not there are 0.
fn attribute(which: u32) -> Result<c_int, CudaError> {
    let prop = properties();
    Ok(match which {
        1 => prop.maxThreadsPerBlock,
        2..=4 => prop.maxThreadsDim[which as usize - 2],
        5..=7 => prop.maxGridSize[which as usize - 5],
        8 => prop.sharedMemPerBlock as c_int,
        9 => prop.totalConstMem as c_int,
        10 => prop.warpSize,
        11 => prop.memPitch as c_int,
        12 => prop.regsPerBlock,
        13 => prop.clockRate,
        14 => prop.textureAlignment as c_int,
        15 => prop.deviceOverlap,
        16 => prop.multiProcessorCount,
        18 => prop.integrated,
        19 => prop.canMapHostMemory,
        21 => prop.maxTexture1D,
        22 | 23 => prop.maxTexture2D[which as usize - 22],
        24..=26 => prop.maxTexture3D[which as usize - 24],
        30 => prop.surfaceAlignment as c_int,
        31 => prop.concurrentKernels,
        36 => prop.memoryClockRate,
        37 => prop.memoryBusWidth,
        38 => prop.l2CacheSize,
        39 => prop.maxThreadsPerMultiProcessor,
        40 => prop.asyncEngineCount,
        41 => prop.unifiedAddressing,
        51 => prop.texturePitchAlignment as c_int,
        69 => prop.maxTexture1DLinear,
        70..=72 => prop.maxTexture2DLinear[which as usize - 70],
        75 => prop.major,
        76 => prop.minor,
        78 => prop.streamPrioritiesSupported,
        79 => prop.globalL1CacheSupported,
        80 => prop.localL1CacheSupported,
        81 => prop.sharedMemPerMultiprocessor as c_int,
        82 => prop.regsPerMultiprocessor,
        83 => prop.managedMemory,
        86 => prop.hostNativeAtomicSupported,
        87 => prop.singleToDoublePrecisionPerfRatio,
        88 => prop.pageableMemoryAccess,
        89 => prop.concurrentManagedAccess,
        90 => prop.computePreemptionSupported,
        91 => prop.canUseHostPointerForRegisteredMem,
        95 => prop.cooperativeLaunch,
        97 => prop.sharedMemPerBlockOptin as c_int,
        99 => prop.hostRegisterSupported,
        100 => prop.pageableMemoryAccessUsesHostPageTables,
        101 => prop.directManagedMemAccessFromHost,
        106 => prop.maxBlocksPerMultiProcessor,
        115 => prop.memoryPoolsSupported,
        131 | 134 => -1,
        17 | 20 | 27..=143 => 0,
        _ => return Err(CudaError::INVALID_VALUE),
    })
}

/// `cudaDeviceP2PAttr` has four values; one device has no peer.
const P2P_ATTRIBUTES: u32 = 4;

cuda_api! {
    fn cudaGetDeviceProperties_v2(prop: *mut DeviceProp, device: i32) {
        if prop.is_null() { return Err(CudaError::INVALID_VALUE); }
        check_device(device)?;
        put(prop, properties())
    }

    fn cudaDeviceGetAttribute(value: *mut i32, which: u32, device: i32) {
        check_device(device)?;
        put(value, attribute(which)?)
    }

    fn cudaDeviceGetP2PAttribute(value: *mut i32, which: u32, from: i32, to: i32) {
        check_device(from)?;
        check_device(to)?;
        if from == to || which == 0 || which > P2P_ATTRIBUTES { return Err(CudaError::INVALID_VALUE); }
        put(value, 0)
    }

    fn cudaChooseDevice(device: *mut i32, prop: *const DeviceProp) {
        if prop.is_null() { return Err(CudaError::INVALID_VALUE); }
        put(device, 0)
    }

    fn cudaDeviceGetPCIBusId(text: *mut c_char, len: i32, device: i32) {
        check_device(device)?;
        let id = b"0000:00:00.0\0";
        if text.is_null() || len < id.len() as i32 { return Err(CudaError::INVALID_VALUE); }
        std::ptr::copy_nonoverlapping(id.as_ptr().cast(), text, id.len());
        Ok(())
    }
}
