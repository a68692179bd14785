//! How many blocks of a kernel a unit of a GPU holds at once.
//!
//! One calculation for all chips, in which they differ by data alone ([`GpuLimits`]): for NVIDIA's it gives what NVIDIA calculates
//! (`cuda_occupancy.h`), for AMD's what LLVM does (`AMDGPUSubtarget::getOccupancyWithWorkGroupSizes` and `IsaInfo`), rounded down to
//! whole blocks.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits::GpuLimits;

/// What a kernel takes of a unit, by the assembler's report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Registers of a thread: of all that one file holds, where accumulators lie in it too.
    pub registers: u32,
    /// Those of them that are accumulators of matrix instructions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub accumulators: u32,
    /// Registers of a warp.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub scalar_registers: u32,
    /// Bytes of instructions that store for want of registers, each counted once.
    pub spill_stores: u32,
    /// Bytes of instructions that load back.
    pub spill_loads: u32,
    /// Registers of a warp that had to be kept elsewhere.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub scalar_spills: u32,
    /// Bytes of stack of a thread (AMD's scratch).
    pub stack: u32,
    /// Bytes of static shared memory of a block.
    pub static_shared: u32,
    /// Bytes of dynamic shared memory of a block, as launched.
    pub dynamic_shared: u64,
}

/// For reports of chips that do not have what is counted.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
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

/// What keeps a unit from holding another block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limiter {
    /// Threads (warps).
    Warps,
    /// Blocks.
    Blocks,
    /// Registers.
    Registers,
    /// Registers of warps.
    ScalarRegisters,
    /// Shared memory.
    SharedMemory,
}

impl fmt::Display for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Warps => "threads",
            Self::Blocks => "blocks",
            Self::Registers => "registers",
            Self::ScalarRegisters => "scalar registers",
            Self::SharedMemory => "shared memory",
        })
    }
}

/// How full a unit gets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Occupancy {
    /// Blocks on a unit; 0 for a kernel that cannot be launched.
    pub blocks: u32,
    /// Warps on a unit.
    pub warps: u32,
    /// Warps by the most that it holds, 0 to 1.
    pub part: f64,
    /// What there is not more of.
    pub limiter: Limiter,
}

/// How full a unit gets with a kernel of `threads` per block that takes `resources`. Shared memory above what a block has without
/// asking counts as asked for.
pub fn occupancy(limits: &GpuLimits, threads: u32, resources: &Resources) -> Occupancy {
    let warps = threads.max(1).div_ceil(limits.warp);
    let by = [
        (
            Limiter::Warps,
            if threads > limits.threads_per_block { 0 } else { limits.threads_per_unit / limits.warp / warps },
        ),
        // One warp need not wait for another.
        (Limiter::Blocks, if warps == 1 { limits.blocks_per_unit } else { limits.barriers_per_unit }),
        (Limiter::Registers, by_registers(limits, warps, resources.registers)),
        (Limiter::ScalarRegisters, by_scalar_registers(limits, warps, resources.scalar_registers)),
        (Limiter::SharedMemory, by_shared(limits, resources.shared())),
    ];
    let (limiter, blocks) = by.into_iter().min_by_key(|(_, blocks)| *blocks).unwrap_or((Limiter::Warps, 0));
    let resident = blocks * warps;
    Occupancy {
        blocks,
        warps: resident,
        part: f64::from(resident * limits.warp) / f64::from(limits.threads_per_unit),
        limiter,
    }
}

fn by_registers(limits: &GpuLimits, warps: u32, registers: u32) -> u32 {
    let of_warp = (registers * limits.warp).next_multiple_of(limits.register_granularity);
    if of_warp == 0 {
        return u32::MAX;
    }
    // The hardware's check assumes that all partitions get equally many warps.
    let assumed = of_warp * warps.next_multiple_of(limits.partitions);
    if assumed > limits.registers_per_block || registers > limits.registers_per_thread + 1 {
        return 0;
    }
    let of_partition = limits.registers_per_unit / limits.partitions / of_warp;
    of_partition * limits.partitions / warps
}

