//! Streams: checked handles with flags and a priority, and who may work at one now. What they have been asked to do and have not done is in
//! `queue`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::failure::{self, device_ok};
use crate::device::printf;
use crate::device::seam::PER_THREAD;
use crate::error::{CudaError, Result};

/// `cudaStreamNonBlocking`
const NON_BLOCKING: u32 = 1;

#[derive(Default)]
pub struct Stream {
    /// What the program has; 0 for the legacy default stream.
    pub handle: usize,
    pub flags: u32,
    pub priority: i32,
    /// Whether somebody does what it was asked to: one at a time.
    pub busy: AtomicBool,
    /// How much it was asked to do that is not done.
    pub queued: AtomicUsize,
    /// Attributes that the program has set, by their numbers.
    pub attributes: Mutex<Vec<(u32, [u64; 8])>>,
}

impl Stream {
    /// Whether it is the default stream that all threads share.
    pub fn is_legacy(&self) -> bool {
        self.handle == 0
    }

    /// Whether it is a thread's default stream, or that of all.
    pub fn is_default(&self) -> bool {
        self.handle == 0 || self.handle == PER_THREAD as usize
    }

    /// Whether work on the legacy stream waits for that of this one, and the other way round.
    pub fn is_blocking(&self) -> bool {
        self.flags & NON_BLOCKING == 0
    }

    /// Whether work of `stream` waits for earlier work of this one.
    pub fn is_waited_for_by(&self, stream: &Self) -> bool {
        let blocks = || stream.is_legacy() != self.is_legacy() && stream.is_blocking() && self.is_blocking();
        std::ptr::eq(stream, self) || blocks()
    }

    /// Whether who waits for `stream` waits for this one: the legacy stream has the work of all that block before it.
    pub fn is_part_of(&self, stream: &Self) -> bool {
        std::ptr::eq(stream, self) || stream.is_legacy() && self.is_blocking()
    }
}

/// Lowest and highest priority, as on NVIDIA's devices.
pub const PRIORITIES: (i32, i32) = (0, -5);

type Known = (u64, Option<Arc<Stream>>);

/// Counts streams that go, so that what a thread remembers of one is known to be stale.
static GONE: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static PER_THREAD_STREAM: Arc<Stream> = Arc::new(Stream { handle: PER_THREAD as usize, ..Stream::default() });
    /// The stream that this thread asked for last, and the count of then.
    static LAST: RefCell<Known> = const { RefCell::new((0, None)) };
}

fn streams() -> MutexGuard<'static, HashMap<usize, Arc<Stream>>> {
    static STREAMS: OnceLock<Mutex<HashMap<usize, Arc<Stream>>>> = OnceLock::new();
    STREAMS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many streams there are that the program has made.
static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// Whether the program has one stream of its own at most.
pub fn is_lone() -> bool {
    NUMBER.load(Ordering::Relaxed) < 2
}

/// The default streams: null, `cudaStreamLegacy`, `cudaStreamPerThread`.
fn is_default(stream: *mut c_void) -> bool {
    (stream as usize) <= 2
}

pub fn is_legacy(stream: *mut c_void) -> bool {
    (stream as usize) < 2
}

/// The stream behind a handle.
pub fn get(stream: *mut c_void) -> Result<Arc<Stream>> {
    static LEGACY: OnceLock<Arc<Stream>> = OnceLock::new();
    if is_legacy(stream) {
        return Ok(LEGACY.get_or_init(Arc::default).clone());
    }
    if stream == PER_THREAD {
        // While the thread ends there is none any more.
        let here = PER_THREAD_STREAM.try_with(Arc::clone);
        return Ok(here.unwrap_or_else(|_| LEGACY.get_or_init(Arc::default).clone()));
    }
    let gone = GONE.load(Ordering::Acquire);
    let kept = LAST.try_with(|last| {
        let last = last.borrow();
        last.1.as_ref().filter(|known| last.0 == gone && known.handle == stream as usize).cloned()
    });
    if let Ok(Some(known)) = kept {
        return Ok(known);
    }
    let found = streams().get(&(stream as usize)).cloned().ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
    let _ = LAST.try_with(|last| last.replace((gone, Some(found.clone()))));
    Ok(found)
}

/// Whether a stream handle is valid.
pub fn check(stream: *mut c_void) -> Result {
    if is_default(stream) { Ok(()) } else { get(stream).map(drop) }
}

/// Makes a stream.
pub fn create(flags: u32, priority: i32) -> Result<*mut c_void> {
    // Handles are never reused, so that a stale one is recognised.
    static NEXT: AtomicUsize = AtomicUsize::new(0x5354_0010);
    device_ok()?;
    let handle = NEXT.fetch_add(16, Ordering::Relaxed);
    let priority = priority.clamp(PRIORITIES.1, PRIORITIES.0);
    let mut streams = streams();
    streams.insert(handle, Arc::new(Stream { handle, flags, priority, ..Stream::default() }));
    NUMBER.store(streams.len(), Ordering::Relaxed);
    Ok(handle as *mut c_void)
}

/// Forgets a stream; what it was asked to do is done all the same.
pub fn destroy(stream: *mut c_void) -> Result {
    let mut streams = streams();
    streams.remove(&(stream as usize)).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
    NUMBER.store(streams.len(), Ordering::Relaxed);
    GONE.fetch_add(1, Ordering::Release);
    Ok(())
}

/// All work that was waited for is done: writes out what it printed, and says whether it failed.
pub fn finish() -> Result {
    printf::flush();
    device_ok()?;
    failure::take_late()
}
