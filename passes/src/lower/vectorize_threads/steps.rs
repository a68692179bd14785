//! Thread loops for what a step between threads may be: one, two, four, ..., or a multiple of a row.
//!
//! ```mlir
//! scf.parallel (%x, ...) { ... %other = llvm.xor %x, %step ... a[%other] }
//! ```
//! becomes
//! ```mlir
//! scf.if %step == 1 { scf.parallel (%x, ...) { ... %other = llvm.xor %x, 1 ... } }
//! else { scf.if %step == 2 { ... } else {
//!   scf.if %step & 7 == 0 { scf.parallel (%x, ...) { ... %other = llvm.xor %x, (%step & -8) ... } }
//!   else { the loop as it was } } }
//! ```
//! Sorting networks and sweeps over trees double or halve their step in each round. With a small one the threads of a row exchange with one
//! another by a permutation that is known; with a multiple of a row's threads they access what lies side by side. For any number in between
//! each lane would have an address of its own. A loop is made again only where its rows cost clearly less than the loop as it was.

use std::collections::HashMap;

use mlir_bridge::ir::{Builder, Mapping, Op, Value};

use super::{
    cost::{Costs, Estimate},
    machine::Machine,
    machine::WARP,
    nest::Nest,
    shapes::{Shapes, Taking},
};
use crate::analysis::{
    counted_loop::is_outside,
    facts::{constant, width},
    uniformity::free_values,
};

/// Operations up to which a loop is made again.
const LARGEST: usize = 120;
/// The most numbers that are multiples beside a step.
const MOST_BESIDE: usize = 3;
/// How far a step is followed to what is accessed.
const DEPTH: u32 = 12;

/// What a step is taken to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Exactly(i64),
    /// A multiple of a power of two.
    Multiple(i64),
}

/// The loops that stand for a thread loop, of which each gets rows of its own.
pub fn versions<'c>(parallel: Op<'c>, machine: Machine) -> Vec<Op<'c>> {
    let mut made = Vec::new();
    if let Some((step, lanes)) = machine.cost_model.then(|| candidate(parallel, machine)).flatten() {
        let before = costs(parallel, lanes, machine);
        let beside = tested_beside(parallel, step.value);
        let small = (0..lanes.trailing_zeros()).map(|bit| Step::Exactly(1 << bit));
        // Of several registers, should that cost less.
        let multiples = [WARP, lanes].into_iter().filter(|of| step.flips && *of >= lanes);
        let mut all: Vec<_> = small.chain(multiples.map(|of| Step::Multiple(of.into()))).collect();
        all.dedup();
        let mut b = Builder::before(parallel);
        let mut rest = None;
        for taken in all {
            let version = Version { parallel, step: step.value, beside: &[], taken };
            let mut alone = None;
            version.make(b, |copy| {
                alone = Some(costs(copy, lanes, machine));
                false
            });
            let Some(alone) = alone.filter(|alone| pays(*alone, before)) else { continue };
            let several = matches!(taken, Step::Multiple(_)) && !beside.is_empty();
            let first = several.then_some((Version { beside: &beside, ..version }, alone));
            for (version, than) in first.into_iter().chain([(version, before)]) {
                let wanted = |copy| pays(costs(copy, lanes, machine), than);
                let Some((choice, copy)) = version.make(b, wanted) else { continue };
                made.push(copy);
                b = Builder::at_end(choice.region(1).entry(), b.loc);
                rest = Some(choice);
            }
        }
        if let Some(last) = rest {
            move_into(parallel, last);
        }
    }
    made.push(parallel);
    made
}

/// Moves a loop to the end of the other side of a choice; the choices around it end there.
fn move_into<'c>(parallel: Op<'c>, last: Op<'c>) {
    let b = Builder::at_end(last.region(1).entry(), parallel.loc());
    let end = b.scf_yield(&[]);
    parallel.move_before(end);
    let mut inner = last;
    while let Some(outer) =
        inner.parent().filter(|outer| outer.is("scf.if") && outer.region(1).entry().terminator().is_none())
    {
        Builder::at_end(outer.region(1).entry(), parallel.loc()).scf_yield(&[]);
        inner = outer;
    }
}

/// Clearly less than rows as they would be, and than threads one by one.
fn pays(with: Costs, without: Costs) -> bool {
    4 * with.row < 3 * without.row.min(without.alone)
}

/// What rows of so many lanes cost; where what they take of numbers often fails they are as good as none.
fn costs(parallel: Op<'_>, lanes: u32, machine: Machine) -> Costs {
    let shapes = Shapes::new(parallel, lanes, &[], Taking::AlongAll);
    let early = Default::default();
    let found =
        Estimate { shapes: &shapes, lanes, register_bits: machine.register_bits, early, beside: false }.of(parallel);
    if shapes.often_fails() { Costs { row: found.row.max(found.alone), ..found } } else { found }
}

