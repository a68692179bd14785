//! Which floating-point numbers divide a row's integers, and what that costs (`divide.rs` has the reasons).

use mlir_bridge::ir::Op;

use super::{
    classify::{divides, is_signed},
    shapes::Shapes,
};
use crate::analysis::{
    counted_loop::is_outside,
    facts::{Range, constant, range},
};

/// Single precision divides numbers below this.
pub const SINGLE: i128 = 1 << 21;
/// Doubles divide numbers below this that are 64 bits wide.
pub const DOUBLE: i128 = 1 << 50;
/// The least width of registers in which doubles are cut off by an instruction.
const ROUNDS: u32 = 256;
/// A division of one register of floating-point numbers, in slots.
const DIVIDED: u64 = 32;

/// How the lanes of a division are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// The operands are read as signed numbers.
    pub signed: bool,
    /// The dividend may be negative.
    pub negative: bool,
    /// The remainder is asked for.
    pub remainder: bool,
    /// In single precision.
    pub single: bool,
    /// The operands are wider than 32 bits, but what they are is not.
    pub wide: bool,
    /// The operands are 64 bits wide, and are asked: the dividend, the divisor.
    pub asked: Option<[bool; 2]>,
    /// All lanes have the same divisor.
    pub uniform: bool,
    /// It comes from outside of the loop around.
    pub found_before: bool,
}

impl Division {
    /// How `op` is made; `None` if it is no division, one by a constant, which LLVM multiplies by, or one of numbers that may be larger than
    /// 32 bits where doubles of 64 bits cannot be cut off.
    pub fn of<'c>(op: Op<'c>, shapes: &Shapes<'c>, register_bits: u32) -> Option<Self> {
        let bits = op.operands().first()?.ty().int_width().filter(|_| divides(op))?;
        if constant(op.operand(1)).is_some() {
            return None;
        }
        let (a, b) = (range(op.operand(0))?, range(op.operand(1))?);
        let large = || (bits == 64 && register_bits >= ROUNDS).then(|| Self::of_large(is_signed(op), a, b));
        let how = Self::of_ranges(bits, is_signed(op), a, b).or_else(large)?;
        Some(Self {
            remainder: op.name().contains("rem"),
            uniform: shapes.is_uniform(op.operand(1)),
            found_before: op.parent().is_none_or(|around| is_outside(op.operand(1), around)),
            ..how
        })
    }

    /// The same of what is known of the operands, as signed numbers.
    pub fn of_ranges(bits: u32, signed: bool, a: Range, b: Range) -> Option<Self> {
        let positive = a.low >= 0 && b.low >= 0;
        let fits = |limits: Range| [a, b].iter().all(|known| limits.contains(*known));
        let as_signed = fits(Range::of_width(32)) && (signed || positive);
        let as_unsigned = if bits <= 32 { !signed } else { fits(Range { low: 0, high: (1 << 32) - 1 }) };
        if !as_signed && !as_unsigned {
            return None;
        }
        let small = -SINGLE < a.low && a.high < SINGLE && (signed || a.low >= 0);
        Some(Self {
            signed: as_signed,
            negative: as_signed && a.low < 0,
            remainder: false,
            single: bits <= 16 || small,
            wide: bits > 32,
            asked: None,
            uniform: false,
            found_before: false,
        })
    }

    /// The same of numbers that may be of any size.
    pub fn of_large(signed: bool, a: Range, b: Range) -> Self {
        let small = |known: Range| -DOUBLE < known.low && known.high < DOUBLE && (signed || known.low >= 0);
        Self {
            signed: true,
            negative: signed && a.low < 0,
            remainder: false,
            single: false,
            wide: false,
            asked: Some([!small(a), !small(b)]),
            uniform: false,
            found_before: false,
        }
    }

    /// What it costs a row, whose integers take so many registers.
    pub fn slots(self, lanes: u32, register_bits: u32, integers: u64) -> u64 {
        let floats = u64::from((lanes * if self.single { 32 } else { 64 }).div_ceil(register_bits));
        let conversion = if self.signed && self.asked.is_none() { 2 } else { 4 };
        let questions = self.asked.map_or(0, |asked| asked.into_iter().filter(|asked| *asked).count() as u64);
        let reciprocal = if self.found_before { 0 } else { DIVIDED };
        let quotient = match self.uniform {
            true => reciprocal + floats * (2 * conversion + 2 + 2 + if self.negative { 2 } else { 0 }),
            false => floats * (3 * conversion + DIVIDED),
        };
        quotient + integers * (6 * questions + if self.wide { 4 } else { 0 } + if self.remainder { 6 } else { 0 })
    }
}
