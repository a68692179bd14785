//! Threads that a guard leaves out are not gone through.
//!
//! ```mlir
//! scf.parallel (%x, %y, ...) = (0, 0, ...) to (%nx, %ny, ...) { scf.if %x > %step && %x < %end && %inside { A } }
//! ```
//! becomes
//! ```mlir
//! scf.parallel (%x, %y, ...) = (%step + 1, 0, ...) to (min(%nx, %end), %ny, ...) { scf.if %inside { A } }
//! ```
//! Rows begin at the first thread that is selected, and none has a mask on account of the guard. It is done where the threads' own numbers
//! have a lower bound; the problem's edge, which most blocks do not meet, is asked of each row (`vectorize_threads::guards`). Other parts
//! of the guard bound the loop too where sums stay within 32 bits, and are asked all the same.
//!
//! Declined where threads have loops: rows of several registers, which rounds that wait for one another go by, are of whole blocks.

use mlir_bridge::ir::{Block, Builder, Op, Value};

use super::along::{
    DEPTH, Fact, Parts,
    Relation::{Greater, GreaterEqual},
    Row,
    hoisted::{Hoisted, Rounds},
};
use crate::{
    analysis::{facts::constant, loops::Counting, uniformity::repeatable},
    lower::vectorize_threads::is_of_warp,
};

/// A branch that is all that the threads of a loop do.
struct Guard<'c> {
    branch: Op<'c>,
    /// Whether its condition holds where it is taken.
    is_true: bool,
    taken: Block<'c>,
}

/// Bounds the thread loops of a block function by what guards them.
pub fn bound(function: Op<'_>) {
    for parallel in function.find_named("scf.parallel") {
        let dimensions = Counting::dimensions(parallel);
        let plain = dimensions.len() == 3 && dimensions.iter().all(Counting::is_plain) && parallel.num_results() == 0;
        if let Some(guard) = Guard::of(parallel).filter(|_| plain && !parallel.contains(is_of_warp)) {
            guard.bound(parallel);
        }
    }
}

impl<'c> Guard<'c> {
    fn of(parallel: Op<'c>) -> Option<Self> {
        let computes = |op: &Op<'c>| op.is_terminator() || op.num_regions() == 0 && repeatable(*op);
        let effects: Vec<_> = parallel.body().ops().into_iter().filter(|op| !computes(op)).collect();
        let [branch] = effects[..] else { return None };
        let loops = branch.contains(|op| matches!(op.name(), "scf.for" | "scf.while"));
        if !branch.is("scf.if") || branch.num_results() > 0 || loops {
            return None;
        }
        let full = |region: usize| branch.region(region).first_block().filter(|block| block.ops().len() > 1);
        match (full(0), full(1)) {
            (Some(taken), None) => Some(Self { branch, is_true: true, taken }),
            (None, Some(taken)) => Some(Self { branch, is_true: false, taken }),
            _ => None,
        }
    }

    fn bound(self, parallel: Op<'c>) {
        let mut bounded = Vec::new();
        let mut fits = Vec::new();
        for axis in (0..3).filter(|axis| constant(parallel.operand(3 + axis)) != Some(1)) {
            let row = Row::new(parallel, axis);
            let mut facts = Vec::new();
            row.learn(self.branch.operand(0), self.is_true, &mut facts, DEPTH);
            let selects =
                |fact: &Fact<'c>| fact.left.terms.is_empty() && matches!(fact.relation, Greater | GreaterEqual);
            if facts.iter().any(selects) {
                fits.extend(restrict(row, &facts));
                bounded.push(row);
            }
        }
        if bounded.is_empty() {
            return;
        }
        let b = Builder::before(self.branch);
        let (condition, i1) = (self.branch.operand(0), b.ctx().int(1));
        let [least, most] = [true, false].map(|all_fit| {
            let rest = Rest { b, bounded: &bounded, all_fit };
            rest.of(condition, self.is_true, DEPTH)
        });
        let always = || b.const_int(i1, i64::from(self.is_true));
        match (least, most, fits.into_iter().reduce(|all, one| Builder::before(parallel).arith("andi", all, one))) {
            (None, None, _) => {
                for op in self.taken.ops().into_iter().filter(|op| !op.is_terminator()) {
                    op.move_before(self.branch);
                }
                self.branch.erase();
            }
            (least, Some(most), Some(fits)) => {
                let select = |first, yes, no| b.value("arith.select", &[first, yes, no], i1);
                let [no, yes] = [0, 1].map(|number| b.const_int(i1, number));
                let least = least.unwrap_or_else(always);
                // The less that is asked where all fits decides alone; it is known of each row by scalars.
                let condition = match self.is_true {
                    true => select(select(fits, least, no), yes, most),
                    false => select(select(b.arith("xori", fits, yes), yes, least), most, no),
                };
                self.branch.set_operand(0, condition);
            }
            (_, most, _) => self.branch.set_operand(0, most.unwrap_or_else(always)),
        }
    }
}

