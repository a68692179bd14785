//! `regrain-access-in-order`: what the threads of a block access in pieces that follow one another goes piece by piece.
//!
//! ```mlir
//! scf.parallel (%x, %y, %z) = ... to (%c256, %c1, %c1) {
//!   %a = llvm.load %p[%first + %x]
//!   %b = llvm.load %p[%first + %x + 256]            // where the last thread of the piece before ended
//!   use(%a, %b)
//! }
//! ```
//! gets a `regrain.barrier` before the second load; the same for stores. Splitting at it makes a loop over the threads for each piece, so that
//! memory is passed from one end to the other, and keeps what was read beside, contiguous. In one loop a row of threads would access a little
//! of each piece: the pieces are in a page or two, where a processor follows one direction. From memory, two pieces are then read 1.6 and
//! written 2.7 times as fast, eight 1.3 and 2.2 times (AMD EPYC, Zen 4).
//!
//! What can be computed of a piece before the next one is (`early.rs`): a sum of eight pieces is kept, not the pieces.
//!
//! Declined: pieces that are no longer than a few rows, accesses that only some threads come to, kernels in which a thread may wait for
//! another.

mod early;

use std::collections::HashSet;

use mlir_bridge::{
    ir::{Block, Builder, Op, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::{Barrier, GpuWrapper, is_barrier};

use crate::analysis::{
    addresses::{Address, Linear, Offsets, Symbol},
    facts::constant,
    loops::Counting,
    objects::{Kind, object_of},
    synchronisation::STRUCTURES,
    uniformity::{Trust, Uniformity},
    waiting::may_wait,
};
use crate::lower::vectorize_threads::is_ordinary;

/// Bytes of a line of the cache.
const LINE: i128 = 64;
/// The fewest threads of a piece: some rows.
const FEWEST_THREADS: i64 = 64;
/// The most pieces: what threads keep of them stays in the nearest cache.
const MOST_PIECES: i128 = 16;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-access-in-order",
    summary: "access pieces of memory that follow one another one after the other",
    anchor: Anchor::Module,
    options: &[],
    dialects: &["regrain"],
    run,
};

fn run(_pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    for parallel in GpuWrapper::all(module).into_iter().flat_map(GpuWrapper::block_loops) {
        if let Some(pieces) = Pieces::of(parallel) {
            pieces.separate();
        }
    }
    Ok(())
}

/// What threads of a block access in pieces.
struct Pieces<'c> {
    parallel: Op<'c>,
    /// Threads of each dimension, where that is a constant; 1 where only the first thread's number is ever asked for.
    threads: Vec<Option<i64>>,
    offsets: Offsets<'c>,
    uniform: Uniformity<'c>,
}

/// A load or a store that goes on from thread to thread, and the operation that holds it in a block that all threads come to.
struct Access<'c> {
    op: Op<'c>,
    place: Op<'c>,
    address: Address<'c>,
    /// Bytes from one thread to the next.
    step: i128,
}

impl<'c> Pieces<'c> {
    fn of(parallel: Op<'c>) -> Option<Self> {
        let (body, dimensions) = (parallel.body(), Counting::dimensions(parallel));
        let threads = dimensions.iter().enumerate().map(|(number, dimension)| match body.arg(number).has_uses() {
            true => constant(dimension.upper),
            false => Some(1),
        });
        let threads: Vec<_> = threads.collect();
        let all = threads.iter().try_fold(1i64, |all, size| all.checked_mul((*size)?));
        let fits = dimensions.iter().all(Counting::is_plain)
            && all.is_none_or(|all| all >= FEWEST_THREADS)
            && !parallel.contains(|op| op.is("scf.while") && may_wait(op));
        let structures = parallel.find_all(|op| STRUCTURES.contains(&op.name()));
        fits.then(|| Self {
            parallel,
            threads,
            offsets: Offsets::default(),
            uniform: Uniformity::new(body, &body.args(), structures.into_iter().collect(), Trust::default()),
        })
    }

    fn separate(&self) {
        let ops = self.parallel.find_all(|op| matches!(op.name(), "llvm.load" | "llvm.store"));
        let accesses: Vec<_> = ops.into_iter().filter_map(|op| self.access(op)).collect();
        let mut blocks: Vec<Block<'c>> = Vec::new();
        for block in accesses.iter().filter_map(|access| access.place.block()) {
            if !blocks.contains(&block) {
                blocks.push(block);
            }
        }
        for block in blocks {
            self.separate_in(block, &accesses);
        }
    }

