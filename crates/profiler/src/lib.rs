//! The profiler: linked into programs that are built with `-fregrain-profile-generate`, it chooses which candidate of a
//! kernel a launch runs, times it, and writes the tuning database. Programs that are built with `-fregrain-adaptive` choose by
//! themselves for good: [`adaptive`], by the same means.
//!
//! ```text
//! n = __regrain_profile_begin(&site, grid, block, shared, stream, &token)
//! switch (n) { case i: error = launch of candidate i }
//! __regrain_profile_end(&site, &token, error)
//! ```
//!
//! [`kernel`] decides, `device` takes device time by events, `clock` the time of synchronous launches on the CPU,
//! `session` knows the database. A site says which target its candidates are for; the events are those of whichever
//! runtime the program is linked with. Nothing here fails the program: what cannot be measured is not, and the original
//! runs.
//!
//! | variable | meaning |
//! |---|---|
//! | `REGRAIN_TUNING_DB` | the database (default: `<executable>.regrain-tuning`, beside the executable) |
//! | `REGRAIN_TUNING_SAMPLES` | samples of each candidate, over all grids, and at least three of each grid (default: 5) |

pub mod abi;
pub mod adaptive;
mod book;
mod clock;
mod device;
pub mod kernel;
mod session;

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use abi::{Kind, Site, Token};
use device::Sink;
use kernel::{Kernel, Launch};

/// Chooses the candidate that this launch runs, and starts to time it. Returns its index in the site's list.
///
/// # Safety
/// `site` is a site in writable memory whose strings live as long as the program; `token` is writable.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "the interface to compiled programs")]
pub unsafe extern "C" fn __regrain_profile_begin(
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
    // SAFETY: valid for a write by the contract.
    unsafe { token.write(Token::default()) };
    let launch = Launch { grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z], shared };
    let begun = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: a site by the contract.
        let site = unsafe { &*site };
        begin(site, launch, stream)
    }));
    let (candidate, begun) = begun.unwrap_or_default();
    // SAFETY: as above.
    unsafe { token.write(begun) };
    candidate
}

fn begin(site: &Site, launch: Launch, stream: *mut c_void) -> (i32, Token) {
    let Some((session, kernel)) = session::kernel_of(site) else { return (0, Token::default()) };
    let original = kernel.original() as i32;
    if kernel.on_cpu {
        let choice = kernel.choose(launch, session.samples, &session.known);
        return (choice.candidate as i32, clock::start(Token::of(&choice), choice.timed));
    }
    device::collect();
    session.write_now_and_then();
    let Some(place) = device::place(stream) else {
        // What is captured runs later, again and again: the original, untimed.
        return (original, Token::default());
    };
    let choice = kernel.choose(launch, session.samples, &session.known);
    if !choice.timed {
        return (choice.candidate as i32, Token { kind: Kind::UNTIMED, ..Token::of(&choice) });
    }
    match device::start(place, stream) {
        Some(start) => (
            choice.candidate as i32,
            Token { kind: Kind::EVENT, device: place, start, extra: stream as u64, ..Token::of(&choice) },
        ),
        None => {
            kernel.void(&choice);
            (original, Token::default())
        }
    }
}

/// Ends what `__regrain_profile_begin` began; `error` is the launch's.
///
/// # Safety
/// `site` and `token` as they were given to `__regrain_profile_begin`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __regrain_profile_end(site: *mut Site, token: *const Token, error: i32) {
    let now = clock::now();
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: valid by the contract.
        let (site, token) = unsafe { (&*site, &*token) };
        end(site, token, error, now);
    }));
}

fn end(site: &Site, token: &Token, error: i32, now: u64) {
    if token.kind == Kind::NONE {
        return;
    }
    let Some((session, kernel)) = session::kernel_of(site) else { return };
    let choice = token.choice();
    if kernel::is_refusal(error) {
        kernel.fail(choice.candidate);
    }
    match token.kind {
        Kind::CLOCK => {
            let time = clock::stop(token, now);
            match time.filter(|_| error == 0) {
                Some(time) => kernel.add(&choice, time),
                None if error == 0 => kernel.void_disturbed(&choice, now.saturating_sub(token.start)),
                None => kernel.void(&choice),
            }
            session.write_now_and_then();
        }
        Kind::EVENT if error == 0 => device::stop(kernel, token),
        Kind::EVENT => {
            device::give_back(token.device, token.start);
            kernel.void(&choice);
        }
        _ if kernel.on_cpu => clock::leave(),
        _ => {}
    }
}

impl Sink for Kernel {
    fn add(&self, token: &Token, time: u64) {
        Kernel::add(self, &token.choice(), time);
    }

    fn void(&self, token: &Token) {
        Kernel::void(self, &token.choice());
    }
}

/// The device's state is about to go: collects what can be collected and forgets its events.
#[unsafe(no_mangle)]
pub extern "C" fn __regrain_profile_reset() {
    let _ = catch_unwind(|| {
        device::drain();
        device::forget_events();
    });
}
