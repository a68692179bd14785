//! What nodes of graphs do, read back and changed, in graphs and in their instances.

use std::ffi::{CStr, c_char, c_void};

use super::copies::in_symbol;
use super::graph_nodes::{NodeParams as AnyNode, work};
use super::graphs::{ALL_FLAGS, handles, put_list};
use crate::device::choice::device;
use crate::device::seam::{Handle, NodeParams, NodeWork};
use crate::error::{CudaError, Result, check};
use crate::images::registry::stub_of;
use crate::macros::{cuda_api, put};
use crate::types::{Copy3d, DEVICE_TO_HOST, EdgeData, HOST_TO_DEVICE, HostNode, KernelNode};
use crate::types::{LaunchAttribute, MemsetNode};

/// `cudaGraphInstantiateParams`.
#[repr(C)]
pub struct InstantiateParams {
    flags: u64,
    stream: *mut c_void,
    node: Handle,
    result: u32,
}

/// A copy into a variable of the device, or out of one.
///
/// # Errors
/// The variable is on the device.
fn to_symbol<'a>(
    symbol: *const c_void,
    from: *const c_void,
    count: usize,
    offset: usize,
    kind: u32,
) -> Result<NodeWork<'a>> {
    if kind == DEVICE_TO_HOST || kind == 0 {
        return Err(CudaError::INVALID_MEMCPY_DIRECTION);
    }
    Ok(NodeWork::Copy { to: in_symbol(symbol, offset, count)?, from, count, kind })
}

fn from_symbol<'a>(
    to: *mut c_void,
    symbol: *const c_void,
    count: usize,
    offset: usize,
    kind: u32,
) -> Result<NodeWork<'a>> {
    if kind == HOST_TO_DEVICE || kind == 0 {
        return Err(CudaError::INVALID_MEMCPY_DIRECTION);
    }
    Ok(NodeWork::Copy { to, from: in_symbol(symbol, offset, count)?, count, kind })
}

