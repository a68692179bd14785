//! Entry points of device code that must not be left in the middle: what they lock would stay locked.

use std::sync::atomic::{Ordering, compiler_fence};

use crate::device::cpu::state::current;

/// Does `work`, in which a fault is not the kernel's: it ends the process.
pub fn guarded<T>(work: impl FnOnce() -> T) -> T {
    with(|count| count + 1, work)
}

/// Inside of the former: touches what the kernel named, for which no lock is held.
pub fn open<T>(work: impl FnOnce() -> T) -> T {
    with(|_| 0, work)
}

fn with<T>(change: impl FnOnce(u32) -> u32, work: impl FnOnce() -> T) -> T {
    let worker = current();
    if worker.is_null() {
        return work();
    }
    // SAFETY: a non-null worker belongs to this OS thread, and stays while a block runs. The handler of a signal looks at the count.
    let count = unsafe { &(*worker).guarded };
    let before = count.load(Ordering::Relaxed);
    count.store(change(before), Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    let result = work();
    compiler_fence(Ordering::SeqCst);
    count.store(before, Ordering::Relaxed);
    result
}
