//! Time on a GPU: an event before the launch and one behind it, on its stream.
//!
//! The events are asked at later launches, never waited for, except at exit and before `cudaDeviceReset`. The program
//! sees nothing of it: where it had no last error there is none, and its capture mode is as it was.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::abi::Token;

const SUCCESS: u32 = 0;
const NOT_READY: u32 = 600;
const CAPTURE_RELAXED: u32 = 2;

/// How long the end of the program waits for kernels that are still running.
const LAST_WAIT: Duration = Duration::from_secs(10);
/// Samples on their way at most; launches beyond are not timed.
const MOST_PENDING: usize = 4096;
/// After so many unfinished ones the others are not asked.
const MOST_UNFINISHED: usize = 8;

#[allow(non_snake_case, reason = "CUDA's names")]
unsafe extern "C" {
    fn cudaEventCreate(event: *mut *mut c_void) -> u32;
    fn cudaEventRecord(event: *mut c_void, stream: *mut c_void) -> u32;
    fn cudaEventQuery(event: *mut c_void) -> u32;
    fn cudaEventElapsedTime(milliseconds: *mut f32, start: *mut c_void, end: *mut c_void) -> u32;
    fn cudaGetDevice(device: *mut i32) -> u32;
    fn cudaGetDeviceCount(count: *mut i32) -> u32;
    fn cudaGetLastError() -> u32;
    fn cudaPeekAtLastError() -> u32;
    fn cudaStreamIsCapturing(stream: *mut c_void, status: *mut u32) -> u32;
    fn cudaThreadExchangeStreamCaptureMode(mode: *mut u32) -> u32;
}

/// While it lives, calls may fail, and do not disturb a capture of another stream.
struct Quiet {
    mode: u32,
    was_clean: bool,
}

impl Quiet {
    fn new() -> Self {
        let mut mode = CAPTURE_RELAXED;
        // SAFETY: plain calls of the CUDA API; `mode` is valid for reading and writing.
        unsafe {
            let was_clean = cudaPeekAtLastError() == SUCCESS;
            if cudaThreadExchangeStreamCaptureMode(&raw mut mode) != SUCCESS {
                mode = CAPTURE_RELAXED;
            }
            Self { mode, was_clean }
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // SAFETY: as in `new`.
        unsafe {
            if self.mode != CAPTURE_RELAXED {
                cudaThreadExchangeStreamCaptureMode(&raw mut self.mode);
            }
            if self.was_clean {
                cudaGetLastError();
            }
        }
    }
}

/// What hears the times of launches.
pub trait Sink: Sync {
    /// What the launch of a token took, in nanoseconds.
    fn add(&self, token: &Token, time: u64);