/// A number from outside of a thread loop that addresses are made with.
#[derive(Clone, Copy)]
struct Found<'c> {
    value: Value<'c>,
    /// It flips or selects bits.
    flips: bool,
}

/// The step of a thread loop, and the lanes of its rows.
fn candidate<'c>(parallel: Op<'c>, machine: Machine) -> Option<(Found<'c>, u32)> {
    let ops = parallel.find_all(|_| true);
    if ops.len() > LARGEST {
        return None;
    }
    let found = ops.iter().find_map(|op| step_of(*op, parallel))?;
    let nest = Nest::of(parallel, machine).ok()?;
    nest.is_plain().then(|| (found, nest.lanes()))
}

/// Other numbers whose bits are tested or flipped in those of threads. Where the step is a multiple of a row's threads they mostly are so too:
/// they say in which direction the elements of a larger piece are sorted.
fn tested_beside<'c>(parallel: Op<'c>, step: Value<'c>) -> Vec<Value<'c>> {
    let mut found = Vec::new();
    for op in parallel.find_all(|op| matches!(op.name(), "llvm.and" | "llvm.xor")) {
        for value in op.operands() {
            let outer =
                is_outside(value, parallel) && constant(value).is_none() && matches!(width(value.ty()), Some(32 | 64));
            let plain = outer && value != step && less_one(value).is_none() && !value.ty().is_index();
            if plain && !found.contains(&value) && found.len() < MOST_BESIDE {
                found.push(value);
            }
        }
    }
    found
}

fn step_of<'c>(op: Op<'c>, parallel: Op<'c>) -> Option<Found<'c>> {
    let name = op.name();
    let short = name.split_once('.').map_or(name, |(_, rest)| rest);
    let flips = matches!(short, "xor" | "xori" | "and" | "andi");
    if !flips && !matches!(short, "mul" | "muli") {
        return None;
    }
    let outer = |index: usize| is_outside(op.operand(index), parallel) && constant(op.operand(index)).is_none();
    let value = match [0, 1].map(|index| is_outside(op.operand(index), parallel)) {
        [false, true] if outer(1) => op.operand(1),
        [true, false] if outer(0) => op.operand(0),
        [false, false] => [0, 1].into_iter().find_map(|index| less_one(op.operand(index)))?,
        _ => return None,
    };
    let value = less_one(value).unwrap_or(value);
    let known = is_outside(value, parallel) && constant(value).is_none() && matches!(width(value.ty()), Some(32 | 64));
    let expected =
        known && !value.ty().is_index() && (short.starts_with("xor") || doubles(value) || less_one_of(op, value));
    (expected && reaches_address(op.result(0), DEPTH)).then_some(Found { value, flips })
}

/// What a number is one less than.
fn less_one(value: Value<'_>) -> Option<Value<'_>> {
    let op = value.defining_op()?;
    let by = constant(op.operands().get(1).copied()?)?;
    let less = matches!(op.name(), "llvm.add" | "arith.addi") && by == -1
        || matches!(op.name(), "llvm.sub" | "arith.subi") && by == 1;
    less.then(|| op.operand(0))
}

/// Whether an operation selects the bits below a power of two.
fn less_one_of<'c>(op: Op<'c>, step: Value<'c>) -> bool {
    op.operands().into_iter().any(|value| less_one(value) == Some(step))
}

/// Whether a number is carried by a loop that doubles or halves it.
pub fn doubles(value: Value<'_>) -> bool {
    let scaled = |next: Value<'_>| {
        next.defining_op().is_some_and(|op| {
            let number = op.operands().get(1).and_then(|value| constant(*value));
            match op.name() {
                "llvm.shl" | "llvm.lshr" | "llvm.ashr" => number == Some(1),
                "llvm.mul" | "llvm.sdiv" | "llvm.udiv" => number == Some(2),
                _ => false,
            }
        })
    };
    let Some((block, number)) = value.block_arg() else {
        // The next or the last one.
        return scaled(value) && value.defining_op().is_some_and(|op| op.operand(0).block_arg().is_some());
    };
    let Some(owner) = block.parent_op() else { return false };
    let carried = |block: mlir_bridge::ir::Block<'_>, number: usize| {
        block.terminator().and_then(|last| last.operands().get(number).copied()).is_some_and(scaled)
    };
    match owner.name() {
        "scf.for" => number > 0 && carried(block, number - 1),
        "scf.while" if block == owner.region(1).entry() => {
            let first = owner.region(0).entry();
            let passed = first.terminator().map(|last| last.operand(1 + number));
            let before = passed.and_then(|value| value.block_arg()).filter(|(block, _)| *block == first);
            before.is_some_and(|(_, at)| carried(block, at))
        }
        _ => false,
    }
}

