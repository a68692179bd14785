//! Numbers whose lanes differ by constants, though not evenly: `x ^ 1`, `x & 3`, `x >> 2`, and what is computed of them.
//!
//! The first lane's number ends in bits that are known, as rows begin at multiples of their lanes. What a lane has more than it changes only
//! those bits, so that the operation on bits can be done here, lane by lane; the bits above are the same in all lanes.

use mlir_bridge::ir::{Op, Value};

use super::{Shape, Shapes, arithmetic::is_not_negative};
use crate::analysis::{
    addresses,
    facts::{self, Range, constant, width},
};
use crate::lower::{
    SHARED_ALIGNMENT,
    vectorize_threads::{machine::WARP, own_memory::root},
};

const MOST_LANES: usize = WARP as usize;
/// How far an address is followed to what it is a sum of.
const DEPTH: u32 = 12;
type Offsets = [i64; MOST_LANES];

/// What each lane has more than the first one. No lane wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uneven {
    offsets: [i32; MOST_LANES],
}

impl Uneven {
    pub fn offset(self, lane: usize) -> i64 {
        self.offsets[lane].into()
    }
}

/// Bits at the end of a number: how many are known, and what they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Low {
    known: u32,
    bits: u64,
}

/// An operation on bits.
#[derive(Clone, Copy)]
enum Done {
    And,
    Or,
    Xor,
    Shift,
}

fn masked(bits: u64, known: u32) -> u64 {
    if known >= 64 { bits } else { bits & ((1 << known) - 1) }
}

impl Low {
    fn new(bits: u64, known: u32) -> Self {
        let known = known.min(64);
        Self { known, bits: masked(bits, known) }
    }

    /// Zero bits at the end.
    fn zeros(self) -> u32 {
        self.bits.trailing_zeros().min(self.known)
    }

    fn product(self, other: Self) -> Self {
        let known = (self.known + other.zeros()).min(other.known + self.zeros());
        Self::new(self.bits.wrapping_mul(other.bits), known)
    }

    /// Where one has zeros, nobody asks for the other.
    fn both(self, other: Self) -> Self {
        let (more, less) = if self.known >= other.known { (self, other) } else { (other, self) };
        let above = if less.known >= 64 { 0 } else { more.bits >> less.known };
        let known = (less.known + above.trailing_zeros()).min(more.known);
        Self::new(more.bits & (less.bits | u64::MAX.checked_shl(less.known).unwrap_or(0)), known)
    }
}

impl<'c> Shapes<'c> {
    /// What the lanes of a value have more than the first, if that is known.
    pub fn offsets(&self, shape: Shape) -> Option<Offsets> {
        let mut found = [0; MOST_LANES];
        let lanes = usize::try_from(self.lanes).ok()?;
        for (lane, offset) in found.iter_mut().enumerate().take(lanes) {
            *offset = match shape {
                Shape::Uniform => 0,
                Shape::Linear(linear) => linear.stride.checked_mul(lane as i64)?,
                Shape::Uneven(uneven) => uneven.offset(lane),
                Shape::Varying => return None,
            };
        }
        Some(found)
    }

    /// The shape of numbers with such offsets, none of which wraps.
    fn of_offsets(&self, offsets: Offsets) -> Option<Shape> {
        let lanes = usize::try_from(self.lanes).ok()?;
        let stride = offsets[1];
        if (0..lanes).all(|lane| Some(offsets[lane]) == stride.checked_mul(lane as i64)) {
            return Some(Shape::linear(stride));
        }
        let mut narrow = [0; MOST_LANES];
        for (to, from) in narrow.iter_mut().zip(offsets).take(lanes) {
            *to = i32::try_from(from).ok()?;
        }
        Some(Shape::Uneven(Uneven { offsets: narrow }))
    }

