//! What each of AMD's chips offers to a kernel, and how fast a typical product of it is.
//!
//! A unit is what the waves of a block share: a compute unit before gfx10, from then on a work-group processor of two compute units, as
//! LLVM and HIP launch kernels there (not in "CU mode"). Its partitions are the four SIMDs.
//!
//! Sources of hard limits:
//! - registers, their granules, waves of a SIMD, barriers, shared memory of a unit: LLVM 22, `AMDGPUBaseInfo.cpp`, `IsaInfo`
//!   (`getTotalNumVGPRs`, `getVGPRAllocGranule`, `getTotalNumSGPRs`, `getMaxWavesPerEU`, `getEUsPerCU`, `getMaxWorkGroupsPerCU`,
//!   `getLocalMemorySize`); `tests/amdgpu_occupancy.rs` holds the rows against what LLVM prints. Scalar registers are given out
//!   in 16s, as `getMaxNumSGPRs` has it and the "Vega" and CDNA instruction set guides say; from gfx10 on each wave has all that it can name.
//! - granules of shared memory: the "CDNA 3" instruction set guide (512 bytes), LLVM's "User Guide for AMDGPU Backend",
//!   `GRANULATED_LDS_SIZE` (1280 on gfx950), Mesa's `ac_gpu_info.c`, `lds_alloc_granularity` (1024 from gfx1030 on). LLVM 22 counts
//!   without granules there.
//!
//! Products: compute units, memory, clocks (boost) and caches by AMD's data sheets and ROCm's table "AMD GPU specifications"; APUs with the
//! memory that their makers use most. Rates: the white papers "AMD CDNA 2" and "AMD CDNA 3" (vector units without packed or matrix
//! instructions), "RDNA Architecture" (2019), and peak figures of the data sheets, divided by units and clock. Latencies are round figures of
//! the order that public pointer-chasing tests report; nothing was measured here. All of this matters for ranking only.

use regrain_tuning::limits::{GpuLimits, ScalarRegisters};

const KIB: u32 = 1024;

/// Partitions of a unit.
const SIMDS: u32 = 4;

/// What a SIMD has: `registers` for each lane of a wave, given out in multiples of `granule`, and places for `waves`.
struct Simd {
    registers: u32,
    granule: u32,
    waves: u32,
}

/// `base` with other registers and waves. Blocks of one wave need no barrier, so that as many fit as waves do.
const fn with_simd(base: GpuLimits, simd: &Simd) -> GpuLimits {
    let of_unit = simd.registers * base.warp * SIMDS;
    GpuLimits {
        registers_per_unit: of_unit,
        registers_per_block: of_unit,
        register_granularity: simd.granule * base.warp,
        threads_per_unit: simd.waves * SIMDS * base.warp,
        blocks_per_unit: simd.waves * SIMDS,
        ..base
    }
}

/// `base` as a product of `units` at `clock` GHz, with `bandwidth` GB/s and `l2` KiB of second-level cache.
const fn product(
    base: GpuLimits,
    name: &'static str,
    product: &'static str,
    (units, clock, bandwidth, l2): (u32, f64, f64, u64),
) -> GpuLimits {
    GpuLimits { name, product, units, clock, bandwidth, l2: l2 << 10, ..base }
}

/// Vega; the others are told by what differs.
const GFX900: GpuLimits = GpuLimits {
    name: "gfx900",
    product: "Radeon Instinct MI25",
    warp: 64,
    threads_per_block: 1024,
    threads_per_unit: 10 * SIMDS * 64,
    blocks_per_unit: 10 * SIMDS,
    barriers_per_unit: 16,
    registers_per_unit: 256 * 64 * SIMDS,
    registers_per_block: 256 * 64 * SIMDS,
    registers_per_thread: 256,
    register_granularity: 4 * 64,
    partitions: SIMDS,
    scalar_registers: Some(ScalarRegisters { per_partition: 800, granularity: 16 }),
    shared_static: 64 * KIB,
    shared_opt_in: 64 * KIB,
    shared_per_unit: 64 * KIB,
    shared_reserved: 0,
    shared_granularity: 512,
    parameter_bytes: 4096,
    units: 64,
    blocks_per_clock: 1.0,
    clock: 1.5,
    bandwidth: 484.0,
    l2: 4 << 20,
    l2_rate: 64.0,
    fetch_bytes: 64.0,
    // One of the four SIMDs is served in a cycle, and begins at most one vector instruction; scalar ones go beside it.
    issue_rate: 1.0,
    f32_rate: 64.0,
    f64_rate: 4.0,
    integer_rate: 64.0,
    special_rate: 16.0,
    lsu_rate: 16.0,
    shared_rate: 32.0,
    arithmetic_latency: 4.0,
    shared_latency: 64.0,
    global_latency: 600.0,
    instruction_bytes: 8.0,
    instruction_cache: 32.0 * 1024.0,
    // Large, as the model was not measured against a GPU.
    margin: 0.1,
};

