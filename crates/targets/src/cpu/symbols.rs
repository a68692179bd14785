//! Names and linkage of device symbols on the host.
//!
//! Host and device code of one source share names (`__host__ __device__` functions, a variable and its shadow), so
//! each device symbol gets the prefix `__regrain_dev_`. In CUDA's whole-program mode device symbols are private to
//! their translation unit and become internal; with relocatable device code they stay external, and the host's
//! linker is the device linker.

use std::collections::HashSet;

use inkwell::GlobalVisibility;
use inkwell::attributes::AttributeLoc;
use inkwell::module::{Linkage, Module};
use inkwell::types::BasicTypeEnum;
use inkwell::values::GlobalValue;
use mlir_bridge::llvm;

use crate::nvvm::library::{BUILTIN_OBJECTS, VECTOR_FORM};
use crate::target::BlockOptions;

/// Prefix of every device symbol in a lowered module.
pub const DEVICE_PREFIX: &str = "__regrain_dev_";

fn define_empty(global: GlobalValue<'_>) {
    if let Ok(value_type) = BasicTypeEnum::try_from(global.get_value_type()) {
        global.set_initializer(&value_type.const_zero());
        global.set_linkage(Linkage::Internal);
    }
}

/// How the names of static shared memory begin once it is thread-local.
pub(super) const STATIC_SHARED: &str = "__regrain_shared.";

/// Which of the two forms of a translation unit a module holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// clang's own IR: it defines the symbols.
    Original,
    /// The split form: block functions, and copies of the rest that give way to the original.
    Split,
}

/// Prefixes the device symbols of `module` and makes them external until [`internalise`].
pub(super) fn rename(module: &Module<'_>, options: &BlockOptions, role: Role) {
    let functions = module.get_functions().map(|f| f.as_global_value());
    for global in functions.chain(module.get_globals()).collect::<Vec<_>>() {
        let name = global.get_name().to_string_lossy().into_owned();
        // Shared memory that a function of its own accesses is the same in both forms.
        if role == Role::Split && name.starts_with(STATIC_SHARED) {
            global.set_linkage(Linkage::AvailableExternally);
        }
        if keeps_name(&name) || global.get_linkage() == Linkage::Private {
            continue;
        }
        global.set_name(&format!("{DEVICE_PREFIX}{name}"));
        if global.is_declaration() {
            if BUILTIN_OBJECTS.contains(&name.as_str()) {
                define_empty(global);
            }
            continue;
        }
        llvm::clear_comdat(global);
        global.set_visibility(GlobalVisibility::Default);
        // A constant that the host may overwrite (cudaMemcpyToSymbol) is a variable here.
        if global.is_externally_initialized() {
            global.set_externally_initialized(false);
            global.set_constant(false);
        }
        match role {
            Role::Split => global.set_linkage(Linkage::AvailableExternally),
            Role::Original if options.relocatable && is_shareable(module, global) => {}
            Role::Original => {
                // Hidden marks what becomes internal again, other units having a symbol of the same name.
                if options.relocatable {
                    global.set_visibility(GlobalVisibility::Hidden);
                }
                global.set_linkage(Linkage::External);
            }
        }
    }
}

/// The attribute of a kernel that other units do not see, whatever its linkage (`frontend::private_names`).
const PRIVATE: &str = "regrain-private";

/// With relocatable device code a symbol keeps clang's linkage, but for what is the unit's own, which the split form
/// must still find.
fn is_shareable(module: &Module<'_>, global: GlobalValue<'_>) -> bool {
    let function = module.get_function(&global.get_name().to_string_lossy());
    let private = function.is_some_and(|f| f.get_string_attribute(AttributeLoc::Function, PRIVATE).is_some());
    !private && global.get_linkage() != Linkage::Internal
}

fn keeps_name(name: &str) -> bool {
    ["llvm.", "__nv_", "__regrain_", VECTOR_FORM].iter().any(|prefix| name.starts_with(prefix))
}

/// Gives the definitions of the finished module their final linkage; those in `keep` stay visible to the linker.
pub(super) fn internalise(module: &Module<'_>, options: &BlockOptions, keep: &HashSet<String>) {
    let functions = module.get_functions().map(|f| f.as_global_value());
    for global in functions.chain(module.get_globals()).collect::<Vec<_>>() {
        let name = global.get_name().to_string_lossy().into_owned();
        let stays = global.is_declaration()
            || global.is_thread_local()
            || name.starts_with("llvm.")
            || keep.contains(&name)
            || (options.relocatable
                && name.starts_with(DEVICE_PREFIX)
                && global.get_visibility() != GlobalVisibility::Hidden);
        if !stays {
            llvm::clear_comdat(global);
            global.set_visibility(GlobalVisibility::Default);
            global.set_linkage(Linkage::Internal);
        }
    }
}
