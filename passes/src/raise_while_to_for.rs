//! `regrain-raise-while-to-for`: counted `scf.while` loops become `scf.for`.
//!
//! Before:                                              After:
//!   %r:2 = scf.while (%i = %lb, %s = %init) ... {        %s1 = scf.for %i = %lb to %ub step %c4
//!     %c = llvm.icmp "slt" %i, %ub : i32                     iter_args(%s = %init) -> (f32) : i32 {
//!     scf.condition(%c) %i, %s : i32, f32                  ...
//!   } do {                                                 scf.yield %next : f32
//!   ^bb0(%i: i32, %s: f32):                              }
//!     ...
//!     %j = llvm.add %i, %c4 overflow<nsw> : i32
//!     scf.yield %j, %next : i32, f32
//!   }
//!
//! Declines when
//! - the test region writes memory, synchronises, or does not compare an induction variable with a value that is
//!   invariant in the loop;
//! - the step is not invariant, or not proven to be positive;
//! - the induction variable may wrap (no `nsw`, and the ranges do not exclude it);
//! - the comparison is `ne` or `sle` and the bound is not proven to be reached.
//!
//! A loop that counts down, `for (i = n; i > b; i -= c)`, counts the distance from its start up to `n - b` instead.
//!
//! A loop that is not raised stays a correct `scf.while`. Discardable attributes (the unroll metadata) are kept.

use mlir_bridge::{
    ir::{Block, Builder, EffectKind, Mapping, Op, Value},
    lift,
    pass::{Anchor, PassInfo, PassResult, PassRun},
};

use crate::facts::{Range, constant, is_nsw, is_nuw, range};

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

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-raise-while-to-for",
    summary: "turn counted scf.while loops into scf.for",
    anchor: Anchor::Any,
    options: &[],
    dialects: lift::DIALECTS,
    run,
};

fn run(_pass: &PassRun<'_>, root: Op<'_>) -> PassResult {
    raise_loops(root);
    Ok(())
}

/// Raises every loop below `root` that can be; gives their number.
pub fn raise_loops(root: Op<'_>) -> usize {
    let mut raised = 0;
    for op in root.find_named("scf.while").into_iter().rev() {
        match raise(op) {
            Ok(()) => raised += 1,
            Err(reason) => {
                tracing::debug!(target: "regrain-raise-while-to-for", "{}: loop stays a while: {reason}", op.loc());
            }
        }
    }
    raised
}

/// The two regions of a loop and their terminators.
struct While<'c> {
    op: Op<'c>,
    before: Block<'c>,
    after: Block<'c>,
    /// What the test region hands to the body and out of the loop.
    forwarded: Vec<Value<'c>>,
    yielded: Vec<Value<'c>>,
    test: Value<'c>,
}

/// A loop that is proven to count up.
struct Counted<'c> {
    /// The addition that advances the induction variable.
    add: Op<'c>,
    /// Which loop-carried value is the induction variable.
    index: usize,
    bound: Value<'c>,
    step: Value<'c>,
    kind: Kind,
}

/// How the loop counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
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

