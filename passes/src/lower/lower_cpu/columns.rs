//! Threads of a column whose accesses lie side by side go one after another, in a loop of the thread of the first row.
//!
//! ```mlir
//! scf.parallel (%x, %y, %z) = ... to (%c32, %c8, %c1) { %v = llvm.load %tile[%x][%y] ; llvm.store %v, %out[%y * %n + %x] }
//! ```
//! becomes
//! ```mlir
//! scf.parallel (%x, %one, %z) = ... to (%c32, %c1, %c1) {
//!   scf.for %y = %c0 to %c8 step %c1 { %v = llvm.load %tile[%x][%y] ; llvm.store %v, %out[%y * %n + %x] }
//! }
//! ```
//! A row of threads would read memory at a stride, a number at a time. Rounds of a loop that lie side by side go together and are transposed
//! in registers (`vectorize_threads::tiles`): that is how matrices are transposed by way of shared memory.
//!
//! Threads between two barriers come in any order. Declined: bodies with loops, and thread loops with other effects than ordinary loads and
//! stores.

use std::cmp::Ordering;

use mlir_bridge::ir::{Attr, Builder, Mapping, Op, Value};

use regrain_dialects::attributes::OF_BLOCKS;

use super::{fold_rows::ROWS, side_by_side::is_plain};
use crate::{
    analysis::{
        addresses::{Linear, Offsets, Symbol},
        counted_loop::is_outside,
        facts::{Range, constant},
        loops::Counting,
    },
    lower::vectorize_threads::{FEWEST, LEAST_APART},
};

/// The fewest threads of a column, and the most: the rounds of a loop of few are written out.
const SHORTEST: i64 = 4;
const LONGEST: i64 = 64;

/// What a load may say that holds where it is not asked for too.
const READ_AS_WELL: [&str; 4] = ["alignment", "ordering", "tbaa", "fastmath"];

/// Makes loops of the columns of a function's thread loops.
pub fn serialise(function: Op<'_>) {
    // Blocks as lanes have their own squares (`transpose.rs`).
    let choices = function.find_all(|op| op.is("scf.if") && op.has_attr(OF_BLOCKS));
    let of_lanes = |parallel: Op<'_>| {
        let ops = choices.iter().flat_map(|choice| choice.region(0).entry().ops());
        ops.into_iter().any(|op| op.is_ancestor_of(parallel))
    };
    for parallel in function.find_named("scf.parallel").into_iter().filter(|op| !of_lanes(*op)) {
        if let Some(work) = Work::of(parallel).filter(Work::is_transposed) {
            work.go_down();
        }
    }
}

/// What the threads of a loop do, where those of a column may do it one after another.
struct Work<'c> {
    parallel: Op<'c>,
    /// The loop that all of it is in, if there is one; its rounds are the same for all threads.
    inner: Option<Op<'c>>,
}

