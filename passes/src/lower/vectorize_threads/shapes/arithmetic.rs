//! Shapes of what is computed: sums, products, extensions, addresses, and parts of numbers.

use mlir_bridge::ir::{Op, Type, Value};

use super::{Assumption, Linear, Shape, Shapes};
use crate::analysis::{
    addresses,
    facts::{self, Range, constant, is_nsw, is_nuw, width},
};

/// Whether a result may wrap in some lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wraps {
    Never,
    NotWhereLive,
    Perhaps,
}

impl Wraps {
    /// By what is proven and by the flag of the operation, given what is known of the operands.
    fn of(operands: &[Shape], is_exact: impl Fn(Shape) -> bool, proven: bool, flag: bool) -> Self {
        match () {
            () if !operands.iter().all(|shape| is_exact(*shape)) || !(proven || flag) => Self::Perhaps,
            () if proven && !operands.iter().any(|shape| shape.is_of_live()) => Self::Never,
            () => Self::NotWhereLive,
        }
    }
}

/// Branches around a difference that are looked at.
const GUARDS: usize = 4;

impl<'c> Shapes<'c> {
    /// The shape of an elementwise result of operands of which some are not uniform.
    pub(super) fn elementwise(&mut self, op: Op<'c>) -> Shape {
        let name = op.name();
        let short = name.split_once('.').map_or(name, |(_, rest)| rest);
        let (a, b) = (self.of(op.operand(0)), op.operands().get(1).map(|value| self.of(*value)));
        let plain = op.result(0).ty().vector_parts().is_none();
        let found = match (short, b) {
            _ if !plain => None,
            ("getelementptr", _) => self.address(op),
            ("add" | "addi", Some(b)) => self.sum(op, a, b, 1),
            ("sub" | "subi", Some(b)) => self.sum(op, a, b, -1),
            ("mul" | "muli", Some(_)) => self.product(op),
            ("shl" | "shli", Some(_)) => self.shifted(op),
            ("or", Some(b)) if op.has_attr("isDisjoint") => self.sum(op, a, b, 1),
            ("xor" | "xori", Some(b)) => self.by_bits(op, short).or_else(|| self.flipped(op, a, b)),
            ("or", Some(_)) => self.by_bits(op, short),
            ("icmp" | "cmpi", Some(b)) => self.compared(op, a, b),
            ("sext" | "extsi" | "index_cast", _) => self.extended(op, a, true),
            ("zext" | "extui" | "index_castui", _) => self.extended(op, a, false),
            ("trunc" | "trunci", _) => self.truncated(op, a),
            ("bitcast" | "freeze" | "ptrtoint" | "inttoptr" | "addrspacecast", _) => self.same_bits(op, a),
            ("and" | "andi" | "urem" | "remui" | "srem" | "remsi", Some(_)) => {
                self.low_bits(op, short, a).or_else(|| self.by_bits(op, short))
            }
            ("lshr" | "shrui" | "ashr" | "shrsi" | "udiv" | "divui" | "sdiv" | "divsi", Some(_)) => {
                self.high_bits(op, short, a).or_else(|| self.by_bits(op, short))
            }
            ("maxsi" | "minsi" | "intr.smax" | "intr.smin", Some(b)) => self.clamped(op, a, b, true),
            ("maxui" | "minui" | "intr.umax" | "intr.umin", Some(b)) => self.clamped(op, a, b, false),
            ("select", Some(yes)) if a == Shape::Uniform => Some(yes.join(self.of(op.operand(2)))),
            _ => None,
        };
        let found = found.filter(|shape| *shape != Shape::Varying);
        let found = found.or_else(|| self.uneven(op, short).filter(|_| plain));
        found.or_else(|| self.agreement(op).filter(|_| plain)).unwrap_or(Shape::Varying)
    }

    /// What the lanes of a value with this stride span, from the first to the last.
    pub(super) fn span(&self, stride: i64) -> Option<i64> {
        stride.checked_mul(self.lanes - 1)
    }

