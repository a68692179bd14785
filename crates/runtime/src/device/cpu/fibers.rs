//! Thread loops in which a thread may wait for another one.
//!
//! A block in split form runs its threads, or its rows of threads, one after the other. Where one of them waits, generated code hands the
//! loop over as a function (`passes::lower::lower_cpu::waiting`):
//!
//! ```text
//! body(frame): while ((i = next_thread()) < count) { ...; while (!seen(flag)) { wait(); } ... }
//! wait_loop(body, frame)
//! ```
//! The function runs on a fiber of its own. When a thread has waited for a while, another fiber begins the function again and goes on with the
//! threads that nobody has taken; from then on all of them have turns. Who does not wait pays for one fiber and a count for each thread.
//! Where the threads of such a loop have operations of warps, they wait there for one another as in the coroutine form (`warp.rs`).
//! When all fibers of a block wait, it waits for another block: `relief.rs`.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::hints::SPINS_OF_ROWS_PER_YIELD;
use super::relief::{self, Patience};
use super::sanitizer;
use super::stack::StackPool;
use super::state::{Mode, Worker, current};
use super::switch::{leave, set_running, suspend_fiber};
use super::waiting::{Fiber, Items};
use super::warp;
use crate::error::CudaError;

/// The loop over threads, as a function of what it captured.
type Body = unsafe extern "C" fn(*mut c_void);

/// Rounds that a thread waits before others have their turn, and those that it waits in each turn of its own.
const SPINS: u32 = 64;
const SPINS_OF_TURN: u32 = 4;

/// A row is up to 32 threads, whose stacks it holds.
const THREADS_OF_ROW: usize = 32;

/// Runs a loop over threads to its end.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_wait_loop(body: Body, frame: *mut c_void, items: u32) {
    let worker = current();
    // SAFETY: `body` takes `frame` by contract; a non-null worker belongs to this OS thread and runs a block.
    unsafe {
        if worker.is_null() || (*worker).mode != Mode::Whole {
            return;
        }
        (*worker).job().kernel.waits.store(true, Ordering::Relaxed);
        let items = [Items::Rows, Items::Threads, Items::Lanes][items as usize % 3];
        (*worker).waiting.items = items;
        (*worker).waiting.taken = 0;
        let size = (*worker).job().stack_size;
        (*worker).row_stacks.resize(size * THREADS_OF_ROW);
        (*worker).stacks.resize(size);
        if items == Items::Lanes {
            let job = (*worker).job;
            (*worker).prepare_threads(&*job);
            (*worker).start_warps(&*job);
        }
        relief::progress(worker);
        sanitizer::anew();
        (*(*worker).tls).hints = SPINS_OF_ROWS_PER_YIELD - 1;
        if !run(worker, body, frame) {
            discard(worker);
            leave(worker);
        }
    }
}

/// Gives all fibers turns until none is left. Returns false if the kernel has failed.
///
/// # Safety
/// As [`__regrain_wait_loop`].
unsafe fn run(worker: *mut Worker, body: Body, frame: *mut c_void) -> bool {
    // SAFETY: by contract; no reference into the worker lives while a fiber runs.
    unsafe {
        let (mut at, mut all_begun, mut progress, mut ran) = (0, false, false, false);
        if !begin(worker, body, frame) {
            return false;
        }
        loop {
            let ready = is_ready(worker, at);
            ran |= ready;
            let ended = ready && resume(worker, at);
            if (*worker).abandon || (*worker).job().failed() {
                return false;
            }
            // Who has come to an operation of its warp has got somewhere.
            progress |= ready && (ended || !is_ready(worker, at));
            if ended {
                let fiber = (*worker).waiting.fibers.swap_remove(at);
                (*worker).stack_pool().give(fiber.coroutine.into_stack());
                all_begun = true;
            } else if all_begun {
                at += 1;
            } else if begin(worker, body, frame) {
                at = (*worker).waiting.fibers.len() - 1;
                continue;
            } else {
                return false;
            }
            let left = (*worker).waiting.fibers.len();
            if left == 0 {
                return true;
            }
            if at >= left {
                at = 0;
                if !std::mem::take(&mut ran) {
                    let message = "threads wait for one another at operations of their warp";
                    (*worker).job().fail(CudaError::LAUNCH_FAILURE, message);
                    return false;
                }
                match std::mem::take(&mut progress) {
                    true => relief::progress(worker),
                    false => relief::wait(worker, Patience::Short),
                }
            }
        }
    }
}

/// Whether a fiber can run: its thread does not wait for the lanes of its warp.
///
/// # Safety
/// As [`__regrain_wait_loop`]; no fiber runs.
unsafe fn is_ready(worker: *mut Worker, at: usize) -> bool {
    // SAFETY: by contract.
    unsafe {
        let thread = (&(*worker).waiting.fibers)[at].thread;
        thread.is_none_or(|thread| (&(*worker).warps)[thread / 32].ready & 1 << (thread % 32) != 0)
    }
}

