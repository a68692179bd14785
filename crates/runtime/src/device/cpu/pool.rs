//! The persistent thread pool. The launching thread takes part; one grid runs at a time. Cooperative launches run all
//! blocks at once: in block forms that meet at the barrier of the grid they take turns (`turns`), else each has an OS thread.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::calling::{Credit, Delays, LONGEST_LOOK, Patience};
use super::fault;
use super::gate::Gate;
use super::job::Job;
use super::lead::Lead;
use super::processors::threads;
use super::relief;
use super::run::run;
use super::state::Worker;
use crate::error::CudaError;

struct Pool {
    /// How many there are besides the launching one.
    others: AtomicU32,
    /// Held while a grid runs.
    launch: Mutex<Credit>,
    gate: Gate,
    delays: Delays,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pool() -> &'static Pool {
    static POOL: OnceLock<&'static Pool> = OnceLock::new();
    POOL.get_or_init(|| {
        let pool: &'static Pool = Box::leak(Box::new(Pool {
            others: AtomicU32::new(0),
            launch: Mutex::default(),
            gate: Gate::new(),
            delays: Delays::default(),
        }));
        for _ in 1..threads() {
            // A pool with fewer threads than wished for is slower, not wrong.
            let made = std::thread::Builder::new().name("regrain-worker".into()).spawn(move || serve(pool));
            pool.others.fetch_add(u32::from(made.is_ok()), Ordering::Relaxed);
        }
        pool
    })
}

thread_local! {
    static WORKER: RefCell<Option<Box<Worker>>> = const { RefCell::new(None) };
}

/// Takes part in a job with this OS thread's worker. `take` gives it blocks.
fn take_part(job: &Job, take: &mut dyn FnMut() -> Option<Range<u64>>) {
    fault::prepare_thread();
    // In static destructors of the program the thread's own worker may be gone already.
    let kept = WORKER.try_with(|slot| slot.borrow_mut().take()).ok().flatten();
    let mut worker = kept.unwrap_or_else(Worker::new);
    // SAFETY: the worker is this OS thread's own and runs nothing; the launch keeps the job valid until all workers are
    // done.
    unsafe { run(&raw mut *worker, job, take) };
    let _ = WORKER.try_with(|slot| *slot.borrow_mut() = Some(worker));
}

/// Takes part in a job with a worker made for it: what an OS thread does that exists for this job alone.
pub fn help(job: &Job) {
    fault::prepare_thread();
    let mut worker = Worker::new();
    // SAFETY: a worker of this OS thread's own; the launch waits for this thread before the job goes.
    unsafe { run(&raw mut *worker, job, &mut || job.next_chunk()) };
}

fn serve(pool: &'static Pool) {
    let mut seen = 0;
    let mut patience = Patience::default();
    loop {
        let visit = pool.gate.enter(seen, patience.time());
        // SAFETY: the launch keeps the job valid until this visitor has left.
        let job = unsafe { &*visit.job };
        // A thread that has just been made says nothing of those that are there.
        if let Some(called) = job.called.get()
            && seen != 0
        {
            pool.delays.learn(called.elapsed(), visit.slept);
        }
        patience.learn(visit.waited, pool.delays.asleep());
        seen = visit.number;
        take_part(job, &mut || job.next_chunk());
        pool.gate.leave();
    }
}

/// Runs all blocks of a grid and returns when the last one has ended.
pub fn run_grid(mut job: Job) {
    let pool = pool();
    let others = pool.others.load(Ordering::Relaxed);
    let mut credit = lock(&pool.launch);
    if job.grid_barrier.is_some() && !job.blocks_take_turns() {
        run_cooperative(&job);
        return;
    }
    if job.blocks_take_turns() {
        run_in_turns(pool, &mut job, others);
    } else if job.total <= job.chunk || job.shuffle.is_some() {
        // One task needs nobody else, and an order of chance is one OS thread's.
        take_part(&job, &mut || job.next_chunk());
    } else if others == 0 {
        job.fit_chunk(pool.delays.awake(), 1);
        take_part(&job, &mut || job.next_chunk());
    } else {
        job.fit_chunk(pool.delays.awake(), u64::from(others) + 1);
        let mut lead = Lead::new(&job, &pool.gate, &pool.delays, &mut credit, others);
        take_part(&job, &mut || lead.next());
        lead.finish();
    }
    relief::join(&job);
}

/// Runs a cooperative grid whose blocks take turns: a share for each OS thread, all of which must come.
fn run_in_turns(pool: &Pool, job: &mut Job, others: u32) {
    job.chunk = job.total.div_ceil(u64::from(others) + 1);
    let calls = job.total > job.chunk;
    if calls {
        pool.gate.open(job, others);
    }
    take_part(job, &mut || job.next_chunk());
    if calls {
        pool.gate.shut(LONGEST_LOOK);
    }
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