/// CDNA 2: vector registers and accumulators lie in one file of 512, double precision is as fast as single.
const GFX90A: GpuLimits = GpuLimits {
    registers_per_thread: 512,
    f64_rate: 64.0,
    ..product(
        with_simd(GFX900, &Simd { registers: 512, granule: 8, waves: 8 }),
        "gfx90a",
        "Instinct MI210",
        (104, 1.7, 1638.0, 8 << 10),
    )
};

/// CDNA 3: two instructions of single precision at once, lines of 128 bytes.
const GFX942: GpuLimits = GpuLimits {
    f32_rate: 128.0,
    lsu_rate: 32.0,
    fetch_bytes: 128.0,
    global_latency: 700.0,
    instruction_cache: 64.0 * 1024.0,
    ..product(GFX90A, "gfx942", "Instinct MI300X", (304, 2.1, 5300.0, 32 << 10))
};

/// CDNA 4: more shared memory.
const GFX950: GpuLimits = GpuLimits {
    shared_static: 160 * KIB,
    shared_opt_in: 160 * KIB,
    shared_per_unit: 160 * KIB,
    shared_granularity: 1280,
    ..product(GFX942, "gfx950", "Instinct MI355X", (256, 2.4, 8000.0, 32 << 10))
};

/// RDNA: waves of 32, pairs of compute units, scalar registers for all.
const GFX1010: GpuLimits = GpuLimits {
    barriers_per_unit: 32,
    scalar_registers: None,
    shared_per_unit: 128 * KIB,
    l2_rate: 64.0,
    fetch_bytes: 128.0,
    issue_rate: 4.0,
    f32_rate: 128.0,
    f64_rate: 8.0,
    integer_rate: 128.0,
    special_rate: 32.0,
    lsu_rate: 64.0,
    shared_rate: 64.0,
    arithmetic_latency: 5.0,
    global_latency: 500.0,
    ..product(
        with_simd(GpuLimits { warp: 32, ..GFX900 }, &Simd { registers: 1024, granule: 8, waves: 20 }),
        "gfx1010",
        "Radeon RX 5700 XT",
        (20, 1.905, 448.0, 4 << 10),
    )
};

/// RDNA 2: fewer waves, coarser granules.
const GFX1030: GpuLimits = GpuLimits {
    shared_granularity: KIB,
    ..product(
        with_simd(GFX1010, &Simd { registers: 1024, granule: 16, waves: 16 }),
        "gfx1030",
        "Radeon RX 6900 XT",
        (40, 2.25, 512.0, 4 << 10),
    )
};

/// RDNA 3: pairs of single-precision instructions issue as one; half the registers more on the larger chips.
const GFX1100: GpuLimits = GpuLimits {
    f32_rate: 256.0,
    ..product(
        with_simd(GFX1030, &Simd { registers: 1536, granule: 24, waves: 16 }),
        "gfx1100",
        "Radeon RX 7900 XTX",
        (48, 2.5, 960.0, 6 << 10),
    )
};

/// The smaller chips of RDNA 3.
const GFX1102: GpuLimits = product(
    GpuLimits { f32_rate: GFX1100.f32_rate, ..GFX1030 },
    "gfx1102",
    "Radeon RX 7600",
    (16, 2.655, 288.0, 2 << 10),
);

