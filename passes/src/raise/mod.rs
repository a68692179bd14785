//! Raising of an imported module as one call: lift, count loops, form the parallel loops.

pub mod warp_ops;

crate::table::passes! { lift_control_flow, raise_while_to_for, form_parallel }

use mlir_bridge::{ir::Op, lift};

use self::form_parallel::{KernelOutcome, Shapes};

/// Raises every kernel of a module imported from cleaned device IR; says of each kernel whether it was raised, or why not.
/// Remarks go to the context's diagnostic handlers. The dialect regrain must be registered in the context.
pub fn raise_module(module: Op<'_>, shapes: &Shapes) -> Vec<KernelOutcome> {
    for dialect in lift::DIALECTS.iter().chain(form_parallel::DIALECTS) {
        module.ctx().load_dialect(dialect);
    }
    lift_control_flow::lift_functions(module);
    raise_while_to_for::raise_loops(module);
    form_parallel::form_kernels(module, shapes)
}
