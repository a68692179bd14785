//! Whether what a stream is asked for is done at once by the thread that asks, or kept for later (`runners`).
//!
//! Work of the default streams that has nothing to wait for is done at once, as launching threads take part in grids anyway, and so is work of
//! other streams that takes less than to hand it over. What may wait for the program is kept in all streams. Everything is done at once where `REGRAIN_CPU_STREAMS=synchronous` asks for
//! it, in an order of chance, in programs that time their launches or check them, and where one OS thread is to run
//! blocks until a kernel comes that may wait for what the program does next.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::kept::Kept;
use super::pool::Way;
use super::processors::threads;
use super::streams::{self, Stream};
use super::trace::{self, Event, traced};
use super::{checks, runners, shuffle};
use crate::device::seam;
use crate::error::Result;

/// From how many nanoseconds on work is kept for later, where a program has several streams of its own, and one.
const LONG: u64 = 10_000;
const LONG_OF_LONE: u64 = 300_000;

/// What is to come of work that is not done at once.
pub enum Choice {
    Later(Kept),
    /// It is done at once all the same, behind what is kept for the stream.
    Wait,
}

unsafe extern "C" {
    /// Of `native.c`.
    fn __regrain_times_launches() -> i32;
}

fn asked() -> bool {
    match std::env::var("REGRAIN_CPU_STREAMS").as_deref() {
        Ok("synchronous") => false,
        Ok("asynchronous" | "") | Err(_) => true,
        Ok(other) => {
            eprintln!(
                "regrain runtime: warning: expected REGRAIN_CPU_STREAMS to be 'asynchronous' or 'synchronous', got '{other}'"
            );
            true
        }
    }
}

/// Whether a kernel has come that may wait for what the program does next.
static EXPECTS_WAITING: AtomicBool = AtomicBool::new(false);

/// From now on streams go on beside the program though one OS thread is to run blocks.
pub fn expect_waiting() {
    EXPECTS_WAITING.store(true, Ordering::Relaxed);
}

/// Whether anything may be kept for later.
fn is_asynchronous() -> bool {
    static ASYNCHRONOUS: OnceLock<bool> = OnceLock::new();
    // SAFETY: a C function without preconditions.
    let times = || unsafe { __regrain_times_launches() } != 0;
    let is = *ASYNCHRONOUS.get_or_init(|| asked() && shuffle::seed().is_none() && !times());
    is && (threads() > 1 || EXPECTS_WAITING.load(Ordering::Relaxed))
        && !runners::is_copy()
        && checks::checker().is_none()
}

/// Whether work of a stream that takes so many nanoseconds, where that is known, is better done at once.
fn is_quick(stream: &Stream, cost: Option<u64>) -> bool {
    let long = if streams::is_lone() { LONG_OF_LONE } else { LONG };
    stream.is_default() || cost.is_some_and(|cost| cost < long)
}

/// Says what a trace is to say of work.
pub type Says<'a> = Option<&'a dyn Fn() -> Event>;

fn told(stream: seam::Stream, says: Says, now: impl FnOnce() -> Result) -> Result {
    match says {
        Some(says) => traced(stream, says, now),
        None => now(),
    }
}

/// Does `now` where nothing is kept for later; `waits`: the host is to wait for it.
fn alone(stream: seam::Stream, says: Says, now: impl FnOnce(Way) -> Result, waits: bool) -> Result {
    let Some(checker) = checks::checker() else {
        streams::check(stream)?;
        return told(stream, says, || now(Way::Alone));
    };
    let target = streams::get(stream)?;
    checker.begins_work(&target);
    let done = told(stream, says, || now(Way::Alone));
    checker.ends_work(&target, waits);
    done
}

/// How work runs that holds a stream's turn.
fn beside(stream: &Stream) -> Way {
    Way::Beside { legacy: stream.is_legacy() }
}

/// Does `now`, or keeps what `keep` makes of it, in the order of the stream; `waits`: it may wait for what the program does next.
pub fn submit(
    stream: seam::Stream,
    waits: bool,
    cost: impl FnOnce() -> Option<u64>,
    says: Says,
    keep: impl FnOnce() -> Result<Choice>,
    now: impl FnOnce(Way) -> Result,
) -> Result {
    if !waits && streams::is_legacy(stream) && runners::is_idle() || !is_asynchronous() {
        return alone(stream, says, now, false);
    }
    let target = streams::get(stream)?;
    if !waits
        && is_quick(&target, cost())
        && let Some(_turn) = runners::enter(&target)
    {
        return told(stream, says, || now(beside(&target)));
    }
    match keep()? {
        Choice::Later(kept) => runners::push(&target, kept, says.filter(|_| trace::is_on()).map(|says| says())),
        Choice::Wait => in_turn(&target, says, now),
    }
}

fn in_turn(target: &Stream, says: Says, now: impl FnOnce(Way) -> Result) -> Result {
    let _turn = runners::wait_turn(target)?;
    told(target.handle as seam::Stream, says, || now(beside(target)))
}

/// Does `now` behind what is kept for the stream.
pub fn at_once(stream: seam::Stream, says: Says, now: impl FnOnce(Way) -> Result) -> Result {
    if streams::is_legacy(stream) && runners::is_idle() || !is_asynchronous() {
        return alone(stream, says, now, true);
    }
    let target = streams::get(stream)?;
    in_turn(&target, says, now)
}
