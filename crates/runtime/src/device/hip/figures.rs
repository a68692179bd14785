//! `cudaDeviceAttr` in HIP's numbers.
//!
//! The numbers of `hipDeviceAttribute_t` are the same in ROCm 5, 6 and 7 (`include/hip/hip_runtime_api.h`, see the
//! module's head); some came later than 5.0, and some names for AMD GPUs alone went away in 6, none of which is used.

/// Where the value of an attribute comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// HIP's attribute of this number.
    Asked(u32),
    /// HIP's attribute of this number, as far as CUDA's GPUs go: programs see the limits that they were written for,
    /// and launches that CUDA refuses are refused.
    AtMost(u32, u32),
    /// HIP's attribute of this number; the value where this version of HIP does not know it.
    Known(u32, i32),
    /// The same on every AMD GPU, or not HIP's to tell.
    Fixed(i32),
    /// Of the architecture that the source was compiled for.
    Major,
    /// See `Major`.
    Minor,
}

use Source::{Asked, AtMost, Fixed, Known, Major, Minor};

/// (CUDA's attribute, HIP's)
const TABLE: [(u32, Source); 62] = [
    (1, AtMost(56, 1024)),        // threads of a block
    (2, AtMost(26, 1024)),        // block, x
    (3, AtMost(27, 1024)),        // block, y
    (4, AtMost(28, 64)),          // block, z
    (5, AtMost(29, 0x7fff_ffff)), // grid, x
    (6, AtMost(30, 65_535)),      // grid, y
    (7, AtMost(31, 65_535)),      // grid, z
    (8, AtMost(74, 49_152)),      // shared memory of a block, without opting in
    (9, Fixed(65_536)),           // constant memory: what a program may have, of what HIP takes for larger
    (10, Fixed(32)),              // warp: compiled code keeps CUDA's 32 threads, also where a wave has 64 lanes
    (11, Asked(58)),              // pitch
    (12, Asked(71)),              // registers of a block
    (13, Asked(5)),               // clock, kHz
    (14, Asked(81)),              // alignment of textures
    (15, Known(12, 1)),           // copies beside kernels
    (16, Asked(63)),              // multiprocessors: compute units
    (17, Asked(18)),              // time limit of kernels
    (18, Asked(16)),              // integrated
    (19, Asked(3)),               // maps host memory
    (20, Asked(6)),               // compute mode
    (21, Asked(39)),              // texture 1D
    (22, Asked(43)),              // texture 2D, width
    (23, Asked(44)),              // texture 2D, height
    (24, Asked(49)),              // texture 3D, width
    (25, Asked(50)),              // texture 3D, height
    (26, Asked(51)),              // texture 3D, depth
    (30, Known(79, 0)),           // alignment of surfaces
    (31, Asked(8)),               // kernels beside one another
    (32, Asked(0)),               // ECC
    (33, Asked(67)),              // PCI bus
    (34, Asked(68)),              // PCI device
    (36, Asked(60)),              // clock of memory, kHz
    (37, Asked(59)),              // bus of memory, bits
    (38, Asked(19)),              // second-level cache
    (39, Asked(57)),              // threads of a multiprocessor
    (40, Known(2, 0)),            // engines for copies
    (41, Known(85, 1)),           // one address space
    (50, Known(69, 0)),           // PCI domain
    (51, Asked(82)),              // pitch of textures
    (69, Known(41, 0)),           // texture 1D, linear
    (75, Major),                  // version of the architecture
    (76, Minor),
    (78, Known(78, 1)),  // priorities of streams
    (79, Known(14, 0)),  // first-level cache of global memory
    (80, Known(20, 0)),  // first-level cache of local memory
    (81, Asked(10002)),  // shared memory of a multiprocessor
    (82, Known(72, 0)),  // registers of a multiprocessor
    (83, Asked(24)),     // managed memory
    (84, Known(17, 0)),  // several GPUs on a board
    (86, Known(15, 0)),  // atomics with the host
    (88, Known(65, 0)),  // pageable memory
    (89, Known(9, 0)),   // managed memory beside the host
    (90, Known(7, 0)),   // pre-emption
    (91, Known(4, 0)),   // host pointers of registered memory
    (95, Asked(10)),     // cooperative launches
    (96, Fixed(0)),      // cooperative launches on several GPUs: not in this runtime
    (97, Asked(74)),     // shared memory of a block, by opting in: all there is
    (99, Fixed(1)),      // registering host memory
    (100, Known(66, 0)), // pageable memory by the host's page tables
    (101, Known(13, 0)), // managed memory without migration
    (106, Known(25, 0)), // blocks of a multiprocessor
    (115, Known(88, 0)), // memory pools
];

/// Attributes that CUDA knows up to this number; what is not in the table is a feature that is not there.
const LAST: u32 = 143;

/// Where an attribute comes from; nothing for a number that CUDA does not know.
pub fn source(which: u32) -> Option<Source> {
    let known = TABLE.binary_search_by_key(&which, |entry| entry.0).map(|at| TABLE[at].1);
    known.ok().or_else(|| (1..=LAST).contains(&which).then_some(Fixed(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_what_is_not_in_it_is_no_feature() {
        assert!(TABLE.is_sorted_by_key(|entry| entry.0));
        assert_eq!(source(10), Some(Fixed(32)));
        assert_eq!(source(16), Some(Asked(63)));
        assert_eq!(source(120), Some(Fixed(0)));
        assert_eq!((source(0), source(LAST + 1)), (None, None));
    }
}
