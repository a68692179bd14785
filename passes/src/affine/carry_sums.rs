//! `regrain-carry-sums`: a loop that combines numbers in memory carries them.
//!
//! ```text
//!   for i { *b = *b + a[i]; }      if (0 < n) s = *b;  for i { s = s + a[i]; }  if (0 < n) *b = s;
//! ```
//!
//! For sequential functions whose arrays are asked to be apart when the program runs: it is right where no two pointers that the function
//! is given lead to the same element, and one of them is stored through. So it is for `describe` alone. Declines where
//! the place is another one in some round of a loop around, where another access of the loop is to the same array, and where the order of
//! rounds matters.

use mlir_bridge::{
    ir::Op,
    lift,
    pass::{Anchor, PassInfo, PassResult, PassRun},
};

use crate::{
    affine::{accesses::base_of, reductions::combining},
    analysis::counted_loop::is_outside,
    optimise::promote_to_registers::{Place, candidates, rewrite},
};

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-carry-sums",
    summary: "carry what loops combine in memory, where arrays are apart",
    anchor: Anchor::Any,
    options: &[],
    dialects: lift::DIALECTS,
    run,
};

fn run(_run: &PassRun<'_>, root: Op<'_>) -> PassResult {
    for nest in root.find_named("scf.for") {
        // Innermost ones alone: `find_named` begins with the loop itself.
        if nest.find_named("scf.for").len() > 1 {
            continue;
        }
        let mut places = candidates(nest);
        places.retain(|place| is_combined(place) && is_alone(place, nest) && is_everywhere(place, nest));
        if !places.is_empty() {
            rewrite(nest, &places);
        }
    }
    Ok(())
}

/// Whether a place is loaded once and stored once, and what is stored combines what was loaded with something else.
fn is_combined(place: &Place<'_>) -> bool {
    let [load, store] = &place.ops[..] else { return false };
    if !load.is("llvm.load") || !store.is("llvm.store") || load.result(0).uses().len() != 1 {
        return false;
    }
    let made = store.operand(0);
    let op = made.defining_op().filter(|_| made.uses().len() == 1);
    op.is_some_and(|op| {
        combining(op).is_some_and(|(_, operands)| operands.iter().any(|at| op.operand(*at) == load.result(0)))
    })
}

/// Whether all other accesses of a loop are to other arrays.
fn is_alone(place: &Place<'_>, nest: Op<'_>) -> bool {
    let Some(own) = base_of(place.pointer) else { return false };
    let is_other = |op: &Op<'_>| match op.name() {
        "llvm.load" => base_of(op.operand(0)).is_some_and(|base| base != own),
        "llvm.store" => base_of(op.operand(1)).is_some_and(|base| base != own),
        "llvm.call" => false,
        _ => true,
    };
    nest.find_all(|op| !place.ops.contains(&op)).iter().all(is_other)
}

/// Whether a place is the same in all rounds of all loops around.
fn is_everywhere(place: &Place<'_>, nest: Op<'_>) -> bool {
    let mut around = nest.parent();
    while let Some(op) = around {
        if op.is("scf.for") && !is_outside(place.pointer, op) {
            return false;
        }
        around = op.parent();
    }
    true
}
