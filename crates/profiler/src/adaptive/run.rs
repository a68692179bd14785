//! One run of a program that chooses by itself: its kernels, and what is remembered of them.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use regrain_tuning::database::{Database, Shape};

use super::report;
use super::settle::Trial;
use super::table::{ClassKey, Kernel, grid_class, shared_class};
use crate::abi::Site;
use crate::book::{self, Book, warn};
use crate::device;
use crate::kernel::{Identity, Launch};

/// What names a kernel in a database: hash, target, version.
type Name = (String, String, String);

/// One run of a program.
pub struct Run {
    reports: bool,
    book: Option<Book>,
    /// What earlier runs measured.
    known: HashMap<Name, Vec<Shape>>,
    kernels: Mutex<Vec<&'static Kernel>>,
}

static RUN: OnceLock<Option<Run>> = OnceLock::new();

impl Run {
    /// The kernel of a site, with the run; `None` if there is nothing to choose.
    pub fn kernel_of(site: &Site) -> Option<(&'static Self, &'static Kernel)> {
        let run = RUN.get_or_init(Self::begin).as_ref()?;
        let kernel = site.state.load(Ordering::Acquire);
        if !kernel.is_null() {
            // SAFETY: what is stored below is leaked, so it lives as long as the program.
            return Some((run, unsafe { &*kernel.cast::<Kernel>() }));
        }
        // SAFETY: the compiler makes sites so.
        let kernel = run.register(unsafe { site.identity() }?, site.first as usize);
        site.state.store(std::ptr::from_ref(kernel).cast_mut().cast(), Ordering::Release);
        Some((run, kernel))
    }

    fn begin() -> Option<Self> {
        let reports = match std::env::var("REGRAIN_ADAPTIVE").as_deref() {
            Ok("off") => return None,
            Ok("report") => true,
            Ok("") | Err(_) => false,
            Ok(other) => {
                warn(&format!("expected REGRAIN_ADAPTIVE to be 'off' or 'report', got '{other}'"));
                false
            }
        };
        let opened = book::named_path().and_then(|path| Book::open(path, "nothing is remembered"));
        let (book, database) = opened.map_or((None, Database::default()), |(book, known)| (Some(book), known));
        let mut known: HashMap<Name, Vec<Shape>> = HashMap::new();
        for shape in database.shapes() {
            let name = (shape.key.hash.clone(), shape.key.target.clone(), shape.key.version.clone());
            known.entry(name).or_default().push(shape);
        }
        if reports || book.is_some() {
            // SAFETY: registers a function without captures.
            unsafe { libc::atexit(at_exit) };
        }
        Some(Self { reports, book, known, kernels: Mutex::default() })
    }

    /// The kernel of this identity: sites with the same versions share it.
    fn register(&self, identity: Identity, first: usize) -> &'static Kernel {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kernels.iter().find(|kernel| kernel.identity == identity) {
            return known;
        }
        let kernel: &'static Kernel = Box::leak(Box::new(Kernel::new(identity, first, self.book.is_some())));
        kernels.push(kernel);
        kernel
    }

    /// What a launch of a class that is not settled runs, and the class' place.
    pub fn choose(&self, kernel: &Kernel, launch: Launch, key: ClassKey) -> Option<(Trial, usize)> {
        kernel.choose(launch, key, |launch| self.recall(&kernel.identity, launch))
    }

    /// What earlier runs measured of launches of the same class, on whichever device.
    fn recall(&self, identity: &Identity, launch: &Launch) -> Vec<Shape> {
        let Identity { hash, target, version, .. } = identity.clone();
        let class = (launch.block, grid_class(launch.grid), shared_class(launch.shared));
        let is_same = |shape: &&Shape| {
            let key = &shape.key;
            (key.block, grid_class(key.grid), shared_class(key.shared)) == class
        };
        let all = self.known.get(&(hash, target, version)).map_or(&[][..], Vec::as_slice);
        all.iter().filter(is_same).cloned().collect()
    }
}

extern "C" fn at_exit() {
    let _ = std::panic::catch_unwind(|| {
        let Some(run) = RUN.get().and_then(Option::as_ref) else { return };
        device::drain();
        let kernels = run.kernels.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(book) = &run.book {
            book.write(kernels.iter().flat_map(|kernel| kernel.records()), Duration::from_secs(30));
        }
        if run.reports {
            kernels.iter().for_each(|kernel| book::say(&report::of(kernel)));
        }
    });
}
