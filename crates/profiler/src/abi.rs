//! The binary interface between compiled programs and the profiler.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::AtomicPtr;

use crate::kernel::{Choice, Identity};

/// A place in a program where candidates of one kernel are launched. In writable memory; all strings end with NUL.
#[repr(C)]
pub struct Site {
    /// The kernel's symbol.
    pub kernel: *const c_char,
    /// Hash of the kernel's content.
    pub hash: *const c_char,
    /// As in `sm_80`; on a target that begins with `cpu` launches are synchronous.
    pub target: *const c_char,
    /// Version of the compiler.
    pub version: *const c_char,
    /// Length of `grains`.
    pub count: u32,
    /// What runs before anything is known, by its number, where the program chooses by itself; else zero.
    pub first: u32,
    /// Names of the candidates.
    pub grains: *const *const c_char,
    /// The profiler's own; null at first.
    pub state: AtomicPtr<c_void>,
}

impl Site {
    /// What a site says; `None` if it is none, or has nothing to choose.
    ///
    /// # Safety
    /// The site's strings are null or C strings, and `grains` has `count` of them.
    pub unsafe fn identity(&self) -> Option<Identity> {
        if self.count < 2 || self.grains.is_null() {
            return None;
        }
        // SAFETY: by the contract.
        unsafe {
            let names = std::slice::from_raw_parts(self.grains, self.count as usize);
            let grains = names.iter().map(|name| text(*name).parse().ok()).collect::<Option<Vec<_>>>()?;
            let [kernel, hash, target, version] =
                [self.kernel, self.hash, self.target, self.version].map(|part| text(part));
            Some(Identity { kernel, hash, target, version, grains })
        }
    }
}

/// Text of a site; what is no UTF-8 is replaced.
///
/// # Safety
/// `text` is null or a C string.
pub unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: a C string by the contract.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// How a launch is timed.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind(u16);

impl Kind {
    /// The profiler has nothing to do with this launch.
    pub const NONE: Self = Self(0);
    /// Chosen, but not timed.
    pub const UNTIMED: Self = Self(1);
    /// By the monotonic clock.
    pub const CLOCK: Self = Self(2);
    /// By two events of the device.
    pub const EVENT: Self = Self(3);
}

/// What is kept from begin to end: 32 bytes of the caller's stack.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Token {
    /// How the launch is timed.
    pub kind: Kind,
    /// Whether it is the candidate's first launch in this process; where the program chooses by itself, the round.
    pub cold: u16,
    /// The candidate.
    pub candidate: u32,
    /// Index of the launch shape, or of the class of launches, within the kernel.
    pub shape: u32,
    /// The device of the events.
    pub device: i32,
    /// The clock in nanoseconds, or the event.
    pub start: u64,
    /// The stream, or the number of the launch among all.
    pub extra: u64,
}

impl Token {
    /// The part that says what was chosen.
    pub fn of(choice: &Choice) -> Self {
        Self {
            cold: choice.cold.into(),
            candidate: choice.candidate as u32,
            shape: choice.shape as u32,
            ..Self::default()
        }
    }

    /// What was chosen.
    pub fn choice(&self) -> Choice {
        Choice {
            candidate: self.candidate as usize,
            shape: self.shape as usize,
            timed: self.kind == Kind::CLOCK || self.kind == Kind::EVENT,
            cold: self.cold != 0,
        }
    }
}

const _: () = assert!(size_of::<Token>() == 32);
const _: () = assert!(size_of::<Site>() == 56);
const _: () = assert!(std::mem::offset_of!(Site, grains) == 40);