fn raise(op: Op<'_>) -> Result<(), &'static str> {
    let parts = parts(op)?;
    check_test_region(parts.before)?;
    hoist_invariants(&parts);
    let counted = count(&parts)?;
    rewrite(&parts, &counted);
    Ok(())
}

fn parts(op: Op<'_>) -> Result<While<'_>, &'static str> {
    let before = op.region(0).single_block().ok_or("the test has more than one block")?;
    let after = op.region(1).single_block().ok_or("the body has more than one block")?;
    let condition = before.terminator().ok_or("the test has no terminator")?;
    let last = after.terminator().ok_or("the body has no terminator")?;
    let mut operands = condition.operands();
    let test = operands.remove(0);
    Ok(While { op, before, after, forwarded: operands, yielded: last.operands(), test })
}

/// Moves operations of the test region that do not change in the loop in front of it.
fn hoist_invariants(parts: &While<'_>) {
    for op in parts.before.ops() {
        if !op.is_terminator()
            && op.num_regions() == 0
            && (op.is_pure() || reads_constant_memory(op))
            && op.operands().iter().all(|value| is_outside(*value, parts.op))
        {
            op.move_before(parts.op);
        }
    }
}

/// Whether the operation loads from a `__constant__` variable, which nobody writes while a kernel runs.
fn reads_constant_memory(op: Op<'_>) -> bool {
    if !op.is("llvm.load") || op.has_attr("volatile_") {
        return false;
    }
    let mut address = op.operand(0);
    while let Some(owner) = address.defining_op() {
        match owner.name() {
            "llvm.mlir.addressof" => return address.ty().ptr_space() == Some(4),
            "llvm.getelementptr" | "llvm.addrspacecast" => address = owner.operand(0),
            _ => return false,
        }
    }
    false
}

/// The test region is copied to the start of the body and behind the loop: it must not write.
fn check_test_region(before: Block<'_>) -> Result<(), &'static str> {
    for op in before.ops() {
        if op.is_terminator() {
            continue;
        }
        let effects = op.effects().ok_or("the test has unknown effects")?;
        if effects.iter().any(|effect| effect.kind != EffectKind::Read) {
            return Err("the test writes memory");
        }
    }
    Ok(())
}

/// Whether the value is defined outside of `loop_`.
fn is_outside(value: Value<'_>, loop_: Op<'_>) -> bool {
    let mut block = value.parent_block();
    while let Some(inside) = block {
        let Some(owner) = inside.parent_op() else { return true };
        if owner == loop_ {
            return false;
        }
        block = owner.block();
    }
    true
}

fn count<'c>(parts: &While<'c>) -> Result<Counted<'c>, &'static str> {
    let compare = parts.test.defining_op().ok_or("the test is no comparison")?;
    if !matches!(compare.name(), "llvm.icmp" | "arith.cmpi") {
        return Err("the test is no integer comparison");
    }
    let predicate = compare.attr("predicate").and_then(|attr| attr.as_int()).ok_or("the test has no predicate")?;
    let (left, right) = (compare.operand(0), compare.operand(1));
    let (value, bound, predicate) = match (carried_index(parts, left), carried_index(parts, right)) {
        (Some(_), _) if is_outside(right, parts.op) => (left, right, predicate),
        (_, Some(_)) if is_outside(left, parts.op) => (right, left, swapped(predicate)),
        _ => return Err("the test does not compare an induction variable with an invariant bound"),
    };
    let index = carried_index(parts, value).ok_or("the induction variable is not carried")?;
    if value.ty().int_width().is_none_or(|bits| bits > 64) {
        return Err("the induction variable is no integer of at most 64 bits");
    }
    let advance = advance_of(parts, index)?;
    prove(parts, Proof { index, bound, advance, predicate })
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
fn advance_of<'c>(parts: &While<'c>, index: usize) -> Result<Advance<'c>, &'static str> {
    let next = resolve(parts, parts.yielded[index]);
    let add = next.defining_op().ok_or("the induction variable is not advanced by an addition")?;
    let subtracts = matches!(add.name(), "llvm.sub" | "arith.subi");
    if !subtracts && !matches!(add.name(), "llvm.add" | "arith.addi") {
        return Err("the induction variable is not advanced by an addition");
    }
    let is_variable = |value: Value<'c>| carried_index(parts, resolve(parts, value)) == Some(index);
    let (left, right) = (add.operand(0), add.operand(1));
    let step = match (is_variable(left), is_variable(right)) {
        (true, false) => right,
        (false, true) if !subtracts => left,
        _ => return Err("the induction variable is not advanced by an addition"),
    };
    let step = resolve(parts, step);
    if constant(step).is_none() && (subtracts || !is_outside(step, parts.op)) {
        return Err("the step changes in the loop");
    }
    Ok(Advance { op: add, step, subtracts })
}

/// What is known before legality is proven.
struct Proof<'c> {
    index: usize,
    bound: Value<'c>,
    advance: Advance<'c>,
    predicate: i64,
}

fn prove<'c>(parts: &While<'c>, proof: Proof<'c>) -> Result<Counted<'c>, &'static str> {
    let Proof { index, bound, .. } = proof;
    let Advance { op: add, step, subtracts } = proof.advance;
    let start = range(parts.op.operand(index)).ok_or("the start is no integer")?;
    let end = range(bound).ok_or("the bound is no integer")?;
    let stride = range(step).ok_or("the step is no integer")?;
    let bits = bound.ty().int_width().unwrap_or(64);
    let largest = Range::of_width(bits).high;
    let change = constant(step).and_then(|step| if subtracts { step.checked_neg() } else { Some(step) });
    if let (SGT | SGE, Some(change)) = (proof.predicate, change.filter(|change| *change < 0)) {
        return prove_down(&proof, &start, &end, change);
    }
    if stride.low <= 0 || subtracts {
        return Err("the step is not proven to be positive");
    }
    let not_negative = start.low >= 0 && end.low >= 0;
    let counted = |kind| Counted { add, index, bound, step, kind };
    match proof.predicate {
        SLT => {
            no_signed_wrap(add, end.high - 1 + stride.high <= largest)?;
            Ok(counted(Kind::Exclusive))
        }
        ULT if not_negative && (is_nsw(add) || end.high - 1 + stride.high <= largest) => {
            Ok(counted(Kind::Exclusive))
        }
        ULT if constant(step) == Some(1) || is_nuw(add) => Ok(counted(Kind::Unsigned)),
        ULT => Err("the induction variable may wrap"),
        SLE => {
            let leaves = end.high < largest || (is_nsw(add) && always_returns(parts.after));
            if !leaves {
                return Err("the bound may be the largest number");
            }
            no_signed_wrap(add, end.high + stride.high <= largest)?;
            Ok(counted(Kind::Inclusive))
        }
        ULE if not_negative && end.high + stride.high <= largest => Ok(counted(Kind::Inclusive)),
        NE if reaches(&start, &end, &stride) => Ok(counted(Kind::Exclusive)),
        NE => Err("the bound is not proven to be reached"),
        EQ | ULE => Err("the comparison bounds no counted loop"),
        _ => Err("the loop counts up from its bound"),
    }
}

