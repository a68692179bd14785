//! What the lanes of nearly all rows agree on: quotients, and comparisons that something is computed of.
//!
//! ```mlir
//! %row = llvm.sdiv %i, %n              // %i one more in each lane: uniform where the row does not cross a multiple of %n
//! %col = llvm.srem %i, %n              // linear there
//! %over = llvm.icmp "uge" %i, %n       // uniform but where the row crosses %n
//! %next = llvm.select %over, %a, %b    // so linear if both are
//! ```
//! Each row is asked (`asked.rs`), and one that crosses goes by a second form.

use mlir_bridge::ir::{Op, Value};

use super::{Assumption, Linear, Shape, Shapes, Taking};
use crate::{
    analysis::facts::{constant, width},
    lower::vectorize_threads::classify::{divides, is_signed},
};

/// Of rows with a constant divisor, one of so many may cross a multiple of it.
const SELDOM: i64 = 8;

/// A number that is compared with one that all lanes have, or divided by one.
#[derive(Clone, Copy, Debug)]
pub struct Agreement<'c> {
    pub number: Value<'c>,
    /// From the first lane to the last.
    pub span: i64,
    /// Whether it is read as a signed number.
    pub signed: bool,
}

impl<'c> Shapes<'c> {
    /// What the lanes of a row are taken to agree on.
    pub fn agreed(&self) -> impl Iterator<Item = Op<'c>> {
        self.assumed.iter().filter_map(|assumption| match assumption {
            Assumption::Agrees { op } => Some(*op),
            _ => None,
        })
    }

    /// Whether more might be taken: something that lanes agree on in most rows.
    pub fn may_agree(&self) -> bool {
        self.may_agree
    }

    /// The number of a comparison or division that lanes may agree on.
    pub fn agreement_of(&self, op: Op<'c>) -> Option<Agreement<'c>> {
        matches!(width(op.operand(0).ty()), Some(32 | 64)).then_some(())?;
        let linear = |index: usize| match self.of(op.operand(index)) {
            Shape::Linear(Linear { stride, .. }) => self.span(stride).filter(|span| span.abs() < 1 << 24),
            _ => None,
        };
        if divides(op) {
            let span = linear(0).filter(|span| *span > 0 && self.is_uniform(op.operand(1)))?;
            let seldom = constant(op.operand(1)).is_none_or(|divisor| divisor > SELDOM * span);
            return seldom.then_some(Agreement { number: op.operand(0), span, signed: is_signed(op) });
        }
        // Less, or greater; four kinds of each.
        let predicate = op.attr("predicate").and_then(|predicate| predicate.as_int())?;
        let index = (0..2).find(|index| linear(*index).is_some() && self.is_uniform(op.operand(1 - index)))?;
        let compares = matches!(op.name(), "llvm.icmp" | "arith.cmpi") && (2..=9).contains(&predicate);
        let (number, span) = (op.operand(index), linear(index)?);
        (compares && computes(op.result(0))).then_some(Agreement { number, span, signed: predicate <= 5 })
    }

    /// The shape of what the lanes agree on, if that may be taken.
    pub(super) fn agreement(&mut self, op: Op<'c>) -> Option<Shape> {
        if self.taking == Taking::Nothing || op.num_operands() != 2 || op.operand(0).ty().ptr_space().is_some() {
            return None;
        }
        let agreement = self.agreement_of(op)?;
        if self.taking < Taking::AlongMost {
            self.may_agree = true;
            return None;
        }
        self.takes(Assumption::Agrees { op }, &op.operands()).then_some(())?;
        if !op.name().contains("rem") {
            return Some(Shape::Uniform);
        }
        let stride = self.of(agreement.number).stride()?;
        Some(Shape::Linear(Linear { stride, signed: agreement.signed, unsigned: true, of_live: false }))
    }
}

/// Whether something is computed of what a comparison says, beside where a thread goes.
fn computes(condition: Value<'_>) -> bool {
    condition.uses().into_iter().any(|used| match used.owner.name() {
        "llvm.zext" | "llvm.sext" | "arith.extui" | "arith.extsi" => true,
        "llvm.select" | "arith.select" => used.operand == 0 && width(used.owner.result(0).ty()) != Some(1),
        _ => false,
    })
}
