//! Conditions that C's `&&` and `||` make of branches, as selections.
//!
//! ```mlir
//! %inside = scf.if %left -> (i1) { %right = llvm.icmp ... ; scf.if %right { A } ; scf.yield %right } else { scf.yield %false }
//! ```
//! becomes
//! ```mlir
//! %right = llvm.icmp ... ; %inside = arith.select %left, %right, %false ; scf.if %inside { A }
//! ```
//! A later thread loop can compute it again, and who is selected is known of each part.

use mlir_bridge::ir::{Builder, Op, Value};

use super::choices::bit;

/// The most operations that run where one branch alone would have run them.
const LARGEST: usize = 16;

/// Makes selections of the conditions that branches in a block loop compute.
pub fn flatten(block: Op<'_>) {
    // Those within come first.
    for op in block.find_named("scf.if").into_iter().rev() {
        if op.num_results() > 0 && op.regions().into_iter().all(|region| region.first_block().is_some()) {
            flatten_one(op);
        }
    }
}

fn flatten_one(op: Op<'_>) {
    let inside: Vec<_> = [0, 1].into_iter().flat_map(|region| op.region(region).entry().ops()).collect();
    let (ends, inside): (Vec<_>, Vec<_>) = inside.into_iter().partition(|op| op.is_terminator());
    let [yes, no] = ends[..] else { return };
    // What comes out must be conditions, computed of what is there before; the effects of one branch may stay.
    let mut moved: Vec<Op<'_>> = Vec::new();
    let mut stay: Vec<Op<'_>> = Vec::new();
    for inner in inside {
        let early = |value: Value<'_>| value.defining_op().is_none_or(|made| !stay.contains(&made));
        let pure = inner.num_regions() == 0 && inner.is_pure() && inner.operands().into_iter().all(early);
        if pure { moved.push(inner) } else { stay.push(inner) }
    }
    let alone = stay.is_empty() || no.block().is_some_and(|block| block.ops().len() == 1);
    let late = |value: Value<'_>| value.defining_op().is_some_and(|made| stay.contains(&made));
    if moved.len() > LARGEST || !alone || yes.operands().into_iter().chain(no.operands()).any(late) {
        return;
    }
    let b = Builder::before(op);
    let pairs = yes.operands().into_iter().zip(no.operands());
    let bits: Option<Vec<_>> = pairs.map(|(yes, no)| bit(b, yes).zip(bit(b, no))).collect();
    let Some(bits) = bits else { return };
    moved.into_iter().for_each(|inner| inner.move_before(op));
    let (condition, i1) = (op.operand(0), b.ctx().int(1));
    let made: Vec<_> = op
        .results()
        .into_iter()
        .zip(bits)
        .map(|(result, (yes, no))| {
            let chosen = b.value("arith.select", &[condition, yes, no], i1);
            if result.ty().is_int(1) { chosen } else { b.value("arith.extui", &[chosen], result.ty()) }
        })
        .collect();
    if !stay.is_empty() {
        guard(op, &stay);
    }
    op.replace_with(&made);
}

/// Puts effects before a branch, under its condition; a branch that is all of them is taken where both conditions hold.
fn guard<'c>(op: Op<'c>, effects: &[Op<'c>]) {
    let (b, condition) = (Builder::before(op), op.operand(0));
    let alone = |op: &Op<'c>| {
        let empty = || op.region(1).first_block().is_none_or(|block| block.ops().len() == 1);
        op.is("scf.if") && op.num_results() == 0 && empty()
    };
    if let [only] = effects
        && alone(only)
    {
        let i1 = b.ctx().int(1);
        let both = b.value("arith.select", &[condition, only.operand(0), b.const_int(i1, 0)], i1);
        only.set_operand(0, both);
        only.move_before(op);
        return;
    }
    let made = b.scf_if(condition, &[], false);
    let end = Builder::at_end(made.body(), b.loc).scf_yield(&[]);
    effects.iter().for_each(|op| op.move_before(end));
}
