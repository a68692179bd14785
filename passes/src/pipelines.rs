//! Pipelines as data, with the reason beside each odd order.

/// A named list of passes.
pub struct Pipeline {
    pub name: &'static str,
    pub summary: &'static str,
    pub passes: &'static str,
}

/// From imported LLVM functions to parallel loops. Loops are raised before the parallel form is made: while a
/// thread id is still a register read its range is known, which proves steps such as `blockDim.x` positive.
///
/// No `canonicalize` behind it: it drops the loops' annotations, merges the grid loop with the block loop and folds
/// dimensions of size one away, whose induction variables the barriers name. Lifting simplifies what it made.
pub const RAISE: &str = "regrain-lift-control-flow,regrain-raise-while-to-for,regrain-form-parallel";

/// From imported LLVM functions to parallel loops and back to GPU kernels, with nothing done in between.
pub const GPU_ROUND_TRIP: &str =
    "regrain-lift-control-flow,regrain-raise-while-to-for,regrain-form-parallel,regrain-outline-kernels";

/// What the parallel form makes possible, on every launch that is not marked as the original (`optimise.rs` has the reasons
/// for the order).
pub const OPTIMIZE_PARALLEL: &str = "regrain-merge-common-values,regrain-forward-stores,\
    regrain-eliminate-redundant-barriers,regrain-hoist-invariants,regrain-merge-common-values,regrain-forward-stores,\
    regrain-eliminate-redundant-barriers,regrain-hoist-invariants,regrain-merge-common-values,regrain-hoist-to-host";

/// Structured control flow, and what the other passes leave of arith, index and ub, to the llvm dialect.
pub const TO_LLVM: &str = "lower-affine,convert-scf-to-cf,convert-cf-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,\
    convert-ub-to-llvm,reconcile-unrealized-casts";

/// All pipelines.
pub static PIPELINES: &[Pipeline] = &[
    Pipeline { name: "regrain-raise", summary: "from imported LLVM functions to parallel loops", passes: RAISE },
    Pipeline {
        name: "regrain-optimize-parallel",
        summary: "barriers, accesses and values that the parallel form shows to be needless",
        passes: OPTIMIZE_PARALLEL,
    },
];
