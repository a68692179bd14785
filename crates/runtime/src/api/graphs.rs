//! Graphs and stream capture.
//!
//! CUDA 13 gave some plain names the parameters that `_v2` had in CUDA 12: edges have data then, which say nothing beyond the default here.

use std::cell::RefCell;
use std::ffi::c_void;

use crate::compiled::is_cuda_13;
use crate::device::choice::device;
use crate::device::seam::{Handle, HostFunction, Launch, NodeWork};
use crate::error::{CudaError, Result, check};
use crate::images::registry::function;
use crate::macros::{cuda_api, put};
use crate::types::{Copy3d, EdgeData, HostNode, KernelNode, MemsetNode, UpdateResult};

/// The flags of instances.
pub const ALL_FLAGS: u64 = 15;

/// A list of handles.
///
/// # Safety
/// `list` is null or as long as `count` says.
pub unsafe fn handles<'a>(list: *const Handle, count: usize) -> Result<&'a [Handle]> {
    check(count == 0 || !list.is_null())?;
    // SAFETY: by contract.
    Ok(if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(list, count) } })
}

/// The edges between two lists.
///
/// # Safety
/// As [`handles`].
unsafe fn edges(from: *const Handle, to: *const Handle, count: usize) -> Result<Vec<(Handle, Handle)>> {
    // SAFETY: by contract.
    let (from, to) = unsafe { (handles(from, count)?, handles(to, count)?) };
    Ok(from.iter().copied().zip(to.iter().copied()).collect())
}

/// Writes a list as CUDA does: as much of it as there is room for and null behind it, or only how long it is.
///
/// # Safety
/// `count` is valid; `target` is null or valid for as many as it says.
pub unsafe fn put_list(target: *mut Handle, count: *mut usize, list: &[Handle]) -> Result {
    check(!count.is_null())?;
    // SAFETY: by contract.
    unsafe {
        if !target.is_null() {
            for at in 0..*count {
                target.add(at).write(list.get(at).copied().unwrap_or(std::ptr::null_mut()));
            }
            count.write(list.len().min(*count));
            return Ok(());
        }
        count.write(list.len());
    }
    Ok(())
}

