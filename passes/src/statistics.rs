//! `regrain-print-statistics`: what a thread of each kernel does, at the grain that it has, as a remark.
//!
//! Before:
//!   regrain.gpu_wrapper @k grid(%n, %c1, %c1) block(%c32, %c1, %c1) {
//!     scf.parallel (%i, ...) { scf.parallel (%x, ...) { ... } } }
//! Prints:
//!   remark: statistics of k at grain original
//!     grid: gridDim.x, 1, 1
//!     block: 32, 1, 1
//!     integer: 3
//!     global load, coalesced: 1 of 4 bytes, 4 sectors
//!     ...
//! With `target=sm_80` or `target=cpu` a second remark says what the cost model makes of it. The IR stays as it is. Counts are closed forms in the sizes and arguments of the launch; a loop whose bounds no formula
//! says has a symbol for how often it runs. Declines where a wrapper has no block loop.
//!
//! # How
//!
//! This counts what one thread does at one grain, from the parallel form, in closed forms (`tuning::expr`) of the launch's
//! sizes and the kernel's arguments; `regrain-print-statistics` shows them. A loop that no formula counts has a symbol, a
//! condition that none decides counts one half for each side. Addresses are polynomials with a coefficient for each thread of the block
//! (`lanes.rs`), so that sectors, lines and bank conflicts of a warp are counted, not guessed, wherever the block's shape is
//! constant. What LLVM will do anyway (common subexpressions, motion out of loops, repeated loads) counts as done: copies of a coarse
//! thread share what they can. Test: `test/Passes/Statistics/figure-11.mlir`, coalescing at each grain.

mod address;
mod classify;
mod count;
mod lanes;
mod live;
mod symbolic;

use mlir_bridge::{
    ir::Op,
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
};
use regrain_dialects::{
    attributes::{EPILOGUE, GRAIN, THREAD_GRAIN, factors, tasks},
    ops::{DynamicShared, GpuWrapper},
};
use regrain_targets::processor;
use regrain_tuning::expr::Expr;
use regrain_tuning::model::{self, Candidate, Shape};
use regrain_tuning::statistics::Statistics;

use crate::coarsen::coarsening::static_shared_bytes;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-print-statistics",
    summary: "print what a thread of each kernel does",
    anchor: Anchor::Any,
    options: &[PassOption {
        name: "target",
        default: "",
        description: "what the cost model predicts for: an architecture as sm_80, or cpu",
    }],
    dialects: &[],
    run,
};

fn run(pass: &PassRun<'_>, root: Op<'_>) -> PassResult {
    let target = match pass.option("target").trim() {
        "" => None,
        name => Some(processor(name).map_err(|error| format!("option 'target' is '{name}': {error}"))?),
    };
    for wrapper in GpuWrapper::all(root) {
        match statistics(wrapper) {
            Some(found) => {
                wrapper.op().remark(found.to_string());
                if let Some(target) = &target {
                    let candidate =
                        Candidate { statistics: &found, resources: None, epilogues: 0, tasks: tasks(wrapper.op()) };
                    let said = model::predict(&candidate, &Shape::of(&found), target);
                    wrapper.op().remark(format!("prediction for {} at grain {}: {said}", found.kernel, found.grain()));
                }
            }
            None => wrapper.op().remark("no statistics: the wrapper has no block loop"),
        }
    }
    Ok(())
}

/// What a thread of a wrapper does; `None` where it has no block loop of three dimensions.
pub fn statistics(wrapper: GpuWrapper<'_>) -> Option<Statistics> {
    let nest = wrapper.block_loop().filter(|nest| nest.body().num_args() == 3)?;
    let mut symbolic = symbolic::Symbolic::default();
    let mut sizes = |values: Vec<_>| {
        let sizes: Vec<Expr> =
            values.into_iter().map(|size| symbolic.expr(size).unwrap_or_else(|| Expr::symbol("size"))).collect();
        <[Expr; 3]>::try_from(sizes).unwrap_or_default()
    };
    let (grid, block) = (sizes(wrapper.grid()), sizes(wrapper.block_shape()));
    let mut made = Statistics {
        kernel: wrapper.kernel().unwrap_or_default().to_owned(),
        blocks: factors(wrapper.op(), GRAIN),
        threads: factors(wrapper.op(), THREAD_GRAIN),
        epilogue: wrapper.op().has_attr(EPILOGUE),
        grid,
        block,
        static_shared: static_shared_bytes(wrapper.op()).unsigned_abs(),
        ..Statistics::default()
    };
    // Memory that nobody asks for is not given out.
    if let Some(bytes) = wrapper.shared_bytes().filter(|_| !DynamicShared::all(wrapper.op()).is_empty()) {
        made.dynamic_shared = symbolic.expr(bytes).unwrap_or_else(|| Expr::symbol("sharedBytes"));
    }
    let mut lanes = lanes::Lanes::new(nest);
    count::Counter::new(&mut lanes, &mut symbolic, &mut made).block(nest.body());
    let live = live::live(nest, |value| lanes.is_uniform(value));
    (made.live, made.live_in_segment) = (live.most, live.most_in_segment);
    Some(made)
}
