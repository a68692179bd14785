//! What a thread computes that can be computed before its loop: of what is made outside, and of numbers that stand for those of threads.

use mlir_bridge::ir::{Builder, Mapping, Op, Value};

use crate::analysis::counted_loop::is_outside;

/// Whether a value only computes, in so many steps, with what is made outside of `parallel`, and with what `given` says is known.
pub fn is_known_before<'c>(parallel: Op<'c>, value: Value<'c>, given: &[Value<'c>], depth: u32) -> bool {
    if given.contains(&value) || is_outside(value, parallel) {
        return true;
    }
    let Some(op) = value.defining_op() else { return false };
    let computes = depth > 0 && op.num_regions() == 0 && op.is_pure();
    computes && op.operands().into_iter().all(|operand| is_known_before(parallel, operand, given, depth - 1))
}

/// Makes such a value at `b`; `mapping` has what stands for the numbers of threads.
pub fn computed<'c>(b: Builder<'c>, parallel: Op<'c>, value: Value<'c>, mapping: &mut Mapping<'c>) -> Value<'c> {
    let inside = value.defining_op().filter(|op| parallel.is_proper_ancestor_of(*op));
    let Some(op) = inside.filter(|_| mapping.get(value).is_none()) else { return mapping.get_or_self(value) };
    for operand in op.operands() {
        let now = computed(b, parallel, operand, mapping);
        mapping.map(operand, now);
    }
    b.clone_op(op, mapping);
    mapping.get_or_self(value)
}
