//! `regrain-join-branches`: branches that follow one another by the same condition are one.
//!
//! Before:
//! ```mlir
//! %v = scf.if %inside -> (f32) { ... llvm.store %r, %tile[%x] ; scf.yield %d } else { scf.yield %zero }
//! %w = llvm.fmul %v, %scale
//! scf.if %inside { llvm.store %w, %a[%x] ; llvm.store (llvm.load %tile[%x]), %b[%x] }
//! ```
//! After:
//! ```mlir
//! scf.if %inside { ... llvm.store %r, %tile[%x] ; %w = llvm.fmul %d, %scale ; llvm.store %w, %a[%x] ; llvm.store (llvm.load %tile[%x]), %b[%x] }
//! ```
//! A kernel asks before each barrier, and behind it again, whether a thread has an element of the problem. Where the barrier has gone,
//! `regrain-forward-stores` finds what the first branch stored only once both are one block, and a tile that only hands it on is gone too.
//!
//! Declined: branches that synchronise threads, and have anything between them but what computes.

use std::collections::HashSet;

use mlir_bridge::{
    ir::{Block, Builder, Mapping, Op, Use, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::is_synchronising;
use tracing::debug;

use crate::optimise::targets::{targets, thread_loops};

const NAME: &str = "regrain-join-branches";

/// The most operations between two branches that are computed from the first and again in the second.
const MOST_BETWEEN: usize = 16;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    summary: "join branches of a thread that follow one another by the same condition",
    anchor: Anchor::Any,
    options: &[],
    dialects: &["scf"],
    run,
};

fn run(_run: &PassRun<'_>, root: Op<'_>) -> PassResult {
    for parallel in targets(root).into_iter().flat_map(thread_loops) {
        let joined = join_in(parallel.body());
        debug!(target: NAME, "{joined} branches went into those behind them");
    }
    Ok(())
}

/// Joins what can be in a block, and then in the blocks inside; gives how many branches that were.
fn join_in(block: Block<'_>) -> usize {
    let mut joined = 0;
    let mut at = block.first_op();
    while let Some(op) = at {
        let pair = Pair::of(op);
        // What stands between may go behind both; the joined one may be the first of another pair.
        at = match pair {
            Some(pair) => {
                joined += 1;
                Some(pair.join())
            }
            None => {
                let inside = op.regions().into_iter().flat_map(|region| region.blocks());
                joined += inside.map(join_in).sum::<usize>();
                op.next()
            }
        };
    }
    joined
}

/// Two branches by one condition.
struct Pair<'c> {
    first: Op<'c>,
    second: Op<'c>,
    /// What stands between them and is computed from results of the first, in order.
    computed: Vec<Op<'c>>,
}

impl<'c> Pair<'c> {
    fn of(first: Op<'c>) -> Option<Self> {
        if !can_join(first) {
            return None;
        }
        let mut computed = Vec::new();
        let mut results: HashSet<_> = first.results().into_iter().collect();
        let mut second = first.next();
        while let Some(op) = second.filter(|op| !op.is("scf.if")) {
            if op.num_regions() > 0 || op.is_terminator() || !op.is_memory_effect_free() {
                return None;
            }
            if op.operands().iter().any(|operand| results.contains(operand)) {
                results.extend(op.results());
                computed.push(op);
            }
            second = op.next();
        }
        let second = second.filter(|op| op.operand(0) == first.operand(0) && can_join(*op))?;
        (computed.len() <= MOST_BETWEEN).then_some(Self { first, second, computed })
    }

    /// Makes one of both; gives it.
    fn join(self) -> Op<'c> {
        let Self { first, second, .. } = self;
        (0..2).for_each(|number| self.hand_over(number));
        for op in self.computed.iter().rev() {
            match op.results().into_iter().any(Value::has_uses) {
                true => op.move_after(second),
                false => op.erase(),
            }
        }
        let both = [first, second];
        let kept: Vec<_> = both
            .iter()
            .flat_map(|op| op.results().into_iter().enumerate().map(|(number, value)| (*op, number, value)))
            .collect();
        let kept: Vec<_> = kept.into_iter().filter(|(_, _, value)| value.has_uses()).collect();
        let types: Vec<_> = kept.iter().map(|(_, _, value)| value.ty()).collect();
        let b = Builder::before(second);
        let otherwise = !kept.is_empty() || both.iter().any(|op| branch(*op, 1).is_some());
        let made = b.scf_if(first.operand(0), &types, otherwise);
        for number in 0..1 + usize::from(otherwise) {
            let values: Vec<_> = kept.iter().map(|(op, result, _)| yielded(*op, number)[*result]).collect();
            let end = Builder::at_end(made.region(number).entry(), b.loc).scf_yield(&values);
            for block in both.iter().filter_map(|op| branch(*op, number)) {
                block.terminator().into_iter().for_each(Op::erase);
                block.inline_before(end, &[]);
            }
        }
        for ((_, _, old), new) in kept.iter().zip(made.results()) {
            old.replace_all_uses_with(new);
        }
        second.erase();
        first.erase();
        made
    }

    /// Lets a branch of the second use what the same branch of the first has.
    fn hand_over(&self, number: usize) {
        let Some(block) = branch(self.second, number) else { return };
        let within = |used: Use<'c>| {
            let mut around = std::iter::successors(Some(used.owner), |op| op.parent());
            around.any(|op| op.block() == Some(block))
        };
        let mut wanted: Vec<Op<'c>> = Vec::new();
        for op in self.computed.iter().rev() {
            let is_used =
                |value: Value<'c>| value.uses().into_iter().any(|used| within(used) || wanted.contains(&used.owner));
            if op.results().into_iter().any(is_used) {
                wanted.push(*op);
            }
        }
        let mut mapping = Mapping::new();
        let mut known: Vec<_> = self.first.results().into_iter().zip(yielded(self.first, number)).collect();
        known.iter().for_each(|(old, new)| mapping.map(*old, *new));
        let b = Builder::at_start(block, self.second.loc());
        for op in wanted.into_iter().rev() {
            known.extend(op.results().into_iter().zip(b.clone_op(op, &mut mapping).results()));
        }
        for (old, new) in known {
            old.replace_uses_if(new, within);
        }
    }
}

/// Whether an operation is a branch of a thread on its own.
fn can_join(op: Op<'_>) -> bool {
    op.is("scf.if") && op.discardable_attrs().is_empty() && !op.contains(is_synchronising)
}

fn branch(op: Op<'_>, number: usize) -> Option<Block<'_>> {
    op.region(number).first_block()
}

/// What a branch gives.
fn yielded(op: Op<'_>, number: usize) -> Vec<Value<'_>> {
    branch(op, number).and_then(Block::terminator).map(Op::operands).unwrap_or_default()
}
