//! The optimisations that the parallel form makes possible, on one launch or on all.
//!
//! Equal values are merged first, so that the copies that coarsening made address memory alike. Forwarding leaves fewer
//! accesses, hence fewer barriers; without them more moves out of loops; what moved may be equal again. Values for the host
//! are chosen last, when nothing more moves.

use mlir_bridge::ir::Op;
use tracing::debug;

use crate::{
    eliminate_redundant_barriers::eliminate, forward_stores::forward, hoist_invariants::hoist, hoist_to_host::hoist_to_host,
    merge_common_values::merge,
};

/// On a launch whose kernel stays as it is.
pub const ORIGINAL: &str = "regrain.original";

const NAME: &str = "regrain-optimize-parallel";

/// What became of one launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Equal computations merged.
    pub merged: usize,
    /// Loads that take a value known before.
    pub loads: usize,
    /// Stores that nobody reads.
    pub stores: usize,
    pub barriers: usize,
    /// Operations moved out of loops.
    pub hoisted: usize,
    /// Values that the host computes.
    pub host: usize,
}

/// Optimises one launch (`regrain.gpu_wrapper`), unless it is marked as [`ORIGINAL`].
pub fn optimise(wrapper: Op<'_>) -> Outcome {
    let mut done = Outcome::default();
    if wrapper.has_attr(ORIGINAL) {
        return done;
    }
    for _ in 0..2 {
        done.merged += merge(wrapper);
        let forwarded = forward(wrapper);
        done.loads += forwarded.loads;
        done.stores += forwarded.stores;
        done.barriers += eliminate(wrapper);
        done.hoisted += hoist(wrapper);
    }
    done.merged += merge(wrapper);
    done.host = hoist_to_host(wrapper);
    debug!(target: NAME, "{:?}: {done:?}", wrapper.attr("kernel").and_then(|kernel| kernel.as_symbol()));
    done
}

/// Optimises every launch in `root` that is not marked as [`ORIGINAL`].
pub fn optimise_all(root: Op<'_>) -> Vec<Outcome> {
    root.find_named("regrain.gpu_wrapper").into_iter().map(optimise).collect()
}

/// The loops over threads in `root` that are to be optimised: those of launches, or outside of launches the innermost.
pub fn thread_loops(root: Op<'_>) -> Vec<Op<'_>> {
    let innermost = root.find_all(|op| op.is("scf.parallel") && !op.contains(|inner| inner != op && inner.is("scf.parallel")));
    innermost
        .into_iter()
        .filter_map(|nest| match nest.parent_of_name("regrain.gpu_wrapper") {
            Some(wrapper) if wrapper.has_attr(ORIGINAL) => None,
            Some(wrapper) => regrain_dialects::ops::GpuWrapper::cast(wrapper)?.block_loop().filter(|block| *block == nest),
            None => Some(nest),
        })
        .collect()
}
