//! Pipelines as data, with the reason beside each odd order.

use mlir_bridge::VectorRegisters;

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
pub const RAISE: &str =
    "regrain-share-constant-tables,regrain-lift-control-flow,regrain-raise-while-to-for,regrain-form-parallel";

/// Imported sequential functions with loops in place of branches; what they sum up in memory is carried by loops.
pub const RAISE_LOOPS: &str = "regrain-lift-control-flow,regrain-raise-while-to-for,regrain-carry-sums";

/// [`RAISE`], with launch functions for constant block shapes too, as options `shapes`, `only`, `bounds` and `widths` of
/// `regrain-form-parallel` have them.
pub fn raise<'k>(shapes: &str, only: impl Iterator<Item = &'k String>, bounds: bool, widths: &str) -> String {
    let only = only.map(String::as_str).collect::<Vec<_>>().join(";");
    format!(
        "regrain-share-constant-tables,regrain-lift-control-flow,regrain-raise-while-to-for,\
         regrain-form-parallel{{shapes={shapes} only={only} bounds={bounds} widths={widths}}}"
    )
}

/// Launches that may change, beside those that stay; first what their kernels do is hashed, while they are as they came.
pub const KEEP: &str = "regrain-hash-kernels,regrain-keep-launches";

/// From imported LLVM functions to parallel loops and back to GPU kernels, with nothing done in between.
pub const GPU_ROUND_TRIP: &str = "regrain-share-constant-tables,regrain-lift-control-flow,regrain-raise-while-to-for,\
    regrain-form-parallel,regrain-outline-kernels";

/// What the parallel form makes possible, on every launch that is not marked as the original. Equal values are merged first, so
/// that the copies that coarsening made address memory alike. Forwarding leaves fewer accesses, hence fewer barriers; without them
/// more moves out of loops; what moved may be equal again. Values for the host are chosen last, when nothing more moves.
pub const OPTIMIZE_PARALLEL: &str = "regrain-merge-common-values,regrain-forward-stores,\
    regrain-eliminate-redundant-barriers,regrain-hoist-invariants,regrain-merge-common-values,regrain-forward-stores,\
    regrain-eliminate-redundant-barriers,regrain-hoist-invariants,regrain-merge-common-values,regrain-hoist-to-host,\
    regrain-mark-optimized";

/// The same for launches that are lowered to functions of the host, originals too: the host has no part in them, and a host
/// compiler moves values out of the loops over threads by itself, and knows better which of them to compute inside. A loop whose bound
/// was loaded in each round counts once that has moved. Asynchronous copies come first, and are loads and stores like others then. Loops are
/// fused before what one stores for the next is forwarded, and branches joined once no barrier is between them. What a loop accesses at one
/// place is carried at last: by then addresses have moved out.
pub const OPTIMIZE_BLOCKS: &str = "regrain-release-launches,regrain-copy-at-once,\
    regrain-merge-common-values,regrain-fuse-loops,regrain-forward-stores,regrain-eliminate-redundant-barriers,\
    regrain-join-branches,regrain-hoist-invariants{parallel=false},regrain-raise-while-to-for{quiet=true},\
    regrain-merge-common-values,regrain-forward-stores,\
    regrain-eliminate-redundant-barriers,regrain-hoist-invariants{parallel=false},regrain-promote-to-registers,\
    regrain-merge-common-values,regrain-mark-optimized";

/// Block loops split at their barriers, where that is proven right. Threads that do what others do go before: what a thread keeps
/// from one loop to the next would make a difference between them. What they all load is loaded before, so that later passes see
/// what it decides as the same in all. Tiles are looked for while barriers are the program's own: loops that go outside of the threads get
/// some; what is left of them may be in lanes of blocks. Loops go in parts while the arrays that they add to are each an object, for a
/// processor with such vector registers.
pub fn split(registers: VectorRegisters) -> String {
    let VectorRegisters { bits, count } = registers;
    let lanes = bits / 32;
    format!(
        "regrain-drop-votes,regrain-merge-redundant-threads,regrain-share-loads,regrain-undo-staging,\
         regrain-vectorize-blocks{{lanes={lanes}}},regrain-carry-atomics,regrain-interchange-strides,\
         regrain-access-in-order,regrain-accumulate-in-parts{{registers={count}}},regrain-split-barriers"
    )
}

/// Split launches to functions that run one block. With `report` remarks say of each thread loop what became of it.
pub fn to_blocks(registers: VectorRegisters, report: bool) -> String {
    let VectorRegisters { bits, count } = registers;
    format!("regrain-lower-cpu{{register-bits={bits} registers={count} report={report} runs=true}}")
}

/// Launches to kernels.
pub const TO_KERNELS: &str = "regrain-outline-kernels";

/// Source lines of functions that were made here.
pub const SCOPE: &str = "regrain-scope-debug-info";

/// Structured control flow, arith, index and ub to the llvm dialect, in device code for GPUs and in host code.
pub const LOWER_GPU: &str = "lower-affine,convert-scf-to-cf,convert-cf-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,\
    convert-ub-to-llvm,reconcile-unrealized-casts";

/// Likewise in block functions, which hold no affine maps.
pub const LOWER_CPU: &str = "convert-vector-to-llvm,convert-scf-to-cf,convert-cf-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,\
    convert-ub-to-llvm,reconcile-unrealized-casts";

/// All pipelines.
pub static PIPELINES: &[Pipeline] = &[
    Pipeline { name: "regrain-raise", summary: "from imported LLVM functions to parallel loops", passes: RAISE },
    Pipeline {
        name: "regrain-optimize-parallel",
        summary: "barriers, accesses and values that the parallel form shows to be needless",
        passes: OPTIMIZE_PARALLEL,
    },
    Pipeline {
        name: "regrain-optimize-blocks",
        summary: "the same for launches that become functions of the host",
        passes: OPTIMIZE_BLOCKS,
    },
];
