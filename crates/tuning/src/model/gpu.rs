//! The model of a GPU.
//!
//! For one block on one unit, in cycles, with `warps` warps, of which each runs what the statistics count:
//!
//!   issue      instructions * warps / instructions begun per cycle
//!   pipelines  operations * threads of a warp * warps / rate, for each pipeline
//!   memory     sectors * 32 bytes * warps / (bandwidth / clock / units)
//!   dispatch   units / blocks that the chip begins per cycle
//!   latency    time of one warp alone / blocks resident
//!
//! The time of a block is the largest of them, made smooth. A warp alone takes its instructions' latencies, divided by the
//! independent instructions that coarsening gives it, and a wait for each run of loads: that is Little's law. Waves: a full
//! one takes the time of a block times the blocks resident, the last one has fewer. Launches cost what they cost. Where the grid
//! is not known the time is the geometric mean over large ones, and `in_grids` has those of smaller ones too: a launch, which knows its
//! grid, runs the original below the size from which on an alternative is faster.
//!
//! Statistics count for CUDA's warps of 32 threads. A chip's warp runs the same instructions, and moves the memory of as many of
//! CUDA's warps as lie in it.
//!
//! Not modelled: hits in caches but for accesses near each other, and contention of atomics.

use super::{Bound, Candidate, Prediction, Shape};
use crate::expr::Expr;
use crate::limits::{CUDA_WARP, GpuLimits};
use crate::occupancy::{Resources, occupancy};
use crate::statistics::{Access, AccessGroup, Kind, Pattern, Space, Statistics};

/// Instructions of an integer division.
const INTEGER_DIVISION: f64 = 20.0;
/// Instructions of a 32-bit division or root.
const FLOAT_DIVISION: f64 = 9.0;
/// Instructions of a 64-bit division, root or function.
const F64_SPECIAL: f64 = 20.0;
/// Instructions of a 32-bit function.
const SPECIAL: f64 = 5.0;
/// Instructions of a call that nobody looks into.
const CALL: f64 = 60.0;
/// Cycles that a warp waits at a barrier, beside what the others take.
const BARRIER_LATENCY: f64 = 24.0;
/// Cycles until a spilled value is back from the first-level cache.
const SPILL_LATENCY: f64 = 32.0;
/// Independent instructions in a row of what a programmer wrote.
const PARALLELISM: f64 = 1.6;
/// More of them than this do not help a warp.
const MOST_PARALLELISM: f64 = 4.0;
/// Instructions that an operation of the parallel form comes to.
const INSTRUCTIONS: f64 = 1.2;
/// Registers of a thread that hold no value of the parallel form.
const ADDRESSES: u32 = 25;
/// Seconds that a further launch on the same stream takes, when the device is busy.
const LAUNCH: f64 = 2.0e-6;
/// Original blocks for each unit that are looked at where the grid is not known.
const GRIDS: [u32; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/// Those of them that are large: where the time of a kernel matters most.
const LARGE: [u32; 3] = [64, 256, 1024];
/// Of two that are nearly equal the finer is taken: `n` original threads in one cost `n` to the power of this.
const CAUTION: f64 = 0.01;
/// How sharply the largest bound rules: the exponent of a norm.
const SHARPNESS: f64 = 5.0;

/// What one warp does.
struct Work {
    instructions: f64,
    f32: f64,
    f64: f64,
    integer: f64,
    special: f64,
    /// Cycles of the load and store unit.
    load_store: f64,
    /// Bytes from beyond the first-level cache.
    l2_bytes: f64,
    /// Bytes from memory.
    memory_bytes: f64,
    /// Cycles that a warp waits.
    waits: f64,
    barriers: f64,
}

/// What the model says of an alternative.
pub fn predict(candidate: &Candidate<'_>, shape: &Shape, limits: &GpuLimits) -> Prediction {
    let statistics = candidate.statistics;
    let bindings = shape.bindings();
    let value = |count: &Expr| count.evaluate(&bindings).max(0.0);
    let estimated = estimate(statistics, limits, &value);
    let resources = candidate.resources.unwrap_or(&estimated);
    let threads = statistics.block.iter().map(|size| value(size).floor().max(1.0)).product::<f64>();
    let warps = (threads / f64::from(limits.warp)).ceil();
    let resident = occupancy(limits, threads as u32, resources);
    let mut terms = vec![
        ("threads", threads),
        ("registers", resources.registers.into()),
        ("shared", resources.shared() as f64),
        ("resident blocks", resident.blocks.into()),
        ("resident warps", resident.warps.into()),
    ];
    if resident.blocks == 0 {
        return Prediction::unlaunchable(terms);
    }
    let work = work(statistics, resources, limits, &value);
    let block = Block::new(&work, statistics, warps, limits);
    let per_unit = f64::from(resident.blocks);
    let (bound, _) = block.time(per_unit);
    let launch = Schedule { block: &block, merged: statistics.grain().block_total() as f64, per_unit, limits };
    let caution = (statistics.original_threads() as f64).powf(CAUTION);
    let in_grid = |blocks: f64| launch.time(blocks, further(candidate, shape)) * caution;
    let of_each = |each: u32| f64::from(each) * f64::from(limits.units);
    let (time, in_grids) = match shape.grid {
        Some(_) => (in_grid(shape.blocks()), Vec::new()),
        None => (
            LARGE.map(|each| in_grid(of_each(each))).iter().product::<f64>().cbrt(),
            GRIDS.map(|each| (of_each(each) as u64, in_grid(of_each(each)))).to_vec(),
        ),
    };
    terms.extend([("instructions", work.instructions), ("waits", work.waits)]);
    terms.extend(block.bounds(per_unit).map(|(bound, cycles)| (name(bound), cycles)));
    Prediction { time, bound, terms, in_grids }
}

fn name(bound: Bound) -> &'static str {
    match bound {
        Bound::Issue => "issue",
        Bound::F32 => "f32",
        Bound::F64 => "f64",
        Bound::Integer => "integer",
        Bound::Special => "special",
        Bound::LoadStore => "load/store",
        Bound::L2 => "l2",
        Bound::Memory => "memory",
        Bound::Dispatch => "dispatch",
        Bound::Latency => "latency",
        Bound::Unlaunchable => "unlaunchable",
    }
}

