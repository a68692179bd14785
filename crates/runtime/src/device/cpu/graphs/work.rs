//! What one node does.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;

use super::conditional::{self, Condition};
use super::embedded::Child;
use super::memory::{self, Region};
use crate::abi::Dim3;
use crate::device::cpu::calling::nanoseconds;
use crate::device::cpu::failure::device_ok;
use crate::device::cpu::job::{Job, next_grid};
use crate::device::cpu::kept::host_function;
use crate::device::cpu::kernel::{Kernel, device_code_may_launch, kernel};
use crate::device::cpu::launches::Asked;
use crate::device::cpu::pool::Way;
use crate::device::cpu::{arrays, children, copies, events, launches, shuffle};
use crate::device::seam::{
    ATTRIBUTE_COOPERATIVE, Copy2d, Fill, HostFunction, Launch, NodeWork, PER_THREAD, Stream, Window,
};
use crate::error::{CudaError, Result, check};
use crate::images::registry::Function;
use crate::types::{Copy3d, Copy3dPeer, Extent, LaunchAttribute, MemsetNode, PitchedPtr};

/// Parameters of a launch, one after the other and each aligned as any type needs, and where they begin.
struct Parameters {
    _bytes: Box<[u128]>,
    pointers: Box<[*mut c_void]>,
}

// SAFETY: pointers into what it owns, which nobody writes to.
unsafe impl Send for Parameters {}
// SAFETY: see `Send`.
unsafe impl Sync for Parameters {}

/// A launch with its own copy of the arguments.
#[derive(Clone)]
pub struct Recorded {
    function: &'static Function,
    kernel: &'static Kernel,
    grid: Dim3,
    block: Dim3,
    shared: usize,
    cooperative: bool,
    blocks_per_task: u32,
    parameters: Arc<Parameters>,
    /// Attributes of the launch by their numbers.
    attributes: Vec<(u32, [u64; 8])>,
}

impl Parameters {
    /// # Safety
    /// One pointer for each parameter of the kernel, valid for its size.
    unsafe fn new(kernel: &Kernel, args: *mut *mut c_void) -> Self {
        let words = |size: &u32| (*size as usize).div_ceil(16);
        let mut bytes: Box<[u128]> = vec![0; kernel.param_sizes.iter().map(words).sum()].into();
        let mut at = bytes.as_mut_ptr();
        let parameter = |(index, size): (usize, &u32)| {
            let here = at.cast::<u8>();
            // SAFETY: by contract; there is room for each.
            unsafe {
                std::ptr::copy_nonoverlapping((*args.add(index)).cast::<u8>(), here, *size as usize);
                at = at.add(words(size));
            }
            here.cast()
        };
        let pointers = kernel.param_sizes.iter().enumerate().map(parameter).collect();
        Self { _bytes: bytes, pointers }
    }
}

impl Recorded {
    /// # Safety
    /// The arguments are what the kernel expects.
    pub unsafe fn new(function: &'static Function, launch: &Launch) -> Result<Self> {
        let blocks_per_task = launches::take_blocks_per_task();
        let kernel = kernel(function)?;
        let cooperative = launches::check(kernel, launch)?;
        launches::foresee(kernel, launch.block);
        check(kernel.param_sizes.is_empty() || !launch.args.is_null())?;
        Ok(Self {
            function,
            kernel,
            grid: launch.grid,
            block: launch.block,
            shared: launch.shared,
            cooperative,
            blocks_per_task,
            // SAFETY: by contract.
            parameters: Arc::new(unsafe { Parameters::new(kernel, launch.args) }),
            attributes: launch.attributes.iter().map(|attribute| (attribute.id, attribute.value)).collect(),
        })
    }

