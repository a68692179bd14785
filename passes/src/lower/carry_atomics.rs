//! `regrain-carry-atomics`: what each round of a loop adds to a place in shared memory by an atomic operation is added up first.
//!
//! Before:
//! ```mlir
//! scf.for ... { llvm.atomicrmw max %box, %v ; scf.if %c { llvm.atomicrmw add %count, %one } }
//! ```
//! After:
//! ```mlir
//! %all:2 = scf.for ... iter_args(%m = %least, %n = %zero) {
//!   %more = llvm.intr.smax(%m, %v) ; %sum = scf.if %c -> (i32) { llvm.add %n, %one } else { %n } ; scf.yield %more, %sum
//! }
//! llvm.atomicrmw max %box, %all#0 ; llvm.atomicrmw add %count, %all#1
//! ```
//! A row of threads then keeps what it carries in registers, where it would take its lanes together in each round. Only integers, whose sums are
//! the same in any order, and operations whose result nobody asks for. Nobody may see when the places change: in the loop nothing else
//! accesses them, nothing synchronises and nothing waits.

use mlir_bridge::{
    ir::{Block, Builder, Op, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::{GpuWrapper, is_synchronising};

use crate::analysis::{
    addresses::{Address, Offsets},
    counted_loop::is_outside,
    objects::{Kind, object_of, same_object},
    uniformity::computes,
    waiting::may_wait,
};
use crate::{
    carried::{widen, yield_more},
    lower::vectorize_threads::reduction,
};

/// The most places of a loop: what is carried has to stay in registers.
const MOST_PLACES: usize = 8;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-carry-atomics",
    summary: "add up what loops add to shared memory by atomic operations",
    anchor: Anchor::Module,
    options: &[],
    dialects: &["llvm", "scf", "arith"],
    run,
};

fn run(_pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    for parallel in GpuWrapper::all(module).into_iter().flat_map(GpuWrapper::block_loops) {
        carry_in(parallel.body());
    }
    Ok(())
}

/// Rewrites the loops of a block, inner ones first: what stands behind them is then carried by those around.
fn carry_in(block: Block<'_>) {
    for op in block.ops() {
        for inner in op.regions().into_iter().flat_map(|region| region.blocks()) {
            carry_in(inner);
        }
        if matches!(op.name(), "scf.for" | "scf.while") {
            let places = places(op);
            if (1..=MOST_PLACES).contains(&places.len()) {
                Carrying { places }.rewrite(op);
            }
        }
    }
}

/// A place in shared memory, and the operations of a loop on it, all of one kind.
struct Place<'c> {
    pointer: Value<'c>,
    atomics: Vec<Op<'c>>,
}

/// Places that a loop only adds to.
fn places(op: Op<'_>) -> Vec<Place<'_>> {
    let inside: Vec<_> = op.find_all(|inner| inner != op);
    let offsets = Offsets::default();
    let mut accesses = Vec::new();
    for inner in &inside {
        match effect(*inner) {
            Effect::None => {}
            Effect::Unknown => return Vec::new(),
            Effect::At(pointer) => accesses.push((*inner, pointer, offsets.address(pointer))),
        }
    }
    if accesses.iter().any(|(_, _, at)| object_of(at.root).is_none()) {
        return Vec::new();
    }
    let mut found: Vec<Place<'_>> = Vec::new();
    for (atomic, pointer, at) in &accesses {
        if !is_candidate(op, *atomic, *pointer, at) {
            continue;
        }
        match found.iter_mut().find(|place| place.pointer == *pointer) {
            Some(place) => place.atomics.push(*atomic),
            None => found.push(Place { pointer: *pointer, atomics: vec![*atomic] }),
        }
    }
    found.retain(|place| {
        let own = offsets.address(place.pointer);
        let alone = |(other, _, at): &(Op<'_>, Value<'_>, Address<'_>)| {
            place.atomics.contains(other) || are_apart(&own, at, size(place.atomics[0]).max(size(*other)))
        };
        let kind = reduction(place.atomics[0]);
        place.atomics.iter().all(|atomic| reduction(*atomic) == kind) && accesses.iter().all(alone)
    });
    found
}

/// What an operation does to memory.
enum Effect<'c> {
    None,
    At(Value<'c>),
    Unknown,
}

fn effect(op: Op<'_>) -> Effect<'_> {
    match op.name() {
        "llvm.load" | "llvm.atomicrmw" | "llvm.cmpxchg" => Effect::At(op.operand(0)),
        "llvm.store" => Effect::At(op.operand(1)),
        "scf.while" if may_wait(op) => Effect::Unknown,
        "scf.for" | "scf.while" | "scf.if" => Effect::None,
        "llvm.call" if computes(op) => Effect::None,
        _ if is_synchronising(op) => Effect::Unknown,
        _ if op.is_terminator() || (op.num_regions() == 0 && op.is_memory_effect_free()) => Effect::None,
        _ => Effect::Unknown,
    }
}

/// Whether an operation adds to a place in shared memory that is the same in all rounds, and stands in the loop's own rounds.
fn is_candidate<'c>(rounds: Op<'c>, atomic: Op<'c>, pointer: Value<'c>, at: &Address<'c>) -> bool {
    let around = std::iter::successors(atomic.parent(), |at| at.parent()).take_while(|at| *at != rounds);
    let body = rounds.region(rounds.num_regions() - 1).entry();
    atomic.is("llvm.atomicrmw")
        && !atomic.has_attr("volatile_")
        && !atomic.result(0).has_uses()
        && reduction(atomic).is_some()
        && matches!(object_of(at.root), Some(Kind::Shared | Kind::Dynamic))
        && is_outside(pointer, rounds)
        && around.into_iter().all(|at| at.is("scf.if"))
        && body.ops().into_iter().any(|op| op.is_ancestor_of(atomic))
}

/// Bytes that an access may touch.
fn size(op: Op<'_>) -> i128 {
    let ty = if op.is("llvm.store") { op.operand(0).ty() } else { op.result(0).ty() };
    ty.layout(op).0.into()
}

/// Whether accesses of so many bytes at two addresses are of different memory.
fn are_apart(a: &Address<'_>, b: &Address<'_>, size: i128) -> bool {
    if !same_object(a.root, b.root) {
        return true;
    }
    let offsets = a.offset.as_ref().zip(b.offset.as_ref());
    offsets.and_then(|(a, b)| a.distance(b)).is_some_and(|distance| distance.abs() >= size)
}

/// Makes a loop carry what it adds to places.
struct Carrying<'c> {
    places: Vec<Place<'c>>,
}

