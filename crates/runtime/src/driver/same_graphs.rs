//! Functions of the driver that are one of the runtime's, as in `same.rs`: memory of graphs, objects, what nodes do, and what
//! processes share, attributes of streams.

use std::ffi::{c_char, c_void};

use super::frame::{current, driver_api};
use super::same::same;
use crate::api::graph_memory::AllocateNode;
use crate::api::graph_params::InstantiateParams;
use crate::api::{graph_memory, graph_nodes, graph_params, graphs, interprocess, streams};
use crate::device::seam::Foreign;
use crate::error::quietly;
use crate::types::{EdgeData, HostNode, MemsetNode};

type Handle = *mut c_void;
type HostFunction = unsafe extern "C" fn(*mut c_void);

same! {
    cuGraphAddMemAllocNode = graph_memory::cudaGraphAddMemAllocNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *mut AllocateNode
    );
    cuGraphAddMemFreeNode = graph_memory::cudaGraphAddMemFreeNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, pointer: *mut c_void
    );
    cuGraphMemAllocNodeGetParams = graph_memory::cudaGraphMemAllocNodeGetParams(
        node: Handle, params: *mut AllocateNode
    );
    cuGraphMemFreeNodeGetParams = graph_memory::cudaGraphMemFreeNodeGetParams(node: Handle, pointer: *mut c_void);
    cuDeviceGetGraphMemAttribute = graph_memory::cudaDeviceGetGraphMemAttribute(
        index: i32, which: u32, value: *mut u64
    );
    cuDeviceSetGraphMemAttribute = graph_memory::cudaDeviceSetGraphMemAttribute(
        index: i32, which: u32, value: *const u64
    );
    cuDeviceGraphMemTrim = graph_memory::cudaDeviceGraphMemTrim(index: i32);
    cuUserObjectCreate = graph_memory::cudaUserObjectCreate(
        object: *mut Handle, data: *mut c_void, destroy: Option<HostFunction>, count: u32, flags: u32
    );
    cuUserObjectRetain = graph_memory::cudaUserObjectRetain(object: Handle, count: u32);
    cuUserObjectRelease = graph_memory::cudaUserObjectRelease(object: Handle, count: u32);
    cuGraphRetainUserObject = graph_memory::cudaGraphRetainUserObject(
        graph: Handle, object: Handle, count: u32, flags: u32
    );
    cuGraphReleaseUserObject = graph_memory::cudaGraphReleaseUserObject(
        graph: Handle, object: Handle, count: u32
    );
    cuGraphMemsetNodeGetParams = graph_params::cudaGraphMemsetNodeGetParams(node: Handle, fill: *mut MemsetNode);
    cuGraphHostNodeGetParams = graph_params::cudaGraphHostNodeGetParams(node: Handle, work: *mut HostNode);
    cuGraphChildGraphNodeGetGraph = graph_params::cudaGraphChildGraphNodeGetGraph(
        node: Handle, graph: *mut Handle
    );
    cuGraphEventRecordNodeGetEvent = graph_params::cudaGraphEventRecordNodeGetEvent(
        node: Handle, event: *mut Handle
    );
    cuGraphEventWaitNodeGetEvent = graph_params::cudaGraphEventWaitNodeGetEvent(node: Handle, event: *mut Handle);
    cuGraphEventRecordNodeSetEvent = graph_params::cudaGraphEventRecordNodeSetEvent(node: Handle, event: Handle);
    cuGraphEventWaitNodeSetEvent = graph_params::cudaGraphEventWaitNodeSetEvent(node: Handle, event: Handle);
    cuGraphExecChildGraphNodeSetParams = graph_params::cudaGraphExecChildGraphNodeSetParams(
        instance: Handle, node: Handle, graph: Handle
    );
    cuGraphExecEventRecordNodeSetEvent = graph_params::cudaGraphExecEventRecordNodeSetEvent(
        instance: Handle, node: Handle, event: Handle
    );
    cuGraphExecEventWaitNodeSetEvent = graph_params::cudaGraphExecEventWaitNodeSetEvent(
        instance: Handle, node: Handle, event: Handle
    );
    cuGraphExecHostNodeSetParams = graphs::cudaGraphExecHostNodeSetParams(
        instance: Handle, node: Handle, work: *const HostNode
    );
    cuGraphKernelNodeGetAttribute = graph_params::cudaGraphKernelNodeGetAttribute(
        node: Handle, which: u32, value: *mut [u64; 8]
    );
    cuGraphKernelNodeSetAttribute = graph_params::cudaGraphKernelNodeSetAttribute(
        node: Handle, which: u32, value: *const [u64; 8]
    );
    cuGraphKernelNodeCopyAttributes = graph_params::cudaGraphKernelNodeCopyAttributes(to: Handle, from: Handle);
    cuGraphNodeSetEnabled = graph_params::cudaGraphNodeSetEnabled(instance: Handle, node: Handle, enabled: u32);
    cuGraphNodeGetEnabled = graph_params::cudaGraphNodeGetEnabled(
        instance: Handle, node: Handle, enabled: *mut u32
    );
    cuGraphNodeFindInClone = graph_params::cudaGraphNodeFindInClone(
        found: *mut Handle, node: Handle, clone: Handle
    );
    cuGraphInstantiateWithParams = graph_params::cudaGraphInstantiateWithParams(
        instance: *mut Handle, graph: Handle, params: *mut InstantiateParams
    );
    cuGraphInstantiateWithParams_ptsz = graph_params::cudaGraphInstantiateWithParams_ptsz(
        instance: *mut Handle, graph: Handle, params: *mut InstantiateParams
    );
    cuGraphExecGetFlags = graph_params::cudaGraphExecGetFlags(instance: Handle, flags: *mut u64);
    cuGraphDebugDotPrint = graph_params::cudaGraphDebugDotPrint(graph: Handle, path: *const c_char, flags: u32);
    cuGraphGetEdges_v2 = graph_params::cudaGraphGetEdges_v2(
        graph: Handle, from: *mut Handle, to: *mut Handle, data: *mut EdgeData, count: *mut usize
    );
    cuGraphNodeGetDependencies_v2 = graph_nodes::cudaGraphNodeGetDependencies_v2(
        node: Handle, list: *mut Handle, data: *mut EdgeData, count: *mut usize
    );
    cuGraphNodeGetDependentNodes_v2 = graph_nodes::cudaGraphNodeGetDependentNodes_v2(
        node: Handle, list: *mut Handle, data: *mut EdgeData, count: *mut usize
    );

    cuIpcGetMemHandle = interprocess::cudaIpcGetMemHandle(handle: *mut Foreign, pointer: *mut c_void);
    cuIpcOpenMemHandle = interprocess::cudaIpcOpenMemHandle(
        pointer: *mut *mut c_void, handle: Foreign, flags: u32
    );
    cuIpcOpenMemHandle_v2 = interprocess::cudaIpcOpenMemHandle(
        pointer: *mut *mut c_void, handle: Foreign, flags: u32
    );
    cuIpcCloseMemHandle = interprocess::cudaIpcCloseMemHandle(pointer: *mut c_void);
    cuIpcGetEventHandle = interprocess::cudaIpcGetEventHandle(handle: *mut Foreign, event: Handle);
    cuIpcOpenEventHandle = interprocess::cudaIpcOpenEventHandle(event: *mut Handle, handle: Foreign);

    cuStreamGetAttribute = streams::cudaStreamGetAttribute(stream: Handle, which: u32, value: *mut [u64; 8]);
    cuStreamSetAttribute = streams::cudaStreamSetAttribute(
        stream: Handle, which: u32, value: *const [u64; 8]
    );
    cuStreamCopyAttributes = streams::cudaStreamCopyAttributes(to: Handle, from: Handle);
    cuStreamGetAttribute_ptsz = streams::cudaStreamGetAttribute_ptsz(stream: Handle, which: u32, value: *mut [u64; 8]);
    cuStreamSetAttribute_ptsz = streams::cudaStreamSetAttribute_ptsz(
        stream: Handle, which: u32, value: *const [u64; 8]
    );
    cuStreamCopyAttributes_ptsz = streams::cudaStreamCopyAttributes_ptsz(to: Handle, from: Handle);
}
