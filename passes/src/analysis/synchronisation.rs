//! Which operations threads meet at, and the control flow around them.
//!
//! ```mlir
//! scf.if %c {                       // a structure; %c is decisive
//!   regrain.barrier(%x, %y, %z)     // a barrier of the loop over %x
//! }
//! ```

use mlir_bridge::ir::{Block, Op, Region, Value};
use regrain_dialects::ops::is_barrier;

use crate::analysis::loops::Counting;

/// Control flow that can hold synchronising operations.
pub const STRUCTURES: &[&str] = &["scf.if", "scf.for", "scf.while", "scf.index_switch"];

/// Control flow that copies can share.
pub fn is_structure(op: Op<'_>) -> bool {
    let known = STRUCTURES.contains(&op.name()) || op.is("scf.parallel");
    known && op.regions().into_iter().all(|region| region.is_empty() || region.single_block().is_some())
}

/// The values that decide how often the regions of a structure run.
pub fn decisive<'c>(op: Op<'c>) -> Vec<Value<'c>> {
    match op.name() {
        "scf.if" | "scf.index_switch" => vec![op.operand(0)],
        "scf.for" => Counting::of(op).map_or_else(Vec::new, |counting| counting.bounds().to_vec()),
        "scf.while" => op.region(0).entry().terminator().map(|end| vec![end.operand(0)]).unwrap_or_default(),
        _ => op.operands(),
    }
}

/// The one region of a conditional that holds barriers.
pub fn region_with_barriers(op: Op<'_>) -> Option<usize> {
    let holds =
        |region: &Region<'_>| region.blocks().into_iter().flat_map(Block::ops).any(|op| op.contains(is_barrier));
    let holding: Vec<_> = op.regions().iter().enumerate().filter(|(_, region)| holds(region)).map(|(n, _)| n).collect();
    if holding.len() == 1 && op.is("scf.if") { holding.first().copied() } else { None }
}
