//! What a processor offers to a kernel, and how fast it is, as plain data. Which processors there are is the targets' matter.

/// Threads of the warps that CUDA's programs see, of which statistics count operations and transactions of memory.
pub const CUDA_WARP: u32 = 32;

/// Registers that hold one value for a whole warp, of a chip that gives them to warps in numbers that they ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarRegisters {
    /// Those of a partition.
    pub per_partition: u32,
    /// They are given to a warp in multiples of this.
    pub granularity: u32,
}

/// A GPU.
///
/// It is made of *units* (NVIDIA's multiprocessors, AMD's compute units or pairs of them: what the warps of one block share),
/// each of which runs blocks. A *warp* is the threads that go in step (AMD's waves).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GpuLimits {
    /// The architecture, as the target names it.
    pub name: &'static str,
    /// The product that speeds and the number of units are about.
    pub product: &'static str,
    /// Threads of a warp.
    pub warp: u32,
    /// Threads of a block.
    pub threads_per_block: u32,
    /// Threads that a unit holds.
    pub threads_per_unit: u32,
    /// Blocks that a unit holds.
    pub blocks_per_unit: u32,
    /// Blocks of more than one warp that a unit holds: no more than it has barriers.
    pub barriers_per_unit: u32,
    /// Registers of a unit, for one thread each.
    pub registers_per_unit: u32,
    /// Registers of a block.
    pub registers_per_block: u32,
    /// Registers of a thread.
    pub registers_per_thread: u32,
    /// Registers are given to a warp in multiples of this.
    pub register_granularity: u32,
    /// Parts of a unit, each with registers and a scheduler of its own.
    pub partitions: u32,
    /// Registers of warps, where there may be too few of them.
    pub scalar_registers: Option<ScalarRegisters>,
    /// Bytes of shared memory of a block without asking for more: all that static shared memory may take.
    pub shared_static: u32,
    /// Bytes of shared memory of a block that asks for it.
    pub shared_opt_in: u32,
    /// Bytes of shared memory of a unit.
    pub shared_per_unit: u32,
    /// Bytes of shared memory that each block loses to the system.
    pub shared_reserved: u32,
    /// Shared memory is given to a block in multiples of this.
    pub shared_granularity: u32,
    /// Bytes of parameters of a kernel.
    pub parameter_bytes: u32,
    /// Units of the product.
    pub units: u32,
    /// Blocks that the chip begins in a cycle of its units: what bounds a launch of many small blocks.
    pub blocks_per_clock: f64,
    /// Clock in GHz.
    pub clock: f64,
    /// Memory bandwidth in GB/s.
    pub bandwidth: f64,
    /// Second-level cache in bytes.
    pub l2: u64,
    /// Bytes that a unit gets from the second-level cache in a cycle.
    pub l2_rate: f64,
    /// Bytes that a miss brings in at least, of each line of 128 bytes that is touched.
    pub fetch_bytes: f64,
    /// Instructions of warps that a unit begins per clock.
    pub issue_rate: f64,
    /// 32-bit floating-point operations per clock of a unit (a fused one is one).
    pub f32_rate: f64,
    /// 64-bit floating-point operations per clock.
    pub f64_rate: f64,
    /// 32-bit integer operations per clock.
    pub integer_rate: f64,
    /// Special functions per clock; conversions take as long.
    pub special_rate: f64,
    /// Threads whose loads or stores begin per clock.
    pub lsu_rate: f64,
    /// Threads whose accesses of shared memory begin per clock.
    pub shared_rate: f64,
    /// Cycles until an arithmetic result can be used.
    pub arithmetic_latency: f64,
    /// Cycles until a load of shared memory can be used.
    pub shared_latency: f64,
    /// Cycles until a load of global memory can be used, some of them hitting caches.
    pub global_latency: f64,
    /// Bytes of an instruction.
    pub instruction_bytes: f64,
    /// Bytes of code that the instruction cache of a unit holds.
    pub instruction_cache: f64,
    /// The gain by the model that an alternative must have over the original.
    pub margin: f64,
}

/// A CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// The gain by the model that an alternative must have over the original.
    pub margin: f64,
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
            margin: 0.25,
        }
    }
}

/// A GPU for tests: the numbers of an A100.
#[cfg(test)]
pub(crate) const SAMPLE: GpuLimits = GpuLimits {
    name: "sample",
    product: "sample",
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
    shared_static: 48 << 10,
    shared_opt_in: 163 << 10,
    shared_per_unit: 164 << 10,
    shared_reserved: 1 << 10,
    shared_granularity: 128,
    parameter_bytes: 4096,
    units: 108,
    blocks_per_clock: 0.83,
    clock: 1.41,
    bandwidth: 1555.0,
    l2: 40 << 20,
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
    global_latency: 470.0,
    instruction_bytes: 16.0,
    instruction_cache: 131072.0,
    margin: 0.1,
};