    /// A linear result with what is known of its wrapping: by flags, by ranges, or as the first lane has so many zero bits at its end that no
    /// lane carries beyond them.
    fn made(&mut self, op: Op<'c>, stride: i64, [signed, unsigned]: [Wraps; 2]) -> Option<Shape> {
        if stride == 0 {
            return Some(Shape::Uniform);
        }
        let value = op.result(0);
        if width(value.ty())? >= 64 || self.carries_nothing(value, stride) {
            return Some(Shape::linear(stride));
        }
        let of_live = [signed, unsigned].contains(&Wraps::NotWhereLive);
        let (signed, unsigned) = (signed != Wraps::Perhaps, unsigned != Wraps::Perhaps);
        Some(Shape::Linear(Linear { stride, signed, unsigned, of_live }))
    }

    /// Whether adding a lane's share to the first lane's value changes only bits that are zero there.
    fn carries_nothing(&mut self, value: Value<'c>, stride: i64) -> bool {
        let zeros = self.trailing_zeros(value);
        self.span(stride).is_some_and(|span| span >= 0 && zeros < 63 && span < 1 << zeros)
    }

    fn sum(&mut self, op: Op<'c>, a: Shape, b: Shape, sign: i64) -> Option<Shape> {
        let stride = a.stride()?.checked_add(sign.checked_mul(b.stride()?)?)?;
        let disjoint = op.has_attr("isDisjoint");
        let signed = Wraps::of(&[a, b], Shape::is_signed, fits(op, sign), disjoint || is_nsw(op));
        let unsigned_flag = disjoint || is_nuw(op) || sign < 0 && is_guarded(op, self.parallel);
        let unsigned = Wraps::of(&[a, b], Shape::is_unsigned, not_negative(op, sign), unsigned_flag);
        self.made(op, stride, [signed, unsigned])
    }

    /// A comparison of numbers that stay as far apart in all lanes, none of which wraps.
    fn compared(&mut self, op: Op<'c>, a: Shape, b: Shape) -> Option<Shape> {
        let predicate = op.attr("predicate").and_then(|predicate| predicate.as_int())?;
        let pointers = op.operand(0).ty().ptr_space().is_some();
        let alike = a.stride()? == b.stride()? && !pointers && !a.is_of_live() && !b.is_of_live();
        let offsets = self.offsets(a)?;
        let wide = width(op.operand(0).ty())? >= 64;
        let exact = match predicate {
            0 | 1 => true,
            // Of wide numbers it is not noted whether they wrap.
            _ if wide => [0, 1].into_iter().all(|index| self.changed(op.operand(index), &offsets).is_some()),
            2..=5 => a.is_signed() && b.is_signed(),
            _ => a.is_unsigned() && b.is_unsigned(),
        };
        (alike && exact).then_some(Shape::Uniform)
    }

    /// A linear number of which the same bits are flipped in each lane: linear where all lanes have the same bits from the lowest of those up.
    fn flipped(&mut self, op: Op<'c>, a: Shape, b: Shape) -> Option<Shape> {
        let (value, from, linear) = match (a, b) {
            (Shape::Linear(linear), Shape::Uniform) => (op.operand(0), op.operand(1), linear),
            (Shape::Uniform, Shape::Linear(linear)) => (op.operand(1), op.operand(0), linear),
            _ => return None,
        };
        // Multiples of a row's threads have versions of their own.
        let wide = matches!(width(op.result(0).ty()), Some(32 | 64)) && self.trailing_zeros(from) == 0;
        let taken = wide && self.takes(Assumption::Bits { value, from }, &[value, from]);
        self.often_fails |= taken;
        taken.then_some(Shape::Linear(linear))
    }

    /// A linear number and a limit: linear where no lane meets the limit. That is so if first and last lane differ by all the steps
    /// between them, as no step becomes longer by a limit.
    fn clamped(&mut self, op: Op<'c>, a: Shape, b: Shape, signed: bool) -> Option<Shape> {
        let (number, linear) = match (a, b) {
            (Shape::Linear(linear), Shape::Uniform) => (op.operand(0), linear),
            (Shape::Uniform, Shape::Linear(linear)) => (op.operand(1), linear),
            _ => return None,
        };
        width(op.result(0).ty()).filter(|bits| *bits < 64)?;
        let exact = !linear.of_live && if signed { linear.signed } else { linear.unsigned };
        if !exact && !self.assume(number, signed) {
            return None;
        }
        let made = Linear { stride: linear.stride, signed: false, unsigned: false, of_live: false };
        self.set(op.result(0), Shape::Linear(made));
        self.assume(op.result(0), signed).then(|| {
            self.often_fails = true;
            Shape::Linear(Linear { signed, unsigned: !signed, ..made })
        })
    }

