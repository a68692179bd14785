//! Functions of CUDA's runtime that no device carries out: each returns `cudaErrorNotSupported`.
//!
//! External memory, pools of other processes, clusters, what is shared with OpenGL, EGL and VDPAU. They are present so that
//! a program that only tries them links and can fall back: `libregrain_rt.a` has every name that `libcudart` has. Under the C calling
//! conventions of the supported processors a function may ignore its arguments, so one signature serves all.

use crate::error::{CudaError, api};

macro_rules! unsupported {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "CUDA's names")]
        extern "C" fn $name() -> u32 {
            api(stringify!($name), || Err(CudaError::NOT_SUPPORTED))
        }
    )*};
}

unsupported! {
    cudaArrayGetMemoryRequirements cudaArrayGetPlane cudaArrayGetSparseProperties cudaDestroyExternalMemory
    cudaDestroyExternalSemaphore cudaDeviceFlushGPUDirectRDMAWrites cudaDeviceGetHostAtomicCapabilities
    cudaDeviceGetNvSciSyncAttributes cudaDeviceGetP2PAtomicCapabilities cudaDeviceRegisterAsyncNotification
    cudaDeviceUnregisterAsyncNotification cudaEGLStreamConsumerAcquireFrame cudaEGLStreamConsumerConnect
    cudaEGLStreamConsumerConnectWithFlags cudaEGLStreamConsumerDisconnect cudaEGLStreamConsumerReleaseFrame
    cudaEGLStreamProducerConnect cudaEGLStreamProducerDisconnect cudaEGLStreamProducerPresentFrame
    cudaEGLStreamProducerReturnFrame cudaEventCreateFromEGLSync cudaExternalMemoryGetMappedBuffer
    cudaExternalMemoryGetMappedMipmappedArray cudaGLGetDevices cudaGLMapBufferObject cudaGLMapBufferObjectAsync
    cudaGLRegisterBufferObject cudaGLSetBufferObjectMapFlags cudaGLSetGLDevice cudaGLUnmapBufferObject
    cudaGLUnmapBufferObjectAsync cudaGLUnregisterBufferObject cudaGetExportTable
    cudaGraphAddExternalSemaphoresSignalNode cudaGraphAddExternalSemaphoresWaitNode
    cudaGraphExecExternalSemaphoresSignalNodeSetParams cudaGraphExecExternalSemaphoresWaitNodeSetParams
    cudaGraphExternalSemaphoresSignalNodeGetParams cudaGraphExternalSemaphoresSignalNodeSetParams
    cudaGraphExternalSemaphoresWaitNodeGetParams cudaGraphExternalSemaphoresWaitNodeSetParams
    cudaGraphicsEGLRegisterImage cudaGraphicsGLRegisterBuffer cudaGraphicsGLRegisterImage cudaGraphicsMapResources
    cudaGraphicsResourceGetMappedEglFrame cudaGraphicsResourceGetMappedMipmappedArray
    cudaGraphicsResourceGetMappedPointer cudaGraphicsResourceSetMapFlags cudaGraphicsSubResourceGetMappedArray
    cudaGraphicsUnmapResources cudaGraphicsUnregisterResource cudaGraphicsVDPAURegisterOutputSurface
    cudaGraphicsVDPAURegisterVideoSurface cudaImportExternalMemory cudaImportExternalSemaphore
    cudaLaunchCooperativeKernelMultiDevice cudaLibraryGetManaged cudaLibraryGetUnifiedFunction cudaLogsCurrent
    cudaLogsDumpToFile cudaLogsDumpToMemory cudaLogsRegisterCallback cudaLogsUnregisterCallback cudaMemPoolExportPointer
    cudaMemPoolExportToShareableHandle cudaMemPoolImportFromShareableHandle cudaMemPoolImportPointer
    cudaMipmappedArrayGetMemoryRequirements cudaMipmappedArrayGetSparseProperties cudaOccupancyMaxActiveClusters
    cudaOccupancyMaxPotentialClusterSize cudaSignalExternalSemaphoresAsync cudaSignalExternalSemaphoresAsync_ptsz
    cudaSignalExternalSemaphoresAsync_v2 cudaSignalExternalSemaphoresAsync_v2_ptsz cudaVDPAUGetDevice
    cudaVDPAUSetVDPAUDevice cudaWaitExternalSemaphoresAsync cudaWaitExternalSemaphoresAsync_ptsz
    cudaWaitExternalSemaphoresAsync_v2 cudaWaitExternalSemaphoresAsync_v2_ptsz
}
