//! `regrain-undo-staging`: tiles of shared memory that only hold a copy of the device's memory are read from there.
//!
//! Before:
//! ```mlir
//! scf.parallel (%x, %y, %z) = ... to (%c16, %c16, %c1) {
//!   llvm.store (llvm.load %in[%row + %y][%column + %x]), %tile[%y + 1][%x + 1]
//!   scf.if %x == 0 { llvm.store (llvm.load %in[%row + %y][%column - 1]), %tile[%y + 1][0] } ...
//!   regrain.barrier(%x, %y, %z)
//!   use(llvm.load %tile[%y + 1][%x], llvm.load %tile[%y + 1][%x + 2])
//! }
//! ```
//! After:
//! ```mlir
//! %inside = %column >= 1 and ... and what the block writes is apart from what it reads
//! scf.if %inside {
//!   scf.parallel (%x, %y, %z) = ... { use(llvm.load %in[%row + %y][%column + %x - 1], llvm.load %in[%row + %y][%column + %x + 1]) }
//! } else { the loop as it was }
//! ```
//! On a GPU a tile spares requests of memory. A CPU has a cache that does this by itself, and pays for the copy, for reading across what was
//! just stored in other pieces, and for blocks that cannot go as one (`lower_cpu/runs.rs`).
//!
//! All threads of the block are looked at, one after the other (`block.rs`): where each stores is a number, what it stores the address it
//! came from, a sum over what the block's threads have in common (`thread.rs`, `sums.rs`). Where a load then finds addresses that grow
//! evenly from thread to thread it can read there. What the found depends on, that no clamp changes an index, that conditions on the
//! problem's size hold for all threads, that no sum exceeds its width, is asked for each block, and so is that the block writes nothing of
//! what it reads: another block that did would race with the copy too.
//!
//! A loop of unknown length that all threads go through together, with barriers in its rounds, is looked at by one round that stands for all
//! (`rounds.rs`). Of its barriers one is left: the rounds stay in order, and outside of the threads.
//!
//! Before, elements that threads only hand to each other on their way from memory or to it go without the tile, which may serve for something
//! else as well (`exchange.rs`).
//!
//! Declined: blocks of unknown shape, other synchronisation than barriers outside of loops or in the rounds of one that counts by ones,
//! tiles that are filled twice or with anything but
//! loads, memory in which a thread has no place of its own (a tile that all threads read is reused), or that neighbours along x would read
//! in rows whose distance is known at run time, and kernels that keep another tile.

mod block;
mod distances;
mod exchange;
mod rewrite;
mod rounds;
mod sums;
mod thread;

use mlir_bridge::{
    ir::Op,
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::{GpuWrapper, Shared};
use tracing::debug;

use crate::analysis::{facts::constant, loops::Counting, objects::root};
use block::{Accesses, Instead, THREADS, Written};
use sums::{Even, Sum};

/// The most sums that a block is asked for.
const MOST_DEMANDS: usize = 48;
/// The most pairs of arrays, one read and one written.
const MOST_PAIRS: usize = 2;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-undo-staging",
    summary: "read tiles of shared memory from where they were copied",
    anchor: Anchor::Module,
    options: &[],
    dialects: &["regrain", "llvm", "scf", "arith"],
    run,
};

fn run(_pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    for wrapper in GpuWrapper::all(module) {
        let (Some(grid), Some(parallel)) = (wrapper.grid_loop(), wrapper.block_loop()) else { continue };
        let kernel = wrapper.kernel().unwrap_or_default();
        exchange::undo(grid, parallel);
        match Undone::of(grid, parallel) {
            Ok(undone) => {
                debug!(target: PASS.name, "{kernel} goes without its tiles");
                undone.rewrite();
            }
            Err(why) => debug!(target: PASS.name, "{kernel} keeps its tiles: {why}"),
        }
    }
    Ok(())
}

