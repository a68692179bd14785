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
//! What is asked before the loop is exact: 64-bit arithmetic on 32-bit terms, and that x plus what is the same for all threads of
//! the block stays within 32 bits. Declines where the clamped value is not x plus such a term, or its bounds are not such terms.

use std::collections::HashMap;

use mlir_bridge::ir::{Block, Builder, Mapping, Op, Type, Value};

use crate::facts::is_nsw;

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

/// x plus terms that are the same for all threads of the block, in 32 bits.
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

/// Makes second versions of the thread loops of a block function that have clamps nobody needs.
pub fn specialise(function: Op<'_>) {
    for parallel in function.find_named("scf.parallel") {
        let mut count = 0;
        for _ in parallel.find_all(|_| true) {
            count += 1;
        }
        if count <= LARGEST && starts_at_zero(parallel) {
            Row { parallel, x: parallel.body().arg(0) }.specialise();
        }
    }
}

fn starts_at_zero(parallel: Op<'_>) -> bool {
    let number = |operand: usize| parallel.operand(operand).defining_op().and_then(Op::constant_int);
    number(0) == Some(0) && number(6) == Some(1)
}

/// A thread loop, seen along x.
#[derive(Clone, Copy)]
struct Row<'c> {
    parallel: Op<'c>,
    x: Value<'c>,
}