    /// The bits that lanes with these offsets change in the first lane's number, if they are all known there.
    pub(super) fn changed(&mut self, value: Value<'c>, offsets: &Offsets) -> Option<(Low, u32)> {
        let low = self.known_low(value);
        let lanes = usize::try_from(self.lanes).ok()?;
        let first = i64::try_from(low.bits).ok()?;
        let ends = offsets[..lanes].iter().map(|offset| first.checked_add(*offset)).collect::<Option<Vec<_>>>()?;
        let (least, most) = (*ends.iter().min()?, *ends.iter().max()?);
        let bits = 64 - most.leading_zeros();
        (least >= 0 && bits <= low.known && bits < width(value.ty())?).then_some((low, bits))
    }

    /// What is done to bits: `and`, `or`, `xor` and shifts to the right; divisions by powers of two are shifts, and their remainders are masked.
    fn bits_done(&mut self, op: Op<'c>, name: &str, other: Value<'c>) -> Option<(Done, Low)> {
        let power = |signed: bool| {
            let number = constant(other).filter(|number| *number > 0 && number.cast_unsigned().is_power_of_two())?;
            (!signed || is_not_negative(op.operand(0))).then_some(number)
        };
        let shift =
            |amount: i64| (0..63).contains(&amount).then(|| (Done::Shift, Low::new(amount.cast_unsigned(), 64)));
        let rest = |number: i64| Some((Done::And, Low::new((number - 1).cast_unsigned(), 64)));
        match name {
            "and" | "andi" => Some((Done::And, self.known_low(other))),
            "or" | "ori" => Some((Done::Or, self.known_low(other))),
            "xor" | "xori" => Some((Done::Xor, self.known_low(other))),
            "lshr" | "shrui" | "ashr" | "shrsi" => shift(constant(other)?),
            "udiv" | "divui" | "sdiv" | "divsi" => {
                shift(power(name.contains("si") || name == "sdiv")?.trailing_zeros().into())
            }
            "urem" | "remui" | "srem" | "remsi" => rest(power(name.contains("si") || name == "srem")?),
            _ => None,
        }
    }

    /// An operation on bits of a number whose lanes change known bits alone.
    pub(super) fn by_bits(&mut self, op: Op<'c>, name: &str) -> Option<Shape> {
        let (value, other) = match [0, 1].map(|index| self.is_uniform(op.operand(index))) {
            [false, true] => (op.operand(0), op.operand(1)),
            [true, false] if matches!(name, "and" | "andi" | "or" | "ori" | "xor" | "xori") => {
                (op.operand(1), op.operand(0))
            }
            _ => return None,
        };
        let shape = self.of(value);
        let offsets = self.offsets(shape).filter(|_| !shape.is_of_live())?;
        let (low, bits) = self.changed(value, &offsets)?;
        let (done, with) = self.bits_done(op, name, other)?;
        if with.known < bits {
            return None;
        }
        let made = |offset: i64| {
            let number = low.bits.wrapping_add_signed(offset);
            match done {
                Done::And => masked(number & with.bits, bits).cast_signed(),
                Done::Or => masked(number | with.bits, bits).cast_signed(),
                Done::Xor => masked(number ^ with.bits, bits).cast_signed(),
                // The bits above, which all lanes have alike, come down as they are.
                Done::Shift => (masked(number, bits) >> with.bits).cast_signed(),
            }
        };
        self.of_offsets(offsets.map(|offset| made(offset) - made(0)))
    }

