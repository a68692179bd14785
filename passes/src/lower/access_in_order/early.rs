//! What can be computed of the pieces so far is computed before the next one, if threads then keep less.
//!
//! ```mlir
//! %a = llvm.load %p[%x] ; regrain.barrier ; %b = llvm.load %p[%x + 256] ; regrain.barrier ; %c = llvm.load %p[%x + 512]
//! %s = llvm.add %a, %b ; %t = llvm.add %s, %c              // a thread keeps %a and %b
//! ```
//! becomes
//! ```mlir
//! %a = llvm.load %p[%x] ; regrain.barrier ; %b = llvm.load %p[%x + 256] ; %s = llvm.add %a, %b ; regrain.barrier ; ...
//! ```
//! Operations are moved, none is changed: a thread computes what it did, in the order it did.

use std::collections::HashSet;

use mlir_bridge::ir::{Op, Value};

/// Moves what can be computed of `read` and of what was made of it from behind `barrier` to before it.
pub(super) fn compute_before<'c>(barrier: Op<'c>, read: &HashSet<Op<'c>>) {
    let Some(block) = barrier.block() else { return };
    let mut found = Found::default();
    for op in block.ops() {
        if op == barrier {
            found.is_behind = true;
        } else {
            found.see(op, read);
        }
    }
    let held = |values: &[Value<'c>]| -> u64 { values.iter().map(|value| value.ty().layout(barrier).0).sum() };
    if held(&found.kept_after()) < held(&found.kept_before()) {
        found.moved.iter().for_each(|op| op.move_before(barrier));
    }
}

/// What is made of the pieces, in the order of the block.
#[derive(Default)]
struct Found<'c> {
    is_behind: bool,
    /// All values that are made of pieces or are to be, before the barrier.
    known: HashSet<Value<'c>>,
    /// Those that are there before anything is moved.
    there: Vec<Value<'c>>,
    moved: Vec<Op<'c>>,
    /// What stays behind the barrier.
    behind: HashSet<Op<'c>>,
}

impl<'c> Found<'c> {
    fn see(&mut self, op: Op<'c>, read: &HashSet<Op<'c>>) {
        let plain = op.num_regions() == 0 && op.is_pure();
        let of_pieces = plain && op.operands().iter().any(|operand| self.known.contains(operand));
        let can_move =
            || op.operands().iter().all(|operand| operand.defining_op().is_none_or(|by| !self.behind.contains(&by)));
        match self.is_behind {
            false if of_pieces || read.contains(&op) => {
                self.known.extend(op.results());
                self.there.extend(op.results());
            }
            true if of_pieces && can_move() => {
                self.known.extend(op.results());
                self.moved.push(op);
            }
            true => _ = self.behind.insert(op),
            false => {}
        }
    }

    /// What threads keep as it stands: what is used behind the barrier.
    fn kept_before(&self) -> Vec<Value<'c>> {
        let moved: HashSet<_> = self.moved.iter().copied().collect();
        let is_behind = |user: &Op<'c>| moved.contains(user) || self.stays_behind(*user);
        self.there.iter().copied().filter(|value| value.users().iter().any(is_behind)).collect()
    }

    /// What threads would keep.
    fn kept_after(&self) -> Vec<Value<'c>> {
        let all = self.there.iter().copied().chain(self.moved.iter().flat_map(|op| op.results()));
        all.filter(|value| value.users().iter().any(|user| self.stays_behind(*user))).collect()
    }

    fn stays_behind(&self, user: Op<'c>) -> bool {
        std::iter::successors(Some(user), |at| at.parent()).any(|at| self.behind.contains(&at))
    }
}
