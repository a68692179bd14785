//! Kernel launches: checks with CUDA's own codes, and the choice of form.
//!
//! A grid runs to its end here; whether a launch waits for that is up to its stream (`later`). A failure of the kernel itself is
//! not the launch's result; it surfaces at the next call that uses the device, as on a GPU.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use regrain_tuning::tasks::blocks_per_task;

use super::calling::nanoseconds;
use super::grid_barrier::GridBarrier;
use super::job::Job;
use super::kernel::Kernel;
use super::pool::Way;
use super::shuffle::{self, Shuffle};
use super::trace::Event;
use super::{caches, checks, later, limits, output, pool, processors, report};
use crate::abi::{Dim3, Entry};
use crate::device::seam::Launch;
use crate::error::{CudaError, Result};

thread_local! {
    /// Blocks of a task of this thread's next launch, 0 for the usual number.
    static TASKS: Cell<u32> = const { Cell::new(0) };
}

/// Which form `REGRAIN_CPU_MODE` asks for: with `REGRAIN_CPU_SEED` and `REGRAIN_CPU_CHECK` coroutines, whose threads meet at barriers one by one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Forms {
    Any,
    Coroutine,
}

fn forms() -> Forms {
    static FORMS: OnceLock<Forms> = OnceLock::new();
    *FORMS.get_or_init(|| match std::env::var("REGRAIN_CPU_MODE").as_deref() {
        _ if shuffle::seed().is_some() || report::strict() => Forms::Coroutine,
        Ok("coroutine") => Forms::Coroutine,
        Ok("split" | "") | Err(_) => Forms::Any,
        Ok(other) => {
            eprintln!(
                "regrain runtime: warning: expected REGRAIN_CPU_MODE to be 'split' or 'coroutine', got '{other}'"
            );
            Forms::Any
        }
    })
}

/// Whether the program is to run the kernels that it wrote: coarser versions exist in the split form alone.
pub fn keeps_grain() -> bool {
    forms() == Forms::Coroutine
}

/// How many blocks an OS thread is to take at once. Holds for the next launch of the calling thread, whether that
/// succeeds or not, and changes no result: a task runs its blocks one after the other.
pub fn set_blocks_per_task(blocks: u32) {
    let _ = TASKS.try_with(|tasks| tasks.set(blocks));
}

/// What [`set_blocks_per_task`] was told, which the next launch then does without.
pub fn take_blocks_per_task() -> u32 {
    take_tasks().unwrap_or_default()
}

/// The same; none where nothing may be asked any more.
pub fn take_tasks() -> Option<u32> {
    TASKS.try_with(Cell::take).ok()
}

/// The split form for this block shape: the variant made for it, else the general one.
fn choose_block_entry(kernel: &Kernel, block: Dim3) -> Option<Entry> {
    if forms() == Forms::Coroutine && kernel.thread_entry.is_some() {
        return None;
    }
    let variant = kernel.variants.iter().find(|(shape, _)| *shape == block.array());
    variant.map(|(_, entry)| *entry).or(kernel.block_entry)
}

/// Whether a launch of this shape can be at all.
pub fn check_shape(kernel: &Kernel, grid: Dim3, block: Dim3, shared: usize) -> Result {
    let positive = |dim: Dim3| dim.x > 0 && dim.y > 0 && dim.z > 0;
    if !positive(grid) || !positive(block) {
        return Err(CudaError::INVALID_CONFIGURATION);
    }
    if grid.x > 0x7fff_ffff || grid.y > 65535 || grid.z > 65535 || block.x > 1024 || block.y > 1024 || block.z > 64 {
        return Err(CudaError::INVALID_CONFIGURATION);
    }
    let threads = u64::from(block.x) * u64::from(block.y) * u64::from(block.z);
    if threads > u64::from(limits::MAX_THREADS_PER_BLOCK) {
        return Err(CudaError::INVALID_CONFIGURATION);
    }
    if kernel.max_threads != 0 && threads > u64::from(kernel.max_threads) {
        return Err(CudaError::INVALID_VALUE);
    }
    if shared > limits::dynamic_shared_limit(kernel) as usize {
        return Err(CudaError::INVALID_VALUE);
    }
    Ok(())
}

/// Whether a launch can be, and whether it is cooperative.
pub fn check(kernel: &Kernel, launch: &Launch) -> Result<bool> {
    let cooperative = launch.is_cooperative()?;
    let Launch { grid, block, shared, .. } = *launch;
    check_shape(kernel, grid, block, shared)?;
    if cooperative {
        let threads = block.x * block.y * block.z;
        if total(grid) > u64::from(limits::max_blocks_per_sm(kernel, threads, shared) * limits::multiprocessors()) {
            return Err(CudaError::COOPERATIVE_LAUNCH_TOO_LARGE);
        }
    }
    if kernel.thread_entry.is_none() && choose_block_entry(kernel, block).is_none() {
        return Err(CudaError::INVALID_DEVICE_FUNCTION);
    }
    Ok(cooperative)
}

