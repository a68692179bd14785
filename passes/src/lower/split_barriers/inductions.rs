//! What a thread counts up by the same as all others, as where it began and how far all have come.
//!
//! ```mlir
//! scf.for %z = ... iter_args(%i = %first) { barrier ; use(%i) ; %next = llvm.add %i, %stride ; scf.yield %next }
//! ```
//! becomes
//! ```mlir
//! scf.for %z = ... iter_args(%far = 0) { barrier ; use(%first + %far) ; %next = llvm.add %far, %stride ; scf.yield %next }
//! ```
//! `%far` is one number for the block, where `%i` would be kept in memory for each thread and read from there, and be any number to what
//! comes next. Sums are modulo the width, so nothing is promised of wrapping. Behind a loop without barriers the number is known by the
//! loop's rounds.

use std::collections::HashSet;

use mlir_bridge::ir::{Builder, Op, Value};

use crate::analysis::{
    addresses,
    constants::is_undefined,
    counted_loop::is_outside,
    facts::{constant, width},
    loops::Counting,
    uniformity::Uniformity,
};

/// Rewrites the carried values of all loops of a block loop; `syncing` are those with barriers inside.
pub fn rewrite<'c>(block: Op<'c>, syncing: &HashSet<Op<'c>>, uniformity: &Uniformity<'c>) {
    for op in block.find_named("scf.for") {
        for number in 0..op.num_results() {
            let Some(step) = Step::of(op, number) else { continue };
            if syncing.contains(&op) {
                if uniformity.is_uniform(step.by) && !uniformity.is_uniform(step.carried) {
                    separate(op, number, &step);
                }
            } else {
                close(op, number, &step);
            }
        }
    }
}

/// A carried value that grows in each round.
struct Step<'c> {
    carried: Value<'c>,
    /// The operation that makes the next one.
    next: Op<'c>,
    /// The number that is added, or the index.
    by: Value<'c>,
    /// Bytes of an index of an address.
    bytes: Option<i64>,
}

impl<'c> Step<'c> {
    fn of(op: Op<'c>, number: usize) -> Option<Self> {
        let carried = op.body().arg(number + 1);
        let next = op.body().terminator()?.operand(number).defining_op()?;
        match next.name() {
            "llvm.add" | "arith.addi" => {
                let other = usize::from(next.operand(0) == carried);
                let fits = next.operand(1 - other) == carried && next.operand(other) != carried;
                (fits && width(carried.ty()).is_some()).then(|| Self {
                    carried,
                    next,
                    by: next.operand(other),
                    bytes: None,
                })
            }
            "llvm.getelementptr" if next.operand(0) == carried && next.result(0).ty() == carried.ty() => {
                let steps = addresses::steps(next)?;
                let [(by, bytes)] = steps.indices[..] else { return None };
                let plain = steps.bytes == 0 && width(by.ty()).is_some();
                plain.then_some(Self { carried, next, by, bytes: Some(bytes) })
            }
            _ => None,
        }
    }

    /// What is added, where there is a round in which it is.
    fn in_a_round(&self, b: Builder<'c>, times: Value<'c>) -> Value<'c> {
        if !may_be_nothing(self.by) {
            return self.by;
        }
        let some = b.cmpi("ne", times, b.const_int(times.ty(), 0));
        let none = b.const_int(self.by.ty(), 0);
        b.value("arith.select", &[some, self.by, none], self.by.ty())
    }

    /// `from` so many times further on; `times` as wide as a number, 64 bits for an address.
    fn after(&self, b: Builder<'c>, from: Value<'c>, times: Value<'c>) -> Value<'c> {
        let by = self.in_a_round(b, times);
        match self.bytes {
            None => b.arith("addi", from, b.arith("muli", times, by)),
            Some(bytes) => {
                let i64 = b.ctx().int(64);
                let by = if width(by.ty()) == Some(64) { by } else { b.value("arith.extsi", &[by], i64) };
                let far = b.arith("muli", b.arith("muli", times, by), b.const_int(i64, bytes));
                b.llvm_byte_at(from, far)
            }
        }
    }
}

/// Operations that are looked at to find where a number comes from.
const LOOKED_AT: usize = 32;

