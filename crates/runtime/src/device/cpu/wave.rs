//! Waves of emulated chips of AMD's: 32 or 64 threads in a row that go in step.
//!
//! A lane stops at each operation of its wave, at each barrier, and where a round of a loop ends that has one of
//! them. When no lane of the wave can go on, those that stopped at the first place in the order of the kernel's code
//! go on together, and see each other: that is how hardware which runs both sides of a branch one after the other
//! meets again behind it. A barrier is the wave's: it waits there as a whole, whatever its other lanes are about to
//! do.

use super::state::{Mode, State, Worker, current, take_site};
use super::switch::{leave, wait};
use crate::error::CudaError;

/// In a site: a wave has 64 lanes; the stop is a barrier of the block. The rest is its place in the order.
const WAVE64: u32 = 1 << 31;
const BARRIER: u32 = 1 << 30;
const ORDER: u32 = BARRIER - 1;

/// What the lanes of a wave deposit: 0 for those that are not active, which the last word names.
type Deposits = [u64; 65];

/// Stops the running lane at `site`; when it goes on, `out` has what the active lanes deposited.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_wave_stop(site: u32, value: u64, out: *mut Deposits) {
    let worker = current();
    if worker.is_null() {
        return;
    }
    // SAFETY: a non-null worker belongs to this OS thread and runs this thread; `out` has room by contract.
    unsafe {
        if (*worker).mode != Mode::Coroutines {
            (*worker).job().fail(CudaError::LAUNCH_FAILURE, "reached an operation of a wave in its split form");
            leave(worker);
        }
        let index = (*worker).current;
        (*worker).wave_warps = if site & WAVE64 != 0 { 2 } else { 1 };
        let thread = &mut (&mut (*worker).threads)[index];
        thread.site = take_site(worker);
        thread.mask = site;
        thread.value = value;
        thread.out = out.cast();
        (&mut (*worker).warps)[index / 32].stopped |= 1 << (index % 32);
        wait(worker, State::Wave);
        if (*worker).abandon {
            leave(worker);
        }
    }
}

/// The warps of the wave that `warp` is in.
fn warps_of(worker: &Worker, warp: usize) -> std::ops::Range<usize> {
    let first = warp / worker.wave_warps * worker.wave_warps;
    first..(first + worker.wave_warps).min(worker.warps.len())
}

/// The lanes of the wave at `warps` that `mask` names, by their index in the block.
fn lanes(worker: &Worker, warps: std::ops::Range<usize>, mask: fn(&super::state::Warp) -> u32) -> Vec<usize> {
    let named = |warp: usize, lane: usize| mask(&worker.warps[warp]) & 1 << lane != 0;
    warps.flat_map(|warp| (0..32).filter(move |lane| named(warp, *lane)).map(move |lane| warp * 32 + lane)).collect()
}

/// Lets the lanes go on that stopped first in the order of the code. Called when no lane of `warp` is ready.
///
/// # Safety
/// From the scheduler, while no coroutine runs: the `out` pointers of the waiting lanes stand on suspended stacks.
pub unsafe fn release(worker: *mut Worker, warp: usize) -> bool {
    // SAFETY: by contract, exclusive access.
    let worker = unsafe { &mut *worker };
    let warps = warps_of(worker, warp);
    let all = &worker.warps[warps.clone()];
    // A lane that yielded in a loop that spins is on its way: hardware would wait for it, for ever if it must.
    let waits = all.iter().any(|warp| warp.ready | warp.yielded | warp.at_barrier != 0);
    if waits || all.iter().all(|warp| warp.stopped == 0) {
        return false;
    }
    let stopped = lanes(worker, warps.clone(), |warp| warp.stopped);
    let order = |lane: usize| worker.threads[lane].mask & ORDER;
    let first = stopped.iter().map(|lane| order(*lane)).min().unwrap_or(0);
    let group: Vec<usize> = stopped.into_iter().filter(|lane| order(*lane) == first).collect();
    for lane in &group {
        worker.warps[lane / 32].stopped &= !(1 << (lane % 32));
    }
    let is_barrier = worker.threads[group[0]].mask & BARRIER != 0;
    // SAFETY: by contract.
    unsafe { exchange(worker, warps.start * 32, &group) };
    if !is_barrier {
        go_on(worker, &group);
        return true;
    }
    for lane in &group {
        worker.threads[*lane].state = State::Barrier(0);
        worker.warps[lane / 32].at_barrier |= 1 << (lane % 32);
    }
    worker.waves_waiting += 1;
    open_if_complete(worker)
}

/// Gives each lane of `group` what all of them deposited. Lane 0 of the wave has index `base` in the block.
///
/// # Safety
/// The `out` pointers of the group are valid.
unsafe fn exchange(worker: &mut Worker, base: usize, group: &[usize]) {
    let mut deposits: Deposits = [0; 65];
    for lane in group {
        deposits[lane - base] = worker.threads[*lane].value;
        deposits[64] |= 1 << (lane - base);
    }
    for lane in group {
        let out: *mut Deposits = worker.threads[*lane].out.cast();
        if !out.is_null() {
            // SAFETY: by contract.
            unsafe { out.write(deposits) };
        }
    }
}

fn go_on(worker: &mut Worker, group: &[usize]) {
    for lane in group {
        worker.threads[*lane].state = State::Ready;
        worker.warps[lane / 32].ready |= 1 << (lane % 32);
    }
}

/// Opens the block's barrier when every wave that still has lanes waits there. Returns whether it opened.
fn open_if_complete(worker: &mut Worker) -> bool {
    let waits = |first: usize| {
        let mut warps = warps_of(worker, first).map(|warp| &worker.warps[warp]);
        warps.clone().all(|warp| warp.live == 0) || warps.any(|warp| warp.at_barrier != 0)
    };
    if !(0..worker.warps.len()).step_by(worker.wave_warps).all(waits) {
        return false;
    }
    let group = lanes(worker, 0..worker.warps.len(), |warp| warp.at_barrier);
    worker.warps.iter_mut().for_each(|warp| warp.at_barrier = 0);
    worker.waves_waiting = 0;
    go_on(worker, &group);
    !group.is_empty()
}

/// A lane has returned: the barrier may have waited for its wave alone.
///
/// # Safety
/// From the scheduler, while no coroutine runs.
pub unsafe fn after_exit(worker: *mut Worker) {
    // SAFETY: by contract, exclusive access.
    open_if_complete(unsafe { &mut *worker });
}
