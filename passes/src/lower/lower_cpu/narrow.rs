//! Conditions that select threads become loops over just those threads.
//!
//! ```mlir
//! scf.parallel (%x, ...) = ... to (%nx, ...) { A ; scf.if %x < %half { B } }
//! ```
//! becomes
//! ```mlir
//! scf.parallel (%x, ...) = ... to (%nx, ...) { A }
//! scf.parallel (%x, ...) = ... to (min(%nx, %half), ...) { scf.if %x < %half { B } }
//! ```
//! In x the end is that of a whole row where rows fit the block: a masked row costs less than its threads one by one.
//!
//! The threads of a loop do not wait for one another, so that one part may come behind the other for all of them. A loop is taken apart
//! only where the parts share nothing but what is computed again, and memory that threads use one after the other stays in one part.

mod every;
mod growing;

use std::collections::HashSet;
use std::iter::successors;

use mlir_bridge::ir::{Builder, Mapping, Op, Value};

use super::along::Parts;
use crate::analysis::{
    facts::constant,
    loops::Counting,
    objects::{escapes, root},
    uniformity::{free_values, repeatable},
};
use crate::lower::{
    before::{computed, is_known_before},
    vectorize_threads::{WARP, doubles, is_of_warp, is_ordinary},
};
use every::Every;
use growing::Growing;
use regrain_dialects::attributes::REUSED;

/// How far a bound is followed.
const DEPTH: u32 = 8;
/// Numbers of threads fit into so many bits, signed or not.
const BITS: u32 = 16;

/// The threads that can take a branch.
#[derive(Clone, Copy)]
struct Selection<'c> {
    axis: usize,
    number: Number<'c>,
    bound: Value<'c>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Below the bound, read as a signed or unsigned number, or up to it.
    Below { signed: bool, including: bool },
    /// At the bound.
    At,
}

/// What is compared with the bound.
#[derive(Clone, Copy)]
enum Number<'c> {
    /// That of the thread.
    Thread,
    Growing(Growing<'c>),
}

/// Narrows the thread loops of a block function.
pub fn narrow(function: Op<'_>) {
    for parallel in function.find_named("scf.parallel") {
        let dimensions = Counting::dimensions(parallel);
        if dimensions.len() == 3 && dimensions.iter().all(Counting::is_plain) && parallel.num_results() == 0 {
            sink(parallel);
            for part in take_apart(parallel) {
                restrict(part);
            }
        }
    }
}

/// What a branch selects that has nothing else to say.
fn selection<'c>(parallel: Op<'c>, op: Op<'c>) -> Option<Selection<'c>> {
    is_guard(op).then(|| conjuncts(op.operand(0)).into_iter().find_map(|condition| compared(parallel, condition)))?
}

/// The same for every so many threads. Operations of warps know a thread by its place in a row.
fn every<'c>(parallel: Op<'c>, op: Op<'c>) -> Option<Every<'c>> {
    (is_guard(op) && !op.contains(is_of_warp)).then(|| Every::of(parallel, op))?
}

fn is_guard(op: Op<'_>) -> bool {
    op.is("scf.if") && op.num_results() == 0 && op.region(1).first_block().is_none_or(|block| block.ops().len() == 1)
}

