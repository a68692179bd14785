//! `regrain-vectorize-blocks`: blocks that follow one another in x go through a kernel together, each as a lane of all vectors.
//!
//! Before:
//! ```mlir
//! scf.parallel (%i, %j, %k) = ... {
//!   %tile = regrain.shared : !llvm.array<1024 x i32> -> !llvm.ptr<3>
//!   scf.parallel (%x, %y, %z) = ... to (%c512, %c1, %c1) { A(%i, %x, %tile[%place]) ; regrain.barrier(%x, %y, %z) ; B }
//! ```
//! After:
//! ```mlir
//!   %tiles = regrain.shared : !llvm.array<1024 x array<8 x i32>> -> !llvm.ptr<3>
//!   %many = regrain.take_blocks 8 if %true
//!   scf.if %many {
//!     scf.parallel (%b, %x, %y) = ... to (%c8, %c512, %c1) { A(%i + %b, %x, %tiles[%place][%b]) ; regrain.barrier(%b, %x, %y) ; B }
//!   } else { the loop as it was }
//! ```
//! In a tree over shared memory, a scan or a sorting network, threads are few in half of the steps, and what they access is far apart: rows of
//! threads leave most lanes idle and gather. All blocks do the same there. With a block in each lane no thread is masked, and what
//! lanes access in shared memory lies side by side. What they access of the device's memory lies a block apart instead; that is transposed
//! (`lower_cpu/transpose.rs`). Which of the two versions stays is decided when both are rows (`lower_cpu/choose.rs`).
//!
//! A loop in which all threads go through rows of the device's memory, neighbours side by side, goes outside of the threads by a barrier in each
//! round: what is transposed lies along the threads.
//!
//! Blocks do not wait for one another and may run in any order, so that several may go together; barriers are those of all.
//!
//! Declined: blocks of unknown shape or of three dimensions, control flow around barriers that blocks might not take alike, other
//! operations than to load, store, compute and meet at barriers, shared memory that is accessed in elements of different sizes, or
//! too much of it.

mod rounds;
mod tile;

use std::collections::HashSet;

use mlir_bridge::{
    ir::{Builder, Mapping, Op, Value},
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
};
use regrain_dialects::{
    attributes::OF_BLOCKS,
    ops::{Barrier, GpuWrapper, TakeBlocks, is_barrier, is_shared_memory},
};
use tracing::debug;

use crate::{
    analysis::{
        facts::constant,
        loops::Counting,
        phases::is_plain,
        synchronisation::{STRUCTURES, is_structure},
        uniformity::{Trust, Uniformity, computes},
        waiting::may_wait,
    },
    lower::vectorize_threads::is_ordinary,
};
use tile::Tile;

/// Bytes of shared memory that blocks which go together may have: a part of what the second cache of a core holds at least.
const MOST_SHARED: i64 = 128 << 10;
/// The largest block loop, in operations.
const LARGEST: usize = 600;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-vectorize-blocks",
    summary: "let blocks go through a kernel together, as lanes of vectors",
    anchor: Anchor::Module,
    options: &[PassOption {
        name: "lanes",
        default: "8",
        description: "how many blocks go together: numbers of 32 bits in a register; half of them where memory is shared in 64 bits",
    }],
    dialects: &["regrain", "llvm", "scf", "arith"],
    run,
};

fn run(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    let lanes = u32::try_from(pass.option_int("lanes")?).ok().filter(|lanes| lanes.is_power_of_two() && *lanes > 1);
    let lanes = lanes.ok_or("option 'lanes' is no power of two from 2 on")?;
    for wrapper in GpuWrapper::all(module) {
        let (Some(grid), Some(parallel)) = (wrapper.grid_loop(), wrapper.block_loop()) else { continue };
        let kernel = wrapper.kernel().unwrap_or_default();
        match Together::of(grid, parallel, lanes) {
            Ok(together) => {
                debug!(target: PASS.name, "{kernel}: blocks go together");
                together.rewrite();
            }
            Err(why) => debug!(target: PASS.name, "{kernel}: each block on its own: {why}"),
        }
    }
    Ok(())
}

/// How blocks go together.
struct Together<'c> {
    grid: Op<'c>,
    parallel: Op<'c>,
    lanes: u32,
    /// Operations of the grid loop that differ from block to block, in order.
    own: Vec<Op<'c>>,
    tiles: Vec<Tile<'c>>,
    /// Loops that go outside of the threads.
    rounds: Vec<Op<'c>>,
}

impl<'c> Together<'c> {
    fn of(grid: Op<'c>, parallel: Op<'c>, lanes: u32) -> Result<Self, String> {
        if !has_rows(parallel) {
            return Err("its shape is not known".into());
        }
        let inside = parallel.find_all(|op| op != parallel);
        if inside.len() > LARGEST {
            return Err("it is large".into());
        }
        if let Some(op) = inside.iter().find(|op| !is_simple(**op)) {
            return Err(format!("{op:?} is more than to access memory, to compute and to meet"));
        }
        let own = own_operations(grid, parallel)?;
        let mut seeds = parallel.body().args();
        seeds.push(grid.body().arg(0));
        seeds.extend(own.iter().flat_map(|op| op.results()));
        let structures = inside.iter().copied().filter(|op| is_structure(*op)).collect();
        let uniformity = Uniformity::new(parallel.body(), &seeds, structures, Trust::default());
        let mut barriers = inside.iter().filter(|op| is_barrier(**op)).peekable();
        barriers.peek().ok_or("its threads never meet")?;
        if !barriers.all(|barrier| uniformity.is_met_together(*barrier, parallel)) {
            return Err("blocks may not come to a barrier together".into());
        }
        let memory = grid.body().ops().into_iter().filter(|op| is_shared_memory(*op));
        let tiles = memory.map(Tile::of).collect::<Result<Vec<_>, _>>()?;
        // There is one dynamic shared memory, whatever names it.
        let mut dynamic = tiles.iter().filter(|tile| tile.is_dynamic()).map(Tile::element);
        let first = dynamic.next();
        if dynamic.any(|element| Some(element) != first) {
            return Err("dynamic shared memory is accessed in elements of several sizes".into());
        }
        let bytes: i64 = tiles.iter().map(|tile| tile.bytes(grid)).sum();
        let lanes = if tiles.iter().any(|tile| tile.element() > 4) { (lanes / 2).max(2) } else { lanes };
        if tiles.is_empty() || bytes * i64::from(lanes) > MOST_SHARED {
            return Err(format!("it has {bytes} bytes of shared memory"));
        }
        let rounds = rounds::outside(parallel, lanes, &uniformity);
        Ok(Self { grid, parallel, lanes, own, tiles, rounds })
    }

