//! The calls that stand before accesses of memory.
//!
//! Each gives the address that is accessed in the end. What an access is stands in a number that generated code has
//! (`mlir-bridge/cpp/checks.cpp`): bytes, from bit 16 on the logarithm of its alignment, from bit 24 on its flags.

use std::ffi::c_void;

use super::asked::{ACQUIRES, Asked, How, RELEASES, VALUED};
use super::between;
use super::kinds::Kind;
use super::local::{self, Local};
use super::memory::{self, mark, minds_writes, wanted};
use super::places::{self, Region};
use super::races::{self, Access, Class};
use super::sites::Place;
use super::wrong::{self, Space};
use crate::device::cpu::checks::Scope;
use crate::device::cpu::{heap, kernel, textures};

/// So near to the running code's own frames is a thread's stack.
const NEAR: usize = 16 << 10;

#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_check_load(address: *mut c_void, info: u32, place: *const Place) -> *mut c_void {
    // SAFETY: called by generated code in a block of this OS thread.
    unsafe { check(Asked::new(address, info, How::Load, place)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_check_store(
    address: *mut c_void,
    info: u32,
    place: *const Place,
    value: u64,
) -> *mut c_void {
    // SAFETY: as for loads.
    unsafe { check(Asked { value, ..Asked::new(address, info, How::Store, place) }) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_check_atomic(address: *mut c_void, info: u32, place: *const Place) -> *mut c_void {
    // SAFETY: as for loads.
    unsafe { check(Asked::new(address, info, How::Atomic, place)) }
}

/// An access of a variable of `bytes` bytes at `start`; `is` says whether it is a thread's own (1), and whether it is written (2).
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_check_object(
    address: *mut c_void,
    info: u32,
    place: *const Place,
    start: *mut c_void,
    bytes: u64,
    is: u32,
) -> *mut c_void {
    let how = if is & 2 != 0 { How::Store } else { How::Load };
    let asked = Asked::new(address, info, how, place);
    let (offset, bytes) = (asked.address.wrapping_sub(start as usize), bytes as usize);
    if offset < bytes && asked.size <= bytes - offset || !Kind::Memory.is_on() {
        return address;
    }
    wrong::outside_of(&asked, start as usize, bytes, is & 1 != 0);
    asked.spare()
}

/// Looks at one access.
///
/// # Safety
/// In code of a block that runs on this OS thread.
#[inline(always)]
unsafe fn check(asked: Asked) -> *mut c_void {
    let Asked { address, size, how, .. } = asked;
    if let Some(state) = memory::state(address, size)
        && asked.is_aligned()
    {
        // SAFETY: the states of these bytes; the block's state is this OS thread's.
        unsafe {
            if memory::has(state, size, wanted(how == How::Store)) {
                if how != How::Load && minds_writes() {
                    mark(state, size);
                }
                if Kind::Race.is_on() {
                    race(local::current(), &asked, Space::Global);
                }
                return address as *mut c_void;
            }
        }
    }
    // SAFETY: by contract.
    unsafe { elsewhere(asked) }
}

/// The same of a block's memory, and of what is left.
///
/// # Safety
/// As [`check`].
#[inline(never)]
unsafe fn elsewhere(asked: Asked) -> *mut c_void {
    let local = local::current();
    if local.is_null() || asked.is_spare() {
        return asked.address as *mut c_void;
    }
    if !asked.is_aligned() && Kind::Memory.is_on() {
        wrong::misaligned(&asked, space_of(local, asked.address));
    }
    // SAFETY: this OS thread's own; no other reference to it lives.
    unsafe {
        for (region, space) in [(&mut (*local).shared, Space::Shared), (&mut (*local).dynamic, Space::Shared)] {
            if region.holds(asked.address, asked.size) {
                return match in_region(region, &asked) {
                    Some(address) => {
                        if Kind::Race.is_on() {
                            race(local, &asked, space);
                        }
                        address
                    }
                    None => asked.spare(),
                };
            }
        }
        anywhere(local, &asked)
    }
}

/// An access of a block's memory; `None` if it cannot be made.
fn in_region(region: &mut Region, asked: &Asked) -> Option<*mut c_void> {
    let Asked { address, size, how, .. } = *asked;
    if !region.has(address, size, wanted(how == How::Store)) {
        if Kind::Memory.is_on() && !region.is_allowed(address, size) {
            wrong::invalid(asked, Space::Shared);
            return None;
        }
        if minds_writes() && how != How::Store && region.is_allowed(address, size) {
            wrong::uninitialised(asked, Space::Shared);
            region.mark(address, size);
        }
    }
    if how != How::Load && minds_writes() && (Kind::Memory.is_on() || region.is_allowed(address, size)) {
        region.mark(address, size);
    }
    Some(address as *mut c_void)
}

/// # Safety
/// `local` is this OS thread's.
unsafe fn anywhere(local: *mut Local, asked: &Asked) -> *mut c_void {
    let Asked { address, size, how, .. } = *asked;
    // SAFETY: by contract; states of the bytes.
    unsafe {
        if let Some(state) = memory::state(address, size) {
            if !memory::has(state, size, memory::wanted(true)) {
                wrong::invalid(asked, Space::Global);
                return asked.spare();
            }
            if how != How::Store && !memory::has(state, size, wanted(false)) {
                wrong::uninitialised(asked, Space::Global);
            }
            if minds_writes() {
                mark(state, size);
            }
        } else if !was_hit(local, address, size) {
            if on_stack(local, address) {
                return address as *mut c_void;
            }
            if !is_known(local, address, size) {
                if Kind::Memory.is_on() {
                    wrong::invalid(asked, space_of(local, address));
                    return asked.spare();
                }
                return address as *mut c_void;
            }
        }
        if Kind::Race.is_on() {
            race(local, asked, Space::Global);
        }
    }
    address as *mut c_void
}

/// Whether bytes are of the variable that was accessed last.
unsafe fn was_hit(local: *mut Local, address: usize, size: usize) -> bool {
    // SAFETY: this OS thread's own.
    let (start, end) = unsafe { (*local).hit };
    address >= start && address + size <= end
}

/// Whether bytes are a variable's, or memory that the program told of.
unsafe fn is_known(local: *mut Local, address: usize, size: usize) -> bool {
    let variable = places::near_variable(address).map(|found| (found.start, found.size));
    let inside = |found: &(usize, usize)| address >= found.0 && address + size <= found.0 + found.1;
    if let Some((start, size)) = variable.filter(inside) {
        // SAFETY: this OS thread's own.
        unsafe { (*local).hit = (start, start + size) };
        return true;
    }
    let allocated = heap::find(address as *const c_void).map(|found| (found.start, found.size));
    if allocated.or_else(|| kernel::variable_at(address)).as_ref().is_some_and(inside) {
        return true;
    }
    // What fetches are made of where they are put in place.
    let object = textures::object_at(address).filter(inside);
    if let Some((start, size)) = object {
        // SAFETY: this OS thread's own.
        unsafe { (*local).hit = (start, start + size) };
    }
    object.is_some()
}

/// Whether an address is on the stack of some thread of this OS thread's block.
unsafe fn on_stack(local: *mut Local, address: usize) -> bool {
    let here = 0u8;
    if address.abs_diff(&raw const here as usize) < NEAR {
        return true;
    }
    // SAFETY: the worker of the block that runs.
    let worker = unsafe { &*(*local).worker };
    worker.stacks().into_iter().any(|stacks| stacks.holds(address))
}

/// The space that an address is in, or near to.
pub fn space_of(local: *mut Local, address: usize) -> Space {
    const CLOSE: usize = 4096;
    // SAFETY: null or this OS thread's own.
    let Some(local) = (unsafe { local.as_ref() }) else { return Space::Global };
    let near = |region: &Region| {
        region.len != 0 && address + CLOSE >= region.start && address < region.start + region.len + CLOSE
    };
    if near(&local.shared) || near(&local.dynamic) { Space::Shared } else { Space::Global }
}

/// Looks for races, and takes note of what orders threads.
///
/// # Safety
/// `local` is null or this OS thread's; `asked` may be accessed.
unsafe fn race(local: *mut Local, asked: &Asked, space: Space) {
    if local.is_null() {
        return;
    }
    let class = asked.class();
    // SAFETY: by contract; the worker runs the block.
    unsafe {
        let thread = (*(*local).worker).current;
        let Local { races, shared, dynamic, here, hit, .. } = &mut *local;
        if asked.flags & ACQUIRES != 0 {
            races.leaves(thread, Scope::Block);
            here.leaves();
        }
        let is_silent = asked.flags & VALUED != 0
            && asked.how == How::Store
            && races::holds(asked.address as *const c_void, asked.size, asked.value);
        // In memory that all blocks see, storing what is there is a way to say something together.
        if !(is_silent && space == Space::Global && class == Class::Plain) {
            let Asked { address, size, how, place, .. } = *asked;
            let access = Access { address, size, thread, writes: how != How::Load, class, is_silent, place };
            let region = match space {
                Space::Shared if shared.holds(address, size) => Some(shared),
                Space::Shared => Some(dynamic),
                _ => None,
            };
            let cells = region.map(|region| {
                let start = region.start;
                (region.cells(), start)
            });
            if let Some(found) = races.access(&access, cells) {
                wrong::race(asked, &found, space);
            }
            if between::is_on()
                && space == Space::Global
                && class == Class::Plain
                && let Some(found) = here.access(asked, *hit)
            {
                wrong::race_of_blocks(Some(asked), how, &found);
            }
        }
        if asked.flags & RELEASES != 0 {
            races.arrives(thread, Scope::Block);
            here.arrives();
        }
    }
}

/// A copy or a fill of `bytes` bytes; where an address is null, it is a thread's own memory, or there is no source. Gives the bytes that are
/// copied in the end.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_check_range(
    to: *mut c_void,
    from: *mut c_void,
    bytes: u64,
    place: *const Place,
    copies: u32,
) -> u64 {
    let mut is_right = true;
    for (address, how) in [(from, How::Load), (to, How::Store)] {
        if !address.is_null() && bytes != 0 {
            let asked =
                Asked { address: address as usize, size: bytes as usize, align: 1, how, flags: 0, value: 0, place };
            // SAFETY: called by generated code in a block of this OS thread.
            is_right &= unsafe { range(&asked) };
        }
    }
    if is_right && minds_writes() && copies & 1 == 1 && !from.is_null() && !to.is_null() {
        memory::written(to as usize, from as usize, bytes as usize);
    }
    if is_right { bytes } else { 0 }
}

/// Whether a range can be accessed as a whole.
///
/// # Safety
/// As [`check`].
unsafe fn range(asked: &Asked) -> bool {
    let (address, size) = (asked.address, asked.size);
    let local = local::current();
    if local.is_null() || asked.is_spare() {
        return true;
    }
    // SAFETY: by contract.
    unsafe {
        let (region, space) = if (*local).shared.holds(address, 1) {
            (Some(&mut (*local).shared), Space::Shared)
        } else if (*local).dynamic.holds(address, 1) {
            (Some(&mut (*local).dynamic), Space::Shared)
        } else {
            (None, Space::Global)
        };
        let is_allowed = match (region, memory::state(address, size)) {
            (Some(region), _) => {
                let is_allowed = region.is_allowed(address, size);
                if is_allowed && asked.how == How::Store {
                    region.mark(address, size);
                }
                is_allowed || !Kind::Memory.is_on()
            }
            (None, Some(state)) => {
                let is_allowed = memory::has(state, size, wanted(true));
                if is_allowed && asked.how == How::Store && minds_writes() {
                    mark(state, size);
                }
                is_allowed
            }
            (None, None) => is_known(local, address, size) || on_stack(local, address) || !Kind::Memory.is_on(),
        };
        if !is_allowed {
            wrong::invalid(asked, space);
        } else if Kind::Race.is_on() && !on_stack(local, address) {
            race(local, asked, space);
        }
        is_allowed
    }
}