/// The conditions that all hold where `condition` does.
pub fn conjuncts(condition: Value<'_>) -> Vec<Value<'_>> {
    match Parts::of(condition, true) {
        Parts::Both(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        _ => vec![condition],
    }
}

fn compared<'c>(parallel: Op<'c>, condition: Value<'c>) -> Option<Selection<'c>> {
    let op = condition.defining_op().filter(|op| matches!(op.name(), "llvm.icmp" | "arith.cmpi"))?;
    let predicate = op.attr("predicate")?.as_int()?;
    let (left, right) = (op.operand(0), op.operand(1));
    // eq ne slt sle sgt sge ult ule ugt uge
    let below = |signed, including| Kind::Below { signed, including };
    let (thread, bound, kind) = match predicate {
        0 if index(parallel, left).is_some() => (left, right, Kind::At),
        0 => (right, left, Kind::At),
        2 | 3 | 6 | 7 => (left, right, below(predicate < 6, matches!(predicate, 3 | 7))),
        4 | 5 | 8 | 9 => (right, left, below(predicate < 8, matches!(predicate, 5 | 9))),
        _ => return None,
    };
    let (axis, number) = match index(parallel, thread) {
        Some(axis) => (axis, Number::Thread),
        None => {
            let growing = Growing::of(parallel, thread).filter(|_| kind != Kind::At)?;
            (growing.axis, Number::Growing(growing))
        }
    };
    is_known_before(parallel, bound, &[], DEPTH).then_some(Selection { axis, number, bound, kind })
}

/// The dimension whose number a value is.
pub fn index<'c>(parallel: Op<'c>, value: Value<'c>) -> Option<usize> {
    let mut at = value;
    while let Some(op) = at.defining_op() {
        let casts = matches!(
            op.name(),
            "arith.index_cast"
                | "arith.index_castui"
                | "llvm.trunc"
                | "llvm.sext"
                | "llvm.zext"
                | "arith.trunci"
                | "arith.extsi"
                | "arith.extui"
        );
        // A narrower number is the same for several threads.
        if !casts || at.ty().int_width().is_some_and(|bits| bits < BITS) {
            return None;
        }
        at = op.operand(0);
    }
    parallel.body().args().into_iter().position(|iv| iv == at)
}

/// What is loaded of the block's own memory for one thread alone is loaded in its branch: the others have no part in it. Where more threads
/// take a branch the load stays: a row loads without a mask.
fn sink(parallel: Op<'_>) {
    let ops = parallel.body().ops();
    let is_of_one = |op: &Op<'_>| selection(parallel, *op).is_some_and(|selected| selected.kind == Kind::At);
    for (at, branch) in ops.iter().enumerate().filter(|(_, op)| is_of_one(op)) {
        let wants = |user: Op<'_>| branch.is_proper_ancestor_of(user);
        for (number, load) in ops[..at].iter().enumerate() {
            let is_load = load.is("llvm.load") && is_ordinary(*load) && !load.has_attr("volatile_");
            let own = own_memory(load.operands().first().copied()).filter(|_| is_load);
            let stays = own.is_none_or(|own| ops[number..at].iter().any(|op| op.contains(|op| may_write(op, own))));
            if let Some(first) = branch.region(0).entry().ops().first().copied()
                && !stays
                && load.result(0).users().into_iter().all(wants)
            {
                load.move_before(first);
            }
        }
    }
}

/// The stack memory that an address lies in, where nothing else points to it.
fn own_memory(address: Option<Value<'_>>) -> Option<Value<'_>> {
    let root = root(address?);
    root.defining_op().filter(|op| op.is("llvm.alloca") && !escapes(root)).map(|_| root)
}

fn may_write(op: Op<'_>, own: Value<'_>) -> bool {
    let computes = op.is("llvm.load") || op.num_regions() > 0 || op.is_memory_effect_free();
    !computes && op.operands().into_iter().any(|operand| operand.ty().ptr_space().is_some() && root(operand) == own)
}

/// Loops whose effects are one branch that selects threads, or hold none such; in order.
fn take_apart(parallel: Op<'_>) -> Vec<Op<'_>> {
    let ops: Vec<_> = parallel.body().ops().into_iter().filter(|op| !op.is_terminator()).collect();
    let mut groups: Vec<Vec<Op<'_>>> = Vec::new();
    let mut after_branch = true;
    for op in ops.iter().copied().filter(|op| !is_repeated(*op)) {
        let selects = selection(parallel, op).is_some() || every(parallel, op).is_some();
        if selects || after_branch {
            groups.push(Vec::new());
        }
        after_branch = selects;
        if let Some(group) = groups.last_mut() {
            group.push(op);
        }
    }
    if groups.len() < 2 || !are_apart(&groups) {
        return vec![parallel];
    }
    let made = groups.iter().map(|group| part(parallel, &ops, group)).collect();
    parallel.erase();
    made
}

/// Whether an operation is made in each part that wants it.
fn is_repeated(op: Op<'_>) -> bool {
    op.num_regions() == 0 && repeatable(op)
}

/// Whether no part needs what another has computed, or memory that another uses too.
fn are_apart(groups: &[Vec<Op<'_>>]) -> bool {
    let mut reused: Vec<(Value<'_>, usize)> = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        if is_used_outside(group) {
            return false;
        }
        for op in group {
            for value in op.find_all(|_| true).into_iter().flat_map(Op::operands).flat_map(roots) {
                match reused.iter().find(|(known, _)| *known == value) {
                    Some((_, part)) if *part != number => return false,
                    Some(_) => (),
                    None => reused.push((value, number)),
                }
            }
        }
    }
    true
}

/// Whether one of the operations that use results of `group`, or what is computed from them, is in another part: itself, or what it is in.
fn is_used_outside<'c>(group: &[Op<'c>]) -> bool {
    let Some(parallel) = group.first().and_then(|op| op.parent()) else { return false };
    let own: HashSet<Op<'c>> = group.iter().copied().collect();
    let of_loop = |user: Op<'c>| successors(Some(user), |op| op.parent()).find(|op| op.parent() == Some(parallel));
    let users_of = |op: &Op<'c>| -> Vec<Op<'c>> {
        op.results().iter().flat_map(|result| result.users()).filter_map(of_loop).collect()
    };
    let mut seen = HashSet::new();
    let mut users: Vec<Op<'c>> = group.iter().flat_map(users_of).collect();
    while let Some(user) = users.pop() {
        if !seen.insert(user) || own.contains(&user) {
            continue;
        }
        if !is_repeated(user) {
            return true;
        }
        // What is repeated in another part would need the value there.
        users.extend(users_of(&user));
    }
    false
}

/// The memory that threads use one after the other in which an address may lie.
pub fn roots(value: Value<'_>) -> Option<Value<'_>> {
    let mut at = value;
    while let Some(op) = at.defining_op() {
        match op.name() {
            "llvm.getelementptr" | "llvm.addrspacecast" => at = op.operand(0),
            "llvm.alloca" if op.has_attr(REUSED) => return Some(at),
            _ => return None,
        }
    }
    None
}

/// A loop with the operations of one part, and those that they are computed from.
fn part<'c>(parallel: Op<'c>, ops: &[Op<'c>], group: &[Op<'c>]) -> Op<'c> {
    let operands = parallel.operands();
    let made = Builder::before(parallel).scf_parallel(&operands[..3], &operands[3..6], &operands[6..9]);
    let mut wanted: Vec<Op<'c>> = group.to_vec();
    let mut at = 0;
    while let Some(op) = wanted.get(at).copied() {
        at += 1;
        for source in free_values(op).into_iter().filter_map(Value::defining_op) {
            if ops.contains(&source) && !wanted.contains(&source) {
                wanted.push(source);
            }
        }
    }
    let mut mapping = Mapping::new();
    mapping.map_all(&parallel.body().args(), &made.body().args());
    let b = Builder::before_terminator(made.body(), parallel.loc());
    for op in ops.iter().filter(|op| wanted.contains(op)) {
        b.clone_op(*op, &mut mapping);
    }
    made
}

