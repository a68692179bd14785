//! `cudaDeviceProp`.

use std::ffi::c_char;

/// `cudaDeviceProp` of CUDA 12, field by field in the header's order and spelling.
#[repr(C)]
#[allow(non_snake_case, reason = "CUDA's names")]
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

impl DeviceProp {
    /// All zero.
    pub fn zeroed() -> Self {
        // SAFETY: all fields are integers or arrays of them.
        unsafe { std::mem::zeroed() }
    }

    /// Sets the name, cut to what fits.
    pub fn set_name(&mut self, name: &str) {
        for (to, from) in self.name.iter_mut().zip(name.bytes().take(255)) {
            *to = from as c_char;
        }
    }
}

/// Defines the layout of another version of CUDA: fields that [`DeviceProp`] has as well, and those that are zero here.
macro_rules! layout {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $ty:ty,)* } zero { $($zero:ident: $zero_ty:ty,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[allow(non_snake_case, reason = "CUDA's names")]
        pub struct $name {
            $(pub $field: $ty,)*
            $(pub $zero: $zero_ty,)*
        }

        impl From<DeviceProp> for $name {
            fn from(prop: DeviceProp) -> Self {
                // SAFETY: all fields are integers or arrays of them.
                let mut made: Self = unsafe { std::mem::zeroed() };
                $(made.$field = prop.$field;)*
                made
            }
        }
    };
}

layout! {
    /// `cudaDeviceProp` of CUDA 13, which took what had been deprecated out of the middle.
    DeviceProp13 {
        name: [c_char; 256],
        uuid: [u8; 16],
        luid: [c_char; 8],
        luidDeviceNodeMask: u32,
        totalGlobalMem: usize,
        sharedMemPerBlock: usize,
        regsPerBlock: i32,
        warpSize: i32,
        memPitch: usize,
        maxThreadsPerBlock: i32,
        maxThreadsDim: [i32; 3],
        maxGridSize: [i32; 3],
        totalConstMem: usize,
        major: i32,
        minor: i32,
        textureAlignment: usize,
        texturePitchAlignment: usize,
        multiProcessorCount: i32,
        integrated: i32,
        canMapHostMemory: i32,
        maxTexture1D: i32,
        maxTexture1DMipmap: i32,
        maxTexture2D: [i32; 2],
        maxTexture2DMipmap: [i32; 2],
        maxTexture2DLinear: [i32; 3],
        maxTexture2DGather: [i32; 2],
        maxTexture3D: [i32; 3],
        maxTexture3DAlt: [i32; 3],
        maxTextureCubemap: i32,
        maxTexture1DLayered: [i32; 2],
        maxTexture2DLayered: [i32; 3],
        maxTextureCubemapLayered: [i32; 2],
        maxSurface1D: i32,
        maxSurface2D: [i32; 2],
        maxSurface3D: [i32; 3],
        maxSurface1DLayered: [i32; 2],
        maxSurface2DLayered: [i32; 3],
        maxSurfaceCubemap: i32,
        maxSurfaceCubemapLayered: [i32; 2],
        surfaceAlignment: usize,
        concurrentKernels: i32,
        ECCEnabled: i32,
        pciBusID: i32,
        pciDeviceID: i32,
        pciDomainID: i32,
        tccDriver: i32,
        asyncEngineCount: i32,
        unifiedAddressing: i32,
        memoryBusWidth: i32,
        l2CacheSize: i32,
        persistingL2CacheMaxSize: i32,
        maxThreadsPerMultiProcessor: i32,
        streamPrioritiesSupported: i32,
        globalL1CacheSupported: i32,
        localL1CacheSupported: i32,
        sharedMemPerMultiprocessor: usize,
        regsPerMultiprocessor: i32,
        managedMemory: i32,
        isMultiGpuBoard: i32,
        multiGpuBoardGroupID: i32,
        hostNativeAtomicSupported: i32,
        pageableMemoryAccess: i32,
        concurrentManagedAccess: i32,
        computePreemptionSupported: i32,
        canUseHostPointerForRegisteredMem: i32,
        cooperativeLaunch: i32,
        sharedMemPerBlockOptin: usize,
        pageableMemoryAccessUsesHostPageTables: i32,
        directManagedMemAccessFromHost: i32,
        maxBlocksPerMultiProcessor: i32,
        accessPolicyMaxWindowSize: i32,
        reservedSharedMemPerBlock: usize,
        hostRegisterSupported: i32,
        sparseCudaArraySupported: i32,
        hostRegisterReadOnlySupported: i32,
        timelineSemaphoreInteropSupported: i32,
        memoryPoolsSupported: i32,
        gpuDirectRDMASupported: i32,
        gpuDirectRDMAFlushWritesOptions: u32,
        gpuDirectRDMAWritesOrdering: i32,
        memoryPoolSupportedHandleTypes: u32,
        deferredMappingCudaArraySupported: i32,
        ipcEventSupported: i32,
        clusterLaunch: i32,
        unifiedFunctionPointers: i32,
    }
    zero {
        deviceNumaConfig: i32,
        deviceNumaId: i32,
        mpsEnabled: i32,
        hostNumaId: i32,
        gpuPciDeviceID: u32,
        gpuPciSubsystemID: u32,
        hostNumaMultinodeIpcSupported: i32,
        reserved: [i32; 56],
    }
}

const _: () = assert!(size_of::<DeviceProp13>() == 1008);
const _: () = assert!(std::mem::offset_of!(DeviceProp13, multiProcessorCount) == 384);
const _: () = assert!(std::mem::offset_of!(DeviceProp13, reserved) == 784);