/// # Safety
/// `node` is null or valid, and what it points to.
pub unsafe fn kernel_work<'a>(node: *const KernelNode) -> Result<NodeWork<'a>> {
    // SAFETY: by contract.
    let node = unsafe { node.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
    if !node.extra.is_null() {
        return Err(CudaError::NOT_SUPPORTED);
    }
    let launch = Launch {
        grid: node.grid,
        block: node.block,
        args: node.args,
        shared: node.shared as usize,
        stream: std::ptr::null_mut(),
        cooperative: false,
        attributes: &[],
    };
    Ok(NodeWork::Kernel(function(node.function)?, launch))
}

/// # Safety
/// `node` is null or valid.
pub unsafe fn memset_work<'a>(node: *const MemsetNode) -> Result<NodeWork<'a>> {
    // SAFETY: by contract.
    Ok(NodeWork::Fill(unsafe { node.as_ref() }.ok_or(CudaError::INVALID_VALUE)?))
}

/// # Safety
/// `node` is null or valid.
pub unsafe fn host_work<'a>(node: *const HostNode) -> Result<NodeWork<'a>> {
    // SAFETY: by contract.
    let node = unsafe { node.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
    let function: HostFunction = node.function.ok_or(CudaError::INVALID_VALUE)?;
    Ok(NodeWork::Host(function, node.data))
}

/// Adds a node.
///
/// # Safety
/// As the CUDA functions.
unsafe fn add(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, work: NodeWork) -> Result {
    check(!node.is_null())?;
    // SAFETY: by contract.
    unsafe { put(node, device()?.add_node(graph, handles(after, count)?, work)?) }
}

/// What a stream that records says of itself.
///
/// # Safety
/// Each pointer is null or valid.
unsafe fn capture_info(
    stream: *mut c_void,
    status: *mut u32,
    id: *mut u64,
    graph: *mut Handle,
    last: *mut *const Handle,
    count: *mut usize,
) -> Result {
    thread_local! {
        /// What the program may look at until its next call.
        static LAST: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
    }
    check(!status.is_null())?;
    let found = device()?.capture(stream)?;
    // SAFETY: by contract.
    unsafe {
        put(status, found.as_ref().map_or(0, |capture| capture.status))?;
        let Some(capture) = found else { return Ok(()) };
        if !id.is_null() {
            put(id, capture.id)?;
        }
        if !graph.is_null() {
            put(graph, capture.graph)?;
        }
        if !count.is_null() {
            put(count, capture.last.len())?;
        }
        LAST.with(|kept| {
            let mut kept = kept.borrow_mut();
            *kept = capture.last;
            if last.is_null() { Ok(()) } else { put(last, kept.as_ptr()) }
        })
    }
}

/// Fits an instance to a graph of the same shape.
fn update(instance: Handle, graph: Handle) -> Result<UpdateResult> {
    let fits = UpdateResult { result: 0, node: std::ptr::null_mut(), from: std::ptr::null_mut() };
    let differs = device()?.update_instance(instance, graph)?;
    Ok(differs.map_or(fits, |found| UpdateResult { result: found.result, node: found.node, from: found.from }))
}

cuda_api! {
    fn cudaStreamBeginCapture / cudaStreamBeginCapture_ptsz [on] (stream: *mut c_void, mode: u32) {
        device()?.begin_capture(on.stream(stream), mode)
    }
    fn cudaStreamEndCapture / cudaStreamEndCapture_ptsz [on] (stream: *mut c_void, graph: *mut Handle) {
        let stream = on.stream(stream);
        if graph.is_null() {
            // The program has it where the capture goes on in one.
            check(device()?.capture(stream)?.is_some_and(|capture| capture.goes_on))?;
            return device()?.end_capture(stream).map(drop);
        }
        graph.write(std::ptr::null_mut());
        put(graph, device()?.end_capture(stream)?)
    }
    fn cudaStreamGetCaptureInfo_v2 / cudaStreamGetCaptureInfo_v2_ptsz [on] (
        stream: *mut c_void, status: *mut u32, id: *mut u64, graph: *mut Handle, last: *mut *const Handle, count: *mut usize
    ) {
        capture_info(on.stream(stream), status, id, graph, last, count)
    }
    fn cudaStreamGetCaptureInfo_v3 / cudaStreamGetCaptureInfo_v3_ptsz [on] (
        stream: *mut c_void, status: *mut u32, id: *mut u64, graph: *mut Handle, last: *mut *const Handle,
        data: *mut *const EdgeData, count: *mut usize
    ) {
        if !data.is_null() { put(data, std::ptr::null())?; }
        capture_info(on.stream(stream), status, id, graph, last, count)
    }
    /// Of CUDA 13; before, it had the first three parameters alone.
    fn cudaStreamGetCaptureInfo / cudaStreamGetCaptureInfo_ptsz [on] (
        stream: *mut c_void, status: *mut u32, id: *mut u64, graph: *mut Handle, last: *mut *const Handle,
        data: *mut *const EdgeData, count: *mut usize
    ) {
        let stream = on.stream(stream);
        if !is_cuda_13() {
            return capture_info(stream, status, id, std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        }
        if !data.is_null() { put(data, std::ptr::null())?; }
        capture_info(stream, status, id, graph, last, count)
    }

    fn cudaGraphCreate(graph: *mut Handle, flags: u32) {
        check(!graph.is_null() && flags == 0)?;
        put(graph, device()?.create_graph()?)
    }
    fn cudaGraphClone(copy: *mut Handle, graph: Handle) {
        check(!copy.is_null())?;
        put(copy, device()?.clone_graph(graph)?)
    }
    fn cudaGraphDestroy(graph: Handle) { device()?.destroy_graph(graph) }

    fn cudaGraphAddEmptyNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize) {
        add(node, graph, after, count, NodeWork::Nothing)
    }
    fn cudaGraphAddKernelNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, work: *const KernelNode
    ) {
        add(node, graph, after, count, kernel_work(work)?)
    }
    fn cudaGraphAddMemcpyNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, copy: *const Copy3d
    ) {
        add(node, graph, after, count, NodeWork::Copy3d(copy.as_ref().ok_or(CudaError::INVALID_VALUE)?))
    }
    fn cudaGraphAddMemcpyNode1D(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, to: *mut c_void, from: *const c_void,
        bytes: usize, kind: u32
    ) {
        add(node, graph, after, count, NodeWork::Copy { to, from, count: bytes, kind })
    }
    fn cudaGraphAddMemsetNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, work: *const MemsetNode
    ) {
        add(node, graph, after, count, memset_work(work)?)
    }
    fn cudaGraphAddHostNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, work: *const HostNode
    ) {
        add(node, graph, after, count, host_work(work)?)
    }
    fn cudaGraphAddChildGraphNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, child: Handle
    ) {
        add(node, graph, after, count, NodeWork::Graph(child))
    }
    fn cudaGraphAddEventRecordNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: *mut c_void
    ) {
        add(node, graph, after, count, NodeWork::Record(event))
    }
    fn cudaGraphAddEventWaitNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: *mut c_void
    ) {
        add(node, graph, after, count, NodeWork::Wait(event))
    }

    fn cudaGraphKernelNodeSetParams(node: Handle, work: *const KernelNode) {
        device()?.set_node(node, kernel_work(work)?)
    }
    fn cudaGraphMemsetNodeSetParams(node: Handle, work: *const MemsetNode) {
        device()?.set_node(node, memset_work(work)?)
    }
    fn cudaGraphHostNodeSetParams(node: Handle, work: *const HostNode) { device()?.set_node(node, host_work(work)?) }
    fn cudaGraphMemcpyNodeSetParams(node: Handle, copy: *const Copy3d) {
        device()?.set_node(node, NodeWork::Copy3d(copy.as_ref().ok_or(CudaError::INVALID_VALUE)?))
    }
    fn cudaGraphMemcpyNodeSetParams1D(
        node: Handle, to: *mut c_void, from: *const c_void, bytes: usize, kind: u32
    ) {
        device()?.set_node(node, NodeWork::Copy { to, from, count: bytes, kind })
    }

    fn cudaGraphDestroyNode(node: Handle) { device()?.destroy_node(node) }
    fn cudaGraphNodeGetType(node: Handle, kind: *mut u32) { put(kind, device()?.node_kind(node)?) }
    fn cudaGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        put_list(nodes, count, &device()?.nodes(graph, false)?)
    }
    fn cudaGraphGetRootNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        put_list(nodes, count, &device()?.nodes(graph, true)?)
    }

    /// With CUDA 13 data of edges stand before their number.
    fn cudaGraphAddDependencies(
        graph: Handle, from: *const Handle, to: *const Handle, data_or_count: usize, count: usize
    ) {
        device()?.connect(graph, &edges(from, to, if is_cuda_13() { count } else { data_or_count })?)
    }
    fn cudaGraphAddDependencies_v2(
        graph: Handle, from: *const Handle, to: *const Handle, _data: *const EdgeData, count: usize
    ) {
        device()?.connect(graph, &edges(from, to, count)?)
    }
    /// See [`cudaGraphAddDependencies`].
    fn cudaGraphRemoveDependencies(
        graph: Handle, from: *const Handle, to: *const Handle, data_or_count: usize, count: usize
    ) {
        device()?.disconnect(graph, &edges(from, to, if is_cuda_13() { count } else { data_or_count })?)
    }
    fn cudaGraphRemoveDependencies_v2(
        graph: Handle, from: *const Handle, to: *const Handle, _data: *const EdgeData, count: usize
    ) {
        device()?.disconnect(graph, &edges(from, to, count)?)
    }
    /// With CUDA 13 room for data of edges stands before their number, and is left alone.
    fn cudaGraphGetEdges(
        graph: Handle, from: *mut Handle, to: *mut Handle, data_or_count: *mut usize, count: *mut usize
    ) {
        let count = if is_cuda_13() { count } else { data_or_count };
        check(!count.is_null() && from.is_null() == to.is_null())?;
        let (firsts, seconds): (Vec<Handle>, Vec<Handle>) = device()?.edges(graph)?.into_iter().unzip();
        let mut room = *count;
        put_list(from, &raw mut room, &firsts)?;
        put_list(to, count, &seconds)
    }

    fn cudaGraphInstantiate(instance: *mut Handle, graph: Handle, flags: u64) {
        check(!instance.is_null() && flags <= ALL_FLAGS)?;
        put(instance, device()?.instantiate(graph, flags)?)
    }
    fn cudaGraphInstantiateWithFlags(instance: *mut Handle, graph: Handle, flags: u64) {
        check(!instance.is_null() && flags <= ALL_FLAGS)?;
        put(instance, device()?.instantiate(graph, flags)?)
    }
    fn cudaGraphExecDestroy(instance: Handle) { device()?.destroy_instance(instance) }
    fn cudaGraphUpload / cudaGraphUpload_ptsz [_on] (instance: Handle, _stream: *mut c_void) {
        check(!instance.is_null())
    }
    fn cudaGraphLaunch / cudaGraphLaunch_ptsz [on] (instance: Handle, stream: *mut c_void) {
        device()?.launch_graph(instance, on.stream(stream))
    }
    fn cudaGraphExecUpdate(instance: Handle, graph: Handle, result: *mut UpdateResult) {
        let found = update(instance, graph)?;
        let failed = found.result != 0;
        if !result.is_null() { put(result, found)?; }
        if failed { Err(CudaError::GRAPH_UPDATE_FAILURE) } else { Ok(()) }
    }
    fn cudaGraphExecKernelNodeSetParams(instance: Handle, node: Handle, work: *const KernelNode) {
        device()?.set_instance_node(instance, node, kernel_work(work)?)
    }
    fn cudaGraphExecMemsetNodeSetParams(instance: Handle, node: Handle, work: *const MemsetNode) {
        device()?.set_instance_node(instance, node, memset_work(work)?)
    }
    fn cudaGraphExecHostNodeSetParams(instance: Handle, node: Handle, work: *const HostNode) {
        device()?.set_instance_node(instance, node, host_work(work)?)
    }
    fn cudaGraphExecMemcpyNodeSetParams(instance: Handle, node: Handle, copy: *const Copy3d) {
        let copy = copy.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        device()?.set_instance_node(instance, node, NodeWork::Copy3d(copy))
    }
    fn cudaGraphExecMemcpyNodeSetParams1D(
        instance: Handle, node: Handle, to: *mut c_void, from: *const c_void, bytes: usize, kind: u32
    ) {
        device()?.set_instance_node(instance, node, NodeWork::Copy { to, from, count: bytes, kind })
    }
}