/// Leaves a loop the threads that can take its only branch.
fn restrict(parallel: Op<'_>) {
    let effects: Vec<_> =
        parallel.body().ops().into_iter().filter(|op| !op.is_terminator() && !is_repeated(*op)).collect();
    let [only] = effects[..] else { return };
    let Some(selected) = selection(parallel, only) else {
        if let Some(every) = every(parallel, only) {
            every.restrict(parallel);
        }
        return;
    };
    let b = Builder::before(parallel);
    if let (Number::Growing(growing), Kind::Below { signed, including }) = (selected.number, selected.kind) {
        let upper = parallel.operand(3 + selected.axis);
        let count = growing.below(b, parallel, (selected.bound, upper), (signed, including));
        let within = b.arith("maxsi", b.arith("minsi", count, upper), b.const_index(0));
        parallel.set_operand(3 + selected.axis, within);
        return;
    }
    let bound = computed(b, parallel, selected.bound, &mut Mapping::new());
    let (lower, upper) = (parallel.operand(selected.axis), parallel.operand(3 + selected.axis));
    let index = b.ctx().index();
    let unsigned = matches!(selected.kind, Kind::Below { signed: false, .. });
    let number = match bound.ty().is_index() {
        true => bound,
        false if unsigned => b.index_castui(bound, index),
        false => b.index_cast(bound, index),
    };
    let after = i64::from(matches!(selected.kind, Kind::Below { including: true, .. }));
    // Most phases of a sweep over a tree are of fewer threads than a row.
    let in_rows = selected.axis == 0 && !doubles(selected.bound);
    let within = |offset: i64| match (constant(bound).filter(|number| !unsigned || *number >= 0), constant(upper)) {
        (Some(number), Some(upper)) => b.const_index(number.saturating_add(offset).clamp(0, upper)),
        (None, Some(upper)) if in_rows && upper % i64::from(WARP) == 0 && selected.kind != Kind::At => {
            // Whole rows: the guard masks the rest of the last one.
            let warp = i64::from(WARP);
            let above = b.arith("addi", number, b.const_index(warp - 1 + offset));
            let rows = b.arith("shrsi", above, b.const_index(warp.trailing_zeros().into()));
            let rows = b.arith("maxsi", b.arith("minsi", rows, b.const_index(upper / warp)), lower);
            b.arith("muli", rows, b.const_index(warp))
        }
        _ => {
            let number = if offset == 0 { number } else { b.arith("addi", number, b.const_index(offset)) };
            b.arith("maxsi", b.arith("minsi", number, upper), lower)
        }
    };
    if selected.kind != Kind::At {
        parallel.set_operand(3 + selected.axis, within(after));
        return;
    }
    let first = within(0);
    let behind = match constant(first) {
        Some(_) => within(1),
        None => b.arith("minsi", b.arith("addi", first, b.const_index(1)), upper),
    };
    parallel.set_operand(selected.axis, first);
    parallel.set_operand(3 + selected.axis, behind);
}
