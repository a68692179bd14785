//! Kernel launches: the configuration stack of `<<<>>>`, checks with CUDA's own codes, and the choice of form.
//!
//! A launch runs the grid to its end before it returns. Stream order holds trivially. A failure of the kernel itself is not the
//! launch's result; it surfaces at the next call that uses the device, as on a GPU.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use regrain_tuning::tasks::blocks_per_task;

use crate::abi::{Dim3, Entry};
use crate::device;
use crate::error::{CudaError, Result, device_ok};
use crate::grid::GridBarrier;
use crate::job::Job;
use crate::macros::{cuda_api, put};
use crate::registration::{Kernel, kernel};
use crate::stream;

/// What `<<<>>>` says, until the stub takes it.
type Configuration = (Dim3, Dim3, usize, *mut c_void);

thread_local! {
    /// Never dropped, so that destructors of static objects can launch too; it holds no memory while it is empty.
    static CONFIGURATIONS: ManuallyDrop<RefCell<Vec<Configuration>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
    /// Blocks of a task of this thread's next launch, 0 for the usual number.
    static TASKS: Cell<u32> = const { Cell::new(0) };
}

#[unsafe(no_mangle)]
extern "C" fn __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared: usize, stream: *mut c_void) -> u32 {
    CONFIGURATIONS.with(|stack| stack.borrow_mut().push((grid, block, shared, stream)));
    // Anything else would make the compiled launch skip the kernel.
    0
}

cuda_api! {
    fn __cudaPopCallConfiguration(grid: *mut Dim3, block: *mut Dim3, shared: *mut usize, stream: *mut *mut c_void) {
        let top = CONFIGURATIONS.with(|stack| {
            let mut stack = stack.borrow_mut();
            let top = stack.pop();
            if stack.is_empty() {
                *stack = Vec::new();
            }
            top.ok_or(CudaError::MISSING_CONFIGURATION)
        })?;
        put(grid, top.0)?;
        put(block, top.1)?;
        put(shared, top.2)?;
        put(stream, top.3)
    }

    fn cudaLaunchKernel / cudaLaunchKernel_ptsz(
        stub: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: usize, stream: *mut c_void
    ) {
        launch(stub, grid, block, args, shared, stream, false)
    }

    fn cudaLaunchCooperativeKernel / cudaLaunchCooperativeKernel_ptsz(
        stub: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: usize, stream: *mut c_void
    ) {
        launch(stub, grid, block, args, shared, stream, true)
    }

    fn cudaLaunchKernelExC / cudaLaunchKernelExC_ptsz(config: *const LaunchConfig, stub: *const c_void, args: *mut *mut c_void) {
        let config = config.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        let mut cooperative = false;
        for at in 0..config.num_attrs as usize {
            let attribute = &*config.attrs.add(at);
            match attribute.id {
                ATTRIBUTE_COOPERATIVE => cooperative = attribute.value[0] as u32 != 0,
                ATTRIBUTE_CLUSTER => {
                    // Three dimensions of 32 bits: a cluster of one block is no cluster.
                    let sizes = [attribute.value[0] as u32, (attribute.value[0] >> 32) as u32, attribute.value[1] as u32];
                    if sizes.iter().any(|size| *size > 1) {
                        return Err(CudaError::NOT_SUPPORTED);
                    }
                }
                // Hints about caches, priority and overlap: nothing to do for a launch that runs at once.
                0 | 1 | 3 | 5 | 6 | 8 | 9 | 10 | 14 => {}
                _ => return Err(CudaError::NOT_SUPPORTED),
            }
        }
        launch(stub, config.grid, config.block, args, config.shared, config.stream, cooperative)
    }
}

const ATTRIBUTE_COOPERATIVE: u32 = 2;
const ATTRIBUTE_CLUSTER: u32 = 4;

/// `cudaLaunchConfig_t`.
#[repr(C)]
pub struct LaunchConfig {
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: usize,
    pub stream: *mut c_void,
    pub attrs: *const LaunchAttribute,
    pub num_attrs: u32,
}

/// `cudaLaunchAttribute`: an id and a union of 64 bytes.
#[repr(C)]
pub struct LaunchAttribute {
    pub id: u32,
    pub pad: u32,
    pub value: [u64; 8],
}

/// Which form `REGRAIN_CPU_MODE` asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Forms {
    Any,
    Coroutine,
}

