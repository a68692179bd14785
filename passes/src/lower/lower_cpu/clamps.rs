//! Clamps in addresses that no thread of a loop meets: a second version of the loop has none, and vectorises.
//!
//! Stencils hold their neighbours' indices within the array, `a[max(x - 1, 0)]`; along a row of threads that is no longer a
//! consecutive access. Most blocks never meet the clamp, or a branch around the access keeps out the threads that do:
//! ```mlir
//! scf.parallel (%x, ...) = ... {
//!   %west = arith.maxsi %x_less_1, %left
//!   %inside = llvm.icmp "sgt" %x, %step
//!   scf.if %inside { %p = llvm.getelementptr %tile[%west] ... }
//! ```
//! becomes
//! ```mlir
//! %free = (%step + 1) - 1 >= %left          // %x is at least %step + 1 where %inside holds
//! scf.if %free { scf.parallel { ... scf.if %inside { %p = llvm.getelementptr %tile[%x - 1] ... } }
//! } else { the loop as it was }
//! ```
//! A row of many blocks that go as one (`runs.rs`) nearly always meets the clamps at its ends. It is cut where blocks end instead: the
//! blocks in the middle have no clamps, those before and behind go as they were (`ends.rs`).
//!
//! The number of a loop with fixed bounds, as in `a[max(x + k, 0)]`, counts as a term that is all of its values.
//!
//! What is asked before the loop is exact: 64-bit arithmetic on 32-bit terms, and that x plus what is the same for all threads of
//! the block stays within 32 bits. Declines where the clamped value is not x plus such a term, or its bounds are not such terms.

mod ends;
mod hoisted;

use mlir_bridge::ir::{Block, Builder, Mapping, Op, Value};

use super::runs;
use crate::analysis::{
    counted_loop::is_outside,
    facts::{constant, is_nsw},
    loops::Counting,
};
use hoisted::Hoisted;

/// Loops with more operations are not doubled.
const LARGEST: usize = 600;
/// How far expressions are followed.
const DEPTH: u32 = 12;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

use Relation::{Greater, GreaterEqual, Less, LessEqual};

impl Relation {
    fn of(op: Op<'_>) -> Option<Self> {
        if !matches!(op.name(), "llvm.icmp" | "arith.cmpi") {
            return None;
        }
        match op.attr("predicate")?.as_int()? {
            2 => Some(Less),
            3 => Some(LessEqual),
            4 => Some(Greater),
            5 => Some(GreaterEqual),
            _ => None,
        }
    }

    fn negated(self) -> Self {
        match self {
            Less => GreaterEqual,
            LessEqual => Greater,
            Greater => LessEqual,
            GreaterEqual => Less,
        }
    }

    fn swapped(self) -> Self {
        match self {
            Less => Greater,
            LessEqual => GreaterEqual,
            Greater => Less,
            GreaterEqual => LessEqual,
        }
    }
}

/// x plus terms that are the same for all threads of the block, in 32 bits; the numbers of loops around count as such, with all of their values.
/// No polynomial of `regrain_tuning`: the sum is made again as it was, term by term, and equal terms are not joined.
#[derive(Clone, Default)]
struct Linear<'c> {
    /// Each with whether it is subtracted.
    terms: Vec<(Value<'c>, bool)>,
}

/// `left relation right`, where `right` is the same for all threads of the block.
#[derive(Clone)]
struct Fact<'c> {
    left: Linear<'c>,
    relation: Relation,
    right: Value<'c>,
}

/// An index of an address that gets simpler where `needed` holds of all threads that `known` holds of.
struct Candidate<'c> {
    address: Op<'c>,
    operand: usize,
    needed: Needed<'c>,
    known: Vec<Fact<'c>>,
}

/// What must hold for an index to be as simple as it is without its clamps.
#[derive(Default)]
struct Needed<'c> {
    facts: Vec<Fact<'c>>,
    /// These stay within 32 bits.
    linear: Vec<Linear<'c>>,
}

/// Makes second versions of the thread loops of a block function that have clamps nobody needs. With `runs` a loop is of many blocks.
pub fn specialise(function: Op<'_>, runs: bool) {
    for parallel in function.find_named("scf.parallel") {
        let mut count = 0;
        for _ in parallel.find_all(|_| true) {
            count += 1;
        }
        if count <= LARGEST && Counting::dimensions(parallel).first().is_some_and(Counting::is_plain) {
            Row { parallel, x: parallel.body().arg(0) }.specialise(runs);
        }
    }
}

