//! `regrain-select-alternative`: of the versions of a launch some stay, or just one.
//!
//! ```text
//! Before:                                                     After (`grain=b2x1x1`):
//!   %e = regrain.alternatives ["original", "b2x1x1"] -> i32 {    B
//!     A ; regrain.yield %a : i32                                 ... uses of %b
//!   }, {
//!     B ; regrain.yield %b : i32
//!   }
//!   ... uses of %e
//! ```
//!
//! As a pass: the alternative named by `grain` where there is one, else the first, which is the original.

use mlir_bridge::{
    ir::Op,
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
};
use regrain_dialects::ops::Alternatives;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-select-alternative",
    summary: "keep one of the alternatives of each launch",
    anchor: Anchor::Any,
    options: &[PassOption {
        name: "grain",
        default: "original",
        description: "the one to keep; the original where it is missing",
    }],
    dialects: &["regrain"],
    run,
};

fn run(pass: &PassRun<'_>, root: Op<'_>) -> PassResult {
    let wanted = pass.option("grain");
    // Those within first: one that is not kept takes them along.
    for alternatives in Alternatives::all(root).into_iter().rev() {
        let named = alternatives.descriptions().iter().position(|name| *name == wanted);
        alternatives.select(named.unwrap_or(0));
    }
    Ok(())
}
