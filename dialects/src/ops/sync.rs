//! Barriers of a block.

use super::{loop_of, segment};
use mlir_bridge::ir::{Attr, Builder, Op, Value};

kind!(
    /// What a barrier reduces with.
    ReduceKind { Popc = 0 "popc", And = 1 "and", Or = 2 "or" }
);
view!(
    /// `regrain.barrier`.
    Barrier, "regrain.barrier"
);

const GRID: &str = "grid";

impl<'c> Barrier<'c> {
    /// A barrier of all threads of the loop with these induction variables.
    pub fn create(b: Builder<'c>, ivs: &[Value<'c>]) -> Self {
        Self::create_named(b, ivs, None, None, false)
    }

    pub fn create_named(
        b: Builder<'c>,
        ivs: &[Value<'c>],
        id: Option<Value<'c>>,
        count: Option<Value<'c>>,
        unaligned: bool,
    ) -> Self {
        let sizes = [ivs.len() as i32, id.is_some().into(), count.is_some().into()];
        let mut spec = b.op(Self::NAME).operands(ivs);
        spec = spec.operands(id.as_slice()).operands(count.as_slice());
        spec = spec.attr("operandSegmentSizes", b.ctx().i32_array_attr(&sizes));
        if unaligned {
            spec = spec.attr("unaligned", b.ctx().unit_attr());
        }
        Self(spec.build())
    }

    /// A barrier of the threads of all blocks.
    pub fn create_grid(b: Builder<'c>, ivs: &[Value<'c>]) -> Self {
        let made = Self::create(b, ivs);
        made.0.set_attr(GRID, b.ctx().unit_attr());
        made
    }

    pub fn ivs(self) -> Vec<Value<'c>> {
        segment(self.0, 0)
    }

    /// Whether the threads of all blocks meet.
    pub fn is_grid(self) -> bool {
        self.0.has_attr(GRID)
    }

    pub fn id(self) -> Option<Value<'c>> {
        segment(self.0, 1).first().copied()
    }

    pub fn count(self) -> Option<Value<'c>> {
        segment(self.0, 2).first().copied()
    }

    pub fn is_unaligned(self) -> bool {
        self.0.has_attr("unaligned")
    }

    /// The parallel loop that this synchronises.
    pub fn parallel_loop(self) -> Option<Op<'c>> {
        loop_of(&self.ivs())
    }
}

view!(
    /// `regrain.barrier_reduce`.
    BarrierReduce, "regrain.barrier_reduce"
);

impl<'c> BarrierReduce<'c> {
    pub fn create(
        b: Builder<'c>,
        kind: ReduceKind,
        predicate: Value<'c>,
        ivs: &[Value<'c>],
        id: Option<Value<'c>>,
    ) -> Self {
        let ctx = b.ctx();
        let sizes = [1, ivs.len() as i32, id.is_some().into()];
        let spec = b.op(Self::NAME).operands(&[predicate]).operands(ivs).operands(id.as_slice());
        let spec = spec.attr("operandSegmentSizes", ctx.i32_array_attr(&sizes));
        let bits = if kind == ReduceKind::Popc { 32 } else { 1 };
        Self(spec.attr("kind", ctx.i32_attr(kind as i32)).result(ctx.int(bits)).build())
    }

    pub fn kind(self) -> ReduceKind {
        ReduceKind::from_attr(self.0.attr("kind"))
    }

    pub fn predicate(self) -> Value<'c> {
        self.0.operand(0)
    }

    pub fn ivs(self) -> Vec<Value<'c>> {
        segment(self.0, 1)
    }

    pub fn id(self) -> Option<Value<'c>> {
        segment(self.0, 2).first().copied()
    }

    pub fn parallel_loop(self) -> Option<Op<'c>> {
        loop_of(&self.ivs())
    }
}
