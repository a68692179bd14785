//! What the checker keeps for each OS thread that runs blocks.

use std::cell::Cell;
use std::ffi::c_char;

use super::between::{self, Here};
use super::places::{Region, Variable, shared_from};
use super::races::Races;
use super::sites::text;
use crate::abi::{MAX_DYNAMIC_SHARED, dynamic_shared, tls};
use crate::device::cpu::state::Worker;

/// Shared variables of a program lie together; more than this is none.
const MOST_SHARED: usize = 8 << 20;

/// The state of one OS thread.
pub struct Local {
    /// Static shared memory, and its variables.
    pub shared: Region,
    pub variables: Vec<Variable>,
    /// Modules whose variables are known.
    modules: usize,
    pub dynamic: Region,
    dynamic_size: usize,
    pub races: Races,
    /// The block, to others.
    pub here: Here,
    /// The variable that was accessed last: its beginning and end.
    pub hit: (usize, usize),
    /// While a block runs.
    pub worker: *mut Worker,
}

thread_local! {
    static LOCAL: Cell<*mut Local> = const { Cell::new(std::ptr::null_mut()) };
}

/// This OS thread's state, null before a block has run on it.
#[inline]
pub fn current() -> *mut Local {
    LOCAL.get()
}

/// This OS thread's state. It lives as long as the process: blocks run on few threads.
pub fn get_or_make() -> *mut Local {
    if LOCAL.get().is_null() {
        let local = Local {
            shared: Region::default(),
            variables: Vec::new(),
            modules: 0,
            dynamic: Region::new(dynamic_shared() as usize, MAX_DYNAMIC_SHARED),
            dynamic_size: 0,
            races: Races::new(),
            here: Here::default(),
            hit: (0, 0),
            worker: std::ptr::null_mut(),
        };
        LOCAL.set(Box::into_raw(Box::new(local)));
    }
    LOCAL.get()
}

/// A shared variable of the OS thread that asks.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_check_shared(start: usize, size: u64, name: *const c_char) {
    let local = current();
    if !local.is_null() {
        // SAFETY: this OS thread's own; called from `Local::begin` alone, which holds no reference then. The name is a constant string.
        unsafe { (*local).variables.push(Variable { start, size: size as usize, name: text(name) }) };
    }
}

/// The number of the block that this OS thread runs.
fn number_of_block() -> u64 {
    // SAFETY: this OS thread's own storage.
    let tls = unsafe { &*tls() };
    let [[x, y, z], [width, height, _]] = [tls.ctaid, tls.nctaid].map(|shape| shape.map(u64::from));
    x + width * (y + height * z)
}

impl Local {
    /// A block begins. Whether times begin anew.
    ///
    /// # Safety
    /// `local` is this OS thread's, and `worker` is prepared for its job.
    pub unsafe fn begin(local: *mut Self, worker: *mut Worker) {
        // SAFETY: by contract; the functions that tell of variables find this state through `current`.
        unsafe {
            (*local).worker = worker;
            let tell = shared_from((*local).modules);
            if !tell.is_empty() {
                (*local).modules += tell.len();
                tell.iter().for_each(|tell| tell());
                (*local).lay_out();
            }
            let local = &mut *local;
            let dynamic = (*worker).job().shared as usize;
            if dynamic != local.dynamic_size {
                let start = local.dynamic.start;
                local.dynamic.allow(start, MAX_DYNAMIC_SHARED, false);
                local.dynamic.allow(start, dynamic, true);
                local.dynamic_size = dynamic;
            }
            if between::is_on() {
                local.here.begin((*worker).job().grid_id, number_of_block());
            }
            local.shared.begin();
            local.dynamic.begin();
            if local.races.begin() {
                local.shared.cells().fill_with(<_>::default);
                local.dynamic.cells().fill_with(<_>::default);
            }
        }
    }

    /// Makes the region of static shared memory of the variables.
    fn lay_out(&mut self) {
        let start = self.variables.iter().map(|variable| variable.start).min().unwrap_or(0) & !15;
        let end = self.variables.iter().map(|variable| variable.start + variable.size).max().unwrap_or(0);
        if end - start > MOST_SHARED {
            return;
        }
        self.shared = Region::new(start, end - start);
        for variable in &self.variables {
            self.shared.allow(variable.start, variable.size, true);
        }
    }

    /// The bytes of dynamic shared memory of the block.
    pub fn dynamic_size(&self) -> usize {
        self.dynamic_size
    }

    /// The shared variable that an address is in or behind.
    pub fn variable(&self, address: usize) -> Option<&Variable> {
        self.variables.iter().filter(|variable| variable.start <= address).max_by_key(|variable| variable.start)
    }
}
