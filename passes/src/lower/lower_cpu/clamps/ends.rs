//! A row of blocks that go as one, cut where blocks end, or the rows of wide ones: those in the middle meet no clamp.
//!
//! ```mlir
//! scf.parallel (%x, ...) = ... to (%size * %available, ...) { a[max(%first + %x - 1, 0)] }
//! ```
//! becomes
//! ```mlir
//! scf.parallel (%x, ...) = ... to (%size * (%end - %begin), ...) { a[%first + (%size * %begin + %x) - 1] }
//! scf.for %side = 0 to 2 {
//!   %from = select %side == 0, 0, %end ; %to = select %side == 0, %begin, %available
//!   scf.parallel (%x, ...) = ... to (%size * (%to - %from), ...) { a[max(%first + (%size * %from + %x) - 1, 0)] }
//! }
//! ```
//! Where a sum may not fit into 32 bits all blocks are before the middle. Threads of the blocks that go as one do not wait for one another.

use mlir_bridge::ir::{Builder, Mapping, Op, Value};

use super::{Candidate, free::Free};
use crate::{
    analysis::facts::constant,
    lower::{
        lower_cpu::{
            along::{Row, hoisted::Hoisted},
            runs::Blocks,
        },
        vectorize_threads::WARP,
    },
};

impl<'c> Row<'c> {
    /// Cuts the loop in a middle without clamps and two ends as they were.
    pub fn cut(self, found: &[Candidate<'c>], blocks: Blocks<'c>) {
        let b = Builder::before(self.parallel);
        let mut hoisted = Hoisted::new(self, b);
        let free = hoisted.free(found);
        let blocks = pieces(b, blocks);
        let (begin, end) = middle(b, free, blocks);
        let middle = part(b, blocks, begin, end);
        hoisted.b = Builder::before(middle.holder);

        let zero = b.const_index(0);
        let sides = b.scf_for(zero, b.const_index(2), b.const_index(1), &[]);
        let inside = Builder::at_end(sides.body(), b.loc);
        let is_first = inside.cmpi("eq", sides.body().arg(0), zero);
        let either = |first, second| inside.value("arith.select", &[is_first, first, second], b.ctx().index());
        let side = part(inside, blocks, either(zero, end), either(begin, blocks.count));
        inside.scf_yield(&[]);

        let copy = Builder::before_terminator(side.holder.body(), b.loc).clone_op(self.parallel, &mut Mapping::new());
        side.take(copy);
        self.simplify(found, &mut hoisted);
        middle.take(self.parallel);
    }
}

/// Wide blocks as several narrow ones: the ends are as short as may be.
fn pieces<'c>(b: Builder<'c>, blocks: Blocks<'c>) -> Blocks<'c> {
    match constant(blocks.size).filter(|size| size % i64::from(WARP) == 0) {
        Some(size) => Blocks {
            size: b.const_index(WARP.into()),
            count: b.arith("muli", blocks.count, b.const_index(size / i64::from(WARP))),
        },
        None => blocks,
    }
}

/// The blocks in the middle, from one up to another.
fn middle<'c>(b: Builder<'c>, free: Free<'c>, blocks: Blocks<'c>) -> (Value<'c>, Value<'c>) {
    let i64 = b.ctx().int(64);
    let (size, count) = (b.index_cast(blocks.size, i64), b.index_cast(blocks.count, i64));
    let one = b.const_int(i64, 1);
    let up = b.arith("addi", free.first, b.arith("subi", size, one));
    let begin = b.arith("minsi", b.arith("divsi", up, size), count);
    let down = b.arith("maxsi", b.arith("addi", free.last, one), b.const_int(i64, 0));
    let end = b.arith("maxsi", b.arith("divsi", down, size), begin);
    [begin, end]
        .map(|place| {
            let place = b.value("arith.select", &[free.fits, place, count], i64);
            b.index_cast(place, b.ctx().index())
        })
        .into()
}

/// Some of the blocks, if there are any.
struct Part<'c> {
    /// What the loop stands in.
    holder: Op<'c>,
    /// Threads before it, and in it.
    before: Value<'c>,
    threads: Value<'c>,
}

fn part<'c>(b: Builder<'c>, blocks: Blocks<'c>, from: Value<'c>, to: Value<'c>) -> Part<'c> {
    let before = b.arith("muli", blocks.size, from);
    let threads = b.arith("muli", blocks.size, b.arith("subi", to, from));
    let holder = b.scf_if(b.cmpi("slt", from, to), &[], false);
    Builder::at_end(holder.body(), b.loc).scf_yield(&[]);
    Part { holder, before, threads }
}

impl<'c> Part<'c> {
    /// Takes a loop over all blocks for these.
    fn take(&self, parallel: Op<'c>) {
        if let Some(last) = self.holder.body().terminator() {
            parallel.move_before(last);
        }
        parallel.set_operand(3, self.threads);
        let x = parallel.body().arg(0);
        let outside = Builder::before(parallel);
        for used in x.uses() {
            let inside = Builder::after(used.owner);
            if matches!(used.owner.name(), "arith.index_cast" | "arith.index_castui") {
                let narrow = used.owner.result(0);
                let before = outside.index_cast(self.before, narrow.ty());
                let sum = inside.arith("addi", narrow, before);
                narrow.replace_uses_if(sum, |user| Some(user.owner) != sum.defining_op());
            } else {
                used.owner.set_operand(used.operand, Builder::before(used.owner).arith("addi", x, self.before));
            }
        }
    }
}