impl<'c> Carrying<'c> {
    fn rewrite(&self, rounds: Op<'c>) {
        let b = Builder::before(rounds);
        let first = |place: &Place<'c>| place.atomics[0];
        let neutral = |place: &Place<'c>| {
            let (_, value) = reduction(first(place)).unwrap_or_default();
            b.const_int(first(place).operand(1).ty(), value)
        };
        let inits: Vec<_> = self.places.iter().map(neutral).collect();
        let shown: Vec<_> = self.places.iter().map(|place| (first(place).attrs(), first(place).loc())).collect();
        let old = rounds.num_results();
        let made = widen(rounds, &inits);
        for region in made.regions() {
            let body = region.entry();
            let args: Vec<_> = inits.iter().map(|init| body.add_arg(init.ty(), b.loc)).collect();
            let is_test = made.num_regions() == 2 && body == made.region(0).entry();
            let carried = if is_test { args } else { self.added_up(body, args) };
            yield_more(body, &carried);
        }
        let after = Builder::after(made);
        for ((place, (attrs, loc)), result) in self.places.iter().zip(shown).zip(old..) {
            let spec = after.with_loc(loc).op("llvm.atomicrmw").operands(&[place.pointer, made.result(result)]);
            spec.attrs(&attrs).result(made.result(result).ty()).build();
        }
    }

    /// What is carried behind a block, before which it is `now`.
    fn added_up(&self, block: Block<'c>, mut now: Vec<Value<'c>>) -> Vec<Value<'c>> {
        for op in block.ops() {
            if let Some(index) = self.places.iter().position(|place| place.atomics.contains(&op)) {
                now[index] = combined(op, now[index]);
                op.erase();
            } else if op.is("scf.if") {
                let held: Vec<_> = (0..now.len()).filter(|index| holds(op, &self.places[*index])).collect();
                if !held.is_empty() {
                    self.added_up_in(op, &held, &mut now);
                }
            }
        }
        now
    }

    /// The same for a condition that adds to the places `held`.
    fn added_up_in(&self, op: Op<'c>, held: &[usize], now: &mut [Value<'c>]) {
        let old = op.num_results();
        let made = widen(op, &held.iter().map(|index| now[*index]).collect::<Vec<_>>());
        if made.region(1).is_empty() {
            let other = made.region(1).append_block(&[], made.loc());
            Builder::at_end(other, made.loc()).scf_yield(&[]);
        }
        for region in made.regions() {
            let inside = self.added_up(region.entry(), now.to_vec());
            yield_more(region.entry(), &held.iter().map(|index| inside[*index]).collect::<Vec<_>>());
        }
        for (index, result) in held.iter().zip(old..) {
            now[*index] = made.result(result);
        }
    }
}

/// Whether an operation holds one of those on a place.
fn holds<'c>(op: Op<'c>, place: &Place<'c>) -> bool {
    place.atomics.iter().any(|atomic| op.is_ancestor_of(*atomic))
}

/// What an atomic operation makes of a value.
fn combined<'c>(atomic: Op<'c>, now: Value<'c>) -> Value<'c> {
    let (name, _) = reduction(atomic).unwrap_or_default();
    let name = match name {
        "add" | "and" | "or" | "xor" => format!("llvm.{name}"),
        _ => format!("llvm.intr.{name}"),
    };
    Builder::before(atomic).value(&name, &[now, atomic.operand(1)], now.ty())
}
