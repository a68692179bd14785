//! Loops whose rounds all threads of a block go through together, and what such loops hand from round to round.
//!
//! ```mlir
//! scf.for %z = %c0 to %planes step %c1 iter_args(%at = %first, %here = %a, %above = %b) {   // %a is %in[%first], %b is %in[%first + %plane]
//!   llvm.store %here, %tile[%x] ; regrain.barrier ; use(llvm.load %tile[%x + 1], %above) ; regrain.barrier
//!   %next = scf.if %z + 1 < %planes { llvm.load %in[%at + 2 * %plane] } else { %above }
//!   scf.yield %at + %plane, %above, %next
//! }
//! ```
//! How many rounds there are is only known as the program runs: a round is a symbol of sums, not a number. An integer that grows by the same
//! in each round is a sum with it. What a load reads and later rounds hand on is a copy too: `%here` is `%in[%first + %z * %plane]` in every
//! round, if it is before the first, and if the next round gets what is a plane further. Values count only where there is a next round.

use std::collections::HashMap;

use mlir_bridge::ir::{Builder, Op, Value};
use regrain_dialects::ops::Barrier;

use super::{
    block::Accesses,
    rewrite::product,
    sums::{Place, Sum},
    thread::{Copy, Known},
};
use crate::analysis::{
    counted_loop::is_outside,
    facts::{constant, is_nsw, width},
    loops::Counting,
};

/// Values that loops hand on, with what they are a copy of in the threads; nothing where that is not known of one of them.
pub type HandedOn<'c> = HashMap<Value<'c>, Option<Vec<(Place, Copy<'c>)>>>;

/// Whether all threads of a block go through the rounds of a loop together: they meet in each.
pub fn is_together<'c>(op: Op<'c>, parallel: Op<'c>) -> bool {
    op.is("scf.for")
        && op.parent() == Some(parallel)
        && op.body().ops().into_iter().any(|inside| inside.is(Barrier::NAME))
}

/// The loops that the threads of a block go through together.
pub fn all_together(parallel: Op<'_>) -> Vec<Op<'_>> {
    parallel.body().ops().into_iter().filter(|op| is_together(*op, parallel)).collect()
}

/// Lets a loop hand on no more what `is_read` now, which nobody uses any more, but `products` of the round with numbers that all rounds have
/// in common: each round adds to them.
pub fn hand_on<'c>(op: Op<'c>, is_read: impl Fn(usize) -> bool, products: &[(Value<'c>, Value<'c>)]) {
    let (Some(counting), Some(end)) = (Counting::of(op), op.body().terminator()) else { return };
    let kept = |values: Vec<Value<'c>>| -> Vec<Value<'c>> {
        values.into_iter().enumerate().filter(|(number, _)| !is_read(*number)).map(|(_, value)| value).collect()
    };
    let before = Builder::before(op);
    let inits = op.operands().split_off(3);
    let mut first = kept(inits.clone());
    first.extend(products.iter().map(|(_, step)| product(before, counting.lower, *step)));
    let made = before.scf_for(counting.lower, counting.upper, counting.step, &first);
    for (name, attr) in op.discardable_attrs() {
        made.set_attr(name, attr);
    }
    let now = made.body().args();
    let (old, new) = now.split_at(now.len() - products.len());
    let body = Builder::at_end(made.body(), op.loc());
    let sums = products.iter().zip(new).map(|((_, step), now)| body.arith("addi", *now, *step));
    let next: Vec<_> = kept(end.operands()).into_iter().chain(sums).collect();
    let next = body.scf_yield(&next);
    let mut old = old.iter().copied();
    let mut args: Vec<_> = old.next().into_iter().collect();
    for (number, init) in inits.into_iter().enumerate() {
        args.push(if is_read(number) { init } else { old.next().unwrap_or(init) });
    }
    end.erase();
    for ((made, _), now) in products.iter().zip(new) {
        made.replace_all_uses_with(*now);
    }
    op.body().inline_before(made.body().first_op().unwrap_or(next), &args);
    for (old, new) in kept(op.results()).into_iter().zip(made.results()) {
        old.replace_all_uses_with(new);
    }
    op.erase();
}