/// All chips, the oldest first.
pub const ALL: &[GpuLimits] = &[
    GFX900,
    product(GFX900, "gfx902", "Ryzen 5 2400G", (11, 1.25, 46.9, 1 << 10)),
    product(GFX900, "gfx904", "Radeon Pro Vega 20", (20, 1.3, 189.0, 1 << 10)),
    GpuLimits { f64_rate: 32.0, ..product(GFX900, "gfx906", "Instinct MI50", (60, 1.725, 1024.0, 4 << 10)) },
    // Accumulators lie in a file of their own, of the same size.
    GpuLimits { f64_rate: 32.0, ..product(GFX900, "gfx908", "Instinct MI100", (120, 1.502, 1229.0, 8 << 10)) },
    product(GFX900, "gfx909", "Ryzen 3 3200U", (3, 1.2, 38.4, 512)),
    GFX90A,
    product(GFX900, "gfx90c", "Ryzen 7 4800U", (8, 1.75, 68.3, 1 << 10)),
    GFX942,
    GFX950,
    GFX1010,
    product(GFX1010, "gfx1011", "Radeon Pro 5600M", (20, 1.03, 394.0, 4 << 10)),
    product(GFX1010, "gfx1012", "Radeon RX 5500 XT", (11, 1.845, 224.0, 2 << 10)),
    product(GFX1010, "gfx1013", "BC-250", (12, 1.5, 448.0, 4 << 10)),
    GFX1030,
    product(GFX1030, "gfx1031", "Radeon RX 6700 XT", (20, 2.581, 384.0, 3 << 10)),
    product(GFX1030, "gfx1032", "Radeon RX 6600 XT", (16, 2.589, 256.0, 2 << 10)),
    product(GFX1030, "gfx1033", "Steam Deck", (4, 1.6, 88.0, 1 << 10)),
    product(GFX1030, "gfx1034", "Radeon RX 6500 XT", (8, 2.815, 144.0, 1 << 10)),
    product(GFX1030, "gfx1035", "Radeon 680M", (6, 2.4, 102.4, 2 << 10)),
    product(GFX1030, "gfx1036", "Ryzen 9 7950X", (1, 2.2, 83.2, 256)),
    GFX1100,
    product(GFX1100, "gfx1101", "Radeon RX 7800 XT", (30, 2.43, 624.0, 4 << 10)),
    GFX1102,
    product(GFX1102, "gfx1103", "Radeon 780M", (6, 2.7, 120.0, 2 << 10)),
    product(GFX1102, "gfx1150", "Radeon 890M", (8, 2.9, 120.0, 2 << 10)),
    product(GFX1100, "gfx1151", "Radeon 8060S", (20, 2.9, 256.0, 2 << 10)),
    product(GFX1102, "gfx1152", "Radeon 860M", (4, 3.0, 128.0, 1 << 10)),
    product(GFX1102, "gfx1153", "Radeon 820M", (1, 2.8, 128.0, 512)),
    product(GFX1100, "gfx1200", "Radeon RX 9060 XT", (16, 3.13, 320.0, 4 << 10)),
    product(GFX1100, "gfx1201", "Radeon RX 9070 XT", (32, 2.97, 640.0, 8 << 10)),
];

/// The limits of a chip by its name, as in `gfx90a`; `None` for one that nothing is published of.
pub fn limits(chip: &str) -> Option<&'static GpuLimits> {
    ALL.iter().find(|limits| limits.name == chip)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(chip: &str) -> &'static GpuLimits {
        limits(chip).expect("a row")
    }

    #[test]
    fn chips_are_found_by_name() {
        assert_eq!(of("gfx90a").product, "Instinct MI210");
        assert!(limits("gfx90").is_none() && limits("sm_80").is_none());
        let mut names: Vec<&str> = ALL.iter().map(|limits| limits.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }

    /// Tera-operations per second by the data sheets: peak vector performance, a fused multiplication and addition being two.
    #[test]
    fn rates_give_the_peaks_of_the_data_sheets() {
        for (chip, f32, f64) in [
            ("gfx906", 13.3, 6.6),
            ("gfx908", 23.1, 11.5),
            ("gfx90a", 22.6, 22.6),
            ("gfx942", 163.4, 81.7),
            ("gfx950", 157.3, 78.6),
            ("gfx1010", 9.75, 0.609),
            ("gfx1030", 23.04, 1.44),
            ("gfx1100", 61.4, 1.92),
        ] {
            let limits = of(chip);
            for (rate, peak) in [(limits.f32_rate, f32), (limits.f64_rate, f64)] {
                let found = 2.0 * rate * limits.clock * f64::from(limits.units) / 1000.0;
                assert!((found / peak - 1.0f64).abs() < 0.01, "{chip}: {found} for {peak}");
            }
        }
    }

    /// Bytes of register files by ROCm's table: 256 KiB of vector registers of a compute unit before CDNA, 512 KiB with its accumulators.
    #[test]
    fn register_files_have_the_published_sizes() {
        for (chip, compute_units, kib) in
            [("gfx900", 1, 256), ("gfx90a", 1, 512), ("gfx942", 1, 512), ("gfx1030", 2, 256), ("gfx1100", 2, 384)]
        {
            assert_eq!(of(chip).registers_per_unit * 4 / compute_units, kib * KIB, "{chip}");
        }
        let scalar = of("gfx90a").scalar_registers.expect("given out to waves");
        assert_eq!(scalar.per_partition * SIMDS * 4, 12 * KIB + KIB / 2, "12.5 KiB");
    }
}
