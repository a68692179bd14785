//! The block that a kernel is written for, as its launch bounds and its own arithmetic tell.

use mlir_bridge::ir::{Op, Value};

use regrain_dialects::LaunchBounds;
use regrain_dialects::attributes::{DOUBTFUL, SELDOM};
use regrain_targets::device_language::thread_ops::{ThreadOp, classify};
use regrain_targets::device_operations::Axis;

use super::Widths;
use crate::analysis::constants::constant;

/// Threads of a warp.
const WARP: u32 = 32;

/// The block of as many threads as `__launch_bounds__` allows: templates state with it how many they are launched with.
pub(super) struct Largest {
    pub(super) shape: [u32; 3],
    /// What stands on the launch function for all shapes, if that is needed less.
    pub(super) demand_of_others: Option<&'static str>,
}

impl Largest {
    /// In rows of the width that is known, or that the kernel numbers its threads by; in one row where y of a thread is never asked for, else in
    /// rows of a warp: whoever uses warps and y means one warp for each y, if the kernel is written for one number of threads.
    pub(super) fn of(kernel: Op<'_>, widths: &Widths) -> Option<Self> {
        let is_at = |axis| asks(kernel, |op| is_thread(op, axis));
        let most = LaunchBounds::of(kernel).most_threads()?;
        let most = u32::try_from(most).ok().filter(|most| *most > 0 && !is_at(Axis::Z))?;
        let of_one_number = is_of_one_number(kernel);
        let (width, demand) = match widths.get(kernel.symbol_name()?).copied().or_else(|| numbered_by(kernel)) {
            Some(width) => (width, SELDOM),
            None if !is_at(Axis::Y) => (most, SELDOM),
            None if of_one_number => (WARP, DOUBTFUL),
            None => return None,
        };
        let shape = most.is_multiple_of(width).then(|| [width, most / width, 1])?;
        Some(Self { shape, demand_of_others: of_one_number.then_some(demand) })
    }

    /// Whether one of the shapes is the block that the kernel is written for.
    pub(super) fn is_among(shapes: &[[u32; 3]], kernel: Op<'_>) -> bool {
        let threads = |shape: &[u32; 3]| shape.iter().map(|size| i64::from(*size)).product::<i64>();
        let most = LaunchBounds::of(kernel).most_threads();
        is_of_one_number(kernel) && shapes.iter().any(|shape| Some(threads(shape)) == most)
    }
}

/// Whether the kernel, if it states a bound, is written for that many threads.
fn is_of_one_number(kernel: Op<'_>) -> bool {
    !asks(kernel, |op| matches!(op, ThreadOp::BlockDim(_)))
}

/// Whether the kernel has a thread's operation of this kind.
fn asks(kernel: Op<'_>, is_kind: impl Fn(&ThreadOp) -> bool) -> bool {
    kernel.contains(|op| classify(op).is_some_and(|op| is_kind(&op)))
}

fn is_thread(op: &ThreadOp, axis: Axis) -> bool {
    matches!(op, ThreadOp::ThreadId(at) if *at == axis)
}

/// The one number that y of a thread is multiplied with where x is added, and the sum is compared or divided: no two threads of a block of that
/// width have the same one. A sum that only makes addresses says how long rows of memory are.
fn numbered_by(kernel: Op<'_>) -> Option<u32> {
    let sums = kernel.find_all(|op| matches!(op.name(), "llvm.add" | "llvm.or"));
    let mut widths = sums.into_iter().filter(|op| is_number(op.result(0))).filter_map(sum_of_thread);
    let width = widths.next()?;
    widths.all(|other| other == width).then_some(width)
}

/// `w` of `w * y + x`, of a sum.
fn sum_of_thread(op: Op<'_>) -> Option<u32> {
    let (left, right) = (op.operand(0), op.operand(1));
    let of = |rows, x| number_of(x, Axis::X).then(|| multiple_of_y(rows)).flatten();
    of(left, right).or_else(|| of(right, left))
}

fn is_number(sum: Value<'_>) -> bool {
    sum.uses().into_iter().any(|used| match used.owner.name() {
        "llvm.zext" | "llvm.sext" | "llvm.trunc" => is_number(used.owner.result(0)),
        "llvm.icmp" | "llvm.and" | "llvm.lshr" | "llvm.ashr" => true,
        "llvm.udiv" | "llvm.urem" | "llvm.sdiv" | "llvm.srem" => true,
        _ => false,
    })
}

fn multiple_of_y(value: Value<'_>) -> Option<u32> {
    let op = widened(value).defining_op()?;
    let number = |index| constant(op.operand(index));
    let factor = match op.name() {
        "llvm.shl" if number_of(op.operand(0), Axis::Y) => 1i64.checked_shl(number(1)?.try_into().ok()?)?,
        "llvm.mul" if number_of(op.operand(0), Axis::Y) => number(1)?,
        "llvm.mul" if number_of(op.operand(1), Axis::Y) => number(0)?,
        _ => return None,
    };
    u32::try_from(factor).ok().filter(|factor| (2..=1024).contains(factor))
}

fn number_of(value: Value<'_>, axis: Axis) -> bool {
    widened(value).defining_op().and_then(classify).is_some_and(|op| is_thread(&op, axis))
}

/// What a value was before it was made wider.
fn widened(value: Value<'_>) -> Value<'_> {
    match value.defining_op() {
        Some(op) if matches!(op.name(), "llvm.zext" | "llvm.sext") => widened(op.operand(0)),
        _ => value,
    }
}
