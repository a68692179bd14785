//! Memory of graphs, and objects of the program's that graphs have.

use std::ffi::c_void;

use super::graphs::handles;
use crate::device::choice::device;
use crate::device::seam::{Handle, HostFunction, NodeParams, NodeWork};
use crate::error::{CudaError, Result, check};
use crate::macros::{cuda_api, put};
use crate::types::PoolProps;

/// `cudaMemAllocNodeParams`.
#[repr(C)]
pub struct AllocateNode {
    pool: PoolProps,
    access: *const c_void,
    access_count: usize,
    size: usize,
    pointer: *mut c_void,
}

const _: () = assert!(size_of::<AllocateNode>() == 120);

/// `cudaMemAllocationTypePinned`, `cudaMemLocationTypeDevice`.
const PINNED: u32 = 1;
const ON_DEVICE: u32 = 1;

/// Adds a node that allocates, and says where.
///
/// # Safety
/// As `cudaGraphAddMemAllocNode`.
pub unsafe fn add_allocation(node: *mut Handle, graph: Handle, after: &[Handle], params: *mut AllocateNode) -> Result {
    // SAFETY: by contract.
    let params = unsafe { params.as_mut() }.ok_or(CudaError::INVALID_VALUE)?;
    check(!node.is_null() && params.pool.alloc_type == PINNED && params.size != 0)?;
    let device = device()?;
    if params.pool.handle_types != 0 || params.pool.location_type != ON_DEVICE {
        return Err(CudaError::NOT_SUPPORTED);
    }
    device.check(params.pool.location_id)?;
    // SAFETY: by contract.
    unsafe {
        let made = device.add_node(graph, after, NodeWork::Allocate(params.size))?;
        if let NodeParams::Allocate(pointer, _) = device.node_params(made)? {
            params.pointer = pointer;
        }
        put(node, made)
    }
}

/// The ordinal of the one device that has memory of graphs.
fn of_device(index: i32) -> Result<&'static dyn crate::device::seam::Device> {
    let device = device()?;
    device.check(index)?;
    Ok(device)
}

cuda_api! {
    fn cudaGraphAddMemAllocNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *mut AllocateNode
    ) {
        add_allocation(node, graph, handles(after, count)?, params)
    }
    fn cudaGraphAddMemFreeNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, pointer: *mut c_void
    ) {
        check(!node.is_null())?;
        put(node, device()?.add_node(graph, handles(after, count)?, NodeWork::Free(pointer))?)
    }
    fn cudaGraphMemAllocNodeGetParams(node: Handle, target: *mut AllocateNode) {
        let NodeParams::Allocate(pointer, size) = device()?.node_params(node)? else {
            return Err(CudaError::INVALID_VALUE);
        };
        let pool = PoolProps {
            alloc_type: PINNED, handle_types: 0, location_type: ON_DEVICE, location_id: 0, rest: [0; 9]
        };
        put(target, AllocateNode { pool, access: std::ptr::null(), access_count: 0, size, pointer })
    }
    fn cudaGraphMemFreeNodeGetParams(node: Handle, target: *mut c_void) {
        match device()?.node_params(node)? {
            NodeParams::Free(pointer) => put(target.cast(), pointer),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }
    fn cudaDeviceGetGraphMemAttribute(index: i32, which: u32, value: *mut u64) {
        put(value, of_device(index)?.graph_memory(which)?)
    }
    /// The highest values can be set to 0, which begins anew with them.
    fn cudaDeviceSetGraphMemAttribute(index: i32, which: u32, value: *const u64) {
        check(value.as_ref() == Some(&0))?;
        of_device(index)?.reset_graph_memory(which)
    }
    fn cudaDeviceGraphMemTrim(index: i32) { of_device(index)?.trim_graph_memory() }

    fn cudaUserObjectCreate(
        object: *mut Handle, data: *mut c_void, destroy: Option<HostFunction>, count: u32, flags: u32
    ) {
        /// `cudaUserObjectNoDestructorSync`
        const NOBODY_WAITS: u32 = 1;
        check(!object.is_null() && (1..=i32::MAX as u32).contains(&count) && flags == NOBODY_WAITS)?;
        put(object, device()?.create_object(data, destroy.ok_or(CudaError::INVALID_VALUE)?, count)?)
    }
    fn cudaUserObjectRetain(object: Handle, count: u32) {
        check(count != 0)?;
        device()?.retain_object(object, count)
    }
    fn cudaUserObjectRelease(object: Handle, count: u32) {
        check(count != 0)?;
        device()?.release_object(object, count)
    }
    fn cudaGraphRetainUserObject(graph: Handle, object: Handle, count: u32, flags: u32) {
        check(count != 0 && flags <= 1)?;
        device()?.graph_retains(graph, object, count, flags == 1)
    }
    fn cudaGraphReleaseUserObject(graph: Handle, object: Handle, count: u32) {
        check(count != 0)?;
        device()?.graph_releases(graph, object, count)
    }
}
