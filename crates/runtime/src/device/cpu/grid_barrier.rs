//! The barrier across the blocks of a cooperative launch.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// How often an OS thread that has a processor of its own looks before it sleeps: some hundred microseconds.
const LOOKS: u32 = 20_000;
/// Looks before it offers the processor to others.
const LOOKS_IN_A_ROW: u32 = 64;

/// A barrier over the blocks of a grid that gives up when the kernel fails. A block that has ended counts as arrived.
pub struct GridBarrier {
    state: Mutex<Phase>,
    changed: Condvar,
    /// Mirrors `Phase::phase`, so that one can look without the lock.
    phase: AtomicU64,
    looks: u32,
}

struct Phase {
    blocks: u64,
    waiting: u64,
    phase: u64,
}

impl GridBarrier {
    /// `busy`: whoever waits has a processor of its own, and may look for a while before it sleeps.
    pub fn new(blocks: u64, busy: bool) -> Self {
        let state = Mutex::new(Phase { blocks, waiting: 0, phase: 0 });
        Self { state, changed: Condvar::new(), phase: AtomicU64::new(0), looks: if busy { LOOKS } else { 0 } }
    }

    /// Waits, for so many blocks, for the others, or until `failed` says that there is no point.
    pub fn wait(&self, blocks: u64, failed: impl Fn() -> bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting += blocks;
        if state.waiting == state.blocks {
            self.open(&mut state);
            return;
        }
        let phase = state.phase;
        drop(state);
        for look in 1..=self.looks {
            if self.phase.load(Ordering::Acquire) != phase || failed() {
                return;
            }
            // The OS thread that is waited for may be one that has no processor now.
            match look % LOOKS_IN_A_ROW {
                0 => std::thread::yield_now(),
                _ => std::hint::spin_loop(),
            }
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.phase == phase && !failed() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn open(&self, state: &mut Phase) {
        state.waiting = 0;
        state.phase += 1;
        self.phase.store(state.phase, Ordering::Release);
        self.changed.notify_all();
    }

    /// A block has ended.
    pub fn retire(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.blocks -= 1;
        if state.blocks != 0 && state.waiting == state.blocks {
            self.open(&mut state);
        }
    }

    /// Wakes all waiting blocks so that they see the failure.
    pub fn wake(&self) {
        let _state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.changed.notify_all();
    }
}
