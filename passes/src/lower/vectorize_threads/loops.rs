//! Loops of a row.
//!
//! A loop runs until no lane is left in it. A counted loop whose lanes begin one after the other and end at the same number first runs
//! without a mask while the last lane is within the bound:
//! ```mlir
//! scf.for %i = %first + lane to %n step %s { A }   ->   scf.for %i0 = %first to %n - 15 step %s { A }
//!                                                       scf.while any(%i < %n) { A, masked }
//! ```
//! or lane by lane (`last_round.rs`). So does one whose lanes begin with the same number and end one after the other, while all are within:
//! ```mlir
//! scf.for %i = %first to %n + lane { A }   ->   scf.for %i = %first to %n { A }
//!                                               scf.while any(%i < %n + lane) { A, masked }
//! ```

use mlir_bridge::ir::{Op, Type, Value};

use super::{
    classify::lane_types,
    control::terminator,
    emit::{Emitted, Emitter, Row},
    rolled,
    shapes::{Linear, Shape, Shapes},
    tiles::Plan,
};
use crate::analysis::facts::width;

impl<'c> Emitter<'c, '_> {
    pub fn counted_loop(&mut self, op: Op<'c>) -> Emitted<()> {
        if self.shapes.all_uniform(&op.operands()[..3]) {
            return self.uniform_for(op);
        }
        let in_turn = matches!(self.shape(op.body().arg(0)), Shape::Linear(_)) && self.shapes.is_uniform(op.operand(1));
        if in_turn && self.may_double(op) { self.peeled_for(op) } else { self.masked_for(op, None) }
    }

    fn uniform_for(&mut self, op: Op<'c>) -> Emitted<()> {
        let bounds = [0, 1, 2].map(|index| self.scalar(op.operand(index)));
        let inits = self.all_as_rows(&op.operands()[3..], &op.body().args()[1..]);
        let plan = Plan::of(self.shapes, op, self.lanes, self.register_bits, self.mask.is_some());
        let (first, inits) = match plan {
            Some(plan) => self.tiled_rounds(op, &plan, bounds, inits)?,
            None => (bounds[0], inits),
        };
        let made = self.plain_for(op, [first, bounds[1], bounds[2]], inits, None)?;
        self.bind(&op.results(), &made);
        Ok(())
    }

    /// A loop whose rounds all lanes of the mask make; gives what stands for the carried values, and for the number of the round that would come
    /// next, if `next` is what it begins with.
    fn plain_for(
        &mut self,
        op: Op<'c>,
        bounds: [Value<'c>; 3],
        mut inits: Vec<Value<'c>>,
        next: Option<Value<'c>>,
    ) -> Emitted<Vec<Value<'c>>> {
        let args = op.body().args();
        inits.extend(next);
        let made = self.b.scf_for(bounds[0], bounds[1], bounds[2], &inits);
        copy_attrs(op, made);
        let mask = self.mask;
        self.depth += 1;
        self.within(made.body(), mask, |this| {
            let rows = made.body().args();
            this.set(args[0], Row::Scalar(rows[0]));
            let carried = rows.len() - usize::from(next.is_some());
            this.bind(&args[1..], &rows[1..carried]);
            this.block(op.body())?;
            let mut values = this.all_as_rows(&terminator(op.body())?.operands(), &args[1..]);
            if next.is_some() {
                values.push(this.b.arith("addi", rows[0], bounds[2]));
            }
            this.b.scf_yield(&values);
            Ok(())
        })?;
        self.depth -= 1;
        Ok(made.results())
    }

    /// A loop whose lanes begin one after the other: without a mask while the last lane is within the bound, then the rest.
    fn peeled_for(&mut self, op: Op<'c>) -> Emitted<()> {
        let [low, high, step] = [0, 1, 2].map(|index| self.scalar(op.operand(index)));
        let Shape::Linear(linear) = self.shape(op.body().arg(0)) else {
            return Err("a loop that is not linear".into());
        };
        let span = self.b.const_int(low.ty(), linear.stride * i64::from(self.lanes - 1));
        let end = self.reduced(high, span, op.has_attr("unsignedCmp"));
        let mut first = low;
        let mut inits = self.all_as_rows(&op.operands()[3..], &op.body().args()[1..]);
        if let Some(plan) = Plan::of(self.shapes, op, self.lanes, self.register_bits, true) {
            (first, inits) = self.tiled_rounds(op, &plan, [low, end, step], inits)?;
        }
        let mut rows = self.plain_for(op, [first, end, step], inits, Some(first))?;
        let next = rows.pop().ok_or("a loop without its next number")?;
        match self.ends_by_lane(op, linear) {
            true => self.last_round(op, linear, next, &rows),
            false => self.masked_for(op, Some((next, rows))),
        }
    }

    /// `value - amount`, or the least number if that is less.
    fn reduced(&self, value: Value<'c>, amount: Value<'c>, unsigned: bool) -> Value<'c> {
        let name = if unsigned { "llvm.intr.usub.sat" } else { "llvm.intr.ssub.sat" };
        if value.ty().is_index() {
            let i64 = self.b.ctx().int(64);
            let (value, amount) = (self.b.index_cast(value, i64), self.b.index_cast(amount, i64));
            return self.b.index_cast(self.b.value(name, &[value, amount], i64), self.b.ctx().index());
        }
        self.b.value(name, &[value, amount], value.ty())
    }

    /// A loop that runs while any lane is within its bounds; `start` is the number and the carried values to begin with, if not the
    /// loop's own.
    fn masked_for(&mut self, op: Op<'c>, start: Option<(Value<'c>, Vec<Value<'c>>)>) -> Emitted<()> {
        let args = op.body().args();
        let predicate = if op.has_attr("unsignedCmp") { "ult" } else { "slt" };
        let results = Left::new(self, &op.results());
        let is_left = start.is_some();
        let (number, carried) = match start {
            Some((number, carried)) => (vec![number], carried),
            None => {
                let carried = self.all_as_rows(&op.operands()[3..], &args[1..]);
                self.common_rounds(op, carried)?
            }
        };
        // What lanes leave with, should they not enter.
        self.bind(&args[1..], &carried);
        let left = results.first(self, &args[1..]);
        let mut inits = [number.clone(), carried.clone(), left].concat();
        inits.push(self.mask_vector());
        let types: Vec<_> = inits.iter().map(|init| init.ty()).collect();
        let bound = self.lane_vector(op.operand(1));
        let step = self.as_row(op.operand(2), args[0]);
        let some = is_left.then(|| {
            self.bind(&args[..1], &number);
            self.any(self.and_mask(self.compare(predicate, self.lane_vector(args[0]), bound)))
        });
        let made = self.b.scf_while(&inits, &types);
        let before = made.region(0).entry();
        let mask = self.mask;
        // A number that is the same in all lanes wraps in none while one is left: those that have left stay out by it.
        let together = self.shapes.is_uniform(args[0]);
        self.within(before, mask, |this| {
            let rows = before.args();
            this.bind(&args[..1], &rows[..1]);
            let inside = this.compare(predicate, this.lane_vector(args[0]), bound);
            let live = match together {
                true => this.and_mask(inside),
                false => this.both(rows[rows.len() - 1], inside),
            };
            let any = this.any(live);
            let mut passed = rows.clone();
            passed.pop();
            passed.push(live);
            this.b.scf_condition(any, &passed);
            Ok(())
        })?;
        let after = made.region(1).entry();
        let live = after.arg(after.num_args() - 1);
        self.depth += 1;
        self.within(after, Some(live), |this| {
            let rows = after.args();
            this.bind(&args[..1], &rows[..1]);
            this.bind(&args[1..], &rows[1..=carried.len()]);
            this.block(op.body())?;
            let yielded = terminator(op.body())?.operands();
            let next = this.all_as_rows(&yielded, &args[1..]);
            let old = rows[1 + carried.len()..rows.len() - 1].to_vec();
            let left = results.next(this, &yielded, &old, live);
            let advanced = this.b.arith("addi", rows[0], step[0]);
            let all = [vec![advanced], next, left, vec![live]].concat();
            this.b.scf_yield(&all);
            Ok(())
        })?;
        self.depth -= 1;
        if let Some(some) = some {
            rolled::keep(made, some);
        }
        let made = made.results();
        self.bind(&op.results(), &results.of(&made[1 + carried.len()..made.len() - 1], op));
        Ok(())
    }

    /// The rounds that all lanes make which begin with the same number, if they go by tiles or end one after the other; gives what comes next.
    fn common_rounds(&mut self, op: Op<'c>, carried: Vec<Value<'c>>) -> Emitted<(Vec<Value<'c>>, Vec<Value<'c>>)> {
        let number = op.body().arg(0);
        if let Some(linear) = ends_in_turn(self.shapes, op, self.mask.is_some()).filter(|_| self.may_copy(op)) {
            let [low, bound, step] = [0, 1, 2].map(|index| self.scalar(op.operand(index)));
            let least = match linear.stride > 0 {
                true => bound,
                false => {
                    self.b.arith("addi", bound, self.b.const_int(bound.ty(), linear.stride * i64::from(self.lanes - 1)))
                }
            };
            let (first, carried) = match Plan::of(self.shapes, op, self.lanes, self.register_bits, true) {
                Some(plan) => self.tiled_rounds(op, &plan, [low, least, step], carried)?,
                None => (low, carried),
            };
            let mut rows = self.plain_for(op, [first, least, step], carried, Some(first))?;
            let next = rows.pop().ok_or("a loop without its next number")?;
            return Ok((vec![next], rows));
        }
        let plan = Plan::of(self.shapes, op, self.lanes, self.register_bits, true);
        let together = self.shapes.is_uniform(number) && !op.operand(1).ty().is_index();
        let Some(plan) = plan.filter(|_| together) else { return Ok((self.as_row(op.operand(0), number), carried)) };
        let [low, step] = [0, 2].map(|index| self.scalar(op.operand(index)));
        let bits = width(low.ty()).ok_or("a loop without a number")?;
        let (name, most) = match op.has_attr("unsignedCmp") {
            true => ("umin", -1),
            false => ("smin", i64::MAX >> (64 - bits)),
        };
        let bounds = self.lane_vector(op.operand(1));
        let taken = self.mask.map_or(bounds, |mask| self.select(mask, bounds, self.splat_int(low.ty(), most)));
        let least = self.b.value(&format!("llvm.intr.vector.reduce.{name}"), &[taken], low.ty());
        let (next, carried) = self.tiled_rounds(op, &plan, [low, least, step], carried)?;
        Ok((vec![next], carried))
    }

    pub fn general_loop(&mut self, op: Op<'c>) -> Emitted<()> {
        let condition = terminator(op.region(0).entry())?;
        match self.shapes.is_uniform(condition.operand(0)) {
            true => self.uniform_while(op, condition),
            false => self.masked_while(op, condition),
        }
    }

    fn uniform_while(&mut self, op: Op<'c>, condition: Op<'c>) -> Emitted<()> {
        let (before, after) = (op.region(0).entry(), op.region(1).entry());
        let inits = self.all_as_rows(&op.operands(), &before.args());
        let types = self.all_row_types(&op.results());
        let made = self.b.scf_while(&inits, &types);
        copy_attrs(op, made);
        let mask = self.mask;
        self.depth += 1;
        self.within(made.region(0).entry(), mask, |this| {
            this.bind(&before.args(), &made.region(0).entry().args());
            this.block(before)?;
            let wanted = this.scalar(condition.operand(0));
            let passed = this.all_as_rows(&condition.operands()[1..], &op.results());
            this.b.scf_condition(wanted, &passed);
            Ok(())
        })?;
        self.within(made.region(1).entry(), mask, |this| {
            this.bind(&after.args(), &made.region(1).entry().args());
            this.block(after)?;
            let next = this.all_as_rows(&terminator(after)?.operands(), &before.args());
            this.b.scf_yield(&next);
            Ok(())
        })?;
        self.depth -= 1;
        self.bind(&op.results(), &made.results());
        Ok(())
    }

    fn masked_while(&mut self, op: Op<'c>, condition: Op<'c>) -> Emitted<()> {
        let (before, after) = (op.region(0).entry(), op.region(1).entry());
        let results = Left::new(self, &op.results());
        let carried = self.all_as_rows(&op.operands(), &before.args());
        let left: Vec<_> = results.types.iter().map(|ty| self.poison(*ty)).collect();
        let mut inits = [carried.clone(), left].concat();
        inits.push(self.mask_vector());
        let passed_values = condition.operands()[1..].to_vec();
        let mut types = self.all_row_types(&after.args());
        let forwarded = types.len();
        types.extend(&results.types);
        types.push(self.vector(self.i1()));
        let made = self.b.scf_while(&inits, &types);
        let first = made.region(0).entry();
        let live = first.arg(first.num_args() - 1);
        self.depth += 1;
        self.within(first, Some(live), |this| {
            let rows = first.args();
            this.bind(&before.args(), &rows[..carried.len()]);
            this.block(before)?;
            let old = rows[carried.len()..rows.len() - 1].to_vec();
            let left = results.next(this, &passed_values, &old, live);
            let wanted = this.lane_vector(condition.operand(0));
            let stay = this.both(live, wanted);
            let mut passed = this.all_as_rows(&passed_values, &after.args());
            passed.extend(left);
            passed.push(stay);
            let any = this.any(stay);
            this.b.scf_condition(any, &passed);
            Ok(())
        })?;
        let second = made.region(1).entry();
        let live = second.arg(second.num_args() - 1);
        self.within(second, Some(live), |this| {
            let rows = second.args();
            this.bind(&after.args(), &rows[..forwarded]);
            this.block(after)?;
            let mut next = this.all_as_rows(&terminator(after)?.operands(), &before.args());
            next.extend(&rows[forwarded..]);
            this.b.scf_yield(&next);
            Ok(())
        })?;
        self.depth -= 1;
        let made = made.results();
        self.bind(&op.results(), &results.of(&made[forwarded..made.len() - 1], op));
        Ok(())
    }
}

