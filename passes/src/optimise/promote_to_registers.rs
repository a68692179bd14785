//! `regrain-promote-to-registers`: a place in memory that each round of a loop reads and writes is a value that the loop carries.
//!
//! ```text
//! Before:                                          After:
//!                                                    %first = llvm.load %out[%x]
//!   scf.for %k = %c0 to %c100 step %c1 {             %sum = scf.for %k = ... iter_args(%s = %first) {
//!     %s = llvm.load %out[%x]
//!     %t = llvm.fadd %s, %v                            %t = llvm.fadd %s, %v
//!     llvm.store %t, %out[%x]                          scf.yield %t
//!   }                                                }
//!                                                    llvm.store %sum, %out[%x]
//! ```
//!
//! LLVM does the same for scalar code (LICM's promotion), but not for the gathers and scatters that a row of threads makes of it, and it does
//! not know that shared memory is apart from the device's. Where the loop may have no round, load and store are under the condition that it
//! has one.
//!
//! Declines where the loop synchronises, calls, or may otherwise show the place to somebody, where it accesses the place under a
//! condition, in an inner loop or by another address, and for volatile and atomic accesses. A thread's own arrays are left to those passes
//! that make values of them as a whole.

use std::collections::HashSet;

use mlir_bridge::{
    ir::{Builder, Mapping, Op, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::is_barrier;
use tracing::debug;

use crate::{
    analysis::accesses::{MemoryAnalysis, Who},
    analysis::counted_loop::is_outside,
    analysis::facts::has_first_round,
    analysis::loops::Counting,
    analysis::objects::{Kind, object_of},
    carried::{has_round, widen, yield_more},
    optimise::targets::{targets, thread_loops},
};

const NAME: &str = "regrain-promote-to-registers";

/// The most places of a loop: what is carried has to stay in registers.
const MOST_PLACES: usize = 16;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    summary: "carry what each round of a loop reads and writes at one place in memory",
    anchor: Anchor::Any,
    options: &[],
    dialects: &["regrain", "scf", "arith", "ub"],
    run,
};

fn run(_run: &PassRun<'_>, root: Op<'_>) -> PassResult {
    for target in targets(root) {
        promote(target);
    }
    Ok(())
}

/// Promotes in all serial loops of a target, inner ones first; gives the number of places.
pub fn promote(target: Op<'_>) -> usize {
    let mut promoted = 0;
    for block in thread_loops(target) {
        let mut loops = block.find_all(|op| op.is("scf.for"));
        loops.reverse();
        let mut memory = None;
        for nest in loops {
            let mut places = candidates(nest);
            if places.is_empty() {
                continue;
            }
            let known = memory.get_or_insert_with(|| MemoryAnalysis::new(block));
            if !is_unobserved(nest, known) {
                continue;
            }
            places.retain(|place| place.is_alone(nest, known));
            if (1..=MOST_PLACES).contains(&places.len()) {
                promoted += places.len();
                rewrite(nest, &places);
                memory = None;
            }
        }
    }
    debug!(target: NAME, "promoted {promoted} places");
    promoted
}

/// A place in memory, and a loop's own accesses of it in their order: a load first, and some store.
pub struct Place<'c> {
    /// Where it is.
    pub pointer: Value<'c>,
    /// The accesses.
    pub ops: Vec<Op<'c>>,
}

