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
//! the names that the host side registers, for the CPU alone: there no linker sees two units' device code, so they need be no
//! others. Where device code is linked, the names stay, what refers to the plain ones comes to them, and the host registers them:
//! ```text
//! @_ZL1x__static__e325bd1abb4d18c8 = addrspace(1) externally_initialized global i32 3
//! define ptx_kernel void @_ZL1kPi__intern__e325bd1abb4d18c8(...) { ... load @_ZL1x__static__e325bd1abb4d18c8 ... }
//! ```

use std::collections::HashMap;

use inkwell::attributes::AttributeLoc;
use inkwell::module::{Linkage, Module};
use inkwell::values::{FunctionValue, GlobalValue};
use mlir_bridge::llvm;

/// The attribute of a kernel that other units do not see. It is no linkage: passes would delete a kernel that nobody calls.
pub const PRIVATE: &str = "regrain-private";

/// Gives private kernels and variables of the device module of the unit `id`
/// ([`TranslationUnit::id`](crate::TranslationUnit::id)) the names that they have
/// without relocatable device code.
pub fn restore(device: &Module<'_>, id: &str) {
    let private = device.get_context().create_string_attribute(PRIVATE, "");
    for (variable, plain) in variables(device, id) {
        variable.set_name(&plain);
        variable.set_linkage(Linkage::Internal);
    }
    for (function, plain) in kernels(device, id) {
        function.as_global_value().set_name(&plain);
        function.add_attribute(AttributeLoc::Function, private);
    }
}

/// Leaves private kernels and variables of the device module of the unit `id` their own names, by which other units' do not
/// collide. Gives them by their plain names.
pub fn keep_apart(device: &Module<'_>, id: &str) -> HashMap<String, String> {
    let own = |global: GlobalValue<'_>| global.get_name().to_string_lossy().into_owned();
    let variables = variables(device, id).into_iter().map(|(variable, plain)| (plain, own(variable)));
    let kernels = kernels(device, id).into_iter().map(|(kernel, plain)| (plain, own(kernel.as_global_value())));
    variables.chain(kernels).collect()
}

/// The name that what is private to the unit `id` has without relocatable device code; `None` for all else.
pub fn plain_name(name: &str, id: &str) -> Option<String> {
    let marks = ["__static__", "__intern__"].map(|kind| format!("{kind}{}", clang_mark(id)));
    marks.iter().find_map(|mark| name.strip_suffix(mark)).map(str::to_owned)
}

/// The private variables that a module defines, with their plain names, by which nothing calls them any more.
fn variables<'ctx>(device: &Module<'ctx>, id: &str) -> Vec<(GlobalValue<'ctx>, String)> {
    let mark = format!("__static__{}", clang_mark(id));
    let mut found = Vec::new();
    for variable in device.get_globals().filter(|global| !global.is_declaration()).collect::<Vec<_>>() {
        let name = variable.get_name().to_string_lossy().into_owned();
        let Some(plain) = name.strip_suffix(&mark) else { continue };
        if let Some(declared) = device.get_global(plain).filter(|other| other.is_declaration()) {
            llvm::replace_global(declared, variable.as_pointer_value());
        }
        llvm::clear_comdat(variable);
        variable.set_linkage(Linkage::External);
        found.push((variable, plain.to_owned()));
    }
    found
}

/// The private kernels, likewise.
fn kernels<'ctx>(device: &Module<'ctx>, id: &str) -> Vec<(FunctionValue<'ctx>, String)> {
    let mark = format!("__intern__{}", clang_mark(id));
    let mut found = Vec::new();
    for function in device.get_functions().filter(|f| f.get_first_basic_block().is_some()).collect::<Vec<_>>() {
        let name = function.get_name().to_string_lossy().into_owned();
        let Some(plain) = name.strip_suffix(&mark) else { continue };
        if let Some(declared) = device.get_function(plain).filter(|f| f.get_first_basic_block().is_none()) {
            llvm::replace_function(declared, function);
        }
        llvm::clear_comdat(function.as_global_value());
        function.set_linkage(Linkage::External);
        found.push((function, plain.to_owned()));
    }
    found
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
    const UNIT: &str = "0123456789abcdf1";
    const DEVICE: &str = r#"
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

    fn parse(context: &Context) -> Module<'_> {
        let buffer = MemoryBuffer::create_from_memory_range_copy(DEVICE.as_bytes(), "test");
        context.create_module_from_ir(buffer).expect("IR that parses")
    }

    #[test]
    fn private_symbols_have_their_plain_names() {
        let context = Context::create();
        let module = parse(&context);
        restore(&module, UNIT);
        module.verify().expect("valid IR");
        let text = module.to_string();
        assert!(text.contains("@_ZL1x = internal addrspace(1) externally_initialized global i32 3"), "{text}");
        assert!(text.contains("define ptx_kernel void @_ZL1kPi(ptr %p) #0 {"), "{text}");
        assert!(text.contains("load i32, ptr addrspace(1) @_ZL1x,"), "{text}");
        assert!(text.contains("@a__static__be = addrspace(1) global i32 4"), "a name that is the program's own stays");
        assert!(text.contains("attributes #0 = { \"regrain-private\" }"), "{text}");
    }

    #[test]
    fn private_symbols_stay_apart_where_they_are_linked() {
        let context = Context::create();
        let module = parse(&context);
        let names = keep_apart(&module, UNIT);
        module.verify().expect("valid IR");
        assert_eq!(names["_ZL1kPi"], "_ZL1kPi__intern__aeb10c18ed86af0");
        assert_eq!(names["_ZL1x"], "_ZL1x__static__aeb10c18ed86af0");
        let text = module.to_string();
        assert!(text.contains("define ptx_kernel void @_ZL1kPi__intern__aeb10c18ed86af0(ptr %p) {"), "{text}");
        assert!(text.contains("load i32, ptr addrspace(1) @_ZL1x__static__aeb10c18ed86af0,"), "{text}");
        assert_eq!(names.len(), 2);
    }
}
