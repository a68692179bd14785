//! One OS thread that runs blocks: its coroutines, stacks, and the state of the block at hand.
//!
//! Two ways to run a block:
//! - *split*: `block_entry` runs the whole block;
//! - *coroutines*: `thread_entry` runs every thread, in as many stackful coroutines as threads wait at once (`scheduler.rs`).
//!
//! Split blocks run inside one big coroutine per worker too, so that a trap or a failed assertion can leave them from any depth.
//!
//! Shared mutable state is reached through a raw pointer (`Tls::runtime`), never through long-lived references: coroutines and
//! scheduler take turns on it on one OS thread.

use corosensei::{Coroutine, Yielder};

use crate::abi::{Dim3, Tls, dynamic_shared, tls};
use crate::barrier::Barriers;
use crate::error::CudaError;
use crate::job::Job;
use crate::scheduler::{Coro, Thread, Warp};
use crate::stack::StackPool;

/// Address space for split blocks; committed lazily.
const BIG_STACK: usize = 256 << 20;
const SPINS_PER_YIELD: u32 = 32;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Idle,
    Whole,
    Coroutines,
}

pub struct Worker {
    pub tls: *mut Tls,
    pub job: *const Job,
    pub mode: Mode,
    /// Set when the block at hand must be given up.
    pub abandon: bool,
    /// A thread of this block has ended by `exit`: its coroutine is still there.
    pub exited: bool,
    pub stacks: StackPool,
    pub big_stack: StackPool,
    /// Yielder of the big coroutine while it runs.
    pub whole_yielder: *const Yielder<(), ()>,
    pub coroutines: Vec<Option<Coro>>,
    /// Places of `coroutines` that are empty.
    pub free_slots: Vec<u32>,
    pub threads: Vec<Thread>,
    /// Block shape that `threads` is set up for.
    pub shape: [u32; 3],
    pub warps: Vec<Warp>,
    pub barriers: Barriers,
    /// Yielder and place of the running coroutine.
    pub yielder: *const Yielder<(), ()>,
    pub slot: u32,
    /// Linear index of the running thread.
    pub current: usize,
    pub live: u32,
    /// Spin hints since the last switch that one caused. Starts anew in each block, so that a block's order is its own.
    pub spins: u32,
}

/// This OS thread's worker while it runs blocks, else null.
pub fn current() -> *mut Worker {
    // SAFETY: `tls()` is this thread's own storage.
    unsafe { (*tls()).runtime.cast() }
}

impl Worker {
    pub fn new() -> Box<Self> {
        Box::new(Self {
            tls: tls(),
            job: std::ptr::null(),
            mode: Mode::Idle,
            abandon: false,
            exited: false,
            stacks: StackPool::new(),
            big_stack: StackPool::new(),
            whole_yielder: std::ptr::null(),
            coroutines: Vec::new(),
            free_slots: Vec::new(),
            threads: Vec::new(),
            shape: [0; 3],
            warps: Vec::new(),
            barriers: Barriers::default(),
            yielder: std::ptr::null(),
            slot: 0,
            current: 0,
            live: 0,
            spins: 0,
        })
    }

    /// The kernel being run.
    pub fn job(&self) -> &Job {
        // SAFETY: set by `run` for as long as blocks run; entry points are only reached from there.
        unsafe { &*self.job }
    }
}

/// Runs blocks of `job` until none is left or it failed.
///
/// # Safety
/// `worker` belongs to this OS thread and runs nothing; the job's arguments and entries are valid.
pub unsafe fn run(worker: *mut Worker, job: &Job) {
    // SAFETY: exclusive access by contract; no coroutine is alive yet.
    unsafe {
        (*worker).prepare(job);
        if job.coroutines() {
            (*worker).mode = Mode::Coroutines;
            (*worker).stacks.resize(job.stack_size);
            (*worker).prepare_threads(job);
            while let Some(chunk) = job.next_chunk() {
                for block in chunk {
                    set_block(worker, job, block);
                    crate::scheduler::run_block(worker, job);
                    if job.failed() {
                        break;
                    }
                }
            }
        } else {
            (*worker).mode = Mode::Whole;
            run_whole(worker, job);
        }
        (*worker).finish();
    }
}

impl Worker {
    fn prepare(&mut self, job: &Job) {
        self.job = job;
        self.abandon = false;
        // Made here, as the handler of memory faults must not allocate.
        let _ = job.kernel.source_name();
        // SAFETY: this OS thread's own storage.
        let tls = unsafe { &mut *self.tls };
        tls.ntid = job.block.array();
        tls.nctaid = job.grid.array();
        tls.grid_id = job.grid_id;
        tls.dynamic_shared_size = job.shared;
        tls.dynamic_shared = dynamic_shared();
        tls.site = std::ptr::null();
        tls.runtime = (&raw mut *self).cast();
    }

