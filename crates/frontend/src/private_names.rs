//! The names of what is private to its translation unit, with relocatable device code.
//!
//! The host reaches kernels and device variables that are `static` or stand in an unnamed namespace by name. So that units do not
//! collide in the device linker, clang's device side gives them names of their own with `-fgpu-rdc`:
//!
//! ```text
//! @_ZL1x = external addrspace(1) global i32                                   ; clang names the variable before it knows
//! @_ZL1x__static__e325bd1abb4d18c8 = addrspace(1) externally_initialized global i32 3
//! define weak_odr ptx_kernel void @_ZL1kPi__intern__e325bd1abb4d18c8(...) { ... load @_ZL1x ... }
//! ```
//! becomes
//! ```text
//! @_ZL1x = internal addrspace(1) externally_initialized global i32 3
//! define ptx_kernel void @_ZL1kPi(...) "regrain-private" { ... load @_ZL1x ... }
//! ```
//! the names that the host side registers. Here no linker sees two units' device code, so they need be no others.

use inkwell::attributes::AttributeLoc;
use inkwell::module::{Linkage, Module};
use mlir_bridge::llvm;

/// The attribute of a kernel that other units do not see. It is no linkage: passes would delete a kernel that nobody calls.
pub const PRIVATE: &str = "regrain-private";

/// Gives private kernels and variables of the device module of the unit `id`
/// ([`TranslationUnit::id`](crate::TranslationUnit::id)) the names that they have
/// without relocatable device code.
pub fn restore(device: &Module<'_>, id: &str) {
    let mark = clang_mark(id);
    let (variables, kernels) = (format!("__static__{mark}"), format!("__intern__{mark}"));
    for variable in device.get_globals().filter(|global| !global.is_declaration()).collect::<Vec<_>>() {
        let name = variable.get_name().to_string_lossy().into_owned();
        let Some(plain) = name.strip_suffix(&variables) else { continue };
        if let Some(declared) = device.get_global(plain).filter(|other| other.is_declaration()) {
            llvm::replace_global(declared, variable.as_pointer_value());
        }
        variable.set_name(plain);
        llvm::clear_comdat(variable);
        variable.set_linkage(Linkage::Internal);
    }
    let private = device.get_context().create_string_attribute(PRIVATE, "");
    for function in device.get_functions().filter(|f| f.get_first_basic_block().is_some()).collect::<Vec<_>>() {
        let name = function.get_name().to_string_lossy().into_owned();
        let Some(plain) = name.strip_suffix(&kernels) else { continue };
        if let Some(declared) = device.get_function(plain).filter(|f| f.get_first_basic_block().is_none()) {
            llvm::replace_function(declared, function);
        }
        function.as_global_value().set_name(plain);
        llvm::clear_comdat(function.as_global_value());
        function.set_linkage(Linkage::External);
        function.add_attribute(AttributeLoc::Function, private);
    }
}

/// What clang makes of a unit's identity (`-cuid=`) in names: the low half of its MD5 hash, without leading zeros.
fn clang_mark(id: &str) -> String {
    let [low @ .., _, _, _, _, _, _, _, _] = md5::compute(id).0;
    format!("{:x}", u64::from_le_bytes(low))
}

#[cfg(test)]
mod tests {
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;

    /// The mark of this unit has 15 digits.
    #[test]
    fn private_symbols_have_their_plain_names() {
        let text = r#"
$"_ZL1kPi__intern__aeb10c18ed86af0" = comdat any
@_ZL1x = external addrspace(1) global i32
@_ZL1x__static__aeb10c18ed86af0 = addrspace(1) externally_initialized global i32 3
@a__static__be = addrspace(1) global i32 4
define weak_odr ptx_kernel void @_ZL1kPi__intern__aeb10c18ed86af0(ptr %p) comdat {
  %v = load i32, ptr addrspace(1) @_ZL1x
  store i32 %v, ptr %p
  ret void
}
"#;
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("IR that parses");
        restore(&module, "0123456789abcdf1");
        module.verify().expect("valid IR");
        let text = module.to_string();
        assert!(text.contains("@_ZL1x = internal addrspace(1) externally_initialized global i32 3"), "{text}");
        assert!(text.contains("define ptx_kernel void @_ZL1kPi(ptr %p) #0 {"), "{text}");
        assert!(text.contains("load i32, ptr addrspace(1) @_ZL1x,"), "{text}");
        assert!(text.contains("@a__static__be = addrspace(1) global i32 4"), "a name that is the program's own stays");
        assert!(text.contains("attributes #0 = { \"regrain-private\" }"), "{text}");
    }
}
