//! Failures of kernels. A launch does not return the failure of its own kernel: as on a GPU it surfaces at the next
//! call that synchronises or touches the device, and stays.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::{self, CudaError, Result};

/// Failure of a kernel that no call has reported yet.
static PENDING: AtomicU32 = AtomicU32::new(0);
/// Failure of a kernel that has been reported and stays.
static STICKY: AtomicU32 = AtomicU32::new(0);

/// What work that was kept for later could not do, and no call has reported yet. It does not stay.
static LATE: AtomicU32 = AtomicU32::new(0);

/// Records that work could not be done whose call has returned. The first failure wins.
pub fn set_late(error: CudaError) {
    let _ = LATE.compare_exchange(0, error.0, Ordering::SeqCst, Ordering::SeqCst);
}

/// Surfaces such a failure once: called by what waits for work.
pub fn take_late() -> Result {
    if LATE.load(Ordering::Relaxed) == 0 {
        return Ok(());
    }
    match LATE.swap(0, Ordering::SeqCst) {
        0 => Ok(()),
        code => Err(CudaError(code)),
    }
}

/// Records that a kernel failed. The first failure wins.
pub fn set_pending(error: CudaError) {
    let _ = PENDING.compare_exchange(0, error.0, Ordering::SeqCst, Ordering::SeqCst);
}

/// Whether a kernel has failed.
pub fn is_pending() -> bool {
    PENDING.load(Ordering::SeqCst) != 0
}

/// Surfaces a kernel's failure: called by every entry point that synchronises or uses the device.
pub fn device_ok() -> Result {
    let pending = PENDING.load(Ordering::SeqCst);
    if pending != 0 {
        let _ = STICKY.compare_exchange(0, pending, Ordering::SeqCst, Ordering::SeqCst);
    }
    match STICKY.load(Ordering::SeqCst) {
        0 => Ok(()),
        code => Err(CudaError(code)),
    }
}

/// The failure that no call has reported.
pub fn unseen() -> Option<CudaError> {
    let is_seen = STICKY.load(Ordering::SeqCst) != 0;
    Some(CudaError(PENDING.load(Ordering::SeqCst))).filter(|error| error.0 != 0 && !is_seen)
}

/// The failure that has been reported and stays.
pub fn sticky() -> Option<CudaError> {
    Some(CudaError(STICKY.load(Ordering::SeqCst))).filter(|error| error.0 != 0)
}

/// Forgets all failures (`cudaDeviceReset`).
pub fn reset() {
    PENDING.store(0, Ordering::SeqCst);
    STICKY.store(0, Ordering::SeqCst);
    LATE.store(0, Ordering::SeqCst);
    error::clear_last();
}
