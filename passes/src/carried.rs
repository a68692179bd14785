//! Giving loops more to carry from round to round, and conditions more to hand on.

use mlir_bridge::ir::{Block, Builder, Op, Value};

use crate::analysis::loops::Counting;

/// The same operation with further results of the types of `values`, which loops are given as first values. Its blocks get neither arguments
/// nor operands of their terminators.
pub fn widen<'c>(op: Op<'c>, values: &[Value<'c>]) -> Op<'c> {
    let given = if op.is("scf.if") { &[] } else { values };
    let types: Vec<_> = op.results().iter().chain(values).map(|value| value.ty()).collect();
    let spec = Builder::before(op).op(op.name()).operands(&op.operands()).operands(given).results(&types);
    let made = spec.attrs(&op.attrs()).regions(op.num_regions()).build();
    for (new, old) in made.regions().into_iter().zip(op.regions()) {
        new.take_blocks(old);
    }
    for (old, new) in op.results().into_iter().zip(made.results()) {
        old.replace_all_uses_with(new);
    }
    op.erase();
    made
}

/// Adds operands to the terminator of a block.
pub fn yield_more<'c>(block: Block<'c>, values: &[Value<'c>]) {
    if let Some(end) = block.terminator() {
        end.insert_operands(end.num_operands(), values);
    }
}

/// Whether an `scf.for` has a round, computed before it; `None` for another operation.
pub fn has_round(nest: Op<'_>) -> Option<Value<'_>> {
    let counting = Counting::of(nest)?;
    let predicate = if counting.unsigned { "ult" } else { "slt" };
    Some(Builder::before(nest).cmpi(predicate, counting.lower, counting.upper))
}