    /// What it took is not known, and will not be.
    fn void(&self, token: &Token);
}

/// A launch whose time is not known yet.
struct Pending {
    sink: &'static dyn Sink,
    token: Token,
    end: u64,
}

static PENDING: Mutex<Vec<Pending>> = Mutex::new(Vec::new());
/// Events that are free, by device.
static FREE: Mutex<Option<HashMap<i32, Vec<u64>>>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The current device. Where the machine has just one, nobody is asked.
pub fn current() -> i32 {
    static COUNT: AtomicI32 = AtomicI32::new(-1);
    let mut count = COUNT.load(Ordering::Relaxed);
    if count == 1 {
        return 0;
    }
    let _quiet = Quiet::new();
    let mut device = 0;
    // SAFETY: both are valid for a write.
    unsafe {
        if count < 0 && cudaGetDeviceCount(&raw mut count) == SUCCESS {
            COUNT.store(count, Ordering::Relaxed);
        }
        if cudaGetDevice(&raw mut device) == SUCCESS { device } else { -1 }
    }
}

/// The current device, if a launch on `stream` can be timed: the stream is not being captured.
pub fn place(stream: *mut c_void) -> Option<i32> {
    let _quiet = Quiet::new();
    let (mut status, mut device) = (0, 0);
    // SAFETY: the stream is the program's; the others are valid for a write.
    let fine = unsafe {
        cudaStreamIsCapturing(stream, &raw mut status) == SUCCESS
            && status == 0
            && cudaGetDevice(&raw mut device) == SUCCESS
    };
    fine.then_some(device)
}

fn event(device: i32) -> Option<u64> {
    let free = lock(&FREE).get_or_insert_default().get_mut(&device).and_then(Vec::pop);
    free.or_else(|| {
        let mut event = std::ptr::null_mut();
        // SAFETY: valid for a write.
        (unsafe { cudaEventCreate(&raw mut event) } == SUCCESS).then_some(event as u64)
    })
}

/// An event recorded on the stream.
fn record(device: i32, stream: *mut c_void) -> Option<u64> {
    // A second try, because the program may have reset the device, and with it the events that lay ready.
    for _ in 0..2 {
        let event = event(device)?;
        // SAFETY: the event was made by `cudaEventCreate`; the stream is the program's.
        if unsafe { cudaEventRecord(event as *mut c_void, stream) } == SUCCESS {
            return Some(event);
        }
        lock(&FREE).get_or_insert_default().remove(&device);
    }
    None
}

/// Records the start of a launch.
pub fn start(device: i32, stream: *mut c_void) -> Option<u64> {
    let _quiet = Quiet::new();
    if lock(&PENDING).len() >= MOST_PENDING {
        return None;
    }
    record(device, stream)
}

/// Records the end of a launch that `token` began.
pub fn stop(sink: &'static dyn Sink, token: &Token) {
    let _quiet = Quiet::new();
    match record(token.device, token.extra as *mut c_void) {
        Some(end) => lock(&PENDING).push(Pending { sink, token: *token, end }),
        None => {
            give_back(token.device, token.start);
            sink.void(token);
        }
    }
}

/// Takes back an event.
pub fn give_back(device: i32, event: u64) {
    lock(&FREE).get_or_insert_default().entry(device).or_default().push(event);
}

/// Takes the times of launches that are over. Without waiting.
pub fn collect() {
    // Another thread that collects is as good.
    let Ok(mut all) = PENDING.try_lock() else { return };
    if all.is_empty() {
        return;
    }
    let taken = std::mem::take(&mut *all);
    drop(all);
    let _quiet = Quiet::new();
    let mut unfinished = Vec::new();
    for pending in taken {
        if unfinished.len() >= MOST_UNFINISHED || !finish(&pending) {
            unfinished.push(pending);
        }
    }
    // Behind what other threads have added meanwhile: order does not matter.
    lock(&PENDING).append(&mut unfinished);
}

/// Whether a launch is over; then its time, if there is one, is the kernel's.
fn finish(pending: &Pending) -> bool {
    let token = &pending.token;
    let (start, end) = (token.start as *mut c_void, pending.end as *mut c_void);
    // SAFETY: events made by `cudaEventCreate`. If the program reset the device behind our back they are stale, which
    // CUDA answers with an error.
    let answer = unsafe { cudaEventQuery(end) };
    if answer == NOT_READY {
        return false;
    }
    let mut milliseconds = 0.0_f32;
    // SAFETY: as above; valid for a write.
    let known = answer == SUCCESS && unsafe { cudaEventElapsedTime(&raw mut milliseconds, start, end) } == SUCCESS;
    if known {
        pending.sink.add(token, (f64::from(milliseconds) * 1e6).round() as u64);
        give_back(token.device, token.start);
        give_back(token.device, pending.end);
    } else {
        // Not given back: they may be stale.
        pending.sink.void(token);
    }
    true
}

/// Waits for what is on its way, but not for ever.
pub fn drain() {
    let deadline = Instant::now() + LAST_WAIT;
    loop {
        collect();
        if lock(&PENDING).is_empty() || Instant::now() > deadline {
            return;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// All events are gone with the device's state.
pub fn forget_events() {
    for pending in std::mem::take(&mut *lock(&PENDING)) {
        pending.sink.void(&pending.token);
    }
    lock(&FREE).get_or_insert_default().clear();
}
