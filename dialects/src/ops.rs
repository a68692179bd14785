//! Typed views of the dialect's operations: constructors and accessors.
//!
//! A view is a `Copy` wrapper around an `Op` of the right name; `X::cast(op)` gives it, `X::create`
//! (or `XSpec`) makes a new one.

use mlir_bridge::ir::{Attr, Block, Builder, Op, Region, Type, Value};

macro_rules! view {
    ($(#[$meta:meta])* $name:ident, $op:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name<'c>(Op<'c>);

        impl<'c> $name<'c> {
            pub const NAME: &'static str = $op;

            pub fn cast(op: Op<'c>) -> Option<Self> {
                op.is(Self::NAME).then_some(Self(op))
            }

            pub fn op(self) -> Op<'c> {
                self.0
            }
        }
    };
}

/// Operands of segment `index` of an operation with `operandSegmentSizes`.
fn segment<'c>(op: Op<'c>, index: usize) -> Vec<Value<'c>> {
    let sizes = op
        .attr("operandSegmentSizes")
        .and_then(Attr::as_i32_array)
        .unwrap_or_default();
    let start: i32 = sizes.iter().take(index).sum();
    let count = sizes.get(index).copied().unwrap_or(0);
    (start..start + count)
        .map(|i| op.operand(i as usize))
        .collect()
}

/// An enum of the dialect, by its position in the list of names.
macro_rules! kind {
    ($(#[$meta:meta])* $name:ident { $($case:ident = $number:literal),* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name { $($case = $number),* }

        impl $name {
            fn from_attr(attr: Option<Attr<'_>>) -> Self {
                match attr.and_then(Attr::as_int) {
                    $(Some($number) => Self::$case,)*
                    other => panic!("attribute 'kind' is {other:?}"),
                }
            }
        }
    };
}

kind!(
    /// What a barrier reduces with.
    ReduceKind { Popc = 0, And = 1, Or = 2 }
);
kind!(
    /// How a shuffle finds its source lane.
    ShuffleKind { Idx = 0, Up = 1, Down = 2, Bfly = 3 }
);
kind!(
    /// What a vote asks.
    VoteKind { All = 0, Any = 1, Uni = 2, Ballot = 3 }
);
kind!(
    /// What a match asks.
    MatchKind { Any = 0, All = 1 }
);
kind!(
    /// What a warp reduces with.
    WarpReduceKind { Add = 0, Umin = 1, Umax = 2, Min = 3, Max = 4, And = 5, Or = 6, Xor = 7 }
);

view!(
    /// `regrain.gpu_wrapper`: a kernel launch.
    GpuWrapper, "regrain.gpu_wrapper"
);

impl<'c> GpuWrapper<'c> {
    /// A launch with an empty body block.
    pub fn create(
        b: Builder<'c>,
        kernel: Option<&str>,
        grid: [Value<'c>; 3],
        block: [Value<'c>; 3],
        shared_bytes: Option<Value<'c>>,
        stream: Option<Value<'c>>,
    ) -> Self {
        let ctx = b.ctx();
        let sizes = [3, 3, shared_bytes.is_some().into(), stream.is_some().into()];
        let mut spec = b.op(Self::NAME).operands(&grid).operands(&block);
        spec = spec
            .operands(shared_bytes.as_slice())
            .operands(stream.as_slice());
        spec = spec.attr("operandSegmentSizes", ctx.i32_array_attr(&sizes));
        if let Some(kernel) = kernel {
            spec = spec.attr("kernel", ctx.symbol_attr(kernel));
        }
        let op = spec.result(ctx.int(32)).regions(1).build();
        op.region(0).append_block(&[], b.loc);
        Self(op)
    }

    pub fn grid(self) -> Vec<Value<'c>> {
        segment(self.0, 0)
    }

    pub fn block_shape(self) -> Vec<Value<'c>> {
        segment(self.0, 1)
    }

    pub fn shared_bytes(self) -> Option<Value<'c>> {
        segment(self.0, 2).first().copied()
    }

    pub fn stream(self) -> Option<Value<'c>> {
        segment(self.0, 3).first().copied()
    }

    pub fn kernel(self) -> Option<&'c str> {
        self.0.attr("kernel")?.as_symbol()
    }

    pub fn body(self) -> Block<'c> {
        self.0.body()
    }

    /// The `scf.parallel` over the blocks: the only one directly in the body.
    pub fn grid_loop(self) -> Option<Op<'c>> {
        only_parallel(self.body())
    }

    /// The `scf.parallel` over the threads: the only one directly in the grid loop.
    pub fn block_loop(self) -> Option<Op<'c>> {
        only_parallel(self.grid_loop()?.body())
    }
}

