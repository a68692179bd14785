//! Grids that kernels launch (dynamic parallelism).
//!
//! What a grid's threads launch is kept until the grid's own blocks have ended, and then runs in the order of the calls, each with all that
//! it launches itself before the next. That is an order for every stream of device code: those of one block or of several, the one that
//! fires and forgets, and, at the end of the grid's own list, the one for tail launches. A list of lists takes the place of recursion, and
//! what has nothing behind it leaves its list before it runs: a chain of tail launches takes no memory.
//!
//! ```text
//! parent: a, b, tail t      run: parent | a | c | d | b | t
//!      a: c, d
//! ```
//! The parent is complete when its list is empty: that is when the launch on the host is over.
//!
//! A block that waits for what it has launched (`cudaDeviceSynchronize` of CUDA before 12) lets another OS thread run that, since its own
//! memory is its OS thread's.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::failure::device_ok;
use super::job::next_grid;
use super::kernel::{Kernel, kernel};
use super::launches::Asked;
use super::pool::Way;
use super::trace::traced;
use super::{caches, failure, launches};
use crate::abi::Dim3;
use crate::device::seam::Launch;
use crate::error::{CudaError, Result};
use crate::images::registry::Function;

/// How deep grids may nest below the one that the host launches, as on NVIDIA's devices.
const MAX_DEPTH: u32 = 24;

/// A thread of a grid: its block and its number there, or a block alone.
pub type Caller = (u64, u32);

/// A launch with its arguments.
pub struct ChildGrid {
    pub kernel: &'static Kernel,
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: u32,
    /// Where the arguments lie, as in CUDA's parameter space.
    pub parameters: Parameters,
}

/// Memory that device code got for arguments (`device_calls`).
pub struct Parameters(pub *mut c_void);

// SAFETY: the memory is the launch's own.
unsafe impl Send for Parameters {}

/// What a stream of device code is asked to do.
pub enum Task {
    Grid(ChildGrid),
    /// Copies and fills.
    Other(Box<dyn FnOnce() -> Result + Send>),
}

struct Child {
    block: u64,
    depth: u32,
    task: Task,
}

/// What is known of a grid that runs.
#[derive(Default)]
struct Parent {
    depth: u32,
    children: VecDeque<Child>,
    tails: VecDeque<Child>,
    /// The last error of each thread.
    errors: HashMap<Caller, CudaError>,
}

/// How many grids have something in [`parents`]: most programs launch nothing from device code.
static KNOWN: AtomicUsize = AtomicUsize::new(0);

fn parents() -> MutexGuard<'static, HashMap<u32, Parent>> {
    static PARENTS: OnceLock<Mutex<HashMap<u32, Parent>>> = OnceLock::new();
    PARENTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Changes what is known of a grid.
fn with_parent<T>(grid: u32, change: impl FnOnce(&mut Parent) -> T) -> T {
    let mut parents = parents();
    let result = change(parents.entry(grid).or_default());
    KNOWN.store(parents.len(), Ordering::Release);
    result
}

/// Forgets a grid that has ended; what is left to be done then, in order.
fn take(grid: u32) -> VecDeque<Child> {
    if KNOWN.load(Ordering::Acquire) == 0 {
        return VecDeque::new();
    }
    let mut parents = parents();
    let Some(mut parent) = parents.remove(&grid) else { return VecDeque::new() };
    KNOWN.store(parents.len(), Ordering::Release);
    parent.children.append(&mut parent.tails);
    parent.children
}

/// Keeps the error of a thread until it asks for it.
pub fn set_error(grid: u32, caller: Caller, error: CudaError) {
    with_parent(grid, |parent| parent.errors.insert(caller, error));
}

/// The last error of a thread, which forgets it if it `takes` it.
pub fn last_error(grid: u32, caller: Caller, takes: bool) -> u32 {
    if KNOWN.load(Ordering::Acquire) == 0 {
        return 0;
    }
    let mut parents = parents();
    let Some(parent) = parents.get_mut(&grid) else { return 0 };
    let found = if takes { parent.errors.remove(&caller) } else { parent.errors.get(&caller).copied() };
    found.map_or(0, |error| error.0)
}

/// Adds to what is to be done for a block of a grid; `tail`: when all else of the grid is over.
pub fn add(grid: u32, block: u64, task: Task, tail: bool) -> Result {
    with_parent(grid, |parent| {
        // What follows a grid takes its place.
        let deeper = u32::from(!tail && matches!(task, Task::Grid(_)));
        let depth = parent.depth + deeper;
        if depth > MAX_DEPTH {
            return Err(CudaError::LAUNCH_MAX_DEPTH_EXCEEDED);
        }
        let list = if tail { &mut parent.tails } else { &mut parent.children };
        list.push_back(Child { block, depth, task });
        Ok(())
    })
}

