//! Memory that is a file without a name, so that other processes can have it.

use std::ffi::c_void;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::error::{CudaError, Result};

/// A new file without a name.
pub fn make(bytes: usize) -> Result<OwnedFd> {
    // SAFETY: a C string; the descriptor is the file's only owner.
    let file = unsafe {
        let made = libc::memfd_create(c"regrain-memory".as_ptr(), libc::MFD_CLOEXEC);
        if made < 0 {
            return Err(CudaError::MEMORY_ALLOCATION);
        }
        OwnedFd::from_raw_fd(made)
    };
    // SAFETY: an open file.
    if unsafe { libc::ftruncate(file.as_raw_fd(), bytes as i64) } != 0 {
        return Err(CudaError::MEMORY_ALLOCATION);
    }
    Ok(file)
}

/// Maps a file, at `start` where that is said: what was there is gone.
pub fn map(file: RawFd, bytes: usize, start: Option<usize>) -> Result<usize> {
    let flags = libc::MAP_SHARED | if start.is_some() { libc::MAP_FIXED } else { 0 };
    let (start, access) = (start.unwrap_or(0), libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: new addresses, or those that the caller has.
    let at = unsafe { libc::mmap(start as *mut c_void, bytes, access, flags, file, 0) };
    if at == libc::MAP_FAILED { Err(CudaError::MEMORY_ALLOCATION) } else { Ok(at as usize) }
}

/// Takes a mapping away.
pub fn unmap(start: usize, bytes: usize) {
    // SAFETY: a mapping of the caller's.
    unsafe { libc::munmap(start as *mut c_void, bytes) };
}

/// Makes whole pages those of a file, with what is in them. Nobody writes there meanwhile.
pub fn give(start: usize, bytes: usize) -> Result<OwnedFd> {
    let file = make(bytes)?;
    let copy = map(file.as_raw_fd(), bytes, None)?;
    // SAFETY: both have so many bytes.
    unsafe { std::ptr::copy_nonoverlapping(start as *const u8, copy as *mut u8, bytes) };
    unmap(copy, bytes);
    map(file.as_raw_fd(), bytes, Some(start))?;
    Ok(file)
}

/// Makes such pages this process's own again; what is in them is lost.
pub fn take_back(start: usize, bytes: usize) {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: whole pages of memory that is being freed.
    unsafe { libc::mmap(start as *mut c_void, bytes, access, flags, -1, 0) };
}
