//! `regrain-merge-common-values`: what was computed before is not computed again.
//!
//! Before:                                      After:
//!   %a = llvm.mul %i, %n : i64                   %a = llvm.mul %i, %n : i64
//!   %b = llvm.mul %i, %n : i64
//!   llvm.call @use(%a, %b)                       llvm.call @use(%a, %a)
//!
//! Coarsening leaves such copies, of whatever does not depend on the copy. Operations are equal if name, operands, attributes
//! and result types are, and if both only compute: loads are for `regrain-forward-stores`. What is left without use goes.
//!
//! Declines operations with regions, and whatever may give another result the second time.

use std::collections::HashMap;

use mlir_bridge::{
    ir::{Attr, Block, Op, Type, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};

use crate::{optimise::targets::targets, analysis::uniformity::repeatable};

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-merge-common-values",
    summary: "compute equal values once",
    anchor: Anchor::Any,
    options: &[],
    dialects: &["regrain"],
    run,
};

fn run(_run: &PassRun<'_>, root: Op<'_>) -> PassResult {
    for target in targets(root) {
        merge(target);
    }
    Ok(())
}

/// What makes two operations equal.
#[derive(PartialEq, Eq, Hash)]
struct Key<'c> {
    name: &'c str,
    operands: Vec<Value<'c>>,
    attrs: Vec<(&'c str, Attr<'c>)>,
    types: Vec<Type<'c>>,
}

/// Merges equal values in a launch or loop; gives how many operations went.
pub fn merge(target: Op<'_>) -> usize {
    let merged = regions(target, &mut HashMap::new());
    sweep(target);
    merged
}

fn regions<'c>(op: Op<'c>, seen: &mut HashMap<Key<'c>, Op<'c>>) -> usize {
    op.regions().into_iter().flat_map(|region| region.blocks()).map(|inner| block(inner, seen)).sum()
}

/// Merges within a block, where `seen` holds what stands before and around it.
fn block<'c>(block: Block<'c>, seen: &mut HashMap<Key<'c>, Op<'c>>) -> usize {
    let mut merged = 0;
    let mut added = Vec::new();
    for op in block.ops() {
        if op.num_regions() > 0 {
            merged += regions(op, seen);
        } else if is_mergeable(op) {
            let key = key(op);
            match seen.get(&key) {
                Some(first) => {
                    op.replace_with(&first.results());
                    merged += 1;
                }
                None => {
                    seen.insert(key, op);
                    added.push(op);
                }
            }
        }
    }
    for op in added {
        seen.remove(&key(op));
    }
    merged
}

fn is_mergeable(op: Op<'_>) -> bool {
    op.num_results() > 0 && !op.is("llvm.load") && !op.is_terminator() && repeatable(op)
}

fn key<'c>(op: Op<'c>) -> Key<'c> {
    let types = op.results().into_iter().map(Value::ty).collect();
    Key { name: op.name(), operands: op.operands(), attrs: op.attrs(), types }
}

/// Erases what has no use and no effect, inner before outer, users before what they use.
pub fn sweep(root: Op<'_>) {
    let mut all = root.find_all(|op| op != root);
    all.reverse();
    for op in all {
        if op.num_results() > 0 && op.num_regions() == 0 && op.is_trivially_dead() {
            op.erase();
        }
    }
}
