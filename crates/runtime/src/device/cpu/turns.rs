//! Blocks of a cooperative grid in split form: an OS thread has a share of them, which take turns.
//!
//! Each block is a coroutine with a stack of its own, on which its threads' state and its static shared memory are. Its turn ends
//! at the barrier of the grid. When all blocks of a share are there, the OS thread waits for the others, and begins with
//! its first block again: the cost of a barrier is a switch for each block and one meeting of the OS threads.
//!
//! Shares are fixed, and each is of neighbouring blocks, so that what a block works on stays in one processor's cache.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::ops::Range;

use corosensei::{Coroutine, Yielder};

use super::block::{run_whole_block, set_block};
use super::grid_barrier::GridBarrier;
use super::job::Job;
use super::sanitizer;
use super::stack::Coro;
use super::state::Worker;
use crate::error::CudaError;

/// Address space of a block's stack, committed lazily: twice the most state that a block form keeps.
const STACK: usize = 128 << 20;
/// Alignment of dynamic shared memory.
const ALIGNMENT: usize = 64;

/// One block of a share.
struct Block {
    number: u64,
    coroutine: Coro,
    /// Its own, while it is suspended.
    yielder: *const Yielder<(), ()>,
    shared: Shared,
}

/// A block's dynamic shared memory.
struct Shared {
    memory: *mut u8,
    layout: Option<Layout>,
}

impl Shared {
    /// `None` without memory.
    fn new(bytes: u32) -> Option<Self> {
        let layout = Layout::from_size_align(bytes as usize, ALIGNMENT).ok().filter(|layout| layout.size() > 0);
        let Some(layout) = layout else { return Some(Self { memory: std::ptr::null_mut(), layout }) };
        // SAFETY: the size is not zero.
        let memory = unsafe { alloc_zeroed(layout) };
        (!memory.is_null()).then_some(Self { memory, layout: Some(layout) })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(layout) = self.layout {
            // SAFETY: what `new` allocated with this layout.
            unsafe { dealloc(self.memory, layout) };
        }
    }
}

/// Runs shares of a grid's blocks until none is left.
///
/// # Safety
/// `worker` belongs to this OS thread, is prepared for `job` and runs nothing; the job's arguments and entries are valid.
pub unsafe fn run(worker: *mut Worker, job: &Job, barrier: &GridBarrier) {
    // SAFETY: exclusive access by contract, no coroutine is alive between shares.
    unsafe {
        (*worker).turn_stacks.resize(STACK);
        while let Some(share) = job.next_chunk(0) {
            let mut blocks = begin(worker, job, share);
            while !job.failed() && !blocks.is_empty() {
                if take_turns(worker, job, barrier, &mut blocks) {
                    barrier.wait(blocks.len() as u64, || job.failed());
                }
            }
            for block in blocks {
                end(worker, block);
            }
            (*worker).whole_yielder = std::ptr::null();
        }
    }
}

/// Makes the blocks of a share; fails the job without memory for their stacks.
///
/// # Safety
/// As [`run`]; `worker` and `job` outlive the blocks.
unsafe fn begin(worker: *mut Worker, job: &Job, share: Range<u64>) -> Vec<Block> {
    let mut blocks = Vec::new();
    sanitizer::anew();
    for number in share {
        // SAFETY: by contract.
        let stack = unsafe { (*worker).turn_stacks.take_one() };
        let (Some(stack), Some(shared)) = (stack, Shared::new(job.shared)) else {
            job.fail(CudaError::MEMORY_ALLOCATION, "cannot map a stack for each block");
            break;
        };
        let job: *const Job = job;
        let body = move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: worker and job outlive this coroutine, which this OS thread alone runs.
            unsafe {
                (*worker).whole_yielder = yielder;
                run_whole_block(worker, &*job);
            }
        };
        // SAFETY: the coroutine has finished or is discarded before `run` returns, so what it borrows outlives it.
        let coroutine = unsafe { Coroutine::with_stack_unchecked(stack, body) };
        blocks.push(Block { number, coroutine, yielder: std::ptr::null(), shared });
    }
    blocks
}

/// Gives each block a turn, up to the next barrier or its end. Whether some wait there.
///
/// # Safety
/// As [`run`].
unsafe fn take_turns(worker: *mut Worker, job: &Job, barrier: &GridBarrier, blocks: &mut Vec<Block>) -> bool {
    for block in blocks.iter_mut() {
        // SAFETY: by contract; entry points use other state than `blocks`.
        unsafe {
            set_block(worker, job, block.number);
            if !block.shared.memory.is_null() {
                (*(*worker).tls).dynamic_shared = block.shared.memory.cast::<c_void>();
            }
            (*worker).whole_yielder = block.yielder;
            sanitizer::inside(|| block.coroutine.resume(()));
            block.yielder = (*worker).whole_yielder;
        }
        if job.failed() {
            return false;
        }
        if block.coroutine.done() {
            barrier.retire();
        }
    }
    // SAFETY: by contract.
    blocks.extract_if(.., |block| block.coroutine.done()).for_each(|block| unsafe { end(worker, block) });
    !blocks.is_empty()
}

/// Takes the stack of a block that has ended, or is given up.
///
/// # Safety
/// As [`run`].
unsafe fn end(worker: *mut Worker, mut block: Block) {
    // SAFETY: the frames on that stack are generated code and entry points that hold nothing to drop.
    unsafe {
        if !block.coroutine.done() {
            block.coroutine.force_reset();
        }
        (*worker).turn_stacks.give(block.coroutine.into_stack());
    }
}
