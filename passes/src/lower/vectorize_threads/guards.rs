//! Conditions that hold in all lanes, found by scalars.
//!
//! ```mlir
//! %c = llvm.icmp "slt" %i, %n          // %i one more in each lane
//! ```
//! holds in all lanes if `%i0 + 15 < %n`. Guards against the problem's edge are tested so for a whole row, by what LLVM moves out of the
//! loops that do not change it.

use mlir_bridge::ir::{Op, Value};

use super::{emit::Emitter, shapes::Shape};
use crate::analysis::facts::{constant, width};

/// The predicates of `arith.cmpi` and `llvm.icmp`, in their order.
const PREDICATES: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];

/// How far a condition is followed.
const DEPTH: u32 = 8;

/// The predicate that holds where this one does not.
fn inverse(predicate: &str) -> &'static str {
    match predicate {
        "eq" => "ne",
        "ne" => "eq",
        "slt" => "sge",
        "sle" => "sgt",
        "sgt" => "sle",
        "sge" => "slt",
        "ult" => "uge",
        "ule" => "ugt",
        "ugt" => "ule",
        _ => "ult",
    }
}

/// The predicate of the operands the other way round.
fn swapped(predicate: &str) -> &'static str {
    match predicate {
        "eq" => "eq",
        "ne" => "ne",
        "slt" => "sgt",
        "sle" => "sge",
        "sgt" => "slt",
        "sge" => "sle",
        "ult" => "ugt",
        "ule" => "uge",
        "ugt" => "ult",
        _ => "ule",
    }
}

/// What no number is on the other side of a predicate of, if there is something; the number is on the right.
fn nothing_beyond(predicate: &str, bits: u32) -> Option<i64> {
    let (least, greatest) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
    match predicate {
        "slt" => Some(least),
        "sgt" => Some(greatest),
        "ult" => Some(0),
        "ugt" => Some(-1),
        _ => None,
    }
}