/// A loop that counts down by a constant: its distance from the start must not wrap.
fn prove_down<'c>(
    proof: &Proof<'c>,
    start: &Range,
    end: &Range,
    change: i64,
) -> Result<Counted<'c>, &'static str> {
    let &Proof { index, bound, predicate, .. } = proof;
    let Advance { op: add, step, .. } = proof.advance;
    let all = Range::of_width(bound.ty().int_width().unwrap_or(64));
    let inclusive = i128::from(predicate == SGE);
    let (shortest, longest) = (start.low - end.high + inclusive, start.high - end.low + inclusive);
    let amount = change.checked_neg().ok_or("the step is too large")?;
    if shortest < all.low || longest - 1 + i128::from(amount) > all.high {
        return Err("the distance to the bound may wrap");
    }
    // Below the bound the variable itself must not wrap either.
    if !is_nsw(add) && end.low - i128::from(amount) < all.low {
        return Err("the induction variable may wrap");
    }
    let kind = if predicate == SGE { Kind::DownInclusive(amount) } else { Kind::Down(amount) };
    Ok(Counted { add, index, bound, step, kind })
}

fn no_signed_wrap(add: Op<'_>, excluded: bool) -> Result<(), &'static str> {
    if excluded || is_nsw(add) { Ok(()) } else { Err("the induction variable may wrap") }
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

fn rewrite<'c>(parts: &While<'c>, counted: &Counted<'c>) {
    let (op, index) = (parts.op, counted.index);
    let builder = Builder::before(op);
    let start = op.operand(index);
    let [lower, upper, step] = bounds(builder, op, counted);
    let unit = counted.kind.counts_up() && constant(step) == Some(1);
    let carry = final_value_used(parts, index) && !unit;

    let mut inits: Vec<Value<'c>> = without(&op.operands(), index);
    if carry {
        inits.push(start);
    }
    let types: Vec<_> = inits.iter().map(|value| value.ty()).collect();
    let spec = builder.op("scf.for").operands(&[lower, upper, step]).operands(&inits).results(&types).regions(1);
    let mut spec = spec.attrs(&op.discardable_attrs());
    if counted.kind == Kind::Unsigned {
        spec = spec.attr("unsignedCmp", op.ctx().unit_attr());
    }
    let new = spec.build();
    let mut arguments = vec![lower.ty()];
    arguments.extend(&types);
    let body = new.region(0).append_block(&arguments, op.loc());

    fill_body(parts, counted, body, carry);
    let results = new.results();
    let last = if !final_value_used(parts, index) {
        start
    } else if carry {
        results[results.len() - 1]
    } else {
        let name = if counted.kind == Kind::Unsigned { "llvm.intr.umax" } else { "llvm.intr.smax" };
        Builder::before(op).value(name, &[lower, upper], lower.ty())
    };
    replace_results(parts, index, &results, last);
    let add_is_in_body = counted.add.block() != Some(parts.before);
    op.erase();
    if add_is_in_body && counted.add.is_trivially_dead() {
        counted.add.erase();
    }
}

impl Kind {
    fn counts_up(self) -> bool {
        !matches!(self, Kind::Down(_) | Kind::DownInclusive(_))
    }
}

/// Lower bound, upper bound and step of the new loop.
fn bounds<'c>(builder: Builder<'c>, op: Op<'c>, counted: &Counted<'c>) -> [Value<'c>; 3] {
    let (start, bound) = (op.operand(counted.index), counted.bound);
    let distance = || builder.value("llvm.sub", &[start, bound], bound.ty());
    match counted.kind {
        Kind::Exclusive | Kind::Unsigned => [start, bound, outside(builder, op, counted.step)],
        Kind::Inclusive => [start, successor(builder, bound), outside(builder, op, counted.step)],
        Kind::Down(amount) => [integer(builder, bound, 0), distance(), integer(builder, bound, amount)],
        Kind::DownInclusive(amount) => {
            [integer(builder, bound, 0), successor(builder, distance()), integer(builder, bound, amount)]
        }
    }
}

