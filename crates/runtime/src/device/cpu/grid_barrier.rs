//! The barrier across the blocks of a cooperative launch.

use std::sync::{Condvar, Mutex, PoisonError};

/// A barrier over the blocks of a grid that gives up when the kernel fails. A block that has ended counts as arrived.
pub struct GridBarrier {
    state: Mutex<Phase>,
    changed: Condvar,
}

struct Phase {
    blocks: u64,
    waiting: u64,
    phase: u64,
}

impl GridBarrier {
    pub fn new(blocks: u64) -> Self {
        Self { state: Mutex::new(Phase { blocks, waiting: 0, phase: 0 }), changed: Condvar::new() }
    }

    /// Waits for the other blocks, or until `failed` says that there is no point.
    pub fn wait(&self, failed: impl Fn() -> bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting += 1;
        if state.waiting == state.blocks {
            self.open(&mut state);
            return;
        }
        let phase = state.phase;
        while state.phase == phase && !failed() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn open(&self, state: &mut Phase) {
        state.waiting = 0;
        state.phase += 1;
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
