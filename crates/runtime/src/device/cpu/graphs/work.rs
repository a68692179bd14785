//! What one node does.

use std::ffi::c_void;
use std::sync::Arc;

use super::graph::Plan;
use crate::abi::Dim3;
use crate::device::cpu::kernel::kernel;
use crate::device::cpu::{arrays, copies, events, launches};
use crate::device::seam::{Copy2d, Fill, HostFunction, Launch, NodeWork, Stream, Window};
use crate::error::{CudaError, Result, check};
use crate::images::registry::Function;
use crate::types::{Copy3d, Copy3dPeer, Extent, MemsetNode, PitchedPtr};

/// The bytes of a parameter, aligned as any type needs.
type Parameter = Box<[u128]>;

/// A launch with its own copy of the arguments.
#[derive(Clone)]
pub struct Recorded {
    function: &'static Function,
    grid: Dim3,
    block: Dim3,
    shared: usize,
    cooperative: bool,
    blocks_per_task: u32,
    parameters: Arc<[Parameter]>,
}

impl Recorded {
    /// # Safety
    /// The arguments are what the kernel expects.
    pub unsafe fn new(function: &'static Function, launch: &Launch) -> Result<Self> {
        let cooperative = launch.is_cooperative()?;
        let found = kernel(function)?;
        launches::check_shape(found, launch.grid, launch.block, launch.shared)?;
        check(found.param_sizes.is_empty() || !launch.args.is_null())?;
        let parameter = |(index, size): (usize, &u32)| {
            let mut bytes: Parameter = vec![0; (*size as usize).div_ceil(16)].into();
            // SAFETY: one pointer for each parameter, valid for its size.
            unsafe {
                let from = (*launch.args.add(index)).cast::<u8>();
                std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr().cast(), *size as usize);
            }
            bytes
        };
        Ok(Self {
            function,
            grid: launch.grid,
            block: launch.block,
            shared: launch.shared,
            cooperative,
            blocks_per_task: launches::take_blocks_per_task(),
            parameters: found.param_sizes.iter().enumerate().map(parameter).collect(),
        })
    }

    fn run(&self, stream: Stream) -> Result {
        let mut args: Vec<*mut c_void> = self.parameters.iter().map(|bytes| bytes.as_ptr().cast_mut().cast()).collect();
        let launch = Launch {
            grid: self.grid,
            block: self.block,
            args: args.as_mut_ptr(),
            shared: self.shared,
            stream,
            cooperative: self.cooperative,
            attributes: &[],
        };
        launches::set_blocks_per_task(self.blocks_per_task);
        launches::launch(self.function, &launch)
    }
}

/// # Safety
/// The region is valid, as the caller of the CUDA function promises.
unsafe fn fill(fill: &MemsetNode) -> Result {
    let MemsetNode { to, pitch, value, element, width, height } = *fill;
    let width_in_bytes = width.checked_mul(element as usize).ok_or(CudaError::INVALID_VALUE)?;
    // What a fill of bytes checks is checked; larger elements are written again.
    // SAFETY: by contract.
    unsafe { copies::fill(&Fill { to, pitch, value: value as u8, width: width_in_bytes, height })? };
    for row in 0..if element == 1 { 0 } else { height } {
        let start = to.cast::<u8>().wrapping_add(row * pitch);
        for at in 0..width {
            // SAFETY: by contract.
            unsafe {
                match element {
                    2 => start.cast::<u16>().add(at).write_unaligned(value as u16),
                    _ => start.cast::<u32>().add(at).write_unaligned(value),
                }
            }
        }
    }
    Ok(())
}

/// What a node does.
#[derive(Clone)]
pub enum Work {
    Nothing,
    Kernel(Recorded),
    Copy { to: *mut c_void, from: *const c_void, count: usize, kind: u32 },
    Copy2d(Copy2d),
    Copy3d(Copy3d),
    CopyPeer(Copy3dPeer),
    Window(Window),
    Run(Window),
    Fill(MemsetNode),
    Fill2d(Fill),
    Fill3d(PitchedPtr, u8, Extent),
    Host(HostFunction, *mut c_void),
    Graph(Arc<Plan>),
    Wait(*mut c_void),
    Record(*mut c_void),
}

// SAFETY: pointers of the program, which it may use from any thread.
unsafe impl Send for Work {}
// SAFETY: see `Send`.
unsafe impl Sync for Work {}

impl Work {
    /// # Safety
    /// Pointers in the work are valid, as the caller of the CUDA function promises.
    pub unsafe fn new(work: NodeWork, plan: impl FnOnce(*mut c_void) -> Result<Arc<Plan>>) -> Result<Self> {
        Ok(match work {
            NodeWork::Nothing => Self::Nothing,
            // SAFETY: by contract.
            NodeWork::Kernel(function, launch) => Self::Kernel(unsafe { Recorded::new(function, &launch)? }),
            NodeWork::Copy { to, from, count, kind } => {
                copies::check_copy(to, count, from, count, kind)?;
                Self::Copy { to, from, count, kind }
            }
            NodeWork::Copy3d(copy) => Self::Copy3d(*copy),
            NodeWork::Fill(fill) => {
                check(matches!(fill.element, 1 | 2 | 4) && !fill.to.is_null())?;
                Self::Fill(*fill)
            }
            NodeWork::Host(function, data) => Self::Host(function, data),
            NodeWork::Graph(graph) => Self::Graph(plan(graph)?),
            NodeWork::Wait(event) => events::check(event).map(|()| Self::Wait(event))?,
            NodeWork::Record(event) => events::check(event).map(|()| Self::Record(event))?,
        })
    }

    /// The value of `cudaGraphNodeType`.
    pub fn kind(&self) -> u32 {
        match self {
            Self::Kernel(_) => 0,
            Self::Copy { .. }
            | Self::Copy2d(_)
            | Self::Copy3d(_)
            | Self::CopyPeer(_)
            | Self::Window(_)
            | Self::Run(_) => 1,
            Self::Fill(_) | Self::Fill2d(_) | Self::Fill3d(..) => 2,
            Self::Host(..) => 3,
            Self::Graph(_) => 4,
            Self::Nothing => 5,
            Self::Wait(_) => 6,
            Self::Record(_) => 7,
        }
    }

    /// Does it.
    pub fn run(&self, stream: Stream) -> Result {
        // SAFETY: what the program promised when it described the work.
        unsafe {
            match self {
                Self::Nothing => Ok(()),
                Self::Kernel(launch) => launch.run(stream),
                Self::Copy { to, from, count, kind } => copies::copy(*to, *from, *count, *kind),
                Self::Copy2d(copy) => copies::copy_2d(copy),
                Self::Copy3d(copy) => arrays::copy_3d(copy),
                Self::CopyPeer(copy) => arrays::copy_peer(copy),
                Self::Window(window) => arrays::copy_window(window),
                Self::Run(window) => arrays::copy_run(window),
                Self::Fill(elements) => fill(elements),
                Self::Fill2d(fill) => copies::fill(fill),
                Self::Fill3d(to, value, extent) => arrays::fill_3d(*to, *value, *extent),
                Self::Host(function, data) => {
                    function(*data);
                    Ok(())
                }
                Self::Graph(plan) => plan.run(stream),
                Self::Wait(event) => events::check(*event),
                Self::Record(event) => events::record(*event, stream),
            }
        }
    }
}
