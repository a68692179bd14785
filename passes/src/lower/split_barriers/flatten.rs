//! Conditions that C's `&&` and `||` make of branches, as selections.
//!
//! ```mlir
//! %inside = scf.if %left -> (i1) { %right = llvm.icmp ... ; scf.yield %right } else { scf.yield %false }
//! ```
//! becomes
//! ```mlir
//! %right = llvm.icmp ... ; %inside = arith.select %left, %right, %false
//! ```
//! A later thread loop can compute it again, and who is selected is known of each part.

use mlir_bridge::ir::{Block, Builder, Op};

/// The most operations that run where one branch alone would have run them.
const LARGEST: usize = 12;

/// Makes selections of the branches in a block loop that only compute conditions.
pub fn flatten(block: Op<'_>) {
    // Those within come first.
    for op in block.find_named("scf.if").into_iter().rev().filter(|op| computes_conditions(*op)) {
        let condition = op.operand(0);
        let ends = [0, 1].map(|region| op.region(region).entry().terminator());
        let [Some(yes), Some(no)] = ends else { continue };
        for inner in [0, 1].into_iter().flat_map(|region| op.region(region).entry().ops()) {
            if !inner.is_terminator() {
                inner.move_before(op);
            }
        }
        let b = Builder::before(op);
        let pairs = yes.operands().into_iter().zip(no.operands());
        let made: Vec<_> = pairs.map(|(yes, no)| b.value("arith.select", &[condition, yes, no], yes.ty())).collect();
        op.replace_with(&made);
    }
}

fn computes_conditions(op: Op<'_>) -> bool {
    let blocks: Vec<Block<'_>> = op.regions().into_iter().filter_map(|region| region.first_block()).collect();
    let harmless = |op: &Op<'_>| op.is_terminator() || op.num_regions() == 0 && op.is_pure();
    let count: usize = blocks.iter().map(|block| block.ops().len() - 1).sum();
    op.num_results() > 0
        && op.results().iter().all(|result| result.ty().is_int(1))
        && blocks.len() == 2
        && count <= LARGEST
        && blocks.iter().all(|block| block.ops().iter().all(harmless))
}