fn only_parallel(block: Block<'_>) -> Option<Op<'_>> {
    let mut loops = block.ops().into_iter().filter(|op| op.is("scf.parallel"));
    let first = loops.next()?;
    loops.next().is_none().then_some(first)
}

/// The loop whose induction variables these are (the verifier made sure of it).
fn loop_of<'c>(ivs: &[Value<'c>]) -> Option<Op<'c>> {
    let (block, _) = ivs.first()?.block_arg()?;
    block.parent_op()
}

view!(
    /// `regrain.barrier`.
    Barrier, "regrain.barrier"
);

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
        let sizes = [
            ivs.len() as i32,
            id.is_some().into(),
            count.is_some().into(),
        ];
        let mut spec = b.op(Self::NAME).operands(ivs);
        spec = spec.operands(id.as_slice()).operands(count.as_slice());
        spec = spec.attr("operandSegmentSizes", b.ctx().i32_array_attr(&sizes));
        if unaligned {
            spec = spec.attr("unaligned", b.ctx().unit_attr());
        }
        Self(spec.build())
    }

    pub fn ivs(self) -> Vec<Value<'c>> {
        segment(self.0, 0)
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
        let spec = b
            .op(Self::NAME)
            .operands(&[predicate])
            .operands(ivs)
            .operands(id.as_slice());
        let spec = spec.attr("operandSegmentSizes", ctx.i32_array_attr(&sizes));
        let bits = if kind == ReduceKind::Popc { 32 } else { 1 };
        Self(
            spec.attr("kind", ctx.i32_attr(kind as i32))
                .result(ctx.int(bits))
                .build(),
        )
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

view!(
    /// `regrain.shared`.
    Shared, "regrain.shared"
);

impl<'c> Shared<'c> {
    pub fn create(
        b: Builder<'c>,
        ty: Type<'c>,
        alignment: Option<i64>,
        name: Option<&str>,
    ) -> Self {
        let ctx = b.ctx();
        let mut spec = b
            .op(Self::NAME)
            .attr("type", ctx.type_attr(ty))
            .result(ctx.ptr(3));
        if let Some(alignment) = alignment {
            spec = spec.attr("alignment", ctx.i64_attr(alignment));
        }
        if let Some(name) = name {
            spec = spec.attr("name", ctx.str_attr(name));
        }
        Self(spec.build())
    }

    /// The type of the memory.
    pub fn memory_type(self) -> Type<'c> {
        self.0
            .attr("type")
            .and_then(Attr::as_type)
            .expect("regrain.shared without a type")
    }

    pub fn alignment(self) -> Option<i64> {
        self.0.attr("alignment")?.as_int()
    }

    pub fn name(self) -> Option<&'c str> {
        self.0.attr("name")?.as_str()
    }

    pub fn pointer(self) -> Value<'c> {
        self.0.result(0)
    }
}

view!(
    /// `regrain.dynamic_shared`.
    DynamicShared, "regrain.dynamic_shared"
);

impl<'c> DynamicShared<'c> {
    pub fn create(b: Builder<'c>, bytes: Value<'c>, alignment: Option<i64>) -> Self {
        let mut spec = b.op(Self::NAME).operands(&[bytes]).result(b.ctx().ptr(3));
        if let Some(alignment) = alignment {
            spec = spec.attr("alignment", b.ctx().i64_attr(alignment));
        }
        Self(spec.build())
    }

