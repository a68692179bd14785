//! `cudaDeviceProp`, filled from attributes by CUDA's numbers, which are those of `cudaDeviceAttr` and of NVIDIA's
//! driver.

use super::vendor::Vendor;
use crate::error::Result;
use crate::properties::DeviceProp;

/// Where an attribute goes.
type Field = fn(&mut DeviceProp) -> &mut i32;
/// Where an attribute goes that is a size.
type Size = fn(&mut DeviceProp) -> &mut usize;

/// (number of the attribute, field)
const FIELDS: [(u32, Field); 88] = [
    (1, |p| &mut p.maxThreadsPerBlock),
    (2, |p| &mut p.maxThreadsDim[0]),
    (3, |p| &mut p.maxThreadsDim[1]),
    (4, |p| &mut p.maxThreadsDim[2]),
    (5, |p| &mut p.maxGridSize[0]),
    (6, |p| &mut p.maxGridSize[1]),
    (7, |p| &mut p.maxGridSize[2]),
    (10, |p| &mut p.warpSize),
    (12, |p| &mut p.regsPerBlock),
    (13, |p| &mut p.clockRate),
    (15, |p| &mut p.deviceOverlap),
    (16, |p| &mut p.multiProcessorCount),
    (17, |p| &mut p.kernelExecTimeoutEnabled),
    (18, |p| &mut p.integrated),
    (19, |p| &mut p.canMapHostMemory),
    (20, |p| &mut p.computeMode),
    (21, |p| &mut p.maxTexture1D),
    (22, |p| &mut p.maxTexture2D[0]),
    (23, |p| &mut p.maxTexture2D[1]),
    (24, |p| &mut p.maxTexture3D[0]),
    (25, |p| &mut p.maxTexture3D[1]),
    (26, |p| &mut p.maxTexture3D[2]),
    (27, |p| &mut p.maxTexture2DLayered[0]),
    (28, |p| &mut p.maxTexture2DLayered[1]),
    (29, |p| &mut p.maxTexture2DLayered[2]),
    (31, |p| &mut p.concurrentKernels),
    (32, |p| &mut p.ECCEnabled),
    (33, |p| &mut p.pciBusID),
    (34, |p| &mut p.pciDeviceID),
    (35, |p| &mut p.tccDriver),
    (36, |p| &mut p.memoryClockRate),
    (37, |p| &mut p.memoryBusWidth),
    (38, |p| &mut p.l2CacheSize),
    (39, |p| &mut p.maxThreadsPerMultiProcessor),
    (40, |p| &mut p.asyncEngineCount),
    (41, |p| &mut p.unifiedAddressing),
    (42, |p| &mut p.maxTexture1DLayered[0]),
    (43, |p| &mut p.maxTexture1DLayered[1]),
    (45, |p| &mut p.maxTexture2DGather[0]),
    (46, |p| &mut p.maxTexture2DGather[1]),
    (47, |p| &mut p.maxTexture3DAlt[0]),
    (48, |p| &mut p.maxTexture3DAlt[1]),
    (49, |p| &mut p.maxTexture3DAlt[2]),
    (50, |p| &mut p.pciDomainID),
    (52, |p| &mut p.maxTextureCubemap),
    (53, |p| &mut p.maxTextureCubemapLayered[0]),
    (54, |p| &mut p.maxTextureCubemapLayered[1]),
    (55, |p| &mut p.maxSurface1D),
    (56, |p| &mut p.maxSurface2D[0]),
    (57, |p| &mut p.maxSurface2D[1]),
    (58, |p| &mut p.maxSurface3D[0]),
    (59, |p| &mut p.maxSurface3D[1]),
    (60, |p| &mut p.maxSurface3D[2]),
    (61, |p| &mut p.maxSurface1DLayered[0]),
    (62, |p| &mut p.maxSurface1DLayered[1]),
    (63, |p| &mut p.maxSurface2DLayered[0]),
    (64, |p| &mut p.maxSurface2DLayered[1]),
    (65, |p| &mut p.maxSurface2DLayered[2]),
    (66, |p| &mut p.maxSurfaceCubemap),
    (67, |p| &mut p.maxSurfaceCubemapLayered[0]),
    (68, |p| &mut p.maxSurfaceCubemapLayered[1]),
    (69, |p| &mut p.maxTexture1DLinear),
    (70, |p| &mut p.maxTexture2DLinear[0]),
    (71, |p| &mut p.maxTexture2DLinear[1]),
    (72, |p| &mut p.maxTexture2DLinear[2]),
    (73, |p| &mut p.maxTexture2DMipmap[0]),
    (74, |p| &mut p.maxTexture2DMipmap[1]),
    (77, |p| &mut p.maxTexture1DMipmap),
    (78, |p| &mut p.streamPrioritiesSupported),
    (79, |p| &mut p.globalL1CacheSupported),
    (80, |p| &mut p.localL1CacheSupported),
    (82, |p| &mut p.regsPerMultiprocessor),
    (83, |p| &mut p.managedMemory),
    (84, |p| &mut p.isMultiGpuBoard),
    (85, |p| &mut p.multiGpuBoardGroupID),
    (86, |p| &mut p.hostNativeAtomicSupported),
    (87, |p| &mut p.singleToDoublePrecisionPerfRatio),
    (88, |p| &mut p.pageableMemoryAccess),
    (89, |p| &mut p.concurrentManagedAccess),
    (90, |p| &mut p.computePreemptionSupported),
    (91, |p| &mut p.canUseHostPointerForRegisteredMem),
    (95, |p| &mut p.cooperativeLaunch),
    (96, |p| &mut p.cooperativeMultiDeviceLaunch),
    (99, |p| &mut p.hostRegisterSupported),
    (100, |p| &mut p.pageableMemoryAccessUsesHostPageTables),
    (101, |p| &mut p.directManagedMemAccessFromHost),
    (106, |p| &mut p.maxBlocksPerMultiProcessor),
    (108, |p| &mut p.persistingL2CacheMaxSize),
];

