//! Legality of turning an `scf.while` into an `scf.for`: which loops count, how, and why not.
//!
//! Every check gives the reason why it fails, a [`Refusal`]; nothing here changes the IR.

use mlir_bridge::ir::{Block, EffectKind, Op, Value};

use crate::analysis::facts::{Range, constant, is_nsw, is_nuw, range};

/// Comparison predicates, as `llvm.icmp` and `arith.cmpi` number them.
const EQ: i64 = 0;
const NE: i64 = 1;
const SLT: i64 = 2;
const SLE: i64 = 3;
const SGT: i64 = 4;
const SGE: i64 = 5;
const ULT: i64 = 6;
const ULE: i64 = 7;
const UGT: i64 = 8;
const UGE: i64 = 9;

mlir_bridge::reasons! {
    /// Why an `scf.while` is not known to count.
    pub enum Refusal {
        UnknownEffects => "its test has unknown effects",
        Writes => "its test writes memory",
        NoComparison => "its test is no integer comparison",
        NoBound => "its test does not compare an induction variable with an invariant bound",
        TooWide => "its induction variable has more than 64 bits",
        NoAddition => "its induction variable is not advanced by an addition",
        ChangingStep => "its step changes in the loop",
        Step => "its step is not proven to be positive",
        Wraps => "its induction variable may wrap",
        LargestBound => "its bound may be the largest number",
        DistanceWraps => "its distance to the bound may wrap",
        Missed => "its bound is not proven to be reached",
        Unbounded => "its comparison bounds no counted loop",
        AwayFromBound => "it counts up from its bound",
    }
}

/// The two regions of a loop and their terminators.
pub struct While<'c> {
    pub op: Op<'c>,
    pub before: Block<'c>,
    pub after: Block<'c>,
    /// What the test region hands to the body and out of the loop.
    pub forwarded: Vec<Value<'c>>,
    pub yielded: Vec<Value<'c>>,
    pub test: Value<'c>,
}

/// A loop that is proven to count.
pub struct Counted<'c> {
    /// The addition that advances the induction variable.
    pub add: Op<'c>,
    /// Which loop-carried value is the induction variable.
    pub index: usize,
    pub bound: Value<'c>,
    pub step: Value<'c>,
    pub kind: Kind,
}

/// How the loop counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Up to the bound.
    Exclusive,
    /// Up to and with the bound.
    Inclusive,
    /// Up to the bound, all numbers unsigned.
    Unsigned,
    /// Down to the bound, without it, by this amount.
    Down(i64),
    /// Down to and with the bound, by this amount.
    DownInclusive(i64),
}

impl Kind {
    pub fn counts_up(self) -> bool {
        !matches!(self, Kind::Down(_) | Kind::DownInclusive(_))
    }
}

/// Takes a loop apart; `None` for what the verifier of `scf.while` would not let pass.
pub fn parts(op: Op<'_>) -> Option<While<'_>> {
    let (before, after) = (op.region(0).single_block()?, op.region(1).single_block()?);
    let mut forwarded = before.terminator()?.operands();
    let test = forwarded.remove(0);
    Some(While { op, before, after, forwarded, yielded: after.terminator()?.operands(), test })
}

/// Why the test region cannot be run at another place: raising copies it to the start of the body and behind the loop.
pub fn check_test(parts: &While<'_>) -> Result<(), Refusal> {
    for op in parts.before.ops().into_iter().filter(|op| !op.is_terminator()) {
        let effects = op.effects().ok_or(Refusal::UnknownEffects)?;
        if effects.iter().any(|effect| effect.kind != EffectKind::Read) {
            return Err(Refusal::Writes);
        }
    }
    Ok(())
}

/// Whether the value is defined outside of `loop_`.
pub fn is_outside(value: Value<'_>, loop_: Op<'_>) -> bool {
    let mut block = value.parent_block();
    while let Some(inside) = block {
        let Some(owner) = inside.parent_op() else {
            return true;
        };
        if owner == loop_ {
            return false;
        }
        block = owner.block();
    }
    true
}

/// Proves that a loop counts.
pub fn count<'c>(parts: &While<'c>) -> Result<Counted<'c>, Refusal> {
    count_with(parts, false)
}

