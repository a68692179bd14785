//! Where a thread goes on that has done what it may not: it says what that was, and fails its kernel.
//!
//! This runs on the thread's own stack outside of the signal's handler, as if the instruction had called it. So the lines of the program can be
//! found as those of any call. Should the way there be broken, it is gone again without lines (`Stage::Last`).

use std::arch::naked_asm;
use std::fmt::Write;
use std::sync::atomic::Ordering;

use super::registers::{Place, Registers};
use crate::device::cpu::frames::{self, Frame, Frames};
use crate::device::cpu::stack::Bounds;
use crate::device::cpu::state::{Access, Fault, Mode, Stage, Worker, current};
use crate::device::cpu::switch::leave;
use crate::error::CudaError;

/// What saying it may take of a stack.
const ROOM: usize = 64 << 10;
/// Nothing but zeros, which end a way through callers: where the stack of the thread itself cannot be gone through.
const ZEROS: usize = 16 << 10;
/// How many callers are named.
const MOST_FRAMES: usize = 8;

/// Lets the interrupted thread go on here, as if from the instruction at `pc` if that is given; on another part of its stack if that
/// `is_broken`.
///
/// # Safety
/// In the handler; the thread runs on `stack`, and nothing of what lies there is run again.
pub unsafe fn go(registers: &Registers, stack: &Bounds, is_broken: bool, pc: Option<usize>) {
    let near_end = registers.sp() < stack.guard().end + ROOM;
    // What was called and is no code has the call's place on the stack.
    let caller = pc.filter(|_| registers.access() != Access::Call);
    let mut place = Place { pc: land as *const () as usize, sp: registers.sp(), fp: None, caller };
    // SAFETY: by contract; the middle of the stack is mapped.
    unsafe {
        if is_broken || near_end {
            let middle = stack.middle();
            (middle as *mut u8).write_bytes(0, ZEROS);
            place = Place { sp: middle, fp: Some(middle + ZEROS / 2), caller: pc, ..place };
        }
        registers.go(&place);
    }
}

/// Aligns the stack, and can be gone through by who looks for callers.
#[unsafe(naked)]
#[cfg(target_arch = "x86_64")]
unsafe extern "C" fn land() {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "and rsp, -16",
        "call {landed}",
        "ud2",
        ".cfi_endproc",
        landed = sym __regrain_landed,
    )
}

/// Can be gone through by who looks for callers.
#[unsafe(naked)]
#[cfg(target_arch = "aarch64")]
unsafe extern "C" fn land() {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-16]!",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset x30, -8",
        ".cfi_offset x29, -16",
        "mov x29, sp",
        "bl {landed}",
        "brk #1",
        ".cfi_endproc",
        landed = sym __regrain_landed,
    )
}

/// The name is what frames are told by.
///
/// # Safety
/// On a coroutine of this OS thread's worker, which is left for good.
#[unsafe(no_mangle)]
unsafe extern "C" fn __regrain_landed() -> ! {
    let worker = current();
    // SAFETY: by contract; what is made here is dropped before the coroutine is left.
    unsafe {
        let fault = (*worker).fault;
        let job = (*worker).job();
        let is_first = !job.has_failed.swap(true, Ordering::SeqCst);
        if is_first || fault.stage == Stage::Last {
            let frames = match fault.stage {
                Stage::Last => Frames { of_kernel: Vec::new(), has_lines: true },
                _ => frames::of_kernel("__regrain_landed"),
            };
            (*worker).fault.stage = Stage::Last;
            eprint!("{}", in_words(&*worker, &fault, &frames));
        }
        job.fail(fault.error(), "");
        (*worker).fault.stage = Stage::None;
        (*worker).guarded.store(0, Ordering::Relaxed);
        leave(worker)
    }
}

impl Fault {
    fn error(&self) -> CudaError {
        match self.signal {
            _ if self.overflow => CudaError::HARDWARE_STACK_ERROR,
            libc::SIGSEGV | libc::SIGBUS => CudaError::ILLEGAL_ADDRESS,
            libc::SIGILL => CudaError::ILLEGAL_INSTRUCTION,
            _ => CudaError::LAUNCH_FAILURE,
        }
    }

    fn what(&self) -> String {
        match self.signal {
            _ if self.overflow => "stack overflow".into(),
            libc::SIGSEGV | libc::SIGBUS if self.is_fault_of_page => {
                let done = match self.access {
                    Access::Read => "read",
                    Access::Write => "written",
                    Access::Call => "called",
                    Access::Unknown => "accessed",
                };
                format!("illegal address {:#x} is {done}", self.address)
            }
            libc::SIGSEGV | libc::SIGBUS => "an address is accessed that cannot be one, or is not aligned".into(),
            libc::SIGILL => "illegal instruction".into(),
            libc::SIGTRAP => "breakpoint".into(),
            _ => "arithmetic exception".into(),
        }
    }

    fn is_of_memory(&self) -> bool {
        !self.overflow && self.error() == CudaError::ILLEGAL_ADDRESS
    }
}

/// The block and, where it is known, the thread.
fn who(worker: &Worker) -> (String, bool) {
    // SAFETY: the OS thread's own TLS.
    let tls = unsafe { &*worker.tls };
    let ([bx, by, bz], [tx, ty, tz]) = (tls.ctaid, tls.tid);
    if worker.mode == Mode::Coroutines || worker.waiting.thread.is_some() {
        return (format!("block ({bx},{by},{bz}), thread ({tx},{ty},{tz})"), true);
    }
    match tls.taken {
        0 | 1 => (format!("block ({bx},{by},{bz})"), false),
        taken => (format!("one of blocks ({bx},{by},{bz}) to ({},{by},{bz})", bx + taken - 1), false),
    }
}

fn in_words(worker: &Worker, fault: &Fault, frames: &Frames) -> String {
    let (who, is_thread) = who(worker);
    let kernel = worker.job().kernel.source_name();
    let mut text = format!("regrain runtime: error: kernel '{kernel}', {who}: {}\n", fault.what());
    for (number, Frame { function, file, line }) in frames.of_kernel.iter().take(MOST_FRAMES).enumerate() {
        let how = if number == 0 { "in" } else { "called in" };
        let _ = writeln!(text, "{file}:{line}: note: {how} {function}");
    }
    let hints = [
        (
            fault.overflow && worker.mode == Mode::Coroutines,
            "cudaDeviceSetLimit(cudaLimitStackSize, ...) gives more stack",
        ),
        (!is_thread, "REGRAIN_CPU_MODE=coroutine says which thread"),
        (!frames.has_lines, "-g says which line"),
        (fault.is_of_memory(), "-fregrain-check=memory says which object"),
    ];
    let hints: Vec<&str> = hints.into_iter().filter(|(is, _)| *is).map(|(_, hint)| hint).collect();
    if !hints.is_empty() {
        let _ = writeln!(text, "regrain runtime: note: {}", hints.join("; "));
    }
    text
}