/// Resources where no assembler was asked.
fn estimate(statistics: &Statistics, limits: &GpuLimits, value: &impl Fn(&Expr) -> f64) -> Resources {
    // What is alive beyond the registers, but for those that addresses and the like take, is stored and loaded.
    let spilled = statistics.live.saturating_sub(limits.registers_per_thread - ADDRESSES) * 4;
    Resources {
        registers: (12 + statistics.live).clamp(16, limits.registers_per_thread),
        static_shared: u32::try_from(statistics.static_shared).unwrap_or(u32::MAX),
        dynamic_shared: value(&statistics.dynamic_shared) as u64,
        spill_stores: spilled,
        spill_loads: spilled,
        ..Resources::default()
    }
}

fn work(statistics: &Statistics, resources: &Resources, limits: &GpuLimits, value: &impl Fn(&Expr) -> f64) -> Work {
    let count = |kind| value(&statistics.count(kind));
    let integer = count(Kind::Integer) + count(Kind::Select) + INTEGER_DIVISION * count(Kind::IntegerDivision);
    let f32 = count(Kind::F32)
        + count(Kind::F16)
        + (FLOAT_DIVISION - 1.0) * count(Kind::FloatDivision)
        + (SPECIAL - 1.0) * count(Kind::Special);
    let f64 = count(Kind::F64) + F64_SPECIAL * count(Kind::F64Special);
    let special = count(Kind::FloatDivision) + count(Kind::Special) + count(Kind::Conversion);
    let rest = count(Kind::Barrier)
        + count(Kind::Warp)
        + count(Kind::UniformBranch)
        + 2.0 * count(Kind::DivergentBranch)
        + CALL * count(Kind::Call)
        + count(Kind::Other);
    let accesses: f64 = statistics.memory.iter().map(|memory| value(&memory.count)).sum();
    let mut work = Work {
        instructions: integer + f32 + f64 + special + rest + accesses,
        f32,
        f64,
        integer,
        special,
        load_store: count(Kind::Warp) * f64::from(limits.warp) / limits.lsu_rate,
        l2_bytes: 0.0,
        memory_bytes: 0.0,
        waits: value(&statistics.global_waits) * limits.global_latency
            + value(&statistics.shared_waits) * limits.shared_latency
            + count(Kind::Warp) * limits.shared_latency,
        barriers: count(Kind::Barrier),
    };
    for memory in &statistics.memory {
        work.add_memory(memory, limits, value);
    }
    work.add_spills(statistics, resources, limits);
    work
}

