//! Operations of a warp.

use super::{loop_of, segment};
use mlir_bridge::ir::{Attr, Builder, Op, Value};

kind!(
    /// How a shuffle finds its source lane.
    ShuffleKind { Idx = 0 "idx", Up = 1 "up", Down = 2 "down", Bfly = 3 "bfly" }
);
kind!(
    /// What a vote asks.
    VoteKind { All = 0 "all", Any = 1 "any", Uni = 2 "uni", Ballot = 3 "ballot" }
);
kind!(
    /// What a match asks.
    MatchKind { Any = 0 "any", All = 1 "all" }
);
kind!(
    /// What a warp reduces with.
    WarpReduceKind {
        Add = 0 "add", Umin = 1 "umin", Umax = 2 "umax", Min = 3 "min", Max = 4 "max", And = 5 "and", Or = 6 "or", Xor = 7 "xor"
    }
);

/// Operations whose induction variables are all operands from a fixed position on.
macro_rules! trailing_ivs {
    ($name:ident, $first:literal) => {
        impl<'c> $name<'c> {
            pub fn ivs(self) -> Vec<Value<'c>> {
                self.0.operands().split_off($first)
            }

            /// The parallel loop whose warps these are.
            pub fn parallel_loop(self) -> Option<Op<'c>> {
                loop_of(&self.ivs())
            }
        }
    };
}

view!(
    /// `regrain.shuffle`.
    Shuffle, "regrain.shuffle"
);
trailing_ivs!(Shuffle, 4);

impl<'c> Shuffle<'c> {
    /// `operands` are value, offset, clamp, mask.
    pub fn create(b: Builder<'c>, kind: ShuffleKind, operands: [Value<'c>; 4], ivs: &[Value<'c>]) -> Self {
        let ctx = b.ctx();
        let spec = b.op(Self::NAME).operands(&operands).operands(ivs);
        let spec = spec.attr("kind", ctx.i32_attr(kind as i32));
        Self(spec.results(&[operands[0].ty(), ctx.int(1)]).build())
    }

    pub fn kind(self) -> ShuffleKind {
        ShuffleKind::from_attr(self.0.attr("kind"))
    }

    pub fn value(self) -> Value<'c> {
        self.0.operand(0)
    }

    pub fn offset(self) -> Value<'c> {
        self.0.operand(1)
    }

    pub fn clamp(self) -> Value<'c> {
        self.0.operand(2)
    }

    pub fn mask(self) -> Value<'c> {
        self.0.operand(3)
    }
}

view!(
    /// `regrain.vote`.
    Vote, "regrain.vote"
);
trailing_ivs!(Vote, 2);

impl<'c> Vote<'c> {
    pub fn create(b: Builder<'c>, kind: VoteKind, predicate: Value<'c>, mask: Value<'c>, ivs: &[Value<'c>]) -> Self {
        let ctx = b.ctx();
        let bits = if kind == VoteKind::Ballot { 32 } else { 1 };
        let spec = b.op(Self::NAME).operands(&[predicate, mask]).operands(ivs);
        Self(spec.attr("kind", ctx.i32_attr(kind as i32)).result(ctx.int(bits)).build())
    }

    pub fn kind(self) -> VoteKind {
        VoteKind::from_attr(self.0.attr("kind"))
    }

    pub fn predicate(self) -> Value<'c> {
        self.0.operand(0)
    }

    pub fn mask(self) -> Value<'c> {
        self.0.operand(1)
    }
}

view!(
    /// `regrain.match`.
    Match, "regrain.match"
);
trailing_ivs!(Match, 2);

impl<'c> Match<'c> {
    pub fn create(b: Builder<'c>, kind: MatchKind, value: Value<'c>, mask: Value<'c>, ivs: &[Value<'c>]) -> Self {
        let ctx = b.ctx();
        let spec = b.op(Self::NAME).operands(&[value, mask]).operands(ivs);
        let spec = spec.attr("kind", ctx.i32_attr(kind as i32));
        Self(spec.results(&[ctx.int(32), ctx.int(1)]).build())
    }

    pub fn kind(self) -> MatchKind {
        MatchKind::from_attr(self.0.attr("kind"))
    }

    pub fn value(self) -> Value<'c> {
        self.0.operand(0)
    }

    pub fn mask(self) -> Value<'c> {
        self.0.operand(1)
    }
}