/// How the lanes' bounds follow one another in a loop that all begin with the same number, where no wrap lies between two of them; some take no
/// part if it is `masked`.
pub fn ends_in_turn<'c>(shapes: &Shapes<'c>, op: Op<'c>, masked: bool) -> Option<Linear> {
    let bound = shapes.of(op.operand(1));
    let ordered = if op.has_attr("unsignedCmp") { bound.is_unsigned() } else { bound.is_signed() };
    let known = ordered && !(masked && bound.is_of_live()) && shapes.all_uniform(&[op.operand(0), op.operand(2)]);
    match bound {
        Shape::Linear(linear) if known && shapes.is_uniform(op.body().arg(0)) => Some(linear),
        _ => None,
    }
}

/// What lanes take with them when they leave a loop, each in its own round: vectors beside what the loop carries, for the results that are
/// used.
pub struct Left<'c> {
    /// For each result: whether it is used, and its vectors' types.
    used: Vec<bool>,
    types: Vec<Type<'c>>,
}

impl<'c> Left<'c> {
    pub fn new(emitter: &Emitter<'c, '_>, results: &[Value<'c>]) -> Self {
        let used: Vec<_> = results.iter().map(|result| result.has_uses()).collect();
        let kept = results.iter().zip(&used).filter(|(_, used)| **used);
        let types = kept.flat_map(|(result, _)| emitter.vector_types(result.ty())).collect();
        Self { used, types }
    }

    /// The vectors of the used ones among `values`.
    pub fn first(&self, emitter: &Emitter<'c, '_>, values: &[Value<'c>]) -> Vec<Value<'c>> {
        let used = values.iter().zip(&self.used).filter(|(_, used)| **used);
        used.flat_map(|(value, _)| emitter.vectors(*value)).collect()
    }

    /// After a round: what the lanes of `live` have now, what the others had.
    fn next(
        &self,
        emitter: &Emitter<'c, '_>,
        values: &[Value<'c>],
        old: &[Value<'c>],
        live: Value<'c>,
    ) -> Vec<Value<'c>> {
        let new = self.first(emitter, values);
        new.into_iter().zip(old).map(|(new, old)| emitter.select_any(live, new, *old)).collect()
    }

    /// What stands for all results of `op`; for those that nobody uses, anything.
    pub fn of(&self, made: &[Value<'c>], op: Op<'c>) -> Vec<Value<'c>> {
        let mut made = made.iter().copied();
        let mut all = Vec::new();
        for (result, used) in op.results().into_iter().zip(&self.used) {
            let count = lane_types(result.ty()).map_or(0, |parts| parts.len());
            match used {
                true => all.extend(made.by_ref().take(count)),
                // Bound, but never read.
                false => all.extend(std::iter::repeat_n(result, count)),
            }
        }
        all
    }
}

pub fn copy_attrs(from: Op<'_>, to: Op<'_>) {
    for (name, attr) in from.discardable_attrs() {
        to.set_attr(name, attr);
    }
    if from.has_attr("unsignedCmp") {
        to.set_attr("unsignedCmp", from.ctx().unit_attr());
    }
}
