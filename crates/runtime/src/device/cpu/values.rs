//! What streams do with values in memory: they wait for one, or write one (`cuStreamWaitValue32`, `cuStreamWriteValue32` and their kin).
//!
//! Nobody says when memory changes, so an OS thread looks again and again: more and more seldom, and where others wait for one, another comes
//! (`runners::relieve`).

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::failure::device_ok;
use super::gate::look;
use super::{heap, runners};
use crate::device::seam::{Comparison, ValueOperation, ValueTask};
use crate::error::{Result, check};

/// How long a thread looks without a pause, and after how long it asks for another thread.
const LOOK: Duration = Duration::from_micros(50);
const PATIENCE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

impl ValueOperation {
    /// Whether it waits for something.
    pub fn waits(&self) -> bool {
        !matches!(self.task, ValueTask::Write)
    }

    /// Whether the memory is there, as far as it can be known.
    pub fn check(&self) -> Result {
        let size = if self.is_wide { 8 } else { 4 };
        check(self.address != 0 && self.address.is_multiple_of(size))?;
        check(heap::device_range(self.address as *const _, size))
    }

    /// # Safety
    /// The memory is there, and is accessed by atomic operations alone meanwhile, by the program's promise.
    unsafe fn read(&self) -> u64 {
        // SAFETY: by contract; aligned, as was checked.
        unsafe {
            match self.is_wide {
                true => AtomicU64::from_ptr(self.address as *mut u64).load(Ordering::Acquire),
                false => AtomicU32::from_ptr(self.address as *mut u32).load(Ordering::Acquire).into(),
            }
        }
    }

    /// # Safety
    /// As [`Self::read`].
    unsafe fn write(&self) {
        // SAFETY: by contract; aligned, as was checked.
        unsafe {
            match self.is_wide {
                true => AtomicU64::from_ptr(self.address as *mut u64).store(self.value, Ordering::SeqCst),
                false => AtomicU32::from_ptr(self.address as *mut u32).store(self.value as u32, Ordering::SeqCst),
            }
        }
    }

    /// Whether what is there is what is waited for. Numbers go round, so what is at least as large is at most half of them ahead.
    fn holds(&self, comparison: Comparison, there: u64) -> bool {
        let bits = if self.is_wide { u64::MAX } else { u32::MAX.into() };
        match comparison {
            Comparison::AtLeast => there.wrapping_sub(self.value) & bits <= bits >> 1,
            Comparison::Equal => there == self.value & bits,
            Comparison::And => there & self.value & bits != 0,
            Comparison::Nor => !(there | self.value) & bits != 0,
        }
    }

    /// # Safety
    /// As [`Self::read`].
    unsafe fn perform(&self) -> Result {
        let ValueTask::Wait(comparison) = self.task else {
            // SAFETY: by contract.
            unsafe { self.write() };
            return Ok(());
        };
        // SAFETY: by contract.
        let holds = || self.holds(comparison, unsafe { self.read() });
        look(LOOK, holds);
        let (start, mut asked, mut pause) = (Instant::now(), Instant::now(), LOOK);
        while !holds() {
            device_ok()?;
            if asked.elapsed() >= PATIENCE {
                runners::relieve();
                asked = Instant::now();
            }
            std::thread::sleep(pause);
            pause = (start.elapsed() / 8).clamp(LOOK, LONGEST_PAUSE);
        }
        Ok(())
    }
}

/// Does one after the other.
pub fn perform(operations: &[ValueOperation]) -> Result {
    // SAFETY: as the program promises of memory that it names; what is not there was refused.
    operations.iter().try_for_each(|operation| unsafe { operation.perform() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_as_numbers_that_go_round_and_as_bits() {
        let holds = |comparison, is_wide, value, there| {
            let task = ValueTask::Wait(comparison);
            ValueOperation { address: 0, value, is_wide, task }.holds(comparison, there)
        };
        assert!(holds(Comparison::AtLeast, false, 5, 5) && holds(Comparison::AtLeast, false, 5, 6));
        assert!(!holds(Comparison::AtLeast, false, 5, 4));
        assert!(
            holds(Comparison::AtLeast, false, 0xffff_ffff, 1) && !holds(Comparison::AtLeast, false, 1, 0xffff_ffff)
        );
        assert!(holds(Comparison::AtLeast, true, u64::MAX, 1) && !holds(Comparison::AtLeast, true, 1, u64::MAX));
        assert!(holds(Comparison::Equal, false, 7, 7) && !holds(Comparison::Equal, true, 7, 1 << 32 | 7));
        assert!(holds(Comparison::And, false, 6, 2) && !holds(Comparison::And, false, 6, 1));
        assert!(holds(Comparison::Nor, false, 1, 0xffff_fffd) && !holds(Comparison::Nor, false, 3, 0xffff_fffc));
    }
}
