//! What the coroutine form says about blocks that are stuck and barriers that are not met evenly.

use std::collections::{BTreeMap, HashSet};
use std::ffi::CStr;
use std::fmt::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::state::{GRID, State, Worker};
use crate::abi::Site;

/// `REGRAIN_CPU_CHECK=1`: what hardware lets pass is an error.
pub fn strict() -> bool {
    static STRICT: OnceLock<bool> = OnceLock::new();
    *STRICT.get_or_init(|| std::env::var("REGRAIN_CPU_CHECK").is_ok_and(|value| value == "1"))
}

/// `file:line`, or a placeholder.
pub fn describe(site: *const Site) -> String {
    // SAFETY: generated code sets null or a constant of the program.
    let Some(site) = (unsafe { site.as_ref() }) else { return "unknown source line".into() };
    if site.file.is_null() {
        return "unknown source line".into();
    }
    // SAFETY: as above.
    let file = unsafe { CStr::from_ptr(site.file) }.to_string_lossy();
    format!("{file}:{}", site.line)
}

fn block_name(worker: &Worker) -> String {
    // SAFETY: the OS thread's own TLS.
    let [x, y, z] = unsafe { (*worker.tls).ctaid };
    format!("block ({x},{y},{z})")
}

fn what(state: State) -> String {
    match state {
        State::Barrier(id) if id as usize == GRID => "the grid barrier".into(),
        State::Barrier(0) => "__syncthreads()".into(),
        State::Barrier(id) => format!("barrier {id}"),
        State::Warp => "a warp operation".into(),
        State::Active => "__activemask()".into(),
        State::Wave => "an operation of its wave".into(),
        State::Ready => "nothing".into(),
    }
}

/// Reports a block in which no thread can run.
pub fn stuck(worker: &Worker) {
    let kernel = worker.job().kernel.source_name();
    let mut groups: BTreeMap<(String, String), (u32, [u32; 3])> = BTreeMap::new();
    let mut done = 0;
    for (index, thread) in worker.threads.iter().enumerate() {
        if worker.warps[index / 32].live & 1 << (index % 32) == 0 {
            done += 1;
            continue;
        }
        let group = groups.entry((describe(thread.site), what(thread.state))).or_insert((0, thread.tid));
        group.0 += 1;
    }
    let mut text =
        format!("regrain runtime: error: deadlock in kernel '{kernel}', {}: no thread can go on\n", block_name(worker));
    for ((site, what), (count, [x, y, z])) in groups {
        let _ = writeln!(
            text,
            "{site}: note: {count} of {} threads wait at {what}, the first is thread ({x},{y},{z})",
            worker.threads.len()
        );
    }
    if done != 0 {
        let _ = writeln!(text, "  {done} threads have returned");
    }
    eprint!("{text}");
}

/// A barrier is about to open although some threads returned or wait elsewhere. Returns whether it may.
pub fn uneven_barrier(worker: &Worker, id: usize, exited: u32, diverged: bool) -> bool {
    static SEEN: Mutex<Option<HashSet<(String, String)>>> = Mutex::new(None);
    if !diverged && !strict() {
        return true;
    }
    let kernel = worker.job().kernel.source_name();
    let mut sites: BTreeMap<String, u32> = BTreeMap::new();
    for thread in worker.threads.iter().filter(|thread| thread.state == State::Barrier(id as u8)) {
        *sites.entry(describe(thread.site)).or_default() += 1;
    }
    let first = sites.keys().next().cloned().unwrap_or_default();
    let new = {
        let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get_or_insert_default().insert((kernel.to_owned(), first))
    };
    if new || strict() {
        let level = if strict() { "error" } else { "warning" };
        let what = what(State::Barrier(id as u8));
        let mut text = format!(
            "regrain runtime: {level}: threads do not meet at one {what} in kernel '{kernel}', {}\n",
            block_name(worker)
        );
        for (site, count) in &sites {
            let _ = writeln!(text, "{site}: note: {count} threads wait here");
        }
        if exited != 0 {
            let _ = writeln!(text, "  {exited} threads have returned");
        }
        eprint!("{text}");
    }
    !strict()
}
