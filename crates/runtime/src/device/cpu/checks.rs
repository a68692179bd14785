//! What the runtime tells a checker, in programs that have one (`-fregrain-check=`).
//!
//! The checker itself is `check`; nothing but the code of such a program leads to it.

use std::sync::OnceLock;

use super::heap::Kind;
use super::state::Worker;
use super::streams::Stream;
use crate::abi::Site;

/// Who is ordered with whom by an operation: the threads of a block or of a grid, or the lanes of a warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    Block,
    Warp,
    Grid,
}

/// What the host asks for that orders the work of streams; events by their handles.
#[derive(Clone, Copy)]
pub enum Order<'a> {
    Records(usize, &'a Stream),
    WaitsForEvent(&'a Stream, usize),
    HostWaitsForEvent(usize),
    HostWaitsFor(&'a Stream),
    HostWaitsForAll,
}

/// Something that went wrong where threads wait for one another.
pub struct Meeting<'a> {
    pub what: String,
    /// Where, of the first thread.
    pub site: *const Site,
    /// Whether it is the running thread's.
    pub is_of_thread: bool,
    pub notes: &'a [String],
}

/// A checker.
pub trait Checker: Sync {
    /// Memory of the device, if it is looked after; `None` in it where there is no more.
    fn allocate(&self, size: usize, kind: Kind) -> Option<Option<usize>>;
    /// What [`Checker::allocate`] gave is freed.
    fn release(&self, start: usize);
    /// This cannot be freed.
    fn not_released(&self, start: usize);
    /// The host has copied or filled `count` bytes; `from` is 0 where they are not of memory that is looked after.
    fn written(&self, to: usize, from: usize, count: usize);
    /// Memory is about to be copied in a direction (`cudaMemcpyKind`).
    fn copies(&self, to: usize, from: usize, kind: u32);
    /// This thread of the host begins to do what a stream is asked for.
    fn begins_work(&self, stream: &Stream);
    /// It has done it; `waits`: the host was to wait for it.
    fn ends_work(&self, stream: &Stream, waits: bool);
    /// Something orders the work of streams.
    fn orders(&self, order: Order<'_>);
    /// The blocks of a grid begin, in the work of this thread.
    fn begins_grid(&self, number: u32, blocks: u64);
    /// They have ended.
    fn ends_grid(&self, number: u32);
    /// All that is allocated is about to be freed, or the program ends.
    fn leaks(&self);
    /// Memory that a kernel allocates.
    fn allocate_in_kernel(&self, size: usize) -> Option<usize>;
    /// Frees such memory.
    fn release_in_kernel(&self, start: usize);
    /// A kernel runs whose code tells nothing.
    fn unchecked(&self);
    /// A block begins.
    ///
    /// # Safety
    /// `worker` is this OS thread's and prepared for its job.
    unsafe fn begins(&self, worker: *mut Worker);
    /// A thread of the block comes to an operation that orders threads.
    fn arrives(&self, thread: usize, scope: Scope);
    /// It goes on behind it.
    fn leaves(&self, thread: usize, scope: Scope);
    /// Whether waiting threads are looked after.
    fn minds_meetings(&self) -> bool;
    /// Threads do not meet as they should.
    fn meets_badly(&self, worker: &Worker, meeting: &Meeting<'_>);
}

static CHECKER: OnceLock<&'static dyn Checker> = OnceLock::new();

/// The program's checker.
#[inline]
pub fn checker() -> Option<&'static dyn Checker> {
    CHECKER.get().copied()
}

/// The program's checker, if it looks at how threads meet.
pub fn of_meetings() -> Option<&'static dyn Checker> {
    checker().filter(|checker| checker.minds_meetings())
}

/// Something orders the work of streams.
#[inline]
pub fn order(order: Order<'_>) {
    if let Some(checker) = checker() {
        checker.orders(order);
    }
}

/// From now on there is one.
pub fn install(checker: &'static dyn Checker) {
    let _ = CHECKER.set(checker);
}