/// How many of CUDA's warps, for which statistics count memory, are in a warp of the chip as far as such an access sees them.
fn warps_of_cuda(limits: &GpuLimits, pattern: Pattern) -> f64 {
    if pattern == Pattern::Uniform { 1.0 } else { f64::from(limits.warp) / f64::from(CUDA_WARP) }
}

impl Work {
    fn add_memory(&mut self, memory: &AccessGroup, limits: &GpuLimits, value: &impl Fn(&Expr) -> f64) {
        let count = value(&memory.count);
        let begin = f64::from(limits.warp) / limits.lsu_rate;
        let lines = memory.lines * warps_of_cuda(limits, memory.pattern);
        let transactions = memory.transactions * warps_of_cuda(limits, memory.pattern);
        match memory.space {
            Space::Shared => {
                // Wider accesses take as many passes as there are words.
                let passes = transactions * (f64::from(memory.bytes) / 4.0).max(1.0);
                let passes = passes * f64::from(CUDA_WARP) / limits.shared_rate.max(CUDA_WARP.into());
                let again = if memory.access == Access::Atomic { 4.0 } else { 1.0 };
                self.load_store += count * passes.max(f64::from(limits.warp) / limits.shared_rate) * again;
            }
            Space::Constant => self.load_store += count,
            Space::Global | Space::Local => {
                // Two lines of the first-level cache are looked up at once, and four sectors read.
                self.load_store += count * begin.max(lines / 2.0).max(transactions / 4.0);
                let fresh = (count - value(&memory.reused)).max(0.0);
                let bytes = fresh * (transactions * 32.0).max(lines * limits.fetch_bytes);
                self.l2_bytes += bytes;
                // What all threads read alike is in the caches.
                if memory.pattern != Pattern::Uniform && memory.space == Space::Global {
                    self.memory_bytes += bytes;
                }
                if memory.access == Access::Atomic {
                    self.l2_bytes += count * f64::from(limits.warp) * 32.0;
                }
            }
        }
    }

    /// Each spilled word is a local access of the whole warp, as often as an operation of the body runs on average; a register of
    /// the warp goes to another register and back.
    fn add_spills(&mut self, statistics: &Statistics, resources: &Resources, limits: &GpuLimits) {
        let repeats = (self.instructions / f64::from(statistics.size.max(1))).max(1.0);
        let loads = f64::from(resources.spill_loads) / 4.0 * repeats;
        let all = f64::from(resources.spills()) / 4.0 * repeats;
        self.instructions += all + 2.0 * f64::from(resources.scalar_spills) * repeats;
        self.load_store += all;
        self.l2_bytes += all * f64::from(limits.warp) * 4.0 * 0.25;
        self.waits += loads * SPILL_LATENCY * 0.5;
    }
}

/// One block on a unit.
struct Block {
    /// Cycles by each bound but latency.
    throughput: [(Bound, f64); 9],
    /// Cycles of a block alone.
    alone: f64,
}

impl Block {
    fn new(work: &Work, statistics: &Statistics, warps: f64, limits: &GpuLimits) -> Self {
        let lanes = f64::from(limits.warp) * warps;
        let code = f64::from(statistics.size) * (limits.instruction_bytes * INSTRUCTIONS);
        // Beyond the cache instructions come from the next one, at half the speed.
        let fetch = 1.0 + (code / limits.instruction_cache - 1.0).clamp(0.0, 1.0);
        let issue = work.instructions * fetch * warps / limits.issue_rate;
        let bytes_per_cycle = limits.bandwidth / limits.clock / f64::from(limits.units);
        let throughput = [
            (Bound::Issue, issue),
            (Bound::F32, work.f32 * lanes / limits.f32_rate),
            (Bound::F64, work.f64 * lanes / limits.f64_rate),
            (Bound::Integer, work.integer * lanes / limits.integer_rate),
            (Bound::Special, work.special * lanes / limits.special_rate),
            (Bound::LoadStore, work.load_store * warps),
            (Bound::L2, work.l2_bytes * warps / limits.l2_rate),
            (Bound::Memory, work.memory_bytes * warps / bytes_per_cycle),
            (Bound::Dispatch, f64::from(limits.units) / limits.blocks_per_clock),
        ];
        let copies = statistics.original_threads() as f64;
        let parallel = (PARALLELISM * copies.sqrt()).min(MOST_PARALLELISM);
        let meet = work.barriers * (BARRIER_LATENCY + warps);
        let alone = work.instructions * fetch * limits.arithmetic_latency / parallel + work.waits + meet;
        Self { throughput, alone }
    }

