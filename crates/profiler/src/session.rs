//! One run of a program: where its database is, which kernels it has launched, when it writes.
//!
//! Written at exit, and now and then, by merging into the file under its lock. A failure is one warning.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use regrain_tuning::database::{Database, Error};
use regrain_tuning::record::Record;

use crate::abi::{Site, text};
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
    path: PathBuf,
    /// The run's name in the database.
    run: String,
    /// A child of `fork` inherits the samples of its parent, who writes them.
    process: u32,
    kernels: Mutex<Vec<&'static Kernel>>,
    written: AtomicU64,
    has_warned: AtomicBool,
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
        return Some((session, unsafe { &*kernel }));
    }
    let kernel = session.register(identity(site)?);
    site.state.store(std::ptr::from_ref(kernel).cast_mut(), Ordering::Release);
    Some((session, kernel))
}

/// Reads a site; `None` if it is none, or has nothing to choose.
fn identity(site: &Site) -> Option<Identity> {
    if site.count < 2 || site.grains.is_null() {
        return None;
    }
    // SAFETY: the site's strings are null or C strings, and `grains` has `count` of them.
    unsafe {
        let names = std::slice::from_raw_parts(site.grains, site.count as usize);
        let grains = names.iter().map(|name| text(*name).parse().ok()).collect::<Option<Vec<_>>>()?;
        let [kernel, hash, target, version] =
            [site.kernel, site.hash, site.target, site.version].map(|part| text(part));
        Some(Identity { kernel, hash, target, version, grains })
    }
}

impl Session {
    fn begin() -> Option<Self> {
        std::hint::black_box(&raw const __regrain_profile_eager);
        let path = database_path()?;
        let known = match Database::open(&path) {
            Ok(database) => Known::of(&database),
            Err(Error::Io { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => Known::default(),
            Err(error) => {
                warn(&format!("{error}; nothing is measured"));
                return None;
            }
        };
        // SAFETY: registers a function without captures.
        unsafe { libc::atexit(at_exit) };
        Some(Self {
            samples: samples(),
            known,
            path,
            run: format!("{:016x}", RandomState::new().build_hasher().finish()),
            process: std::process::id(),
            kernels: Mutex::default(),
            written: AtomicU64::new(clock::now()),
            has_warned: AtomicBool::new(false),
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

    /// Everything measured in this run.
    fn records(&self) -> Vec<Record> {
        let kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let date = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs());
        let mut records: BTreeMap<_, Record> = BTreeMap::new();
        for record in kernels.iter().flat_map(|kernel| kernel.records()) {
            let record = Record { run: self.run.clone(), date, ..record };
            match records.get_mut(&record.key) {
                Some(known) => known.add(&record),
                None => _ = records.insert(record.key.clone(), record),
            }
        }
        records.into_values().collect()
    }

    fn write(&self, patience: Duration) {
        let records = self.records();
        if records.is_empty() || self.process != std::process::id() {
            return;
        }
        let put = |database: &mut Database| records.into_iter().for_each(|record| database.insert(record));
        if let Err(error) = Database::update(&self.path, patience, put)
            && !self.has_warned.swap(true, Ordering::Relaxed)
        {
            warn(&error.to_string());
        }
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

/// `REGRAIN_TUNING_DB`, else beside the executable.
fn database_path() -> Option<PathBuf> {
    let given = std::env::var_os("REGRAIN_TUNING_DB").filter(|path| !path.is_empty());
    let path = match given {
        Some(path) => std::path::absolute(Path::new(&path)),
        None => std::env::current_exe().map(|path| {
            let mut path = path.into_os_string();
            path.push(".regrain-tuning");
            path.into()
        }),
    };
    path.map_err(|error| warn(&format!("cannot find a place for the tuning database: {error}"))).ok()
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

fn warn(text: &str) {
    use std::io::Write;
    // A closed standard error is no reason to fail.
    let _ = writeln!(std::io::stderr(), "regrain profiler: warning: {text}");
}
