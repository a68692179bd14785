//! The device library of the CPU target: what NVVM intrinsics, libdevice and inline PTX call, as LLVM bitcode for the host.
//!
//! Built from `device-lib/*.c` by `build.rs`. Naming: `llvm.nvvm.a.b.c` is `__regrain_llvm_nvvm_a_b_c`, libdevice
//! functions keep their names, a device symbol `s` is `__regrain_dev_s`, a PTX instruction is `__regrain_ptx_*`.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

use crate::Error;

/// The bitcode of the device library, for the host's triple, free of `target-cpu` and `target-features`.
pub fn device_library() -> &'static [u8] {
    include_bytes!(concat!(env!("OUT_DIR"), "/device_library.bc"))
}

/// The library's function for an LLVM intrinsic that returns a scalar or nothing.
pub fn intrinsic_symbol(intrinsic: &str) -> String {
    format!("__regrain_{}", intrinsic.replace('.', "_"))
}

/// The library's function for an LLVM intrinsic that returns a struct: the address of the result comes first.
pub fn struct_intrinsic_symbol(intrinsic: &str) -> String {
    format!("{}_out", intrinsic_symbol(intrinsic))
}

/// The library as a module of `context`.
pub fn load(context: &Context) -> Result<Module<'_>, Error> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(device_library(), "device_library");
    Module::parse_bitcode_from_buffer(&buffer, context)
        .map_err(|e| Error::internal("reading the device library", e.to_string()))
}

/// Links what `module` uses of the library into it: the definitions are `linkonce_odr`, the rest stays away.
pub(super) fn link<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<(), Error> {
    let library = load(context)?;
    library.set_triple(&module.get_triple());
    library.set_data_layout(&module.get_data_layout());
    module.link_in_module(library).map_err(|e| Error::internal("linking the device library", e.to_string()))
}

#[cfg(test)]
#[path = "device_library_tests.rs"]
mod tests;
