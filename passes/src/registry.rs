//! The one table of passes. Flags, help and documentation derive from it.

use mlir_bridge::pass::{self, PassInfo};

use crate::{eliminate_redundant_barriers, lift_control_flow, outline_kernels, pipelines, raise_while_to_for};

/// All passes, in the order in which a kernel meets them.
pub static PASSES: &[PassInfo] = &[
    // Raising.
    lift_control_flow::PASS,
    raise_while_to_for::PASS,
    crate::form_parallel::PASS,
    // On the parallel form.
    crate::content_hash::PASS,
    crate::expand_alternatives::PASS,
    crate::select_alternative::PASS,
    crate::profile_alternatives::PASS,
    crate::coarsen_blocks::PASS,
    crate::coarsen_threads::PASS,
    crate::unroll_and_interleave::PASS,
    crate::merge_common_values::PASS,
    crate::forward_stores::PASS,
    eliminate_redundant_barriers::PASS,
    crate::hoist_invariants::PASS,
    crate::hoist_to_host::PASS,
    crate::statistics::PASS,
    // Changed launches become kernels.
    crate::isolate_launches::KEEP,
    crate::isolate_launches::PASS,
    // To loops of the CPU.
    crate::split_barriers::PASS,
    crate::lower_cpu::PASS,
    // Back to GPU kernels.
    outline_kernels::PASS,
    crate::scope_debug_info::PASS,
];

/// Makes all passes and pipelines known to MLIR.
pub fn register() {
    pass::register(PASSES);
    for pipeline in pipelines::PIPELINES {
        pass::register_pipeline(pipeline.name, pipeline.summary, pipeline.passes);
    }
}