    fn finish(&mut self) {
        self.mode = Mode::Idle;
        self.job = std::ptr::null();
        // SAFETY: this OS thread's own storage.
        unsafe { (*self.tls).runtime = std::ptr::null_mut() };
    }
}

/// Sets the block coordinates that generated code reads.
///
/// # Safety
/// `worker` belongs to this OS thread.
unsafe fn set_block(worker: *mut Worker, job: &Job, block: u64) {
    let Dim3 { x, y, .. } = job.grid;
    let (x, y) = (u64::from(x), u64::from(y));
    // SAFETY: this OS thread's own storage.
    unsafe { (*(*worker).tls).ctaid = [(block % x) as u32, (block / x % y) as u32, (block / x / y) as u32] };
}

/// Runs split blocks in the worker's big coroutine.
///
/// # Safety
/// As [`run`].
unsafe fn run_whole(worker: *mut Worker, job: &Job) {
    // SAFETY: exclusive access; nothing else runs on this worker.
    let stack = unsafe {
        (*worker).big_stack.resize(BIG_STACK);
        (*worker).big_stack.take_one()
    };
    let Some(stack) = stack else {
        job.fail(CudaError::MEMORY_ALLOCATION, "cannot map a stack");
        return;
    };
    let body = move |yielder: &Yielder<(), ()>, ()| {
        // SAFETY: the worker outlives this coroutine and is used by this OS thread only.
        unsafe {
            (*worker).whole_yielder = yielder;
            while let Some(chunk) = job.next_chunk() {
                for block in chunk {
                    set_block(worker, job, block);
                    run_whole_block(worker, job);
                    if job.failed() {
                        return;
                    }
                }
            }
        }
    };
    // SAFETY: the coroutine is finished or discarded before this function returns, so what it borrows outlives it.
    let mut coroutine: Coroutine<(), (), (), _> = unsafe { Coroutine::with_stack_unchecked(stack, body) };
    coroutine.resume(());
    if !coroutine.done() {
        // SAFETY: the frames on that stack are generated code and entry points that hold nothing to drop.
        unsafe { coroutine.force_reset() };
    }
    // SAFETY: exclusive access again.
    unsafe {
        (*worker).whole_yielder = std::ptr::null();
        (*worker).big_stack.give(coroutine.into_stack());
    }
}

/// Runs one block in split form.
///
/// # Safety
/// As [`run`], inside the big coroutine.
unsafe fn run_whole_block(worker: *mut Worker, job: &Job) {
    let Some(entry) = job.block_entry else { return };
    // SAFETY: entry and arguments are valid by contract; TLS is this OS thread's own.
    unsafe {
        let tls = (*worker).tls;
        (*tls).tid = [0; 3];
        (*tls).laneid = 0;
        (*tls).warpid = 0;
        entry(job.args);
    }
}

/// Leaves the running CUDA thread for good: the kernel has failed.
///
/// # Safety
/// Called from an entry point on the worker's own OS thread.
pub unsafe fn leave(worker: *mut Worker) -> ! {
    // SAFETY: by contract; the yielder belongs to the coroutine that runs now.
    unsafe {
        (*worker).abandon = true;
        loop {
            match (*worker).mode {
                Mode::Coroutines => crate::scheduler::suspend(worker),
                _ => (*(*worker).whole_yielder).suspend(()),
            }
        }
    }
}

/// Generated code calls this in loops around atomics and volatile accesses, so that a thread that waits for another lets it run.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_spin_hint() {
    let worker = current();
    if worker.is_null() {
        return;
    }
    // SAFETY: a non-null worker belongs to this OS thread and is running a block.
    unsafe {
        (*worker).spins += 1;
        if (*worker).spins < SPINS_PER_YIELD {
            return;
        }
        (*worker).spins = 0;
        give_way(worker);
    }
}

/// Generated code calls this after each volatile access: the lanes of a warp go in step from one to the next, as code of
/// the time before `__syncwarp` takes for granted. It also lets a thread run that this one waits for.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_lockstep() {
    let worker = current();
    if !worker.is_null() {
        // SAFETY: a non-null worker belongs to this OS thread and is running a block.
        unsafe { give_way(worker) }
    }
}

/// Lets the other threads of the block run, or other blocks where there are none.
///
/// # Safety
/// `worker` belongs to this OS thread and is running a thread of a block.
unsafe fn give_way(worker: *mut Worker) {
    // SAFETY: by contract.
    unsafe {
        if (*worker).job().failed() {
            leave(worker);
        }
        if (*worker).mode == Mode::Coroutines && (*worker).live > 1 {
            crate::scheduler::yield_now(worker);
        } else {
            std::thread::yield_now();
        }
    }
}