    fn product(&mut self, op: Op<'c>) -> Option<Shape> {
        let (value, factor) = match (constant(op.operand(0)), constant(op.operand(1))) {
            (_, Some(factor)) => (op.operand(0), factor),
            (Some(factor), _) => (op.operand(1), factor),
            _ => return None,
        };
        self.scaled(op, value, factor)
    }

    fn shifted(&mut self, op: Op<'c>) -> Option<Shape> {
        let amount = constant(op.operand(1)).filter(|amount| (0..32).contains(amount))?;
        self.scaled(op, op.operand(0), 1 << amount)
    }

    fn scaled(&mut self, op: Op<'c>, value: Value<'c>, factor: i64) -> Option<Shape> {
        let shape = self.of(value);
        let stride = shape.stride()?.checked_mul(factor)?;
        let bits = width(op.result(0).ty())?;
        let product = facts::range(value).and_then(|range| {
            let ends = [range.low.checked_mul(factor.into())?, range.high.checked_mul(factor.into())?];
            Some(Range { low: ends[0].min(ends[1]), high: ends[0].max(ends[1]) })
        });
        let fits = product.is_some_and(|range| within(range, bits));
        let up = product.is_some_and(|range| fits && range.low >= 0);
        let signed = Wraps::of(&[shape], Shape::is_signed, fits, is_nsw(op));
        let unsigned = Wraps::of(&[shape], Shape::is_unsigned, up, is_nuw(op));
        self.made(op, stride, [signed, unsigned])
    }

    fn extended(&mut self, op: Op<'c>, a: Shape, signed: bool) -> Option<Shape> {
        let (from, to) = (width(op.operand(0).ty())?, width(op.result(0).ty())?);
        if to < from {
            return self.truncated(op, a);
        }
        let linear = match a {
            Shape::Linear(linear) => linear,
            _ => return Some(a),
        };
        let positive = || is_not_negative(op.operand(0)) || op.has_attr(facts::NOT_NEGATIVE);
        let exact = match signed {
            true => linear.signed || (linear.unsigned && positive()),
            false => linear.unsigned || (linear.signed && positive()),
        };
        if !exact && !self.assume(op.operand(0), signed) {
            return None;
        }
        let bits = width(op.result(0).ty())?;
        // The emission makes the first lane's number right where only lanes that take part do not wrap.
        let sign = if signed && !positive() { Wraps::Perhaps } else { Wraps::Never };
        if bits >= 64 { Some(Shape::linear(linear.stride)) } else { self.made(op, linear.stride, [Wraps::Never, sign]) }
    }

    fn truncated(&mut self, op: Op<'c>, a: Shape) -> Option<Shape> {
        let bits = width(op.result(0).ty())?;
        let fits = facts::range(op.operand(0)).is_some_and(|range| within(range, bits));
        let up = fits && facts::range(op.operand(0)).is_some_and(|range| range.low >= 0);
        let signed = Wraps::of(&[a], Shape::is_signed, fits, false);
        let unsigned = Wraps::of(&[a], Shape::is_signed, up, false);
        self.made(op, a.stride()?, [signed, unsigned])
    }

    fn same_bits(&mut self, op: Op<'c>, a: Shape) -> Option<Shape> {
        let (from, to) = (op.operand(0).ty(), op.result(0).ty());
        let pointer = |ty: Type<'c>| ty.ptr_space().is_some() || width(ty) == Some(64);
        let same = from == to && width(from).is_some();
        (same || pointer(from) && pointer(to)).then_some(a)
    }

