//! Pages of memory, as the system hands them out.

use std::ffi::c_void;
use std::sync::OnceLock;

/// Accesses so far apart look the same to a core that compares a load with the stores before it, which looks at the low bits of addresses alone.
pub const ALIKE: usize = 4096;

/// Bytes of a page, a power of two.
pub fn size() -> usize {
    static SIZE: OnceLock<usize> = OnceLock::new();
    *SIZE.get_or_init(|| {
        // SAFETY: `sysconf` without preconditions.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(size).ok().filter(|size| size.is_power_of_two()).unwrap_or(4096)
    })
}

/// Gives whole pages of a range back to the system: where they begin and end, both at the end of the range where there are none. What is read there next
/// is 0.
///
/// # Safety
/// The range is of one private mapping, and nobody uses what is in it any more.
pub unsafe fn drop_whole(start: usize, bytes: usize) -> (usize, usize) {
    let (first, last) = (start.next_multiple_of(size()), (start + bytes) / size() * size());
    if first >= last {
        return (start + bytes, start + bytes);
    }
    // SAFETY: whole pages of the mapping, by contract.
    unsafe { libc::madvise(first as *mut c_void, last - first, libc::MADV_DONTNEED) };
    (first, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_pages_are_dropped_and_no_more() {
        let bytes = vec![1u8; 3 * size()];
        let (start, end) = (bytes.as_ptr() as usize, bytes.as_ptr() as usize + bytes.len());
        // SAFETY: the vector's own memory; heap memory is private.
        let (first, last) = unsafe { drop_whole(start + 1, bytes.len() - 1) };
        assert!(first > start && last <= end && last - first >= size());
        bytes.iter().enumerate().for_each(|(at, byte)| {
            let dropped = (first..last).contains(&(start + at));
            assert_eq!(*byte, u8::from(!dropped));
        });
        // SAFETY: no page is inside.
        assert_eq!(unsafe { drop_whole(1, 10) }, (11, 11));
    }
}