    fn rewrite(self) {
        let b = Builder::before(self.parallel);
        let mut mapping = Mapping::new();
        let mut allowed = b.const_int(b.ctx().int(1), 1);
        for tile in &self.tiles {
            if let Some(fits) = tile.fits(b, MOST_SHARED / i64::from(self.lanes)) {
                allowed = b.arith("andi", allowed, fits);
            }
            mapping.map(tile.pointer(), tile.widened(b, self.lanes));
        }
        let taken = TakeBlocks::create(b, self.lanes, allowed).taken();
        let versions = b.scf_if(taken, &[], true);
        versions.set_attr(OF_BLOCKS, b.ctx().i64_attr(self.lanes.into()));
        let [many, one] = [0, 1].map(|branch| {
            let end = Builder::at_end(versions.region(branch).entry(), b.loc);
            (end, end.scf_yield(&[])).1
        });
        self.parallel.move_before(one);
        self.lanes_of_blocks(Builder::before(many), &mut mapping);
    }

    /// The loop over the threads of several blocks.
    fn lanes_of_blocks(&self, b: Builder<'c>, mapping: &mut Mapping<'c>) {
        let operands = self.parallel.operands();
        let (zero, one) = (b.const_index(0), b.const_index(1));
        let sizes = [b.const_index(self.lanes.into()), operands[3], operands[4]];
        let made = b.scf_parallel(&[zero; 3], &sizes, &[one; 3]);
        for (name, attr) in self.parallel.discardable_attrs() {
            made.set_attr(name, attr);
        }
        let inside = Builder::before_terminator(made.body(), b.loc);
        let threads = made.body().args();
        let number = self.grid.body().arg(0);
        mapping.map(number, inside.arith("addi", number, threads[0]));
        for op in &self.own {
            inside.clone_op(*op, mapping);
        }
        let old = self.parallel.body().args();
        mapping.map_all(&old, &[threads[1], threads[2], zero]);
        inside.clone_body(self.parallel.body(), mapping);
        for barrier in made.find_all(is_barrier) {
            Barrier::create(Builder::before(barrier), &threads);
            barrier.erase();
        }
        for round in self.rounds.iter().filter_map(|round| mapping.get_op(*round)?.body().first_op()) {
            Barrier::create(Builder::before(round), &threads);
        }
        for tile in &self.tiles {
            tile.spread(mapping, threads[0], self.lanes);
        }
    }
}

/// Whether threads lie in rows of known sizes.
fn has_rows(parallel: Op<'_>) -> bool {
    let dimensions = Counting::dimensions(parallel);
    let sizes: Vec<_> = dimensions.iter().map(|dimension| constant(dimension.upper)).collect();
    let plain = dimensions.iter().all(Counting::is_plain) && parallel.num_results() == 0;
    plain && matches!(sizes[..], [Some(x), Some(y), Some(1)] if x * y > 1)
}

fn is_simple(op: Op<'_>) -> bool {
    match op.name() {
        "llvm.load" | "llvm.store" => is_ordinary(op) && !op.has_attr("volatile_"),
        Barrier::NAME => is_plain(op),
        "llvm.call" => computes(op),
        "llvm.intr.assume" | "llvm.alloca" => true,
        "scf.while" => !may_wait(op),
        name if STRUCTURES.contains(&name) || name.starts_with("llvm.intr.lifetime.") => true,
        _ => op.is_terminator() || op.num_regions() == 0 && op.is_memory_effect_free() && !is_shared_memory(op),
    }
}

/// What a grid loop does for each block on its own before the loop over threads, which must be all that it does.
fn own_operations<'c>(grid: Op<'c>, parallel: Op<'c>) -> Result<Vec<Op<'c>>, String> {
    let mut differ: HashSet<Value<'c>> = HashSet::from([grid.body().arg(0)]);
    let mut own = Vec::new();
    for op in grid.body().ops() {
        let simple = op == parallel || op.is_terminator() || is_shared_memory(op) || op.is_pure();
        let loads = op.is("llvm.load") && is_ordinary(op) && !op.has_attr("volatile_");
        if !(simple || loads) {
            return Err(format!("{op:?} is done for the block"));
        }
        let differs = op.operands().iter().any(|operand| differ.contains(operand));
        if is_shared_memory(op) {
            if differs {
                return Err("blocks have different amounts of shared memory".into());
            }
            differ.insert(op.result(0));
        } else if op != parallel && differs {
            differ.extend(op.results());
            own.push(op);
        }
    }
    Ok(own)
}