    /// Cycles by each bound with `resident` blocks on the unit.
    fn bounds(&self, resident: f64) -> impl Iterator<Item = (Bound, f64)> {
        self.throughput.into_iter().chain([(Bound::Latency, self.alone / resident)])
    }

    /// The largest bound, and the time of a block.
    fn time(&self, resident: f64) -> (Bound, f64) {
        let mut largest = (Bound::Issue, 0.0);
        let mut sum = 0.0;
        for (bound, cycles) in self.bounds(resident) {
            if cycles > largest.1 {
                largest = (bound, cycles);
            }
            sum += cycles.powf(SHARPNESS);
        }
        (largest.0, sum.powf(1.0 / SHARPNESS))
    }
}

/// A kernel on a device.
struct Schedule<'a> {
    block: &'a Block,
    /// Original blocks in a block.
    merged: f64,
    /// Blocks that a unit holds.
    per_unit: f64,
    limits: &'a GpuLimits,
}

impl Schedule<'_> {
    /// Cycles of a unit for each of `original` blocks, with `further` launches beside the main one.
    fn time(&self, original: f64, further: f64) -> f64 {
        let units = f64::from(self.limits.units);
        let blocks = (original / self.merged).floor().max(1.0);
        let covered = (blocks * self.merged).min(original).max(1.0);
        (self.waves(blocks) + further * LAUNCH * self.limits.clock * 1e9) / covered * units
    }

    /// Cycles of `blocks` blocks.
    fn waves(&self, blocks: f64) -> f64 {
        let units = f64::from(self.limits.units);
        let full = (blocks / (self.per_unit * units)).floor();
        let rest = blocks - full * self.per_unit * units;
        let last = (rest / units).ceil();
        let tail = if last > 0.0 { last * self.block.time(last).1 } else { 0.0 };
        full * self.per_unit * self.block.time(self.per_unit).1 + tail
    }
}

