//! OS threads that do what streams have been asked to do, and threads of the program that wait for it and help meanwhile.
//!
//! While nothing is kept, nothing here takes a lock: one count says so. Whoever works at a stream marks it as busy; who leaves one looks whether
//! something was kept in the meantime, so that nothing is forgotten.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use super::checks::{self, Order};
use super::events::Point;
use super::failure;
use super::gate::look;
use super::kept::{Kept, in_host_function};
use super::processors::threads;
use super::queue::{Queues, Taken};
use super::streams::Stream;
use super::trace::Event;
use crate::error::{CudaError, Result};

/// How long a thread without work looks out for it before it sleeps.
const LOOK: Duration = Duration::from_micros(30);
/// How much may be kept before who asks for more has to wait, as CUDA has it.
const MOST_KEPT: usize = 1024;
/// How many threads there may be beyond the usual ones because kernels wait for one another.
const MOST_RELIEF: usize = 128;

#[derive(Default)]
struct Shared {
    queues: Queues,
    runners: usize,
    asleep: usize,
    /// How many of those that sleep have been called.
    called: usize,
    /// Threads of the program that sleep until something changes.
    waiting: usize,
    /// How many there may be beyond the usual ones.
    relief: usize,
}

/// What is kept and not done, and those who work at a stream while there is such.
static PENDING: AtomicUsize = AtomicUsize::new(0);
/// Counts what may let somebody go on.
static CHANGES: AtomicU64 = AtomicU64::new(0);
/// Runners that look out for work.
static LOOKING: AtomicUsize = AtomicUsize::new(0);
/// This process is a copy of one that had runners, and has none.
static IS_COPY: AtomicBool = AtomicBool::new(false);
static SHARED: Mutex<Option<Shared>> = Mutex::new(None);
static WORK: Condvar = Condvar::new();
static CHANGED: Condvar = Condvar::new();

type Guard = MutexGuard<'static, Option<Shared>>;

fn lock() -> Guard {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn state(guard: &mut Guard) -> &mut Shared {
    guard.get_or_insert_default()
}

/// Whether nothing is kept.
pub fn is_idle() -> bool {
    PENDING.load(Ordering::SeqCst) == 0
}

/// Whether this process cannot have runners.
pub fn is_copy() -> bool {
    IS_COPY.load(Ordering::Relaxed)
}

impl Shared {
    /// Calls a runner if there is something for it to do.
    fn call(&mut self) {
        if !self.queues.has_ready() || LOOKING.load(Ordering::SeqCst) != 0 {
            return;
        }
        if self.asleep > self.called {
            self.called += 1;
            WORK.notify_one();
        } else if self.runners < threads() + self.relief {
            // Without threads whoever waits does all.
            let made = std::thread::Builder::new().name("regrain-stream".into()).spawn(serve);
            self.runners += usize::from(made.is_ok());
        }
    }

    /// Something may go on.
    fn change(&mut self) {
        CHANGES.fetch_add(1, Ordering::SeqCst);
        if self.waiting != 0 {
            CHANGED.notify_all();
        }
        self.call();
    }
}

/// Does what was taken.
fn perform(taken: Taken) -> Guard {
    let Taken { stream, kept, says } = taken;
    let point = kept.point();
    if catch_unwind(AssertUnwindSafe(|| kept.perform(&stream, says))).is_err() {
        failure::set_late(CudaError::UNKNOWN);
    }
    let mut guard = lock();
    let shared = state(&mut guard);
    // Whoever sees that an event is reached finds the stream past it.
    if let Some(point) = point {
        point.reach();
    }
    shared.queues.finish(&stream);
    PENDING.fetch_sub(1, Ordering::SeqCst);
    shared.change();
    guard
}

fn serve() {
    let mut guard = lock();
    loop {
        let shared = state(&mut guard);
        if let Some(taken) = shared.queues.take(|_| true) {
            shared.call();
            drop(guard);
            guard = perform(taken);
            continue;
        }
        let seen = CHANGES.load(Ordering::SeqCst);
        LOOKING.fetch_add(1, Ordering::SeqCst);
        drop(guard);
        look(LOOK, || CHANGES.load(Ordering::SeqCst) != seen);
        guard = lock();
        LOOKING.fetch_sub(1, Ordering::SeqCst);
        if CHANGES.load(Ordering::SeqCst) == seen {
            guard = sleep(guard);
        }
    }
}

fn sleep(mut guard: Guard) -> Guard {
    state(&mut guard).asleep += 1;
    while state(&mut guard).called == 0 {
        guard = WORK.wait(guard).unwrap_or_else(PoisonError::into_inner);
    }
    let shared = state(&mut guard);
    shared.called -= 1;
    shared.asleep -= 1;
    guard
}

/// Waits until something changes.
fn next_change(mut guard: Guard) -> Guard {
    let seen = CHANGES.load(Ordering::SeqCst);
    let changed = || CHANGES.load(Ordering::SeqCst) != seen;
    drop(guard);
    look(LOOK, changed);
    guard = lock();
    state(&mut guard).waiting += 1;
    while !changed() {
        guard = CHANGED.wait(guard).unwrap_or_else(PoisonError::into_inner);
    }
    state(&mut guard).waiting -= 1;
    guard
}

/// Waits until `done`; does meanwhile what the streams have to do that `which` names.
fn wait_until(which: impl Fn(&Stream) -> bool, mut done: impl FnMut(&Queues) -> bool) -> Result {
    let mut guard = lock();
    while !done(&state(&mut guard).queues) {
        if in_host_function() {
            return Err(CudaError::NOT_PERMITTED);
        }
        let shared = state(&mut guard);
        guard = match shared.queues.take(&which) {
            Some(taken) => {
                shared.call();
                drop(guard);
                perform(taken)
            }
            None => next_change(guard),
        };
    }
    Ok(())
}

/// Whoever has it is alone at work at a stream.
pub struct Turn<'a> {
    stream: &'a Stream,
    /// Whether it counts as something that is kept.
    counts: bool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.stream.busy.store(false, Ordering::SeqCst);
        if is_copy() {
            return;
        }
        if self.counts {
            PENDING.fetch_sub(1, Ordering::SeqCst);
        }
        if self.counts || !is_idle() {
            state(&mut lock()).change();
        }
    }
}

