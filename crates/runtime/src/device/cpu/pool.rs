//! The persistent thread pool. The launching thread takes part; one grid runs at a time. Cooperative launches run all
//! blocks at once: in block forms that meet at the barrier of the grid they take turns (`turns`), else each has an OS thread.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use super::fault;
use super::job::Job;
use super::processors::threads;
use super::relief;
use super::run::run;
use super::state::Worker;
use crate::error::CudaError;

struct Pool {
    /// How many there are, the launching one included.
    threads: AtomicUsize,
    launch: Mutex<()>,
    slot: Mutex<Slot>,
    posted: Condvar,
    finished: Condvar,
    /// Mirrors `Slot::epoch`, so that an idle worker can look without the lock.
    epoch: AtomicUsize,
}

#[derive(Default)]
struct Slot {
    job: Option<Arc<Job>>,
    epoch: usize,
    active: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pool() -> &'static Pool {
    static POOL: OnceLock<&'static Pool> = OnceLock::new();
    POOL.get_or_init(|| {
        let pool: &'static Pool = Box::leak(Box::new(Pool {
            threads: AtomicUsize::new(1),
            launch: Mutex::new(()),
            slot: Mutex::default(),
            posted: Condvar::new(),
            finished: Condvar::new(),
            epoch: AtomicUsize::new(0),
        }));
        for _ in 1..threads() {
            // A pool with fewer threads than wished for is slower, not wrong.
            let made = std::thread::Builder::new().name("regrain-worker".into()).spawn(move || serve(pool));
            pool.threads.fetch_add(usize::from(made.is_ok()), Ordering::Relaxed);
        }
        pool
    })
}

thread_local! {
    static WORKER: RefCell<Option<Box<Worker>>> = const { RefCell::new(None) };
}

/// Takes part in a job with this OS thread's worker.
fn take_part(job: &Job) {
    fault::prepare_thread();
    // In static destructors of the program the thread's own worker may be gone already.
    let kept = WORKER.try_with(|slot| slot.borrow_mut().take()).ok().flatten();
    let mut worker = kept.unwrap_or_else(Worker::new);
    // SAFETY: the worker is this OS thread's own and runs nothing; the launch keeps the job valid until all workers are
    // done.
    unsafe { run(&raw mut *worker, job) };
    let _ = WORKER.try_with(|slot| *slot.borrow_mut() = Some(worker));
}

/// Takes part in a job with a worker made for it: what an OS thread does that exists for this job alone.
pub fn help(job: &Job) {
    fault::prepare_thread();
    let mut worker = Worker::new();
    // SAFETY: a worker of this OS thread's own; the launch waits for this thread before the job goes.
    unsafe { run(&raw mut *worker, job) };
}

fn serve(pool: &'static Pool) {
    let mut seen = 0;
    loop {
        for _ in 0..2000 {
            if pool.epoch.load(Ordering::Acquire) != seen {
                break;
            }
            std::hint::spin_loop();
        }
        let mut slot = lock(&pool.slot);
        while slot.epoch == seen {
            slot = pool.posted.wait(slot).unwrap_or_else(PoisonError::into_inner);
        }
        seen = slot.epoch;
        let Some(job) = slot.job.clone() else { continue };
        slot.active += 1;
        drop(slot);
        take_part(&job);
        drop(job);
        let mut slot = lock(&pool.slot);
        slot.active -= 1;
        if slot.active == 0 {
            pool.finished.notify_all();
        }
    }
}

/// Runs all blocks of a grid and returns when the last one has ended.
pub fn run_grid(mut job: Job) {
    let pool = pool();
    let threads = pool.threads.load(Ordering::Relaxed);
    let _turn = lock(&pool.launch);
    if job.grid_barrier.is_some() && !job.blocks_take_turns() {
        run_cooperative(&job);
        return;
    }
    if job.blocks_take_turns() {
        // A share for each OS thread that there is: all must come to the barrier.
        job.chunk = job.total.div_ceil(threads as u64);
    }
    // One task needs nobody else.
    if job.total <= job.chunk || threads == 1 {
        take_part(&job);
        relief::join(&job);
        return;
    }
    let job = Arc::new(job);
    {
        let mut slot = lock(&pool.slot);
        slot.job = Some(job.clone());
        slot.epoch += 1;
        pool.epoch.store(slot.epoch, Ordering::Release);
    }
    pool.posted.notify_all();
    take_part(&job);
    let mut slot = lock(&pool.slot);
    slot.job = None;
    while slot.active != 0 {
        slot = pool.finished.wait(slot).unwrap_or_else(PoisonError::into_inner);
    }
    drop(slot);
    relief::join(&job);
}

/// Runs a cooperative grid: one OS thread per block.
fn run_cooperative(job: &Job) {
    std::thread::scope(|scope| {
        for _ in 0..job.total {
            let builder = std::thread::Builder::new().name("regrain-block".into());
            let result = builder.spawn_scoped(scope, || {
                help(job);
                if let Some(barrier) = &job.grid_barrier {
                    barrier.retire();
                }
            });
            if result.is_err() {
                // Said before the scope joins: the blocks that did start wait for those that did not.
                job.fail(CudaError::COOPERATIVE_LAUNCH_TOO_LARGE, "cannot start an OS thread for each block");
                return;
            }
        }
    });
}

/// Waits until a grid launched by another host thread has ended.
pub fn drain() {
    drop(lock(&pool().launch));
}
