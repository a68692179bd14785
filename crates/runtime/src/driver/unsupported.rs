//! Functions of CUDA's driver that no device but NVIDIA's carries out: each returns `CUDA_ERROR_NOT_SUPPORTED`.
//!
//! They are present so that a program that only tries them links and can fall back: the forms of before CUDA 3.2,
//! whose addresses have 32 bits,
//! texture references, external memory, green contexts, some parts of graphs, what is shared with
//! OpenGL, EGL
//! and VDPAU. Where the device of the process is NVIDIA's they go on to NVIDIA's function of that name, whatever its
//! parameters.

use std::arch::naked_asm;
use std::ffi::c_void;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::entry::{Entry, c_name};
use crate::device::cuda::driver_function;
use crate::error::CudaError;

/// What they return where there is no such function. Under the C calling conventions of the supported processors a
/// function may ignore its
/// arguments, so one serves all.
pub extern "C" fn refuse() -> u32 {
    CudaError::NOT_SUPPORTED.0
}

/// A name, and the address to go on to; null where the device of the process is not NVIDIA's.
struct Row {
    name: &'static str,
    real: &'static AtomicPtr<c_void>,
}

/// Looks up all functions of NVIDIA's library.
pub fn connect() {
    static CONNECTED: Once = Once::new();
    CONNECTED.call_once(|| {
        for row in ROWS {
            if let Some(found) = driver_function(c_name(row.name)) {
                row.real.store(found.cast_mut(), Ordering::Release);
            }
        }
    });
}

macro_rules! unsupported {
    ($($name:ident)*) => {
        static ROWS: &[Row] = &[$(Row { name: concat!(stringify!($name), "\0"), real: &real::$name }),*];
        /// What is exported here.
        pub static ENTRIES: &[Entry] = &[$(Entry {
            name: stringify!($name),
            address: $name as *const c_void,
        }),*];

        #[allow(non_upper_case_globals, reason = "CUDA's names")]
        mod real {
            use super::{AtomicPtr, c_void};
            $(pub static $name: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());)*
        }

        $(
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            #[allow(non_snake_case, reason = "CUDA's names")]
            extern "C" fn $name() -> u32 {
                #[cfg(target_arch = "x86_64")]
                naked_asm!(
                    "mov r11, qword ptr [rip + {real}]",
                    "test r11, r11",
                    "jz {refuse}",
                    "jmp r11",
                    real = sym real::$name,
                    refuse = sym refuse,
                );
                #[cfg(target_arch = "aarch64")]
                naked_asm!(
                    "adrp x16, {real}",
                    "ldr x16, [x16, :lo12:{real}]",
                    "cbz x16, 2f",
                    "br x16",
                    "2: b {refuse}",
                    real = sym real::$name,
                    refuse = sym refuse,
                );
            }
        )*
    };
}