    /// A sum, difference, product with a constant, truncation or address of numbers that are not all even.
    pub(super) fn uneven(&mut self, op: Op<'c>, name: &str) -> Option<Shape> {
        let shapes = op.operands().into_iter().map(|value| self.of(value)).collect::<Vec<_>>();
        let any = shapes.iter().any(|shape| matches!(shape, Shape::Uneven(_)));
        if !any || shapes.iter().any(|shape| shape.is_of_live()) {
            return None;
        }
        let combined = |one: Offsets, other: Offsets, factor: i64| {
            let mut sum = [0i64; MOST_LANES];
            for (lane, to) in sum.iter_mut().enumerate() {
                *to = one[lane].checked_add(factor.checked_mul(other[lane])?)?;
            }
            Some(sum)
        };
        let none = [0; MOST_LANES];
        let offsets = match name {
            "getelementptr" => {
                let mut sum = self.offsets(shapes[0])?;
                for (index, bytes) in addresses::steps(op)?.indices {
                    let shape = self.of(index);
                    if width(index.ty())? < 64 && !shape.is_signed() {
                        return None;
                    }
                    sum = combined(sum, self.offsets(shape)?, bytes)?;
                }
                return self.of_offsets(sum);
            }
            "add" | "addi" => combined(self.offsets(shapes[0])?, self.offsets(shapes[1])?, 1)?,
            "sub" | "subi" => combined(self.offsets(shapes[0])?, self.offsets(shapes[1])?, -1)?,
            "mul" | "muli" => {
                let factor = [0, 1].iter().find_map(|index| Some((*index, constant(op.operand(*index))?)))?;
                combined(none, self.offsets(shapes[1 - factor.0])?, factor.1)?
            }
            "shl" | "shli" => {
                let amount = constant(op.operand(1)).filter(|amount| (0..31).contains(amount))?;
                combined(none, self.offsets(shapes[0])?, 1 << amount)?
            }
            "trunc" | "trunci" => self.offsets(shapes[0])?,
            _ => return None,
        };
        let exact = width(op.result(0).ty())? == 64
            || self.changed(op.result(0), &offsets).is_some()
            || self.stays_within(op, name, &shapes);
        exact.then(|| self.of_offsets(offsets))?
    }

    /// Whether no lane of a sum wraps, by the ranges of what is added.
    fn stays_within(&self, op: Op<'c>, name: &str, shapes: &[Shape]) -> bool {
        let sum = matches!(name, "add" | "addi") && shapes.iter().all(|shape| shape.is_signed() && shape.is_unsigned());
        let fits = || {
            let (a, b) = (facts::range(op.operand(0))?, facts::range(op.operand(1))?);
            let all = Range::of_width(width(op.result(0).ty())?);
            Some(a.low >= 0 && b.low >= 0 && a.high + b.high <= all.high)
        };
        sum && fits().unwrap_or(false)
    }

    /// The number of an address' element among those of a vector of all lanes, in the first lane.
    pub fn first_place(&self, address: Value<'c>, size: i64) -> Option<i64> {
        let low = self.lows.get(&address)?;
        let bytes = self.lanes.checked_mul(size)?;
        let power = bytes > 0 && bytes.cast_unsigned().is_power_of_two() && low.known >= bytes.trailing_zeros();
        let first = (low.bits % bytes.cast_unsigned()).cast_signed();
        (power && first % size == 0).then_some(first / size)
    }

    /// The same where numbers that all lanes have alike are left out of the address, of which not enough is known: accesses whose addresses
    /// differ from this one's by a constant are as far apart by it as they are. Others may be anywhere beside it.
    pub fn place_beside(&self, address: Value<'c>, size: i64) -> Option<i64> {
        let place = self.beside.get(&address).filter(|place| *place % size == 0)?;
        Some((place / size).rem_euclid(self.lanes))
    }

    /// Finds out where the addresses of accesses are.
    pub(super) fn place_accesses(&mut self) {
        for op in self.parallel.find_all(|op| matches!(op.name(), "llvm.load" | "llvm.store")) {
            let address = op.operands().pop().unwrap_or(op.operand(0));
            self.known_low(address);
            if let Some(place) = self.varying_part(address, DEPTH) {
                self.beside.insert(address, place);
            }
        }
    }