    /// The kernel as the program knows it.
    pub fn function(&self) -> &'static Function {
        self.function
    }

    /// The value of an attribute; what was not set is 0.
    pub fn attribute(&self, which: u32) -> [u64; 8] {
        if which == ATTRIBUTE_COOPERATIVE {
            return [self.cooperative.into(), 0, 0, 0, 0, 0, 0, 0];
        }
        self.attributes.iter().find(|known| known.0 == which).map_or([0; 8], |known| known.1)
    }

    pub fn set_attribute(&mut self, attribute: &LaunchAttribute) -> Result {
        let of_all = Launch { attributes: std::slice::from_ref(attribute), ..self.launch(std::ptr::null_mut()) };
        self.cooperative = launches::check(self.kernel, &of_all)?;
        self.attributes.retain(|known| known.0 != attribute.id);
        self.attributes.push((attribute.id, attribute.value));
        Ok(())
    }

    /// Takes over the attributes of another kernel's node.
    pub fn copy_attributes(&mut self, from: &Self) {
        self.cooperative = from.cooperative;
        self.attributes.clone_from(&from.attributes);
    }

    pub fn launch(&self, stream: Stream) -> Launch<'static> {
        Launch {
            grid: self.grid,
            block: self.block,
            args: self.parameters.pointers.as_ptr().cast_mut(),
            shared: self.shared,
            stream,
            cooperative: self.cooperative,
            attributes: &[],
        }
    }

    fn asked(&self, way: Way) -> Asked {
        Asked { cooperative: self.cooperative, tasks: Some(self.blocks_per_task), way }
    }

    pub fn cost(&self) -> Option<u64> {
        launches::cost(self.kernel, self.grid, self.block)
    }

    fn run(&self, stream: Stream, way: Way) -> Result {
        device_ok()?;
        let start = self.cost().is_none().then(Instant::now);
        children::run(self.kernel, &self.launch(stream), self.asked(way))?;
        if let (Some(start), None) = (start, self.cost()) {
            let threads = self.block.x * self.block.y * self.block.z;
            self.kernel.pace.learn(nanoseconds(start.elapsed()), launches::total(self.grid), threads);
        }
        Ok(())
    }

    /// As the pool sees it, where it may be one of a row of small grids that one OS thread runs.
    pub fn small(&self) -> Option<Job> {
        let plain = !self.cooperative && self.kernel.output.is_none() && shuffle::seed().is_none();
        if !plain || device_code_may_launch() {
            return None;
        }
        let asked = self.asked(Way::Alone);
        let job = launches::job(self.kernel, &self.launch(PER_THREAD), next_grid(), asked, u32::MAX);
        job.block_entry.is_some().then_some(job)
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

/// What a copy moves in a nanosecond, at best.
const BYTES_PER_NANOSECOND: u64 = 8;

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
    Graph(Child),
    Conditional(Arc<Condition>),
    Wait(*mut c_void),
    Record(*mut c_void),
    Allocate(Arc<Region>),
    Free(Arc<Region>),
}

// SAFETY: pointers of the program, which it may use from any thread.
unsafe impl Send for Work {}
// SAFETY: see `Send`.
unsafe impl Sync for Work {}

impl Work {
    /// # Safety
    /// Pointers in the work are valid, as the caller of the CUDA function promises.
    pub unsafe fn new(work: NodeWork, child: impl FnOnce(*mut c_void) -> Result<Child>) -> Result<Self> {
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
            NodeWork::Graph(graph) => Self::Graph(child(graph)?),
            NodeWork::Wait(event) => events::check(event).map(|()| Self::Wait(event))?,
            NodeWork::Record(event) => events::check(event).map(|()| Self::Record(event))?,
            NodeWork::Free(pointer) => Self::Free(memory::find(pointer).ok_or(CudaError::INVALID_VALUE)?),
            // What is free depends on where the node comes to stand.
            NodeWork::Allocate(_) => return Err(CudaError::INVALID_VALUE),
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
            Self::Allocate(_) => 10,
            Self::Free(_) => 11,
            Self::Conditional(_) => 13,
        }
    }

    /// Nanoseconds that it will keep one OS thread busy, if that is known.
    pub fn cost(&self) -> Option<u64> {
        let bytes = match self {
            Self::Kernel(launch) => return launch.cost(),
            Self::Graph(child) => return child.plan.cost(),
            Self::Host(..) | Self::Conditional(_) => return None,
            Self::Nothing | Self::Wait(_) | Self::Record(_) | Self::Allocate(_) | Self::Free(_) => 0,
            Self::Copy { count, .. } => *count,
            Self::Copy2d(copy) => copy.width * copy.height,
            Self::Copy3d(copy) => copies::volume(copy.extent),
            Self::CopyPeer(copy) => copies::volume(copy.extent),
            Self::Window(window) | Self::Run(window) => window.width * window.height,
            Self::Fill(fill) => fill.width * fill.height * fill.element as usize,
            Self::Fill2d(fill) => fill.width * fill.height,
            Self::Fill3d(_, _, extent) => copies::volume(*extent),
        };
        Some(bytes as u64 / BYTES_PER_NANOSECOND)
    }

    /// Whether a thread of the program has to do it, as it waits for events or leaves some.
    pub fn has_events(&self) -> bool {
        match self {
            Self::Wait(_) | Self::Record(_) => true,
            Self::Graph(child) => child.plan.has_events(),
            Self::Conditional(condition) => condition.has_events(),
            Self::Kernel(launch) => launch.kernel.output.is_some(),
            _ => false,
        }
    }

    /// Whether it may wait for what the program does next.
    pub fn may_wait(&self) -> bool {
        match self {
            Self::Kernel(launch) => launches::may_wait(launch.kernel, launch.block),
            Self::Graph(child) => child.plan.may_wait(),
            Self::Conditional(condition) => condition.may_wait(),
            _ => false,
        }
    }

    /// Does it.
    pub fn run(&self, stream: Stream, way: Way) -> Result {
        // SAFETY: what the program promised when it described the work.
        unsafe {
            match self {
                Self::Nothing => Ok(()),
                Self::Kernel(launch) => launch.run(stream, way),
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
                    host_function(|| function(*data));
                    Ok(())
                }
                Self::Graph(child) => {
                    conditional::start(&child.plan);
                    child.plan.run(stream, way)
                }
                Self::Conditional(condition) => condition.run(stream, way),
                Self::Wait(event) => events::wait(*event),
                Self::Record(event) => events::record(*event, stream),
                Self::Allocate(region) => {
                    region.touch();
                    Ok(())
                }
                Self::Free(_) => Ok(()),
            }
        }
    }
}
