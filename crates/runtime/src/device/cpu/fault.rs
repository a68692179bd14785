//! Memory faults in kernels: says which kernel, block and thread touched which address, then lets the fault take its
//! course.
//!
//! A GPU would report `cudaErrorIllegalAddress`. On the CPU the wild access may as well have hit the host's memory, so
//! the process ends with the signal as any program does; the message says where. Faults outside kernels are left to
//! whoever handled them before.

use std::cell::Cell;
use std::fmt::Write;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use super::state::{Mode, current};

const ALT_STACK: usize = 64 << 10;
const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];
/// A fault this near to the stack pointer is taken for a stack overflow.
const NEAR: usize = 128 << 10;

/// The handlers that were there before, in the order of `SIGNALS`.
static PREVIOUS: OnceLock<[libc::sigaction; 2]> = OnceLock::new();

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

/// The interrupted thread's stack pointer.
///
/// # Safety
/// `context` is what the kernel passed to the handler.
unsafe fn stack_pointer(context: *mut libc::c_void) -> usize {
    let context = context.cast::<libc::ucontext_t>();
    // SAFETY: by contract.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        return (*context).uc_mcontext.gregs[libc::REG_RSP as usize] as usize;
        #[cfg(target_arch = "aarch64")]
        return (*context).uc_mcontext.sp as usize;
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        return {
            let _ = context;
            0
        };
    }
}

extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let worker = current();
    // SAFETY: the kernel passes valid information; a non-null worker is this OS thread's and runs a block. Only
    // async-signal-safe functions are called.
    unsafe {
        if !worker.is_null() {
            let address = (*info).si_addr() as usize;
            let overflow = address.abs_diff(stack_pointer(context)) < NEAR;
            let what = if overflow { "stack overflow, or memory fault" } else { "memory fault" };
            let hint = if overflow { " (a larger stack: cudaDeviceSetLimit(cudaLimitStackSize, ...))" } else { "" };
            let tls = &*(*worker).tls;
            let ([bx, by, bz], [tx, ty, tz]) = (tls.ctaid, tls.tid);
            let mut text = Text { bytes: [0; 512], len: 0 };
            let name = (*worker).job().kernel.source_name();
            let _ = write!(text, "regrain runtime: error: kernel '{name}', block ({bx},{by},{bz})");
            // A block that runs as a whole does not say which thread it is at.
            if (*worker).mode == Mode::Coroutines {
                let _ = write!(text, ", thread ({tx},{ty},{tz})");
            }
            let _ = writeln!(text, ": {what} at address {address:#x}{hint}");
            libc::write(2, text.bytes.as_ptr().cast(), text.len);
        }
        // Hand back to the previous handler; returning runs the instruction again, which faults again.
        let at = SIGNALS.iter().position(|known| *known == signal).unwrap_or(0);
        if let Some(previous) = PREVIOUS.get() {
            libc::sigaction(signal, &raw const previous[at], std::ptr::null_mut());
        }
    }
}

/// Installs the handler, once per process.
fn install() {
    PREVIOUS.get_or_init(|| {
        SIGNALS.map(|signal| {
            let mut previous = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: all fields of `sigaction` may be zero; the handler has the signature that SA_SIGINFO asks for.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handle as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(signal, &raw const action, previous.as_mut_ptr());
                previous.assume_init()
            }
        })
    });
}

/// Gives this OS thread a stack to handle faults on, unless it has one: an overflown stack cannot serve.
pub fn prepare_thread() {
    thread_local! {
        static READY: Cell<bool> = const { Cell::new(false) };
    }
    if READY.replace(true) {
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
