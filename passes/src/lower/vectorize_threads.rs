//! `regrain-vectorize-threads`: rows of threads go through a thread loop together.
//!
//! ```mlir
//! scf.parallel (%x, %y, %z) = (0, 0, 0) to (%nx, %ny, %nz) {
//!   %s = scf.for %k = ... iter_args(%sum = %zero) { %v = llvm.load %a[%k * n + %x] ; %sum + %v }
//! }
//! ```
//! becomes, with rows of 16 threads,
//! ```mlir
//! scf.for %z { scf.for %y { scf.for %x = 0 to %whole step 16 {
//!   %s = scf.for %k = ... iter_args(%sum = %zeros) { %v = llvm.load %a[%k * n + %x] : vector<16xf32> ; %sum + %v }
//! } } }
//! scf.parallel (%x, %y, %z) = (%whole, 0, 0) to (%nx, %ny, %nz) { the rest, thread by thread }
//! ```
//! So a thread's serial loops stand inside of the row, and what is consecutive from thread to thread is consecutive in memory. Values are
//! scalars where lanes agree or differ evenly (`shapes.rs`), vectors elsewhere; conditions become masks (`control.rs`); what lies apart from
//! thread to thread but side by side from round to round goes by tiles (`tiles.rs`); what has no form on vectors runs lane by lane (`lanes.rs`). After Karrenberg and Hack, Whole-function vectorization (CGO 2011), Moll and Hack, Partial
//! control-flow linearization (PLDI 2018), and Pharr and Mark, ispc (InPar 2012).
//!
//! The threads of a loop do not wait for one another, so any order of them is right; this one keeps each thread's own order of
//! operations, floating-point ones above all: results are the same bits.

mod apart;
mod asked;
mod blocks;
mod classify;
mod combs;
mod control;
mod cost;
mod counted;
mod distances;
mod divide;
mod division;
mod emit;
mod few;
mod forms;
mod guard;
mod guards;
mod kept_rows;
mod lane_memory;
mod lanes;
mod last_round;
mod loops;
mod machine;
mod memory;
mod narrow;
mod nest;
mod overlaps;
mod own_memory;
mod pairs;
mod parts;
mod report;
mod rolled;
mod shapes;
mod slots;
mod steps;
mod sums;
mod tile_groups;
mod tile_loops;
mod tiles;
mod updates;
mod warp;
mod ways;
mod window;

use std::collections::HashMap;

use mlir_bridge::{
    ir::Op,
    pass::{Anchor, PassInfo, PassResult, PassRun},
};

use crate::analysis::{facts::constant, loops::Counting};
use regrain_dialects::{
    attributes::OF_BLOCKS,
    ops::{is_barrier, is_lane_or_warp},
};

pub use apart::Apart;
use apart::NAME;
pub use classify::{is_of_warp, is_ordinary, is_scalar};
pub use combs::LEAST as LEAST_APART;
use forms::check;
use lane_memory::LaneMemory;
pub use machine::{COST_MODEL, Machine, REGISTER_BITS, REGISTERS, REPORT, SHORT, WARP, number};
pub use memory::SCATTERING;
pub use nest::FEWEST;
use nest::Nest;
use own_memory::make_room;
pub use parts::{extract, transposed};
pub use report::blocks_together;
pub use steps::doubles;
pub use sums::reduction;

/// Dialects whose operations the pass makes.
pub const DIALECTS: &[&str] = &["llvm", "scf", "arith", "vector", "ub"];

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    summary: "let rows of threads go through thread loops together, as vectors",
    anchor: Anchor::Module,
    options: &[REGISTER_BITS, REGISTERS, COST_MODEL, REPORT, SHORT],
    dialects: DIALECTS,
    run,
};

fn run(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    let machine = Machine { short: pass.option_bool(SHORT.name)?, ..Machine::of(pass)? };
    Ok(vectorise(module, machine).map_err(|why| why.to_string())?)
}

/// Vectorises all thread loops below `root`. Fails where a loop holds operations of warps and cannot be vectorised, which
/// [`takes`] is there to ask before.
pub fn vectorise(root: Op<'_>, machine: Machine) -> Result<(), Apart> {
    let mut memory = LaneMemory::default();
    let mut writes_back = HashMap::new();
    for parallel in root.find_named("scf.parallel").into_iter().filter(|parallel| !runs_one_thread(*parallel)) {
        let function = parallel.parent_of_name("llvm.func").unwrap_or(root);
        let writes_back = *writes_back.entry(function).or_insert_with(|| guard::writes_in_one_loop(function));
        // Which of the versions is cheaper is asked when both are made (`lower_cpu/choose.rs`).
        let of_blocks = parallel.parent_of_name("scf.if").is_some_and(|choice| is_of_blocks(choice, parallel));
        let machine = Machine { cost_model: machine.cost_model && !of_blocks, ..machine };
        for parallel in steps::versions(parallel, machine) {
            warp::drop_outer_barriers(parallel);
            // The loop may be another one afterwards.
            let (about, of_warp) = (report::About::of(parallel), parallel.contains(is_of_warp));
            if of_warp {
                distances::unroll(parallel);
            }
            let nest = Nest::of(parallel, machine).map(|nest| nest.writing_back(writes_back));
            match nest.and_then(|nest| nest.vectorise(&mut memory)) {
                Err(why) if matches!(why, Apart::Internal(_)) || of_warp => return Err(why),
                Err(why) => about.apart(&why, machine.report),
                Ok(()) => (),
            }
        }
    }
    kept_rows::keep(root, machine);
    make_room(root);
    Ok(())
}

/// Whether a loop is in the version of a choice in which several blocks go together.
fn is_of_blocks(choice: Op<'_>, parallel: Op<'_>) -> bool {
    let mut at = Some(choice);
    while let Some(choice) = at {
        if choice.has_attr(OF_BLOCKS) {
            return choice
                .region(0)
                .blocks()
                .into_iter()
                .flat_map(|block| block.ops())
                .any(|op| op.is_ancestor_of(parallel));
        }
        at = choice.parent_of_name("scf.if");
    }
    false
}

/// Whether a loop is of one thread, which there is no row of and nothing to say about.
fn runs_one_thread(parallel: Op<'_>) -> bool {
    let one = |dimension: &Counting<'_>| dimension.is_plain() && constant(dimension.upper) == Some(1);
    Counting::dimensions(parallel).iter().all(one) && !parallel.contains(is_of_warp)
}

/// How rows of threads will go through the thread loops of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Thread by thread.
    None,
    Some,
    /// Rows are the warps: whole ones, or the one partial one of a block of one row.
    Warps,
}

/// What will be made of the thread loops of a block loop, before it is split at its barriers.
pub fn takes(block: Op<'_>) -> Rows {
    let sizes: Vec<_> = Counting::dimensions(block).iter().map(|dimension| constant(dimension.upper)).collect();
    let narrow = sizes.first().copied().flatten().is_some_and(|width| width < i64::from(FEWEST));
    if narrow || check(block, |op| is_barrier(op) || op.is("llvm.alloca") || is_lane_or_warp(op)).is_err() {
        return Rows::None;
    }
    match sizes[..] {
        [Some(x), Some(y), Some(z)] if x % i64::from(WARP) == 0 || y * z == 1 => Rows::Warps,
        _ => Rows::Some,
    }
}
