//! The persistent thread pool. The launching thread takes part; the pool works at one grid at a time, and grids of other streams that run
//! meanwhile have their launching threads alone. Cooperative launches run all
//! blocks at once: in block forms that meet at the barrier of the grid they take turns (`turns`), else each has an OS thread.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Instant;

use super::calling::{Credit, Delays, LONGEST_LOOK, Patience, nanoseconds};
use super::fault;
use super::gate::Gate;
use super::job::Job;
use super::lead::{self, Forecast, Lead, Others, Watch};
use super::parts::Parts;
use super::processors::threads;
use super::relief;
use super::run::{self, run};
use super::state::Worker;
use crate::error::CudaError;

struct Pool {
    /// How many there are besides the launching one.
    others: AtomicU32,
    /// Held while a grid runs that others may be called to.
    launch: Mutex<Credit>,
    /// Whether that is one of the legacy default stream, and whether there is one.
    legacy: AtomicBool,
    is_held: AtomicBool,
    gate: Gate,
    delays: Delays,
    parts: Parts,
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
            legacy: AtomicBool::new(false),
            is_held: AtomicBool::new(false),
            gate: Gate::new(),
            delays: Delays::default(),
            parts: Parts::new(threads()),
        }));
        for member in 1..threads() {
            // A pool with fewer threads than wished for is slower, not wrong.
            let made = std::thread::Builder::new().name("regrain-worker".into()).spawn(move || serve(pool, member));
            pool.others.fetch_add(u32::from(made.is_ok()), Ordering::Relaxed);
        }
        pool
    })
}

thread_local! {
    static WORKER: RefCell<Option<Box<Worker>>> = const { RefCell::new(None) };
}

/// Does something with this OS thread's worker, which runs nothing.
fn with_worker(body: impl FnOnce(*mut Worker)) {
    fault::prepare_thread();
    // In static destructors of the program the thread's own worker may be gone already.
    let kept = WORKER.try_with(|slot| slot.borrow_mut().take()).ok().flatten();
    let mut worker = kept.unwrap_or_else(Worker::new);
    body(&raw mut *worker);
    let _ = WORKER.try_with(|slot| *slot.borrow_mut() = Some(worker));
}

/// Takes part in a job with this OS thread's worker. `take` gives it blocks.
fn take_part(job: &Job, take: &mut dyn FnMut() -> Option<Range<u64>>) {
    // SAFETY: the worker is this OS thread's own and runs nothing; the launch keeps the job valid until all workers are
    // done.
    with_worker(|worker| unsafe { run(worker, job, take) });
}

/// Takes part in a job with a worker made for it: what an OS thread does that exists for this job alone.
pub fn help(job: &Job) {
    fault::prepare_thread();
    let mut worker = Worker::new();
    // SAFETY: a worker of this OS thread's own; the launch waits for this thread before the job goes.
    unsafe { run(&raw mut *worker, job, &mut || job.next_chunk(0)) };
}

fn serve(pool: &'static Pool, member: usize) {
    let mut seen = 0;
    let mut patience = Patience::default();
    loop {
        let visit = pool.gate.enter(seen, patience.time(), |time| pool.delays.learn(time, true));
        // SAFETY: the launch keeps the job valid until this visitor has left.
        let job = unsafe { &*visit.job };
        // A thread that has just been made says nothing of those that are there.
        if let Some(called) = job.called.get()
            && seen != 0
            && visit.was_awake
        {
            pool.delays.learn(called.elapsed(), false);
        }
        patience.learn(visit.waited, pool.delays.asleep());
        seen = visit.number;
        pool.gate.settle();
        take_part(job, &mut || job.next_chunk(member));
        pool.gate.leave();
    }
}

/// Which grids may run at the same time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// One of the legacy default stream, or of any where all work is done at once: one after the other.
    Alone,
    /// Beside those of other streams. Whether it is of the legacy stream.
    Beside { legacy: bool },
    /// Inside of another grid whose block waits for it, which has the pool: on this OS thread alone.
    Inside,
}

/// Holds the pool for one grid.
struct Held {
    pool: &'static Pool,
    credit: MutexGuard<'static, Credit>,
}

impl Held {
    fn new(pool: &'static Pool, credit: MutexGuard<'static, Credit>, legacy: bool) -> Self {
        pool.legacy.store(legacy, Ordering::Relaxed);
        pool.is_held.store(true, Ordering::Relaxed);
        Self { pool, credit }
    }

