//! What the coroutine form says about blocks that are stuck and barriers that are not met evenly.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{CStr, c_char};
use std::fmt::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::checks::{self, Meeting};
use super::kernel::demangle;
use super::state::{GRID, State, Thread, Worker};
use crate::abi::Site;

/// `REGRAIN_CPU_CHECK=1`: what hardware lets pass is an error. Launches take the coroutine form then.
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

/// The file, line and function of a site; empty where they are not known.
pub fn parts(site: *const Site) -> (String, u32, String) {
    // SAFETY: generated code sets null or a constant of the program.
    let Some(site) = (unsafe { site.as_ref() }) else { return <_>::default() };
    let text = |text: *const c_char| match text.is_null() {
        true => String::new(),
        // SAFETY: as above.
        false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
    };
    (text(site.file), site.line, demangle(&text(site.function)))
}

/// A thread comes to an operation of its warp that does not name it.
pub fn not_named(worker: &Worker, mask: u32) {
    let Some(checker) = checks::of_meetings() else { return };
    let what = "The mask of a warp operation does not name the calling thread".to_owned();
    let lane = worker.current % 32;
    let notes = [format!("The mask is {mask:#010x}, the thread is lane {lane}")];
    let site = worker.threads[worker.current].site;
    checker.meets_badly(worker, &Meeting { what, site, is_of_thread: true, notes: &notes });
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

/// Threads by the line and by what they wait at there: how many, and the first.
type Groups = BTreeMap<(String, String), (u32, [u32; 3])>;

/// Where the threads of a block wait, and how many have returned.
fn groups(worker: &Worker) -> (Groups, u32) {
    let mut groups = Groups::new();
    let mut done = 0;
    for (index, thread) in worker.threads.iter().enumerate() {
        if worker.warps[index / 32].live & 1 << (index % 32) == 0 {
            done += 1;
            continue;
        }
        let group = groups.entry((describe(thread.site), what(thread.state))).or_insert((0, thread.tid));
        group.0 += 1;
    }
    (groups, done)
}

/// Where threads of a block wait, a line for each place.
pub fn waiting(worker: &Worker) -> Vec<String> {
    let nothing = what(State::Ready);
    let waits = groups(worker).0.into_iter().filter(|((_, what), _)| *what != nothing);
    waits
        .map(|((site, what), (count, [x, y, z]))| {
            format!("{count} wait at {what} in {site}, the first is thread ({x},{y},{z})")
        })
        .collect()
}

/// Reports a block in which no thread can run.
pub fn stuck(worker: &Worker) {
    let kernel = worker.job().kernel.source_name();
    let (groups, done) = groups(worker);
    if let Some(checker) = checks::of_meetings() {
        let mut notes: Vec<String> = groups
            .iter()
            .map(|((site, what), (count, [x, y, z]))| {
                format!("{count} threads wait at {what} in {site}, the first is thread ({x},{y},{z})")
            })
            .collect();
        if done != 0 {
            notes.push(format!("{done} threads have returned"));
        }
        let is_live = |index: &usize| worker.warps[index / 32].live & 1 << (index % 32) != 0;
        let first =
            (0..worker.threads.len()).find(is_live).map_or(std::ptr::null(), |index| worker.threads[index].site);
        let what = "Deadlock: no thread of the block can go on".to_owned();
        checker.meets_badly(worker, &Meeting { what, site: first, is_of_thread: false, notes: &notes });
        return;
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
    // At barriers with a number of threads some may wait for the others elsewhere.
    let is_of_block = matches!(id, 0 | GRID) && worker.barriers.slots[id].expected == 0;
    if let Some(checker) = checks::of_meetings().filter(|_| diverged && is_of_block) {
        let waits = |thread: &&Thread| thread.state == State::Barrier(id as u8);
        let mut notes: Vec<String> =
            sites.iter().map(|(site, count)| format!("{count} threads wait at {site}")).collect();
        if exited != 0 {
            notes.push(format!("{exited} threads have returned"));
        }
        let site = worker.threads.iter().find(waits).map_or(std::ptr::null(), |thread| thread.site);
        let what = format!("Threads of a block do not meet at one {}", what(State::Barrier(id as u8)));
        checker.meets_badly(worker, &Meeting { what, site, is_of_thread: false, notes: &notes });
        return true;
    }
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
