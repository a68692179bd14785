//! What device code may access beside the device's memory: variables, a block's shared memory, stacks.

use std::sync::{Mutex, PoisonError, RwLock};

use super::memory::{self, ALLOCATED};
use super::races::Cell;

/// A variable of the program, or of a block.
#[derive(Clone)]
pub struct Variable {
    pub start: usize,
    pub size: usize,
    pub name: String,
}

static VARIABLES: RwLock<Vec<Variable>> = RwLock::new(Vec::new());
static SHARED: Mutex<Vec<extern "C" fn()>> = Mutex::new(Vec::new());

/// Takes note of a variable of a module.
pub fn add_variable(start: usize, size: usize, name: String) {
    let mut variables = VARIABLES.write().unwrap_or_else(PoisonError::into_inner);
    let at = variables.partition_point(|variable| variable.start < start);
    variables.insert(at, Variable { start, size, name });
}

/// The variable that holds an address, or ends or begins next to it.
pub fn near_variable(address: usize) -> Option<Variable> {
    let variables = VARIABLES.read().unwrap_or_else(PoisonError::into_inner);
    let behind = variables.partition_point(|variable| variable.start <= address);
    behind.checked_sub(1).map(|at| variables[at].clone())
}

/// A module has shared variables, of which `tell` tells on each OS thread.
pub fn add_shared(tell: extern "C" fn()) {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner).push(tell);
}

/// The functions that tell of shared variables, from the one of number `from` on.
pub fn shared_from(from: usize) -> Vec<extern "C" fn()> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner).get(from..).unwrap_or_default().to_vec()
}

/// A piece of a block's memory, with the states of its bytes and the accesses of its words.
#[derive(Default)]
pub struct Region {
    pub start: usize,
    pub len: usize,
    states: Vec<u8>,
    /// The states at the start of a block.
    fresh: Vec<u8>,
    cells: Vec<Cell>,
    /// What the block has accessed.
    touched: (usize, usize),
}

impl Region {
    /// Memory at `start`, of which nothing may be accessed.
    pub fn new(start: usize, len: usize) -> Self {
        Self { start, len, states: vec![0; len], fresh: vec![0; len], touched: (len, 0), ..Self::default() }
    }

    /// From the next block on, these bytes may be accessed, or may not.
    pub fn allow(&mut self, start: usize, len: usize, is_allowed: bool) {
        let at = start - self.start;
        let state = if is_allowed { ALLOCATED } else { 0 };
        self.fresh[at..at + len].fill(state);
        self.states[at..at + len].fill(state);
    }

    /// A block begins.
    pub fn begin(&mut self) {
        let (low, high) = self.touched;
        if low < high {
            self.states[low..high].copy_from_slice(&self.fresh[low..high]);
        }
        self.touched = (self.len, 0);
    }

    /// Whether bytes lie in it.
    #[inline]
    pub fn holds(&self, address: usize, size: usize) -> bool {
        let offset = address.wrapping_sub(self.start);
        offset < self.len && size <= self.len - offset
    }

    /// Whether the bytes at `address` have what an access wants.
    #[inline]
    pub fn has(&self, address: usize, size: usize, wanted: u64) -> bool {
        // SAFETY: `holds` is asked before.
        unsafe { memory::has(self.states.as_ptr().add(address - self.start), size, wanted) }
    }

    /// Whether the bytes at `address` may be accessed.
    pub fn is_allowed(&self, address: usize, size: usize) -> bool {
        self.holds(address, size)
            && self.states[address - self.start..][..size].iter().all(|state| state & ALLOCATED != 0)
    }

    /// Marks bytes as written.
    #[inline]
    pub fn mark(&mut self, address: usize, size: usize) {
        let at = address - self.start;
        self.touched = (self.touched.0.min(at), self.touched.1.max(at + size));
        // SAFETY: `holds` is asked before.
        unsafe { memory::mark(self.states.as_mut_ptr().add(at), size) };
    }

    /// The accesses of words.
    #[inline]
    pub fn cells(&mut self) -> &mut [Cell] {
        if self.cells.is_empty() {
            self.cells.resize_with(self.len / 4 + 2, Cell::default);
        }
        &mut self.cells
    }
}