    /// The pool, unless another grid has it that may run beside this one.
    fn take(pool: &'static Pool, way: Way) -> Option<Self> {
        let legacy = way != Way::Beside { legacy: false };
        match pool.launch.try_lock() {
            Ok(credit) => Some(Self::new(pool, credit, legacy)),
            Err(TryLockError::Poisoned(poisoned)) => Some(Self::new(pool, poisoned.into_inner(), legacy)),
            Err(TryLockError::WouldBlock) => {
                let waits = way == Way::Alone || legacy && pool.legacy.load(Ordering::Relaxed);
                waits.then(|| Self::new(pool, lock(&pool.launch), legacy))
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.pool.legacy.store(false, Ordering::Relaxed);
        self.pool.is_held.store(false, Ordering::Release);
    }
}

/// Runs all blocks of a grid and returns when the last one has ended: whether it met what this target has not.
pub fn run_grid(mut job: Job, way: Way) -> bool {
    let pool = pool();
    let mut held = if way == Way::Inside { None } else { Held::take(pool, way) };
    match &mut held {
        Some(held) => run_held(held, &mut job, way),
        None if way == Way::Inside => help(&job),
        None => run_beside(pool, &mut job),
    }
    relief::join(&job);
    drop(held);
    job.is_refused.load(Ordering::Relaxed)
}

/// Runs small grids one after the other on this OS thread: whether one met what this target has not.
pub fn run_row(jobs: &mut [&mut Job], way: Way) -> bool {
    let held = Held::take(pool(), way);
    // SAFETY: the worker is this OS thread's own and runs nothing; the jobs are valid as long as they are borrowed.
    with_worker(|worker| unsafe { run::run_row(worker, jobs.iter_mut().map(|job| &mut **job)) });
    drop(held);
    jobs.iter().any(|job| job.is_refused.load(Ordering::Relaxed))
}

/// Whether a call of another OS thread pays for work of so many nanoseconds.
pub fn pays(nanoseconds: u64) -> bool {
    pool().delays.pays(nanoseconds, true)
}

/// Runs a grid on this OS thread; takes the time now and then where it decides whether a launch is kept for later.
fn run_timed(job: &Job, way: Way) {
    let start = (way != Way::Alone && job.kernel.pace.times_next()).then(Instant::now);
    take_part(job, &mut || job.take_alone(job.total));
    if let Some(start) = start {
        job.kernel.pace.learn(nanoseconds(start.elapsed()), job.total, job.threads());
    }
}

/// Runs a grid on this OS thread that is known to be small; calls others if a part of it took long after all.
fn run_at_a_glance(job: &Job, others: Others<'_>) {
    let (watch, first) = (Watch::new(job.kernel), job.whole((job.total / lead::PARTS).max(1)));
    let mut late: Option<Lead> = None;
    take_part(job, &mut || match &mut late {
        Some(lead) => lead.next(),
        None => match job.next.load(Ordering::Relaxed) {
            0 => job.take_alone(first),
            taken if taken < job.total && watch.is_late(job, taken, others.delays) => {
                late.insert(Lead::late(job, others)).next()
            }
            _ => job.take_alone(job.total),
        },
    });
    if let Some(lead) = late {
        lead.finish();
    }
}

fn run_held(held: &mut Held, job: &mut Job, way: Way) {
    let pool = held.pool;
    let others = pool.others.load(Ordering::Relaxed);
    if job.grid_barrier.is_some() && !job.blocks_take_turns() {
        run_cooperative(job);
    } else if job.blocks_take_turns() {
        run_in_turns(pool, job, others);
    } else if job.total <= job.chunk || job.shuffle.is_some() || others == 0 {
        // One task needs nobody else, and an order of chance is one OS thread's.
        run_timed(job, way);
    } else {
        let forecast = Forecast::new(job, &pool.delays);
        let others = Others { gate: &pool.gate, delays: &pool.delays, count: others, parts: &pool.parts };
        if forecast.is_sure {
            return run_at_a_glance(job, others);
        }
        job.fit_chunk(pool.delays.awake(), u64::from(others.count) + 1);
        let mut lead = Lead::new(job, others, &mut held.credit, forecast);
        take_part(job, &mut || lead.next());
        lead.finish();
    }
}

/// Runs a grid while the pool is at work at another one: alone, until that has ended and what is left is worth a call.
fn run_beside(pool: &Pool, job: &mut Job) {
    if job.blocks_take_turns() {
        return run_in_turns(pool, job, 0);
    } else if job.grid_barrier.is_some() {
        return run_cooperative(job);
    }
    if job.total <= job.chunk {
        return run_timed(job, Way::Beside { legacy: false });
    }
    let others = pool.others.load(Ordering::Relaxed);
    job.fit_chunk(pool.delays.awake(), u64::from(others) + 1);
    let (job, mut held) = (&*job, None);
    take_part(job, &mut || {
        let rest = job.total.saturating_sub(job.next.load(Ordering::Relaxed));
        let is_much = || job.kernel.pace.of(rest, job.threads()).is_none_or(|time| pool.delays.pays(time, true));
        if held.is_none() && others != 0 && rest > job.chunk && is_much() {
            held = pool.launch.try_lock().ok();
            if held.is_some() {
                job.called.get_or_init(Instant::now);
                pool.gate.open(job, others);
            }
        }
        job.next_chunk(0)
    });
    if held.is_some() {
        pool.gate.shut(LONGEST_LOOK);
    }
}

/// Runs a cooperative grid whose blocks take turns: a share for each OS thread, all of which must come.
fn run_in_turns(pool: &Pool, job: &mut Job, others: u32) {
    job.chunk = job.total.div_ceil(u64::from(others) + 1);
    let calls = job.total > job.chunk;
    if calls {
        pool.gate.open(job, others);
    }
    take_part(job, &mut || job.next_chunk(0));
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

/// Waits until a grid launched by another host thread has ended. One whose launch has just begun there is not meant: nothing orders the two.
pub fn drain() {
    let pool = pool();
    if pool.is_held.load(Ordering::Acquire) {
        drop(lock(&pool.launch));
    }
}
