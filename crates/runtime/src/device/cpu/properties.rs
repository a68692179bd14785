//! The CPU's `cudaDeviceProp` and attributes.
//!
//! Figures that a CPU has are measured or asked from the system; limits follow the architecture (`limits.rs`). Clock rates are nominal: the device clock counts nanoseconds.
//!
//! All of them stay as they are while the program runs, so the system is asked once: libraries ask for attributes at each call of an
//! algorithm, and the text that the processor's name is read from takes longer to make than a million numbers to add.

use std::ffi::c_int;
use std::sync::OnceLock;

use super::{caches, checks, limits};
use crate::error::CudaError;
use crate::properties::DeviceProp;

/// Nominal clock of the device in kHz: `clock64()` counts nanoseconds.
const CLOCK_KHZ: i32 = 1_000_000;

/// `Regrain CPU (<model>)`.
fn device_name() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    format!("Regrain CPU ({})", model.map_or(std::env::consts::ARCH, |(_, name)| name.trim()))
}

/// The figures of the one device.
pub fn properties() -> &'static DeviceProp {
    static PROPERTIES: OnceLock<DeviceProp> = OnceLock::new();
    PROPERTIES.get_or_init(ask)
}

fn ask() -> DeviceProp {
    let (shared_per_sm, optin, threads_per_sm, blocks_per_sm) = limits::sm_limits();
    let arch = limits::arch() as i32;
    // A checker takes the host's memory for what it is on a GPU.
    let pageable = i32::from(checks::checker().is_none());
    let mut prop = DeviceProp {
        totalGlobalMem: limits::total_memory(),
        sharedMemPerBlock: limits::SHARED_PER_BLOCK as usize,
        regsPerBlock: limits::REGISTERS,
        warpSize: 32,
        memPitch: i32::MAX as usize,
        maxThreadsPerBlock: limits::MAX_THREADS_PER_BLOCK as i32,
        maxThreadsDim: [1024, 1024, 64],
        maxGridSize: [i32::MAX, 65535, 65535],
        clockRate: CLOCK_KHZ,
        totalConstMem: 65536,
        major: arch / 100,
        minor: arch / 10 % 10,
        textureAlignment: 512,
        texturePitchAlignment: 32,
        deviceOverlap: 1,
        multiProcessorCount: limits::multiprocessors() as i32,
        integrated: 1,
        canMapHostMemory: 1,
        surfaceAlignment: 512,
        concurrentKernels: 1,
        asyncEngineCount: 1,
        unifiedAddressing: 1,
        memoryClockRate: CLOCK_KHZ,
        memoryBusWidth: 128,
        l2CacheSize: caches::last_cache().min(i32::MAX as u64) as i32,
        maxThreadsPerMultiProcessor: threads_per_sm as i32,
        streamPrioritiesSupported: 1,
        globalL1CacheSupported: 1,
        localL1CacheSupported: 1,
        sharedMemPerMultiprocessor: shared_per_sm as usize,
        regsPerMultiprocessor: limits::REGISTERS,
        managedMemory: 1,
        hostNativeAtomicSupported: 1,
        singleToDoublePrecisionPerfRatio: 2,
        pageableMemoryAccess: pageable,
        concurrentManagedAccess: 1,
        computePreemptionSupported: 1,
        canUseHostPointerForRegisteredMem: 1,
        cooperativeLaunch: 1,
        sharedMemPerBlockOptin: optin as usize,
        pageableMemoryAccessUsesHostPageTables: pageable,
        directManagedMemAccessFromHost: 1,
        maxBlocksPerMultiProcessor: blocks_per_sm as i32,
        hostRegisterSupported: 1,
        ipcEventSupported: 1,
        memoryPoolsSupported: 1,
        unifiedFunctionPointers: 0,
        ..DeviceProp::zeroed()
    };
    set_texture_limits(&mut prop);
    prop.set_name(&device_name());
    prop.uuid = *b"regrain-cpu-0000";
    prop
}

