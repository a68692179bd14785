//! What each architecture offers to a kernel, and how fast a typical product of it is.
//!
//! Hard limits are those of the CUDA C++ Programming Guide (release 12.9, appendix "Compute Capabilities", table
//! "Technical Specifications per Compute Capability") and of NVIDIA's occupancy calculation (`cuda_occupancy.h`).
//! Throughputs are the guide's "Throughput of Native Arithmetic Instructions". Products are named; their clocks and
//! bandwidths are NVIDIA's data sheets' and matter for ranking only. Latencies are rounded from Z. Jia et al., *Dissecting
//! the NVIDIA Volta GPU Architecture via Microbenchmarking* (2018) and later measurements of the same kind.

use serde::Serialize;

/// Threads in a warp.
pub const WARP: u32 = 32;

/// An architecture of NVIDIA's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Limits {
    /// The name without a suffix, as `sm_80`.
    pub arch: &'static str,
    /// The product that the second half of this is about.
    pub product: &'static str,
    /// Threads of a block.
    pub threads_per_block: u32,
    /// Threads that a multiprocessor holds.
    pub threads_per_sm: u32,
    /// Blocks that a multiprocessor holds.
    pub blocks_per_sm: u32,
    /// Registers of a multiprocessor.
    pub registers_per_sm: u32,
    /// Registers of a block.
    pub registers_per_block: u32,
    /// Registers of a thread.
    pub registers_per_thread: u32,
    /// Registers are given to a warp in units of this.
    pub register_unit: u32,
    /// Parts of a multiprocessor, each with registers and a scheduler of its own.
    pub partitions: u32,
    /// Bytes of shared memory of a block without asking for more: all that static shared memory may take.
    pub shared_static: u32,
    /// Bytes of shared memory of a block that asks for it (`cudaFuncAttributeMaxDynamicSharedMemorySize`).
    pub shared_opt_in: u32,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_per_sm: u32,
    /// Bytes of shared memory that each block loses to the system.
    pub shared_reserved: u32,
    /// Shared memory is given to a block in units of this.
    pub shared_unit: u32,
    /// Multiprocessors of the product.
    pub sms: u32,
    /// Clock in GHz.
    pub clock: f64,
    /// Memory bandwidth in GB/s.
    pub bandwidth: f64,
    /// L2 cache in bytes.
    pub l2: u64,
    /// 32-bit floating-point operations per clock of a multiprocessor (a fused one is one).
    pub f32_rate: f64,
    /// 64-bit floating-point operations per clock.
    pub f64_rate: f64,
    /// 32-bit integer operations per clock.
    pub integer_rate: f64,
    /// Special functions per clock; conversions take as long.
    pub special_rate: f64,
    /// Threads whose loads or stores begin per clock.
    pub lsu_rate: f64,
    /// Cycles until an arithmetic result can be used.
    pub arithmetic_latency: f64,
    /// Cycles until a load of shared memory can be used.
    pub shared_latency: f64,
    /// Cycles until a load of global memory can be used, some of them hitting caches.
    pub global_latency: f64,
}

const KIB: u32 = 1024;

/// Volta; the others are told by what differs.
const SM_70: Limits = Limits {
    arch: "sm_70",
    product: "V100 SXM2",
    threads_per_block: 1024,
    threads_per_sm: 2048,
    blocks_per_sm: 32,
    registers_per_sm: 65536,
    registers_per_block: 65536,
    registers_per_thread: 255,
    register_unit: 256,
    partitions: 4,
    shared_static: 48 * KIB,
    shared_opt_in: 96 * KIB,
    shared_per_sm: 96 * KIB,
    shared_reserved: 0,
    shared_unit: 256,
    sms: 80,
    clock: 1.53,
    bandwidth: 900.0,
    l2: 6 << 20,
    f32_rate: 64.0,
    f64_rate: 32.0,
    integer_rate: 64.0,
    special_rate: 16.0,
    lsu_rate: 32.0,
    arithmetic_latency: 4.0,
    shared_latency: 24.0,
    global_latency: 420.0,
};