    fn access(&self, op: Op<'c>) -> Option<Access<'c>> {
        let address = self.offsets.address(op.operand(usize::from(op.is("llvm.store"))));
        let near = matches!(object_of(address.root), Some(Kind::Shared | Kind::Dynamic | Kind::Local | Kind::Struct));
        let step = self.step(address.offset.as_ref()?)?;
        let place = (is_ordinary(op) && !near).then(|| self.place(op)).flatten()?;
        Some(Access { op, place, address, step })
    }

    /// Bytes from one thread to the next, where they are as many between all threads of a block and no more than a line.
    fn step(&self, offset: &Linear<'c>) -> Option<i128> {
        let factor = |number: usize| -> i128 {
            offset.terms().filter(|(term, _)| self.is_thread(term.symbol, number)).map(|(_, by)| by).sum()
        };
        let step = factor(0);
        let mut stride = Some(step);
        let even = self.threads.iter().enumerate().all(|(number, threads)| {
            let fits = *threads == Some(1) || stride == Some(factor(number));
            stride = stride.zip(*threads).map(|(stride, threads)| stride * i128::from(threads));
            fits
        });
        (even && (1..=LINE).contains(&step)).then_some(step)
    }

    /// Whether a symbol is the thread's number in a dimension.
    fn is_thread(&self, symbol: Symbol<'c>, dimension: usize) -> bool {
        let Symbol::Value(value) = symbol else { return false };
        let number = self.parallel.body().arg(dimension);
        value == number || is_cast_of(value, number)
    }

    /// The outermost operation around an access that all threads come to together, no loop between.
    fn place(&self, access: Op<'c>) -> Option<Op<'c>> {
        let around = std::iter::successors(access.parent(), |at| at.parent()).take_while(|at| *at != self.parallel);
        let mut places = std::iter::once(access).chain(around.take_while(|at| at.is("scf.if")));
        places.find(|at| self.uniform.is_met_together(*at, self.parallel))
    }

    /// Puts a barrier before what goes on where an earlier access of the block ended.
    fn separate_in(&self, block: Block<'c>, accesses: &[Access<'c>]) {
        let mut before: Vec<&Access<'c>> = Vec::new();
        let mut pieces = 1;
        let read: HashSet<_> = accesses.iter().map(|access| access.place).collect();
        for op in block.ops() {
            if is_barrier(op) {
                before.clear();
            }
            let own: Vec<_> = accesses.iter().filter(|access| access.place == op).collect();
            let goes_on = own.iter().any(|access| before.iter().any(|earlier| self.follows(access, earlier)));
            if goes_on && pieces < MOST_PIECES {
                let barrier = Barrier::create(Builder::before(op), &self.parallel.body().args());
                early::compute_before(barrier.op(), &read);
                before.clear();
                pieces += 1;
            }
            before.extend(own);
        }
    }

    /// Whether one access begins where the other ends, or some pieces behind. Numbers that wrap are not looked at: the order is right in
    /// any case.
    fn follows(&self, access: &Access<'c>, earlier: &Access<'c>) -> bool {
        let offsets = access.address.offset.as_ref().zip(earlier.address.offset.as_ref());
        let Some(distance) = offsets.map(|(later, sooner)| later.plus(sooner, -1)) else { return false };
        let terms: Vec<_> = distance.terms().filter(|(term, _)| matches!(term.symbol, Symbol::Value(_))).collect();
        let all = self.threads.iter().try_fold(access.step, |all, threads| Some(all * i128::from((*threads)?)));
        let pieces = match (&terms[..], all) {
            ([], Some(piece)) if distance.constant() % piece == 0 => distance.constant() / piece,
            ([(term, bytes)], None) if distance.constant() == 0 && self.is_size(term.symbol.value()) => {
                bytes / access.step
            }
            _ => return false,
        };
        access.op.name() == earlier.op.name()
            && access.step == earlier.step
            && access.address.root == earlier.address.root
            && (1..=MOST_PIECES).contains(&pieces.abs())
    }

    /// Whether a value is the threads of a block in its first dimension, the only one.
    fn is_size(&self, value: Value<'c>) -> bool {
        let size = self.parallel.operand(self.parallel.body().num_args());
        self.threads.iter().skip(1).all(|threads| *threads == Some(1)) && (value == size || is_cast_of(size, value))
    }
}

/// Whether a value is another in another width.
fn is_cast_of(value: Value<'_>, other: Value<'_>) -> bool {
    value.defining_op().is_some_and(|op| op.name().starts_with("arith.index_cast") && op.operand(0) == other)
}