/// The pointer of a load or store.
fn pointer(op: Op<'_>) -> Option<Value<'_>> {
    match op.name() {
        "llvm.load" => Some(op.operand(0)),
        "llvm.store" => Some(op.operand(1)),
        _ => None,
    }
}

/// What a load gives or a store takes.
fn content(op: Op<'_>) -> Value<'_> {
    if op.is("llvm.load") { op.result(0) } else { op.operand(0) }
}

/// Places by how they are written: the same pointer and type in all rounds. Says nothing of other accesses.
pub fn candidates(nest: Op<'_>) -> Vec<Place<'_>> {
    let mut places: Vec<Place<'_>> = Vec::new();
    for op in nest.body().ops() {
        let Some(pointer) = pointer(op).filter(|pointer| is_outside(*pointer, nest)) else { continue };
        match places.iter_mut().find(|place| place.pointer == pointer) {
            Some(place) => place.ops.push(op),
            None => places.push(Place { pointer, ops: vec![op] }),
        }
    }
    places.retain(|place| {
        let ty = content(place.ops[0]).ty();
        place.ops[0].is("llvm.load")
            && place.ops.iter().any(|op| op.is("llvm.store"))
            && place.ops.iter().all(|op| content(*op).ty() == ty)
    });
    places
}

/// Whether nobody else can tell what memory holds while a loop runs. Volatile and atomic accesses are unknown effects.
fn is_unobserved<'c>(nest: Op<'c>, memory: &MemoryAnalysis<'c>) -> bool {
    !memory.effects(nest).unknown && !nest.contains(is_barrier)
}

impl<'c> Place<'c> {
    /// Whether nothing else in the loop accesses the place.
    fn is_alone(&self, nest: Op<'c>, memory: &MemoryAnalysis<'c>) -> bool {
        let effects = memory.effects(self.ops[0]);
        let [own] = &effects.accesses[..] else { return false };
        let others = memory.effects(nest);
        let ops: HashSet<_> = self.ops.iter().copied().collect();
        object_of(own.address.root) != Some(Kind::Local)
            && others
                .accesses
                .iter()
                .filter(|access| !ops.contains(&access.op))
                .all(|access| !memory.may_meet(access, own, Who::Same))
    }

    /// The value of the place behind a round, which begins with `now`; gives the last store as well, all other accesses go.
    fn take(&self, mut now: Value<'c>) -> (Value<'c>, Option<Op<'c>>) {
        let mut last = None;
        for op in &self.ops {
            if op.is("llvm.load") {
                op.result(0).replace_all_uses_with(now);
                op.erase();
                continue;
            }
            now = op.operand(0);
            if let Some(overwritten) = last.replace(*op) {
                overwritten.erase();
            }
        }
        (now, last)
    }
}

/// Makes a loop carry places.
pub fn rewrite<'c>(nest: Op<'c>, places: &[Place<'c>]) {
    let certain = Counting::of(nest).is_some_and(|counting| has_first_round(&counting));
    let some = (!certain).then(|| has_round(nest)).flatten();
    let inits: Vec<_> = places.iter().map(|place| load_before(nest, place.ops[0], some)).collect();
    let old = nest.num_results();
    let made = widen(nest, &inits);
    let body = made.body();
    let mut stores = Vec::new();
    let mut ends = Vec::new();
    for (place, init) in places.iter().zip(&inits) {
        let (end, store) = place.take(body.add_arg(init.ty(), made.loc()));
        ends.push(end);
        stores.push(store);
    }
    yield_more(body, &ends);
    for (store, number) in stores.into_iter().zip(old..) {
        if let Some(store) = store {
            store_after(made, store, made.result(number), some);
        }
    }
}

/// A load of what the first round would load, before the loop.
fn load_before<'c>(nest: Op<'c>, load: Op<'c>, some: Option<Value<'c>>) -> Value<'c> {
    let b = Builder::before(nest).with_loc(load.loc());
    let Some(some) = some else { return b.clone_op(load, &mut Mapping::default()).result(0) };
    let ty = load.result(0).ty();
    let made = b.scf_if(some, &[ty], true);
    let then = Builder::at_end(made.region(0).entry(), load.loc());
    let loaded = then.clone_op(load, &mut Mapping::default()).result(0);
    then.scf_yield(&[loaded]);
    let otherwise = Builder::at_end(made.region(1).entry(), load.loc());
    otherwise.scf_yield(&[otherwise.poison(ty)]);
    made.result(0)
}

/// The last round's store of `value`, behind the loop.
fn store_after<'c>(nest: Op<'c>, store: Op<'c>, value: Value<'c>, some: Option<Value<'c>>) {
    store.set_operand(0, value);
    let after = Builder::after(nest).with_loc(store.loc());
    match some {
        Some(some) => {
            let then = after.scf_if(some, &[], false).region(0).entry();
            store.move_to_end(then);
            Builder::at_end(then, store.loc()).scf_yield(&[]);
        }
        None => {
            if let Some(next) = nest.next() {
                store.move_before(next);
            }
        }
    }
}