/// From Ampere on the system takes 1 KiB of each block's shared memory, and gives it in smaller units.
const SM_80: Limits = Limits {
    arch: "sm_80",
    product: "A100 SXM4 40GB",
    shared_opt_in: 163 * KIB,
    shared_per_sm: 164 * KIB,
    shared_reserved: KIB,
    shared_unit: 128,
    sms: 108,
    clock: 1.41,
    bandwidth: 1555.0,
    l2: 40 << 20,
    global_latency: 470.0,
    ..SM_70
};

const SM_86: Limits = Limits {
    arch: "sm_86",
    product: "A40",
    threads_per_sm: 1536,
    blocks_per_sm: 16,
    shared_opt_in: 99 * KIB,
    shared_per_sm: 100 * KIB,
    sms: 84,
    clock: 1.74,
    bandwidth: 696.0,
    l2: 6 << 20,
    f32_rate: 128.0,
    f64_rate: 2.0,
    ..SM_80
};

const SM_90: Limits = Limits {
    arch: "sm_90",
    product: "H100 SXM5",
    shared_opt_in: 227 * KIB,
    shared_per_sm: 228 * KIB,
    sms: 132,
    clock: 1.98,
    bandwidth: 3350.0,
    l2: 50 << 20,
    f32_rate: 128.0,
    f64_rate: 64.0,
    global_latency: 560.0,
    ..SM_80
};

/// All architectures, the oldest first.
pub const ALL: [Limits; 11] = [
    SM_70,
    Limits {
        arch: "sm_72",
        product: "Jetson AGX Xavier",
        sms: 8,
        clock: 1.38,
        bandwidth: 137.0,
        l2: 512 << 10,
        ..SM_70
    },
    Limits {
        arch: "sm_75",
        product: "T4",
        threads_per_sm: 1024,
        blocks_per_sm: 16,
        shared_opt_in: 64 * KIB,
        shared_per_sm: 64 * KIB,
        sms: 40,
        clock: 1.59,
        bandwidth: 320.0,
        l2: 4 << 20,
        f64_rate: 2.0,
        ..SM_70
    },
    SM_80,
    SM_86,
    Limits {
        arch: "sm_87",
        product: "Jetson AGX Orin",
        shared_opt_in: 163 * KIB,
        shared_per_sm: 164 * KIB,
        sms: 16,
        clock: 1.3,
        bandwidth: 204.8,
        l2: 4 << 20,
        ..SM_86
    },
    Limits {
        arch: "sm_89",
        product: "L40S",
        blocks_per_sm: 24,
        sms: 142,
        clock: 2.52,
        bandwidth: 864.0,
        l2: 96 << 20,
        ..SM_86
    },
    SM_90,
    Limits { arch: "sm_100", product: "B200", sms: 148, clock: 1.96, bandwidth: 8000.0, l2: 126 << 20, ..SM_90 },
    Limits {
        arch: "sm_103",
        product: "B300",
        sms: 148,
        clock: 1.92,
        bandwidth: 8000.0,
        l2: 126 << 20,
        f64_rate: 2.0,
        ..SM_90
    },
    Limits {
        arch: "sm_120",
        product: "GeForce RTX 5090",
        blocks_per_sm: 24,
        sms: 170,
        clock: 2.41,
        bandwidth: 1792.0,
        l2: 96 << 20,
        integer_rate: 128.0,
        ..SM_86
    },
];

/// The limits of an architecture by name, with or without a suffix (`sm_90a`); of one that is not in the table, those of the
/// nearest older one, or of the oldest.
pub fn limits(arch: &str) -> &'static Limits {
    let number = |name: &str| -> Option<u32> {
        let digits: String = name.strip_prefix("sm_")?.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let wanted = number(arch).unwrap_or(0);
    let fitting = ALL.iter().rev().find(|limits| number(limits.arch).is_some_and(|number| number <= wanted));
    fitting.unwrap_or(&ALL[0])
}

