//! Which values may share cells, so that nothing is copied from one array to another.
//!
//! ```mlir
//! scf.while (%v = %init) {            // %v, %r, the argument of the second region and the result: one array
//!   %r = scf.if %c { ... yield %a } else { yield %v }
//!   scf.condition(%go) %r
//! } do { ^bb(%w): scf.yield %w }
//! ```
//! The result of a branch goes straight into the cells of what it ends up in, if nobody reads the old contents after that.

use mlir_bridge::ir::{Op, Use, Value};

use super::{emit::Emitter, memory::Cells};

/// Where a value passed on by a terminator ends up: a result of an operation, and whether the next round carries it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Destination<'c> {
    owner: Op<'c>,
    number: usize,
}

impl<'c> Emitter<'c, '_> {
    /// Follows a value through branches that only pass it on.
    fn destination(&self, used: Use<'c>) -> Option<Destination<'c>> {
        let owner = used.owner.parent().filter(|owner| self.plan.syncing.contains(owner))?;
        match used.owner.name() {
            "scf.condition" => Some(Destination { owner, number: used.operand.checked_sub(1)? }),
            "scf.yield" if owner.is("scf.if") => {
                let result = owner.result(used.operand);
                let further = match result.uses()[..] {
                    [only] => self.destination(only),
                    _ => None,
                };
                Some(further.unwrap_or(Destination { owner, number: used.operand }))
            }
            "scf.yield" if owner.is("scf.for") => Some(Destination { owner, number: used.operand }),
            _ => None,
        }
    }

    /// The cells that the result of a branch may be written to, if it needs none of its own.
    pub fn shared_cells(&mut self, result: Value<'c>) -> Option<Cells<'c>> {
        let [only] = result.uses()[..] else { return None };
        let end = self.destination(only)?;
        let cells = self.existing_cells(end.owner.result(end.number))?;
        let carried: Vec<_> = match end.owner.name() {
            "scf.for" => vec![end.owner.body().arg(1 + end.number)],
            "scf.while" => end.owner.region(0).entry().args(),
            _ => return Some(cells),
        };
        for arg in carried {
            if self.existing_cells(arg).is_some_and(|other| other.base == cells.base) {
                let only_passed = arg.uses().into_iter().all(|used| self.destination(used) == Some(end));
                if !only_passed {
                    return None;
                }
            }
        }
        Some(cells)
    }

    /// The argument of a loop's first region that the second region gives `arg` back to.
    pub fn returned_to(&self, op: Op<'c>, arg: usize) -> Option<Value<'c>> {
        let (before, after) = (op.region(0).entry(), op.region(1).entry());
        let last = after.terminator()?;
        let number = last.operands().iter().position(|value| *value == after.arg(arg))?;
        Some(before.arg(number)).filter(|arg| !self.plan.is_uniform(*arg))
    }
}