/// As [`count`], taking it that the step is positive and that adding it to the bound does not wrap, which the caller asks before the loop.
pub fn count_unless_wrapping<'c>(parts: &While<'c>) -> Result<Counted<'c>, Refusal> {
    count_with(parts, true)
}

fn count_with<'c>(parts: &While<'c>, never_wraps: bool) -> Result<Counted<'c>, Refusal> {
    let compare = parts.test.defining_op().ok_or(Refusal::NoComparison)?;
    if !matches!(compare.name(), "llvm.icmp" | "arith.cmpi") {
        return Err(Refusal::NoComparison);
    }
    let predicate = compare.attr("predicate").and_then(|attr| attr.as_int()).ok_or(Refusal::NoComparison)?;
    let (left, right) = (compare.operand(0), compare.operand(1));
    let (value, bound, predicate) = match (carried_index(parts, left), carried_index(parts, right)) {
        (Some(_), _) if is_outside(right, parts.op) => (left, right, predicate),
        (_, Some(_)) if is_outside(left, parts.op) => (right, left, swapped(predicate)),
        _ => return Err(Refusal::NoBound),
    };
    let index = carried_index(parts, value).ok_or(Refusal::NoBound)?;
    if value.ty().int_width().is_none_or(|bits| bits > 64) {
        return Err(Refusal::TooWide);
    }
    let advance = advance_of(parts, index)?;
    prove(parts, Proof { index, bound, advance, predicate, never_wraps })
}

/// Which loop-carried value an argument of the test region is.
fn carried_index(parts: &While<'_>, value: Value<'_>) -> Option<usize> {
    let (block, index) = value.block_arg()?;
    (block == parts.before).then_some(index)
}

fn swapped(predicate: i64) -> i64 {
    match predicate {
        SLT => SGT,
        SLE => SGE,
        SGT => SLT,
        SGE => SLE,
        ULT => UGT,
        ULE => UGE,
        UGT => ULT,
        UGE => ULE,
        same => same,
    }
}

/// Looks through the body's arguments at what the test region forwards.
fn resolve<'c>(parts: &While<'c>, value: Value<'c>) -> Value<'c> {
    match value.block_arg() {
        Some((block, index)) if block == parts.after => parts.forwarded[index],
        _ => value,
    }
}

/// What advances the induction variable.
#[derive(Clone, Copy)]
struct Advance<'c> {
    op: Op<'c>,
    step: Value<'c>,
    /// The step, a constant, is subtracted.
    subtracts: bool,
}

/// The addition, or subtraction of a constant, that advances the induction variable.
fn advance_of<'c>(parts: &While<'c>, index: usize) -> Result<Advance<'c>, Refusal> {
    let next = resolve(parts, parts.yielded[index]);
    let add = next.defining_op().ok_or(Refusal::NoAddition)?;
    let subtracts = matches!(add.name(), "llvm.sub" | "arith.subi");
    if !subtracts && !matches!(add.name(), "llvm.add" | "arith.addi") {
        return Err(Refusal::NoAddition);
    }
    let is_variable = |value: Value<'c>| carried_index(parts, resolve(parts, value)) == Some(index);
    let (left, right) = (add.operand(0), add.operand(1));
    let step = match (is_variable(left), is_variable(right)) {
        (true, false) => right,
        (false, true) if !subtracts => left,
        _ => return Err(Refusal::NoAddition),
    };
    let step = resolve(parts, step);
    if constant(step).is_none() && (subtracts || !is_outside(step, parts.op)) {
        return Err(Refusal::ChangingStep);
    }
    Ok(Advance { op: add, step, subtracts })
}

/// What is known before legality is proven.
struct Proof<'c> {
    index: usize,
    bound: Value<'c>,
    advance: Advance<'c>,
    predicate: i64,
    never_wraps: bool,
}