/// The values without the one at `index`.
fn without<'c>(values: &[Value<'c>], index: usize) -> Vec<Value<'c>> {
    values.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, value)| *value).collect()
}

/// The step in front of the loop: a constant may stand inside of it.
fn outside<'c>(builder: Builder<'c>, op: Op<'c>, step: Value<'c>) -> Value<'c> {
    if is_outside(step, op) {
        return step;
    }
    integer(builder, step, constant(step).unwrap_or(1))
}

fn integer<'c>(builder: Builder<'c>, like: Value<'c>, number: i64) -> Value<'c> {
    let attr = builder.ctx().int_attr(like.ty(), number);
    builder.op("llvm.mlir.constant").attr("value", attr).result(like.ty()).build().result(0)
}

/// The bound of an inclusive comparison plus one; it does not wrap, that is proven.
fn successor<'c>(builder: Builder<'c>, bound: Value<'c>) -> Value<'c> {
    let one = integer(builder, bound, 1);
    builder.value("llvm.add", &[bound, one], bound.ty())
}

/// Whether somebody asks for the induction variable, or something computed of it in the test, behind the loop.
fn final_value_used(parts: &While<'_>, index: usize) -> bool {
    parts.op.results().iter().zip(&parts.forwarded).any(|(result, value)| {
        result.has_uses()
            && !is_outside(*value, parts.op)
            && value.block_arg().is_none_or(|(_, argument)| argument == index)
    })
}

/// Copies the test region's operations with its arguments mapped; the test itself comes along and dies if unused.
fn copy_test<'c>(parts: &While<'c>, builder: Builder<'c>, mapping: &mut Mapping<'c>) -> Vec<Op<'c>> {
    let mut copies = Vec::new();
    for op in parts.before.ops() {
        if !op.is_terminator() {
            copies.push(builder.clone_op(op, mapping));
        }
    }
    copies
}

fn erase_dead(copies: Vec<Op<'_>>) {
    for op in copies.into_iter().rev() {
        if op.is_trivially_dead() {
            op.erase();
        }
    }
}

fn fill_body<'c>(parts: &While<'c>, counted: &Counted<'c>, body: Block<'c>, carry: bool) {
    let index = counted.index;
    let mut mapping = Mapping::new();
    let arguments = body.args();
    let builder = Builder::at_end(body, parts.op.loc());
    let variable = match counted.kind.counts_up() {
        true => arguments[0],
        false => builder.value("llvm.sub", &[parts.op.operand(index), arguments[0]], arguments[0].ty()),
    };
    map_carried(parts, index, variable, &arguments[1..], &mut mapping);
    let copies = copy_test(parts, builder, &mut mapping);
    let forwarded: Vec<_> = parts.forwarded.iter().map(|value| mapping.get_or_self(*value)).collect();
    let end = builder.scf_yield(&[]);
    let Some(old) = parts.after.terminator() else { return };
    parts.after.inline_before(end, &forwarded);
    let yielded = old.operands();
    let mut values = without(&yielded, index);
    if carry {
        values.push(yielded[index]);
    }
    // What the body yields may come from the test region by way of its arguments only, so it is mapped already.
    Builder::before(old).scf_yield(&values);
    old.erase();
    end.erase();
    erase_dead(copies);
}

/// Maps the test region's arguments: the induction variable to `variable`, the others to `others` in order.
fn map_carried<'c>(
    parts: &While<'c>,
    index: usize,
    variable: Value<'c>,
    others: &[Value<'c>],
    mapping: &mut Mapping<'c>,
) {
    let mut others = others.iter();
    for (at, argument) in parts.before.args().into_iter().enumerate() {
        if at == index {
            mapping.map(argument, variable);
        } else if let Some(other) = others.next() {
            mapping.map(argument, *other);
        }
    }
}

fn replace_results<'c>(parts: &While<'c>, index: usize, results: &[Value<'c>], last: Value<'c>) {
    let mut mapping = Mapping::new();
    map_carried(parts, index, last, results, &mut mapping);
    let builder = Builder::before(parts.op);
    let copies = copy_test(parts, builder, &mut mapping);
    for (old, forwarded) in parts.op.results().into_iter().zip(&parts.forwarded) {
        old.replace_all_uses_with(mapping.get_or_self(*forwarded));
    }
    erase_dead(copies);
}
