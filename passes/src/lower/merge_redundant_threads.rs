//! `regrain-merge-redundant-threads`: threads that all do the same run once.
//!
//! Before:
//! ```mlir
//! scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%nx, %ny, %nz) step (%c1, %c1, %c1) {
//!   %v = llvm.load %in[%x]                     // nothing here comes from %y
//!   llvm.store %v, %out[%x]
//! }
//! ```
//! After:
//! ```mlir
//! scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%nx, %c1, %nz) step (%c1, %c1, %c1) { ... }
//! ```
//! Threads that differ in one number only, of which no address, no stored value and no decision about a store depends, store the same
//! to the same places. Threads of a phase may run in any order, in step too; in step, each sees what a single one would see,
//! so the memory that a single one leaves is what a program must expect of all of them. A program that adds to what it finds in such a place
//! has a data race; threads in step are what it meets on a GPU, so what it was written for.
//!
//! Declined: atomic and volatile accesses, calls but of mathematical functions, operations of warps, barriers that count.
//!
//! The pass looks at whole kernels; [`merge`] serves for single thread loops too, once they are made.

use mlir_bridge::{
    ir::{Builder, Op, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::{Barrier, GpuWrapper, is_grid_barrier, is_regrain};

use crate::analysis::{
    constants::constant,
    loops::Counting,
    objects::escapes,
    phases::is_plain,
    synchronisation::STRUCTURES,
    uniformity::{Trust, Uniformity, computes},
};

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-merge-redundant-threads",
    summary: "run threads that all do the same once",
    anchor: Anchor::Module,
    options: &[],
    dialects: &["arith"],
    run,
};

fn run(_pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    for wrapper in GpuWrapper::all(module) {
        for block in wrapper.block_loops() {
            merge(block);
        }
    }
    Ok(())
}

/// Lets one thread run for all that differ in a number on which nothing depends; gives the dimensions.
pub fn merge(parallel: Op<'_>) -> Vec<usize> {
    let dimensions = Counting::dimensions(parallel);
    let open = |number: &usize| constant(dimensions[*number].upper) != Some(1);
    if !dimensions.iter().all(Counting::is_plain) || parallel.num_results() > 0 {
        return Vec::new();
    }
    let Some(effects) = effects(parallel) else { return Vec::new() };
    let structures: Vec<_> = parallel.find_all(|op| STRUCTURES.contains(&op.name()));
    let redundant = |number: &usize| {
        let seed = parallel.body().arg(*number);
        let trust = Trust { loads: true, locals: true, ..Trust::default() };
        let uniform = Uniformity::new(parallel.body(), &[seed], structures.iter().copied().collect(), trust);
        effects.iter().all(|op| is_same(&uniform, parallel, *op))
    };
    let found: Vec<_> = (0..dimensions.len()).filter(open).filter(redundant).collect();
    if found.is_empty() {
        return found;
    }
    let one = Builder::before(parallel).const_index(1);
    for number in &found {
        parallel.set_operand(dimensions.len() + number, one);
    }
    found
}

/// What the threads do to memory, and where they meet; `None` where something else happens.
fn effects(parallel: Op<'_>) -> Option<Vec<Op<'_>>> {
    let mut found = Vec::new();
    for op in parallel.find_all(|op| op != parallel) {
        match kind(op) {
            Kind::Nothing => {}
            Kind::Effect => found.push(op),
            Kind::Other => return None,
        }
    }
    Some(found)
}

#[derive(PartialEq, Eq)]
enum Kind {
    Nothing,
    /// A store, or a barrier.
    Effect,
    Other,
}

fn kind(op: Op<'_>) -> Kind {
    let plain = || !op.has_attr("volatile_") && op.attr("ordering").and_then(|o| o.as_int()).unwrap_or(0) == 0;
    let moves = || op.attr("isVolatile").and_then(|volatile| volatile.as_bool()) == Some(false);
    let when = |holds: bool, kind: Kind| if holds { kind } else { Kind::Other };
    match op.name() {
        "llvm.load" => when(plain(), Kind::Nothing),
        "llvm.store" => when(plain(), Kind::Effect),
        "llvm.intr.memcpy" | "llvm.intr.memmove" | "llvm.intr.memset" => when(moves(), Kind::Effect),
        Barrier::NAME => when(is_plain(op) || is_grid_barrier(op), Kind::Effect),
        "llvm.alloca" => when(!escapes(op.result(0)), Kind::Nothing),
        "llvm.call" => when(computes(op), Kind::Nothing),
        "llvm.intr.assume" => Kind::Nothing,
        name if name.starts_with("llvm.intr.lifetime.") || name.starts_with("llvm.intr.dbg.") => Kind::Nothing,
        name if STRUCTURES.contains(&name) => Kind::Nothing,
        _ if is_regrain(op) => Kind::Other,
        _ => when(op.is_terminator() || op.is_memory_effect_free(), Kind::Nothing),
    }
}

/// Whether an effect is the same in all threads: what it stores, where, and whether it happens.
fn is_same<'c>(uniform: &Uniformity<'c>, parallel: Op<'c>, op: Op<'c>) -> bool {
    let operands: Vec<Value<'c>> = if Barrier::is(op) { Vec::new() } else { op.operands() };
    uniform.all_uniform(&operands) && uniform.is_met_together(op, parallel)
}
