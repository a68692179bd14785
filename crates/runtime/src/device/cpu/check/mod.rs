//! The checker of programs that are compiled with `-fregrain-check=`.
//!
//! Code made for it calls [`access`] before each access of memory and takes the address that is accessed in the end from there: a spare place
//! where the access is wrong, so that loads give 0, stores are lost, and the kernel goes on to its further errors.
//!
//! - `memory`: the device's memory is one range of addresses with a byte of state beside each byte: whether it is allocated, and whether it has
//!   been written. Allocations lie far apart and are not used again, so that what is freed is known.
//! - `places`: all else that device code may access: a block's shared memory (with states of its own), variables, stacks.
//! - `races`: the last write and two reads of each word, with a clock that operations count up that order threads.
//! - `between`, `orders`: on request, races between blocks, and between grids of different streams.
//! - `reports`: what is said, once for each place of the source.
//!
//! No report is to be false: what orders two accesses perhaps is taken to do so. Blocks run on several OS threads; each has state of its own
//! for what is a block's (`local`), and bytes of state are written without a lock, as the program writes its memory.

mod access;
mod asked;
mod between;
mod callers;
mod hooks;
mod json;
mod kinds;
mod local;
mod memory;
mod orders;
mod places;
mod races;
mod reports;
mod sites;
mod wrong;

use std::ffi::c_char;

use kinds::Kind;

/// A variable of a module.
#[repr(C)]
struct Row {
    address: usize,
    size: u64,
    name: *const c_char,
}

/// A translation unit has checked code.
///
/// # Safety
/// Called by the compiler's constructor of the unit with a constant table and a function that tells of its shared variables.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_check_enrol(kinds: u32, variables: *const Row, count: u64, shared: extern "C" fn()) {
    kinds::add(kinds);
    // SAFETY: by contract.
    let rows = unsafe { std::slice::from_raw_parts(variables, if variables.is_null() { 0 } else { count as usize }) };
    for row in rows {
        // SAFETY: names are constant strings.
        places::add_variable(row.address, row.size as usize, unsafe { sites::text(row.name) });
    }
    places::add_shared(shared);
    hooks::begin();
    memory::expect(Kind::Memory.is_on(), Kind::Init.is_on());
}
