//! The model of a CPU: blocks run one after the other on each core, the threads of a block as vectorised loops between
//! barriers, the original threads that coarsening put into one thread side by side in the body of such a loop.
//!
//!   time of a block = start + loops * start of a loop + rows * iterations of a row * work of a thread * interleaving * spills
//!   time of a grid  = (blocks * time of a block + tasks * start of a task) * idleness
//!
//! Cores take blocks from a grid in tasks of equal size. The last tasks end at different times: a core waits for half a task
//! on average, and where there are fewer tasks than cores the grid takes as long as one task.
//!
//! `rows` are the threads beside the first dimension; a row shorter than a vector takes nearly as long as a whole one. The
//! work is told by its memory accesses, each of which stands for the arithmetic around it, and by its floating-point
//! operations: addresses cost little, as most of them are computed once for a row. Copies side by side were measured to cost
//! more than one after the other, as the compiler's vectoriser and register allocation see larger bodies.
//!
//! The constants are fitted to measurements of the programs of `rodinia` (`bench.py rank` repeats them; `rodinia/results/rank.md` says
//! how well it ranks). Not modelled: what the vectoriser declines.

use super::{Bound, Candidate, Prediction, Shape};
use crate::expr::Expr;
use crate::limits::CpuLimits;
use crate::statistics::{AccessGroup, Kind, Pattern};
use crate::tasks::blocks_per_task;

/// Cycles to begin a block.
const BLOCK: f64 = 60.0;
/// Cycles to take a task: measured were 30 by one core alone, 130 where two are at it.
const TASK: f64 = 60.0;
/// Cycles to begin a loop over the threads.
const LOOP: f64 = 1.0;
/// Cycles of a memory access for a vector of threads, with the arithmetic around it.
const ACCESS: f64 = 3.0;
/// By how much an access whose addresses do not lie side by side is dearer.
const SCATTERED: f64 = 1.2;
/// Cycles of a division, a root or a function for a vector.
const SLOW: f64 = 8.0;
/// Cycles of a call, of a function or a warp operation, for a vector.
const CALL: f64 = 20.0;
/// What `n` copies side by side cost: `n` to the power of this, each.
const INTERLEAVING: f64 = 0.28;
/// A row of `x` threads of a vector's `n` costs `(x / n)` to the power of this.
const NARROW: f64 = 0.7;
/// How much dearer a body is all of whose values are in memory.
const SPILL: f64 = 1.0;
/// Cycles of a cache line that the first-level cache has no place for.
const LINE: f64 = 6.0;

/// What the model says of an alternative.
pub fn predict(candidate: &Candidate<'_>, shape: &Shape, limits: &CpuLimits) -> Prediction {
    let statistics = candidate.statistics;
    let bindings = shape.bindings();
    let value = |count: &Expr| count.evaluate(&bindings).max(0.0);
    let [x, y, z] = [0, 1, 2].map(|axis: usize| value(&statistics.block[axis]).floor().max(1.0));
    let lanes = f64::from(limits.vector_bytes / 4).max(1.0);
    let row = if x < lanes { (x / lanes).powf(NARROW) } else { x / lanes };
    let count = |kind| value(&statistics.count(kind));
    let access: f64 = statistics.memory.iter().map(|memory| access(memory, value(&memory.count))).sum();
    let float = count(Kind::F32) + count(Kind::F16) + 2.0 * (count(Kind::F64) + count(Kind::Conversion));
    // What integers are divided by is mostly the same for a row, and so is the result.
    let slow = count(Kind::IntegerDivision)
        + SLOW * (count(Kind::FloatDivision) + count(Kind::F64Special))
        + CALL * (count(Kind::Special) + count(Kind::Call) + count(Kind::Warp));
    let copies = statistics.original_threads().max(1) as f64;
    let values = f64::from(statistics.live_in_segment.max(1));
    let spilled = (1.0 - f64::from(limits.vector_registers.max(16)) / values).max(0.0);
    let work = (access + float + slow).max(1.0) * copies.powf(INTERLEAVING) * (1.0 + SPILL * spilled);
    let loops = 1.0 + count(Kind::Barrier) + count(Kind::Warp);
    let shared = statistics.static_shared as f64 + value(&statistics.dynamic_shared);
    let missing = (shared - limits.l1 as f64).max(0.0) / 64.0 * LINE;
    let start = BLOCK + loops * LOOP;
    let threads = y * z * row * work;
    let blocks = statistics.grain().block_total().max(1) as f64;
    let grid = (shape.blocks() / blocks).ceil().max(1.0);
    let task = blocks_per_task(candidate.tasks, grid as u64, limits.cores.into()) as f64;
    let idle = idleness(task, grid, f64::from(limits.cores.max(1)));
    let bound = if access > float + slow { Bound::LoadStore } else { Bound::Issue };
    let terms = vec![
        ("threads", x * y * z),
        ("row", row),
        ("access", access),
        ("float", float),
        ("slow", slow),
        ("copies", copies),
        ("values", values),
        ("work", work),
        ("loops", loops),
        ("start", start),
        ("cache", missing),
        ("task", task),
        ("idle", idle),
    ];
    Prediction { time: (start + threads + missing + TASK / task) * idle / blocks, bound, terms, in_grids: Vec::new() }
}