fn prove<'c>(parts: &While<'c>, proof: Proof<'c>) -> Result<Counted<'c>, Refusal> {
    let Proof { index, bound, .. } = proof;
    let Advance { op: add, step, subtracts } = proof.advance;
    let start = range(parts.op.operand(index)).ok_or(Refusal::TooWide)?;
    let end = range(bound).ok_or(Refusal::TooWide)?;
    let stride = range(step).ok_or(Refusal::TooWide)?;
    let bits = bound.ty().int_width().unwrap_or(64);
    let largest = Range::of_width(bits).high;
    let change = constant(step).and_then(|step| if subtracts { step.checked_neg() } else { Some(step) });
    if let (SGT | SGE, Some(change)) = (proof.predicate, change.filter(|change| *change < 0)) {
        return prove_down(&proof, &start, &end, change);
    }
    if proof.never_wraps && !subtracts {
        let kind = match proof.predicate {
            SLT => Kind::Exclusive,
            SLE => Kind::Inclusive,
            ULT => Kind::Unsigned,
            _ => return Err(Refusal::Unbounded),
        };
        return Ok(Counted { add, index, bound, step, kind });
    }
    if stride.low <= 0 || subtracts {
        return Err(Refusal::Step);
    }
    let not_negative = start.low >= 0 && end.low >= 0;
    let counted = |kind| Counted { add, index, bound, step, kind };
    match proof.predicate {
        SLT => {
            no_signed_wrap(add, end.high - 1 + stride.high <= largest)?;
            Ok(counted(Kind::Exclusive))
        }
        ULT if not_negative && (is_nsw(add) || end.high - 1 + stride.high <= largest) => Ok(counted(Kind::Exclusive)),
        ULT if constant(step) == Some(1) || is_nuw(add) => Ok(counted(Kind::Unsigned)),
        ULT => Err(Refusal::Wraps),
        SLE => {
            let leaves = end.high < largest || (is_nsw(add) && always_returns(parts.after));
            if !leaves {
                return Err(Refusal::LargestBound);
            }
            no_signed_wrap(add, end.high + stride.high <= largest)?;
            Ok(counted(Kind::Inclusive))
        }
        ULE if not_negative && end.high + stride.high <= largest => Ok(counted(Kind::Inclusive)),
        NE if reaches(&start, &end, &stride) => Ok(counted(Kind::Exclusive)),
        NE => Err(Refusal::Missed),
        EQ | ULE => Err(Refusal::Unbounded),
        _ => Err(Refusal::AwayFromBound),
    }
}

/// A loop that counts down by a constant: its distance from the start must not wrap.
fn prove_down<'c>(proof: &Proof<'c>, start: &Range, end: &Range, change: i64) -> Result<Counted<'c>, Refusal> {
    let &Proof { index, bound, predicate, .. } = proof;
    let Advance { op: add, step, .. } = proof.advance;
    let all = Range::of_width(bound.ty().int_width().unwrap_or(64));
    let inclusive = i128::from(predicate == SGE);
    let (shortest, longest) = (start.low - end.high + inclusive, start.high - end.low + inclusive);
    let amount = change.checked_neg().ok_or(Refusal::DistanceWraps)?;
    if shortest < all.low || longest - 1 + i128::from(amount) > all.high {
        return Err(Refusal::DistanceWraps);
    }
    // Below the bound the variable itself must not wrap either.
    if !is_nsw(add) && end.low - i128::from(amount) < all.low {
        return Err(Refusal::Wraps);
    }
    let kind = if predicate == SGE { Kind::DownInclusive(amount) } else { Kind::Down(amount) };
    Ok(Counted { add, index, bound, step, kind })
}

fn no_signed_wrap(add: Op<'_>, excluded: bool) -> Result<(), Refusal> {
    if excluded || is_nsw(add) { Ok(()) } else { Err(Refusal::Wraps) }
}

/// Whether a loop `i != end` leaves at `end`, not passing or missing it.
fn reaches(start: &Range, end: &Range, stride: &Range) -> bool {
    if stride.low != stride.high || start.high > end.low {
        return false;
    }
    stride.low == 1 || (start.low == start.high && end.low == end.high && (end.low - start.low) % stride.low == 0)
}

/// Whether the body always comes to its end: nothing in it can trap, exit or loop in another function.
fn always_returns(body: Block<'_>) -> bool {
    body.ops().into_iter().all(|op| {
        !matches!(op.name(), "llvm.call" | "llvm.inline_asm" | "llvm.intr.trap" | "llvm.call_intrinsic" | "scf.while")
            && op.regions().into_iter().all(|region| region.blocks().into_iter().all(always_returns))
    })
}
