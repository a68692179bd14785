//! The test that a search ends by.
//!
//! ```mlir
//! scf.while (%k = %c0) : (i32) -> (i32) {
//!   %inside = llvm.icmp "slt" %k, %n
//!   %go = scf.if %inside -> (i1) { %v = llvm.load %limit ... scf.yield %more } else { scf.yield %false }
//!   scf.condition(%go) %next
//! }
//! ```
//! Where the branch is not taken the loop ends. So it is taken in the first round if in any, which `%inside` of what the loop begins with
//! tells before it.

use mlir_bridge::ir::{Builder, Mapping, Op, Value};

use super::is_plain_computation;
use crate::analysis::facts::constant;

/// A branch of a `scf.while` without which it ends.
pub struct Test<'c> {
    pub branch: Op<'c>,
    /// What its condition is computed of, in order.
    slice: Vec<Op<'c>>,
}

impl<'c> Test<'c> {
    /// The test of a loop, if it has one that can be told before it.
    pub fn of(nest: Op<'c>) -> Option<Self> {
        let before = nest.is("scf.while").then(|| nest.region(0).single_block())??;
        let mut wanted = before.terminator()?.operand(0);
        while let Some(same) = wanted.defining_op().filter(|op| op.is("arith.trunci")) {
            wanted = same.operand(0);
        }
        let branch = wanted.defining_op().filter(|op| op.is("scf.if") && op.parent() == Some(nest))?;
        let place = branch.results().iter().position(|result| *result == wanted)?;
        let otherwise = branch.region(1).single_block()?.terminator()?;
        if constant(otherwise.operand(place)) != Some(0) {
            return None;
        }
        let mut needed = vec![branch.operand(0)];
        let mut slice = Vec::new();
        let ops: Vec<_> = before.ops().into_iter().take_while(|op| *op != branch).collect();
        for op in ops.into_iter().rev().filter(|op| op.num_results() > 0) {
            if op.results().iter().any(|result| needed.contains(result)) {
                if op.num_regions() > 0 || !is_plain_computation(op) {
                    return None;
                }
                needed.extend(op.operands());
                slice.push(op);
            }
        }
        slice.reverse();
        Some(Self { branch, slice })
    }

    /// Whether the branch is taken in the first round, computed before the loop.
    pub fn before(&self, nest: Op<'c>) -> Value<'c> {
        let b = Builder::before(nest);
        let mut mapping = Mapping::new();
        mapping.map_all(&nest.region(0).entry().args(), &nest.operands());
        for op in &self.slice {
            b.clone_op(*op, &mut mapping);
        }
        mapping.get_or_self(self.branch.operand(0))
    }
}
