//! What each of NVIDIA's architectures offers to a kernel, and how fast a typical product of it is.
//!
//! Hard limits are those of the CUDA C++ Programming Guide (releases 12.9 and 13.0, appendix "Compute Capabilities", table
//! "Technical Specifications per Compute Capability") and of NVIDIA's occupancy calculation (`cuda_occupancy.h`).
//! Throughputs are the guide's "Throughput of Native Arithmetic Instructions". Products are named; their clocks and
//! bandwidths are NVIDIA's data sheets' and matter for ranking only. Latencies are rounded from Z. Jia et al., *Dissecting
//! the NVIDIA Volta GPU Architecture via Microbenchmarking* (2018) and later measurements of the same kind.

use regrain_tuning::limits::GpuLimits;

use crate::Error;
use crate::toolkit::SmArch;

const KIB: u32 = 1024;

/// Volta; the others are told by what differs.
const SM_70: GpuLimits = GpuLimits {
    name: "sm_70",
    product: "V100 SXM2",
    warp: 32,
    threads_per_block: 1024,
    threads_per_unit: 2048,
    blocks_per_unit: 32,
    barriers_per_unit: 32,
    registers_per_unit: 65536,
    registers_per_block: 65536,
    registers_per_thread: 255,
    register_granularity: 256,
    partitions: 4,
    scalar_registers: None,
    shared_static: 48 * KIB,
    shared_opt_in: 96 * KIB,
    shared_per_unit: 96 * KIB,
    shared_reserved: 0,
    shared_granularity: 256,
    parameter_bytes: 4096,
    units: 80,
    // Measured on an H200: empty blocks, and those of a few loads and stores, of 32 to 256 threads.
    blocks_per_clock: 0.83,
    clock: 1.53,
    bandwidth: 900.0,
    l2: 6 << 20,
    l2_rate: 64.0,
    fetch_bytes: 32.0,
    issue_rate: 4.0,
    f32_rate: 64.0,
    f64_rate: 32.0,
    integer_rate: 64.0,
    special_rate: 16.0,
    lsu_rate: 32.0,
    shared_rate: 32.0,
    arithmetic_latency: 4.0,
    shared_latency: 24.0,
    global_latency: 420.0,
    instruction_bytes: 16.0,
    instruction_cache: 128.0 * 1024.0,
    // Of kernels of programs of others on an H200, none that was taken with it was much slower than the original (rodinia/README.md).
    margin: 0.1,
};

/// From Ampere on the system takes 1 KiB of each block's shared memory, and gives it in smaller units.
const SM_80: GpuLimits = GpuLimits {
    name: "sm_80",
    product: "A100 SXM4 40GB",
    shared_opt_in: 163 * KIB,
    shared_per_unit: 164 * KIB,
    shared_reserved: KIB,
    shared_granularity: 128,
    units: 108,
    clock: 1.41,
    bandwidth: 1555.0,
    l2: 40 << 20,
    global_latency: 470.0,
    ..SM_70
};

const SM_86: GpuLimits = GpuLimits {
    name: "sm_86",
    product: "A40",
    threads_per_unit: 1536,
    blocks_per_unit: 16,
    barriers_per_unit: 16,
    shared_opt_in: 99 * KIB,
    shared_per_unit: 100 * KIB,
    units: 84,
    clock: 1.74,
    bandwidth: 696.0,
    l2: 6 << 20,
    f32_rate: 128.0,
    f64_rate: 2.0,
    ..SM_80
};

const SM_90: GpuLimits = GpuLimits {
    name: "sm_90",
    product: "H100 SXM5",
    shared_opt_in: 227 * KIB,
    shared_per_unit: 228 * KIB,
    units: 132,
    clock: 1.98,
    bandwidth: 3350.0,
    l2: 50 << 20,
    f32_rate: 128.0,
    f64_rate: 64.0,
    global_latency: 560.0,
    ..SM_80
};

/// Maxwell and Pascal: a block may have no more shared memory than any other, arithmetic takes longer.
const SM_50: GpuLimits = GpuLimits {
    name: "sm_50",
    product: "GeForce GTX 750 Ti",
    shared_opt_in: 48 * KIB,
    shared_per_unit: 64 * KIB,
    units: 5,
    clock: 1.085,
    bandwidth: 86.4,
    l2: 2 << 20,
    f32_rate: 128.0,
    f64_rate: 4.0,
    integer_rate: 128.0,
    special_rate: 32.0,
    arithmetic_latency: 6.0,
    global_latency: 370.0,
    ..SM_70
};

/// Thor, which the guide's release 13.0 calls 11.0.
const SM_101: GpuLimits = GpuLimits {
    name: "sm_101",
    product: "Jetson AGX Thor",
    threads_per_unit: 1536,
    blocks_per_unit: 24,
    barriers_per_unit: 24,
    units: 20,
    clock: 1.57,
    bandwidth: 273.0,
    l2: 32 << 20,
    f64_rate: 2.0,
    ..SM_90
};

