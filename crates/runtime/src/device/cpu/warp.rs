//! Warp collectives and the active mask.
//!
//! A collective names lanes by a mask. Each named, live lane deposits a value and waits; when all have, everyone gets
//! all deposits. A lane that takes no part (it has returned, lies beyond the block or is not named) deposits 0: PTX
//! leaves undefined what a shuffle reads from it, hardware gives 0, and widely used reductions over partial warps count
//! on that. Collectives with disjoint masks of one warp do not disturb each other.
//!
//! `__activemask` asks which lanes run together. Coroutines run one at a time, so the question is answered by waiting:
//! when no lane of the warp can run any more, those that ask at the same source line go on together and see each other.
//! That is the convergence a programmer expects after a divergent branch.

use super::checks::{self, Scope};
use super::report;
use super::state::{Mode, State, Worker, current, take_site};
use super::switch::{leave, wait};
use crate::error::CudaError;

/// Every named, live lane deposits `value`; `out` (may be null) gets 32 deposits, 0 for lanes that took no part.
/// Returns the participants.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_warp_exchange(mask: u32, value: u64, out: *mut u64) -> u32 {
    let worker = current();
    if worker.is_null() {
        return 0;
    }
    // SAFETY: a non-null worker belongs to this OS thread and runs this thread; `out` is null or has room for 32
    // values.
    unsafe {
        if (*worker).mode != Mode::Coroutines && !(*worker).waiting.has_lanes() {
            return alone(worker, value, out);
        }
        let index = (*worker).current;
        let (warp, lane) = (index / 32, index % 32);
        if let Some(checker) = checks::checker() {
            checker.arrives(index, Scope::Warp);
        }
        let thread = &mut (&mut (*worker).threads)[index];
        thread.site = take_site(worker);
        if mask & 1 << lane == 0 {
            report::not_named(&*worker, mask);
        }
        let thread = &mut (&mut (*worker).threads)[index];
        thread.mask = mask | 1 << lane;
        thread.value = value;
        thread.out = out;
        thread.state = State::Warp;
        let mask = thread.mask;
        (&mut (*worker).warps)[warp].exchanging |= 1 << lane;
        (&mut (*worker).warps)[warp].ready &= !(1 << lane);
        if !complete(&mut *worker, warp, mask) {
            wait(worker, State::Warp);
        }
        (&(*worker).threads)[index].result
    }
}

/// A collective outside the coroutine form: right for a block of one thread only.
///
/// # Safety
/// As [`__regrain_warp_exchange`].
#[cold]
unsafe fn alone(worker: *mut Worker, value: u64, out: *mut u64) -> u32 {
    // SAFETY: by contract.
    unsafe {
        if (*worker).job().threads() > 1 {
            (*worker).job().fail(CudaError::LAUNCH_FAILURE, "reached a warp operation in its split form");
            leave(worker);
        }
        if !out.is_null() {
            let mut values = [0; 32];
            values[0] = value;
            out.copy_from_nonoverlapping(values.as_ptr(), 32);
        }
    }
    1
}

/// Finishes the collective of `mask` in a warp when all its live lanes are there.
///
/// # Safety
/// The `out` pointers of the waiting lanes are valid: they stand on suspended stacks.
unsafe fn complete(worker: &mut Worker, warp: usize, mask: u32) -> bool {
    let state = worker.warps[warp];
    let group = mask & state.live;
    if group & !state.exchanging != 0 || group == 0 {
        return false;
    }
    let base = warp * 32;
    let mut values = [0u64; 32];
    for lane in lanes(group) {
        let thread = &worker.threads[base + lane];
        if thread.mask & state.live != group {
            return false;
        }
        values[lane] = thread.value;
    }
    for lane in lanes(group) {
        if let Some(checker) = checks::checker() {
            checker.leaves(base + lane, Scope::Warp);
        }
        let thread = &mut worker.threads[base + lane];
        thread.state = State::Ready;
        thread.result = group;
        if !thread.out.is_null() {
            // SAFETY: by contract; 32 values of room.
            unsafe { thread.out.copy_from_nonoverlapping(values.as_ptr(), 32) };
        }
    }
    worker.warps[warp].exchanging &= !group;
    worker.warps[warp].ready |= group;
    true
}

fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(lane)
    })
}

/// A lane has returned: collectives that waited only for it finish.
///
/// # Safety
/// From the scheduler, while no coroutine runs.
pub unsafe fn after_exit(worker: *mut Worker, warp: usize) {
    // SAFETY: by contract, exclusive access.
    let worker = unsafe { &mut *worker };
    for lane in lanes(worker.warps[warp].exchanging) {
        if worker.warps[warp].exchanging & 1 << lane != 0 {
            let mask = worker.threads[warp * 32 + lane].mask;
            // SAFETY: waiting lanes are suspended, their `out` is valid.
            unsafe { complete(worker, warp, mask) };
        }
    }
}

/// The lanes that run together with this one. A synchronising call: it waits for the lanes of the warp to settle.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_active_mask() -> u32 {
    let worker = current();
    // SAFETY: a non-null worker belongs to this OS thread and runs this thread.
    unsafe {
        if worker.is_null() || (*worker).mode != Mode::Coroutines {
            return if worker.is_null() { 1 } else { 1 << (*(*worker).tls).laneid };
        }
        let index = (*worker).current;
        (&mut (*worker).threads)[index].site = take_site(worker);
        (&mut (*worker).warps)[index / 32].asking |= 1 << (index % 32);
        wait(worker, State::Active);
        (&(*worker).threads)[index].result
    }
}

/// Turns that asking lanes wait for lanes that yielded in a spin loop: those may be on their way, or wait for an asking
/// lane.
const PATIENCE: u32 = 64;

/// Answers the lanes that ask for the active mask at the first asking lane's site. Called when no lane of the warp is
/// ready.
///
/// # Safety
/// From the scheduler, while no coroutine runs.
pub unsafe fn release_asking(worker: *mut Worker, warp: usize) -> bool {
    // SAFETY: by contract, exclusive access.
    let worker = unsafe { &mut *worker };
    let asking = worker.warps[warp].asking;
    if asking == 0 {
        return false;
    }
    if worker.warps[warp].yielded != 0 && worker.warps[warp].patience < PATIENCE {
        worker.warps[warp].patience += 1;
        return false;
    }
    worker.warps[warp].patience = 0;
    let base = warp * 32;
    let site = worker.threads[base + asking.trailing_zeros() as usize].site;
    let group =
        lanes(asking).filter(|lane| worker.threads[base + lane].site == site).fold(0, |mask, lane| mask | 1 << lane);
    for lane in lanes(group) {
        worker.threads[base + lane].result = group;
        worker.threads[base + lane].state = State::Ready;
    }
    worker.warps[warp].asking &= !group;
    worker.warps[warp].ready |= group;
    true
}
