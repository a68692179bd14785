//! What a debugger asks the program for (`gdb/regrain.py`): it cannot know how the state of a block is laid out.

use std::ffi::{CString, c_char};
use std::fmt::Write;

use super::report;
use super::state::{Mode, State, Worker, current};

/// What the threads of the block do that this OS thread runs, in lines; the text stays.
#[unsafe(no_mangle)]
extern "C" fn __regrain_threads_in_words() -> *const c_char {
    // SAFETY: null, or this OS thread's own, which is stopped in a kernel's code.
    let text = unsafe { current().as_ref() }.map_or_else(|| "no block runs here\n".to_owned(), in_words);
    CString::new(text).unwrap_or_default().into_raw()
}

fn in_words(worker: &Worker) -> String {
    // SAFETY: the OS thread's own TLS.
    let ([bx, by, bz], [tx, ty, tz]) = unsafe { ((*worker.tls).ctaid, (*worker.tls).tid) };
    let job = worker.job();
    let mut text =
        format!("kernel '{}', block ({bx},{by},{bz}) of {} threads", job.kernel.source_name(), job.threads());
    if worker.mode != Mode::Coroutines {
        return text + " that run in rows (REGRAIN_CPU_MODE=coroutine: one by one)\n";
    }
    let _ = writeln!(text, "\n  thread ({tx},{ty},{tz}) runs");
    let count = |is: &dyn Fn(u32) -> bool| (0..job.threads()).filter(|index| is(*index)).count();
    let has = |lanes: &dyn Fn(usize) -> u32, index: u32| lanes(index as usize / 32) & 1 << (index % 32) != 0;
    let is_fresh = |index: u32| has(&|warp| worker.warps[warp].fresh, index);
    let is_live = |index: u32| has(&|warp| worker.warps[warp].live, index);
    let waits = |index: u32| worker.threads[index as usize].state != State::Ready;
    let is_ready = |index: u32| is_live(index) && !is_fresh(index) && !waits(index) && index as usize != worker.current;
    for (what, threads) in [
        ("have not begun", count(&is_fresh)),
        ("can go on", count(&is_ready)),
        ("have returned", count(&|index| !is_live(index))),
    ] {
        if threads != 0 {
            let _ = writeln!(text, "  {threads} {what}");
        }
    }
    for line in report::waiting(worker) {
        let _ = writeln!(text, "  {line}");
    }
    text
}
