//! What can be known of integer values without running the program: constants and ranges.
//!
//! Ranges are of the value read as a signed number of its own width, 64 bits for an index. Hardware limits of CUDA (at most 1024 threads in a
//! block, 65535 blocks in y and z) bound thread and block numbers.
//!
//! MLIR's `IntegerRangeAnalysis` cannot serve: in LLVM 22 no arithmetic of the llvm dialect implements `InferIntRangeInterface`,
//! so that it knows nothing of `llvm.add` and its like (test/Upstream/integer-ranges.mlir).

use mlir_bridge::{
    ir::{Op, Value},
    lift::overflow_flags,
};
use regrain_dialects::ops::GpuWrapper;
use regrain_targets::device_language::special_register;

pub use crate::analysis::constants::{constant, width};
use crate::analysis::loops::Counting;

/// An inclusive range of signed values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    pub low: i128,
    pub high: i128,
}

impl Range {
    fn new(low: i128, high: i128) -> Self {
        Self { low, high }
    }

    /// All values of an integer type.
    pub fn of_width(bits: u32) -> Self {
        Self::new(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    }

    /// Whether all values of `other` are among these.
    pub fn contains(self, other: Self) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    fn union(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }

    fn hull(values: [i128; 4]) -> Self {
        let low = values.iter().copied().min().unwrap_or(0);
        let high = values.iter().copied().max().unwrap_or(0);
        Self::new(low, high)
    }
}

/// How deep expressions are looked through.
const DEPTH: u32 = 8;

/// The signed range of an integer value of at most 64 bits, or of an index.
pub fn range(value: Value<'_>) -> Option<Range> {
    Some(range_at(value, width(value.ty())?, DEPTH))
}

fn range_at(value: Value<'_>, bits: u32, depth: u32) -> Range {
    let all = Range::of_width(bits);
    if let Some(number) = constant(value) {
        return Range::new(number.into(), number.into());
    }
    let Some(op) = value.defining_op().filter(|_| depth > 0) else {
        return argument_range(value, depth).unwrap_or(all);
    };
    operation_range(op, bits, depth - 1).filter(|range| all.contains(*range)).unwrap_or(all)
}

/// The range of a loop's induction variable: within its bounds, and in a launch within CUDA's limits.
fn argument_range(value: Value<'_>, depth: u32) -> Option<Range> {
    let (owner, number, counting) = Counting::of_variable(value).filter(|_| depth > 0)?;
    let bits = width(value.ty()).filter(|_| !counting.unsigned)?;
    let low = range_at(counting.lower, bits, depth - 1).low;
    let high = range_at(counting.upper, bits, depth - 1).high - 1;
    let limit = if owner.is("scf.parallel") { parallel_limit(owner, number) } else { high };
    let found = Range::new(low, high.min(limit));
    (found.low <= found.high).then_some(found)
}

/// Whether a loop has a first round for sure.
pub fn has_first_round(counting: &Counting<'_>) -> bool {
    let bounds = || Some((range(counting.lower)?, range(counting.upper)?));
    !counting.unsigned && bounds().is_some_and(|(low, high)| low.high < high.low)
}

/// What an operation has that says of its operand that it is not negative, where its result is used.
pub const NOT_NEGATIVE: &str = "nonNeg";

/// The largest number of a thread or block that CUDA allows.
fn parallel_limit(nest: Op<'_>, number: usize) -> i128 {
    let register = |kind: &str| special_register_range(&format!("{kind}.{}", ["x", "y", "z"][number.min(2)]));
    let in_wrapper = |op: Op<'_>| op.parent().is_some_and(GpuWrapper::is);
    let limits = if in_wrapper(nest) {
        register("ctaid")
    } else {
        nest.parent().filter(|grid| grid.is("scf.parallel") && in_wrapper(*grid)).and_then(|_| register("tid"))
    };
    limits.map_or(i128::from(i64::MAX), |limits| limits.high)
}

fn operand_range(op: Op<'_>, index: usize, depth: u32) -> Option<Range> {
    let value = op.operand(index);
    Some(range_at(value, width(value.ty())?, depth))
}

fn operation_range(op: Op<'_>, bits: u32, depth: u32) -> Option<Range> {
    let name = op.name();
    if let Some(register) = special_register(op) {
        return special_register_range(register);
    }
    let short = name.split_once('.').map_or(name, |(_, rest)| rest);
    match short {
        "sext" | "extsi" | "trunc" | "trunci" | "index_cast" => operand_range(op, 0, depth),
        "zext" | "extui" | "index_castui" => unsigned_range(op, depth),
        "add" | "addi" | "sub" | "subi" | "mul" | "muli" => arithmetic_range(op, short, bits, depth),
        "and" | "andi" => and_range(op, depth),
        "lshr" | "shrui" | "ashr" | "shrsi" | "udiv" | "divui" | "sdiv" | "divsi" => quotient_range(op, short, depth),
        "urem" | "remui" | "srem" | "remsi" => remainder_range(op, depth),
        "select" => Some(operand_range(op, 1, depth)?.union(operand_range(op, 2, depth)?)),
        "intr.smin" | "minsi" => {
            let (a, b) = (operand_range(op, 0, depth)?, operand_range(op, 1, depth)?);
            Some(Range::new(a.low.min(b.low), a.high.min(b.high)))
        }
        "intr.smax" | "maxsi" => {
            let (a, b) = (operand_range(op, 0, depth)?, operand_range(op, 1, depth)?);
            Some(Range::new(a.low.max(b.low), a.high.max(b.high)))
        }
        _ => None,
    }
}

/// What CUDA's limits say of a special register.
fn special_register_range(register: &str) -> Option<Range> {
    let range = match register {
        "tid.x" | "tid.y" => Range::new(0, 1023),
        "tid.z" => Range::new(0, 63),
        "ntid.x" | "ntid.y" => Range::new(1, 1024),
        "ntid.z" => Range::new(1, 64),
        "ctaid.x" => Range::new(0, i128::from(i32::MAX) - 1),
        "ctaid.y" | "ctaid.z" => Range::new(0, 65534),
        "nctaid.x" => Range::new(1, i32::MAX.into()),
        "nctaid.y" | "nctaid.z" => Range::new(1, 65535),
        "laneid" => Range::new(0, 31),
        "warpsize" => Range::new(32, 32),
        _ => return None,
    };
    Some(range)
}

fn unsigned_range(op: Op<'_>, depth: u32) -> Option<Range> {
    let bits = width(op.operand(0).ty())?;
    let inner = operand_range(op, 0, depth)?;
    if inner.low >= 0 {
        return Some(inner);
    }
    Some(Range::new(0, (1i128 << bits) - 1))
}

fn arithmetic_range(op: Op<'_>, name: &str, bits: u32, depth: u32) -> Option<Range> {
    let (a, b) = (operand_range(op, 0, depth)?, operand_range(op, 1, depth)?);
    let result = match name {
        "add" | "addi" => Range::new(a.low + b.low, a.high + b.high),
        "sub" | "subi" => Range::new(a.low - b.high, a.high - b.low),
        _ => Range::hull([a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high]),
    };
    let all = Range::of_width(bits);
    if all.contains(result) {
        return Some(result);
    }
    // Without signed wrap the result is within the type, else it is poison.
    is_nsw(op).then(|| Range::new(result.low.max(all.low), result.high.min(all.high)))
}

fn and_range(op: Op<'_>, depth: u32) -> Option<Range> {
    let (a, b) = (operand_range(op, 0, depth)?, operand_range(op, 1, depth)?);
    let bound = match (a.low >= 0, b.low >= 0) {
        (true, true) => a.high.min(b.high),
        (true, false) => a.high,
        (false, true) => b.high,
        (false, false) => return None,
    };
    Some(Range::new(0, bound))
}

/// Shifts right and divisions by a positive constant, of values that are not negative.
fn quotient_range(op: Op<'_>, name: &str, depth: u32) -> Option<Range> {
    let amount = constant(op.operand(1)).filter(|amount| *amount >= 0)?;
    let shift = matches!(name, "lshr" | "shrui" | "ashr" | "shrsi");
    if shift && amount > 63 {
        return None;
    }
    let divisor: i128 = if shift { 1 << amount } else { amount.into() };
    let inner = operand_range(op, 0, depth).filter(|range| range.low >= 0 && divisor > 0)?;
    Some(Range::new(inner.low / divisor, inner.high / divisor))
}

fn remainder_range(op: Op<'_>, depth: u32) -> Option<Range> {
    let (inner, divisor) = (operand_range(op, 0, depth)?, operand_range(op, 1, depth)?);
    let signed = op.name().contains("srem") || op.name().contains("remsi");
    if !signed && divisor.low < 0 {
        return None;
    }
    let largest = divisor.low.abs().max(divisor.high.abs()) - 1;
    match inner.low >= 0 {
        _ if largest < 0 => None,
        true => Some(Range::new(0, inner.high.min(largest))),
        false if signed => Some(Range::new(-largest, largest)),
        false => Some(Range::new(0, largest)),
    }
}

/// Whether an arithmetic operation cannot wrap as a signed number.
pub fn is_nsw(op: Op<'_>) -> bool {
    overflow_flags(op).0
}

/// Whether an arithmetic operation cannot wrap as an unsigned number.
pub fn is_nuw(op: Op<'_>) -> bool {
    overflow_flags(op).1
}
