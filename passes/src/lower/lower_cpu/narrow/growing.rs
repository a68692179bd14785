//! How many threads have a number below a bound, where the number grows from thread to thread by what is known at run time alone.
//!
//! ```mlir
//! %n = (%x + 1) * %step - 1 ; scf.if %n < %bound { B }
//! ```
//! A sweep over a tree doubles its step in each phase, and half as many threads as before take the branch. A number is `by * x + from` modulo
//! its width. Where `by * x + from` wraps in no thread, as the numbers that are computed before the loop say, those with `x` up to
//! `(bound - from) / by` are all that may be below; elsewhere it is asked of all threads as before.

use mlir_bridge::ir::{Builder, Mapping, Op, Value};

use super::{DEPTH, index};
use crate::{
    analysis::facts::{constant, width},
    lower::before::{computed, is_known_before},
};

/// The widest of the numbers: products of them and numbers of threads fit into 64 bits.
const BITS: u32 = 32;

/// A number that grows evenly along one dimension of a thread loop.
#[derive(Clone, Copy)]
pub(super) struct Growing<'c> {
    pub value: Value<'c>,
    pub axis: usize,
}

/// What a number is made of.
enum Term<'c> {
    Thread(usize),
    Alike,
    Sum {
        minus: bool,
        of: [Value<'c>; 2],
    },
    /// A product, or a shift by a constant.
    Product {
        varying: Value<'c>,
        by: Value<'c>,
        shifted: bool,
    },
}

fn term<'c>(parallel: Op<'c>, value: Value<'c>) -> Option<Term<'c>> {
    if is_known_before(parallel, value, &[], DEPTH) {
        return Some(Term::Alike);
    }
    if let Some(axis) = index(parallel, value) {
        return Some(Term::Thread(axis));
    }
    let op = value.defining_op()?;
    let (left, right) = (op.operands().first().copied()?, op.operands().get(1).copied()?);
    let known = |value: Value<'c>| is_known_before(parallel, value, &[], DEPTH);
    match op.name() {
        "llvm.add" | "arith.addi" => Some(Term::Sum { minus: false, of: [left, right] }),
        "llvm.or" | "arith.ori" if op.has_attr("isDisjoint") => Some(Term::Sum { minus: false, of: [left, right] }),
        "llvm.sub" | "arith.subi" => Some(Term::Sum { minus: true, of: [left, right] }),
        "llvm.mul" | "arith.muli" if known(right) => Some(Term::Product { varying: left, by: right, shifted: false }),
        "llvm.mul" | "arith.muli" if known(left) => Some(Term::Product { varying: right, by: left, shifted: false }),
        "llvm.shl" | "arith.shli" if constant(right).is_some_and(|amount| (0..i64::from(BITS)).contains(&amount)) => {
            Some(Term::Product { varying: left, by: right, shifted: true })
        }
        _ => None,
    }
}

impl<'c> Growing<'c> {
    /// The number, if it grows by a factor that is no constant.
    pub fn of(parallel: Op<'c>, value: Value<'c>) -> Option<Self> {
        let bits = width(value.ty()).filter(|bits| *bits <= BITS && !value.ty().is_index())?;
        let (mut axis, mut factor) = (None, false);
        let mut open = vec![(value, DEPTH)];
        while let Some((value, depth)) = open.pop() {
            match term(parallel, value).filter(|_| depth > 0 && width(value.ty()) == Some(bits))? {
                Term::Alike => (),
                Term::Thread(along) if axis.is_none_or(|known| known == along) => axis = Some(along),
                Term::Thread(_) => return None,
                Term::Sum { of, .. } => open.extend(of.map(|value| (value, depth - 1))),
                Term::Product { varying, by, .. } => {
                    factor |= constant(by).is_none();
                    open.push((varying, depth - 1));
                }
            }
        }
        Some(Self { value, axis: axis.filter(|_| factor)? })
    }

    /// The threads, from the first one on, beyond which none is below `bound`: at most `all`.
    pub fn below(
        &self,
        b: Builder<'c>,
        parallel: Op<'c>,
        (bound, all): (Value<'c>, Value<'c>),
        (signed, including): (bool, bool),
    ) -> Value<'c> {
        let i64 = b.ctx().int(64);
        let number = |number: i64| b.const_int(i64, number);
        let (by, from) = self.parts(b, parallel, self.value, signed);
        let bits = width(self.value.ty()).unwrap_or(BITS);
        let (least, most) = if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        let threads = b.index_cast(all, i64);
        let some = b.cmpi("sgt", threads, number(0));
        let small = b.arith("andi", b.cmpi("sgt", by, number(0)), b.cmpi("sle", by, number((1 << BITS) - 1)));
        let begins = b.arith("andi", b.cmpi("sge", from, number(least)), b.cmpi("sle", from, number(most)));
        let last = b.arith("addi", from, b.arith("muli", by, b.arith("subi", threads, number(1))));
        let ends = b.cmpi("sle", last, number(most));
        let exact = [small, begins, ends].into_iter().fold(some, |all, one| b.arith("andi", all, one));
        let limit = wide(b, computed(b, parallel, bound, &mut Mapping::new()), signed);
        let limit = if including { b.arith("addi", limit, number(1)) } else { limit };
        let distance = b.arith("maxsi", b.arith("subi", limit, from), number(0));
        let by = b.value("arith.select", &[exact, by, number(1)], i64);
        let count = b.arith("divui", b.arith("addi", distance, b.arith("subi", by, number(1))), by);
        let count = b.value("arith.select", &[exact, count, threads], i64);
        b.index_cast(count, b.ctx().index())
    }

    /// What a number grows by and begins with, modulo its width.
    fn parts(&self, b: Builder<'c>, parallel: Op<'c>, value: Value<'c>, signed: bool) -> (Value<'c>, Value<'c>) {
        let i64 = b.ctx().int(64);
        let [zero, one] = [0, 1].map(|number| b.const_int(i64, number));
        match term(parallel, value) {
            Some(Term::Thread(_)) => (one, zero),
            Some(Term::Sum { minus, of }) => {
                let name = if minus { "subi" } else { "addi" };
                let [left, right] = of.map(|value| self.parts(b, parallel, value, signed));
                (b.arith(name, left.0, right.0), b.arith(name, left.1, right.1))
            }
            Some(Term::Product { varying, by, shifted }) => {
                let (grows, from) = self.parts(b, parallel, varying, signed);
                let by = match constant(by).filter(|_| shifted) {
                    Some(amount) => b.const_int(i64, 1 << amount),
                    None => wide(b, computed(b, parallel, by, &mut Mapping::new()), signed),
                };
                (b.arith("muli", grows, by), b.arith("muli", from, by))
            }
            _ => (zero, wide(b, computed(b, parallel, value, &mut Mapping::new()), signed)),
        }
    }
}

/// A number as one of 64 bits. One that no thread that takes the branch has computed may be anything, so that it is frozen.
pub(super) fn wide<'c>(b: Builder<'c>, value: Value<'c>, signed: bool) -> Value<'c> {
    if let Some(number) = constant(value).filter(|number| signed || *number >= 0) {
        return b.const_int(b.ctx().int(64), number);
    }
    let value = b.value("llvm.freeze", &[value], value.ty());
    if value.ty().is_int(64) {
        return value;
    }
    b.value(if signed { "arith.extsi" } else { "arith.extui" }, &[value], b.ctx().int(64))
}