const SM_120: GpuLimits = GpuLimits {
    name: "sm_120",
    product: "GeForce RTX 5090",
    blocks_per_unit: 24,
    barriers_per_unit: 24,
    units: 170,
    clock: 2.41,
    bandwidth: 1792.0,
    l2: 96 << 20,
    integer_rate: 128.0,
    ..SM_86
};

/// All architectures, the oldest first.
pub const ALL: &[GpuLimits] = &[
    SM_50,
    GpuLimits {
        name: "sm_52",
        product: "Tesla M40",
        shared_per_unit: 96 * KIB,
        units: 24,
        clock: 1.114,
        bandwidth: 288.0,
        l2: 3 << 20,
        ..SM_50
    },
    GpuLimits {
        name: "sm_53",
        product: "Jetson TX1",
        registers_per_block: 32768,
        units: 2,
        clock: 0.998,
        bandwidth: 25.6,
        l2: 256 << 10,
        ..SM_50
    },
    GpuLimits {
        name: "sm_60",
        product: "P100 SXM2",
        partitions: 2,
        issue_rate: 2.0,
        units: 56,
        clock: 1.48,
        bandwidth: 732.0,
        l2: 4 << 20,
        f32_rate: 64.0,
        f64_rate: 32.0,
        integer_rate: 64.0,
        special_rate: 16.0,
        lsu_rate: 16.0,
        shared_rate: 16.0,
        global_latency: 470.0,
        ..SM_50
    },
    GpuLimits {
        name: "sm_61",
        product: "P40",
        shared_per_unit: 96 * KIB,
        units: 30,
        clock: 1.531,
        bandwidth: 346.0,
        l2: 3 << 20,
        global_latency: 470.0,
        ..SM_50
    },
    GpuLimits {
        name: "sm_62",
        product: "Jetson TX2",
        registers_per_block: 32768,
        units: 2,
        clock: 1.3,
        bandwidth: 59.7,
        l2: 512 << 10,
        global_latency: 470.0,
        ..SM_50
    },
    SM_70,
    GpuLimits {
        name: "sm_72",
        product: "Jetson AGX Xavier",
        units: 8,
        clock: 1.38,
        bandwidth: 137.0,
        l2: 512 << 10,
        ..SM_70
    },
    GpuLimits {
        name: "sm_75",
        product: "T4",
        threads_per_unit: 1024,
        blocks_per_unit: 16,
        barriers_per_unit: 16,
        shared_opt_in: 64 * KIB,
        shared_per_unit: 64 * KIB,
        units: 40,
        clock: 1.59,
        bandwidth: 320.0,
        l2: 4 << 20,
        f64_rate: 2.0,
        ..SM_70
    },
    SM_80,
    SM_86,
    GpuLimits {
        name: "sm_87",
        product: "Jetson AGX Orin",
        shared_opt_in: 163 * KIB,
        shared_per_unit: 164 * KIB,
        units: 16,
        clock: 1.3,
        bandwidth: 204.8,
        l2: 4 << 20,
        ..SM_86
    },
    GpuLimits {
        name: "sm_89",
        product: "L40S",
        blocks_per_unit: 24,
        barriers_per_unit: 24,
        units: 142,
        clock: 2.52,
        bandwidth: 864.0,
        l2: 96 << 20,
        ..SM_86
    },
    SM_90,
    GpuLimits { name: "sm_100", product: "B200", units: 148, clock: 1.96, bandwidth: 8000.0, l2: 126 << 20, ..SM_90 },
    SM_101,
    GpuLimits {
        name: "sm_103",
        product: "B300",
        units: 148,
        clock: 1.92,
        bandwidth: 8000.0,
        l2: 126 << 20,
        f64_rate: 2.0,
        ..SM_90
    },
    GpuLimits { name: "sm_110", ..SM_101 },
    SM_120,
    GpuLimits { name: "sm_121", product: "DGX Spark", units: 48, bandwidth: 273.0, l2: 24 << 20, ..SM_120 },
];

/// The limits of an architecture.
pub fn limits(arch: SmArch) -> Result<&'static GpuLimits, Error> {
    let name = SmArch { specific: false, ..arch }.to_string();
    let unknown = || Error::User(format!("unsupported CUDA gpu architecture: {arch}"));
    ALL.iter().find(|limits| limits.name == name).ok_or_else(unknown)
}

/// Bytes of shared memory that a block may ask for on every chip that runs code for `archs`: the newest one's PTX is
/// assembled for later chips too, unless it is for the features of that chip alone (`sm_90a`).
pub fn shared_opt_in_everywhere(archs: &[SmArch]) -> Result<u32, Error> {
    let mut least = None;
    for arch in archs {
        let first = limits(*arch)?;
        let later = ALL.iter().skip_while(|limits| limits.name != first.name);
        let able = later.take(if arch.specific { 1 } else { ALL.len() }).map(|limits| limits.shared_opt_in);
        least = able.chain(least).min();
    }
    Ok(least.unwrap_or(SM_70.shared_static))
}