/// Whether a number is nothing (poison) where a loop has no round: what was computed for it before it, if it has one.
fn may_be_nothing(value: Value<'_>) -> bool {
    let mut open = vec![value];
    for _ in 0..LOOKED_AT {
        let Some(value) = open.pop() else { return false };
        if is_undefined(value) {
            return true;
        }
        let Some(op) = value.defining_op() else { continue };
        open.extend(op.operands());
        if let Some(number) = op.results().into_iter().position(|result| result == value) {
            let ends =
                op.regions().into_iter().flat_map(|region| region.blocks()).filter_map(|block| block.terminator());
            open.extend(ends.filter_map(|end| end.operands().get(number).copied()));
        }
    }
    true
}

/// Replaces what comes out of a loop by what its rounds say.
fn close<'c>(op: Op<'c>, number: usize, step: &Step<'c>) {
    let result = op.result(number);
    if !result.has_uses() || !is_outside(step.by, op) {
        return;
    }
    let b = Builder::after(op);
    let ty = if step.bytes.is_some() { b.ctx().int(64) } else { result.ty() };
    let Some(rounds) = Counting::of(op).and_then(|counting| rounds(b, &counting, op)) else { return };
    let times = match width(rounds.ty()) {
        Some(bits) if Some(bits) == width(ty) => rounds,
        Some(bits) if Some(bits) < width(ty) => b.value("arith.extui", &[rounds], ty),
        _ => b.value("arith.trunci", &[rounds], ty),
    };
    let closed = step.after(b, op.operand(3 + number), times);
    result.replace_all_uses_with(closed);
}

/// How often a loop runs, where that is a number or a difference.
fn rounds<'c>(b: Builder<'c>, counting: &Counting<'c>, op: Op<'c>) -> Option<Value<'c>> {
    if let Some(rounds) = counting.rounds() {
        return Some(b.const_int(b.ctx().int(64), rounds.max(0)));
    }
    let [low, high, step] = counting.bounds();
    if constant(step) != Some(1) || width(low.ty()).is_none() {
        return None;
    }
    let limit = if op.has_attr("unsignedCmp") { "arith.maxui" } else { "arith.maxsi" };
    let end = b.value(limit, &[low, high], low.ty());
    Some(b.arith("subi", end, low))
}

/// Makes a carried value begin at nothing; where it is used, the beginning is added.
fn separate<'c>(op: Op<'c>, number: usize, step: &Step<'c>) {
    let (start, result) = (op.operand(3 + number), op.result(number));
    let zero = |b: Builder<'c>| match step.bytes {
        Some(_) => b.const_int(b.ctx().int(64), 0),
        None => b.const_int(start.ty(), 0),
    };
    let sum = |b: Builder<'c>, far: Value<'c>| match step.bytes {
        Some(_) => b.llvm_byte_at(start, far),
        None => b.arith("addi", start, far),
    };
    op.set_operand(3 + number, zero(Builder::before(op)));
    if step.bytes.is_some() {
        step.carried.set_type(op.ctx().int(64));
        result.set_type(op.ctx().int(64));
    }
    let b = Builder::before(step.next);
    let far = match step.bytes {
        None => b.arith("addi", step.carried, step.by),
        Some(bytes) => {
            let i64 = b.ctx().int(64);
            let by = if width(step.by.ty()) == Some(64) { step.by } else { b.value("arith.extsi", &[step.by], i64) };
            b.arith("addi", step.carried, b.arith("muli", by, b.const_int(i64, bytes)))
        }
    };
    let before = sum(Builder::at_start(op.body(), op.loc()), step.carried);
    step.carried.replace_uses_if(before, |used| {
        used.owner != far.defining_op().unwrap_or(op) && Some(used.owner) != before.defining_op()
    });
    let behind = sum(Builder::after(op), result);
    result.replace_uses_if(behind, |used| Some(used.owner) != behind.defining_op());
    if let Some(last) = op.body().terminator() {
        last.set_operand(number, far);
    }
    // What else uses the next one finds it as before.
    if !step.next.result(0).has_uses() {
        step.next.erase();
    }
}
