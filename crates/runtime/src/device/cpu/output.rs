//! What emulated kernels of AMD's chips print: the buffer that their code writes to, here.

use std::sync::{Mutex, PoisonError};

use super::failure;
use super::kernel::Kernel;
use crate::device::output::{HEADER, Output};

/// Bytes of records; CUDA's own default.
const CAPACITY: usize = 1 << 20;

static OUTPUT: Mutex<Option<Output>> = Mutex::new(None);

/// Gives the module of `kernel` the buffer, if it has a place for it. Before each launch.
pub fn connect(kernel: &Kernel) {
    let Some(place) = kernel.output else { return };
    let mut kept = OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    let output = kept.get_or_insert_with(|| {
        // Words, so that the header is aligned. It stays to the end of the program.
        let words: &'static mut [u64] = Vec::leak(vec![0; (HEADER + CAPACITY) / 8]);
        let address = words.as_mut_ptr() as usize;
        Output::new(address, address as u64, CAPACITY)
    });
    // SAFETY: a variable of the program's image of the size of a pointer, which kernels read when they run.
    unsafe {
        // What somebody else has set stays: a runtime for GPUs whose kernels are carried out here.
        if (place as *const u64).read_volatile() == 0 {
            (place as *mut u64).write_volatile(output.device);
        }
    }
}

/// Shows what the kernel that has ended printed, and whether it failed.
pub fn drain(kernel: &Kernel) {
    if kernel.output.is_none() {
        return;
    }
    let mut kept = OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(Err(error)) = kept.as_mut().map(|output| output.drain(true)) {
        failure::set_pending(error);
    }
}