impl<'c> Work<'c> {
    fn of(parallel: Op<'c>) -> Option<Self> {
        let dimensions = Counting::dimensions(parallel);
        let plain = dimensions.len() == 3 && dimensions.iter().all(Counting::is_plain) && parallel.num_results() == 0;
        let fits = plain
            && constant(parallel.operand(3))? >= FEWEST.into()
            && (SHORTEST..=LONGEST).contains(&constant(parallel.operand(3 + ROWS))?)
            && is_plain(parallel);
        if !fits {
            return None;
        }
        let loops =
            parallel.find_all(|op| op != parallel && matches!(op.name(), "scf.for" | "scf.while" | "scf.parallel"));
        let inner = match loops[..] {
            [] => None,
            [inner] => Some(inner),
            _ => return None,
        };
        let shared = |inner: Op<'c>| {
            let others = || parallel.body().ops().into_iter().filter(|op| *op != inner && !op.is_terminator());
            inner.is("scf.for")
                && inner.parent() == Some(parallel)
                && inner.num_results() == 0
                && inner.operands().into_iter().all(|bound| is_outside(bound, parallel))
                && others().all(|op| op.num_regions() == 0 && op.is_pure())
        };
        inner.is_none_or(shared).then_some(Self { parallel, inner })
    }

    /// Whether threads access memory far apart along a row, and side by side along a column.
    fn is_transposed(&self) -> bool {
        let offsets = Offsets::default();
        let ivs = [0, ROWS].map(|axis| self.parallel.body().arg(axis));
        self.parallel.contains(|op| {
            let (address, ty) = match op.name() {
                "llvm.load" => (op.operand(0), op.result(0).ty()),
                "llvm.store" => (op.operand(1), op.operand(0).ty()),
                _ => return false,
            };
            let Some(offset) = offsets.address(address).offset else { return false };
            let [along, down] = ivs.map(|iv| factor(&offset, iv).abs());
            let size = i128::from(ty.layout(op).0);
            along >= LEAST_APART.into() && along > size && down == size
        })
    }

    /// Lets the thread of the first row do what those of its column do.
    fn go_down(self) {
        let (parallel, rows) = (self.parallel, self.parallel.operand(3 + ROWS));
        let body = self.inner.map_or(parallel.body(), Op::body);
        let work: Vec<_> = body.ops().into_iter().filter(|op| !op.is_terminator()).collect();
        let b = Builder::at_start(body, parallel.loc());
        let [zero, one] = [0, 1].map(|number| b.const_index(number));
        let down = b.scf_for(zero, rows, one, &[]);
        let inside = Builder::at_end(down.body(), parallel.loc());
        let end = inside.scf_yield(&[]);
        let mut of_each = Mapping::new();
        of_each.map(parallel.body().arg(ROWS), down.body().arg(0));
        let before = self
            .inner
            .map_or_else(Vec::new, |inner| parallel.body().ops().into_iter().take_while(|op| *op != inner).collect());
        let mut own = vec![(parallel.body().arg(ROWS), down.body().arg(0))];
        for op in before {
            if op.operands().iter().any(|operand| own.iter().any(|(value, _)| value == operand)) {
                let made = Builder::before(end).clone_op(op, &mut of_each);
                own.extend(op.results().into_iter().zip(made.results()));
            }
        }
        for op in work {
            op.move_before(end);
        }
        for (value, made) in own {
            value.replace_uses_within(made, down);
        }
        parallel.set_operand(3 + ROWS, Builder::before(parallel).const_index(1));
        down.find_named("llvm.load").into_iter().for_each(read_always);
    }
}

/// How much an offset grows with a number of a thread.
fn factor<'c>(offset: &Linear<'c>, iv: Value<'c>) -> i128 {
    let is_iv = |value: Value<'c>| {
        let cast = value.defining_op().filter(|op| op.name().starts_with("arith.index_cast"));
        value == iv || cast.is_some_and(|op| op.operand(0) == iv)
    };
    let of_iv = |symbol: Symbol<'c>| matches!(symbol, Symbol::Value(value) if is_iv(value));
    offset.terms().filter(|(unknown, _)| of_iv(unknown.symbol)).map(|(_, factor)| factor).sum()
}

/// Moves a load of the stack that is within its memory, whatever the thread, in front of the guards that it stands in.
fn read_always(load: Op<'_>) {
    let size = i128::from(load.result(0).ty().layout(load).0);
    let plain = load.attrs().iter().all(|(name, _)| READ_AS_WELL.contains(name));
    let aligned = load.attr("alignment").and_then(Attr::as_int).is_none_or(|bytes| i128::from(bytes) <= size);
    let place = Offsets::default().address(load.operand(0));
    let within = place.offset.zip(room(place.root)).is_some_and(|(offset, room)| {
        let Range { low, high } = offset.range();
        low >= 0 && high + size <= room
    });
    if !plain || !aligned || !within {
        return;
    }
    while let Some(guard) = load.parent().filter(|op| op.is("scf.if")) {
        let Some(made) = computed_in(guard, load.operand(0)) else { return };
        made.into_iter().for_each(|op| op.move_before(guard));
        load.move_before(guard);
    }
}

/// The bytes of an array on the stack.
fn room(root: Value<'_>) -> Option<i128> {
    let alloca = root.defining_op().filter(|op| op.is("llvm.alloca"))?;
    let element = alloca.attr("elem_type").and_then(Attr::as_type)?;
    Some(i128::from(constant(alloca.operand(0))?) * i128::from(element.layout(alloca).0))
}

/// What a guard holds of the computation of a value, in order.
fn computed_in<'c>(guard: Op<'c>, value: Value<'c>) -> Option<Vec<Op<'c>>> {
    let mut wanted = vec![value];
    let mut made: Vec<Op<'c>> = Vec::new();
    while let Some(value) = wanted.pop() {
        let Some(op) = value.defining_op().filter(|op| op.parent() == Some(guard) && !made.contains(op)) else {
            continue;
        };
        if op.num_regions() > 0 || !op.is_pure() {
            return None;
        }
        made.push(op);
        wanted.extend(op.operands());
    }
    made.sort_by(|one, other| if one.is_before(*other) { Ordering::Less } else { Ordering::Greater });
    Some(made)
}
