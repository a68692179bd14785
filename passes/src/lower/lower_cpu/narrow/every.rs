//! Every so many threads: conditions on what is left of a thread's number by a division.
//!
//! ```mlir
//! scf.parallel (%x, ...) = (0, ...) to (%nx, ...) { scf.if (%x + %from) % %by == %left { B(%x) } }
//! ```
//! becomes
//! ```mlir
//! scf.parallel (%k, ...) = (0, ...) to (%count, ...) { B(%first + %by * %k) }
//! ```
//! A tree over the threads often says its threads so, and a bit mask says the same where its bits are the lowest ones. The sums are
//! of 64 bits; where the number itself might wrap, or `%by` is no divisor, the loop as it was stands beside.

use mlir_bridge::ir::{Builder, Mapping, Op, Value};

use super::{DEPTH, conjuncts, growing::wide, index};
use crate::{
    analysis::facts::width,
    lower::before::{computed, is_known_before},
};

/// Numbers below it are the same signed and unsigned.
const MOST: i64 = i32::MAX as i64;

/// The threads whose number, and so much more, leaves so much.
#[derive(Clone, Copy)]
pub(super) struct Every<'c> {
    condition: Value<'c>,
    axis: usize,
    from: Option<Value<'c>>,
    by: By<'c>,
    left: Value<'c>,
}

#[derive(Clone, Copy)]
enum By<'c> {
    Divisor {
        of: Value<'c>,
        signed: bool,
    },
    /// The lowest bits.
    Mask(Value<'c>),
}

impl<'c> Every<'c> {
    /// What selects the threads of a branch, among other conditions.
    pub fn of(parallel: Op<'c>, branch: Op<'c>) -> Option<Self> {
        conjuncts(branch.operand(0)).into_iter().find_map(|condition| Self::compared(parallel, condition))
    }

    fn compared(parallel: Op<'c>, condition: Value<'c>) -> Option<Self> {
        let known = |value: Value<'c>| is_known_before(parallel, value, &[], DEPTH);
        let op = condition.defining_op().filter(|op| matches!(op.name(), "llvm.icmp" | "arith.cmpi"))?;
        let is_equal = op.attr("predicate")?.as_int()? == 0;
        let (rest, left) =
            if known(op.operand(1)) { (op.operand(0), op.operand(1)) } else { (op.operand(1), op.operand(0)) };
        let rest = rest.defining_op().filter(|rest| is_equal && known(left) && rest.num_operands() == 2)?;
        let (number, by) = match rest.name() {
            "llvm.srem" | "arith.remsi" => (rest.operand(0), By::Divisor { of: rest.operand(1), signed: true }),
            "llvm.urem" | "arith.remui" => (rest.operand(0), By::Divisor { of: rest.operand(1), signed: false }),
            "llvm.and" | "arith.andi" if known(rest.operand(1)) => (rest.operand(0), By::Mask(rest.operand(1))),
            "llvm.and" | "arith.andi" => (rest.operand(1), By::Mask(rest.operand(0))),
            _ => return None,
        };
        let (By::Divisor { of: operand, .. } | By::Mask(operand)) = by;
        let bits = width(number.ty()).filter(|_| !number.ty().is_index());
        let wide_enough = bits.is_some_and(|bits| (32..=64).contains(&bits));
        if !known(operand) || !wide_enough {
            return None;
        }
        if let Some(axis) = index(parallel, number) {
            return Some(Self { condition, axis, from: None, by, left });
        }
        let sum = number.defining_op().filter(|op| matches!(op.name(), "llvm.add" | "arith.addi"))?;
        let [left_term, right_term] = [sum.operand(0), sum.operand(1)];
        let (axis, from) = match (index(parallel, left_term), index(parallel, right_term)) {
            (Some(axis), None) => (axis, right_term),
            (None, Some(axis)) => (axis, left_term),
            _ => return None,
        };
        known(from).then_some(Self { condition, axis, from: Some(from), by, left })
    }

    /// Goes through the selected threads alone, where that is exact.
    pub fn restrict(&self, parallel: Op<'c>) {
        let b = Builder::before(parallel);
        let (i64, index) = (b.ctx().int(64), b.ctx().index());
        let number = |number: i64| b.const_int(i64, number);
        let before =
            |value: Value<'c>, signed: bool| wide(b, computed(b, parallel, value, &mut Mapping::new()), signed);
        let zero = number(0);
        let (by, is_divisor) = match self.by {
            By::Divisor { of, signed } => {
                let by = before(of, signed);
                (by, b.cmpi("sgt", by, zero))
            }
            By::Mask(mask) => {
                let mask = before(mask, true);
                let by = b.arith("addi", mask, number(1));
                let lowest = b.cmpi("eq", b.arith("andi", mask, by), zero);
                (by, b.arith("andi", lowest, b.cmpi("sgt", by, zero)))
            }
        };
        let from = self.from.map_or(zero, |from| before(from, true));
        let left = before(self.left, true);
        let upper = parallel.operand(3 + self.axis);
        let threads = b.index_cast(upper, i64);
        let last = b.arith("addi", from, threads);
        let exact = [
            b.cmpi("sle", by, number(MOST)),
            b.cmpi("sge", from, zero),
            b.cmpi("sle", from, number(MOST)),
            b.cmpi("sle", last, number(MOST)),
            b.cmpi("sge", left, zero),
            b.cmpi("slt", left, by),
        ]
        .into_iter()
        .fold(is_divisor, |all, one| b.arith("andi", all, one));

        let both = b.scf_if(exact, &[], true);
        let [then, otherwise] = [0, 1].map(|region| {
            let b = Builder::at_end(both.region(region).entry(), parallel.loc());
            b.scf_yield(&[]);
            Builder::before_terminator(both.region(region).entry(), parallel.loc())
        });
        otherwise.clone_op(parallel, &mut Mapping::new());
        let b = then;
        let rest = b.arith("remsi", b.arith("subi", left, from), by);
        let first = b.value("arith.select", &[b.cmpi("slt", rest, zero), b.arith("addi", rest, by), rest], i64);
        let above = b.arith("subi", by, number(1));
        let behind = b.arith("maxsi", b.arith("subi", threads, first), zero);
        let count = b.arith("divui", b.arith("addi", behind, above), by);
        let [by, first, count] = [by, first, count].map(|value| b.index_cast(value, index));
        let mut mapping = Mapping::new();
        let selected = b.clone_op(parallel, &mut mapping);
        selected.set_operand(3 + self.axis, count);
        let inner = Builder::at_start(selected.body(), parallel.loc());
        let round = selected.body().arg(self.axis);
        let product = inner.arith("muli", round, by);
        let thread = inner.arith("addi", first, product);
        round.replace_uses_if(thread, |used| Some(used.owner) != product.defining_op());
        let holds = inner.const_int(b.ctx().int(1), 1);
        mapping.get_or_self(self.condition).replace_all_uses_with(holds);
        if let Some(branch) = selected.body().ops().into_iter().find(|op| op.is("scf.if") && op.operand(0) == holds) {
            let taken = branch.region(0).entry();
            taken.ops().last().into_iter().for_each(|end| end.erase());
            taken.inline_before(branch, &[]);
            branch.erase();
        }
        parallel.erase();
    }
}