/// A thread loop, seen along x.
#[derive(Clone, Copy)]
struct Row<'c> {
    parallel: Op<'c>,
    x: Value<'c>,
}

impl<'c> Row<'c> {
    fn specialise(self, runs: bool) {
        let mut found = Vec::new();
        self.visit(self.parallel.body(), &[], &mut found);
        if found.is_empty() {
            return;
        }
        match runs::blocks(self.parallel).filter(|_| runs) {
            Some(blocks) => self.cut(&found, blocks),
            None => self.double(&found),
        }
    }

    /// Two versions of the whole loop.
    fn double(self, found: &[Candidate<'c>]) {
        let b = Builder::before(self.parallel);
        let mut hoisted = Hoisted::new(self, b);
        let free = hoisted.all_hold(found);
        let versions = b.scf_if(free, &[], true);
        hoisted.b = Builder::before(versions);
        for number in 0..2 {
            Builder::at_end(versions.region(number).entry(), b.loc).scf_yield(&[]);
        }
        let other = Builder::before_terminator(versions.region(1).entry(), b.loc);
        other.clone_op(self.parallel, &mut Mapping::new());
        self.simplify(found, &mut hoisted);
        if let Some(last) = versions.region(0).entry().terminator() {
            self.parallel.move_before(last);
        }
    }

    /// Takes the clamps away.
    fn simplify(self, found: &[Candidate<'c>], hoisted: &mut Hoisted<'c>) {
        for candidate in found {
            let index = candidate.address.operand(candidate.operand);
            let simple = self.rebuild(Builder::before(candidate.address), index, hoisted);
            candidate.address.set_operand(candidate.operand, simple);
        }
    }

    /// Finds the candidates of a block where `known` holds of all threads that come there.
    fn visit(self, block: Block<'c>, known: &[Fact<'c>], found: &mut Vec<Candidate<'c>>) {
        for op in block.ops() {
            if op.is("scf.if") {
                for (number, region) in op.regions().into_iter().enumerate() {
                    let Some(block) = region.first_block() else { continue };
                    let mut here = known.to_vec();
                    self.learn(op.operand(0), number == 0, &mut here, DEPTH);
                    self.visit(block, &here, found);
                }
                continue;
            }
            for address in op.find_named("llvm.getelementptr") {
                for operand in 1..address.num_operands() {
                    let mut needed = Needed::default();
                    if self.simplifies(address.operand(operand), &mut needed, DEPTH) && !needed.facts.is_empty() {
                        found.push(Candidate { address, operand, needed, known: known.to_vec() });
                    }
                }
            }
        }
    }

    /// What follows from a condition that is true, or false.
    fn learn(self, condition: Value<'c>, is_true: bool, known: &mut Vec<Fact<'c>>, depth: u32) {
        let (Some(op), Some(depth)) = (condition.defining_op(), depth.checked_sub(1)) else { return };
        let truth = |value: Value<'c>| value.defining_op().and_then(Op::constant_int).map(|number| number != 0);
        let parts = match op.name() {
            "llvm.xor" | "arith.xori" if truth(op.operand(1)) == Some(true) => {
                return self.learn(op.operand(0), !is_true, known, depth);
            }
            "llvm.and" | "arith.andi" if is_true => op.operands(),
            "llvm.or" | "arith.ori" if !is_true => op.operands(),
            "llvm.select" | "arith.select" if is_true && truth(op.operand(2)) == Some(false) => {
                op.operands()[..2].to_vec()
            }
            "llvm.select" | "arith.select" if !is_true && truth(op.operand(1)) == Some(true) => {
                vec![op.operand(0), op.operand(2)]
            }
            "scf.if" => match chosen(op, condition, truth, is_true) {
                Some(value) => vec![op.operand(0), value],
                None => return,
            },
            _ => {
                known.extend(self.comparison(condition, is_true));
                return;
            }
        };
        for part in parts {
            self.learn(part, is_true, known, depth);
        }
    }

    /// A comparison of something linear in x, or its contrary.
    fn comparison(self, condition: Value<'c>, is_true: bool) -> Option<Fact<'c>> {
        let op = condition.defining_op()?;
        let relation = Relation::of(op)?;
        let (left, right) = (op.operand(0), op.operand(1));
        let (left, relation, right) = match self.linear(left, DEPTH) {
            Some(left) => (left, relation, right),
            None => (self.linear(right, DEPTH)?, relation.swapped(), left),
        };
        let relation = if is_true { relation } else { relation.negated() };
        self.is_fixed(right, DEPTH).then_some(Fact { left, relation, right })
    }

    fn is_outside(self, value: Value<'c>) -> bool {
        is_outside(value, self.parallel)
    }

    /// Whether a value is the same for all threads of the block and can be made before the loop.
    fn is_fixed(self, value: Value<'c>, depth: u32) -> bool {
        self.is_outside(value) || self.computes_from(value, depth, |operand, depth| self.is_fixed(operand, depth))
    }

    /// Whether a value can be a term of a sum: it is fixed, or counted by a loop.
    fn is_term(self, value: Value<'c>, depth: u32) -> bool {
        self.is_fixed(value, depth) || self.counted(value).is_some()
    }

    /// How the loop in the thread loop counts whose number a value is, where its bounds are fixed.
    fn counted(self, value: Value<'c>) -> Option<Counting<'c>> {
        let (owner, _, counting) = Counting::of_variable(value)?;
        let fixed = [counting.lower, counting.upper].into_iter().all(|bound| self.is_fixed(bound, DEPTH));
        let rises = constant(counting.step).is_some_and(|step| step > 0);
        (owner.is("scf.for") && value.ty().is_int(32) && fixed && rises && !counting.unsigned).then_some(counting)
    }

    /// Whether a value is the same for all threads along x.
    fn is_same_along(self, value: Value<'c>, depth: u32) -> bool {
        let number = value.block_arg().filter(|(block, _)| *block == self.parallel.body()).map(|(_, number)| number);
        self.is_outside(value)
            || number.is_some_and(|number| number != 0)
            || self.counted(value).is_some()
            || self.computes_from(value, depth, |operand, depth| self.is_same_along(operand, depth))
    }

    fn computes_from(self, value: Value<'c>, depth: u32, holds: impl Fn(Value<'c>, u32) -> bool) -> bool {
        let (Some(op), Some(depth)) = (value.defining_op(), depth.checked_sub(1)) else { return false };
        op.num_regions() == 0 && op.is_pure() && op.operands().into_iter().all(|operand| holds(operand, depth))
    }

    /// A 32-bit value as x plus fixed terms, apart from what does not fit into 32 bits.
    fn linear(self, value: Value<'c>, depth: u32) -> Option<Linear<'c>> {
        let (op, depth) = (value.defining_op()?, depth.checked_sub(1)?);
        if !value.ty().is_int(32) || self.is_outside(value) {
            return None;
        }
        let (inner, term, subtracted) = match op.name() {
            "arith.index_cast" | "arith.index_castui" if op.operand(0) == self.x => {
                return Some(Linear::default());
            }
            "llvm.add" | "arith.addi" if self.is_term(op.operand(0), depth) => (op.operand(1), op.operand(0), false),
            "llvm.add" | "arith.addi" => (op.operand(0), op.operand(1), false),
            "llvm.sub" | "arith.subi" => (op.operand(0), op.operand(1), true),
            _ => return None,
        };
        if !self.is_term(term, depth) {
            return None;
        }
        let mut terms = self.linear(inner, depth)?.terms;
        terms.push((term, subtracted));
        Some(Linear { terms })
    }

    /// The operand that is left of a clamp, and what must hold for that.
    fn clamp(self, value: Value<'c>) -> Option<(Value<'c>, Fact<'c>)> {
        let op = value.defining_op().filter(|_| value.ty().is_int(32) && !self.is_outside(value))?;
        let fixed = |value: Value<'c>| self.is_fixed(value, DEPTH);
        let relation = match op.name() {
            "arith.maxsi" | "llvm.intr.smax" => GreaterEqual,
            "arith.minsi" | "llvm.intr.smin" => LessEqual,
            "arith.select" | "llvm.select" => {
                let (yes, no) = (op.operand(1), op.operand(2));
                return match (fixed(yes), fixed(no)) {
                    (true, false) => Some((no, self.comparison(op.operand(0), false)?)),
                    (false, true) => Some((yes, self.comparison(op.operand(0), true)?)),
                    _ => None,
                };
            }
            _ => return None,
        };
        let (kept, bound) =
            if fixed(op.operand(0)) { (op.operand(1), op.operand(0)) } else { (op.operand(0), op.operand(1)) };
        fixed(bound).then_some(())?;
        Some((kept, Fact { left: self.linear(self.unclamped(kept), DEPTH)?, relation, right: bound }))
    }

    fn unclamped(self, value: Value<'c>) -> Value<'c> {
        self.clamp(value).map_or(value, |(kept, _)| self.unclamped(kept))
    }

    /// Whether an index is linear along x once its clamps are gone; they add what they need.
    fn simplifies(self, value: Value<'c>, needed: &mut Needed<'c>, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if self.is_same_along(value, DEPTH) {
            return true;
        }
        if let Some(linear) = self.linear(value, DEPTH) {
            needed.linear.push(linear);
            return true;
        }
        if let Some((kept, fact)) = self.clamp(value) {
            needed.facts.push(fact);
            return self.simplifies(kept, needed, depth);
        }
        let Some(op) = value.defining_op() else { return false };
        match op.name() {
            "llvm.sext" | "arith.extsi" | "arith.index_cast" => self.simplifies(op.operand(0), needed, depth),
            "llvm.add" | "arith.addi" | "llvm.sub" | "arith.subi" => {
                op.operands().into_iter().all(|operand| self.simplifies(operand, needed, depth))
            }
            "llvm.mul" | "arith.muli" => {
                let (a, b) = (op.operand(0), op.operand(1));
                let (varying, factor) = if self.is_same_along(a, DEPTH) { (b, a) } else { (a, b) };
                self.is_same_along(factor, DEPTH) && self.simplifies(varying, needed, depth)
            }
            _ => false,
        }
    }

    /// The index without its clamps.
    fn rebuild(self, b: Builder<'c>, value: Value<'c>, hoisted: &mut Hoisted<'c>) -> Value<'c> {
        if self.is_same_along(value, DEPTH) {
            return value;
        }
        if let Some(linear) = self.linear(value, DEPTH) {
            let i32 = b.ctx().int(32);
            let rest = hoisted.rest(b, &linear);
            let rest = b.value("arith.trunci", &[rest], i32);
            let spec = b.op("llvm.add").operands(&[b.index_cast(self.x, i32), rest]).result(i32);
            let exact = b.ctx().parse_attr("#llvm.overflow<nsw>");
            let spec = exact.into_iter().fold(spec, |spec, exact| spec.attr("overflowFlags", exact));
            return spec.build().result(0);
        }
        if let Some((kept, _)) = self.clamp(value) {
            return self.rebuild(b, kept, hoisted);
        }
        let Some(op) = value.defining_op() else { return value };
        if matches!(op.name(), "llvm.sext" | "arith.extsi") && value.ty().is_int(64) && op.operand(0).ty().is_int(32) {
            return self.rebuild_wide(b, op.operand(0), hoisted);
        }
        let mut mapping = Mapping::new();
        for operand in op.operands() {
            let simple = self.rebuild(b, operand, hoisted);
            mapping.map(operand, simple);
        }
        b.clone_op(op, &mut mapping).result(0)
    }

    /// As `rebuild`, of a value extended to 64 bits, in which the analyses of addresses need no proof that nothing wraps.
    fn rebuild_wide(self, b: Builder<'c>, value: Value<'c>, hoisted: &mut Hoisted<'c>) -> Value<'c> {
        let i64 = b.ctx().int(64);
        if let Some(linear) = self.linear(value, DEPTH) {
            return b.arith("addi", b.index_cast(self.x, i64), hoisted.rest(b, &linear));
        }
        if let Some((kept, _)) = self.clamp(value) {
            return self.rebuild_wide(b, kept, hoisted);
        }
        let arithmetic = value.defining_op().filter(|op| !self.is_same_along(value, DEPTH) && is_nsw(*op));
        let name = match arithmetic.map(Op::name) {
            Some("llvm.add" | "arith.addi") => "addi",
            Some("llvm.sub" | "arith.subi") => "subi",
            Some("llvm.mul" | "arith.muli") => "muli",
            _ => {
                let narrow = self.rebuild(b, value, hoisted);
                return b.value("arith.extsi", &[narrow], i64);
            }
        };
        let operands = arithmetic.map(Op::operands).unwrap_or_default();
        let (left, right) = (self.rebuild_wide(b, operands[0], hoisted), self.rebuild_wide(b, operands[1], hoisted));
        b.arith(name, left, right)
    }
}

/// The value that an `scf.if` must have yielded, if its other branch always yields the contrary of `is_true`.
fn chosen<'c>(
    op: Op<'c>,
    result: Value<'c>,
    constant: impl Fn(Value<'c>) -> Option<bool>,
    is_true: bool,
) -> Option<Value<'c>> {
    let number = result.result_number()?;
    let yielded = |region: usize| Some(op.region(region).first_block()?.terminator()?.operand(number));
    // `if c { v } else { false }` is true where c and v are; `if c { true } else { v }` is false where neither is.
    let (value, other) = if is_true { (yielded(0)?, yielded(1)?) } else { (yielded(1)?, yielded(0)?) };
    (constant(other) == Some(!is_true)).then_some(value)
}