    /// What the first lane's number is beside numbers that are alike in all lanes, which are left out, and of multiples of a row's lanes.
    fn varying_part(&mut self, value: Value<'c>, depth: u32) -> Option<i64> {
        let low = self.known_low(value);
        let lanes = self.lanes.cast_unsigned();
        if low.known >= lanes.trailing_zeros() && width(value.ty()).is_some() {
            return Some((low.bits % lanes).cast_signed());
        }
        if self.is_uniform(value) {
            return Some(0);
        }
        let op = value.defining_op().filter(|_| depth > 0)?;
        let short = op.name().split_once('.').map_or(op.name(), |(_, rest)| rest);
        let mut of = |index: usize| self.varying_part(op.operand(index), depth - 1);
        match short {
            "add" | "addi" => of(0)?.checked_add(of(1)?),
            "sub" | "subi" => of(0)?.checked_sub(of(1)?),
            "sext" | "extsi" | "zext" | "extui" | "trunc" | "trunci" | "index_cast" | "index_castui"
            | "addrspacecast" | "freeze" => of(0),
            "getelementptr" => {
                let steps = addresses::steps(op)?;
                let from = self.varying_part(op.operand(0), depth - 1)?;
                steps.indices.into_iter().try_fold(from.checked_add(steps.bytes)?, |sum, (index, bytes)| {
                    sum.checked_add(self.varying_part(index, depth - 1)?.checked_mul(bytes)?)
                })
            }
            _ => None,
        }
    }

    fn low_of_address(&mut self, op: Op<'c>) -> Option<Low> {
        let steps = addresses::steps(op)?;
        let mut low = self.known_low(op.operand(0));
        low = Low::new(low.bits.wrapping_add_signed(steps.bytes), low.known);
        for (index, bytes) in steps.indices {
            let index = self.known_low(index).product(Low::new(bytes.cast_unsigned(), 64));
            low = Low::new(low.bits.wrapping_add(index.bits), low.known.min(index.known));
        }
        Some(low)
    }

    /// What is known of the bits at the end of what a value is in the first lane.
    pub(super) fn known_low(&mut self, value: Value<'c>) -> Low {
        if let Some(known) = self.lows.get(&value) {
            return *known;
        }
        let bits = width(value.ty()).unwrap_or(64);
        let zeros = self.trailing_zeros(value);
        // What is being asked for is known by its zeros alone, which ends circles.
        self.lows.insert(value, Low::new(0, zeros.min(bits)));
        let found = self.find_low(value).filter(|low| low.known > zeros).unwrap_or(Low::new(0, zeros));
        let found = Low::new(found.bits, found.known.min(bits));
        self.lows.insert(value, found);
        found
    }

    fn find_low(&mut self, value: Value<'c>) -> Option<Low> {
        if let Some(number) = constant(value) {
            return Some(Low::new(number.cast_unsigned(), 64));
        }
        let op = value.defining_op()?;
        let name = op.name();
        let short = name.split_once('.').map_or(name, |(_, rest)| rest);
        let mut of = |index: usize| self.known_low(op.operand(index));
        let least =
            |a: Low, b: Low, made: fn(u64, u64) -> u64| Some(Low::new(made(a.bits, b.bits), a.known.min(b.known)));
        match short {
            "add" | "addi" => least(of(0), of(1), u64::wrapping_add),
            "sub" | "subi" => least(of(0), of(1), u64::wrapping_sub),
            "or" | "ori" => least(of(0), of(1), |a, b| a | b),
            "xor" | "xori" => least(of(0), of(1), |a, b| a ^ b),
            "and" | "andi" => Some(of(0).both(of(1))),
            "mul" | "muli" => Some(of(0).product(of(1))),
            "shl" | "shli" => {
                let amount = constant(op.operand(1)).filter(|amount| (0..64).contains(amount))?;
                let low = of(0);
                Some(Low::new(low.bits << amount, low.known + amount as u32))
            }
            "getelementptr" => self.low_of_address(op),
            "addrspacecast" => Some(of(0)),
            "alloca" => {
                let alignment =
                    op.attr("alignment").and_then(|alignment| alignment.as_int()).filter(|bytes| *bytes > 0)?;
                Some(Low::new(0, alignment.trailing_zeros()))
            }
            "mlir.addressof" if root(value).is_some() => Some(Low::new(0, SHARED_ALIGNMENT.trailing_zeros())),
            "sext" | "extsi" | "zext" | "extui" | "trunc" | "trunci" | "index_cast" | "index_castui" | "freeze" => {
                Some(of(0))
            }
            _ => None,
        }
    }
}
