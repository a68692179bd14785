//! What the interrupted thread's registers say and where it goes on.

use crate::device::cpu::state::Access;

/// The registers that a handler may look at and change.
pub struct Registers(*mut libc::mcontext_t);

/// Where a thread is to go on.
pub struct Place {
    pub pc: usize,
    pub sp: usize,
    /// The frame pointer, if it changes.
    pub fp: Option<usize>,
    /// The instruction that the place is to have been called from.
    pub caller: Option<usize>,
}

impl Registers {
    /// # Safety
    /// `context` is what the kernel passed to the handler, in which this value stays.
    pub unsafe fn new(context: *mut libc::c_void) -> Self {
        // SAFETY: by contract.
        Self(unsafe { &raw mut (*context.cast::<libc::ucontext_t>()).uc_mcontext })
    }
}

#[cfg(target_arch = "x86_64")]
impl Registers {
    const PAGE_FAULT: i64 = 14;

    pub fn get(&self, register: libc::c_int) -> i64 {
        // SAFETY: by the contract of `new`.
        unsafe { (*self.0).gregs[register as usize] }
    }

    pub fn set(&self, register: libc::c_int, value: i64) {
        // SAFETY: by the contract of `new`.
        unsafe { (*self.0).gregs[register as usize] = value };
    }

    pub fn pc(&self) -> usize {
        self.get(libc::REG_RIP) as usize
    }

    pub fn sp(&self) -> usize {
        self.get(libc::REG_RSP) as usize
    }

    /// Whether an address is known: else it is no address at all, or one that is not aligned.
    pub fn is_of_page(&self) -> bool {
        self.get(libc::REG_TRAPNO) == Self::PAGE_FAULT
    }

    pub fn access(&self) -> Access {
        let error = self.get(libc::REG_ERR);
        match self.is_of_page() {
            true if error & 16 != 0 => Access::Call,
            true if error & 2 != 0 => Access::Write,
            true => Access::Read,
            false => Access::Unknown,
        }
    }

    /// # Safety
    /// The stack is mapped there, and nothing below the pointer is needed.
    pub unsafe fn go(&self, place: &Place) {
        const DIRECTION: i64 = 0x400;
        let mut sp = place.sp;
        if let Some(caller) = place.caller {
            sp -= 8;
            // Who looks for the instruction looks before the one that comes next.
            // SAFETY: by contract.
            unsafe { (sp as *mut usize).write(caller + 1) };
        }
        self.set(libc::REG_RSP, sp as i64);
        self.set(libc::REG_RIP, place.pc as i64);
        if let Some(fp) = place.fp {
            self.set(libc::REG_RBP, fp as i64);
        }
        self.set(libc::REG_EFL, self.get(libc::REG_EFL) & !DIRECTION);
    }
}

#[cfg(target_arch = "aarch64")]
impl Registers {
    pub fn pc(&self) -> usize {
        // SAFETY: by the contract of `new`.
        unsafe { (*self.0).pc as usize }
    }

    pub fn sp(&self) -> usize {
        // SAFETY: by the contract of `new`.
        unsafe { (*self.0).sp as usize }
    }

    pub fn is_of_page(&self) -> bool {
        true
    }

    pub fn access(&self) -> Access {
        // SAFETY: by the contract of `new`.
        match unsafe { (*self.0).fault_address == (*self.0).pc } {
            true => Access::Call,
            false => Access::Unknown,
        }
    }

    /// # Safety
    /// As on x86-64.
    pub unsafe fn go(&self, place: &Place) {
        // SAFETY: by the contract of `new`.
        unsafe {
            (*self.0).sp = place.sp as u64;
            (*self.0).pc = place.pc as u64;
            if let Some(caller) = place.caller {
                (*self.0).regs[30] = caller as u64 + 4;
            }
            if let Some(fp) = place.fp {
                (*self.0).regs[29] = fp as u64;
            }
        }
    }
}
