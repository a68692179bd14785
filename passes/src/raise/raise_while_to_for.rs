//! `regrain-raise-while-to-for`: counted `scf.while` loops become `scf.for`.
//!
//! ```text
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
//! ```
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
//! A loop that is not raised stays a correct `scf.while`, with a remark (`analysis/counted_loop.rs` has the reasons). Discardable attributes (the unroll metadata) are kept.

use mlir_bridge::{
    ir::{Block, Builder, Mapping, Op, Value},
    lift,
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
};

use crate::{
    analysis::counted_loop::{Counted, Kind, Refusal, While, check_test, count, is_outside, parts},
    analysis::facts::constant,
    analysis::objects::only_read,
    launch::launch_function::parameters,
};

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-raise-while-to-for",
    summary: "turn counted scf.while loops into scf.for",
    anchor: Anchor::Any,
    options: &[QUIET],
    dialects: lift::DIALECTS,
    run,
};

/// The option for a second time, when more may have become invariant.
pub const QUIET: PassOption =
    PassOption { name: "quiet", default: "false", description: "no remarks about loops that stay as they are" };

fn run(pass: &PassRun<'_>, root: Op<'_>) -> PassResult {
    raise_loops(root, pass.option_bool(QUIET.name)?);
    Ok(())
}

/// Raises every loop below `root` that can be, and says of the others why not, unless `quiet`.
fn raise_loops(root: Op<'_>, quiet: bool) {
    for op in root.find_named("scf.while").into_iter().rev() {
        let Some(parts) = parts(op) else { continue };
        match raise(&parts) {
            Ok(()) => (),
            Err(_) if quiet => (),
            Err(refusal) => op.remark(format!("stays a while loop: {refusal}")),
        }
    }
}

fn raise(parts: &While<'_>) -> Result<(), Refusal> {
    check_test(parts)?;
    hoist_invariants(parts);
    let counted = count(parts)?;
    rewrite(parts, &counted);
    Ok(())
}

/// Moves operations of the test region that do not change in the loop in front of it. What the region passes on of them is named directly,
/// and nothing passed in its place: the address of a structure would seem to be kept otherwise.
fn hoist_invariants(parts: &While<'_>) {
    for op in parts.before.ops() {
        if !op.is_terminator()
            && op.num_regions() == 0
            && (op.is_pure() || reads_fixed_memory(op))
            && op.operands().iter().all(|value| is_outside(*value, parts.op))
        {
            op.move_before(parts.op);
            name_directly(parts, op);
        }
    }
}

fn name_directly<'c>(parts: &While<'c>, moved: Op<'c>) {
    let Some(condition) = parts.before.terminator() else { return };
    for (index, value) in parts.forwarded.iter().enumerate().filter(|(_, value)| value.defining_op() == Some(moved)) {
        parts.op.result(index).replace_all_uses_with(*value);
        parts.after.arg(index).replace_all_uses_with(*value);
        condition.set_operand(index + 1, Builder::before(parts.op).poison(value.ty()));
    }
}

/// Whether the operation loads from a `__constant__` variable, or from a structure passed by value that is only read: nobody writes them
/// while a kernel runs.
fn reads_fixed_memory(op: Op<'_>) -> bool {
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
    is_structure(address) && only_read(address)
}

/// Whether an address is that of a function's structure passed by value.
fn is_structure(address: Value<'_>) -> bool {
    let Some((block, number)) = address.block_arg() else { return false };
    let function = block.parent_op().filter(|parent| parent.is("llvm.func"));
    function.is_some_and(|kernel| parameters(kernel).get(number).is_some_and(|parameter| parameter.byval.is_some()))
}

/// Makes an `scf.for` of a loop that counts.
pub fn rewrite<'c>(parts: &While<'c>, counted: &Counted<'c>) {
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
    let Some(old) = parts.after.terminator() else {
        return;
    };
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