pub fn total(grid: Dim3) -> u64 {
    grid.array().into_iter().map(u64::from).fold(1, u64::saturating_mul)
}

/// Nanoseconds that a launch will keep one OS thread busy, if that is known: not of a kernel that may wait for what comes later.
pub fn cost(kernel: &Kernel, grid: Dim3, block: Dim3) -> Option<u64> {
    let time = kernel.pace.of(total(grid), block.array().into_iter().fold(1, u32::saturating_mul));
    // Of coroutines nobody knows which loops wait.
    time.filter(|_| choose_block_entry(kernel, block).is_some() && !kernel.may_wait.load(Ordering::Relaxed))
}

/// Whether the code of a kernel has loops in which it may wait for what the program does next, in the form that blocks of this shape have.
pub fn may_wait(kernel: &Kernel, block: Dim3) -> bool {
    match kernel.threads_may_wait || kernel.blocks_may_wait {
        true if choose_block_entry(kernel, block).is_some() => kernel.blocks_may_wait,
        true => kernel.threads_may_wait,
        false => false,
    }
}

/// Takes note of a kernel that is to be launched. Gives whether it may wait for what the program does next: for such kernels streams go on beside
/// the program with one OS thread, too.
pub fn foresee(kernel: &Kernel, block: Dim3) -> bool {
    let waits = may_wait(kernel, block);
    if processors::threads() == 1 && (waits || kernel.may_wait.load(Ordering::Relaxed)) {
        later::expect_waiting();
    }
    waits
}

/// What a launch asks for, and how its grid runs.
#[derive(Clone, Copy)]
pub struct Asked {
    pub cooperative: bool,
    /// Blocks of a task, 0 for the usual number; none where nothing may be asked any more.
    pub tasks: Option<u32>,
    pub way: Way,
}

/// What a trace says of a launch.
pub fn event_of(name: &str, launch: &Launch) -> Event {
    let of = |shape: Dim3| format!("{}x{}x{}", shape.x, shape.y, shape.z);
    Event::new("kernel", name)
        .text("grid", &of(launch.grid))
        .text("block", &of(launch.block))
        .number("dynamic shared bytes", launch.shared as u64)
}

/// Runs the blocks of the grid of that number.
pub fn run_blocks(kernel: &'static Kernel, launch: &Launch, number: u32, asked: Asked) -> Result {
    let Launch { grid, block, .. } = *launch;
    let threads = total(grid).saturating_mul(u64::from(block.x) * u64::from(block.y) * u64::from(block.z));
    let streams = caches::streams_from(threads);
    let past = streams.is_some() && kernel.ways.next(threads);
    let start = streams.is_some().then(Instant::now);
    let streams = streams.filter(|_| past).unwrap_or(u32::MAX);
    output::connect(kernel);
    if let Some(checker) = checks::checker().filter(|_| !kernel.is_checked) {
        checker.unchecked();
    }
    checks::checker().inspect(|checker| checker.begins_grid(number, total(grid)));
    let refused = pool::run_grid(job(kernel, launch, number, asked, streams), asked.way);
    checks::checker().inspect(|checker| checker.ends_grid(number));
    if let Some(start) = start {
        kernel.ways.learn(threads, past, nanoseconds(start.elapsed()));
    }
    output::drain(kernel);
    if refused { Err(CudaError::NOT_SUPPORTED) } else { Ok(()) }
}

/// A grid as the pool sees it.
pub fn job(kernel: &'static Kernel, launch: &Launch, grid_id: u32, asked: Asked, streams: u32) -> Job {
    let Asked { cooperative, tasks, .. } = asked;
    let Launch { grid, block, shared, .. } = *launch;
    let total = total(grid);
    let block_entry = choose_block_entry(kernel, block);
    let workers = processors::threads() as u64;
    let take_turns = kernel.blocks_meet && block_entry.is_some();
    // How many OS threads meet at the barrier of the grid.
    let meeting = if take_turns { workers.min(total) } else { total };
    let resident =
        || limits::max_blocks_per_sm(kernel, block.x * block.y * block.z, shared) * limits::multiprocessors();
    Job {
        grid,
        block,
        args: launch.args,
        shared: shared as u32,
        grid_id,
        stack_size: limits::coroutine_stack(kernel),
        block_entry,
        thread_entry: kernel.thread_entry,
        shuffle: Shuffle::new(grid_id, resident),
        grid_barrier: cooperative.then(|| GridBarrier::new(total, meeting <= processors::processors() as u64)),
        total,
        chunk: if cooperative { 1 } else { blocks_per_task(tasks, total, workers) },
        chunk_is_asked: cooperative || tasks.is_some_and(|tasks| tasks != 0),
        streams,
        called: OnceLock::new(),
        next: AtomicU64::new(0),
        parts: OnceLock::new(),
        returned: Mutex::default(),
        returns: AtomicU32::new(0),
        help: pool::help,
        workers: AtomicU32::new(workers as u32),
        relief: Mutex::default(),
        has_failed: AtomicBool::new(false),
        is_refused: AtomicBool::new(false),
        kernel,
    }
}
