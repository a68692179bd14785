//! Stack memory that no thread loop finds anything in.
//!
//! ```mlir
//! scf.for %k = ... {
//!   llvm.intr.lifetime.start %a           // what %a held before is gone
//!   llvm.store %v, %a ; llvm.load %a      // in the same thread loop
//!   barrier
//! ```
//! Such memory is no part of what a thread keeps across a barrier: all threads can use the same, one after the other.

use std::collections::HashSet;

use mlir_bridge::ir::Op;
use regrain_dialects::attributes::SCOPED;

use crate::lower::stack;

const BEGINS: &str = "llvm.intr.lifetime.start";

/// Marks the stack memory whose every access comes behind a start of its lifetime in the same thread loop; then nothing is left that
/// says where lifetimes start. `syncing` are the operations between thread loops.
pub fn mark<'c>(block: Op<'c>, syncing: &HashSet<Op<'c>>) {
    for alloca in block.find_named("llvm.alloca") {
        let memory = alloca.result(0);
        let starts: Vec<_> = memory.users().into_iter().filter(|user| user.is(BEGINS)).collect();
        let behind = |access: Op<'c>| starts.iter().any(|start| reaches(*start, access, syncing));
        if !starts.is_empty() && stack::is_accessed_only(memory, &behind) {
            alloca.set_attr(SCOPED, alloca.ctx().unit_attr());
        }
    }
    block.find_named(BEGINS).into_iter().for_each(Op::erase);
}

/// Whether `from` always runs before `to`, and nothing synchronises between the two.
fn reaches<'c>(from: Op<'c>, to: Op<'c>, syncing: &HashSet<Op<'c>>) -> bool {
    let mut to = to;
    while to.block() != from.block() {
        let Some(parent) = to.parent().filter(|parent| !syncing.contains(parent)) else { return false };
        to = parent;
    }
    let between = from.block().into_iter().flat_map(|block| block.ops()).skip_while(|op| *op != from);
    let between: Vec<_> = between.take_while(|op| *op != to).collect();
    from == to || (!between.is_empty() && between.iter().all(|op| !syncing.contains(op)))
}