/// The event of a node that records one, or waits for one.
fn event_of(node: Handle, records: bool) -> Result<Handle> {
    match device()?.node_params(node)? {
        NodeParams::Record(event) if records => Ok(event),
        NodeParams::Wait(event) if !records => Ok(event),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// Makes an instance, and says how that went.
///
/// # Safety
/// As `cudaGraphInstantiateWithParams`.
unsafe fn instantiate(instance: *mut Handle, graph: Handle, params: *mut InstantiateParams) -> Result {
    /// `cudaGraphInstantiateError`
    const FAILED: u32 = 1;
    // SAFETY: by contract.
    let params = unsafe { params.as_mut() }.ok_or(CudaError::INVALID_VALUE)?;
    params.node = std::ptr::null_mut();
    params.result = FAILED;
    check(!instance.is_null() && params.flags <= ALL_FLAGS)?;
    let made = device()?.instantiate(graph, params.flags)?;
    params.result = 0;
    // SAFETY: by contract.
    unsafe { put(instance, made) }
}

cuda_api! {
    fn cudaGraphKernelNodeGetParams(node: Handle, target: *mut KernelNode) {
        let NodeParams::Kernel(function, launch) = device()?.node_params(node)? else {
            return Err(CudaError::INVALID_VALUE);
        };
        let function = stub_of(function).ok_or(CudaError::INVALID_DEVICE_FUNCTION)?;
        let (grid, block, shared) = (launch.grid, launch.block, launch.shared as u32);
        put(target, KernelNode { function, grid, block, shared, args: launch.args, extra: std::ptr::null_mut() })
    }
    fn cudaGraphMemcpyNodeGetParams(node: Handle, target: *mut Copy3d) {
        match device()?.node_params(node)? {
            NodeParams::Copy(copy) => put(target, copy),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }
    fn cudaGraphMemsetNodeGetParams(node: Handle, target: *mut MemsetNode) {
        match device()?.node_params(node)? {
            NodeParams::Fill(fill) => put(target, fill),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }
    fn cudaGraphHostNodeGetParams(node: Handle, target: *mut HostNode) {
        match device()?.node_params(node)? {
            NodeParams::Host(function, data) => put(target, HostNode { function: Some(function), data }),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }
    fn cudaGraphChildGraphNodeGetGraph(node: Handle, target: *mut Handle) {
        match device()?.node_params(node)? {
            NodeParams::Graph(graph) => put(target, graph),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }
    fn cudaGraphEventRecordNodeGetEvent(node: Handle, event: *mut Handle) { put(event, event_of(node, true)?) }
    fn cudaGraphEventWaitNodeGetEvent(node: Handle, event: *mut Handle) { put(event, event_of(node, false)?) }

    fn cudaGraphEventRecordNodeSetEvent(node: Handle, event: Handle) {
        device()?.set_node(node, NodeWork::Record(event))
    }
    fn cudaGraphEventWaitNodeSetEvent(node: Handle, event: Handle) { device()?.set_node(node, NodeWork::Wait(event)) }
    fn cudaGraphNodeSetParams(node: Handle, params: *const AnyNode) {
        check(!params.is_null())?;
        device()?.set_node(node, work(params)?)
    }
    fn cudaGraphMemcpyNodeSetParamsToSymbol(
        node: Handle, symbol: *const c_void, from: *const c_void, count: usize, offset: usize, kind: u32
    ) {
        device()?.set_node(node, to_symbol(symbol, from, count, offset, kind)?)
    }
    fn cudaGraphMemcpyNodeSetParamsFromSymbol(
        node: Handle, to: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: u32
    ) {
        device()?.set_node(node, from_symbol(to, symbol, count, offset, kind)?)
    }
    fn cudaGraphAddMemcpyNodeToSymbol(
        node: *mut Handle, graph: Handle, after: *const Handle, number: usize, symbol: *const c_void,
        from: *const c_void, count: usize, offset: usize, kind: u32
    ) {
        check(!node.is_null())?;
        let work = to_symbol(symbol, from, count, offset, kind)?;
        put(node, device()?.add_node(graph, handles(after, number)?, work)?)
    }
    fn cudaGraphAddMemcpyNodeFromSymbol(
        node: *mut Handle, graph: Handle, after: *const Handle, number: usize, to: *mut c_void, symbol: *const c_void,
        count: usize, offset: usize, kind: u32
    ) {
        check(!node.is_null())?;
        let work = from_symbol(to, symbol, count, offset, kind)?;
        put(node, device()?.add_node(graph, handles(after, number)?, work)?)
    }

    fn cudaGraphExecChildGraphNodeSetParams(instance: Handle, node: Handle, graph: Handle) {
        device()?.set_instance_node(instance, node, NodeWork::Graph(graph))
    }
    fn cudaGraphExecEventRecordNodeSetEvent(instance: Handle, node: Handle, event: Handle) {
        device()?.set_instance_node(instance, node, NodeWork::Record(event))
    }
    fn cudaGraphExecEventWaitNodeSetEvent(instance: Handle, node: Handle, event: Handle) {
        device()?.set_instance_node(instance, node, NodeWork::Wait(event))
    }
    fn cudaGraphExecNodeSetParams(instance: Handle, node: Handle, params: *const AnyNode) {
        check(!params.is_null())?;
        device()?.set_instance_node(instance, node, work(params)?)
    }
    fn cudaGraphExecMemcpyNodeSetParamsToSymbol(
        instance: Handle, node: Handle, symbol: *const c_void, from: *const c_void, count: usize, offset: usize,
        kind: u32
    ) {
        device()?.set_instance_node(instance, node, to_symbol(symbol, from, count, offset, kind)?)
    }
    fn cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        instance: Handle, node: Handle, to: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: u32
    ) {
        device()?.set_instance_node(instance, node, from_symbol(to, symbol, count, offset, kind)?)
    }

    fn cudaGraphKernelNodeGetAttribute(node: Handle, which: u32, value: *mut [u64; 8]) {
        put(value, device()?.node_attribute(node, which)?)
    }
    fn cudaGraphKernelNodeSetAttribute(node: Handle, which: u32, value: *const [u64; 8]) {
        let value = *value.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        device()?.set_node_attribute(node, &LaunchAttribute { id: which, pad: 0, value })
    }
    fn cudaGraphKernelNodeCopyAttributes(to: Handle, from: Handle) { device()?.copy_node_attributes(to, from) }

    fn cudaGraphNodeSetEnabled(instance: Handle, node: Handle, enabled: u32) {
        device()?.enable(instance, node, enabled != 0)
    }
    fn cudaGraphNodeGetEnabled(instance: Handle, node: Handle, enabled: *mut u32) {
        put(enabled, device()?.is_enabled(instance, node)?.into())
    }
    fn cudaGraphNodeFindInClone(found: *mut Handle, node: Handle, clone: Handle) {
        put(found, device()?.find_in_clone(node, clone)?)
    }
    fn cudaGraphInstantiateWithParams / cudaGraphInstantiateWithParams_ptsz [_on] (
        instance: *mut Handle, graph: Handle, params: *mut InstantiateParams
    ) {
        instantiate(instance, graph, params)
    }
    fn cudaGraphExecGetFlags(instance: Handle, flags: *mut u64) { put(flags, device()?.instance_flags(instance)?) }
    fn cudaGraphDebugDotPrint(graph: Handle, path: *const c_char, flags: u32) {
        check(!path.is_null())?;
        let text = device()?.describe_graph(graph, flags)?;
        let path = CStr::from_ptr(path).to_string_lossy().into_owned();
        std::fs::write(path, text).map_err(|_| CudaError::OPERATING_SYSTEM)
    }
    /// Edges have the data of plain ones.
    fn cudaGraphGetEdges_v2(
        graph: Handle, from: *mut Handle, to: *mut Handle, data: *mut EdgeData, count: *mut usize
    ) {
        check(!count.is_null() && from.is_null() == to.is_null())?;
        let (firsts, seconds): (Vec<Handle>, Vec<Handle>) = device()?.edges(graph)?.into_iter().unzip();
        let mut room = *count;
        put_list(from, &raw mut room, &firsts)?;
        put_list(to, count, &seconds)?;
        if !data.is_null() && !from.is_null() {
            (0..*count).for_each(|at| data.add(at).write(EdgeData { bytes: [0; 8] }));
        }
        Ok(())
    }
}