impl<'c> Emitter<'c, '_> {
    /// What says of each lane whether a condition of all lanes and one of each hold, or one of them. A select would become a branch, and masks that are joined of
    /// vectors are packed and unpacked where registers have none of their own.
    pub fn joined_masks(&self, op: Op<'c>) -> Option<Value<'c>> {
        let constant = |index: usize| constant(op.operand(index)).map(|number| number & 1);
        let (second, both) = match op.name() {
            _ if width(op.result(0).ty()) != Some(1) => return None,
            "llvm.select" | "arith.select" if constant(2) == Some(0) => (1, true),
            "llvm.select" | "arith.select" if constant(1) == Some(1) => (2, false),
            "llvm.and" | "arith.andi" => (1, true),
            "llvm.or" | "arith.ori" => (1, false),
            _ => return None,
        };
        let [of_all, of_each] = match [0, second].map(|index| self.shapes.is_uniform(op.operand(index))) {
            [true, false] => [op.operand(0), op.operand(second)],
            [false, true] => [op.operand(second), op.operand(0)],
            _ => return None,
        };
        let frozen = |value: Value<'c>| self.b.value("llvm.freeze", &[value], value.ty());
        let guard = frozen(self.scalar(of_all));
        self.guarded_compare(of_each, guard, both).or_else(|| {
            let name = if both { "andi" } else { "ori" };
            Some(self.b.arith(name, self.splat(guard), frozen(self.lane_vector(of_each))))
        })
    }

    /// A comparison with a guard, both or one of them, as one comparison: where the guard decides, with a number that nothing compares with, or everything.
    fn guarded_compare(&self, compare: Value<'c>, guard: Value<'c>, both: bool) -> Option<Value<'c>> {
        let op = compare.defining_op().filter(|op| matches!(op.name(), "llvm.icmp" | "arith.cmpi"))?;
        let predicate = *PREDICATES.get(usize::try_from(op.attr("predicate")?.as_int()?).ok()?)?;
        let bits = op.operand(0).ty().int_width().filter(|bits| matches!(bits, 8..=64))?;
        let (side, seen) = match [0, 1].map(|index| self.shapes.is_uniform(op.operand(index))) {
            [true, false] => (0, swapped(predicate)),
            [false, true] => (1, predicate),
            _ => return None,
        };
        let number = self.scalar(op.operand(side));
        let decides = nothing_beyond(if both { seen } else { inverse(seen) }, bits)?;
        let decides = self.b.const_int(number.ty(), decides);
        let [yes, no] = if both { [number, decides] } else { [decides, number] };
        let number = self.splat(self.select(guard, yes, no));
        let other = self.lane_vector(op.operand(1 - side));
        let other = self.b.value("llvm.freeze", &[other], other.ty());
        let operands = if side == 0 { [number, other] } else { [other, number] };
        Some(self.without_flags(op, &operands, self.vector(self.i1())))
    }

    /// A scalar that holds only if `condition` is `wanted` in all lanes, all of which take part. `None` if nothing is known that says so.
    pub fn surely(&self, condition: Value<'c>, wanted: bool) -> Option<Value<'c>> {
        self.followed(condition, wanted, DEPTH)
    }

    fn followed(&self, condition: Value<'c>, wanted: bool, depth: u32) -> Option<Value<'c>> {
        if self.shapes.is_uniform(condition) {
            let holds = self.scalar(condition);
            return Some(if wanted { holds } else { self.not(holds) });
        }
        let op = condition.defining_op().filter(|_| depth > 0)?;
        let truth = |index: usize| constant(op.operand(index)).map(|number| number != 0);
        let parts = |first: usize, second: usize| {
            [first, second].map(|index| self.followed(op.operand(index), wanted, depth - 1))
        };
        match op.name() {
            "llvm.icmp" | "arith.cmpi" => self.compared(op, wanted),
            "llvm.and" | "arith.andi" => self.combined_guards(parts(0, 1), wanted),
            "llvm.or" | "arith.ori" => self.combined_guards(parts(0, 1), !wanted),
            "llvm.xor" | "arith.xori" if truth(1) == Some(true) => self.followed(op.operand(0), !wanted, depth - 1),
            "llvm.select" | "arith.select" if truth(2) == Some(false) => self.combined_guards(parts(0, 1), wanted),
            "llvm.select" | "arith.select" if truth(1) == Some(true) => self.combined_guards(parts(0, 2), !wanted),
            "llvm.freeze" => self.followed(op.operand(0), wanted, depth - 1),
            _ => None,
        }
    }

    /// Of two conditions, both or one; the second is not looked at where the first decides.
    fn combined_guards(&self, parts: [Option<Value<'c>>; 2], both: bool) -> Option<Value<'c>> {
        let b = self.b;
        let select = |condition, yes, no| b.value("arith.select", &[condition, yes, no], self.i1());
        match (parts, both) {
            ([Some(first), Some(second)], true) => Some(select(first, second, b.const_int(self.i1(), 0))),
            ([Some(first), Some(second)], false) => Some(select(first, b.const_int(self.i1(), 1), second)),
            ([one, None] | [None, one], false) => one,
            _ => None,
        }
    }

    /// A comparison of a linear number with a uniform one.
    fn compared(&self, op: Op<'c>, wanted: bool) -> Option<Value<'c>> {
        let predicate = *PREDICATES.get(usize::try_from(op.attr("predicate")?.as_int()?).ok()?)?;
        let predicate = if wanted { predicate } else { inverse(predicate) };
        let (value, bound, predicate) = match [0, 1].map(|index| self.shape(op.operand(index))) {
            [Shape::Linear(_), Shape::Uniform] => (op.operand(0), op.operand(1), predicate),
            [Shape::Uniform, Shape::Linear(_)] => (op.operand(1), op.operand(0), swapped(predicate)),
            _ => return None,
        };
        let shape = self.shape(value);
        let Shape::Linear(linear) = shape else { return None };
        let (first, bound) = (self.scalar(value), self.scalar(bound));
        if first.ty().ptr_space().is_some() {
            return None;
        }
        let b = self.b;
        let span = linear.stride.checked_mul(i64::from(self.lanes) - 1).filter(|span| span.abs() < 1 << 30)?;
        if predicate == "ne" {
            // Modulo the width of the numbers, no lane has it.
            let distance = if span > 0 { b.arith("subi", bound, first) } else { b.arith("subi", first, bound) };
            return Some(b.cmpi("ugt", distance, b.const_int(first.ty(), span.abs())));
        }
        let exact = if predicate.starts_with('s') { shape.is_signed() } else { shape.is_unsigned() };
        let upwards = predicate.ends_with("lt") || predicate.ends_with("le");
        let last = || b.arith("addi", first, b.const_int(first.ty(), span));
        let outermost = if upwards == (span > 0) { last() } else { first };
        (exact && predicate != "eq").then(|| b.cmpi(predicate, outermost, bound))
    }
}