/// How much longer a grid takes than if all cores had the same to do to the end.
fn idleness(task: f64, blocks: f64, cores: f64) -> f64 {
    let last = (cores - 1.0) * task / (2.0 * blocks);
    (1.0 + last).max(cores * task / blocks).min(cores)
}

/// Cycles of accesses for a vector of threads.
fn access(memory: &AccessGroup, count: f64) -> f64 {
    match memory.pattern {
        Pattern::Uniform | Pattern::Coalesced => ACCESS * count,
        Pattern::Strided(_) | Pattern::Gather => ACCESS * SCATTERED * count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::choose;
    use crate::statistics::{Access, Space, Statistics};

    fn sample(accesses: f64, blocks: i64, x: f64, y: f64) -> Statistics {
        let mut made =
            Statistics { blocks: [blocks, 1, 1], live_in_segment: 5 * blocks as u32, ..Statistics::default() };
        made.block = [x.into(), y.into(), 1.0.into()];
        let (space, access, pattern) = (Space::Global, Access::Load, Pattern::Coalesced);
        let count = Expr::constant(accesses * blocks as f64);
        made.add_memory(AccessGroup {
            space,
            access,
            pattern,
            bytes: 4,
            count,
            transactions: 4.0,
            lines: 1.0,
            reused: Expr::zero(),
        });
        made
    }

    fn time(statistics: &Statistics) -> Prediction {
        in_tasks(statistics, None, None)
    }

    fn in_tasks(statistics: &Statistics, tasks: Option<u32>, grid: Option<[u64; 3]>) -> Prediction {
        let candidate = Candidate { statistics, resources: None, epilogues: 0, tasks };
        predict(&candidate, &Shape { grid, block: None }, &CpuLimits::default())
    }

    #[test]
    fn blocks_with_little_work_are_joined() {
        let both = [time(&sample(2.0, 1, 16.0, 1.0)), time(&sample(2.0, 4, 16.0, 1.0))];
        assert_eq!(choose(&both, CpuLimits::default().margin), 1, "{both:?}");
    }

    #[test]
    fn blocks_with_much_work_are_not() {
        let both = [time(&sample(60.0, 1, 16.0, 16.0)), time(&sample(60.0, 4, 16.0, 16.0))];
        assert_eq!(choose(&both, CpuLimits::default().margin), 0, "{both:?}");
    }

    #[test]
    fn narrow_rows_cost() {
        let (wide, narrow) = (time(&sample(60.0, 1, 16.0, 16.0)), time(&sample(60.0, 1, 4.0, 64.0)));
        assert!(narrow.time > wide.time, "{narrow} {wide}");
    }

    #[test]
    fn tasks_cost_and_uneven_ones_more() {
        let small = sample(1.0, 1, 16.0, 1.0);
        let large = Some([1 << 20, 1, 1]);
        let one = in_tasks(&small, Some(1), large);
        assert!(
            one.time > 1.2 * in_tasks(&small, None, large).time,
            "small blocks are expensive to hand out one by one: {one}"
        );
        // A grid that is one task, on eight cores.
        let whole = in_tasks(&small, Some(64), Some([64, 1, 1]));
        assert!(whole.time > 3.0 * in_tasks(&small, None, Some([64, 1, 1])).time, "{whole}");
        assert_eq!(idleness(1.0, 1.0, 8.0), 8.0);
        assert_eq!(idleness(10.0, 10.0, 1.0), 1.0);
    }

    #[test]
    fn the_usual_tasks_are_not_given_up_for_little() {
        for (accesses, y) in [(1.0, 1.0), (60.0, 16.0)] {
            for grid in [None, Some([1000, 1, 1]), Some([1 << 24, 1, 1])] {
                let made = sample(accesses, 1, 16.0, y);
                let all: Vec<_> = [None, Some(1), Some(64)].map(|tasks| in_tasks(&made, tasks, grid)).into();
                assert_eq!(choose(&all, CpuLimits::default().margin), 0, "{all:?}");
            }
        }
    }
}
