//! The device library of the CPU target: what NVVM intrinsics, libdevice and inline PTX call, as LLVM bitcode for the host.
//!
//! Built from `device-lib/*.c` by `build.rs`. Naming: `llvm.nvvm.a.b.c` is `__regrain_llvm_nvvm_a_b_c`, libdevice
//! functions keep their names, a device symbol `s` is `__regrain_dev_s`, a PTX instruction is `__regrain_ptx_*`.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue};
use mlir_bridge::llvm;

use crate::{Error, Unsupported};

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

/// Fails when code that is left after optimisation calls what nobody has: an intrinsic or libdevice function that the library lacks,
/// CUDA's runtime for device code, or, in a whole program, a device function without a body. The linker's words would name neither
/// the kernel nor the line.
pub(super) fn reject_missing(module: &Module<'_>, relocatable: bool) -> Result<(), Error> {
    let missing = |call: &InstructionValue<'_>| {
        let callee = llvm::callee(*call).filter(|f| f.get_first_basic_block().is_none())?;
        lack(&callee.get_name().to_string_lossy(), relocatable)
    };
    let blocks = module.get_functions().flat_map(FunctionValue::get_basic_block_iter);
    let mut instructions = blocks.flat_map(|block| block.get_instructions().collect::<Vec<_>>());
    let found = instructions.find_map(|call| match call.get_opcode() {
        InstructionOpcode::Call => missing(&call).map(|what| (call, what)),
        _ => None,
    });
    let Some((call, what)) = found else { return Ok(()) };
    let function = call.get_parent().and_then(|block| block.get_parent());
    let function = function.map_or(String::new(), |f| f.get_name().to_string_lossy().into_owned());
    Err(Error::Unsupported(Unsupported {
        function: function.trim_start_matches(super::DEVICE_PREFIX).to_owned(),
        // The line of the function that the call was inlined into: what calls the runtime are functions of CUDA's headers.
        location: llvm::source_frames(call).pop(),
        what,
    }))
}

/// What it means that `callee`, which has no body, is called, if another translation unit cannot have it.
fn lack(callee: &str, relocatable: bool) -> Option<String> {
    if callee.starts_with("__regrain_llvm_") || callee.starts_with("__nv_") {
        let name = callee.trim_start_matches("__regrain_").trim_end_matches("_out");
        return Some(format!("the CPU target has no '{name}'"));
    }
    let name = callee.strip_prefix(super::DEVICE_PREFIX)?;
    // The second name is that of CUDA 12's headers.
    let runtime = name.strip_prefix("__cudaCDP2").or_else(|| name.strip_prefix("cuda"));
    if let Some(function) = runtime.filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase())) {
        let launches = ["LaunchDevice", "GetParameterBuffer"].iter().any(|launch| function.starts_with(launch));
        return Some(match launches {
            true => "a kernel is launched by device code, which the CPU target does not support".into(),
            false => format!("the CPU target has no 'cuda{function}' for device code"),
        });
    }
    // ptxas would say so of whole programs; their device code is linked with nothing else.
    (!relocatable).then(|| format!("unresolved device function '{name}' (another file's? that needs -fgpu-rdc)"))
}

#[cfg(test)]
#[path = "device_library_tests.rs"]
mod tests;