/// Whether an address is made of a value.
fn reaches_address(value: Value<'_>, depth: u32) -> bool {
    depth > 0
        && value.uses().into_iter().any(|used| {
            let op = used.owner;
            op.is("llvm.getelementptr")
                || op.num_regions() == 0
                    && op.num_results() == 1
                    && width(op.result(0).ty()).is_some_and(|bits| bits >= 32)
                    && op.is_pure()
                    && reaches_address(op.result(0), depth - 1)
        })
}

/// A thread loop whose step is taken to be something.
#[derive(Clone, Copy)]
struct Version<'c, 'v> {
    parallel: Op<'c>,
    step: Value<'c>,
    /// What is a multiple too, if the step is.
    beside: &'v [Value<'c>],
    taken: Step,
}

impl<'c> Version<'c, '_> {
    /// Makes a choice with the loop on its first side, if `wanted`.
    fn make(&self, b: Builder<'c>, wanted: impl FnOnce(Op<'c>) -> bool) -> Option<(Op<'c>, Op<'c>)> {
        let all = || std::iter::once(&self.step).chain(self.beside).copied();
        let holds = all().map(|value| match self.taken {
            Step::Exactly(number) => b.cmpi("eq", value, b.const_int(value.ty(), number)),
            Step::Multiple(of) => {
                let rest = b.arith("andi", value, b.const_int(value.ty(), of - 1));
                b.cmpi("eq", rest, b.const_int(value.ty(), 0))
            }
        });
        let holds = holds.reduce(|all, one| b.arith("andi", all, one))?;
        let choice = b.scf_if(holds, &[], true);
        let inside = Builder::at_end(choice.body(), b.loc);
        let mut mapping = Mapping::new();
        for value in all() {
            let taken = match self.taken {
                Step::Exactly(number) => inside.const_int(value.ty(), number),
                Step::Multiple(of) => inside.arith("andi", value, inside.const_int(value.ty(), -of)),
            };
            mapping.map(value, taken);
        }
        for value in free_values(self.parallel) {
            if let Some(op) = value.defining_op().filter(|_| less_one(value) == Some(self.step)) {
                inside.clone_op(op, &mut mapping);
            }
        }
        let copy = inside.clone_op(self.parallel, &mut mapping);
        inside.scf_yield(&[]);
        fold(choice.body().ops());
        if !wanted(copy) {
            choice.drop_all_references();
            choice.erase();
            return None;
        }
        Some((choice, copy))
    }
}

/// Computes what constants give.
fn fold<'c>(ops: Vec<Op<'c>>) {
    let mut known: HashMap<Value<'c>, i64> = HashMap::new();
    let all = ops.into_iter().flat_map(|op| op.find_all(|_| true));
    for op in all.filter(|op| op.num_results() == 1 && op.num_regions() == 0) {
        let number = |index: usize| {
            let value = op.operands().get(index).copied()?;
            known.get(&value).copied().or_else(|| constant(value))
        };
        let Some(bits) = width(op.result(0).ty()).filter(|bits| *bits > 1 && !op.result(0).ty().is_index()) else {
            continue;
        };
        let Some(made) = folded(op.name(), number(0), number(1)) else { continue };
        let made = (made << (64 - bits)) >> (64 - bits);
        known.insert(op.result(0), made);
        op.result(0).replace_all_uses_with(Builder::before(op).const_int(op.result(0).ty(), made));
    }
}

/// What an operation gives of numbers with a sign, but for the bits above its width.
pub fn folded(name: &str, a: Option<i64>, b: Option<i64>) -> Option<i64> {
    let positive = |number: &i64| *number > 0;
    match name {
        "llvm.add" | "arith.addi" => Some(a?.wrapping_add(b?)),
        "llvm.sub" | "arith.subi" => Some(a?.wrapping_sub(b?)),
        "llvm.mul" | "arith.muli" => Some(a?.wrapping_mul(b?)),
        "llvm.and" | "arith.andi" => Some(a? & b?),
        "llvm.sdiv" | "arith.divsi" | "llvm.udiv" | "arith.divui" => {
            Some(a.filter(|number| *number >= 0)? / b.filter(positive)?)
        }
        "llvm.shl" | "arith.shli" => Some(a? << b.filter(|amount| (0..64).contains(amount))?),
        "llvm.lshr" | "arith.shrui" | "llvm.ashr" | "arith.shrsi" => {
            Some(a.filter(|number| *number >= 0)? >> b.filter(|amount| (0..64).contains(amount))?)
        }
        _ => None,
    }
}
