//! The threads of a loop that are too few for a whole row.

use mlir_bridge::ir::{Builder, Mapping, Op, Value};

use super::{Emitter, LastRow, Nest, Shapes};
use crate::lower::LOOP_ANNOTATION;

/// Where the whole rows end, where they would if all holds that was taken, whether it does if something was, and the thread loop as it was.
pub struct Rest<'c> {
    pub end: Value<'c>,
    pub whole: Value<'c>,
    pub holds: Option<Value<'c>>,
    pub alone: Op<'c>,
}

impl<'c> Nest<'c> {
    /// The row that not all lanes are in, where it is known that there is one.
    pub(super) fn partial_row(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        whole: Value<'c>,
    ) -> Result<(), String> {
        let Some(width) = self.width else {
            return if self.may_leave_some() { self.unknown_partial_row(b, shapes, ivs, whole) } else { Ok(()) };
        };
        let rest = width % i64::from(self.lanes);
        if rest == 0 {
            return Ok(());
        }
        let within = |emitter: &Emitter<'c, '_>| {
            let lanes = (0..i64::from(self.lanes)).map(|lane| i64::from(lane < rest));
            Some(emitter.constants(emitter.i1(), lanes))
        };
        self.row(b, shapes, ivs, whole, within, &[])
    }

    /// The loop over all rows, of which the last one may be partial.
    pub(super) fn masked_rows(&self, b: Builder<'c>, shapes: &Shapes<'c>, ivs: &[Value<'c>]) -> Result<(), String> {
        let (lower, upper) = (self.parallel.operand(0), self.parallel.operand(3));
        let made = b.scf_for(lower, upper, b.const_index(self.lanes.into()), &[]);
        let inside = Builder::at_end(made.body(), b.loc);
        let first = made.body().arg(0);
        let rest = inside.arith("subi", upper, first);
        self.row(inside, shapes, ivs, first, |emitter| Some(self.first_lanes(emitter, rest)), &[])?;
        inside.scf_yield(&[]);
        Ok(())
    }

    /// The lanes before one.
    fn first_lanes(&self, emitter: &Emitter<'c, '_>, count: Value<'c>) -> Value<'c> {
        let lanes = emitter.constants(count.ty(), 0..i64::from(self.lanes));
        emitter.compare("slt", lanes, emitter.splat(count))
    }

    /// The row that not all lanes are in, if there is one.
    fn unknown_partial_row(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        whole: Value<'c>,
    ) -> Result<(), String> {
        let rest = b.arith("subi", self.parallel.operand(3), whole);
        let some = b.scf_if(b.cmpi("sgt", rest, b.const_index(0)), &[], false);
        let inside = Builder::at_end(some.body(), b.loc);
        self.row(inside, shapes, ivs, whole, |emitter| Some(self.first_lanes(emitter, rest)), &[])?;
        inside.scf_yield(&[]);
        Ok(())
    }

    /// The threads that are in no whole row. Where what was taken does not hold, or there are too few, they go one by one.
    pub(super) fn rest(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        rest: &Rest<'c>,
        last: LastRow,
    ) -> Result<(), String> {
        let (lower, upper) = (self.parallel.operand(0), self.parallel.operand(3));
        match (last, rest.holds) {
            (LastRow::Together, Some(holds)) => {
                let together = |b| self.partial_row(b, shapes, ivs, rest.whole);
                self.together_if(holds, b, ivs, (rest.alone, lower), together)
            }
            (LastRow::Again, holds) => {
                let (first, enough) = self.last_whole(b, holds);
                self.together_if(enough, b, ivs, (rest.alone, rest.end), |b| {
                    let some = b.scf_if(b.cmpi("slt", rest.whole, upper), &[], false);
                    let inside = Builder::at_end(some.body(), b.loc);
                    self.row(inside, shapes, ivs, first, |_| None, &[])?;
                    inside.scf_yield(&[]);
                    Ok(())
                })
            }
            _ => {
                self.one_by_one(b, rest.alone, rest.end, ivs);
                Ok(())
            }
        }
    }

    /// All threads in two rows, the first of them and the last; where there are too few for one, one by one.
    pub(super) fn two_rows(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        alone: Op<'c>,
        holds: Option<Value<'c>>,
    ) -> Result<(), String> {
        let lower = self.parallel.operand(0);
        let (last, enough) = self.last_whole(b, holds);
        self.together_if(enough, b, ivs, (alone, lower), |b| {
            self.row(b, shapes, ivs, lower, |_| None, &[])?;
            self.row(b, shapes, ivs, last, |_| None, &[])
        })
    }

    /// Where the last whole row begins, counted from the end, and whether there are threads enough for it, and all holds that was taken.
    fn last_whole(&self, b: Builder<'c>, holds: Option<Value<'c>>) -> (Value<'c>, Value<'c>) {
        let (lower, upper) = (self.parallel.operand(0), self.parallel.operand(3));
        let first = b.arith("subi", upper, b.const_index(self.lanes.into()));
        let enough = b.cmpi("sge", first, lower);
        (first, holds.map_or(enough, |holds| b.arith("andi", holds, enough)))
    }

    /// Threads that go together under a condition; else they go one by one, from a first one on.
    fn together_if(
        &self,
        condition: Value<'c>,
        b: Builder<'c>,
        ivs: &[Value<'c>],
        (alone, first): (Op<'c>, Value<'c>),
        together: impl FnOnce(Builder<'c>) -> Result<(), String>,
    ) -> Result<(), String> {
        let made = b.scf_if(condition, &[], true);
        let [taken, apart] = [0, 1].map(|region| Builder::at_end(made.region(region).entry(), b.loc));
        together(taken)?;
        taken.scf_yield(&[]);
        self.one_by_one(apart, alone, first, ivs);
        apart.scf_yield(&[]);
        Ok(())
    }

    /// A thread loop for the threads of a row from `first` on.
    fn one_by_one(&self, b: Builder<'c>, alone: Op<'c>, first: Value<'c>, ivs: &[Value<'c>]) {
        let operands = self.parallel.operands();
        let one = b.const_index(1);
        let above = [ivs[0], ivs[1]].map(|iv| b.arith("addi", iv, one));
        let made = b.scf_parallel(&[first, ivs[0], ivs[1]], &[operands[3], above[0], above[1]], &operands[6..9]);
        let mut mapping = Mapping::new();
        mapping.map_all(&alone.body().args(), &made.body().args());
        Builder::before_terminator(made.body(), b.loc).clone_body(alone.body(), &mut mapping);
        keep_short(made);
    }
}

/// Few threads run such loops: copies that would be faster for many rounds are only more to compile. Loops of a known number of rounds
/// may still be unrolled, so that stack memory becomes registers in the rows too.
fn keep_short(rest: Op<'_>) {
    let text = "#llvm.loop_annotation<vectorize = <disable = true>, unroll = <runtimeDisable = true>>";
    let Some(annotation) = rest.ctx().parse_attr(text) else { return };
    for op in rest.find_all(|op| op == rest || op.is("scf.for") && !op.has_attr(LOOP_ANNOTATION)) {
        op.set_attr(LOOP_ANNOTATION, annotation);
    }
}