fn by_scalar_registers(limits: &GpuLimits, warps: u32, registers: u32) -> u32 {
    match limits.scalar_registers {
        Some(file) if registers > 0 => {
            file.per_partition / registers.next_multiple_of(file.granularity) * limits.partitions / warps
        }
        _ => u32::MAX,
    }
}

fn by_shared(limits: &GpuLimits, shared: u64) -> u32 {
    let taken = (shared + u64::from(limits.shared_reserved)).next_multiple_of(limits.shared_granularity.into());
    let most = u64::from(limits.shared_opt_in + limits.shared_reserved);
    match taken {
        0 => u32::MAX,
        _ if taken > most => 0,
        _ => u32::try_from(u64::from(limits.shared_per_unit) / taken).unwrap_or(u32::MAX),
    }
}

/// The most registers of a thread with which a block of `threads` can be launched.
pub fn registers_for(limits: &GpuLimits, threads: u32) -> u32 {
    let warps = threads.max(1).div_ceil(limits.warp).next_multiple_of(limits.partitions);
    let of_warp = limits.registers_per_block / warps / limits.register_granularity * limits.register_granularity;
    (of_warp / limits.warp).min(limits.registers_per_thread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{SAMPLE, ScalarRegisters};

    fn of(limits: &GpuLimits, threads: u32, resources: Resources) -> (u32, u32, Limiter) {
        let found = occupancy(limits, threads, &resources);
        (found.blocks, found.warps, found.limiter)
    }

    fn taking(registers: u32, dynamic_shared: u64) -> Resources {
        Resources { registers, dynamic_shared, ..Resources::default() }
    }

    #[test]
    fn what_there_is_least_of_limits() {
        let of = |threads, registers, shared| of(&SAMPLE, threads, taking(registers, shared));
        assert_eq!(of(256, 32, 0), (8, 64, Limiter::Warps));
        assert_eq!(of(256, 33, 0), (6, 48, Limiter::Registers));
        assert_eq!(of(32, 16, 0), (32, 32, Limiter::Blocks));
        assert_eq!(of(256, 32, 48 * 1024), (3, 24, Limiter::SharedMemory));
        assert_eq!(of(256, 32, 164 * 1024), (0, 0, Limiter::SharedMemory));
    }

    #[test]
    fn warps_of_another_width() {
        let wide = GpuLimits { warp: 64, ..SAMPLE };
        assert_eq!(of(&wide, 256, taking(32, 0)), (8, 32, Limiter::Warps));
        assert_eq!(registers_for(&wide, 1024), 64);
    }

    #[test]
    fn barriers_limit_blocks_of_several_warps_alone() {
        let few = GpuLimits { blocks_per_unit: 64, barriers_per_unit: 16, ..SAMPLE };
        assert_eq!(of(&few, 32, taking(16, 0)), (64, 64, Limiter::Warps));
        assert_eq!(of(&few, 64, taking(16, 0)), (16, 32, Limiter::Blocks));
    }

    #[test]
    fn registers_of_warps_limit_where_they_are_given_out() {
        let file = ScalarRegisters { per_partition: 800, granularity: 16 };
        let limits = GpuLimits { scalar_registers: Some(file), ..SAMPLE };
        let taking = |scalar_registers| Resources { scalar_registers, ..taking(16, 0) };
        assert_eq!(of(&limits, 128, taking(48)), (16, 64, Limiter::Warps));
        assert_eq!(of(&limits, 128, taking(100)), (7, 28, Limiter::ScalarRegisters));
        assert_eq!(of(&SAMPLE, 128, taking(100)), (16, 64, Limiter::Warps));
    }

    #[test]
    fn reports_of_chips_without_registers_of_warps_do_not_name_them() {
        let text = serde_json::to_string(&taking(7, 0)).expect("JSON");
        assert_eq!(
            text,
            r#"{"registers":7,"spill_stores":0,"spill_loads":0,"stack":0,"static_shared":0,"dynamic_shared":0}"#
        );
        let all = Resources { accumulators: 4, scalar_registers: 20, scalar_spills: 1, ..taking(7, 0) };
        let text = serde_json::to_string(&all).expect("JSON");
        assert_eq!(serde_json::from_str::<Resources>(&text).expect("resources"), all);
    }
}