view!(
    /// `regrain.warp_reduce`.
    WarpReduce, "regrain.warp_reduce"
);
trailing_ivs!(WarpReduce, 2);

impl<'c> WarpReduce<'c> {
    pub fn create(b: Builder<'c>, kind: WarpReduceKind, value: Value<'c>, mask: Value<'c>, ivs: &[Value<'c>]) -> Self {
        let ctx = b.ctx();
        let spec = b.op(Self::NAME).operands(&[value, mask]).operands(ivs);
        Self(spec.attr("kind", ctx.i32_attr(kind as i32)).result(ctx.int(32)).build())
    }

    pub fn kind(self) -> WarpReduceKind {
        WarpReduceKind::from_attr(self.0.attr("kind"))
    }

    pub fn value(self) -> Value<'c> {
        self.0.operand(0)
    }

    pub fn mask(self) -> Value<'c> {
        self.0.operand(1)
    }
}

view!(
    /// `regrain.warp_call`.
    WarpCall, "regrain.warp_call"
);

impl<'c> WarpCall<'c> {
    /// A call of `function` with `values` of each lane, which gives each `results` words of their type.
    pub fn create(b: Builder<'c>, function: &str, values: &[Value<'c>], results: usize, ivs: &[Value<'c>]) -> Self {
        let ctx = b.ctx();
        let sizes = [values.len() as i32, ivs.len() as i32];
        let spec = b.op(Self::NAME).operands(values).operands(ivs);
        let spec = spec.attr("operandSegmentSizes", ctx.i32_array_attr(&sizes));
        Self(spec.attr("function", ctx.symbol_attr(function)).results(&vec![values[0].ty(); results]).build())
    }

    /// The name of the function.
    pub fn function(self) -> &'c str {
        self.0.attr("function").and_then(Attr::as_symbol).unwrap_or_default()
    }

    /// What a lane gives.
    pub fn values(self) -> Vec<Value<'c>> {
        segment(self.0, 0)
    }

    pub fn ivs(self) -> Vec<Value<'c>> {
        segment(self.0, 1)
    }

    /// The parallel loop whose warps these are.
    pub fn parallel_loop(self) -> Option<Op<'c>> {
        loop_of(&self.ivs())
    }
}

view!(
    /// `regrain.active_mask`.
    ActiveMask, "regrain.active_mask"
);
trailing_ivs!(ActiveMask, 0);

view!(
    /// `regrain.lane_id`.
    LaneId, "regrain.lane_id"
);
trailing_ivs!(LaneId, 0);

view!(
    /// `regrain.warp_id`.
    WarpId, "regrain.warp_id"
);
trailing_ivs!(WarpId, 0);

macro_rules! plain_i32 {
    ($($name:ident),*) => {$(
        impl<'c> $name<'c> {
            pub fn create(b: Builder<'c>, ivs: &[Value<'c>]) -> Self {
                Self(b.op(Self::NAME).operands(ivs).result(b.ctx().int(32)).build())
            }
        }
    )*};
}
plain_i32!(ActiveMask, LaneId, WarpId);

view!(
    /// `regrain.warp_barrier`.
    WarpBarrier, "regrain.warp_barrier"
);
trailing_ivs!(WarpBarrier, 1);

impl<'c> WarpBarrier<'c> {
    pub fn create(b: Builder<'c>, mask: Value<'c>, ivs: &[Value<'c>]) -> Self {
        Self(b.op(Self::NAME).operands(&[mask]).operands(ivs).build())
    }

    pub fn mask(self) -> Value<'c> {
        self.0.operand(0)
    }
}