fn forms() -> Forms {
    static FORMS: OnceLock<Forms> = OnceLock::new();
    *FORMS.get_or_init(|| match std::env::var("REGRAIN_CPU_MODE").as_deref() {
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

/// Asked by host code before it launches a coarser version of a kernel, which exists in the split form alone: whether the
/// program is to run the kernels that it wrote.
#[unsafe(no_mangle)]
extern "C" fn __regrain_keeps_grain() -> i32 {
    i32::from(forms() == Forms::Coroutine)
}

/// Said by host code before a launch: how many blocks an OS thread is to take at once. Holds for the next launch of the calling
/// thread, whether that succeeds or not, and changes no result: a task runs its blocks one after the other.
#[unsafe(no_mangle)]
extern "C" fn __regrain_blocks_per_task(blocks: u32) {
    let _ = TASKS.try_with(|tasks| tasks.set(blocks));
}

/// The split form for this block shape: the variant made for it, else the general one.
fn choose_block_entry(kernel: &Kernel, block: Dim3) -> Option<Entry> {
    if forms() == Forms::Coroutine && kernel.thread_entry.is_some() {
        return None;
    }
    let variant = kernel.variants.iter().find(|(shape, _)| *shape == block.array());
    variant.map(|(_, entry)| *entry).or(kernel.block_entry)
}

fn check_shape(kernel: &Kernel, grid: Dim3, block: Dim3, shared: usize) -> Result {
    let positive = |dim: Dim3| dim.x > 0 && dim.y > 0 && dim.z > 0;
    if !positive(grid) || !positive(block) {
        return Err(CudaError::INVALID_CONFIGURATION);
    }
    if grid.x > 0x7fff_ffff || grid.y > 65535 || grid.z > 65535 || block.x > 1024 || block.y > 1024 || block.z > 64 {
        return Err(CudaError::INVALID_CONFIGURATION);
    }
    let threads = u64::from(block.x) * u64::from(block.y) * u64::from(block.z);
    if threads > u64::from(device::MAX_THREADS_PER_BLOCK) {
        return Err(CudaError::INVALID_CONFIGURATION);
    }
    if kernel.max_threads != 0 && threads > u64::from(kernel.max_threads) {
        return Err(CudaError::INVALID_VALUE);
    }
    if shared > dynamic_shared_limit(kernel) as usize {
        return Err(CudaError::INVALID_VALUE);
    }
    Ok(())
}

/// Dynamic shared memory that a launch of this kernel may ask for.
pub fn dynamic_shared_limit(kernel: &Kernel) -> u32 {
    let default = device::SHARED_PER_BLOCK.saturating_sub(kernel.static_shared);
    default.max(kernel.max_dynamic_shared.load(Ordering::Relaxed))
}

fn launch(
    stub: *const c_void,
    grid: Dim3,
    block: Dim3,
    args: *mut *mut c_void,
    shared: usize,
    stream: *mut c_void,
    cooperative: bool,
) -> Result {
    static GRIDS: AtomicU32 = AtomicU32::new(1);
    let tasks = TASKS.try_with(Cell::take).ok();
    device_ok()?;
    stream::check(stream)?;
    let kernel = kernel(stub)?;
    check_shape(&kernel, grid, block, shared)?;
    let total = u64::from(grid.x) * u64::from(grid.y) * u64::from(grid.z);
    if cooperative {
        let threads = block.x * block.y * block.z;
        if total > u64::from(device::max_blocks_per_sm(&kernel, threads, shared)) * u64::from(device::multiprocessors())
        {
            return Err(CudaError::COOPERATIVE_LAUNCH_TOO_LARGE);
        }
    }
    let block_entry = choose_block_entry(&kernel, block);
    if block_entry.is_none() && kernel.thread_entry.is_none() {
        return Err(CudaError::INVALID_DEVICE_FUNCTION);
    }
    kernel.launches.fetch_add(1, Ordering::Relaxed);
    let workers = crate::pool::threads() as u64;
    crate::pool::run_grid(Job {
        grid,
        block,
        args,
        shared: shared as u32,
        grid_id: GRIDS.fetch_add(1, Ordering::Relaxed),
        stack_size: device::coroutine_stack(&kernel),
        block_entry,
        thread_entry: kernel.thread_entry,
        grid_barrier: cooperative.then(|| GridBarrier::new(total)),
        total,
        chunk: if cooperative { 1 } else { blocks_per_task(tasks, total, workers) },
        next: AtomicU64::new(0),
        has_failed: AtomicBool::new(false),
        kernel,
    });
    Ok(())
}

const _: () = assert!(size_of::<LaunchAttribute>() == 72);
const _: () = assert!(size_of::<LaunchConfig>() == 56);