/// What compute capability 8.0 has (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
fn set_texture_limits(prop: &mut DeviceProp) {
    prop.maxTexture1D = 131_072;
    prop.maxTexture1DMipmap = 32_768;
    prop.maxTexture1DLinear = 1 << 28;
    prop.maxTexture2D = [131_072, 65_536];
    prop.maxTexture2DLinear = [131_072, 65_000, 2_097_120];
    prop.maxTexture2DMipmap = [32_768, 32_768];
    prop.maxTexture2DGather = [32_768, 32_768];
    prop.maxTexture3D = [16_384, 16_384, 16_384];
    prop.maxTexture3DAlt = [8_192, 8_192, 32_768];
    prop.maxTextureCubemap = 32_768;
    prop.maxTexture1DLayered = [32_768, 2_048];
    prop.maxTexture2DLayered = [32_768, 32_768, 2_048];
    prop.maxTextureCubemapLayered = [32_768, 2_046];
    prop.maxSurface1D = 32_768;
    prop.maxSurface2D = [131_072, 65_536];
    prop.maxSurface3D = [16_384, 16_384, 16_384];
    prop.maxSurface1DLayered = [32_768, 2_048];
    prop.maxSurface2DLayered = [32_768, 32_768, 2_048];
    prop.maxSurfaceCubemap = 32_768;
    prop.maxSurfaceCubemapLayered = [32_768, 2_046];
}

/// Attributes of the driver alone: virtual memory, and that other processes get it as files.
const VIRTUAL_MEMORY: u32 = 102;
const SHARED_BY_FILES: u32 = 103;
/// Likewise: streams that wait for values in memory and write some, of 64 bits, and with `CU_STREAM_WAIT_VALUE_NOR`, as first and as now.
const VALUES_IN_STREAMS: [u32; 5] = [92, 93, 94, 122, 123];

/// The value of a `cudaDeviceAttr`; attributes of features that are not there are 0.
pub fn attribute(which: u32) -> Result<c_int, CudaError> {
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
        27..=29 => prop.maxTexture2DLayered[which as usize - 27],
        30 => prop.surfaceAlignment as c_int,
        31 => prop.concurrentKernels,
        36 => prop.memoryClockRate,
        37 => prop.memoryBusWidth,
        38 => prop.l2CacheSize,
        39 => prop.maxThreadsPerMultiProcessor,
        40 => prop.asyncEngineCount,
        41 => prop.unifiedAddressing,
        42 | 43 => prop.maxTexture1DLayered[which as usize - 42],
        45 | 46 => prop.maxTexture2DGather[which as usize - 45],
        47..=49 => prop.maxTexture3DAlt[which as usize - 47],
        51 => prop.texturePitchAlignment as c_int,
        52 => prop.maxTextureCubemap,
        53 | 54 => prop.maxTextureCubemapLayered[which as usize - 53],
        55 => prop.maxSurface1D,
        56 | 57 => prop.maxSurface2D[which as usize - 56],
        58..=60 => prop.maxSurface3D[which as usize - 58],
        61 | 62 => prop.maxSurface1DLayered[which as usize - 61],
        63..=65 => prop.maxSurface2DLayered[which as usize - 63],
        66 => prop.maxSurfaceCubemap,
        67 | 68 => prop.maxSurfaceCubemapLayered[which as usize - 67],
        69 => prop.maxTexture1DLinear,
        70..=72 => prop.maxTexture2DLinear[which as usize - 70],
        73 | 74 => prop.maxTexture2DMipmap[which as usize - 73],
        77 => prop.maxTexture1DMipmap,
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
        VIRTUAL_MEMORY | SHARED_BY_FILES => 1,
        _ if VALUES_IN_STREAMS.contains(&which) => 1,
        106 => prop.maxBlocksPerMultiProcessor,
        115 => prop.memoryPoolsSupported,
        125 => prop.ipcEventSupported,
        131 | 134 => -1,
        17 | 20 | 27..=143 => 0,
        _ => return Err(CudaError::INVALID_VALUE),
    })
}