/// What is still to be asked of a condition in loops that are bounded.
struct Rest<'c, 'r> {
    b: Builder<'c>,
    bounded: &'r [Row<'c>],
    /// Whether no sum is beyond 32 bits.
    all_fit: bool,
}

impl<'c> Rest<'c, '_> {
    /// What is to be asked of one that is to be `wanted`; `None` if that is nothing.
    fn of(&self, condition: Value<'c>, wanted: bool, depth: u32) -> Option<Value<'c>> {
        let Some(depth) = depth.checked_sub(1) else { return Some(condition) };
        let (b, i1) = (self.b, self.b.ctx().int(1));
        match Parts::of(condition, wanted) {
            Parts::Contrary(other) => {
                let rest = self.of(other, !wanted, depth)?;
                Some(b.arith("xori", rest, b.const_int(i1, 1)))
            }
            Parts::Both(parts) => {
                let [first, second] = parts.map(|part| self.of(part, wanted, depth));
                let Some((first, second)) = first.zip(second) else { return first.or(second) };
                let other = b.const_int(i1, i64::from(!wanted));
                let arms = if wanted { [second, other] } else { [other, second] };
                Some(b.value("arith.select", &[first, arms[0], arms[1]], i1))
            }
            Parts::Itself => {
                let holds = |fact: Fact<'c>| self.all_fit || fact.left.terms.is_empty();
                let known = |row: &Row<'c>| row.comparison(condition, wanted).is_some_and(holds);
                (!self.bounded.iter().any(known)).then_some(condition)
            }
        }
    }
}

/// Leaves a loop the threads that all of `facts` may hold of, if sums fit; gives what says whether they do.
fn restrict<'c>(row: Row<'c>, facts: &[Fact<'c>]) -> Vec<Value<'c>> {
    let mut all_fit = Vec::new();
    let b = Builder::before(row.parallel);
    let mut hoisted = Hoisted::new(row, b);
    let (mut first, mut last) = (hoisted.number(0), hoisted.last());
    for fact in facts {
        let (low, high) = hoisted.narrow(fact, Rounds::Some, first, last);
        let fits = hoisted.fits(&fact.left);
        let fits = hoisted.frozen(fits);
        if !fact.left.terms.is_empty() {
            all_fit.push(fits);
        }
        let i64 = b.ctx().int(64);
        let chosen = |narrow, wide| match fact.left.terms.is_empty() {
            true => hoisted.frozen(narrow),
            false => b.value("arith.select", &[fits, hoisted.frozen(narrow), wide], i64),
        };
        (first, last) = (chosen(low, first), chosen(high, last));
    }
    // Both within the block, which the end says too.
    let (index, size) = (b.ctx().index(), row.parallel.operand(3 + row.axis));
    let end = b.arith("addi", last, hoisted.number(1));
    let lower = b.arith("minsi", b.index_cast(first, index), size);
    let upper = b.arith("minsi", b.arith("maxsi", b.index_cast(end, index), lower), size);
    row.parallel.set_operand(row.axis, lower);
    row.parallel.set_operand(3 + row.axis, upper);
    all_fit
}
