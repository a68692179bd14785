//! Faults in kernels: what a GPU reports as the kernel's failure, and lives on after.
//!
//! All of a kernel's code runs on stacks of coroutines (`run`, `scheduler`, `fibers`, `turns`), which can be left for good at any place. So the
//! handler looks whether the stack pointer is on one of those, and if so lets the thread go on in `landing` instead, which says what happened,
//! fails the kernel and leaves the coroutine as a trap does. Nothing is unwound: such a stack holds generated code and entry points
//! without anything to drop. Entry points that hold a lock, or that of the C library's allocator, are in a `guard`: a fault there ends the process.
//!
//! Everything else is for whoever handled these signals before: the host's own faults, and what is sent by `kill`.
//! `REGRAIN_CPU_FAULTS=off` leaves the signals alone.

use std::cell::Cell;
use std::fmt::Write;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;
use std::sync::{Once, OnceLock};

use super::state::{Fault, Stage, Worker, current};
use registers::Registers;

mod division;
pub mod guard;
mod landing;
mod previous;
mod registers;

const ALT_STACK: usize = 64 << 10;

/// Text in a fixed buffer: a signal handler must not allocate.
struct Text {
    bytes: [u8; 512],
    len: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let count = text.len().min(self.bytes.len() - self.len);
        self.bytes[self.len..self.len + count].copy_from_slice(&text.as_bytes()[..count]);
        self.len += count;
        Ok(())
    }
}

extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let worker = current();
    // SAFETY: the kernel passes valid information; a non-null worker is this OS thread's and runs blocks. Only async-signal-safe
    // functions are called.
    unsafe {
        let errno = *libc::__errno_location();
        // What was sent by a process is no fault of the code that runs.
        let is_fault = (*info).si_code > 0;
        if worker.is_null() || !is_fault || !recover(worker, signal, info, &Registers::new(context)) {
            previous::pass_on(signal, info, context);
        }
        *libc::__errno_location() = errno;
    }
}

/// Lets the OS thread go on behind a fault, if that is one of the kernel that it runs.
///
/// # Safety
/// `worker` is this OS thread's; the others are what the kernel passed to the handler.
unsafe fn recover(
    worker: *mut Worker,
    signal: libc::c_int,
    info: *const libc::siginfo_t,
    registers: &Registers,
) -> bool {
    // SAFETY: by contract; what the stacks are does not change while code of a kernel runs.
    unsafe {
        let stage = (*worker).fault.stage;
        let is_guarded = (*worker).guarded.load(Ordering::Relaxed) != 0;
        let stack = (*worker).stack_at(registers.sp());
        let Some(stack) = stack.filter(|_| stage == Stage::Lines || stage == Stage::None && !is_guarded) else {
            say_end(&*worker, (*info).si_addr() as usize);
            return false;
        };
        if signal == libc::SIGFPE && stage == Stage::None && division::skip(registers) {
            return true;
        }
        let (address, pc) = ((*info).si_addr() as usize, registers.pc());
        let is_fault_of_page = registers.is_of_page();
        let overflow = stack.guard().contains(&address) && is_fault_of_page || stack.guard().contains(&registers.sp());
        if stage == Stage::None {
            let access = registers.access();
            (*worker).fault = Fault { stage, signal, address, is_fault_of_page, access, overflow };
        }
        (*worker).fault.stage = if stage == Stage::None { Stage::Lines } else { Stage::Last };
        landing::go(registers, &stack, overflow || stage != Stage::None, (signal != libc::SIGTRAP).then_some(pc));
    }
    true
}

/// Says where the process ends.
///
/// # Safety
/// In the signal's handler; the worker runs blocks.
unsafe fn say_end(worker: &Worker, address: usize) {
    let mut text = Text { bytes: [0; 512], len: 0 };
    // SAFETY: by contract.
    let ([x, y, z], name) = unsafe { ((*worker.tls).ctaid, worker.job().kernel.source_name()) };
    let _ = writeln!(
        text,
        "regrain runtime: error: kernel '{name}', block ({x},{y},{z}): fault at address {address:#x} in the runtime itself: \
         the kernel may have written to the host's memory; the process cannot go on"
    );
    // SAFETY: as much as the buffer holds.
    unsafe { libc::write(2, text.bytes.as_ptr().cast(), text.len) };
}

/// Whether signals of kernels are to be handled.
fn is_on() -> bool {
    static ON: OnceLock<bool> = OnceLock::new();
    *ON.get_or_init(|| match std::env::var("REGRAIN_CPU_FAULTS").as_deref() {
        Ok("off") => false,
        Ok("on" | "") | Err(_) => true,
        Ok(other) => {
            eprintln!("regrain runtime: warning: expected REGRAIN_CPU_FAULTS to be 'on' or 'off', got '{other}'");
            true
        }
    })
}

/// Installs the handler, once per process.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        previous::keep(|signal| {
            let mut previous = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: all fields of `sigaction` may be zero; the handler has the signature that SA_SIGINFO asks for.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handle as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(signal, &raw const action, previous.as_mut_ptr());
                previous.assume_init()
            }
        });
    });
}

/// Gives this OS thread a stack to handle faults on, unless it has one: an overflown stack cannot serve.
pub fn prepare_thread() {
    thread_local! {
        static READY: Cell<bool> = const { Cell::new(false) };
    }
    if READY.replace(true) || !is_on() {
        return;
    }
    install();
    // SAFETY: `old` is written by the call; the new stack lives as long as the process, as the thread may be the
    // program's own.
    unsafe {
        let mut old: libc::stack_t = std::mem::zeroed();
        libc::sigaltstack(std::ptr::null(), &raw mut old);
        if old.ss_flags & libc::SS_DISABLE == 0 {
            return;
        }
        let prot = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let memory = libc::mmap(std::ptr::null_mut(), ALT_STACK, prot, flags, -1, 0);
        if memory != libc::MAP_FAILED {
            let new = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: ALT_STACK };
            libc::sigaltstack(&raw const new, std::ptr::null_mut());
        }
    }
}