unsupported! {
    cuGraphMemcpyNodeGetParams cuArray3DCreate cuArray3DGetDescriptor cuArrayCreate cuArrayGetDescriptor
    cuArrayGetMemoryRequirements cuArrayGetPlane cuArrayGetSparseProperties cuCheckpointProcessCheckpoint
    cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessGetState cuCheckpointProcessLock cuCheckpointProcessRestore
    cuCheckpointProcessUnlock cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal cuCoredumpSetAttribute
    cuCoredumpSetAttributeGlobal cuCtxFromGreenCtx cuCtxGetDevResource cuCtxGetExecAffinity cuCtxRecordEvent
    cuCtxWaitEvent cuDestroyExternalMemory cuDestroyExternalSemaphore cuDevResourceGenerateDesc
    cuDevSmResourceSplitByCount cuDeviceGetDevResource cuDeviceGetHostAtomicCapabilities cuDeviceGetLuid
    cuDeviceGetNvSciSyncAttributes cuDeviceGetP2PAtomicCapabilities cuDeviceRegisterAsyncNotification cuDeviceTotalMem
    cuDeviceUnregisterAsyncNotification cuEGLStreamConsumerAcquireFrame cuEGLStreamConsumerConnect
    cuEGLStreamConsumerConnectWithFlags cuEGLStreamConsumerDisconnect cuEGLStreamConsumerReleaseFrame
    cuEGLStreamProducerConnect cuEGLStreamProducerDisconnect cuEGLStreamProducerPresentFrame
    cuEGLStreamProducerReturnFrame cuEventCreateFromEGLSync cuExternalMemoryGetMappedBuffer
    cuExternalMemoryGetMappedMipmappedArray cuFlushGPUDirectRDMAWrites cuFuncSetBlockShape cuFuncSetSharedSize
    cuGLCtxCreate cuGLCtxCreate_v2 cuGLGetDevices cuGLGetDevices_v2 cuGLInit cuGLMapBufferObject
    cuGLMapBufferObjectAsync cuGLMapBufferObjectAsync_v2 cuGLMapBufferObjectAsync_v2_ptsz cuGLMapBufferObject_v2
    cuGLMapBufferObject_v2_ptds cuGLRegisterBufferObject cuGLSetBufferObjectMapFlags cuGLUnmapBufferObject
    cuGLUnmapBufferObjectAsync cuGLUnregisterBufferObject cuGetExportTable cuGraphAddBatchMemOpNode
    cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode cuGraphAddKernelNode cuGraphAddNode
    cuGraphAddNode_v2 cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams cuGraphConditionalHandleCreate
    cuGraphExecBatchMemOpNodeSetParams cuGraphExecExternalSemaphoresSignalNodeSetParams
    cuGraphExecExternalSemaphoresWaitNodeSetParams cuGraphExecKernelNodeSetParams cuGraphExecNodeSetParams
    cuGraphExternalSemaphoresSignalNodeGetParams cuGraphExternalSemaphoresSignalNodeSetParams
    cuGraphExternalSemaphoresWaitNodeGetParams cuGraphExternalSemaphoresWaitNodeSetParams cuGraphKernelNodeGetParams
    cuGraphKernelNodeSetParams cuGraphNodeSetParams cuGraphicsEGLRegisterImage cuGraphicsGLRegisterBuffer
    cuGraphicsGLRegisterImage cuGraphicsMapResources cuGraphicsMapResources_ptsz cuGraphicsResourceGetMappedEglFrame
    cuGraphicsResourceGetMappedMipmappedArray cuGraphicsResourceGetMappedPointer cuGraphicsResourceGetMappedPointer_v2
    cuGraphicsResourceSetMapFlags cuGraphicsResourceSetMapFlags_v2 cuGraphicsSubResourceGetMappedArray
    cuGraphicsUnmapResources cuGraphicsUnmapResources_ptsz cuGraphicsUnregisterResource
    cuGraphicsVDPAURegisterOutputSurface cuGraphicsVDPAURegisterVideoSurface cuGreenCtxCreate cuGreenCtxDestroy
    cuGreenCtxGetDevResource cuGreenCtxGetId cuGreenCtxRecordEvent cuGreenCtxStreamCreate cuGreenCtxWaitEvent
    cuImportExternalMemory cuImportExternalSemaphore cuLaunch cuLaunchCooperativeKernelMultiDevice cuLaunchGrid
    cuLaunchGridAsync cuLibraryGetManaged cuLibraryGetUnifiedFunction cuLogsCurrent cuLogsDumpToFile cuLogsDumpToMemory
    cuLogsRegisterCallback cuLogsUnregisterCallback cuMemAlloc cuMemAllocHost cuMemAllocPitch cuMemBatchDecompressAsync
    cuMemBatchDecompressAsync_ptsz cuMemDiscardAndPrefetchBatchAsync cuMemDiscardAndPrefetchBatchAsync_ptsz
    cuMemDiscardBatchAsync cuMemDiscardBatchAsync_ptsz cuMemFree cuMemGetAddressRange cuMemGetDefaultMemPool
    cuMemGetHandleForAddressRange cuMemGetInfo cuMemGetMemPool cuMemHostGetDevicePointer cuMemMapArrayAsync
    cuMemMapArrayAsync_ptsz cuMemPoolExportPointer cuMemPoolExportToShareableHandle cuMemPoolImportFromShareableHandle
    cuMemPoolImportPointer cuMemPrefetchBatchAsync cuMemPrefetchBatchAsync_ptsz cuMemSetMemPool cuMemcpy2D
    cuMemcpy2DAsync cuMemcpy2DUnaligned cuMemcpy3D cuMemcpy3DAsync cuMemcpy3DBatchAsync cuMemcpy3DBatchAsync_ptsz
    cuMemcpy3DBatchAsync_v2 cuMemcpy3DBatchAsync_v2_ptsz cuMemcpyAtoA cuMemcpyAtoD cuMemcpyAtoH cuMemcpyAtoHAsync
    cuMemcpyBatchAsync cuMemcpyBatchAsync_ptsz cuMemcpyBatchAsync_v2 cuMemcpyBatchAsync_v2_ptsz cuMemcpyDtoA
    cuMemcpyDtoD cuMemcpyDtoDAsync cuMemcpyDtoH cuMemcpyDtoHAsync cuMemcpyHtoA cuMemcpyHtoAAsync cuMemcpyHtoD
    cuMemcpyHtoDAsync cuMemsetD16 cuMemsetD2D16 cuMemsetD2D32 cuMemsetD2D8 cuMemsetD32 cuMemsetD8
    cuMipmappedArrayGetMemoryRequirements cuMipmappedArrayGetSparseProperties cuModuleGetGlobal cuModuleGetSurfRef
    cuModuleGetTexRef cuMulticastAddDevice cuMulticastBindAddr cuMulticastBindMem cuMulticastCreate
    cuMulticastGetGranularity cuMulticastUnbind cuOccupancyMaxActiveClusters cuOccupancyMaxPotentialClusterSize
    cuParamSetSize cuParamSetTexRef cuParamSetf cuParamSeti cuParamSetv cuSignalExternalSemaphoresAsync
    cuSignalExternalSemaphoresAsync_ptsz cuStreamBeginCaptureToGraph cuStreamBeginCaptureToGraph_ptsz
    cuStreamGetCaptureInfo cuStreamGetCaptureInfo_ptsz cuStreamGetCtx_v2 cuStreamGetCtx_v2_ptsz cuStreamGetGreenCtx
    cuStreamUpdateCaptureDependencies cuStreamUpdateCaptureDependencies_ptsz cuStreamUpdateCaptureDependencies_v2
    cuStreamUpdateCaptureDependencies_v2_ptsz cuSurfObjectGetResourceDesc cuSurfRefGetArray cuSurfRefSetArray
    cuTensorMapEncodeIm2col cuTensorMapEncodeIm2colWide cuTensorMapEncodeTiled cuTensorMapReplaceAddress
    cuTexObjectGetResourceDesc cuTexObjectGetResourceViewDesc cuTexObjectGetTextureDesc cuTexRefCreate cuTexRefDestroy
    cuTexRefGetAddress cuTexRefGetAddressMode cuTexRefGetAddress_v2 cuTexRefGetArray cuTexRefGetBorderColor
    cuTexRefGetFilterMode cuTexRefGetFlags cuTexRefGetFormat cuTexRefGetMaxAnisotropy cuTexRefGetMipmapFilterMode
    cuTexRefGetMipmapLevelBias cuTexRefGetMipmapLevelClamp cuTexRefGetMipmappedArray cuTexRefSetAddress
    cuTexRefSetAddress2D cuTexRefSetAddress2D_v2 cuTexRefSetAddress2D_v3 cuTexRefSetAddressMode cuTexRefSetAddress_v2
    cuTexRefSetArray cuTexRefSetBorderColor cuTexRefSetFilterMode cuTexRefSetFlags cuTexRefSetFormat
    cuTexRefSetMaxAnisotropy cuTexRefSetMipmapFilterMode cuTexRefSetMipmapLevelBias cuTexRefSetMipmapLevelClamp
    cuTexRefSetMipmappedArray cuVDPAUCtxCreate cuVDPAUCtxCreate_v2 cuVDPAUGetDevice cuWGLGetDevice
    cuWaitExternalSemaphoresAsync cuWaitExternalSemaphoresAsync_ptsz
}