/// Further launches: whether they are empty is known where the grid is.
fn further(candidate: &Candidate<'_>, shape: &Shape) -> f64 {
    let factors = candidate.statistics.blocks;
    match shape.grid {
        Some(grid) => {
            let left = grid.iter().zip(factors).filter(|(size, factor)| **size % (*factor).max(1).unsigned_abs() != 0);
            left.count().min(candidate.epilogues as usize) as f64
        }
        None => {
            let merged = candidate.statistics.grain().block_total() as f64;
            f64::from(candidate.epilogues) * (merged - 1.0) / merged
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::SAMPLE;
    use crate::model::choose;

    /// A tile is loaded, and each thread of a block of 256 reads 16 of it, as in the inner kernel of lud.
    fn tiled(copies: f64, threads: f64) -> Statistics {
        let mut made = Statistics {
            blocks: [copies as i64, 1, 1],
            size: (60.0 * copies) as u32,
            live: 20,
            ..Statistics::default()
        };
        made.block = [threads.into(), 1.0.into(), 1.0.into()];
        made.add(Kind::F32, &(16.0 * copies).into());
        made.add(Kind::Integer, &(10.0 + 20.0 * copies).into());
        made.add(Kind::Barrier, &1.0.into());
        for (space, count) in [(Space::Global, 3.0 * copies), (Space::Shared, 32.0 * copies)] {
            let (access, pattern) = (Access::Load, Pattern::Coalesced);
            let transactions = if space == Space::Global { 4.0 } else { 1.0 };
            made.add_memory(AccessGroup {
                space,
                access,
                pattern,
                bytes: 4,
                count: count.into(),
                transactions,
                lines: 1.0,
                reused: Expr::zero(),
            });
        }
        made.global_waits = 1.0.into();
        made.shared_waits = 4.0.into();
        made.static_shared = (2048.0 * copies) as u64;
        made
    }

    fn time(statistics: &Statistics, registers: u32, shape: &Shape) -> Prediction {
        let resources = Resources { registers, static_shared: statistics.static_shared as u32, ..Resources::default() };
        predict(&Candidate { statistics, resources: Some(&resources), epilogues: 0, tasks: None }, shape, &SAMPLE)
    }

    #[test]
    fn spills_cost() {
        let one = tiled(1.0, 256.0);
        let spilled = Resources { registers: 32, spill_loads: 64, spill_stores: 64, ..Resources::default() };
        let with = predict(
            &Candidate { statistics: &one, resources: Some(&spilled), epilogues: 0, tasks: None },
            &Shape::default(),
            &SAMPLE,
        );
        assert!(with.time > time(&one, 32, &Shape::default()).time);
    }

    #[test]
    fn a_wider_warp_moves_as_much_memory() {
        // The same block on chips that differ in the width of their warps alone: what threads take together is equal.
        let wide = GpuLimits { warp: 64, issue_rate: SAMPLE.issue_rate / 2.0, ..SAMPLE };
        let statistics = tiled(1.0, 256.0);
        let of = |limits: &GpuLimits| {
            let candidate = Candidate { statistics: &statistics, resources: None, epilogues: 0, tasks: None };
            predict(&candidate, &Shape::default(), limits)
        };
        let (narrow, wide) = (of(&SAMPLE), of(&wide));
        for bound in ["issue", "f32", "integer", "load/store", "l2", "memory"] {
            assert_eq!(narrow.term(bound), wide.term(bound), "{bound}: {narrow}, {wide}");
        }
    }

    #[test]
    fn lines_that_are_brought_in_whole_cost() {
        let mut statistics = tiled(1.0, 256.0);
        statistics.memory[0].transactions = 1.0;
        let of = |fetch_bytes| {
            let candidate = Candidate { statistics: &statistics, resources: None, epilogues: 0, tasks: None };
            predict(&candidate, &Shape::default(), &GpuLimits { fetch_bytes, ..SAMPLE }).term("memory")
        };
        assert_eq!(of(128.0), of(32.0).map(|bytes| 4.0 * bytes));
    }

    #[test]
    fn blocks_below_a_warp_cost() {
        // A quarter of the lanes at work, all of the issue slots taken.
        let small = time(&tiled(1.0, 8.0), 32, &Shape::default());
        let whole = time(&tiled(1.0, 32.0), 32, &Shape::default());
        assert!(small.time >= whole.time * 0.99, "{small} {whole}");
    }

    #[test]
    fn empty_units_cost() {
        let shape = Shape { grid: Some([108, 1, 1]), block: Some([256, 1, 1]) };
        let one = time(&tiled(1.0, 256.0), 32, &shape);
        let four = time(&tiled(4.0, 256.0), 64, &shape);
        assert!(four.time > one.time, "{four} {one}");
        assert_eq!(choose(&[one, four], 0.05), 0);
    }

    #[test]
    fn many_small_blocks_are_bound_by_their_start() {
        let small = |copies: f64| {
            let mut made = Statistics { blocks: [copies as i64, 1, 1], size: 8, live: 8, ..Statistics::default() };
            made.block = [64.0.into(), 1.0.into(), 1.0.into()];
            made.add(Kind::Integer, &(4.0 * copies).into());
            made
        };
        let of = |copies| {
            let (statistics, resources) = (small(copies), Resources { registers: 16, ..Resources::default() });
            let candidate =
                Candidate { statistics: &statistics, resources: Some(&resources), epilogues: 1, tasks: None };
            predict(&candidate, &Shape::default(), &SAMPLE)
        };
        let (one, four) = (of(1.0), of(4.0));
        assert_eq!(one.bound, Bound::Dispatch);
        assert!(four.time < 0.5 * one.time, "{one} {four}");
        // What is left over is a further launch, which a small grid does not pay for.
        let slower = |at: usize| four.in_grids[at].1 > one.in_grids[at].1;
        assert!(slower(0) && !slower(one.in_grids.len() - 1), "{one:?} {four:?}");
    }

    #[test]
    fn what_cannot_be_launched_is_last() {
        let no = time(&tiled(1.0, 1024.0), 128, &Shape::default());
        assert_eq!((no.time, no.bound), (f64::INFINITY, Bound::Unlaunchable));
        assert_eq!(choose(&[time(&tiled(1.0, 256.0), 32, &Shape::default()), no], 0.05), 0);
    }

    #[test]
    fn more_in_flight_hides_latency() {
        // Few registers are free: two blocks of 256 threads, whose single loads must wait.
        let mut one = tiled(1.0, 256.0);
        one.static_shared = 40 * 1024;
        let mut two = tiled(2.0, 256.0);
        two.static_shared = 80 * 1024;
        let (one, two) = (time(&one, 32, &Shape::default()), time(&two, 48, &Shape::default()));
        assert!(two.time < one.time * 1.1, "{one} {two}");
    }
}