    pub fn bytes(self) -> Value<'c> {
        self.0.operand(0)
    }

    pub fn alignment(self) -> Option<i64> {
        self.0.attr("alignment")?.as_int()
    }

    pub fn pointer(self) -> Value<'c> {
        self.0.result(0)
    }
}

view!(
    /// `regrain.alternatives`.
    Alternatives, "regrain.alternatives"
);

impl<'c> Alternatives<'c> {
    /// One region with an empty block for each description.
    pub fn create(b: Builder<'c>, descriptions: &[&str]) -> Self {
        let ctx = b.ctx();
        let texts: Vec<_> = descriptions.iter().map(|text| ctx.str_attr(text)).collect();
        let spec = b
            .op(Self::NAME)
            .attr("descriptions", ctx.array_attr(&texts));
        let op = spec.regions(descriptions.len()).build();
        for region in op.regions() {
            region.append_block(&[], b.loc);
        }
        Self(op)
    }

    pub fn descriptions(self) -> Vec<&'c str> {
        let list = self
            .0
            .attr("descriptions")
            .and_then(Attr::as_array)
            .unwrap_or_default();
        list.into_iter().filter_map(Attr::as_str).collect()
    }

    pub fn choices(self) -> Vec<Region<'c>> {
        self.0.regions()
    }
}

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
    pub fn create(
        b: Builder<'c>,
        kind: ShuffleKind,
        operands: [Value<'c>; 4],
        ivs: &[Value<'c>],
    ) -> Self {
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
    pub fn create(
        b: Builder<'c>,
        kind: VoteKind,
        predicate: Value<'c>,
        mask: Value<'c>,
        ivs: &[Value<'c>],
    ) -> Self {
        let ctx = b.ctx();
        let bits = if kind == VoteKind::Ballot { 32 } else { 1 };
        let spec = b.op(Self::NAME).operands(&[predicate, mask]).operands(ivs);
        Self(
            spec.attr("kind", ctx.i32_attr(kind as i32))
                .result(ctx.int(bits))
                .build(),
        )
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
    pub fn create(
        b: Builder<'c>,
        kind: MatchKind,
        value: Value<'c>,
        mask: Value<'c>,
        ivs: &[Value<'c>],
    ) -> Self {
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
    pub fn create(
        b: Builder<'c>,
        kind: WarpReduceKind,
        value: Value<'c>,
        mask: Value<'c>,
        ivs: &[Value<'c>],
    ) -> Self {
        let ctx = b.ctx();
        let spec = b.op(Self::NAME).operands(&[value, mask]).operands(ivs);
        Self(
            spec.attr("kind", ctx.i32_attr(kind as i32))
                .result(ctx.int(32))
                .build(),
        )
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

/// The parallel loop that a synchronising operation of this dialect (barrier or warp operation)
/// belongs to; `None` for other operations.
pub fn synchronised_loop(op: Op<'_>) -> Option<Op<'_>> {
    match op.name() {
        Barrier::NAME => Barrier(op).parallel_loop(),
        BarrierReduce::NAME => BarrierReduce(op).parallel_loop(),
        Shuffle::NAME => Shuffle(op).parallel_loop(),
        Vote::NAME => Vote(op).parallel_loop(),
        Match::NAME => Match(op).parallel_loop(),
        WarpReduce::NAME => WarpReduce(op).parallel_loop(),
        ActiveMask::NAME => ActiveMask(op).parallel_loop(),
        WarpBarrier::NAME => WarpBarrier(op).parallel_loop(),
        _ => None,
    }
}

/// Whether threads wait for one another here, or exchange values: nothing of a thread's program
/// may be moved across.
pub fn is_synchronising(op: Op<'_>) -> bool {
    synchronised_loop(op).is_some()
}
