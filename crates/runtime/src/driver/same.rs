//! Functions of the driver that are one of the runtime's: streams, events, pools, captures, graphs, settings of a
//! context.

use std::ffi::c_void;

use super::frame::{current, driver_api};
use crate::api::{devices, graphs, locations, memory, streams};
use crate::error::quietly;
use crate::types::{Access, EdgeData, HostNode, Location, MemsetNode, PoolProps, UpdateResult};

type Handle = *mut c_void;
type HostFunction = unsafe extern "C" fn(*mut c_void);
type StreamCallback = unsafe extern "C" fn(*mut c_void, u32, *mut c_void);

/// Rows of `driver's names = runtime's names (parameters);`
macro_rules! same {
    ($($name:ident = $module:ident::$runtime:ident ($($arg:ident : $ty:ty),* $(,)?);)*) => {
        driver_api! {$(
            fn $name($($arg: $ty),*) {
                current()?;
                quietly(|| $module::$runtime($($arg),*))
            }
        )*}
    };
}

pub(super) use same;

same! {
    cuCtxSynchronize = devices::cudaDeviceSynchronize();
    cuCtxSetLimit = devices::cudaDeviceSetLimit(limit: u32, value: usize);
    cuCtxGetLimit = devices::cudaDeviceGetLimit(value: *mut usize, limit: u32);
    cuCtxSetCacheConfig = devices::cudaDeviceSetCacheConfig(config: u32);
    cuCtxGetCacheConfig = devices::cudaDeviceGetCacheConfig(config: *mut u32);
    cuCtxSetSharedMemConfig = devices::cudaDeviceSetSharedMemConfig(config: u32);
    cuCtxGetSharedMemConfig = devices::cudaDeviceGetSharedMemConfig(config: *mut u32);
    cuCtxResetPersistingL2Cache = devices::cudaCtxResetPersistingL2Cache();
    cuCtxGetStreamPriorityRange = streams::cudaDeviceGetStreamPriorityRange(least: *mut i32, greatest: *mut i32);

    cuStreamCreate = streams::cudaStreamCreateWithFlags(stream: *mut Handle, flags: u32);
    cuStreamCreateWithPriority = streams::cudaStreamCreateWithPriority(stream: *mut Handle, flags: u32, priority: i32);
    cuStreamDestroy = streams::cudaStreamDestroy(stream: Handle);
    cuStreamDestroy_v2 = streams::cudaStreamDestroy(stream: Handle);
    cuStreamSynchronize = streams::cudaStreamSynchronize(stream: Handle);
    cuStreamSynchronize_ptsz = streams::cudaStreamSynchronize_ptsz(stream: Handle);
    cuStreamQuery = streams::cudaStreamQuery(stream: Handle);
    cuStreamQuery_ptsz = streams::cudaStreamQuery_ptsz(stream: Handle);
    cuStreamGetFlags = streams::cudaStreamGetFlags(stream: Handle, flags: *mut u32);
    cuStreamGetFlags_ptsz = streams::cudaStreamGetFlags_ptsz(stream: Handle, flags: *mut u32);
    cuStreamGetPriority = streams::cudaStreamGetPriority(stream: Handle, priority: *mut i32);
    cuStreamGetPriority_ptsz = streams::cudaStreamGetPriority_ptsz(stream: Handle, priority: *mut i32);
    cuStreamGetId = streams::cudaStreamGetId(stream: Handle, id: *mut u64);
    cuStreamGetId_ptsz = streams::cudaStreamGetId_ptsz(stream: Handle, id: *mut u64);
    cuStreamGetDevice = streams::cudaStreamGetDevice(stream: Handle, index: *mut i32);
    cuStreamGetDevice_ptsz = streams::cudaStreamGetDevice_ptsz(stream: Handle, index: *mut i32);
    cuStreamWaitEvent = streams::cudaStreamWaitEvent(stream: Handle, event: Handle, flags: u32);
    cuStreamWaitEvent_ptsz = streams::cudaStreamWaitEvent_ptsz(stream: Handle, event: Handle, flags: u32);
    cuStreamAttachMemAsync = streams::cudaStreamAttachMemAsync(
        stream: Handle, pointer: *mut c_void, length: usize, flags: u32
    );
    cuStreamAttachMemAsync_ptsz = streams::cudaStreamAttachMemAsync_ptsz(
        stream: Handle, pointer: *mut c_void, length: usize, flags: u32
    );
    cuStreamAddCallback = streams::cudaStreamAddCallback(
        stream: Handle, callback: Option<StreamCallback>, data: *mut c_void, flags: u32
    );
    cuStreamAddCallback_ptsz = streams::cudaStreamAddCallback_ptsz(
        stream: Handle, callback: Option<StreamCallback>, data: *mut c_void, flags: u32
    );
    cuLaunchHostFunc = streams::cudaLaunchHostFunc(stream: Handle, function: Option<HostFunction>, data: *mut c_void);
    cuLaunchHostFunc_ptsz = streams::cudaLaunchHostFunc_ptsz(
        stream: Handle, function: Option<HostFunction>, data: *mut c_void
    );

    cuMemRangeGetAttribute = locations::cudaMemRangeGetAttribute(
        data: *mut c_void, size: usize, which: u32, pointer: *const c_void, count: usize
    );
    cuMemRangeGetAttributes = locations::cudaMemRangeGetAttributes(
        data: *mut Handle, sizes: *mut usize, which: *mut u32, number: usize, pointer: *const c_void, count: usize
    );

    cuEventCreate = streams::cudaEventCreateWithFlags(event: *mut Handle, flags: u32);
    cuEventRecord = streams::cudaEventRecord(event: Handle, stream: Handle);
    cuEventRecord_ptsz = streams::cudaEventRecord_ptsz(event: Handle, stream: Handle);
    cuEventRecordWithFlags = streams::cudaEventRecordWithFlags(event: Handle, stream: Handle, flags: u32);
    cuEventRecordWithFlags_ptsz = streams::cudaEventRecordWithFlags_ptsz(event: Handle, stream: Handle, flags: u32);
    cuEventQuery = streams::cudaEventQuery(event: Handle);
    cuEventSynchronize = streams::cudaEventSynchronize(event: Handle);
    cuEventDestroy = streams::cudaEventDestroy(event: Handle);
    cuEventDestroy_v2 = streams::cudaEventDestroy(event: Handle);
    cuEventElapsedTime = streams::cudaEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle);
    cuEventElapsedTime_v2 = streams::cudaEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle);

    cuMemFreeHost = memory::cudaFreeHost(pointer: *mut c_void);
    cuMemHostAlloc = memory::cudaHostAlloc(pointer: *mut *mut c_void, size: usize, flags: u32);
    cuMemHostRegister = memory::cudaHostRegister(pointer: *mut c_void, size: usize, flags: u32);
    cuMemHostRegister_v2 = memory::cudaHostRegister(pointer: *mut c_void, size: usize, flags: u32);
    cuMemHostUnregister = memory::cudaHostUnregister(pointer: *mut c_void);
    cuMemHostGetDevicePointer_v2 = memory::cudaHostGetDevicePointer(
        pointer: *mut *mut c_void, host: *mut c_void, flags: u32
    );
    cuMemHostGetFlags = memory::cudaHostGetFlags(flags: *mut u32, host: *mut c_void);
    cuMemAllocManaged = memory::cudaMallocManaged(pointer: *mut *mut c_void, size: usize, flags: u32);
    cuMemGetInfo_v2 = memory::cudaMemGetInfo(free: *mut usize, total: *mut usize);
    cuMemAllocAsync = memory::cudaMallocAsync(pointer: *mut *mut c_void, size: usize, stream: Handle);
    cuMemAllocAsync_ptsz = memory::cudaMallocAsync_ptsz(pointer: *mut *mut c_void, size: usize, stream: Handle);
    cuMemFreeAsync = memory::cudaFreeAsync(pointer: *mut c_void, stream: Handle);
    cuMemFreeAsync_ptsz = memory::cudaFreeAsync_ptsz(pointer: *mut c_void, stream: Handle);
    cuMemAllocFromPoolAsync = memory::cudaMallocFromPoolAsync(
        pointer: *mut *mut c_void, size: usize, pool: Handle, stream: Handle
    );
    cuMemAllocFromPoolAsync_ptsz = memory::cudaMallocFromPoolAsync_ptsz(
        pointer: *mut *mut c_void, size: usize, pool: Handle, stream: Handle
    );
    cuDeviceGetDefaultMemPool = memory::cudaDeviceGetDefaultMemPool(pool: *mut Handle, index: i32);
    cuDeviceGetMemPool = memory::cudaDeviceGetMemPool(pool: *mut Handle, index: i32);
    cuDeviceSetMemPool = memory::cudaDeviceSetMemPool(index: i32, pool: Handle);
    cuMemPoolCreate = memory::cudaMemPoolCreate(pool: *mut Handle, props: *const PoolProps);
    cuMemPoolDestroy = memory::cudaMemPoolDestroy(pool: Handle);
    cuMemPoolTrimTo = memory::cudaMemPoolTrimTo(pool: Handle, keep: usize);
    cuMemPoolGetAccess = memory::cudaMemPoolGetAccess(flags: *mut u32, pool: Handle, location: *const Location);
    cuMemPoolSetAccess = memory::cudaMemPoolSetAccess(pool: Handle, asked: *const Access, count: usize);
    cuMemPoolSetAttribute = memory::cudaMemPoolSetAttribute(pool: Handle, which: u32, value: *const c_void);
    cuMemPoolGetAttribute = memory::cudaMemPoolGetAttribute(pool: Handle, which: u32, value: *mut c_void);

    cuStreamBeginCapture_v2 = graphs::cudaStreamBeginCapture(stream: Handle, mode: u32);
    cuStreamBeginCapture_v2_ptsz = graphs::cudaStreamBeginCapture_ptsz(stream: Handle, mode: u32);
    cuStreamEndCapture = graphs::cudaStreamEndCapture(stream: Handle, graph: *mut Handle);
    cuStreamEndCapture_ptsz = graphs::cudaStreamEndCapture_ptsz(stream: Handle, graph: *mut Handle);
    cuStreamIsCapturing = streams::cudaStreamIsCapturing(stream: Handle, status: *mut u32);
    cuStreamIsCapturing_ptsz = streams::cudaStreamIsCapturing_ptsz(stream: Handle, status: *mut u32);
    cuThreadExchangeStreamCaptureMode = streams::cudaThreadExchangeStreamCaptureMode(mode: *mut u32);
    cuStreamGetCaptureInfo_v2 = graphs::cudaStreamGetCaptureInfo_v2(
        stream: Handle, status: *mut u32, id: *mut u64, graph: *mut Handle, last: *mut *const Handle, count: *mut usize
    );
    cuStreamGetCaptureInfo_v2_ptsz = graphs::cudaStreamGetCaptureInfo_v2_ptsz(
        stream: Handle, status: *mut u32, id: *mut u64, graph: *mut Handle, last: *mut *const Handle, count: *mut usize
    );
    cuStreamGetCaptureInfo_v3 = graphs::cudaStreamGetCaptureInfo_v3(
        stream: Handle, status: *mut u32, id: *mut u64, graph: *mut Handle, last: *mut *const Handle,
        data: *mut *const EdgeData, count: *mut usize
    );
    cuStreamGetCaptureInfo_v3_ptsz = graphs::cudaStreamGetCaptureInfo_v3_ptsz(
        stream: Handle, status: *mut u32, id: *mut u64, graph: *mut Handle, last: *mut *const Handle,
        data: *mut *const EdgeData, count: *mut usize
    );
}

