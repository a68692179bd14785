//! Which values may share cells, so that nothing is copied from one array to another.
//!
//! ```mlir
//! scf.while (%v = %init) {            // %v, %r, the argument of the second region and the result: one array
//!   %r = scf.if %c { ... yield %a } else { yield %v }
//!   scf.condition(%go) %r
//! } do { ^bb(%w): scf.yield %w }
//! ```
//! The result of a branch goes straight into the cells of what it ends up in, if nobody reads the old contents after that.

use mlir_bridge::ir::{Block, Op, Use, Value};

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

    /// Lets a value go straight into the cells of what a loop carries, if that starts with it and nothing else is to see it but what stands for the loop where
    /// there is no round of it.
    ///
    /// ```mlir
    /// %r = scf.if %c { %l = scf.for ... iter_args(%v = %init) { ... } ; yield %l } else { yield %init }      // %init, %v, %l and %r: one array
    /// ```
    pub fn place_start(&mut self, value: Value<'c>) {
        let uses = value.uses();
        let is_start =
            |used: &&Use<'c>| used.owner.is("scf.for") && used.operand > 2 && self.plan.syncing.contains(&used.owner);
        let (Some(start), Some(made)) = (uses.iter().find(is_start), value.defining_op()) else { return };
        let (begun, number) = (start.owner, start.operand - 3);
        // A loop around that the value is not in would start with it again.
        let is_if = |op: &Op<'c>| *op == begun || op.is("scf.if");
        let mut around = std::iter::successors(Some(begun), |op| op.parent()).take_while(is_if);
        if !around.any(|op| op.block() == made.block()) {
            return;
        }
        let (arg, result) = (begun.body().arg(1 + number), begun.result(number));
        let around = match result.uses()[..] {
            [only] if only.owner.block() == begun.block() => {
                begun.parent().filter(|op| op.is("scf.if")).zip(Some(only))
            }
            _ => None,
        };
        let stands_for_it = |used: &Use<'c>| {
            around.is_some_and(|(op, end)| {
                used.owner.is("scf.yield")
                    && used.owner.parent() == Some(op)
                    && used.operand == end.operand
                    && used.owner != end.owner
            })
        };
        if !self.plan.has_cells(arg) || !uses.iter().all(|used| used == start || stands_for_it(used)) {
            return;
        }
        let cells = self.cells_of(arg);
        self.place(value, cells);
        if let Some((op, end)) = around
            && self.plan.has_cells(op.result(end.operand))
        {
            self.place(op.result(end.operand), cells);
        }
    }

    /// Lets what a loop of each thread makes of a value that `block` carries, and of that alone, go straight into the cells of that value: it is
    /// read before, and never again. `carried` are the values, `next` what the next round gets for them.
    pub fn place_next(&mut self, block: Block<'c>, carried: &[Value<'c>], next: &[Value<'c>]) {
        for (value, made) in carried.iter().zip(next) {
            let inside = |op: &Op<'c>| op.is("scf.for") && op.block() == Some(block) && !self.plan.syncing.contains(op);
            let Some(op) = made.defining_op().filter(inside) else { continue };
            let alone =
                next.iter().filter(|other| *other == made).count() == 1 && value.has_uses() && is_for(*value, op);
            let varies = !self.plan.is_uniform(*value) && self.plan.kept.contains(made);
            if alone && varies && self.existing_cells(*made).is_none() {
                let cells = self.cells_of(*value);
                self.place(*made, cells);
            }
        }
    }

    /// The same of `scf.while`, where arguments are only passed on before the round.
    pub fn place_next_of_while(&mut self, op: Op<'c>, condition: Op<'c>) {
        let (before, after) = (op.region(0).entry(), op.region(1).entry());
        let Some(last) = after.terminator() else { return };
        let (mut carried, mut next) = (Vec::new(), Vec::new());
        for (value, made) in before.args().into_iter().zip(last.operands()) {
            let [only] = value.uses()[..] else { continue };
            let passed = only.owner == condition && only.operand > 0;
            let Some(inner) = passed.then(|| after.arg(only.operand - 1)) else { continue };
            let same = |a: Option<Cells<'c>>, b: Option<Cells<'c>>| a.zip(b).is_some_and(|(a, b)| a.base == b.base);
            if same(self.existing_cells(value), self.existing_cells(inner)) {
                carried.push(inner);
                next.push(made);
            }
        }
        self.place_next(after, &carried, &next);
    }

    /// The argument of a loop's first region that the second region gives `arg` back to.
    pub fn returned_to(&self, op: Op<'c>, arg: usize) -> Option<Value<'c>> {
        let (before, after) = (op.region(0).entry(), op.region(1).entry());
        let last = after.terminator()?;
        let number = last.operands().iter().position(|value| *value == after.arg(arg))?;
        Some(before.arg(number)).filter(|arg| !self.plan.is_uniform(*arg))
    }
}

/// Whether nothing reads a value but an operation, and what is computed for that alone beside it: so before it, and never again.
fn is_for<'c>(value: Value<'c>, op: Op<'c>) -> bool {
    value.uses().into_iter().all(|used| {
        let reader = used.owner;
        let is_step = reader.block() == op.block() && reader.num_regions() == 0 && reader.is_pure();
        reader == op || (is_step && reader.results().into_iter().all(|result| is_for(result, op)))
    })
}
