//! How large the caches are, and what goes past them.
//!
//! A launch that stores more than the last cache holds leaves nothing there for whoever reads it in the same order: its stores go past the
//! caches, in whole lines that are not read from memory first (`mlir-bridge/cpp/streams.cpp` makes them). A kernel that is not bound by memory gains
//! nothing by it and waits for its stores instead, so the first launches of a kernel go both ways in turn, and the others go the faster one.

use std::sync::{Mutex, OnceLock, PoisonError};

/// Bytes of the last cache, of the level that all processors share where there is one.
pub fn last_cache() -> u64 {
    static SIZE: OnceLock<u64> = OnceLock::new();
    *SIZE.get_or_init(|| listed().or_else(configured).unwrap_or(1 << 20))
}

/// As Linux lists it: the highest level of the first processor. The C library counts the caches of AMD's processors together.
fn listed() -> Option<u64> {
    let read = |index: u32, what: &str| {
        let text = std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{what}")).ok()?;
        Some(text.trim().to_owned())
    };
    let cache = |index| {
        let size = read(index, "size")?;
        let (number, unit) = size.split_at(size.trim_end_matches(|letter: char| letter.is_alphabetic()).len());
        let unit = match unit {
            "K" => 1 << 10,
            "M" => 1 << 20,
            "" => 1,
            _ => return None,
        };
        Some((read(index, "level")?.parse::<u32>().ok()?, number.parse::<u64>().ok()? * unit))
    };
    (0..8).filter_map(cache).max_by_key(|(level, _)| *level).map(|(_, size)| size).filter(|size| *size > 0)
}

/// As the C library has it.
fn configured() -> Option<u64> {
    // SAFETY: `sysconf` without preconditions.
    let sizes = unsafe { [libc::sysconf(libc::_SC_LEVEL3_CACHE_SIZE), libc::sysconf(libc::_SC_LEVEL2_CACHE_SIZE)] };
    sizes.into_iter().find(|size| *size > 0).map(|size| size.cast_unsigned())
}

/// What a launch has to store for its stores to go past the caches: `REGRAIN_CPU_STREAM_BYTES`, else what is left of the last cache beside what is
/// read, as the C library has it for copies.
fn most_kept() -> u64 {
    static MOST: OnceLock<u64> = OnceLock::new();
    *MOST.get_or_init(|| {
        let usual = last_cache() / 4 * 3;
        let Ok(text) = std::env::var("REGRAIN_CPU_STREAM_BYTES") else { return usual };
        text.trim().parse().unwrap_or_else(|_| {
            eprintln!(
                "regrain runtime: warning: expected REGRAIN_CPU_STREAM_BYTES to be a number of bytes, got '{text}'; \
                 it is {usual}"
            );
            usual
        })
    })
}

/// The most bytes that a thread is thought to store.
const LARGEST: u64 = 1 << 12;

/// From how many bytes of each thread on the stores of `threads` go past the caches; `None` where that is more than a kernel stores.
pub fn streams_from(threads: u64) -> Option<u32> {
    let bytes = most_kept().div_ceil(threads.max(1)).max(1);
    (bytes <= LARGEST).then_some(bytes as u32)
}

/// How a kernel's large launches have done, by how many threads they had.
#[derive(Default)]
pub struct Ways(Mutex<Vec<Way>>);

/// Launches of as many threads, within a factor of two.
struct Way {
    size: u32,
    launches: u32,
    /// The least time of a thread in 1/1024 nanoseconds, of launches that stored through the caches and past them.
    least: [u64; 2],
}

/// Launches that are tried: the first meets memory that nobody has touched, and counts little.
const TRIED: u32 = 5;

impl Ways {
    fn with<T>(&self, threads: u64, ask: impl FnOnce(&mut Way) -> T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let size = threads.max(1).ilog2();
        let at = all.iter().position(|way| way.size == size).unwrap_or_else(|| {
            all.push(Way { size, launches: 0, least: [u64::MAX; 2] });
            all.len() - 1
        });
        ask(&mut all[at])
    }

    /// Whether the next launch of `threads` threads stores past the caches.
    pub fn next(&self, threads: u64) -> bool {
        self.with(threads, |way| {
            way.launches = way.launches.saturating_add(1);
            if way.launches <= TRIED { way.launches % 2 == 1 } else { way.least[1] <= way.least[0] }
        })
    }

    /// Takes note of a launch that took so many nanoseconds.
    pub fn learn(&self, threads: u64, past: bool, nanoseconds: u64) {
        let time = nanoseconds.saturating_mul(1024) / threads.max(1);
        self.with(threads, |way| way.least[usize::from(past)] = way.least[usize::from(past)].min(time));
    }
}

/// Waits until what went past the caches is where other processors see it; a store after this says so.
pub fn settle() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: an instruction of every x86-64 processor, without operands.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which ways ten launches go whose times are these.
    fn ways(through: u64, past: u64) -> Vec<bool> {
        let all = Ways::default();
        let launch = |_| {
            let way = all.next(1000);
            all.learn(1000, way, if way { past } else { through });
            way
        };
        (0..10).map(launch).collect()
    }

    #[test]
    fn the_faster_way_is_found() {
        let tried = [true, false, true, false, true];
        assert_eq!(ways(10, 20), [&tried[..], &[false; 5]].concat());
        assert_eq!(ways(20, 10), [&tried[..], &[true; 5]].concat());
    }

    #[test]
    fn each_size_has_its_own() {
        let all = Ways::default();
        let first = |threads| (0..2).map(|_| all.next(threads)).collect::<Vec<_>>();
        assert_eq!(first(1 << 20), [true, false]);
        assert_eq!(first(1 << 22), [true, false]);
        assert!(all.next((1 << 20) + 5));
    }
}