/// How a block loop goes without its tiles.
struct Undone<'c> {
    parallel: Op<'c>,
    accesses: Accesses<'c>,
    /// Of tiles, and of what is not staged.
    instead: Vec<Instead<'c>>,
    /// Whether nothing is left that a barrier orders: all that is read is known and apart from what is written.
    unordered: bool,
    written: Vec<Written<'c>>,
    /// Sums that have to be at least 0.
    demands: Vec<Sum>,
}

impl<'c> Undone<'c> {
    fn of(grid: Op<'c>, parallel: Op<'c>) -> Result<Self, String> {
        let shape = shape(parallel).ok_or("its shape is not known")?;
        if Shared::all(grid).is_empty() {
            return Err("it has none of constant size".into());
        }
        if let Some(op) = block::other(parallel) {
            return Err(format!("{op:?} is more than to access memory, to compute and to meet"));
        }
        let accesses = Accesses::of(parallel, grid, shape)?;
        let mut instead = accesses.instead()?;
        let shared = instead.iter().find(|instead| !has_own_place(&instead.at, shape));
        if let Some(instead) = shared {
            return Err(format!("{:?} is of memory that threads share", instead.value));
        }
        if !instead.iter().any(|instead| steps(instead) > 0) {
            return Err("all threads read the same".into());
        }
        // The tile of a transposition: its columns are in the nearest cache, which rows of memory may drive each other out of.
        if shape[0] > 1 && instead.iter().any(|instead| !sums::parts(&instead.at.steps[0]).0.is_empty()) {
            return Err("threads would read memory by columns".into());
        }
        let written = accesses.written().ok_or("what it writes is not followed")?;
        let demands = demands(&accesses).ok_or("too much would be asked")?;
        let again = accesses.again();
        let (mut read, all) = accesses.read(&again);
        // No barrier orders what is read and written in one phase.
        let stores: Vec<_> = parallel.find_named("llvm.store");
        read.retain(|instead| {
            let mut own = stores.iter().filter(|store| root(store.operand(1)) == instead.root).peekable();
            let is_ordered = |store| instead.value.defining_op().is_none_or(|load| !accesses.is_one_phase(store, load));
            own.peek().is_none() || own.any(|store| is_ordered(*store))
        });
        instead.extend(read);
        instead.extend(again);
        let unordered = all && accesses.writes_once();
        Ok(Self { parallel, accesses, instead, unordered, written, demands })
    }
}

/// The threads of a block in each dimension.
fn shape(parallel: Op<'_>) -> Option<[i64; 3]> {
    let dimensions = Counting::dimensions(parallel);
    let sizes: Option<Vec<_>> = dimensions.iter().map(|dimension| constant(dimension.upper)).collect();
    let plain = dimensions.iter().all(Counting::is_plain) && parallel.num_results() == 0;
    sizes?.try_into().ok().filter(|shape: &[i64; 3]| plain && shape.iter().product::<i64>() > 1)
}

/// The directions among the threads in which a load reads elsewhere.
fn steps(instead: &Instead<'_>) -> usize {
    instead.at.directions().filter(|number| *number < THREADS).count()
}

/// Whether each thread reads elsewhere, or all read the same.
fn has_own_place(at: &Even, shape: [i64; 3]) -> bool {
    let directions = at.directions().filter(|number| *number < THREADS).count();
    directions == 0
        || (0..THREADS)
            .all(|number| at.low[number] == at.high[number] || !at.steps[number].is_zero() || shape[number] == 1)
}

/// What a block is asked for, without what follows from others.
fn demands(accesses: &Accesses<'_>) -> Option<Vec<Sum>> {
    let mut all = Vec::new();
    for points in &accesses.thread.demands {
        let corners = match Even::of(points) {
            Some(even) => even.corners(),
            None => points.iter().map(|(_, sum)| sum.clone()).collect(),
        };
        for sum in corners {
            all.extend(accesses.thread.symbols.in_outer_rounds(&sum)?);
        }
    }
    let all = sums::least(all.into_iter());
    (all.len() <= MOST_DEMANDS).then_some(all)
}
