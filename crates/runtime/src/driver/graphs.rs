//! Nodes of graphs that the driver describes in its own way: kernels by their handles, fills and copies with a context.

use std::ffi::c_void;

use super::copies::{copy_of, region};
use super::frame::{current, driver_api};
use super::known;
use super::modules::function;
use crate::abi::Dim3;
use crate::api::graph_nodes::{cudaGraphNodeGetDependencies_v2, cudaGraphNodeGetDependentNodes_v2};
use crate::api::graph_params::cudaGraphGetEdges_v2;
use crate::api::graphs::{self as runtime, handles};
use crate::device::cuda::layout::Memcpy3d;
use crate::device::seam::{Handle, Launch, NodeParams, NodeWork};
use crate::error::{CudaError, Result, check, quietly};
use crate::images::registry::handle_of;
use crate::macros::put;
use crate::types::{MemsetNode, UpdateResult};

/// `CUDA_KERNEL_NODE_PARAMS_v2`; the older one ends before `kernel`.
#[repr(C)]
struct KernelNode {
    function: *mut c_void,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    arguments: *mut *mut c_void,
    extra: *mut *mut c_void,
    kernel: *mut c_void,
    context: *mut c_void,
}

/// # Safety
/// `node` is null or valid, and what it points to.
unsafe fn kernel_work<'a>(node: *const KernelNode) -> Result<NodeWork<'a>> {
    // SAFETY: by contract.
    let node = unsafe { node.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
    if !node.extra.is_null() {
        return Err(CudaError::NOT_SUPPORTED);
    }
    let named = if node.function.is_null() { node.kernel } else { node.function };
    let dim = |[x, y, z]: [u32; 3]| Dim3 { x, y, z };
    let launch = Launch {
        grid: dim(node.grid),
        block: dim(node.block),
        args: node.arguments,
        shared: node.shared as usize,
        stream: std::ptr::null_mut(),
        cooperative: false,
        attributes: &[],
    };
    Ok(NodeWork::Kernel(function(named)?, launch))
}

/// Nothing where `context` is one that is there.
fn check_context(context: *mut c_void) -> Result {
    if context.is_null() { Ok(()) } else { known::device_of(context).map(drop) }
}

driver_api! {
    fn cuGraphAddKernelNode_v2(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, work: *const KernelNode
    ) {
        check(!node.is_null())?;
        put(node, current()?.add_node(graph, handles(after, count)?, kernel_work(work)?)?)
    }
    fn cuGraphKernelNodeSetParams_v2(node: Handle, work: *const KernelNode) {
        current()?.set_node(node, kernel_work(work)?)
    }
    fn cuGraphExecKernelNodeSetParams_v2(instance: Handle, node: Handle, work: *const KernelNode) {
        current()?.set_instance_node(instance, node, kernel_work(work)?)
    }
    fn cuGraphAddMemcpyNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, copy: *const Memcpy3d,
        context: *mut c_void
    ) {
        check(!node.is_null())?;
        check_context(context)?;
        let device = current()?;
        let copy = copy_of(device, &region(copy)?)?;
        put(node, device.add_node(graph, handles(after, count)?, NodeWork::Copy3d(&copy))?)
    }
    fn cuGraphKernelNodeGetParams_v2(node: Handle, target: *mut KernelNode) {
        let NodeParams::Kernel(function, launch) = current()?.node_params(node)? else {
            return Err(CudaError::INVALID_VALUE);
        };
        put(target, KernelNode {
            function: handle_of(function).cast_mut(), grid: launch.grid.array(), block: launch.block.array(),
            shared: launch.shared as u32, arguments: launch.args, extra: std::ptr::null_mut(),
            kernel: std::ptr::null_mut(), context: std::ptr::null_mut(),
        })
    }
    fn cuGraphMemcpyNodeSetParams(node: Handle, copy: *const Memcpy3d) {
        let device = current()?;
        device.set_node(node, NodeWork::Copy3d(&copy_of(device, &region(copy)?)?))
    }
    fn cuGraphExecMemcpyNodeSetParams(instance: Handle, node: Handle, copy: *const Memcpy3d, context: *mut c_void) {
        check_context(context)?;
        let device = current()?;
        device.set_instance_node(instance, node, NodeWork::Copy3d(&copy_of(device, &region(copy)?)?))
    }
    fn cuGraphGetEdges(graph: Handle, from: *mut Handle, to: *mut Handle, count: *mut usize) {
        current()?;
        quietly(|| cudaGraphGetEdges_v2(graph, from, to, std::ptr::null_mut(), count))
    }
    fn cuGraphNodeGetDependencies(node: Handle, list: *mut Handle, count: *mut usize) {
        current()?;
        quietly(|| cudaGraphNodeGetDependencies_v2(node, list, std::ptr::null_mut(), count))
    }
    fn cuGraphNodeGetDependentNodes(node: Handle, list: *mut Handle, count: *mut usize) {
        current()?;
        quietly(|| cudaGraphNodeGetDependentNodes_v2(node, list, std::ptr::null_mut(), count))
    }
    fn cuGraphExecUpdate(instance: Handle, graph: Handle, node: *mut Handle, result: *mut u32) {
        current()?;
        let mut found = UpdateResult { result: 1, node: std::ptr::null_mut(), from: std::ptr::null_mut() };
        let done = quietly(|| runtime::cudaGraphExecUpdate(instance, graph, &raw mut found));
        put(node, found.node)?;
        put(result, found.result)?;
        done
    }
    fn cuGraphAddMemsetNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, fill: *const MemsetNode,
        context: *mut c_void
    ) {
        check_context(context)?;
        current()?;
        quietly(|| runtime::cudaGraphAddMemsetNode(node, graph, after, count, fill))
    }
    fn cuGraphExecMemsetNodeSetParams(
        instance: Handle, node: Handle, fill: *const MemsetNode, context: *mut c_void
    ) {
        check_context(context)?;
        current()?;
        quietly(|| runtime::cudaGraphExecMemsetNodeSetParams(instance, node, fill))
    }
    fn cuGraphAddDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        current()?;
        quietly(|| runtime::cudaGraphAddDependencies_v2(graph, from, to, std::ptr::null(), count))
    }
    fn cuGraphRemoveDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        current()?;
        quietly(|| runtime::cudaGraphRemoveDependencies_v2(graph, from, to, std::ptr::null(), count))
    }
    fn cuGraphInstantiate(instance: *mut Handle, graph: Handle, _node: *mut Handle, _log: *mut u8, _room: usize) {
        current()?;
        quietly(|| runtime::cudaGraphInstantiateWithFlags(instance, graph, 0))
    }
    fn cuGraphInstantiate_v2(instance: *mut Handle, graph: Handle, _node: *mut Handle, _log: *mut u8, _room: usize) {
        current()?;
        quietly(|| runtime::cudaGraphInstantiateWithFlags(instance, graph, 0))
    }
    fn cuStreamBeginCapture(stream: *mut c_void) {
        current()?;
        quietly(|| runtime::cudaStreamBeginCapture(stream, 0))
    }
    fn cuStreamBeginCapture_ptsz(stream: *mut c_void) {
        current()?;
        quietly(|| runtime::cudaStreamBeginCapture_ptsz(stream, 0))
    }
}
