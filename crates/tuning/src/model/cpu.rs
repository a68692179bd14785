//! The model of a CPU: blocks run one after the other on each core, the threads of a block as vectorised loops between
//! barriers.
//!
//!   time of a block = start + regions * (start of a loop + threads * work of a thread / lanes) + spills + cache misses
//!
//! Not modelled: what the vectoriser declines.

use super::{Bound, Candidate, Prediction, Shape};
use crate::expr::Expr;
use crate::limits::CpuLimits;
use crate::statistics::{Kind, Memory, Pattern, Space, Statistics};

/// Cycles to begin a block.
const BLOCK: f64 = 60.0;
/// Cycles to begin a loop over the threads.
const LOOP: f64 = 12.0;
/// Cycles of an access whose addresses do not lie side by side, for each thread.
const SCATTERED: f64 = 1.5;
/// Cycles of a cache line from the second-level cache.
const LINE: f64 = 6.0;

/// What the model says of an alternative.
pub fn predict(candidate: &Candidate<'_>, shape: &Shape, limits: &CpuLimits) -> Prediction {
    let statistics = candidate.statistics;
    let bindings = shape.bindings();
    let value = |count: &Expr| count.evaluate(&bindings).max(0.0);
    let threads = statistics.block.iter().map(|size| value(size).floor().max(1.0)).product::<f64>();
    let lanes = f64::from(limits.vector_bytes / 4).min(threads);
    let count = |kind| value(&statistics.count(kind));
    let cheap = count(Kind::Integer) + count(Kind::F32) + count(Kind::F16) + count(Kind::Select) + count(Kind::Other);
    let wide = 2.0 * (count(Kind::F64) + count(Kind::Conversion));
    let slow = 8.0 * (count(Kind::FloatDivision) + count(Kind::F64Special) + count(Kind::IntegerDivision))
        + 20.0 * (count(Kind::Special) + count(Kind::Call));
    let branches = count(Kind::DivergentBranch) + count(Kind::UniformBranch) / lanes;
    let warp = 32.0 * count(Kind::Warp);
    let arithmetic = (cheap + wide + slow + branches + warp) / (2.0 * lanes);
    let access: f64 = statistics.memory.iter().map(|memory| access(memory, value(&memory.count), lanes)).sum();
    let loops = 1.0 + count(Kind::Barrier);
    let spilled = f64::from(statistics.live.saturating_sub(limits.vector_registers));
    let spills = spilled * loops.sqrt() / lanes;
    let footprint = footprint(statistics, threads, &value);
    let missing = (footprint - limits.l1 as f64).max(0.0) / 64.0 * LINE;
    let time = BLOCK + loops * LOOP + threads * (arithmetic + access + spills) + missing;
    let merged = statistics.grain().block_total() as f64;
    let bound = if access > arithmetic { Bound::LoadStore } else { Bound::Issue };
    let terms = vec![
        ("threads", threads),
        ("lanes", lanes),
        ("arithmetic", arithmetic),
        ("access", access),
        ("loops", loops),
        ("spills", spills),
        ("footprint", footprint),
    ];
    Prediction { time: time / merged, bound, terms }
}

/// Cycles of accesses for one thread.
fn access(memory: &Memory, count: f64, lanes: f64) -> f64 {
    match memory.pattern {
        Pattern::Uniform => count / lanes,
        Pattern::Coalesced => count / lanes,
        Pattern::Strided(_) | Pattern::Gather => count * SCATTERED,
    }
}

/// Bytes that a block keeps: shared memory, and what lives across barriers.
fn footprint(statistics: &Statistics, threads: f64, value: &impl Fn(&Expr) -> f64) -> f64 {
    let shared = statistics.static_shared as f64 + value(&statistics.dynamic_shared);
    let kept = if statistics.count(Kind::Barrier).is_zero() { 0.0 } else { threads * f64::from(statistics.live) };
    let global = statistics.memory.iter().filter(|memory| memory.space == Space::Global);
    let touched: f64 = global.map(|memory| threads * value(&memory.count) * f64::from(memory.bytes)).sum();
    shared + kept + touched
}