/// Makes a fiber that is to go through the loop. Returns false, and fails the kernel, without memory for a stack.
///
/// # Safety
/// As [`__regrain_wait_loop`].
unsafe fn begin(worker: *mut Worker, body: Body, frame: *mut c_void) -> bool {
    // SAFETY: by contract; fibers end or are discarded before the frame goes.
    unsafe {
        let Some(stack) = (*worker).stack_pool().take_one() else {
            (*worker).job().fail(CudaError::MEMORY_ALLOCATION, "cannot map a stack for threads that wait");
            return false;
        };
        let work = move |yielder: &Yielder<(), ()>, ()| {
            (*worker).waiting.yielder = Some(yielder);
            body(frame);
            end_thread(worker);
        };
        let coroutine = Coroutine::with_stack_unchecked(stack, work);
        (*worker).waiting.fibers.push(Fiber { coroutine, seen: 0, thread: None });
        (*worker).waiting.spins = 0;
    }
    true
}

/// Gives a fiber its turn. Returns whether it has ended.
///
/// # Safety
/// As [`__regrain_wait_loop`]; no fiber runs.
unsafe fn resume(worker: *mut Worker, at: usize) -> bool {
    // SAFETY: by contract. Fibers use other fields than the list, which does not change while one runs.
    unsafe {
        let fiber: *mut Fiber = (*worker).waiting.fibers.as_mut_ptr().add(at);
        (*worker).waiting.seen = (*fiber).seen;
        (*worker).waiting.thread = (*fiber).thread;
        if let Some(thread) = (*fiber).thread {
            set_running(worker, thread);
        }
        let ended = matches!(sanitizer::inside(|| (*fiber).coroutine.resume(())), CoroutineResult::Return(()));
        (*fiber).seen = (*worker).waiting.seen;
        (*fiber).thread = (*worker).waiting.thread;
        (*worker).waiting.yielder = None;
        ended
    }
}

/// Gives up all fibers of the block.
///
/// # Safety
/// As [`__regrain_wait_loop`]; no fiber runs.
unsafe fn discard(worker: *mut Worker) {
    // SAFETY: by contract; the frames are generated code and entry points that hold nothing to drop across a switch.
    unsafe {
        for mut fiber in std::mem::take(&mut (*worker).waiting.fibers) {
            if !fiber.coroutine.done() {
                fiber.coroutine.force_reset();
            }
            (*worker).stack_pool().give(fiber.coroutine.into_stack());
        }
    }
}

/// The thread that the running fiber runs has come to the end of the loop: others of its warp may have waited only for it.
///
/// # Safety
/// As [`__regrain_wait_loop`], on a fiber.
unsafe fn end_thread(worker: *mut Worker) {
    // SAFETY: by contract; nothing else of this worker runs meanwhile.
    unsafe {
        let Some(thread) = (*worker).waiting.thread.take() else { return };
        let warp = &mut (&mut (*worker).warps)[thread / 32];
        warp.live &= !(1 << (thread % 32));
        if warp.exchanging != 0 {
            warp::after_exit(worker, thread / 32);
        }
    }
}

/// Whether the running fiber is to run the next row of its loop.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_take_row() -> u32 {
    let worker = current();
    if worker.is_null() {
        return 1;
    }
    // SAFETY: a non-null worker belongs to this OS thread and runs a block.
    unsafe {
        let waiting = &mut (*worker).waiting;
        let mine = waiting.seen == waiting.taken;
        waiting.seen += 1;
        waiting.taken += u64::from(mine);
        u32::from(mine)
    }
}

/// The next thread for the running fiber, which has come to the end of the loop with the one before; as many as there are, or more, if
/// none is left.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_next_thread() -> u64 {
    let worker = current();
    // SAFETY: generated code asks in functions that `__regrain_wait_loop` runs; the worker belongs to this OS thread.
    unsafe {
        let next = (*worker).waiting.taken;
        (*worker).waiting.taken += 1;
        if (*worker).waiting.items == Items::Lanes {
            end_thread(worker);
            if next < u64::from((*worker).job().threads()) {
                (*worker).waiting.thread = Some(next as usize);
                set_running(worker, next as usize);
            }
        }
        next
    }
}

/// Generated code calls this in each round of a loop that waits.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_wait() {
    let worker = current();
    if !worker.is_null() {
        // SAFETY: a non-null worker belongs to this OS thread and runs a block.
        unsafe { wait(worker, Patience::Short) }
    }
}

/// Generated code calls this in each round of a loop of the whole block that may wait.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_wait_of_block() {
    let worker = current();
    if !worker.is_null() {
        // SAFETY: a non-null worker belongs to this OS thread and runs a block.
        unsafe { wait(worker, Patience::Long) }
    }
}

/// One round of waiting: first on the spot, then others have their turn.
///
/// # Safety
/// `worker` belongs to this OS thread and runs a block in split form.
pub unsafe fn wait(worker: *mut Worker, patience: Patience) {
    // SAFETY: by contract; the yielder belongs to the running fiber.
    unsafe {
        (*worker).waiting.spins += 1;
        if (*worker).waiting.spins < SPINS {
            std::hint::spin_loop();
            return;
        }
        if (*worker).job().failed() {
            leave(worker);
        }
        match (*worker).waiting.yielder {
            Some(yielder) => {
                suspend_fiber(worker, yielder);
                (*worker).waiting.spins = SPINS - SPINS_OF_TURN;
            }
            None => {
                relief::wait(worker, patience);
                (*worker).waiting.spins = 0;
            }
        }
    }
}

impl Worker {
    /// The stacks for the loop at hand.
    fn stack_pool(&mut self) -> &mut StackPool {
        if self.waiting.items == Items::Rows { &mut self.row_stacks } else { &mut self.stacks }
    }
}
