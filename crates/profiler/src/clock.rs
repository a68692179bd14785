//! Time on the CPU target: a launch runs the grid to its end, so the clock before and after tells.
//!
//! Launches of other threads at the same time wait for each other in the runtime. Their times are no times of a kernel,
//! so every launch is counted, and a sample with another launch beside it is told apart.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::abi::{Kind, Token};

static RUNNING: AtomicU64 = AtomicU64::new(0);
static STARTED: AtomicU64 = AtomicU64::new(0);
/// Set in a start's number when a launch was running already.
const BESIDE: u64 = 1 << 63;

/// Nanoseconds of the monotonic clock since it was first asked.
pub fn now() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    u64::try_from(FIRST.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Enters the launch that `token` is of; a timed one starts its clock last of all.
pub fn start(token: Token, is_timed: bool) -> Token {
    let beside = RUNNING.fetch_add(1, Ordering::SeqCst) != 0;
    let number = STARTED.fetch_add(1, Ordering::SeqCst) + 1;
    let kind = if is_timed { Kind::CLOCK } else { Kind::UNTIMED };
    Token { kind, extra: if beside { number | BESIDE } else { number }, start: now(), ..token }
}

/// Leaves a launch that is not timed.
pub fn leave() {
    RUNNING.fetch_sub(1, Ordering::SeqCst);
}

/// Leaves a timed launch: what it took until `now`, in nanoseconds, if no other launch ran beside it.
pub fn stop(token: &Token, now: u64) -> Option<u64> {
    leave();
    (STARTED.load(Ordering::SeqCst) == token.extra).then(|| now.saturating_sub(token.start))
}