    /// `value & (2^k - 1)`, `value & -2^k`, and remainders of powers of two.
    fn low_bits(&mut self, op: Op<'c>, name: &str, a: Shape) -> Option<Shape> {
        let stride = a.stride()?;
        let number = constant(op.operand(1))?;
        let mask = match name {
            "and" | "andi" => number,
            _ if number <= 0 || !number.cast_unsigned().is_power_of_two() => return None,
            "srem" | "remsi" if !is_not_negative(op.operand(0)) => return None,
            _ => number - 1,
        };
        let span = self.span(stride).filter(|_| self.carries_nothing(op.operand(0), stride))?;
        let low = 64 - span.cast_unsigned().leading_zeros();
        let below = (1i64 << low) - 1;
        match mask & below {
            0 => Some(Shape::Uniform),
            kept if kept == below => Some(Shape::linear(stride)),
            _ => None,
        }
    }

    /// Shifts to the right, and divisions by powers of two: uniform where the lanes differ only in bits that go.
    fn high_bits(&mut self, op: Op<'c>, name: &str, a: Shape) -> Option<Shape> {
        let stride = a.stride()?;
        let number = constant(op.operand(1)).filter(|number| *number >= 0)?;
        let amount = match name {
            "lshr" | "shrui" | "ashr" | "shrsi" => u32::try_from(number).ok()?,
            _ if number == 0 || !number.cast_unsigned().is_power_of_two() => return None,
            "sdiv" | "divsi" if !is_not_negative(op.operand(0)) => return None,
            _ => number.trailing_zeros(),
        };
        let span = self.span(stride).filter(|_| self.carries_nothing(op.operand(0), stride))?;
        (amount < 63 && span < 1 << amount).then_some(Shape::Uniform)
    }

    fn address(&mut self, op: Op<'c>) -> Option<Shape> {
        let mut stride = self.of(op.operand(0)).stride()?;
        for (index, bytes) in addresses::steps(op)?.indices {
            let shape = self.of(index);
            if width(index.ty())? < 64 && !shape.is_signed() && !self.assume(index, true) {
                return None;
            }
            stride = stride.checked_add(shape.stride()?.checked_mul(bytes)?)?;
        }
        Some(Shape::linear(stride))
    }
}

fn within(range: Range, bits: u32) -> bool {
    Range::of_width(bits).contains(range)
}

/// Whether a sum or difference is exact, by the ranges of its operands.
fn fits(op: Op<'_>, sign: i64) -> bool {
    let range = || {
        let (a, b) = (facts::range(op.operand(0))?, facts::range(op.operand(1))?);
        Some(match sign {
            1 => Range { low: a.low + b.low, high: a.high + b.high },
            _ => Range { low: a.low - b.high, high: a.high - b.low },
        })
    };
    range().zip(width(op.result(0).ty())).is_some_and(|(range, bits)| within(range, bits))
}

/// Whether a difference stands where a comparison has said that it is no negative number: `if (x >= n) use(x - n)`.
fn is_guarded(op: Op<'_>, parallel: Op<'_>) -> bool {
    let around = std::iter::successors(Some(op), |inner| inner.parent().filter(|outer| *outer != parallel));
    let mut branches = around.collect::<Vec<_>>();
    branches.truncate(GUARDS);
    branches.windows(2).filter(|pair| pair[1].is("scf.if")).any(|pair| {
        let (inner, branch) = (pair[0], pair[1]);
        let Some(test) =
            branch.operand(0).defining_op().filter(|test| matches!(test.name(), "llvm.icmp" | "arith.cmpi"))
        else {
            return false;
        };
        let yes = branch.region(0).first_block().is_some_and(|block| inner.block() == Some(block));
        let (a, b) = (test.operand(0), test.operand(1));
        let least = match (test.attr("predicate").and_then(|predicate| predicate.as_int()), yes) {
            (Some(8 | 9), true) | (Some(6), false) => (a, b),
            (Some(6 | 7), true) | (Some(8), false) => (b, a),
            _ => return false,
        };
        least == (op.operand(0), op.operand(1))
    })
}

pub(super) fn is_not_negative(value: Value<'_>) -> bool {
    facts::range(value).is_some_and(|range| range.low >= 0)
}

/// Whether neither the operands of a sum nor the sum are negative.
fn not_negative(op: Op<'_>, sign: i64) -> bool {
    sign == 1 && is_not_negative(op.operand(0)) && is_not_negative(op.operand(1)) && fits(op, sign)
}
