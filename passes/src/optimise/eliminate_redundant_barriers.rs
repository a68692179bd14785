//! `regrain-eliminate-redundant-barriers`: a barrier that orders nothing goes.
//!
//! ```text
//! Before:                                          After:
//!   llvm.store %a, %tile[%x]                         llvm.store %a, %tile[%x]
//!   regrain.barrier(%x, %y, %z)
//!   %v = llvm.load %tile[%x]                         %v = llvm.load %tile[%x]
//!   regrain.barrier(%x, %y, %z)                      regrain.barrier(%x, %y, %z)
//!   %w = llvm.load %tile[%x + 1]                     %w = llvm.load %tile[%x + 1]
//!   regrain.barrier(%x, %y, %z)
//! ```
//!
//! A barrier orders what threads do since the barriers before it with what others do up to the barriers after it, by all ways
//! through loops and conditions (`phases.rs`). It goes if no two of these accesses can be of one place by different threads,
//! one of them writing (`accesses.rs`): the accesses at `%tile[%x]` are each thread's own.
//!
//! Declines for a loop with named or counted barriers, and where control flow around a barrier differs between threads: there
//! one of two barriers goes only if nothing at all is between them. Declines for a barrier with calls, atomic or volatile
//! accesses or operations of a warp on either side.

use std::collections::HashSet;

use mlir_bridge::{
    ir::{Block, Op, Walk},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::{Barrier, is_barrier, thread_loop};
use tracing::debug;

use crate::{
    analysis::accesses::{Effects, MemoryAnalysis},
    analysis::phases::{Phases, is_plain},
    optimise::targets::targets,
};

const NAME: &str = "regrain-eliminate-redundant-barriers";

/// The most pairs of accesses that are compared for one barrier.
const PAIRS: usize = 1 << 16;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    summary: "remove barriers that order no accesses of memory",
    anchor: Anchor::Any,
    options: &[],
    dialects: &["regrain"],
    run,
};

fn run(_run: &PassRun<'_>, root: Op<'_>) -> PassResult {
    let removed: usize = targets(root).into_iter().map(eliminate).sum();
    debug!(target: NAME, "removed {removed} barriers");
    Ok(())
}

/// Removes the redundant barriers of a launch or loop; gives their number.
pub fn eliminate(target: Op<'_>) -> usize {
    let mut removed = 0;
    target.walk_pre(|op| {
        removed += op.regions().into_iter().flat_map(|region| region.blocks()).map(clean).sum::<usize>();
        Walk::Advance
    });
    let loops: HashSet<_> = target.find_all(is_barrier).into_iter().filter_map(thread_loop).collect();
    removed + loops.into_iter().map(eliminate_in).sum::<usize>()
}

/// Removes the redundant barriers of one loop over threads.
fn eliminate_in(block: Op<'_>) -> usize {
    let memory = MemoryAnalysis::new(block);
    let mut phases = Phases::new(block, &memory);
    if !phases.are_known() {
        debug!(target: NAME, "control flow around a barrier differs between threads, or a barrier is of part of the block");
        return 0;
    }
    let mut redundant = Vec::new();
    for barrier in phases.barriers().into_iter().filter(|op| Barrier::is(*op)) {
        match why_needed(&memory, &phases.before(barrier), &phases.after(barrier)) {
            None => {
                phases.remove(barrier);
                redundant.push(barrier);
            }
            Some(why) => debug!(target: NAME, "{:?}: kept, {why}", barrier.loc().file_line()),
        }
    }
    for barrier in &redundant {
        barrier.erase();
    }
    redundant.len()
}

/// Why accesses must stay apart.
fn why_needed<'c>(memory: &MemoryAnalysis<'c>, before: &Effects<'c>, after: &Effects<'c>) -> Option<&'static str> {
    let nothing = |effects: &Effects<'c>| effects.accesses.is_empty() && !effects.unknown;
    if nothing(before) || nothing(after) {
        return None;
    }
    if before.unknown || after.unknown {
        return Some("it may order more than plain accesses");
    }
    if before.accesses.len() * after.accesses.len() > PAIRS {
        return Some("too many accesses are beside it");
    }
    let meet = before.accesses.iter().any(|a| after.accesses.iter().any(|b| memory.conflict(a, b)));
    meet.then_some("two threads may use one place")
}

/// Removes barriers that directly follow a barrier of the same loop in one block; gives their number.
fn clean(block: Block<'_>) -> usize {
    let mut removed = 0;
    // The last barrier, while nothing after it touched memory.
    let mut last: Option<Barrier<'_>> = None;
    for op in block.ops() {
        let Some(barrier) = Barrier::cast(op) else {
            if !op.is_memory_effect_free() {
                last = None;
            }
            continue;
        };
        match last {
            Some(earlier) if is_plain(op) && earlier.ivs() == barrier.ivs() => {
                op.erase();
                removed += 1;
            }
            _ => last = is_plain(op).then_some(barrier),
        }
    }
    removed
}