/// Graphs, apart: one table is as long as the compiler takes it.
mod more {
    use super::*;

    same! {
        cuGraphCreate = graphs::cudaGraphCreate(graph: *mut Handle, flags: u32);
        cuGraphClone = graphs::cudaGraphClone(copy: *mut Handle, graph: Handle);
        cuGraphDestroy = graphs::cudaGraphDestroy(graph: Handle);
        cuGraphAddEmptyNode = graphs::cudaGraphAddEmptyNode(
            node: *mut Handle, graph: Handle, after: *const Handle, count: usize
        );
        cuGraphAddHostNode = graphs::cudaGraphAddHostNode(
            node: *mut Handle, graph: Handle, after: *const Handle, count: usize, work: *const HostNode
        );
        cuGraphAddChildGraphNode = graphs::cudaGraphAddChildGraphNode(
            node: *mut Handle, graph: Handle, after: *const Handle, count: usize, child: Handle
        );
        cuGraphAddEventRecordNode = graphs::cudaGraphAddEventRecordNode(
            node: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: Handle
        );
        cuGraphAddEventWaitNode = graphs::cudaGraphAddEventWaitNode(
            node: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: Handle
        );
        cuGraphHostNodeSetParams = graphs::cudaGraphHostNodeSetParams(node: Handle, work: *const HostNode);
        cuGraphMemsetNodeSetParams = graphs::cudaGraphMemsetNodeSetParams(node: Handle, work: *const MemsetNode);
        cuGraphDestroyNode = graphs::cudaGraphDestroyNode(node: Handle);
        cuGraphNodeGetType = graphs::cudaGraphNodeGetType(node: Handle, kind: *mut u32);
        cuGraphGetNodes = graphs::cudaGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize);
        cuGraphGetRootNodes = graphs::cudaGraphGetRootNodes(graph: Handle, nodes: *mut Handle, count: *mut usize);
        cuGraphAddDependencies_v2 = graphs::cudaGraphAddDependencies_v2(
            graph: Handle, from: *const Handle, to: *const Handle, data: *const EdgeData, count: usize
        );
        cuGraphRemoveDependencies_v2 = graphs::cudaGraphRemoveDependencies_v2(
            graph: Handle, from: *const Handle, to: *const Handle, data: *const EdgeData, count: usize
        );
        cuGraphInstantiateWithFlags = graphs::cudaGraphInstantiateWithFlags(
            instance: *mut Handle, graph: Handle, flags: u64
        );
        cuGraphExecDestroy = graphs::cudaGraphExecDestroy(instance: Handle);
        cuGraphUpload = graphs::cudaGraphUpload(instance: Handle, stream: Handle);
        cuGraphUpload_ptsz = graphs::cudaGraphUpload_ptsz(instance: Handle, stream: Handle);
        cuGraphLaunch = graphs::cudaGraphLaunch(instance: Handle, stream: Handle);
        cuGraphLaunch_ptsz = graphs::cudaGraphLaunch_ptsz(instance: Handle, stream: Handle);
        cuGraphExecUpdate_v2 = graphs::cudaGraphExecUpdate(
            instance: Handle, graph: Handle, result: *mut UpdateResult
        );
    }
}
pub use more::ENTRIES as OF_GRAPHS;