impl<'c> Accesses<'c> {
    /// Goes through a round of a loop that stands for all.
    pub fn together(&mut self, op: Op<'c>) -> Result<(), Op<'c>> {
        let counting = Counting::of(op).filter(|counting| !counting.unsigned && constant(counting.step) == Some(1));
        let [low, high, _] = counting.ok_or(op)?.bounds().map(|bound| self.thread.sum(bound));
        let (low, high) = (low.ok_or(op)?, high.ok_or(op)?);
        let variable = op.body().arg(0);
        let last = high.plus(&Sum::constant(1), &-1);
        let round = self.thread.symbols.round(variable, [low.clone(), last]).ok_or(op)?;
        let since = round.plus(&low, &-1);
        self.thread.enter(0);
        self.thread.set(variable, Known::Number(round));
        for (number, value) in op.body().args().into_iter().skip(1).enumerate() {
            if let Some(grown) = self.grown(op, number, value, &since) {
                self.thread.set(value, Known::Number(grown));
            }
        }
        let copies = self.copies(op, &since);
        for value in op.body().args().into_iter().skip(1) {
            let known = copies.get(&value);
            let copy = known.map(|copy| (self.thread.place.clone(), copy.clone()));
            let all = self.handed_on.entry(value).or_insert_with(|| Some(Vec::new()));
            *all = all.take().zip(copy).map(|(mut all, copy)| {
                all.push(copy);
                all
            });
        }
        self.visit(op.body())?;
        self.thread.leave();
        Ok(())
    }

    /// What an integer is in a round, so many rounds since the first, that grows by the same in each.
    fn grown(&mut self, op: Op<'c>, number: usize, value: Value<'c>, since: &Sum) -> Option<Sum> {
        let next = op.body().terminator()?.operand(number).defining_op()?;
        let is_exact = is_nsw(next) || width(value.ty())? == 64;
        let sum = Some(next).filter(|next| matches!(next.name(), "llvm.add" | "arith.addi") && is_exact)?;
        let own = sum.operands().into_iter().position(|operand| operand == value)?;
        let step = Some(sum.operand(1 - own)).filter(|step| is_outside(*step, op))?;
        let step = self.thread.sum(step)?;
        Some(self.thread.sum(op.operand(3 + number))?.plus(&step.times(since), &1))
    }

    /// What values that a loop hands on are a copy of in a round.
    fn copies(&mut self, op: Op<'c>, since: &Sum) -> HashMap<Value<'c>, Copy<'c>> {
        let mut found: HashMap<Value<'c>, Copy<'c>> = HashMap::new();
        let next = op.body().terminator().map(Op::operands).unwrap_or_default();
        let values: Vec<_> = op.body().args().into_iter().skip(1).zip(next).enumerate().collect();
        loop {
            let before = found.len();
            for (number, (value, next)) in &values {
                if !found.contains_key(value)
                    && let Some(copy) = self.copy(op, op.operand(3 + number), *next, since, &found)
                {
                    self.thread.set(*value, Known::Copy(copy.clone()));
                    found.insert(*value, copy);
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    /// What a value is a copy of in each round: in the first `init` is handed to it, in later ones what `next` was in the round before.
    fn copy(
        &mut self,
        op: Op<'c>,
        init: Value<'c>,
        next: Value<'c>,
        since: &Sum,
        found: &HashMap<Value<'c>, Copy<'c>>,
    ) -> Option<Copy<'c>> {
        let Known::Copy(first) = self.thread.known(init) else { return None };
        let next = self.where_it_goes_on(op, next)?;
        let later = match found.get(&next) {
            Some(copy) => copy.clone(),
            None if next.defining_op().is_some_and(|load| load.is("llvm.load")) => match self.thread.known(next) {
                Known::Copy(copy) => copy,
                _ => return None,
            },
            None => return None,
        };
        let step = self.thread.symbols.growth(&later.at, op.body().arg(0))?;
        let at = first.at.plus(&step.times(since), &1);
        let alike = (later.root, later.ty) == (first.root, first.ty) && at.plus(&step, &1) == later.at;
        let alignment = first.alignment.min(later.alignment);
        alike.then_some(Copy { at, alignment, ..first })
    }

    /// The value of the loop's body that another one is where the loop goes on for another round.
    fn where_it_goes_on(&mut self, op: Op<'c>, mut value: Value<'c>) -> Option<Value<'c>> {
        while let Some(at) = value.defining_op().filter(|at| op.is_proper_ancestor_of(*at)) {
            if !matches!(at.name(), "scf.if" | "arith.select" | "llvm.select") {
                break;
            }
            let truth = self.thread.truth(at.operand(0)).or_else(|| self.goes_on(op, at.operand(0)).then_some(true))?;
            value = match at.is("scf.if") {
                true => {
                    let end = at.region(usize::from(!truth)).first_block()?.terminator()?;
                    end.operand(value.result_number()?)
                }
                false => at.operand(if truth { 1 } else { 2 }),
            };
        }
        Some(value)
    }

    /// Whether a condition says that there is a next round.
    fn goes_on(&mut self, op: Op<'c>, condition: Value<'c>) -> bool {
        let more = self.thread.symbols.rounds_left(op.body().arg(0));
        let test = condition.defining_op().filter(|test| matches!(test.name(), "llvm.icmp" | "arith.cmpi"));
        more.is_some() && test.and_then(|test| self.thread.at_least_zero(test)) == more
    }
}

/// Whether a value of a loop is only handed on to values that `is_gone` says are not needed.
pub fn is_only_handed_on<'c>(value: Value<'c>, is_gone: &dyn Fn(Value<'c>) -> bool) -> bool {
    value.uses().into_iter().all(|place| {
        let (user, index) = (place.owner, place.operand);
        let holder = user.parent();
        match (user.name(), holder.map(Op::name)) {
            ("scf.yield", Some("scf.if")) => {
                holder.is_some_and(|holder| is_only_handed_on(holder.result(index), is_gone))
            }
            ("scf.yield", Some("scf.for")) => holder.is_some_and(|holder| is_gone(holder.body().arg(1 + index))),
            ("arith.select" | "llvm.select", _) if index > 0 => is_only_handed_on(user.result(0), is_gone),
            _ => false,
        }
    })
}