impl<'c> Row<'c> {
    fn specialise(self) {
        let mut found = Vec::new();
        self.visit(self.parallel.body(), &[], &mut found);
        if found.is_empty() {
            return;
        }
        let b = Builder::before(self.parallel);
        let mut hoisted = Hoisted { row: self, b, made: HashMap::new() };
        let free = hoisted.all_hold(&found);
        let versions = b.scf_if(free, &[], true);
        hoisted.b = Builder::before(versions);
        for number in 0..2 {
            Builder::at_end(versions.region(number).entry(), b.loc).scf_yield(&[]);
        }
        let other = Builder::before_terminator(versions.region(1).entry(), b.loc);
        other.clone_op(self.parallel, &mut Mapping::new());
        for candidate in &found {
            let index = candidate.address.operand(candidate.operand);
            let simple = self.rebuild(Builder::before(candidate.address), index, &mut hoisted);
            candidate.address.set_operand(candidate.operand, simple);
        }
        if let Some(last) = versions.region(0).entry().terminator() {
            self.parallel.move_before(last);
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
        let constant = |value: Value<'c>| value.defining_op().and_then(Op::constant_int).map(|number| number != 0);
        let parts = match op.name() {
            "llvm.xor" | "arith.xori" if constant(op.operand(1)) == Some(true) => {
                return self.learn(op.operand(0), !is_true, known, depth);
            }
            "llvm.and" | "arith.andi" if is_true => op.operands(),
            "llvm.or" | "arith.ori" if !is_true => op.operands(),
            "llvm.select" | "arith.select" if is_true && constant(op.operand(2)) == Some(false) => op.operands()[..2].to_vec(),
            "llvm.select" | "arith.select" if !is_true && constant(op.operand(1)) == Some(true) => {
                vec![op.operand(0), op.operand(2)]
            }
            "scf.if" => match chosen(op, condition, constant, is_true) {
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
        let owner = value.parent_block().and_then(Block::parent_op);
        owner.is_some_and(|owner| !self.parallel.is_ancestor_of(owner))
    }

    /// Whether a value is the same for all threads of the block and can be made before the loop.
    fn is_fixed(self, value: Value<'c>, depth: u32) -> bool {
        self.is_outside(value) || self.computes_from(value, depth, |operand, depth| self.is_fixed(operand, depth))
    }

    /// Whether a value is the same for all threads along x.
    fn is_same_along(self, value: Value<'c>, depth: u32) -> bool {
        let number = value.block_arg().filter(|(block, _)| *block == self.parallel.body()).map(|(_, number)| number);
        self.is_outside(value)
            || number.is_some_and(|number| number != 0)
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
            "llvm.add" | "arith.addi" if self.is_fixed(op.operand(0), depth) => (op.operand(1), op.operand(0), false),
            "llvm.add" | "arith.addi" => (op.operand(0), op.operand(1), false),
            "llvm.sub" | "arith.subi" => (op.operand(0), op.operand(1), true),
            _ => return None,
        };
        if !self.is_fixed(term, depth) {
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
        let (kept, bound) = if fixed(op.operand(0)) { (op.operand(1), op.operand(0)) } else { (op.operand(0), op.operand(1)) };
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
            let rest = hoisted.sum(&linear);
            let rest = hoisted.b.value("arith.trunci", &[rest], i32);
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
            return b.arith("addi", b.index_cast(self.x, i64), hoisted.sum(&linear));
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

/// What is computed before the loop.
struct Hoisted<'c> {
    row: Row<'c>,
    b: Builder<'c>,
    made: HashMap<Value<'c>, Value<'c>>,
}

impl<'c> Hoisted<'c> {
    fn i64(&self) -> Type<'c> {
        self.b.ctx().int(64)
    }

    /// A fixed value, made before the loop.
    fn fixed(&mut self, value: Value<'c>) -> Value<'c> {
        if self.row.is_outside(value) {
            return value;
        }
        if let Some(made) = self.made.get(&value) {
            return *made;
        }
        let Some(op) = value.defining_op() else { return value };
        let mut mapping = Mapping::new();
        for operand in op.operands() {
            let now = self.fixed(operand);
            mapping.map(operand, now);
        }
        let copy = self.b.clone_op(op, &mut mapping);
        let made = copy.result(value.result_number().unwrap_or(0));
        self.made.insert(value, made);
        made
    }

    fn wide(&mut self, value: Value<'c>) -> Value<'c> {
        let value = self.fixed(value);
        self.b.value("arith.extsi", &[value], self.i64())
    }

    /// What is added to x, an i64.
    fn sum(&mut self, linear: &Linear<'c>) -> Value<'c> {
        let mut total = self.b.const_int(self.i64(), 0);
        for (term, subtracted) in &linear.terms {
            let term = self.wide(*term);
            total = self.b.arith(if *subtracted { "subi" } else { "addi" }, total, term);
        }
        total
    }

    /// Whether all candidates are what they would be without their clamps.
    fn all_hold(&mut self, candidates: &[Candidate<'c>]) -> Value<'c> {
        let mut all = self.b.const_int(self.b.ctx().int(1), 1);
        for candidate in candidates {
            let (mut low, mut high) = (self.b.const_int(self.i64(), 0), self.last());
            let mut conditions = Vec::new();
            for fact in &candidate.known {
                // What follows from a value that does not fit is not known.
                conditions.push(self.fits(&fact.left));
                (low, high) = self.narrow(fact, low, high);
            }
            for fact in &candidate.needed.facts {
                conditions.push(self.fits(&fact.left));
                conditions.push(self.holds(fact, low, high));
            }
            for linear in &candidate.needed.linear {
                conditions.push(self.fits(linear));
            }
            for condition in conditions {
                // One that no thread asks for may be made from anything; it must not decide for the others.
                let condition = self.b.value("llvm.freeze", &[condition], condition.ty());
                all = self.b.arith("andi", all, condition);
            }
        }
        all
    }

    /// The last x.
    fn last(&mut self) -> Value<'c> {
        let size = self.b.index_cast(self.row.parallel.operand(3), self.i64());
        self.b.arith("subi", size, self.b.const_int(self.i64(), 1))
    }

    /// Whether x plus the terms stays within 32 bits for all threads.
    fn fits(&mut self, linear: &Linear<'c>) -> Value<'c> {
        let b = self.b;
        if linear.terms.is_empty() {
            return b.const_int(b.ctx().int(1), 1);
        }
        let low = self.sum(linear);
        let high = b.arith("addi", low, self.last());
        let above = b.cmpi("sge", low, b.const_int(self.i64(), i32::MIN.into()));
        let below = b.cmpi("sle", high, b.const_int(self.i64(), i32::MAX.into()));
        b.arith("andi", above, below)
    }

    /// The range of x where a fact holds too.
    fn narrow(&mut self, fact: &Fact<'c>, low: Value<'c>, high: Value<'c>) -> (Value<'c>, Value<'c>) {
        let b = self.b;
        let (right, left) = (self.wide(fact.right), self.sum(&fact.left));
        let bound = b.arith("subi", right, left);
        let one = b.const_int(self.i64(), 1);
        match fact.relation {
            Greater => (b.arith("maxsi", low, b.arith("addi", bound, one)), high),
            GreaterEqual => (b.arith("maxsi", low, bound), high),
            Less => (low, b.arith("minsi", high, b.arith("subi", bound, one))),
            LessEqual => (low, b.arith("minsi", high, bound)),
        }
    }

    /// Whether a fact holds for all x from `low` to `high`.
    fn holds(&mut self, fact: &Fact<'c>, low: Value<'c>, high: Value<'c>) -> Value<'c> {
        let b = self.b;
        let (right, left) = (self.wide(fact.right), self.sum(&fact.left));
        let (predicate, end) = match fact.relation {
            Greater => ("sgt", low),
            GreaterEqual => ("sge", low),
            Less => ("slt", high),
            LessEqual => ("sle", high),
        };
        b.cmpi(predicate, b.arith("addi", end, left), right)
    }
}
