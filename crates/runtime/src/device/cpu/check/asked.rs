//! One access, as generated code describes it (`mlir-bridge/cpp/checks.cpp`), and what is accessed in the place of what cannot be.

use std::cell::UnsafeCell;
use std::ffi::c_void;

use super::races::Class;
use super::sites::Place;

const VOLATILE: u32 = 1;
/// The thread may see what others did before.
pub const ACQUIRES: u32 = 2;
/// Others may see what the thread did before.
pub const RELEASES: u32 = 4;
/// The value that is stored is given.
pub const VALUED: u32 = 8;
/// What is accessed in the place of what cannot be: loads find nothing but 0.
#[repr(C, align(64))]
struct Spare(UnsafeCell<[u8; 2 << 16]>);

// SAFETY: what is written to it is read by nobody but atomic operations of wrong places, which may get anything.
unsafe impl Sync for Spare {}

static SPARE: Spare = Spare(UnsafeCell::new([0; 2 << 16]));

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    Load,
    Store,
    Atomic,
}

/// One access.
#[derive(Clone, Copy)]
pub struct Asked {
    pub address: usize,
    pub size: usize,
    pub align: usize,
    pub how: How,
    pub flags: u32,
    pub value: u64,
    pub place: *const Place,
}

impl Asked {
    #[inline(always)]
    pub fn new(address: *mut c_void, info: u32, how: How, place: *const Place) -> Self {
        let (size, align) = ((info & 0xffff) as usize, 1 << (info >> 16 & 0xff));
        Self { address: address as usize, size, align, how, flags: info >> 24, value: 0, place }
    }

    pub fn is_aligned(&self) -> bool {
        self.address & (self.align - 1) == 0
    }

    pub fn spare(&self) -> *mut c_void {
        let start = SPARE.0.get().cast::<u8>();
        match self.how {
            How::Load => start.cast(),
            // SAFETY: the second half of the array.
            _ => unsafe { start.add(1 << 16).cast() },
        }
    }

    pub fn is_spare(&self) -> bool {
        self.address.wrapping_sub(SPARE.0.get() as usize) < 2 << 16
    }

    pub fn class(&self) -> Class {
        match self.how {
            How::Atomic => Class::Atomic,
            _ if self.flags & VOLATILE != 0 => Class::Volatile,
            _ => Class::Plain,
        }
    }
}
