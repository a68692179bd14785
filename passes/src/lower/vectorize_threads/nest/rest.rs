//! The threads of a loop that are too few for a whole row.

use mlir_bridge::ir::{Builder, Mapping, Op, Value};

use super::{Emitter, LastRow, Nest, Shapes};
use crate::lower::LOOP_ANNOTATION;

/// Where the whole rows end, where they would if all holds that was taken, and whether it does; the last is asked where the rest is to go
/// as a row, or with threads of another one.
pub struct Rest<'c> {
    pub end: Value<'c>,
    pub whole: Value<'c>,
    pub together: Option<Value<'c>>,
    pub last: LastRow,
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

    /// The row that not all lanes are in, if there is one.
    pub(super) fn unknown_partial_row(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        whole: Value<'c>,
    ) -> Result<(), String> {
        let rest = b.arith("subi", self.parallel.operand(3), whole);
        let some = b.scf_if(b.cmpi("sgt", rest, b.const_index(0)), &[], false);
        let inside = Builder::at_end(some.body(), b.loc);
        let within = |emitter: &Emitter<'c, '_>| {
            let lanes = emitter.constants(b.ctx().index(), 0..i64::from(self.lanes));
            Some(emitter.compare("slt", lanes, emitter.splat(rest)))
        };
        self.row(inside, shapes, ivs, whole, within, &[])?;
        inside.scf_yield(&[]);
        Ok(())
    }

    /// The threads that are in no whole row: one by one from `rest.end` on; where `rest.together` is given, and is true, as one row.
    pub(super) fn rest(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        alone: Op<'c>,
        rest: Rest<'c>,
    ) -> Result<(), String> {
        let Some(holds) = rest.together else {
            self.one_by_one(b, alone, rest.end, ivs);
            return Ok(());
        };
        if rest.last == LastRow::Again {
            return self.rest_again(b, shapes, ivs, alone, (rest, holds));
        }
        let made = b.scf_if(holds, &[], true);
        let [together, apart] = [0, 1].map(|region| Builder::at_end(made.region(region).entry(), b.loc));
        self.partial_row(together, shapes, ivs, rest.whole)?;
        together.scf_yield(&[]);
        self.one_by_one(apart, alone, self.parallel.operand(0), ivs);
        apart.scf_yield(&[]);
        Ok(())
    }

    /// The threads that are in no whole row, with some of the last one once more; where there are too few for a row, one by one.
    pub(super) fn rest_again(
        &self,
        b: Builder<'c>,
        shapes: &Shapes<'c>,
        ivs: &[Value<'c>],
        alone: Op<'c>,
        (rest, holds): (Rest<'c>, Value<'c>),
    ) -> Result<(), String> {
        let (lower, upper) = (self.parallel.operand(0), self.parallel.operand(3));
        let first = b.arith("subi", upper, b.const_index(self.lanes.into()));
        let enough = b.arith("andi", holds, b.cmpi("sge", first, lower));
        let made = b.scf_if(enough, &[], true);
        let [together, apart] = [0, 1].map(|region| Builder::at_end(made.region(region).entry(), b.loc));
        let some = together.scf_if(together.cmpi("slt", rest.whole, upper), &[], false);
        let inside = Builder::at_end(some.body(), b.loc);
        self.row(inside, shapes, ivs, first, |_| None, &[])?;
        inside.scf_yield(&[]);
        together.scf_yield(&[]);
        self.one_by_one(apart, alone, rest.end, ivs);
        apart.scf_yield(&[]);
        Ok(())
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
        let (lower, upper) = (self.parallel.operand(0), self.parallel.operand(3));
        let last = b.arith("subi", upper, b.const_index(self.lanes.into()));
        let enough = b.cmpi("sge", last, lower);
        let enough = holds.map_or(enough, |holds| b.arith("andi", holds, enough));
        let made = b.scf_if(enough, &[], true);
        let [together, apart] = [0, 1].map(|region| Builder::at_end(made.region(region).entry(), b.loc));
        self.row(together, shapes, ivs, lower, |_| None, &[])?;
        self.row(together, shapes, ivs, last, |_| None, &[])?;
        together.scf_yield(&[]);
        self.one_by_one(apart, alone, lower, ivs);
        apart.scf_yield(&[]);
        Ok(())
    }

    /// A thread loop for the threads of a row from `first` on.
    pub(super) fn one_by_one(&self, b: Builder<'c>, alone: Op<'c>, first: Value<'c>, ivs: &[Value<'c>]) {
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
