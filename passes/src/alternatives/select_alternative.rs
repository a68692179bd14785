//! `regrain-select-alternative`: of the versions of a launch some stay, or just one.
//!
//! Before:                                                     After (`grain=b2x1x1`):
//!   %e = regrain.alternatives ["original", "b2x1x1"] -> i32 {    B
//!     A ; regrain.yield %a : i32                                 ... uses of %b
//!   }, {
//!     B ; regrain.yield %b : i32
//!   }
//!   ... uses of %e
//!
//! As a pass: the alternative named by `grain` where there is one, else the first, which is the original.

use mlir_bridge::{
    ir::{Builder, Op},
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
};
use regrain_dialects::ops::{Alternatives, Yield};

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
    for alternatives in Alternatives::all(root) {
        select(alternatives, |names| names.iter().position(|name| *name == wanted).unwrap_or(0));
    }
    Ok(())
}

/// Puts the alternative that `choose` picks by its number in the place of all.
pub fn select<'c>(alternatives: Alternatives<'c>, choose: impl FnOnce(&[&'c str]) -> usize) {
    let op = alternatives.op();
    let body = alternatives.choices()[choose(&alternatives.descriptions())].entry();
    let mut results = Vec::new();
    for inner in body.ops() {
        if let Some(end) = Yield::cast(inner) {
            results = end.values();
            inner.erase();
        } else {
            inner.move_before(op);
        }
    }
    op.replace_with(&results);
}

/// Keeps the alternatives that `keep` says, by number and name; the order stays. At least one must be kept.
pub fn retain<'c>(alternatives: Alternatives<'c>, mut keep: impl FnMut(usize, &str) -> bool) -> Alternatives<'c> {
    let op = alternatives.op();
    let names = alternatives.descriptions();
    let kept: Vec<usize> = (0..names.len()).filter(|at| keep(*at, names[*at])).collect();
    let names: Vec<&str> = kept.iter().map(|at| names[*at]).collect();
    let types: Vec<_> = op.results().into_iter().map(|result| result.ty()).collect();
    let made = Alternatives::create(Builder::before(op), &names, &types);
    for (to, at) in made.choices().into_iter().zip(kept) {
        to.entry().erase();
        to.take_blocks(alternatives.choices()[at]);
    }
    op.replace_with(&made.op().results());
    made
}
