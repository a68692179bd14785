//! `regrain-unroll-and-interleave`: one iteration of a parallel loop does the work of several, statement by statement.
//!
//! ```text
//! Before:                                          After (factor 2, adjacent):
//!   scf.parallel (%i) = (0) to (16) step (1) {       scf.parallel (%i) = (0) to (8) step (1) {
//!                                                      %i0 = arith.muli %i, 2 ; %i1 = arith.addi %i0, 1
//!     A(%i)                                            A(%i0) ; A(%i1)
//!     scf.for %j = %0 to %n step %1 {                  scf.for %j = %0 to %n step %1 {
//!       B(%i, %j)                                        B(%i0, %j) ; B(%i1, %j)
//!     }                                                }
//!     regrain.barrier(%i)                              regrain.barrier(%i)
//!   }                                                }
//! ```
//!
//! Control flow is shared by all copies (jammed) where they provably run it alike (`uniformity.rs`, `analysis/trips.rs`), or where a barrier of
//! the unrolled loop within says so by CUDA's rules; else it is one statement, which each copy has for itself. Inside of
//! shared control flow statements are interleaved again. Values that it carries are carried once for each copy, those
//! that are the same in all copies once. A barrier is never duplicated: all copies share it. Operations of a warp stand once
//! for each copy: the caller answers for that the warps are whole (`Unroll::whole_warps`).
//!
//! CUDA's rules make a condition uniform that depends on the memory all threads read alike. Where it depends on the thread's
//! own index, or on what was read through it, a barrier within tells of threads that returned early: copies then come to the
//! barrier together if any of them does, and do the rest under masks (`masks.rs`). Loops are not masked.
//!
//! [`check`] says why not, before anything is changed (`legality.rs` holds the closed list of reasons); [`apply`] changes
//! (`emit.rs`). The pass applies both to every outermost `scf.parallel`, with a remark where it declines.

mod emit;
mod legality;
mod masks;
mod serial;
mod warps;

use mlir_bridge::{
    ir::{Builder, Mapping, Op, Value},
    pass::{Anchor, PassError, PassInfo, PassOption, PassResult, PassRun},
};

use regrain_dialects::ops::{is_barrier, is_lane_or_warp, thread_loop};

use crate::analysis::{facts::constant, functions::Functions};
pub use emit::{region_alignment, round_up};
pub use legality::{Plan, Refusal, check, is_warp_operation};

/// Which iterations of the original loop one iteration of the new loop takes, of `n` by `f`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexing {
    /// `t * f, t * f + 1, ...`.
    Adjacent,
    /// `t, t + n / f, t + 2 n / f, ...`: neighbours stay neighbours, so that memory accesses stay coalesced.
    Strided,
}

/// How to unroll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unroll {
    pub dimension: usize,
    pub factor: usize,
    pub indexing: Indexing,
    /// The copies of a warp of the new loop are whole warps of the original loop, in the same order.
    pub whole_warps: bool,
}

/// Unrolls and interleaves as [`check`] found it right. `extent` is the new number of iterations in the unrolled dimension;
/// the original number is `factor` times as large. Gives the new loop.
pub fn apply<'c>(nest: Op<'c>, unroll: &Unroll, plan: &Plan<'c>, extent: Value<'c>) -> Op<'c> {
    emit::unroll(nest, unroll, plan, extent)
}

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-unroll-and-interleave",
    summary: "let one iteration of outermost parallel loops do the work of several",
    anchor: Anchor::Module,
    options: &[
        PassOption { name: "dimension", default: "0", description: "the dimension to unroll" },
        PassOption { name: "factor", default: "2", description: "how many iterations become one" },
        PassOption { name: "indexing", default: "adjacent", description: "adjacent or strided" },
        PassOption { name: "serial", default: "false", description: "unroll innermost serial loops instead" },
    ],
    dialects: &["arith", "scf", "llvm", "regrain", "ub"],
    run,
};

fn run(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    let number = |name| -> Result<usize, PassError> {
        usize::try_from(pass.option_int(name)?).map_err(|_| format!("option '{name}' is negative").into())
    };
    let unroll = Unroll {
        dimension: number("dimension")?,
        factor: number("factor")?.max(1),
        indexing: parse_indexing(pass.option("indexing"))?,
        whole_warps: false,
    };
    if pass.option_bool("serial")? {
        unroll_serial_loops(module, unroll.factor);
        return Ok(());
    }
    let mut functions = Functions::new(module);
    let mut outermost = module.find_named("scf.parallel");
    outermost.retain(|nest| nest.parent_of_name("scf.parallel").is_none());
    for nest in outermost {
        if let Err(refusal) = unroll_any(nest, &unroll, &mut functions) {
            nest.remark(format!("not unrolled and interleaved: {refusal}"));
        }
    }
    Ok(())
}

/// Unrolls the innermost serial loops, with a remark where that is not possible.
fn unroll_serial_loops(module: Op<'_>, factor: usize) {
    let mut loops = module.find_named("scf.for");
    loops.retain(|nest| !nest.contains(|inner| inner != *nest && inner.is("scf.for")));
    for nest in loops {
        if let Err(refusal) = serial::unroll(nest, factor) {
            nest.remark(format!("not unrolled and interleaved: {refusal}"));
        }
    }
}

/// `adjacent` or `strided`.
pub fn parse_indexing(text: &str) -> Result<Indexing, String> {
    match text.trim() {
        "adjacent" => Ok(Indexing::Adjacent),
        "strided" => Ok(Indexing::Strided),
        other => Err(format!("option 'indexing' is '{other}', expected adjacent or strided")),
    }
}

/// Unrolls a loop of any number of iterations. Those that are left over are a loop of their own behind it, unless the loop
/// synchronises its iterations: they could not meet there.
fn unroll_any<'c>(nest: Op<'c>, unroll: &Unroll, functions: &mut Functions<'c>) -> Result<(), Refusal> {
    let plan = check(nest, unroll, functions)?;
    let rank = nest.body().num_args();
    let [low, high, step] = [0, 1, 2].map(|number| nest.operand(number * rank + unroll.dimension));
    let factor = unroll.factor as i64;
    let b = Builder::before(nest);
    let known = constant(low).zip(constant(high)).zip(constant(step));
    let known = known.map(|((low, high), step)| ((high - low).max(0) + step.max(1) - 1) / step.max(1));
    if let Some(count) = known.filter(|count| count % factor == 0) {
        apply(nest, unroll, &plan, b.const_index(count / factor));
        return Ok(());
    }
    if nest.contains(|op| is_warp_operation(op) || (synchronises(op) && thread_loop(op) == Some(nest))) {
        return Err(Refusal::NotDivisible);
    }
    let count = match known {
        Some(count) => b.const_index(count),
        None => {
            let length = b.arith("maxsi", b.arith("subi", high, low), b.const_index(0));
            b.arith("divui", b.arith("addi", length, b.arith("subi", step, b.const_index(1))), step)
        }
    };
    let extent = b.arith("divui", count, b.const_index(factor));
    let done = b.arith("muli", b.arith("muli", extent, b.const_index(factor)), step);
    let first = b.arith("addi", low, done);
    let rest = Builder::after(nest).clone_op(nest, &mut Mapping::new());
    rest.set_operand(unroll.dimension, first);
    apply(nest, unroll, &plan, extent);
    Ok(())
}

/// Whether an operation concerns all iterations of a loop.
fn synchronises(op: Op<'_>) -> bool {
    is_barrier(op) || is_lane_or_warp(op)
}
