//! One kernel of a device module with what it reaches, to be compiled by itself.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;
use inkwell::values::FunctionValue;
use mlir_bridge::llvm;

use crate::Error;

/// A module with kernel `name` of `bitcode`, the functions that it calls and all variables; as bitcode. `machine` is one for
/// the module's chip.
pub fn extract(bitcode: &[u8], name: &str, machine: &TargetMachine) -> Result<Vec<u8>, Error> {
    let failed = |message: String| Error::internal(format!("taking kernel '{name}' out of its module"), message);
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "device");
    let module = Module::parse_bitcode_from_buffer(&buffer, &context).map_err(|error| failed(error.to_string()))?;
    reduce(&module, name);
    module.run_passes("globaldce", machine, PassBuilderOptions::create()).map_err(|error| failed(error.to_string()))?;
    Ok(module.write_bitcode_to_memory().as_slice().to_vec())
}

/// Makes everything but one kernel removable. Variables stay what they are to the outside: so does what may be assumed of them.
fn reduce(module: &Module<'_>, name: &str) {
    for list in ["llvm.used", "llvm.compiler.used"] {
        if let Some(global) = module.get_global(list) {
            llvm::remove_list(global);
        }
    }
    let is_other = |f: &FunctionValue<'_>| f.get_first_basic_block().is_some() && f.get_name().to_bytes() != name.as_bytes();
    for function in module.get_functions().filter(is_other) {
        llvm::clear_comdat(function.as_global_value());
        function.set_linkage(Linkage::Internal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetTriple};
    use inkwell::OptimizationLevel;

    const MODULE: &str = r#"
target triple = "nvptx64-nvidia-cuda"
@v = externally_initialized global i32 0
@s = internal addrspace(3) global i32 undef
@llvm.used = appending global [2 x ptr] [ptr @k, ptr @other], section "llvm.metadata"
define ptx_kernel void @k(ptr %p) { %r = call i32 @f() store i32 %r, ptr %p ret void }
define weak_odr ptx_kernel void @other(ptr %p) { store i32 1, ptr addrspace(3) @s ret void }
define i32 @f() { %v = load i32, ptr @v ret i32 %v }
define i32 @g() { ret i32 1 }
"#;

    #[test]
    fn keeps_what_a_kernel_reaches() {
        Target::initialize_nvptx(&InitializationConfig::default());
        let triple = TargetTriple::create("nvptx64-nvidia-cuda");
        let target = Target::from_triple(&triple).expect("the NVPTX target");
        let machine = target
            .create_target_machine(&triple, "sm_80", "", OptimizationLevel::Aggressive, RelocMode::Default, CodeModel::Default)
            .expect("a machine");
        let context = Context::create();
        let text = MemoryBuffer::create_from_memory_range_copy(&[MODULE.as_bytes(), b"\0"].concat(), "m");
        let module = context.create_module_from_ir(text).expect("valid IR");
        let bitcode = extract(module.write_bitcode_to_memory().as_slice(), "k", &machine).expect("extracted");
        let buffer = MemoryBuffer::create_from_memory_range_copy(&bitcode, "k");
        let made = Module::parse_bitcode_from_buffer(&buffer, &context).expect("bitcode");
        let names: Vec<String> = made.get_functions().map(|f| f.get_name().to_string_lossy().into_owned()).collect();
        assert_eq!(names, ["k", "f"]);
        assert!(made.get_global("v").is_some() && made.get_global("s").is_none());
    }
}
