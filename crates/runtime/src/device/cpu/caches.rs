//! How large the caches are, and what goes past them.
//!
//! A launch that stores more than the last cache holds leaves nothing there for whoever reads it in the same order: its stores go past the
//! caches, in whole lines that are not read from memory first (`mlir-bridge/cpp/streams.cpp` makes them).

use std::sync::OnceLock;

/// Bytes of the last cache, of the level that all processors share where there is one.
pub fn last_cache() -> u64 {
    static SIZE: OnceLock<u64> = OnceLock::new();
    *SIZE.get_or_init(|| {
        // SAFETY: `sysconf` without preconditions.
        let sizes = unsafe { [libc::sysconf(libc::_SC_LEVEL3_CACHE_SIZE), libc::sysconf(libc::_SC_LEVEL2_CACHE_SIZE)] };
        sizes.into_iter().find(|size| *size > 0).map_or(1 << 20, |size| size.cast_unsigned())
    })
}

/// What a launch has to store for its stores to go past the caches: `REGRAIN_CPU_STREAM_BYTES`, else what is left of the last cache beside what is
/// read, as the C library has it for copies.
fn most_kept() -> u64 {
    static MOST: OnceLock<u64> = OnceLock::new();
    *MOST.get_or_init(|| match std::env::var("REGRAIN_CPU_STREAM_BYTES") {
        Err(_) => last_cache() / 4 * 3,
        Ok(text) => text.trim().parse().unwrap_or_else(|_| {
            let size = last_cache() / 4 * 3;
            eprintln!(
                "regrain runtime: warning: expected REGRAIN_CPU_STREAM_BYTES to be a number of bytes, got '{text}'; \
                 it is {size}"
            );
            size
        }),
    })
}

/// From how many bytes of each thread on the stores of `threads` go past the caches.
pub fn streams_from(threads: u64) -> u32 {
    most_kept().div_ceil(threads.max(1)).clamp(1, u32::MAX.into()) as u32
}

/// Waits until what went past the caches is where other processors see it; a store after this says so.
pub fn settle() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: an instruction of every x86-64 processor, without operands.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
