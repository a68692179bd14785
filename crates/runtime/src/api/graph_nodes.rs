//! Nodes of any kind, conditional ones, and captures that go on in a graph which is there.
//!
//! As in `graphs.rs`, CUDA 13 gave plain names the parameters of `_v2`.

use std::ffi::c_void;

use super::graph_memory::add_allocation;
use super::graphs::{handles, host_work, kernel_work, memset_work, put_list};
use crate::compiled::is_cuda_13;
use crate::device::choice::device;
use crate::device::seam::{Handle, NodeWork};
use crate::error::{CudaError, Result, check};
use crate::macros::{cuda_api, put};
use crate::types::{Copy3d, EdgeData};

/// `cudaGraphNodeParams`: what a node does, by its kind.
#[repr(C)]
pub struct NodeParams {
    kind: u32,
    reserved: [i32; 3],
    what: [u64; 29],
    behind: i64,
}

const _: () = assert!(size_of::<NodeParams>() == 256);

/// `cudaConditionalNodeParams`.
#[repr(C)]
struct ConditionalParams {
    handle: u64,
    kind: u32,
    size: u32,
    bodies: *const Handle,
}

/// Where a copy stands behind flags.
const COPY_AT: usize = 16;
const ALLOCATION: u32 = 10;
const CONDITIONAL: u32 = 13;

/// # Safety
/// `params` is valid for its kind.
pub unsafe fn work<'a>(params: *const NodeParams) -> Result<NodeWork<'a>> {
    // SAFETY: by contract; what a kind has lies where the union begins.
    unsafe {
        let what = (&raw const (*params).what).cast::<c_void>();
        Ok(match (*params).kind {
            0 => kernel_work(what.cast())?,
            1 => NodeWork::Copy3d(&*what.wrapping_byte_add(COPY_AT).cast::<Copy3d>()),
            2 => memset_work(what.cast())?,
            3 => host_work(what.cast())?,
            4 => NodeWork::Graph(what.cast::<Handle>().read()),
            5 => NodeWork::Nothing,
            6 => NodeWork::Wait(what.cast::<*mut c_void>().read()),
            7 => NodeWork::Record(what.cast::<*mut c_void>().read()),
            11 => NodeWork::Free(what.cast::<*mut c_void>().read()),
            8..=10 | 12 => return Err(CudaError::NOT_SUPPORTED),
            _ => return Err(CudaError::INVALID_VALUE),
        })
    }
}

/// Adds a node of any kind.
///
/// # Safety
/// As `cudaGraphAddNode`.
unsafe fn add(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *mut NodeParams) -> Result {
    check(!node.is_null() && !params.is_null())?;
    // SAFETY: by contract.
    unsafe {
        let after = handles(after, count)?;
        if (*params).kind == ALLOCATION {
            return add_allocation(node, graph, after, (&raw mut (*params).what).cast());
        }
        if (*params).kind != CONDITIONAL {
            return put(node, device()?.add_node(graph, after, work(params)?)?);
        }
        let condition = &mut *(&raw mut (*params).what).cast::<ConditionalParams>();
        let made = device()?.add_conditional(graph, after, condition.handle, condition.kind, condition.size)?;
        condition.bodies = made.1;
        put(node, made.0)
    }
}

/// The nodes beside a node: those that it depends on, or those that depend on it.
///
/// # Safety
/// As `cudaGraphNodeGetDependencies`.
unsafe fn beside(node: Handle, list: *mut Handle, count: *mut usize, before: bool) -> Result {
    let (firsts, seconds) = device()?.beside(node)?;
    // SAFETY: by contract.
    unsafe { put_list(list, count, if before { &firsts } else { &seconds }) }
}

cuda_api! {
    /// With CUDA 13 data of edges stand behind the nodes.
    fn cudaGraphAddNode(
        node: *mut Handle, graph: Handle, after: *const Handle, data_or_count: usize, count: usize,
        params: *mut NodeParams
    ) {
        match is_cuda_13() {
            true => add(node, graph, after, count, params),
            false => add(node, graph, after, data_or_count, count as *mut NodeParams),
        }
    }
    fn cudaGraphAddNode_v2(
        node: *mut Handle, graph: Handle, after: *const Handle, _data: *const EdgeData, count: usize,
        params: *mut NodeParams
    ) {
        add(node, graph, after, count, params)
    }

    fn cudaGraphConditionalHandleCreate(handle: *mut u64, graph: Handle, first: u32, flags: u32) {
        /// `cudaGraphCondAssignDefault`
        const ASSIGN: u32 = 1;
        check(!handle.is_null() && flags <= ASSIGN)?;
        put(handle, device()?.conditional_handle(graph, (flags == ASSIGN).then_some(first))?)
    }

    fn cudaStreamBeginCaptureToGraph / cudaStreamBeginCaptureToGraph_ptsz [on] (
        stream: *mut c_void, graph: Handle, after: *const Handle, _data: *const EdgeData, count: usize, mode: u32
    ) {
        device()?.begin_capture_in(on.stream(stream), graph, handles(after, count)?, mode)
    }
    /// See [`cudaGraphAddNode`].
    fn cudaStreamUpdateCaptureDependencies / cudaStreamUpdateCaptureDependencies_ptsz [on] (
        stream: *mut c_void, after: *mut Handle, data_or_count: usize, count_or_flags: usize, flags: u32
    ) {
        let (count, flags) = match is_cuda_13() {
            true => (count_or_flags, flags),
            false => (data_or_count, count_or_flags as u32),
        };
        device()?.record_after(on.stream(stream), handles(after, count)?, flags)
    }
    fn cudaStreamUpdateCaptureDependencies_v2 / cudaStreamUpdateCaptureDependencies_v2_ptsz [on] (
        stream: *mut c_void, after: *mut Handle, _data: *const EdgeData, count: usize, flags: u32
    ) {
        device()?.record_after(on.stream(stream), handles(after, count)?, flags)
    }

    /// With CUDA 13 room for data of edges stands before their number, and is left alone.
    fn cudaGraphNodeGetDependencies(node: Handle, list: *mut Handle, data_or_count: *mut usize, count: *mut usize) {
        beside(node, list, if is_cuda_13() { count } else { data_or_count }, true)
    }
    fn cudaGraphNodeGetDependencies_v2(node: Handle, list: *mut Handle, _data: *mut EdgeData, count: *mut usize) {
        beside(node, list, count, true)
    }
    /// See [`cudaGraphNodeGetDependencies`].
    fn cudaGraphNodeGetDependentNodes(node: Handle, list: *mut Handle, data_or_count: *mut usize, count: *mut usize) {
        beside(node, list, if is_cuda_13() { count } else { data_or_count }, false)
    }
    fn cudaGraphNodeGetDependentNodes_v2(node: Handle, list: *mut Handle, _data: *mut EdgeData, count: *mut usize) {
        beside(node, list, count, false)
    }
}
