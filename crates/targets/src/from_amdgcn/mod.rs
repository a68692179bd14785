//! Optimised IR of AMD's chips, as instruction selection would get it, for the CPU: emulation of what is shipped.
//!
//! ```text
//! kernels ─ inlined where lanes stop ─ stops in order ([`order`], [`stops`]) ─ pointers of 32 bits ─► IR over the CPU's library
//! ```
//!
//! A work-item becomes a thread of the coroutine form. What the lanes of a wave do together ends in
//! `__regrain_wave_stop` of the runtime, which lets those lanes go on together that hardware would run together.
//! Pointers to a block's shared memory and to a thread's own keep their 32 bits
//! (`mlir_bridge::llvm::widen_pointers`). The code object's arguments, packets and registers that kernels read are
//! those of `device-lib/emulation/place.c`, what instructions compute is in `arithmetic.c` beside it.
//!
//! Products and sums are not contracted, as everywhere on the CPU: hardware's instruction selection would.

mod order;
mod stops;

use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::targets::TargetTriple;
use inkwell::values::BasicMetadataValueEnum;
use mlir_bridge::llvm;

use crate::Error;
use crate::from_nvvm::Destination;
use crate::from_nvvm::library::intrinsic_symbol;
use crate::from_nvvm::retarget::{drop_device_metadata, place_shared, plain_function, replace_intrinsic};
use crate::kernel_names::AMDGPU_KERNEL;
use crate::nvvm::SHARED;

/// The address space of a thread's own memory.
const PRIVATE: u16 = 5;

const PREFIX: &str = "llvm.amdgcn.";

/// Other intrinsics that a host's back end has no or another form of.
const GENERIC: &[&str] = &["llvm.readcyclecounter", "llvm.readsteadycounter"];

/// The thread state of the runtime: thread-local, as are a block's shared variables.
const THREAD_STATE: &str = "__regrain_tls";

/// Whether `module` is IR of AMD's chips.
pub fn is_amdgcn(module: &Module<'_>) -> bool {
    module.get_triple().as_str().to_string_lossy().starts_with("amdgcn")
}

/// Makes `module` IR of the CPU, over its device library, which is not linked yet. Symbols keep their names.
///
/// # Errors
/// What cannot be emulated, with its place.
pub fn retarget<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    destination: &dyn Destination,
) -> Result<(), Error> {
    llvm::keep_line_tables(module);
    drop_device_metadata(module);
    let waves = stops::waves(module);
    for function in module.get_functions() {
        plain_function(function, AMDGPU_KERNEL, destination);
    }
    stops::insert(context, module, &waves)?;
    place_shared(module, destination);
    let machine = destination.machine()?;
    module.set_triple(&TargetTriple::create(&machine.get_triple().as_str().to_string_lossy()));
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    let state = module.get_global(THREAD_STATE).unwrap_or_else(|| {
        let state = module.add_global(context.i64_type().array_type(12), None, THREAD_STATE);
        state.set_thread_local(true);
        state.set_alignment(8);
        state
    });
    for (space, near) in [(SHARED, Some(state)), (PRIVATE, None)] {
        llvm::widen_pointers(module, space, near).map_err(|what| Error::User(format!("cannot emulate {what}")))?;
    }
    let old = code_object_version(module) < 500;
    let wanted = |name: &str| match name {
        "llvm.amdgcn.implicitarg.ptr" if old => Some("__regrain_amdgcn_implicitarg_ptr_4".to_owned()),
        _ => (name.starts_with(PREFIX) || GENERIC.contains(&name)).then(|| intrinsic_symbol(name)),
    };
    for function in module.get_functions().collect::<Vec<_>>() {
        replace_intrinsic(module, function, destination, &wanted)?;
    }
    Ok(())
}

/// 400, 500 or 600; the newest where the module does not say.
fn code_object_version(module: &Module<'_>) -> u64 {
    let value = module.get_flag("amdhsa_code_object_version").and_then(|flag| flag.get_node_values()?.first().copied());
    match value {
        Some(BasicMetadataValueEnum::IntValue(number)) => number.get_zero_extended_constant().unwrap_or(600),
        _ => 600,
    }
}

#[cfg(test)]
mod tests;
