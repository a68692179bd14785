//! How many blocks of a kernel a multiprocessor holds at once, as NVIDIA's occupancy calculation gives it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits::{Limits, WARP};

/// What a kernel takes of a multiprocessor, by the assembler's report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of instructions that store for want of registers, each counted once.
    pub spill_stores: u32,
    /// Bytes of instructions that load back.
    pub spill_loads: u32,
    /// Bytes of stack of a thread.
    pub stack: u32,
    /// Bytes of static shared memory of a block.
    pub static_shared: u32,
    /// Bytes of dynamic shared memory of a block, as launched.
    pub dynamic_shared: u64,
}

impl Resources {
    /// Bytes of shared memory of a block.
    pub fn shared(&self) -> u64 {
        u64::from(self.static_shared) + self.dynamic_shared
    }

    /// Bytes of instructions for want of registers.
    pub fn spills(&self) -> u32 {
        self.spill_stores + self.spill_loads
    }
}

/// What keeps a multiprocessor from holding another block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limiter {
    /// Threads (warps).
    Warps,
    /// Blocks.
    Blocks,
    /// Registers.
    Registers,
    /// Shared memory.
    SharedMemory,
}

impl fmt::Display for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Warps => "threads",
            Self::Blocks => "blocks",
            Self::Registers => "registers",
            Self::SharedMemory => "shared memory",
        })
    }
}

/// How full a multiprocessor gets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Occupancy {
    /// Blocks on a multiprocessor; 0 for a kernel that cannot be launched.
    pub blocks: u32,
    /// Warps on a multiprocessor.
    pub warps: u32,
    /// Warps by the most that it holds, 0 to 1.
    pub part: f64,
    /// What there is not more of.
    pub limiter: Limiter,
}

/// How full a multiprocessor gets with a kernel of `threads` per block, `registers` per thread and `shared` bytes (static and
/// dynamic) per block. Shared memory above 48 KiB counts as asked for.
pub fn occupancy(limits: &Limits, threads: u32, registers: u32, shared: u64) -> Occupancy {
    let warps = threads.max(1).div_ceil(WARP);
    let by = [
        (Limiter::Warps, if threads > limits.threads_per_block { 0 } else { limits.threads_per_sm / WARP / warps }),
        (Limiter::Blocks, limits.blocks_per_sm),
        (Limiter::Registers, by_registers(limits, warps, registers)),
        (Limiter::SharedMemory, by_shared(limits, shared)),
    ];
    let (limiter, blocks) = by.into_iter().min_by_key(|(_, blocks)| *blocks).unwrap_or((Limiter::Warps, 0));
    let resident = blocks * warps;
    Occupancy { blocks, warps: resident, part: f64::from(resident * WARP) / f64::from(limits.threads_per_sm), limiter }
}

fn by_registers(limits: &Limits, warps: u32, registers: u32) -> u32 {
    let of_warp = (registers * WARP).next_multiple_of(limits.register_unit);
    if of_warp == 0 {
        return u32::MAX;
    }
    // The hardware's check assumes that all partitions get equally many warps.
    let assumed = of_warp * warps.next_multiple_of(limits.partitions);
    if assumed > limits.registers_per_block || registers > limits.registers_per_thread + 1 {
        return 0;
    }
    let of_partition = limits.registers_per_sm / limits.partitions / of_warp;
    of_partition * limits.partitions / warps
}

fn by_shared(limits: &Limits, shared: u64) -> u32 {
    let taken = (shared + u64::from(limits.shared_reserved)).next_multiple_of(limits.shared_unit.into());
    let most = u64::from(limits.shared_opt_in + limits.shared_reserved);
    match taken {
        0 => u32::MAX,
        _ if taken > most => 0,
        _ => u32::try_from(u64::from(limits.shared_per_sm) / taken).unwrap_or(u32::MAX),
    }
}

/// The most registers of a thread with which a block of `threads` can be launched.
pub fn registers_for(limits: &Limits, threads: u32) -> u32 {
    let warps = threads.max(1).div_ceil(WARP).next_multiple_of(limits.partitions);
    let of_warp = limits.registers_per_block / warps / limits.register_unit * limits.register_unit;
    (of_warp / WARP).min(limits.registers_per_thread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::limits;

    fn of(arch: &str, threads: u32, registers: u32, shared: u64) -> (u32, u32, Limiter) {
        let found = occupancy(limits(arch), threads, registers, shared);
        (found.blocks, found.warps, found.limiter)
    }

    /// Values of `cuda_occupancy.h` (release 12.9).
    #[test]
    fn as_nvidia_calculates() {
        assert_eq!(of("sm_80", 256, 32, 0), (8, 64, Limiter::Warps));
        assert_eq!(of("sm_80", 256, 33, 0), (6, 48, Limiter::Registers));
        assert_eq!(of("sm_80", 256, 64, 0), (4, 32, Limiter::Registers));
        assert_eq!(of("sm_80", 32, 16, 0), (32, 32, Limiter::Blocks));
        assert_eq!(of("sm_80", 256, 32, 48 * 1024), (3, 24, Limiter::SharedMemory));
        assert_eq!(of("sm_80", 256, 32, 163 * 1024), (1, 8, Limiter::SharedMemory));
        assert_eq!(of("sm_80", 256, 32, 164 * 1024), (0, 0, Limiter::SharedMemory));
        assert_eq!(of("sm_86", 256, 32, 0), (6, 48, Limiter::Warps));
        assert_eq!(of("sm_86", 1024, 64, 0), (1, 32, Limiter::Warps));
        assert_eq!(of("sm_75", 256, 32, 16 * 1024), (4, 32, Limiter::Warps));
        assert_eq!(of("sm_90", 128, 255, 0), (2, 8, Limiter::Registers));
        assert_eq!(of("sm_90", 1024, 65, 0), (0, 0, Limiter::Registers));
        assert_eq!(of("sm_70", 256, 32, 96 * 1024), (1, 8, Limiter::SharedMemory));
    }

    #[test]
    fn registers_fit_the_block() {
        for threads in [1, 32, 96, 128, 256, 500, 512, 768, 1024] {
            for limits in &crate::limits::ALL {
                let most = registers_for(limits, threads);
                assert!(occupancy(limits, threads, most, 0).blocks > 0, "{} {threads} {most}", limits.arch);
                assert!(
                    most == 255 || occupancy(limits, threads, most + 1, 0).blocks == 0,
                    "{} {threads} {most}",
                    limits.arch
                );
            }
        }
    }
}
