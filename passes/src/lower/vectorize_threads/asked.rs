//! What is asked of what was taken of numbers: before all rows, or before each.

use std::collections::HashSet;

use mlir_bridge::ir::{Builder, Mapping, Op, Value};

use super::{
    classify::divides,
    emit::without_flags,
    shapes::{Assumption, Shapes},
};
use crate::{
    analysis::{counted_loop::is_outside, facts::constant},
    lower::before::computed,
};

/// Whether each row is asked.
pub fn asks_rows(shapes: &Shapes<'_>) -> bool {
    shapes.agreed().next().is_some()
}

/// What a row was asked: whether all holds, and values that are known then.
pub struct Answer<'c> {
    pub holds: Value<'c>,
    pub known: Vec<(Value<'c>, Value<'c>)>,
}

/// Tests of what was taken along all rows, by the numbers of the first and the last thread.
pub fn of_all_rows<'c>(b: Builder<'c>, parallel: Op<'c>, shapes: &Shapes<'c>, ivs: &[Value<'c>]) -> Vec<Value<'c>> {
    let (first, last) = (parallel.operand(0), b.arith("addi", parallel.operand(3), b.const_index(-1)));
    let distance = if constant(first) == Some(0) { last } else { b.arith("subi", last, first) };
    let steps = b.index_cast(distance, b.ctx().int(64));
    let mut ends = Ends::new(b, parallel, ivs, [first, last], steps);
    let along_all = shapes.assumed().iter().filter(|assumption| !is_of_row(parallel, shapes, assumption));
    along_all.filter_map(|assumption| ends.test(assumption)).collect()
}

/// Tests of what was taken along one row, from its first thread.
pub fn of_row<'c>(
    b: Builder<'c>,
    parallel: Op<'c>,
    shapes: &Shapes<'c>,
    ivs: &[Value<'c>],
    (first, lanes): (Value<'c>, u32),
) -> Answer<'c> {
    let steps = i64::from(lanes) - 1;
    let last = b.arith("addi", first, b.const_index(steps));
    let mut ends = Ends::new(b, parallel, ivs, [first, last], b.const_int(b.ctx().int(64), steps));
    let mut holds = b.const_int(b.ctx().int(1), 1);
    let mut known = Vec::new();
    for assumption in shapes.assumed().iter().filter(|assumption| is_of_row(parallel, shapes, assumption)) {
        let test = match *assumption {
            Assumption::Agrees { op } => {
                let (test, value) = ends.agrees(shapes, op);
                known.push((op.result(0), value));
                Some(test)
            }
            _ => ends.test(assumption),
        };
        holds = test.map_or(holds, |test| b.arith("andi", holds, test));
    }
    Answer { holds, known }
}

/// Whether something is asked before each row, as it is computed of what lanes agree on.
fn is_of_row<'c>(parallel: Op<'c>, shapes: &Shapes<'c>, assumption: &Assumption<'c>) -> bool {
    let mut open = match *assumption {
        Assumption::Agrees { .. } => return true,
        Assumption::Steps { value, .. } => vec![value],
        Assumption::Bits { value, from } => vec![value, from],
    };
    let mut seen = HashSet::new();
    while let Some(value) = open.pop().filter(|_| asks_rows(shapes)) {
        let Some(op) = value.defining_op().filter(|_| !is_outside(value, parallel)) else { continue };
        if shapes.agreed().any(|agreed| agreed == op) {
            return true;
        }
        if seen.insert(op) {
            open.extend(op.operands());
        }
    }
    false
}

/// The numbers of two threads.
struct Ends<'c> {
    b: Builder<'c>,
    parallel: Op<'c>,
    mappings: [Mapping<'c>; 2],
    /// From the first of them to the last, in threads.
    steps: Value<'c>,
}

impl<'c> Ends<'c> {
    fn new(b: Builder<'c>, parallel: Op<'c>, ivs: &[Value<'c>], threads: [Value<'c>; 2], steps: Value<'c>) -> Self {
        let old = parallel.body().args();
        let mappings = threads.map(|x| {
            let mut mapping = Mapping::new();
            mapping.map_all(&old, &[x, ivs[0], ivs[1]]);
            mapping
        });
        Self { b, parallel, mappings, steps }
    }

