//! Programs that find out for themselves which version of a kernel is the fastest (`-fregrain-adaptive`).
//!
//! ```text
//! n = __regrain_adapt_begin(&site, grid, block, shared, stream, &token)
//! switch (n) { case i: error = launch of version i }
//! __regrain_adapt_end(&site, &token, error)
//! ```
//!
//! Each launch runs one version, once. [`settle`] says which, until it is clear; [`table`] knows which launches share a decision and has it
//! ready; [`recall`] reads what earlier runs found out. Times are taken as the profiler takes them: by the clock where launches are
//! synchronous, by events that are never waited for on a GPU, and not at all while a stream is captured.
//!
//! | variable | meaning |
//! |---|---|
//! | `REGRAIN_TUNING_DB` | a database that is read at the start and written at exit; without it nothing is remembered |
//! | `REGRAIN_ADAPTIVE` | `off`: launches run what the compiler takes for the best; `report`: at exit standard error gets what was settled on |

pub mod recall;
mod report;
mod run;
pub mod settle;
pub mod table;

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use crate::abi::{Kind, Site, Token};
use crate::device::Sink;
use crate::kernel::{Launch, is_refusal};
use crate::{clock, device};
use run::Run;
use settle::{Part, Trial};
use table::{ClassKey, Kernel};

/// Chooses the version that this launch runs. Returns its number in the site's list.
///
/// # Safety
/// `site` is a site in writable memory whose strings live as long as the program; `token` is writable.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "the interface to compiled programs")]
pub unsafe extern "C" fn __regrain_adapt_begin(
    site: *mut Site,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared: u64,
    stream: *mut c_void,
    token: *mut Token,
) -> i32 {
    let launch = Launch { grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z], shared };
    // SAFETY: a site by the contract; what is stored behind it lives as long as the program.
    let (site, kernel) = unsafe { (&*site, (*site).state.load(Ordering::Acquire).cast::<Kernel>().as_ref()) };
    let settled = kernel.and_then(|kernel| kernel.settled(ClassKey::of(&launch, device_of(kernel))?));
    let (version, begun) = match settled {
        Some((version, place)) => (version as i32, token_of(version, place)),
        None => catch_unwind(AssertUnwindSafe(|| begin(site, launch, stream))).unwrap_or_default(),
    };
    // SAFETY: valid for a write by the contract.
    unsafe { token.write(begun) };
    version
}

/// Ends what `__regrain_adapt_begin` began; `error` is the launch's.
///
/// # Safety
/// `site` and `token` as they were given to `__regrain_adapt_begin`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __regrain_adapt_end(site: *mut Site, token: *const Token, error: i32) {
    // SAFETY: valid by the contract.
    let (site, token) = unsafe { (&*site, &*token) };
    if token.kind == Kind::NONE && error == 0 {
        return;
    }
    let now = clock::now();
    let _ = catch_unwind(AssertUnwindSafe(|| end(site, token, error, now)));
}

/// The device that a launch of a kernel goes to.
fn device_of(kernel: &Kernel) -> i32 {
    if kernel.on_cpu { 0 } else { device::current() }
}

/// A token of a launch that nobody times.
fn token_of(version: usize, place: usize) -> Token {
    Token { candidate: version as u32, shape: place as u32, ..Token::default() }
}

fn begin(site: &Site, launch: Launch, stream: *mut c_void) -> (i32, Token) {
    let Some((run, kernel)) = Run::kernel_of(site) else { return (site.first as i32, Token::default()) };
    let untried = (kernel.first() as i32, token_of(kernel.first(), table::MOST_CLASSES));
    if kernel.on_cpu {
        let chosen = ClassKey::of(&launch, 0).and_then(|key| run.choose(kernel, launch, key));
        let Some((trial, place)) = chosen else { return untried };
        return (trial.version as i32, clock::start(token(trial, place, 0), trial.part != Part::Untimed));
    }
    device::collect();
    // What is captured runs later, again and again.
    let Some(device) = device::place(stream) else { return untried };
    let chosen = ClassKey::of(&launch, device).and_then(|key| run.choose(kernel, launch, key));
    let Some((trial, place)) = chosen else { return untried };
    let token = token(trial, place, device);
    if trial.part == Part::Untimed {
        return (trial.version as i32, token);
    }
    match device::start(device, stream) {
        Some(start) => (trial.version as i32, Token { kind: Kind::EVENT, start, extra: stream as u64, ..token }),
        None => {
            kernel.with(place, |class| class.void(trial));
            (trial.version as i32, token)
        }
    }
}

/// A token of a trial that is not timed yet.
fn token(trial: Trial, place: usize, device: i32) -> Token {
    let cold = match trial.part {
        Part::Untimed | Part::Cold => 0,
        Part::Round(round) => round.saturating_add(1),
    };
    Token { cold, device, ..token_of(trial.version, place) }
}

/// The trial that a timed token is of.
fn trial(token: &Token) -> Trial {
    let part = match (token.kind, token.cold) {
        (Kind::CLOCK | Kind::EVENT, 0) => Part::Cold,
        (Kind::CLOCK | Kind::EVENT, round) => Part::Round(round - 1),
        _ => Part::Untimed,
    };
    Trial { version: token.candidate as usize, part }
}

fn end(site: &Site, token: &Token, error: i32, now: u64) {
    let Some((_, kernel)) = Run::kernel_of(site) else { return };
    let (place, trial) = (token.shape as usize, trial(token));
    if is_refusal(error) {
        kernel.with(place, |class| class.fail(trial.version));
    }
    match token.kind {
        Kind::CLOCK => {
            let time = clock::stop(token, now);
            kernel.with(place, |class| match time.filter(|_| error == 0) {
                Some(time) => class.add(trial, time),
                None if error == 0 => class.again(trial),
                None => class.void(trial),
            });
        }
        Kind::EVENT if error == 0 => device::stop(kernel, token),
        Kind::EVENT => {
            device::give_back(token.device, token.start);
            kernel.with(place, |class| class.void(trial));
        }
        Kind::UNTIMED => clock::leave(),
        _ => {}
    }
}

impl Sink for Kernel {
    fn add(&self, token: &Token, time: u64) {
        self.with(token.shape as usize, |class| class.add(trial(token), time));
    }

    fn void(&self, token: &Token) {
        self.with(token.shape as usize, |class| class.void(trial(token)));
    }
}