/// Attributes that drivers of before some version of CUDA 11 or 12 do not know: 0 there.
const LATER: [(u32, Field); 9] = [
    (109, |p| &mut p.accessPolicyMaxWindowSize),
    (112, |p| &mut p.sparseCudaArraySupported),
    (113, |p| &mut p.hostRegisterReadOnlySupported),
    (114, |p| &mut p.timelineSemaphoreInteropSupported),
    (115, |p| &mut p.memoryPoolsSupported),
    (116, |p| &mut p.gpuDirectRDMASupported),
    (118, |p| &mut p.gpuDirectRDMAWritesOrdering),
    (120, |p| &mut p.clusterLaunch),
    (125, |p| &mut p.ipcEventSupported),
];

const SIZES: [(u32, Size); 9] = [
    (8, |p| &mut p.sharedMemPerBlock),
    (9, |p| &mut p.totalConstMem),
    (11, |p| &mut p.memPitch),
    (14, |p| &mut p.textureAlignment),
    (30, |p| &mut p.surfaceAlignment),
    (51, |p| &mut p.texturePitchAlignment),
    (81, |p| &mut p.sharedMemPerMultiprocessor),
    (97, |p| &mut p.sharedMemPerBlockOptin),
    (111, |p| &mut p.reservedSharedMemPerBlock),
];

/// All figures of a GPU.
pub fn all(device: &impl Vendor, gpu: i32) -> Result<DeviceProp> {
    let number = device.number(gpu)?;
    let mut prop = DeviceProp::zeroed();
    for (which, field) in FIELDS {
        *field(&mut prop) = device.figure(gpu, which)?;
    }
    for (which, field) in LATER {
        *field(&mut prop) = device.figure(gpu, which).unwrap_or(0);
    }
    for (which, field) in SIZES {
        *field(&mut prop) = usize::try_from(device.figure(gpu, which)?).unwrap_or(0);
    }
    (prop.major, prop.minor) = (device.figure(gpu, 75)?, device.figure(gpu, 76)?);
    let functions = device.functions();
    // SAFETY: valid for writes of the sizes given.
    unsafe {
        device.done((functions.device_name)(prop.name.as_mut_ptr(), prop.name.len() as i32, number))?;
        if let Some(uuid) = functions.device_uuid {
            device.done(uuid(&raw mut prop.uuid, number))?;
        }
        device.done((functions.device_memory)(&raw mut prop.totalGlobalMem, number))?;
    }
    Ok(prop)
}
