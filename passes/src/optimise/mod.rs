//! The optimisations that the parallel form makes possible, on one launch or on all.
//!
//! Equal values are merged first, so that the copies that coarsening made address memory alike. Forwarding leaves fewer
//! accesses, hence fewer barriers; without them more moves out of loops; what moved may be equal again. Values for the host
//! are chosen last, when nothing more moves.

pub mod targets;

crate::table::passes! { merge_common_values, forward_stores, eliminate_redundant_barriers, hoist_invariants, hoist_to_host }

use mlir_bridge::ir::Op;
use regrain_dialects::ops::GpuWrapper;
use tracing::debug;

use crate::{
    optimise::eliminate_redundant_barriers::eliminate,
    optimise::forward_stores::forward,
    optimise::hoist_invariants::{hoist, hoist_from_parallel},
    optimise::hoist_to_host::hoist_to_host,
    optimise::merge_common_values::merge,
};

/// On a launch that was optimised.
pub use regrain_dialects::attributes::OPTIMISED;

const NAME: &str = "regrain-optimize-parallel";

/// What became of one launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
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

/// Optimises one launch (`regrain.gpu_wrapper`), once. With `host`, what is the same for a block, or for the whole grid, moves
/// out of the parallel loops, and out of the launch if it is expensive. The CPU does without: a host compiler moves such values by
/// itself, and knows better which of them to compute in the loop over the threads.
pub fn optimise(wrapper: Op<'_>, host: bool) -> Outcome {
    let mut done = Outcome::default();
    if wrapper.has_attr(OPTIMISED) {
        return done;
    }
    for _ in 0..2 {
        merge(wrapper);
        let forwarded = forward(wrapper);
        done.loads += forwarded.loads;
        done.stores += forwarded.stores;
        let barriers = eliminate(wrapper);
        let hoisted = hoist(wrapper);
        done.barriers += barriers;
        done.hoisted += hoisted;
        if barriers + hoisted == 0 {
            break;
        }
    }
    merge(wrapper);
    if host {
        done.hoisted += hoist_from_parallel(wrapper);
        done.host = hoist_to_host(wrapper);
    }
    wrapper.set_attr(OPTIMISED, wrapper.ctx().unit_attr());
    debug!(target: NAME, "{:?}: {done:?}", GpuWrapper::cast(wrapper).and_then(GpuWrapper::kernel));
    done
}

/// Optimises every launch in `root` that is no longer the original.
pub fn optimise_changed(root: Op<'_>) -> Vec<Outcome> {
    let changed = GpuWrapper::all(root).into_iter().map(GpuWrapper::op).filter(|wrapper| !targets::is_kept(*wrapper));
    changed.map(|wrapper| optimise(wrapper, true)).collect()
}

/// Optimises every launch in `root`, originals too, where the host has no part in launches.
pub fn optimise_all(root: Op<'_>) -> Vec<Outcome> {
    GpuWrapper::all(root).into_iter().map(|wrapper| optimise(wrapper.op(), false)).collect()
}