#[cfg(test)]
mod tests {
    use regrain_tuning::occupancy::{Limiter, Resources, occupancy, registers_for};

    use super::*;

    fn of(arch: &str) -> &'static GpuLimits {
        limits(SmArch::parse(arch).expect("a known chip")).expect("a row for each chip")
    }

    #[test]
    fn every_chip_has_a_row_and_every_row_a_chip() {
        let chips: Vec<String> = SmArch::all().map(|arch| arch.to_string()).collect();
        let rows: Vec<&str> = ALL.iter().map(|limits| limits.name).collect();
        assert_eq!(chips, rows);
    }

    #[test]
    fn architectures_are_found_by_number() {
        assert_eq!(of("sm_80").name, "sm_80");
        assert_eq!(of("sm_90a").name, "sm_90");
        let unknown = limits(SmArch { number: 88, specific: false }).expect_err("no documented limits").to_string();
        assert_eq!(unknown, "unsupported CUDA gpu architecture: sm_88");
    }

    #[test]
    fn shared_memory_is_what_every_chip_has() {
        let everywhere = |archs: &[&str]| {
            let archs: Vec<SmArch> = archs.iter().map(|arch| SmArch::parse(arch).expect("a known chip")).collect();
            shared_opt_in_everywhere(&archs).expect("known chips") / KIB
        };
        assert_eq!(everywhere(&["sm_90a"]), 227);
        assert_eq!(everywhere(&["sm_80"]), 99, "an sm_86 runs it");
        assert_eq!(everywhere(&["sm_80", "sm_70"]), 64, "an sm_75 runs it");
        assert_eq!(everywhere(&["sm_61"]), 48);
        assert_eq!(everywhere(&[]), 48);
    }

    #[test]
    fn limits_are_those_of_the_programming_guide() {
        // Shared memory of a multiprocessor and of a block in KiB, resident blocks and warps, registers of a block in Ki.
        let table = [
            ("sm_50", 64, 48, 32, 64, 64),
            ("sm_52", 96, 48, 32, 64, 64),
            ("sm_53", 64, 48, 32, 64, 32),
            ("sm_60", 64, 48, 32, 64, 64),
            ("sm_61", 96, 48, 32, 64, 64),
            ("sm_62", 64, 48, 32, 64, 32),
            ("sm_70", 96, 96, 32, 64, 64),
            ("sm_72", 96, 96, 32, 64, 64),
            ("sm_75", 64, 64, 16, 32, 64),
            ("sm_80", 164, 163, 32, 64, 64),
            ("sm_86", 100, 99, 16, 48, 64),
            ("sm_87", 164, 163, 16, 48, 64),
            ("sm_89", 100, 99, 24, 48, 64),
            ("sm_90", 228, 227, 32, 64, 64),
            ("sm_100", 228, 227, 32, 64, 64),
            ("sm_101", 228, 227, 24, 48, 64),
            ("sm_103", 228, 227, 32, 64, 64),
            ("sm_110", 228, 227, 24, 48, 64),
            ("sm_120", 100, 99, 24, 48, 64),
            ("sm_121", 100, 99, 24, 48, 64),
        ];
        assert_eq!(table.len(), ALL.len());
        for (arch, unit, block, blocks, warps, registers) in table {
            let limits = of(arch);
            assert_eq!((limits.shared_per_unit / KIB, limits.shared_opt_in / KIB), (unit, block), "{arch}");
            assert_eq!((limits.blocks_per_unit, limits.threads_per_unit / limits.warp), (blocks, warps), "{arch}");
            assert_eq!(limits.barriers_per_unit, limits.blocks_per_unit, "{arch}");
            assert_eq!(limits.registers_per_block / KIB, registers, "{arch}");
        }
    }

    /// Values of `cuda_occupancy.h` (release 12.9).
    #[test]
    fn as_nvidia_calculates() {
        let of = |arch: &str, threads: u32, registers: u32, dynamic_shared: u64| {
            let found = occupancy(of(arch), threads, &Resources { registers, dynamic_shared, ..Resources::default() });
            (found.blocks, found.warps, found.limiter)
        };
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
        assert_eq!(of("sm_53", 1024, 33, 0), (0, 0, Limiter::Registers));
    }

    #[test]
    fn registers_fit_the_block() {
        for threads in [1, 32, 96, 128, 256, 500, 512, 768, 1024] {
            for limits in ALL {
                let most = registers_for(limits, threads);
                let blocks =
                    |registers| occupancy(limits, threads, &Resources { registers, ..Resources::default() }).blocks;
                assert!(blocks(most) > 0, "{} {threads} {most}", limits.name);
                assert!(most == 255 || blocks(most + 1) == 0, "{} {threads} {most}", limits.name);
            }
        }
    }
}
