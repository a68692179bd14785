//! The loop over threads that a worker is in, where threads of it may wait: data alone, `fibers.rs` changes it.

use corosensei::Yielder;

use super::stack::Coro;

/// What a loop runs one after the other, as generated code says it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Items {
    Rows,
    #[default]
    Threads,
    /// With operations of warps.
    Lanes,
}

/// One run through the threads of a loop.
pub struct Fiber {
    pub coroutine: Coro,
    /// The rows that it has passed.
    pub seen: u64,
    /// The thread that it runs.
    pub thread: Option<usize>,
}

/// The loop that a worker is in.
#[derive(Default)]
pub struct Waiting {
    pub fibers: Vec<Fiber>,
    /// Threads, or rows, that have begun.
    pub taken: u64,
    pub items: Items,
    /// Of the running fiber.
    pub seen: u64,
    pub thread: Option<usize>,
    pub yielder: Option<*const Yielder<(), ()>>,
    /// Rounds of waiting since the last switch.
    pub spins: u32,
}

impl Waiting {
    /// Whether operations of warps wait for the fibers of other lanes.
    pub fn has_lanes(&self) -> bool {
        self.items == Items::Lanes && self.yielder.is_some()
    }
}
