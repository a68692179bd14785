//! One run of a program that measures: which kernels it has launched, and when it writes: at exit, and now and then.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::abi::Site;
use crate::book::{self, Book, warn};
use crate::kernel::{Identity, Kernel, Known};
use crate::{clock, device};

/// Time between two writes while the program runs, in nanoseconds.
const INTERVAL: u64 = 5_000_000_000;

/// One run of a program.
pub struct Session {
    /// Samples of each candidate.
    pub samples: usize,
    /// What earlier runs measured.
    pub known: Known,
    book: Book,
    kernels: Mutex<Vec<&'static Kernel>>,
    written: AtomicU64,
}

unsafe extern "C" {
    /// Refers to `eager.c`, so that the linker takes it.
    static __regrain_profile_eager: u8;
}

static SESSION: OnceLock<Option<Session>> = OnceLock::new();

/// The session, if one has begun.
pub fn current() -> Option<&'static Session> {
    SESSION.get()?.as_ref()
}

/// The kernel of a site, with the session; `None` if nothing is to be measured.
pub fn kernel_of(site: &Site) -> Option<(&'static Session, &'static Kernel)> {
    let session = SESSION.get_or_init(Session::begin).as_ref()?;
    let kernel = site.state.load(Ordering::Acquire);
    if !kernel.is_null() {
        // SAFETY: what is stored below is leaked, so it lives as long as the program.
        return Some((session, unsafe { &*kernel.cast::<Kernel>() }));
    }
    // SAFETY: the compiler makes sites so.
    let kernel = session.register(unsafe { site.identity() }?);
    site.state.store(std::ptr::from_ref(kernel).cast_mut().cast(), Ordering::Release);
    Some((session, kernel))
}

impl Session {
    fn begin() -> Option<Self> {
        std::hint::black_box(&raw const __regrain_profile_eager);
        let path = book::named_path().or_else(book::usual_path)?;
        let (book, database) = Book::open(path, "nothing is measured")?;
        // SAFETY: registers a function without captures.
        unsafe { libc::atexit(at_exit) };
        Some(Self {
            samples: samples(),
            known: Known::of(&database),
            book,
            kernels: Mutex::default(),
            written: AtomicU64::new(clock::now()),
        })
    }

    /// The kernel of this identity: sites with the same candidates share it.
    fn register(&self, identity: Identity) -> &'static Kernel {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kernels.iter().find(|kernel| kernel.identity == identity) {
            return known;
        }
        let kernel: &'static Kernel = Box::leak(Box::new(Kernel::new(identity)));
        kernels.push(kernel);
        kernel
    }

    /// Writes if the last time is long ago.
    pub fn write_now_and_then(&self) {
        let (now, last) = (clock::now(), self.written.load(Ordering::Relaxed));
        let due = now.saturating_sub(last) > INTERVAL;
        if due && self.written.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.write(Duration::from_millis(500));
        }
    }

    fn write(&self, patience: Duration) {
        let kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.book.write(kernels.iter().flat_map(|kernel| kernel.records()), patience);
    }
}

extern "C" fn at_exit() {
    let _ = std::panic::catch_unwind(|| {
        if let Some(session) = current() {
            device::drain();
            session.write(Duration::from_secs(30));
        }
    });
}

/// `REGRAIN_TUNING_SAMPLES`.
fn samples() -> usize {
    let Ok(text) = std::env::var("REGRAIN_TUNING_SAMPLES") else { return 5 };
    match text.trim().parse() {
        Ok(samples @ 1..=1000) => samples,
        _ => {
            warn(&format!("expected REGRAIN_TUNING_SAMPLES to be a number from 1 to 1000, got '{text}'"));
            5
        }
    }
}
