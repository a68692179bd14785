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
mod free;

use mlir_bridge::ir::{Block, Builder, Mapping, Op, Value};

use super::{
    along::{
        DEPTH, Fact, Linear,
        Relation::{GreaterEqual, LessEqual},
        Row,
        hoisted::Hoisted,
    },
    runs,
};
use crate::analysis::{facts::is_nsw, loops::Counting};

/// Loops with more operations are not doubled.
const LARGEST: usize = 600;
/// An index of an address that gets simpler where `needed` holds of all threads that `known` holds of.
pub struct Candidate<'c> {
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
            specialise_loop(parallel, runs);
        }
    }
}

fn specialise_loop(parallel: Op<'_>, runs: bool) {
    let along = |axis: usize| {
        let row = Row::new(parallel, axis);
        let mut found = Vec::new();
        row.visit(parallel.body(), &[], &mut found);
        (row, found)
    };
    let (row, found) = along(0);
    if found.is_empty() {
        return;
    }
    match runs::blocks(parallel).filter(|_| runs) {
        Some(blocks) => row.cut(&found, blocks),
        // Along the other dimensions clamps alone are no reason for two versions.
        None => double(parallel, &[(row, found), along(1), along(2)]),
    }
}

/// Two versions of the whole loop.
fn double<'c>(parallel: Op<'c>, found: &[(Row<'c>, Vec<Candidate<'c>>)]) {
    let b = Builder::before(parallel);
    let mut all: Vec<_> = found.iter().map(|(row, _)| Hoisted::new(*row, b)).collect();
    let free = all.iter_mut().zip(found).map(|(hoisted, (_, found))| hoisted.all_hold(found));
    let free = free.reduce(|all, one| b.arith("andi", all, one)).unwrap_or_else(|| b.const_int(b.ctx().int(1), 1));
    let versions = b.scf_if(free, &[], true);
    for number in 0..2 {
        Builder::at_end(versions.region(number).entry(), b.loc).scf_yield(&[]);
    }
    let other = Builder::before_terminator(versions.region(1).entry(), b.loc);
    other.clone_op(parallel, &mut Mapping::new());
    for (hoisted, (row, found)) in all.iter_mut().zip(found) {
        hoisted.b = Builder::before(versions);
        row.simplify(found, hoisted);
    }
    if let Some(last) = versions.region(0).entry().terminator() {
        parallel.move_before(last);
    }
}

impl<'c> Row<'c> {
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
