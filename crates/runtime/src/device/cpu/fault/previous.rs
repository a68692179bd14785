//! Who handled the signals before.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

pub const SIGNALS: [libc::c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];

/// The handlers that were there before, in the order of `SIGNALS`.
static PREVIOUS: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();
/// Which of them were to be called once, and have been.
static GONE: [AtomicBool; SIGNALS.len()] = [const { AtomicBool::new(false) }; SIGNALS.len()];

/// Takes note of what `replace` finds.
pub fn keep(replace: impl Fn(libc::c_int) -> libc::sigaction) {
    PREVIOUS.get_or_init(|| SIGNALS.map(replace));
}

/// Lets the handler from before have a signal, as if it were still installed.
///
/// # Safety
/// In the handler of `signal`, with what the kernel passed to it.
pub unsafe fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let at = SIGNALS.iter().position(|known| *known == signal).unwrap_or(0);
    // SAFETY: by contract; the handlers have the signatures that their flags say.
    unsafe {
        let sent = (*info).si_code <= 0;
        let previous = PREVIOUS.get().map(|all| &all[at]).filter(|_| !GONE[at].load(Ordering::Relaxed));
        let handler = previous.map_or(libc::SIG_DFL, |previous| previous.sa_sigaction);
        match previous {
            // A fault cannot be ignored.
            Some(_) if handler == libc::SIG_IGN && sent => (),
            Some(previous) if handler != libc::SIG_DFL && handler != libc::SIG_IGN => {
                if previous.sa_flags & libc::SA_RESETHAND != 0 {
                    GONE[at].store(true, Ordering::Relaxed);
                }
                let mut before: libc::sigset_t = std::mem::zeroed();
                libc::pthread_sigmask(libc::SIG_BLOCK, &raw const previous.sa_mask, &raw mut before);
                if previous.sa_flags & libc::SA_SIGINFO != 0 {
                    type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
                    std::mem::transmute::<usize, Handler>(handler)(signal, info, context);
                } else {
                    std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(handler)(signal);
                }
                libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
            }
            // Returning runs the instruction again, which faults again; what was sent is sent again.
            _ => {
                libc::signal(signal, libc::SIG_DFL);
                if sent {
                    libc::raise(signal);
                }
            }
        }
    }
}
