//! The state of one OS thread that runs blocks: its worker, the threads and warps of the block at hand, its barriers.
//! Data alone; what changes it stands in the files above.
//!
//! Shared mutable state is reached through a raw pointer (`Tls::runtime`), never through long-lived references:
//! coroutines and scheduler take turns on it on one OS thread.

use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::time::Instant;

use corosensei::Yielder;

use super::job::Job;
use super::shuffle::Random;
use super::stack::{Bounds, Coro, StackPool};
use super::waiting::Waiting;
use crate::abi::{Site, Tls, tls};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Ready,
    /// At the barrier of this index (`GRID` for the grid-wide one).
    Barrier(u8),
    /// In a warp collective.
    Warp,
    /// In `__activemask`.
    Active,
    /// In an operation of an emulated wave.
    Wave,
}

/// One cache line per thread: it is touched at each switch.
#[repr(align(64))]
pub struct Thread {
    /// Of its coroutine, and that coroutine's place, while it is suspended.
    pub yielder: *const Yielder<(), ()>,
    pub slot: u32,
    pub state: State,
    pub site: *const Site,
    pub tid: [u32; 3],
    /// Warp collective: named lanes, deposit, where the deposits go.
    pub mask: u32,
    pub value: u64,
    pub out: *mut u64,
    /// What the synchronising call returns.
    pub result: u32,
}

#[derive(Clone, Copy, Default)]
pub struct Warp {
    pub live: u32,
    /// Not started; implies ready.
    pub fresh: u32,
    pub ready: u32,
    /// Ready, but only after everybody else has had a turn.
    pub yielded: u32,
    /// Lanes waiting in a warp collective.
    pub exchanging: u32,
    /// Lanes waiting in `__activemask`, and for how many turns they have waited for lanes that yielded.
    pub asking: u32,
    pub patience: u32,
    /// Lanes of an emulated wave that have stopped, and those of them that wait at the block's barrier.
    pub stopped: u32,
    pub at_barrier: u32,
}

/// Index of the barrier that stands for grid-wide synchronisation.
pub const GRID: usize = 16;

#[derive(Clone, Default)]
pub struct Barrier {
    /// Waiting lanes, per warp.
    pub lanes: Vec<u32>,
    pub waiting: u32,
    /// `bar.arrive`: arrived, but not waiting.
    pub arrived: u32,
    /// Threads that open it; 0 for the whole block.
    pub expected: u32,
    pub site: usize,
    pub diverged: bool,
    pub reduces: bool,
    pub count: u32,
    pub all: bool,
    pub any: bool,
}

#[derive(Default)]
pub struct Barriers {
    pub slots: Vec<Barrier>,
    /// One bit per barrier at which somebody waits.
    pub pending: u32,
}

impl Barriers {
    /// Whether anybody waits at a barrier.
    pub fn waited_for(&self) -> bool {
        self.pending != 0
    }

    pub fn reset(&mut self) {
        self.slots.resize_with(GRID + 1, Barrier::default);
        if self.pending != 0 {
            self.slots.iter_mut().for_each(|slot| *slot = Barrier::default());
        }
        self.pending = 0;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Idle,
    Whole,
    Coroutines,
}

/// How memory was accessed by what has faulted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    /// A call of what is no code.
    Call,
    Unknown,
}

/// How far it has come to say what a fault was.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// There is none.
    None,
    /// Looking for the lines.
    Lines,
    /// Saying it.
    Last,
}

/// A fault of the running thread (`fault`).
#[derive(Clone, Copy)]
pub struct Fault {
    pub stage: Stage,
    pub signal: i32,
    pub address: usize,
    /// Whether the address is known.
    pub is_fault_of_page: bool,
    pub access: Access,
    pub overflow: bool,
}

impl Fault {
    const NONE: Self = Self {
        stage: Stage::None,
        signal: 0,
        address: 0,
        is_fault_of_page: false,
        access: Access::Unknown,
        overflow: false,
    };
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
    /// For blocks that take turns.
    pub turn_stacks: StackPool,
    /// Yielder of the big coroutine, or of the block whose turn it is, while it runs.
    pub whole_yielder: *const Yielder<(), ()>,
    pub coroutines: Vec<Option<Coro>>,
    /// Places of `coroutines` that are empty.
    pub free_slots: Vec<u32>,
    pub threads: Vec<Thread>,
    /// Block shape that `threads` is set up for.
    pub shape: [u32; 3],
    pub warps: Vec<Warp>,
    pub barriers: Barriers,
    /// Warps of an emulated wave, 1 or 2, and how many waves wait at the block's barrier.
    pub wave_warps: usize,
    pub waves_waiting: u32,
    /// Yielder and place of the running coroutine.
    pub yielder: *const Yielder<(), ()>,
    pub slot: u32,
    /// Linear index of the running thread.
    pub current: usize,
    /// Chooses among the threads of the block, where their order is left to chance.
    pub random: Option<Random>,
    pub live: u32,
    /// Blocks that are taken and not begun.
    pub chunk: Range<u64>,
    /// The thread loop that is being run on fibers, and stacks for those that run whole rows.
    pub waiting: Waiting,
    pub row_stacks: StackPool,
    /// Since when the block has done nothing but wait.
    pub waits_since: Option<Instant>,
    /// Whether the running thread is where a fault is not its own (`fault::guard`), and the fault that it is at.
    pub guarded: AtomicU32,
    pub fault: Fault,
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
            turn_stacks: StackPool::new(),
            whole_yielder: std::ptr::null(),
            coroutines: Vec::new(),
            free_slots: Vec::new(),
            threads: Vec::new(),
            shape: [0; 3],
            warps: Vec::new(),
            barriers: Barriers::default(),
            wave_warps: 1,
            waves_waiting: 0,
            yielder: std::ptr::null(),
            slot: 0,
            current: 0,
            random: None,
            live: 0,
            chunk: 0..0,
            waiting: Waiting::default(),
            row_stacks: StackPool::new(),
            waits_since: None,
            guarded: AtomicU32::new(0),
            fault: Fault::NONE,
        })
    }

    /// The stack of this worker that an address is on.
    pub fn stack_at(&self, address: usize) -> Option<Bounds> {
        self.stacks().into_iter().find_map(|stacks| stacks.at(address))
    }

    /// All stacks that code of kernels runs on.
    pub fn stacks(&self) -> [&StackPool; 4] {
        [&self.stacks, &self.big_stack, &self.turn_stacks, &self.row_stacks]
    }

    /// The kernel being run.
    pub fn job(&self) -> &Job {
        // SAFETY: set by `run` for as long as blocks run; entry points are only reached from there.
        unsafe { &*self.job }
    }
}

/// The running thread's site for the call it is in, consumed.
///
/// # Safety
/// `worker` is this OS thread's.
pub unsafe fn take_site(worker: *mut Worker) -> *const Site {
    // SAFETY: this OS thread's own storage.
    unsafe { std::mem::replace(&mut (*(*worker).tls).site, std::ptr::null()) }
}