/// Bytes of shared memory that a block may ask for on every chip that runs code for `archs`: the newest one's PTX is
/// assembled for later chips too, unless it is for the features of that chip alone (`sm_90a`).
pub fn shared_opt_in_everywhere<'a>(archs: impl IntoIterator<Item = &'a str>) -> u32 {
    let place = |arch: &str| ALL.iter().position(|limits| *limits == *self::limits(arch)).unwrap_or(0);
    let mut least = u32::MAX;
    for arch in archs {
        let (at, is_specific) = (place(arch), arch.ends_with(|last: char| last.is_ascii_alphabetic()));
        let able = if is_specific { &ALL[at..=at] } else { &ALL[at..] };
        least = able.iter().map(|limits| limits.shared_opt_in).fold(least, u32::min);
    }
    if least == u32::MAX { SM_70.shared_static } else { least }
}

/// The machine that the CPU target runs on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CpuLimits {
    /// Threads that blocks are spread over.
    pub cores: u32,
    /// Bytes of a vector register.
    pub vector_bytes: u32,
    /// Vector registers.
    pub vector_registers: u32,
    /// Bytes of first-level data cache of a core.
    pub l1: u64,
    /// Bytes of second-level cache of a core.
    pub l2: u64,
    /// Bytes of the last-level cache.
    pub l3: u64,
    /// Bytes that a core gets from memory in a cycle.
    pub bandwidth: f64,
}

impl Default for CpuLimits {
    /// A present x86-64 server core with AVX2.
    fn default() -> Self {
        Self {
            cores: 8,
            vector_bytes: 32,
            vector_registers: 16,
            l1: 32 << 10,
            l2: 1 << 20,
            l3: 32 << 20,
            bandwidth: 4.0,
        }
    }
}

impl CpuLimits {
    /// The machine that this runs on, as far as it says.
    pub fn native() -> Self {
        let mut made = Self::default();
        made.cores = std::thread::available_parallelism().map_or(made.cores, |cores| cores.get() as u32);
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx512f") {
            (made.vector_bytes, made.vector_registers) = (64, 32);
        } else if !std::is_x86_feature_detected!("avx2") {
            made.vector_bytes = 16;
        }
        #[cfg(target_arch = "aarch64")]
        {
            (made.vector_bytes, made.vector_registers) = (16, 32);
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_found_by_name() {
        assert_eq!(limits("sm_80").arch, "sm_80");
        assert_eq!(limits("sm_90a").arch, "sm_90");
        assert_eq!(limits("sm_88").arch, "sm_87");
        assert_eq!(limits("sm_121").arch, "sm_120");
        assert_eq!(limits("sm_50").arch, "sm_70");
        assert_eq!(limits("sm_100f").arch, "sm_100");
    }

    #[test]
    fn shared_memory_is_what_every_chip_has() {
        let everywhere = |archs: &[&str]| shared_opt_in_everywhere(archs.iter().copied()) / KIB;
        assert_eq!(everywhere(&["sm_90a"]), 227);
        assert_eq!(everywhere(&["sm_80"]), 99, "an sm_86 runs it");
        assert_eq!(everywhere(&["sm_80", "sm_70"]), 64, "an sm_75 runs it");
        assert_eq!(everywhere(&[]), 48);
    }

    #[test]
    fn limits_are_those_of_the_programming_guide() {
        // Shared memory of a multiprocessor and of a block in KiB, resident blocks and warps.
        let table = [
            ("sm_70", 96, 96, 32, 64),
            ("sm_72", 96, 96, 32, 64),
            ("sm_75", 64, 64, 16, 32),
            ("sm_80", 164, 163, 32, 64),
            ("sm_86", 100, 99, 16, 48),
            ("sm_87", 164, 163, 16, 48),
            ("sm_89", 100, 99, 24, 48),
            ("sm_90", 228, 227, 32, 64),
            ("sm_100", 228, 227, 32, 64),
            ("sm_103", 228, 227, 32, 64),
            ("sm_120", 100, 99, 24, 48),
        ];
        assert_eq!(table.len(), ALL.len());
        for (arch, sm, block, blocks, warps) in table {
            let limits = limits(arch);
            assert_eq!((limits.shared_per_sm / KIB, limits.shared_opt_in / KIB), (sm, block), "{arch}");
            assert_eq!((limits.blocks_per_sm, limits.threads_per_sm / WARP), (blocks, warps), "{arch}");
        }
    }
}
