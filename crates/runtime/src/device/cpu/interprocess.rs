//! Memory and events that processes share.
//!
//! A handle names a process and one of its open files, which others open as long as that process lives (`/proc`). Memory becomes such a file when
//! its handle is asked for, at the address that it has; an event is two counts in one: of records that were asked for, and of those that were
//! reached. Who waits for a record of another process waits at the call.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::{CString, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::{files, heap, pages};
use crate::device::seam::Foreign;
use crate::error::{CudaError, Result, check};

/// What the first word of a handle is.
const MEMORY: u32 = 0x5247_4d01;
const EVENT: u32 = 0x5247_4501;
/// How long a thread sleeps between looks at an event of another process.
const NAP: Duration = Duration::from_micros(50);

/// A handle, as it lies in the 64 bytes that CUDA has for one.
#[repr(C)]
#[derive(Clone, Copy)]
struct Name {
    kind: u32,
    process: u32,
    file: i32,
    rest: u32,
    /// Which file it is, so that another one of this number is not taken for it.
    node: u64,
    bytes: u64,
    offset: u64,
    size: u64,
    more: [u64; 2],
}

const _: () = assert!(size_of::<Name>() == size_of::<Foreign>());

fn node(file: RawFd) -> Result<u64> {
    // SAFETY: a place for what is found out of an open file.
    unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        check(libc::fstat(file, &raw mut found) == 0)?;
        Ok(found.st_ino)
    }
}

fn handle(kind: u32, file: RawFd, bytes: usize, offset: usize, size: usize) -> Result<Foreign> {
    let [bytes, offset, size] = [bytes, offset, size].map(|number| number as u64);
    let (process, node) = (std::process::id(), node(file)?);
    let name = Name { kind, process, file, rest: 0, node, bytes, offset, size, more: [0; 2] };
    // SAFETY: both are 64 bytes without gaps.
    Ok(unsafe { std::mem::transmute::<Name, Foreign>(name) })
}

fn name(handle: &Foreign, kind: u32) -> Result<Name> {
    // SAFETY: any 64 bytes are a name.
    let name = unsafe { std::mem::transmute::<Foreign, Name>(*handle) };
    if name.kind == kind { Ok(name) } else { Err(CudaError::INVALID_RESOURCE_HANDLE) }
}

/// Opens the file of a handle.
fn open(name: &Name) -> Result<OwnedFd> {
    let path = CString::new(format!("/proc/{}/fd/{}", name.process, name.file)).unwrap_or_default();
    // SAFETY: a C string; the descriptor is the file's only owner.
    let file = unsafe {
        let opened = libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        if opened < 0 {
            return Err(CudaError::INVALID_RESOURCE_HANDLE);
        }
        OwnedFd::from_raw_fd(opened)
    };
    if node(file.as_raw_fd())? == name.node { Ok(file) } else { Err(CudaError::INVALID_RESOURCE_HANDLE) }
}

/// Memory of another process: where its file is mapped, and how often each allocation in that was opened.
struct Mapped {
    start: usize,
    bytes: usize,
    opened: HashMap<usize, usize>,
}

fn mapped() -> MutexGuard<'static, HashMap<u64, Mapped>> {
    static MAPPED: OnceLock<Mutex<HashMap<u64, Mapped>>> = OnceLock::new();
    MAPPED.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// The handle of device memory; no work is under way.
pub fn of_memory(pointer: *const c_void) -> Result<Foreign> {
    let part = heap::share(pointer)?;
    handle(MEMORY, part.file, part.bytes, part.offset, part.size)
}

/// Maps what another process has; what is mapped is used once more.
pub fn open_memory(given: &Foreign) -> Result<*mut c_void> {
    let name = name(given, MEMORY)?;
    if name.process == std::process::id() {
        return Err(CudaError::INVALID_CONTEXT);
    }
    let [bytes, offset, size] = [name.bytes, name.offset, name.size].map(|number| number as usize);
    check(offset.checked_add(size).is_some_and(|end| end <= bytes))?;
    let mut all = mapped();
    let found = match all.entry(name.node) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(new) => {
            let file = open(&name)?;
            let start = files::map(file.as_raw_fd(), bytes, None)?;
            new.insert(Mapped { start, bytes, opened: HashMap::new() })
        }
    };
    check(offset + size <= found.bytes)?;
    let at = found.start + offset;
    let users = found.opened.entry(at).or_default();
    if *users == 0 {
        heap::place(at, size);
    }
    *users += 1;
    Ok(at as *mut c_void)
}

/// Gives back what was opened; no work is under way.
pub fn close_memory(pointer: *mut c_void) -> Result {
    let at = pointer as usize;
    let mut all = mapped();
    let (node, found) = all.iter_mut().find(|(_, one)| one.opened.contains_key(&at)).ok_or(CudaError::INVALID_VALUE)?;
    let node = *node;
    if let Some(users) = found.opened.get_mut(&at) {
        *users -= 1;
        if *users == 0 {
            found.opened.remove(&at);
            heap::displace(at);
        }
    }
    if found.opened.is_empty() {
        files::unmap(found.start, found.bytes);
        all.remove(&node);
    }
    Ok(())
}

/// What processes know of an event.
#[repr(C)]
struct Counts {
    asked: AtomicU64,
    reached: AtomicU64,
    /// Who asked last.
    process: AtomicU32,
}

/// An event that processes share.
pub struct Shared {
    file: OwnedFd,
    counts: usize,
}

impl Drop for Shared {
    fn drop(&mut self) {
        files::unmap(self.counts, pages::size());
    }
}

impl Shared {
    fn of(file: OwnedFd) -> Result<Arc<Self>> {
        let counts = files::map(file.as_raw_fd(), pages::size(), None)?;
        Ok(Arc::new(Self { file, counts }))
    }

    pub fn new() -> Result<Arc<Self>> {
        Self::of(files::make(pages::size())?)
    }

    pub fn handle(&self) -> Result<Foreign> {
        handle(EVENT, self.file.as_raw_fd(), pages::size(), 0, pages::size())
    }

    pub fn open(given: &Foreign) -> Result<Arc<Self>> {
        let name = name(given, EVENT)?;
        check(name.bytes == pages::size() as u64)?;
        Self::of(open(&name)?)
    }

    fn counts(&self) -> &Counts {
        // SAFETY: mapped as long as this is there, of zeros at first.
        unsafe { &*(self.counts as *const Counts) }
    }

    /// A record is asked for; its number.
    pub fn ask(&self) -> u64 {
        let counts = self.counts();
        counts.process.store(std::process::id(), Ordering::SeqCst);
        counts.asked.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// A record is reached.
    pub fn reach(&self, number: u64) {
        self.counts().reached.fetch_max(number, Ordering::SeqCst);
    }

    /// The last record, if it is not reached.
    pub fn ahead(&self) -> Option<u64> {
        let asked = self.counts().asked.load(Ordering::SeqCst);
        (self.counts().reached.load(Ordering::SeqCst) < asked).then_some(asked)
    }

    /// Waits for a record, while the process lives that asked for one last.
    pub fn wait(&self, number: u64) -> Result {
        let counts = self.counts();
        let mut looks = 0u32;
        while counts.reached.load(Ordering::SeqCst) < number {
            std::thread::sleep(NAP);
            looks += 1;
            let process = counts.process.load(Ordering::SeqCst) as libc::pid_t;
            // SAFETY: a signal that is none asks whether the process is there.
            if looks.is_multiple_of(1000) && unsafe { libc::kill(process, 0) } != 0 {
                return Err(CudaError::LAUNCH_FAILURE);
            }
        }
        Ok(())
    }
}
