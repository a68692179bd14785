//! Typed views of the dialect's operations: constructors and accessors.
//!
//! A view is a `Copy` wrapper around an `Op` of the right name; `X::cast(op)` gives it, `X::create`
//! makes a new one.

use mlir_bridge::ir::{Attr, Op, Value};

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

            /// The view of an operation that is one; panics else.
            pub fn of(op: Op<'c>) -> Self {
                Self::cast(op).unwrap_or_else(|| panic!("'{}' is no '{}'", op.name(), Self::NAME))
            }

            /// Whether an operation is one.
            pub fn is(op: Op<'c>) -> bool {
                op.is(Self::NAME)
            }

            /// All in `root`, itself included, outer before inner.
            pub fn all(root: Op<'c>) -> Vec<Self> {
                let mut found = Vec::new();
                root.walk_pre(|op| {
                    let is_launch = op.is("regrain.gpu_wrapper");
                    found.extend(Self::cast(op));
                    // Launches and alternatives of them are not in launches: what these compute need not be walked.
                    let stands_around = matches!(Self::NAME, "regrain.gpu_wrapper" | "regrain.alternatives");
                    if is_launch && stands_around { mlir_bridge::ir::Walk::Skip } else { mlir_bridge::ir::Walk::Advance }
                });
                found
            }

            /// The nearest one around an operation.
            pub fn around(op: Op<'c>) -> Option<Self> {
                op.parent_of_name(Self::NAME).map(Self)
            }

            pub fn op(self) -> Op<'c> {
                self.0
            }
        }
    };
}

/// Operands of segment `index` of an operation with `operandSegmentSizes`.
fn segment<'c>(op: Op<'c>, index: usize) -> Vec<Value<'c>> {
    let sizes = op.attr("operandSegmentSizes").and_then(Attr::as_i32_array).unwrap_or_default();
    let start: i32 = sizes.iter().take(index).sum();
    let count = sizes.get(index).copied().unwrap_or(0);
    (start..start + count).map(|i| op.operand(i as usize)).collect()
}

/// An enum of the dialect: its cases with their numbers and names in `regrain.td`.
macro_rules! kind {
    ($(#[$meta:meta])* $name:ident { $($case:ident = $number:literal $text:literal),* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name { $($case = $number),* }

        impl $name {
            /// The case as the dialect writes it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$case => $text),*
                }
            }

            /// The case that the dialect writes as `name`.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$case),)*
                    _ => None,
                }
            }

            fn from_attr(attr: Option<Attr<'_>>) -> Self {
                match attr.and_then(Attr::as_int) {
                    $(Some($number) => Self::$case,)*
                    other => panic!("attribute 'kind' is {other:?}"),
                }
            }
        }
    };
}

/// The loop whose induction variables these are (the verifier made sure of it).
fn loop_of<'c>(ivs: &[Value<'c>]) -> Option<Op<'c>> {
    let (block, _) = ivs.first()?.block_arg()?;
    block.parent_op()
}

mod launch;
mod sync;
mod warp;

pub use launch::{Alternatives, DynamicShared, GpuWrapper, Shared, TakeBlocks, Yield, yield_results};
pub use sync::{Barrier, BarrierReduce, ReduceKind};
pub use warp::{
    ActiveMask, LaneId, Match, MatchKind, Shuffle, ShuffleKind, Vote, VoteKind, WarpBarrier, WarpCall, WarpId,
    WarpReduce, WarpReduceKind,
};

/// Whether an operation is one of this dialect's.
pub fn is_regrain(op: Op<'_>) -> bool {
    op.name().starts_with("regrain.")
}

/// Barriers of a block.
const BARRIERS: &[&str] = &[Barrier::NAME, BarrierReduce::NAME];

/// Operations by which the lanes of a warp wait for one another or exchange values.
pub const WARP: &[&str] =
    &[Shuffle::NAME, Vote::NAME, Match::NAME, WarpReduce::NAME, WarpCall::NAME, ActiveMask::NAME, WarpBarrier::NAME];

/// Whether all threads of a block wait here.
pub fn is_barrier(op: Op<'_>) -> bool {
    BARRIERS.contains(&op.name())
}

/// Whether the threads of all blocks wait here.
pub fn is_grid_barrier(op: Op<'_>) -> bool {
    Barrier::cast(op).is_some_and(Barrier::is_grid)
}

/// Whether threads wait for one another here, or exchange values: nothing of a thread's program
/// may be moved across.
pub fn is_synchronising(op: Op<'_>) -> bool {
    is_barrier(op) || WARP.contains(&op.name())
}

/// Whether an operation gives a thread's place in its block: its lane or its warp.
pub fn is_lane_or_warp(op: Op<'_>) -> bool {
    LaneId::is(op) || WarpId::is(op)
}

/// Whether an operation gives shared memory of a block.
pub fn is_shared_memory(op: Op<'_>) -> bool {
    Shared::is(op) || DynamicShared::is(op)
}

/// The parallel loop over threads that a barrier, a warp operation, or a lane's or warp's number belongs to; `None` for
/// other operations.
pub fn thread_loop(op: Op<'_>) -> Option<Op<'_>> {
    match op.name() {
        Barrier::NAME => Barrier::cast(op)?.parallel_loop(),
        BarrierReduce::NAME => BarrierReduce::cast(op)?.parallel_loop(),
        Shuffle::NAME => Shuffle::cast(op)?.parallel_loop(),
        Vote::NAME => Vote::cast(op)?.parallel_loop(),
        Match::NAME => Match::cast(op)?.parallel_loop(),
        WarpReduce::NAME => WarpReduce::cast(op)?.parallel_loop(),
        WarpCall::NAME => WarpCall::cast(op)?.parallel_loop(),
        ActiveMask::NAME => ActiveMask::cast(op)?.parallel_loop(),
        WarpBarrier::NAME => WarpBarrier::cast(op)?.parallel_loop(),
        LaneId::NAME => LaneId::cast(op)?.parallel_loop(),
        WarpId::NAME => WarpId::cast(op)?.parallel_loop(),
        _ => None,
    }
}
