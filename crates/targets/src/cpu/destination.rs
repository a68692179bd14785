//! The CPU as a place that NVVM device IR is brought to.
//!
//! On x86-64 and AArch64 all of NVVM's address spaces are the one flat space, and casts between them cost nothing. A worker
//! thread runs one block at a time, so block-shared memory is thread-local.

use std::rc::Rc;

use inkwell::GlobalVisibility;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetMachine;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{GlobalValue, PointerValue};
use mlir_bridge::llvm;

use super::codegen;
use super::symbols::{DEVICE_PREFIX, STATIC_SHARED};
use crate::Error;
use crate::from_nvvm::{Destination, DeviceLibrary};
use crate::target::BlockOptions;

/// The target in messages.
pub(super) const IN_WORDS: &str = "the CPU target";
/// The thread-local array of the runtime that holds a block's dynamic shared memory.
const DYNAMIC_SHARED: &str = "__regrain_dynamic_shared";
/// The runtime's way to end a kernel with an error; the host's own trap would end the process.
const TRAP: &str = "__regrain_trap";

static LIBRARY: DeviceLibrary = DeviceLibrary::new(
    include_bytes!(concat!(env!("OUT_DIR"), "/cpu_library.bc")),
    &[TRAP, "__regrain_exit_thread", "__regrain_spin_hint"],
    include!(concat!(env!("OUT_DIR"), "/vector_bitcode.rs")),
);

/// The CPU's device library, built from `device-lib/{common,cpu}/*.c` by `build.rs` for the host's triple. A device symbol `s` is
/// `__regrain_dev_s` in it.
pub fn device_library() -> &'static DeviceLibrary {
    &LIBRARY
}

impl Destination for BlockOptions {
    fn name(&self) -> &str {
        IN_WORDS
    }

    fn cuda_arch(&self) -> u32 {
        self.cuda_arch
    }

    fn machine(&self) -> Result<Rc<TargetMachine>, Error> {
        codegen::machine(self)
    }

    fn library(&self) -> &DeviceLibrary {
        device_library()
    }

    fn is_relocatable(&self) -> bool {
        self.relocatable
    }

    fn kernel_convention(&self) -> u32 {
        0
    }

    /// A CUDA thread is a thread of its own here: synchronising calls are opaque, nothing else is convergent.
    fn keeps_convergent(&self) -> bool {
        false
    }

    /// Contraction by the code generator would be decided by the shape of the code around an operation; every form of a kernel must give
    /// the same bits. Expressions were contracted before.
    fn forbids_contraction(&self) -> bool {
        true
    }

    fn place_shared<'ctx>(&self, module: &Module<'ctx>, variable: GlobalValue<'ctx>) -> Option<PointerValue<'ctx>> {
        let replacement = if variable.is_declaration() {
            // Outlined kernels call theirs as the runtime does.
            variable.set_name("");
            dynamic_shared(module)
        } else {
            static_shared(module, variable, &self.unit)
        };
        Some(replacement.as_pointer_value())
    }

    fn trap(&self) -> Option<&str> {
        Some(TRAP)
    }

    fn program_name<'n>(&self, symbol: &'n str) -> Option<&'n str> {
        symbol.strip_prefix(DEVICE_PREFIX)
    }
}

fn dynamic_shared<'ctx>(module: &Module<'ctx>) -> GlobalValue<'ctx> {
    if let Some(global) = module.get_global(DYNAMIC_SHARED) {
        return global;
    }
    let bytes = module.get_context().i8_type().array_type(0);
    let global = module.add_global(bytes, None, DYNAMIC_SHARED);
    global.set_thread_local(true);
    global.set_alignment(16);
    global
}

/// The linkage is external so that no optimisation takes the variable for one thread's own: a barrier, which the
/// optimiser sees as an unknown call, changes it.
fn static_shared<'ctx>(module: &Module<'ctx>, old: GlobalValue<'ctx>, unit: &str) -> GlobalValue<'ctx> {
    let name = old.get_name().to_string_lossy().into_owned();
    let value_type = BasicTypeEnum::try_from(old.get_value_type()).expect("a global variable has a first-class type");
    let new = module.add_global(value_type, None, &format!("{STATIC_SHARED}{unit}.{name}"));
    new.set_initializer(&value_type.const_zero());
    new.set_thread_local(true);
    new.set_linkage(Linkage::External);
    new.set_visibility(GlobalVisibility::Hidden);
    new.set_alignment(old.get_alignment().max(16));
    llvm::copy_variable_info(new, old);
    new
}

#[cfg(test)]
#[path = "library_tests.rs"]
mod tests;
