//! `regrain-choose-by-grid`: a launch runs its other alternative in large grids, and the original in small ones.
//!
//! ```text
//! Before, in a launch function `@__regrain_launch.k(%args, %gx, %gy, %gz, ...)`:
//!   %e = regrain.alternatives ["original", "b2x1x1"] -> i32 { A ; regrain.yield %a }, { B ; regrain.yield %b }
//! After (`least-blocks=4224`):
//!   %blocks = %gx * %gy * %gz : i64 ; %large = arith.cmpi uge, %blocks, 4224
//!   %e = scf.if %large -> i32 { B ; scf.yield %b } else { A ; scf.yield %a }
//! ```
//! A coarser kernel has fewer blocks to hide its latencies behind one another, and what it leaves over is a further launch: what pays in a large
//! grid need not in a small one, and only the launch knows which it is.
//!
//! Only two alternatives with one i32 result, the first of them the original, are taken in such a function; others stay.

use std::collections::BTreeMap;

use mlir_bridge::{
    ir::{Builder, Op},
    pass::{Anchor, PassError, PassInfo, PassOption, PassResult, PassRun},
};
use regrain_dialects::ops::Alternatives;

use super::choices::{launch_function, take};

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-choose-by-grid",
    summary: "choose between the original and another alternative by the number of blocks",
    anchor: Anchor::Module,
    options: &[PassOption {
        name: "least-blocks",
        default: "1",
        description: "blocks of the original grain from which on the other one runs",
    }],
    dialects: &["arith", "scf"],
    run,
};

fn run(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    let blocks = pass.option_int("least-blocks")?;
    let blocks =
        u64::try_from(blocks).map_err(|_| PassError::from(format!("expected a number of blocks, got {blocks}")))?;
    for alternatives in Alternatives::all(module) {
        choose(alternatives, blocks);
    }
    Ok(())
}

/// Chooses in the launch functions that are named in `least_blocks`.
pub fn choose_all(module: Op<'_>, least_blocks: &BTreeMap<String, u64>) {
    for alternatives in Alternatives::all(module) {
        let function = alternatives.op().parent_of_name("llvm.func").and_then(Op::symbol_name);
        if let Some(blocks) = function.and_then(|name| least_blocks.get(name)) {
            choose(alternatives, *blocks);
        }
    }
}

fn choose(alternatives: Alternatives<'_>, least_blocks: u64) {
    let op = alternatives.op();
    let (Some(function), [original, other]) = (launch_function(alternatives), &alternatives.choices()[..]) else {
        return;
    };
    if alternatives.descriptions().first() != Some(&"original") {
        return;
    }
    let b = Builder::before(op);
    let long = b.ctx().int(64);
    let [x, y, z] = [1, 2, 3].map(|at| b.value("arith.extui", &[function.body().arg(at)], long));
    // No grid has more than 2^63 blocks.
    let blocks = b.arith("muli", b.arith("muli", x, y), z);
    let large = b.cmpi("uge", blocks, b.const_int(long, i64::try_from(least_blocks).unwrap_or(i64::MAX)));
    let made = b.op("scf.if").operands(&[large]).result(b.ctx().int(32)).regions(2).build();
    for (to, from) in made.regions().into_iter().zip([*other, *original]) {
        take(to, from);
    }
    op.replace_with(&[made.result(0)]);
}
