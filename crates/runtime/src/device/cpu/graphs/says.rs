//! What a node does, as the program reads it back: copies and fills of all kinds as the one form that CUDA has for them.

use std::ffi::c_void;

use super::work::Work;
use crate::device::cpu::arrays::array;
use crate::device::seam::{Copy2d, Fill, NodeParams, Window};
use crate::error::{CudaError, Result};
use crate::types::{Copy3d, Copy3dPeer, DEVICE_TO_DEVICE, Extent, MemsetNode, PitchedPtr, Pos};

const START: Pos = Pos { x: 0, y: 0, z: 0 };
const NOWHERE: PitchedPtr = PitchedPtr { ptr: std::ptr::null_mut(), pitch: 0, xsize: 0, ysize: 0 };

fn rows(ptr: *mut c_void, pitch: usize, width: usize, height: usize) -> PitchedPtr {
    PitchedPtr { ptr, pitch, xsize: width, ysize: height }
}

fn of_rows(copy: &Copy2d) -> Copy3d {
    let Copy2d { to, to_pitch, from, from_pitch, width, height, kind } = *copy;
    Copy3d {
        src_array: std::ptr::null_mut(),
        src_pos: START,
        src_ptr: rows(from.cast_mut(), from_pitch, width, height),
        dst_array: std::ptr::null_mut(),
        dst_pos: START,
        dst_ptr: rows(to, to_pitch, width, height),
        extent: Extent { width, height, depth: 1 },
        kind,
    }
}

/// Extents of copies with arrays count elements.
fn of_window(window: &Window) -> Result<Copy3d> {
    let element = array(window.array)?.element;
    if !window.x.is_multiple_of(element) || !window.width.is_multiple_of(element) {
        return Err(CudaError::NOT_SUPPORTED);
    }
    let (inside, null) = (window.array.cast_mut(), std::ptr::null_mut());
    let at = Pos { x: window.x / element, y: window.y, z: 0 };
    let memory = rows(window.memory, window.pitch, window.width, window.height);
    let extent = Extent { width: window.width / element, height: window.height, depth: 1 };
    let kind = window.kind;
    Ok(if window.into_array {
        Copy3d {
            src_array: null,
            src_pos: START,
            src_ptr: memory,
            dst_array: inside,
            dst_pos: at,
            dst_ptr: NOWHERE,
            extent,
            kind,
        }
    } else {
        Copy3d {
            src_array: inside,
            src_pos: at,
            src_ptr: NOWHERE,
            dst_array: null,
            dst_pos: START,
            dst_ptr: memory,
            extent,
            kind,
        }
    })
}

fn of_peer(copy: &Copy3dPeer) -> Copy3d {
    let Copy3dPeer { src_array, src_pos, src_ptr, dst_array, dst_pos, dst_ptr, extent, .. } = *copy;
    Copy3d { src_array, src_pos, src_ptr, dst_array, dst_pos, dst_ptr, extent, kind: DEVICE_TO_DEVICE }
}

fn of_fill(fill: &Fill) -> MemsetNode {
    let Fill { to, pitch, value, width, height } = *fill;
    MemsetNode { to, pitch, value: value.into(), element: 1, width, height }
}

/// What a node does.
///
/// # Errors
/// CUDA has no form for it, or it is a version of a kernel that the program did not write.
pub fn params(work: &Work) -> Result<NodeParams> {
    Ok(match work {
        Work::Nothing => NodeParams::Nothing,
        Work::Kernel(launch) => {
            let name = launch.function().name.to_bytes();
            let is_own = !name.contains(&b'$') || name.ends_with(b"$original");
            if !is_own {
                return Err(CudaError::NOT_SUPPORTED);
            }
            NodeParams::Kernel(launch.function(), launch.launch(std::ptr::null_mut()))
        }
        Work::Copy { to, from, count, kind } => NodeParams::Copy(of_rows(&Copy2d {
            to: *to,
            to_pitch: *count,
            from: *from,
            from_pitch: *count,
            width: *count,
            height: 1,
            kind: *kind,
        })),
        Work::Copy2d(copy) => NodeParams::Copy(of_rows(copy)),
        Work::Copy3d(copy) => NodeParams::Copy(*copy),
        Work::CopyPeer(copy) => NodeParams::Copy(of_peer(copy)),
        Work::Window(window) => NodeParams::Copy(of_window(window)?),
        Work::Fill(fill) => NodeParams::Fill(*fill),
        Work::Fill2d(fill) => NodeParams::Fill(of_fill(fill)),
        Work::Host(function, data) => NodeParams::Host(*function, *data),
        Work::Graph(child) => NodeParams::Graph(child.body as *mut c_void),
        Work::Wait(event) => NodeParams::Wait(*event),
        Work::Record(event) => NodeParams::Record(*event),
        Work::Allocate(region) => NodeParams::Allocate(region.pointer(), region.size()),
        Work::Free(region) => NodeParams::Free(region.pointer()),
        Work::Run(_) | Work::Fill3d(..) | Work::Conditional(_) => return Err(CudaError::NOT_SUPPORTED),
    })
}
