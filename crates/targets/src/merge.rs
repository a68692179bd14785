//! Versions of kernels beside clang's own device code.
//!
//! ```text
//! clang's module                                   the versions' module
//! @counter = internal addrspace(1) global i32 0    @counter = internal addrspace(1) global i32 0
//! define ptx_kernel void @k(ptr %p)                declare ptx_kernel void @k(ptr)
//! define internal i32 @helper(i32)                 define internal i32 @helper(i32)
//!                                                  define ptx_kernel void @"k$b2x1x1"(ptr %p)
//! ```
//! become one module with one `@counter` and one `@helper`, clang's. The versions keep shared memory of their own.

use std::collections::HashSet;

use inkwell::AddressSpace;
use inkwell::module::{Linkage, Module};
use inkwell::values::GlobalValue;
use mlir_bridge::llvm;

use crate::Error;
use crate::nvvm::SHARED;

/// Adds the kernels named `kernels` of `versions`, which was made from a copy of `original`, to `original`.
pub fn merge<'ctx>(original: &Module<'ctx>, versions: Module<'ctx>, kernels: &HashSet<String>) -> Result<(), Error> {
    for list in ["llvm.used", "llvm.compiler.used", "llvm.global_ctors", "llvm.global_dtors"] {
        if let Some(global) = versions.get_global(list) {
            llvm::remove_list(global);
        }
    }
    let known: HashSet<String> = symbols(original).into_iter().filter(|g| !g.is_declaration()).map(name_of).collect();
    let mut shared = Vec::new();
    for global in symbols(&versions).into_iter().filter(|global| !global.is_declaration()) {
        let name = name_of(global);
        if kernels.contains(&name) || !known.contains(&name) {
            continue;
        }
        if is_private(global) {
            // Shared memory of a file may have a name that others can see.
            if global.get_linkage() != Linkage::Private {
                global.set_linkage(Linkage::Internal);
            }
            continue;
        }
        // The linker takes the other module's for one that is there for inlining alone.
        llvm::clear_comdat(global);
        global.set_linkage(Linkage::AvailableExternally);
        shared.push(name);
    }
    let mut internal = Vec::new();
    for name in shared {
        if let Some(global) = lookup(original, &name).filter(|global| global.get_linkage() == Linkage::Internal) {
            global.set_linkage(Linkage::External);
            internal.push(global);
        }
    }
    original.link_in_module(versions).map_err(|e| Error::internal("adding versions of kernels", e.to_string()))?;
    for global in internal {
        global.set_linkage(Linkage::Internal);
    }
    Ok(())
}

/// What each module has for itself: strings and the like, and shared memory.
fn is_private(global: GlobalValue<'_>) -> bool {
    let space = global.as_pointer_value().get_type().get_address_space();
    global.get_linkage() == Linkage::Private || space == AddressSpace::from(SHARED)
}

fn symbols<'ctx>(module: &Module<'ctx>) -> Vec<GlobalValue<'ctx>> {
    module.get_functions().map(|function| function.as_global_value()).chain(module.get_globals()).collect()
}

fn lookup<'ctx>(module: &Module<'ctx>, name: &str) -> Option<GlobalValue<'ctx>> {
    module.get_function(name).map(|function| function.as_global_value()).or_else(|| module.get_global(name))
}

fn name_of(global: GlobalValue<'_>) -> String {
    global.get_name().to_string_lossy().into_owned()
}
