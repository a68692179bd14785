//! Threads that count on one another without a barrier.
//!
//! On a GPU all threads of a block make progress. Coroutines do only when the running one gives way, so a thread that
//! spins on a lock or a flag of its own block would spin for ever. After each operation that such a loop can be made
//! of, the coroutine form tells the runtime, which lets the others run now and then:
//!
//! ```text
//! %1 = cmpxchg ptr %lock, i32 0, i32 1 monotonic monotonic
//! call void @__regrain_spin_hint()
//! ```
//! In the split form a loop that may wait says so itself (`passes::lower::lower_cpu::waiting`). After each volatile access the lanes of a warp change
//! places (`__regrain_lockstep`), so that they go in step, which programs of the time before `__syncwarp` count on.

use inkwell::builder::BuilderError;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue};

use crate::Error;

const SPIN: &str = "__regrain_spin_hint";
const STEP: &str = "__regrain_lockstep";

/// Whether a function of the runtime is one of the hints.
pub(super) fn is_hint(name: &str) -> bool {
    matches!(name, SPIN | STEP)
}

/// Adds the hints to every function of `module`.
pub(super) fn insert_hints(module: &Module<'_>) -> Result<(), Error> {
    let context = module.get_context();
    let builder = context.create_builder();
    let declare = |name: &str| {
        let signature = context.void_type().fn_type(&[], false);
        module.get_function(name).unwrap_or_else(|| module.add_function(name, signature, None))
    };
    let (spin, step) = (declare(SPIN), declare(STEP));
    for function in module.get_functions().collect::<Vec<_>>() {
        for operation in waiting_operations(function) {
            let volatile = matches!(operation.get_opcode(), InstructionOpcode::Load | InstructionOpcode::Store);
            let hint = if volatile { step } else { spin };
            let Some(next) = operation.get_next_instruction() else { continue };
            builder.position_before(&next);
            let failed = |e: BuilderError| Error::internal("adding spin hints", e.to_string());
            let call = builder.build_call(hint, &[], "").map_err(failed)?;
            // Without a location of its own the call would make a function with debug information ill-formed.
            call.try_as_basic_value()
                .expect_instruction("a call without a result")
                .set_debug_location(operation.get_debug_location());
        }
    }
    Ok(())
}

fn waiting_operations(function: FunctionValue<'_>) -> Vec<InstructionValue<'_>> {
    let waits = |i: &InstructionValue<'_>| match i.get_opcode() {
        InstructionOpcode::AtomicCmpXchg | InstructionOpcode::AtomicRMW => true,
        InstructionOpcode::Load | InstructionOpcode::Store => i.get_volatile().unwrap_or(false),
        _ => false,
    };
    function.get_basic_block_iter().flat_map(|block| block.get_instructions()).filter(waits).collect()
}
