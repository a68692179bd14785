//! Conditions that hold in all lanes, found by scalars.
//!
//! ```mlir
//! %c = llvm.icmp "slt" %i, %n          // %i one more in each lane
//! ```
//! holds in all lanes if `%i0 + 15 < %n`. Guards against the problem's edge are tested so for a whole row, by what LLVM moves out of the
//! loops that do not change it.

use mlir_bridge::ir::{Op, Value};

use super::{emit::Emitter, shapes::Shape};
use crate::analysis::facts::constant;

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

impl<'c> Emitter<'c, '_> {
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