/// Checks a launch and runs the grid, and all that its threads launch, to its end.
pub fn launch(function: &'static Function, launch: &Launch, way: Way) -> Result {
    let tasks = launches::take_tasks();
    device_ok()?;
    let kernel = kernel(function)?;
    let cooperative = launches::check(kernel, launch)?;
    run(kernel, launch, Asked { cooperative, tasks, way })
}

/// Runs a grid, and all that its threads launch, to its end.
pub fn run(kernel: &'static Kernel, launch: &Launch, asked: Asked) -> Result {
    let number = next_grid();
    let done = launches::run_blocks(kernel, launch, number, asked);
    let launched = take(number);
    if launched.is_empty() { done } else { done.and(run_lists(launched, asked.way)) }
}

fn run_lists(first: VecDeque<Child>, way: Way) -> Result {
    let mut lists = vec![first];
    while let Some(list) = lists.last_mut() {
        let Some(child) = list.pop_front() else {
            lists.pop();
            continue;
        };
        if list.is_empty() {
            lists.pop();
        }
        if failure::is_pending() {
            return Ok(());
        }
        match child.task {
            Task::Other(work) => work().unwrap_or_else(failure::set_pending),
            Task::Grid(grid) => lists.push(run_one(&grid, child.depth, way)?),
        }
    }
    Ok(())
}

/// Runs a grid's own blocks; gives what they launched.
fn run_one(child: &ChildGrid, depth: u32, way: Way) -> Result<VecDeque<Child>> {
    let ChildGrid { kernel, grid, block, shared, ref parameters } = *child;
    let mut args = arguments(kernel, parameters.0);
    let (args, shared) = (args.as_mut_ptr(), shared as usize);
    let number = next_grid();
    with_parent(number, |parent| parent.depth = depth);
    let stream = std::ptr::null_mut();
    let launch = Launch { grid, block, args, shared, stream, cooperative: false, attributes: &[] };
    let asked = Asked { cooperative: false, tasks: Some(0), way };
    let event = || launches::event_of(kernel.source_name(), &launch);
    let run = || traced(stream, event, || launches::run_blocks(kernel, &launch, number, asked));
    let done = launches::check(kernel, &launch).and_then(|_| run());
    let launched = take(number);
    done.map(|()| launched)
}

/// Where each argument lies.
fn arguments(kernel: &Kernel, parameters: *mut c_void) -> Vec<*mut c_void> {
    let mut offset = 0usize;
    let place = |(size, aligned): (&u32, &u32)| {
        offset = offset.next_multiple_of(*aligned as usize);
        let place = parameters.wrapping_byte_add(offset);
        offset += *size as usize;
        place
    };
    kernel.param_sizes.iter().zip(&kernel.param_alignments).map(place).collect()
}

/// Runs what a block has launched so far, and all that this launches, while the block waits.
pub fn wait_for_block(grid: u32, block: u64) -> Result {
    let of_block = with_parent(grid, |parent| {
        let (own, others) = std::mem::take(&mut parent.children).into_iter().partition(|child| child.block == block);
        parent.children = others;
        own
    });
    if VecDeque::is_empty(&of_block) {
        return Ok(());
    }
    caches::settle();
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("regrain-children".into());
        let made = builder.spawn_scoped(scope, || run_lists(of_block, Way::Inside));
        let done = made.map_err(|_| CudaError::MEMORY_ALLOCATION)?;
        done.join().unwrap_or(Err(CudaError::UNKNOWN))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_nest_to_a_depth() {
        let task = || Task::Other(Box::new(|| Ok(())));
        let number = next_grid();
        with_parent(number, |parent| parent.depth = MAX_DEPTH);
        assert_eq!(add(number, 0, task(), false), Ok(()));
        assert_eq!(add(number, 1, task(), true), Ok(()));
        assert_eq!(take(number).iter().map(|child| child.block).collect::<Vec<_>>(), [0, 1]);
        assert!(take(number).is_empty());
    }

    #[test]
    fn an_error_is_a_threads_own() {
        let number = next_grid();
        set_error(number, (3, 1), CudaError::INVALID_VALUE);
        assert_eq!(last_error(number, (3, 2), false), 0);
        assert_eq!(last_error(number, (3, 1), false), 1);
        assert_eq!((last_error(number, (3, 1), true), last_error(number, (3, 1), true)), (1, 0));
        assert!(take(number).is_empty());
    }
}
