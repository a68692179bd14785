//! One kernel of a device module with what it reaches, to be compiled by itself.

use mlir_bridge::llvm;

use crate::Error;

/// A module with kernel `name` of `bitcode`, the functions that it calls and all variables; as bitcode.
pub fn extract(bitcode: &[u8], name: &str) -> Result<Vec<u8>, Error> {
    llvm::extract_kernel(bitcode, name)
        .map_err(|message| Error::internal(format!("taking kernel '{name}' out of its module"), message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;
    use inkwell::module::{Linkage, Module};

    const MODULE: &str = r#"
target triple = "nvptx64-nvidia-cuda"
@v = externally_initialized global i32 0
@s = internal addrspace(3) global i32 undef
@table = global [1 x ptr] [ptr @through_table]
@llvm.used = appending global [2 x ptr] [ptr @k, ptr @other], section "llvm.metadata"
$other = comdat any
define ptx_kernel void @k(ptr %p) { %r = call i32 @f() store i32 %r, ptr %p ret void }
define weak_odr ptx_kernel void @other(ptr %p) comdat { store i32 1, ptr addrspace(3) @s call void @declared() ret void }
define i32 @f() { %v = load i32, ptr @v %d = call i32 @deep() %r = add i32 %v, %d ret i32 %r }
define linkonce_odr hidden i32 @deep() { ret i32 2 }
define i32 @g() { ret i32 1 }
define i32 @through_table() { ret i32 3 }
declare void @declared()
"#;

    fn bitcode(text: &str) -> Vec<u8> {
        let context = Context::create();
        let text = MemoryBuffer::create_from_memory_range_copy(&[text.as_bytes(), b"\0"].concat(), "m");
        let module = context.create_module_from_ir(text).expect("valid IR");
        module.write_bitcode_to_memory().as_slice().to_vec()
    }

    #[test]
    fn keeps_what_a_kernel_reaches() {
        let made = extract(&bitcode(MODULE), "k").expect("extracted");
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(&made, "k");
        let module = Module::parse_bitcode_from_buffer(&buffer, &context).expect("bitcode");
        module.verify().expect("a valid module");
        let bodies = module.get_functions().filter(|f| f.get_first_basic_block().is_some());
        let names: Vec<String> = bodies.map(|f| f.get_name().to_string_lossy().into_owned()).collect();
        assert_eq!(names, ["k", "f", "deep", "through_table"]);
        assert_eq!(module.get_functions().count(), names.len(), "no declarations are left");
        assert!(module.get_global("v").is_some() && module.get_global("s").is_none());
        let linkage = |name: &str| module.get_function(name).map(|function| function.get_linkage());
        assert_eq!((linkage("k"), linkage("deep")), (Some(Linkage::External), Some(Linkage::Internal)));
    }

    #[test]
    fn other_kernels_make_no_difference() {
        let changed = MODULE.replace("store i32 1, ptr addrspace(3) @s", "store i32 7, ptr addrspace(3) @s");
        assert_ne!(changed, MODULE);
        let (original, changed) = (bitcode(MODULE), bitcode(&changed));
        let of = |bitcode: &[u8], name: &str| extract(bitcode, name).expect("extracted");
        assert_eq!(of(&original, "k"), of(&changed, "k"));
        assert_ne!(of(&original, "other"), of(&changed, "other"));
    }

    #[test]
    fn what_is_not_defined_is_an_error() {
        for name in ["missing", "declared"] {
            let error = extract(&bitcode(MODULE), name).expect_err("an error").to_string();
            assert!(error.contains("it is not defined there"), "{error}");
        }
        assert!(extract(&bitcode(MODULE)[..40], "k").is_err());
    }
}