fn begin(stream: &Stream) -> bool {
    stream.busy.compare_exchange(false, true, Ordering::SeqCst, Ordering::SeqCst).is_ok()
}

/// Gives a turn at a stream if there is nothing to wait for.
pub fn enter(stream: &Stream) -> Option<Turn<'_>> {
    if is_idle() {
        return begin(stream).then(|| Turn { stream, counts: false });
    }
    let mut guard = lock();
    (state(&mut guard).queues.is_past(stream, u64::MAX) && begin(stream)).then(|| {
        PENDING.fetch_add(1, Ordering::SeqCst);
        Turn { stream, counts: true }
    })
}

/// Waits for a turn at a stream, behind what is kept now.
pub fn wait_turn(stream: &Stream) -> Result<Turn<'_>> {
    // From here on whoever leaves the stream says so.
    PENDING.fetch_add(1, Ordering::SeqCst);
    let mut number = None;
    let done = |queues: &Queues| {
        let number = *number.get_or_insert(queues.next());
        queues.is_past(stream, number) && begin(stream)
    };
    let came = wait_until(|other| other.is_waited_for_by(stream), done);
    let turn = Turn { stream, counts: true };
    match came {
        Ok(()) => Ok(turn),
        Err(error) => {
            std::mem::forget(turn);
            PENDING.fetch_sub(1, Ordering::SeqCst);
            Err(error)
        }
    }
}

/// Keeps something for a stream.
pub fn push(stream: &Arc<Stream>, kept: Kept, says: Option<Event>) -> Result {
    static PREPARED: Once = Once::new();
    PREPARED.call_once(|| {
        // SAFETY: functions without parameters that do not unwind.
        unsafe {
            libc::atexit(before_exit);
            libc::pthread_atfork(Some(before_copy), None, Some(in_copy));
        }
    });
    PENDING.fetch_add(1, Ordering::SeqCst);
    let mut guard = lock();
    let shared = state(&mut guard);
    shared.queues.push(stream, kept, says);
    shared.change();
    drop(guard);
    if PENDING.load(Ordering::Relaxed) > MOST_KEPT && !in_host_function() {
        return wait_until(|_| true, |_| PENDING.load(Ordering::Relaxed) <= MOST_KEPT);
    }
    Ok(())
}

/// Waits for all that is kept now.
pub fn wait_for_all() -> Result {
    checks::order(Order::HostWaitsForAll);
    if is_idle() {
        return Ok(());
    }
    let mut number = None;
    wait_until(|_| true, |queues| queues.are_past(*number.get_or_insert(queues.next()), |_| true))
}

/// Waits for what is kept now for a stream, and what that waits for.
pub fn wait_for(stream: &Stream) -> Result {
    if is_idle() {
        return Ok(());
    }
    let mut number = None;
    let done = |queues: &Queues| {
        let number = *number.get_or_insert(queues.next());
        queues.are_past(number, |other| other.is_part_of(stream))
    };
    wait_until(|other| other.is_waited_for_by(stream), done)
}

/// Waits until an event is reached.
pub fn wait_for_point(point: &Point) -> Result {
    wait_until(|other| other.is_waited_for_by(&point.stream), |_| point.is_reached())
}

/// Whether a stream has nothing to do.
pub fn is_done(stream: &Stream) -> bool {
    is_idle() || state(&mut lock()).queues.are_past(u64::MAX, |other| other.is_part_of(stream))
}

/// What is asked about is not done: who asks again and again is to leave others the processor.
pub fn not_ready<T>() -> Result<T> {
    std::thread::yield_now();
    Err(CudaError::NOT_READY)
}

/// A kernel waits: for another one perhaps that no thread is left for.
pub fn relieve() {
    if is_idle() || is_copy() {
        return;
    }
    let mut guard = lock();
    let shared = state(&mut guard);
    if shared.queues.has_ready() && shared.relief < MOST_RELIEF {
        shared.relief += 1;
        shared.call();
    }
}

extern "C" fn before_exit() {
    if !in_host_function() && !is_copy() {
        let _ = catch_unwind(wait_for_all);
    }
}

extern "C" fn before_copy() {
    before_exit();
}

extern "C" fn in_copy() {
    IS_COPY.store(true, Ordering::Relaxed);
    PENDING.store(0, Ordering::SeqCst);
}
