//! Barriers of the grid, as the toolkit's cooperative groups write them.
//!
//! ```text
//! %t = call i32 @sync_grids_arrive(ptr %word)           ; adds to a word of the driver's
//! call void @sync_grids_wait(i32 %t, ptr %word)         ; spins on it
//! ```
//! becomes
//! ```text
//! call void @__regrain_grid_barrier_wait(i32 0, ptr %word)
//! ```
//! NVIDIA's own GPUs run the toolkit's code; what else runs kernels has a barrier of its own behind these names.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionValue};
use mlir_bridge::llvm;

/// The function that waits for all threads of the grid.
pub const WAIT: &str = "__regrain_grid_barrier_wait";
/// The function that says that a thread is there.
pub const ARRIVE: &str = "__regrain_grid_barrier_arrive";

/// Functions of the toolkit's headers that wait by spinning on the driver's memory, and what waits instead.
const REPLACED: [(&str, &str); 2] = [
    ("_ZN18cooperative_groups4__v17detailsL17sync_grids_arriveEPVj", ARRIVE),
    ("_ZN18cooperative_groups4__v17detailsL15sync_grids_waitEjPVj", WAIT),
];

/// How the names of cooperative groups' functions begin.
const COOPERATIVE_GROUPS: &str = "_ZN18cooperative_groups";

/// Sends grid-wide synchronisation to functions of ours; the headers' code would spin for ever where blocks take turns.
pub fn replace(module: &Module<'_>) {
    for (name, replacement) in REPLACED {
        if let Some(old) = module.get_function(name) {
            let new = module.add_function(replacement, old.get_type(), None);
            for attribute in ["convergent", "nounwind"] {
                let kind = Attribute::get_named_enum_kind_id(attribute);
                new.add_attribute(AttributeLoc::Function, module.get_context().create_enum_attribute(kind, 0));
            }
            llvm::replace_function(old, new);
        }
    }
}

/// Leaves nothing of grid-wide synchronisation but calls of [`WAIT`], for a target on which arriving alone does nothing: neither
/// arrivals nor the registers in which the driver passes the address of its word.
pub fn leave_waits(module: &Module<'_>) {
    replace(module);
    let zero = module.get_context().i32_type().const_zero();
    if let Some(arrive) = module.get_function(ARRIVE) {
        for call in calls(module).into_iter().filter(|call| llvm::callee(*call) == Some(arrive)) {
            llvm::replace_by_constant(call, zero);
        }
    }
    let own = module.get_functions().filter(|f| f.get_name().to_string_lossy().starts_with(COOPERATIVE_GROUPS));
    for read in own.flat_map(instructions).collect::<Vec<_>>() {
        let register = environment_register(read);
        if let Some(register) = register {
            // Only that the address is not null matters.
            let value = zero.get_type().const_int(u64::from(register == 1), false);
            llvm::replace_by_constant(read, value);
        }
    }
}

fn calls<'ctx>(module: &Module<'ctx>) -> Vec<InstructionValue<'ctx>> {
    module.get_functions().flat_map(instructions).collect()
}

fn instructions(function: FunctionValue<'_>) -> impl Iterator<Item = InstructionValue<'_>> {
    function.get_basic_block_iter().flat_map(|block| block.get_instructions())
}

/// The number of the environment register that inline assembly reads.
fn environment_register(read: InstructionValue<'_>) -> Option<u32> {
    use inkwell::values::InstructionOpcode;
    if read.get_opcode() != InstructionOpcode::Call {
        return None;
    }
    let (text, _) = llvm::inline_asm(read)?;
    text.trim().strip_prefix("mov.u32 $0, %envreg")?.strip_suffix(';')?.parse().ok()
}