    /// What a value is in the first thread, or in the last.
    fn at(&mut self, end: usize, value: Value<'c>) -> Value<'c> {
        computed(self.b, self.parallel, value, &mut self.mappings[end])
    }

    /// Whether something holds from one thread to the other.
    fn test(&mut self, assumption: &Assumption<'c>) -> Option<Value<'c>> {
        let (b, i64) = (self.b, self.b.ctx().int(64));
        match *assumption {
            Assumption::Steps { value, stride, signed } => {
                let name = if signed { "arith.extsi" } else { "arith.extui" };
                let [first, last] = [0, 1].map(|end| b.value(name, &[self.at(end, value)], i64));
                let distance = b.arith("muli", self.steps, b.const_int(i64, stride));
                Some(b.cmpi("eq", b.arith("subi", last, first), distance))
            }
            Assumption::Bits { value, from } => {
                let [first, last] = [0, 1].map(|end| self.at(end, value));
                let from = self.at(0, from);
                let zero = b.const_int(from.ty(), 0);
                let lowest = b.arith("andi", from, b.arith("subi", zero, from));
                let bits = b.arith("subi", zero, lowest);
                Some(b.cmpi("eq", b.arith("andi", b.arith("xori", first, last), bits), zero))
            }
            Assumption::Agrees { .. } => None,
        }
    }

    /// Whether the lanes agree on a comparison or quotient, and what the first lane has. No lane's number wraps, nobody divides by zero.
    fn agrees(&mut self, shapes: &Shapes<'c>, op: Op<'c>) -> (Value<'c>, Value<'c>) {
        let b = self.b;
        let Some(agreement) = shapes.agreement_of(op) else {
            let no = b.const_int(b.ctx().int(1), 0);
            return (no, b.poison(op.result(0).ty()));
        };
        let [first, other] = [0, 1].map(|index| self.of_first(op.operand(index)));
        let number = self.of_first(agreement.number);
        let span = b.const_int(number.ty(), agreement.span);
        let last = b.arith("addi", number, span);
        let upwards = if agreement.signed { "sge" } else { "uge" };
        let (above, below) = if agreement.span > 0 { (last, number) } else { (number, last) };
        let exact = b.cmpi(upwards, above, below);
        let (test, at_first, at_last) = if divides(op) {
            let zero = b.const_int(number.ty(), 0);
            let some = b.cmpi(if agreement.signed { "sgt" } else { "ne" }, other, zero);
            let divisor = b.value("arith.select", &[some, other, b.const_int(number.ty(), 1)], number.ty());
            let rest = b.arith("remui", number, divisor);
            let within = b.cmpi("ugt", b.arith("subi", divisor, rest), span);
            let within = b.arith("andi", some, within);
            let test = match agreement.signed {
                true => b.arith("andi", within, b.cmpi("sge", number, zero)),
                false => within,
            };
            match op.name().contains("rem") {
                true => (test, rest, b.arith("addi", rest, span)),
                false => {
                    let quotient = b.arith("divui", number, divisor);
                    (test, quotient, quotient)
                }
            }
        } else {
            let compare = |number: Value<'c>| {
                let operands = op.operands().into_iter().enumerate();
                let operands = operands.map(|(index, operand)| match operand == agreement.number {
                    true => number,
                    false => [first, other][index],
                });
                without_flags(b, op, &operands.collect::<Vec<_>>(), op.result(0).ty())
            };
            let [at_first, at_last] = [number, last].map(compare);
            (b.cmpi("eq", at_first, at_last), at_first, at_first)
        };
        self.mappings[0].map(op.result(0), at_first);
        self.mappings[1].map(op.result(0), at_last);
        (b.arith("andi", exact, test), at_first)
    }

    /// What the first thread has, without what operations promise: it may not come to where they stand.
    fn of_first(&mut self, value: Value<'c>) -> Value<'c> {
        let inside = value.defining_op().filter(|op| self.parallel.is_proper_ancestor_of(*op));
        let Some(op) = inside.filter(|_| self.mappings[0].get(value).is_none()) else {
            return self.mappings[0].get_or_self(value);
        };
        let operands: Vec<_> = op.operands().into_iter().map(|operand| self.of_first(operand)).collect();
        let made = without_flags(self.b, op, &operands, value.ty());
        self.mappings[0].map(value, made);
        made
    }
}
