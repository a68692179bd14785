//! The host module: what the device side needs of it.
//!
//! Its registration code is the targets' matter (`regrain_targets::registration`).

use inkwell::module::{Linkage, Module};

use crate::launches::{callee_name, calls, pointer, string};

/// With relocatable device code a device variable's shadow is one object for the whole program, as the variable is:
/// `extern __device__` in another unit refers to it. `names` are the variables that this unit's device side defines for
/// others to see.
pub fn export_shadows(module: &Module<'_>, names: &[String]) {
    let shadows = names.iter().filter_map(|name| module.get_global(name));
    for shadow in shadows.filter(|global| global.get_linkage() == Linkage::Internal) {
        shadow.set_linkage(Linkage::External);
    }
}

/// Lets the registration code call kernels and variables by other names, where there is one: the device's own for what is private
/// to the unit ([`private_names::keep_apart`](crate::private_names::keep_apart)), or the plain ones of that.
pub fn register_as(module: &Module<'_>, other: impl Fn(&str) -> Option<String>) {
    let Some(register) = module.get_function("__cuda_register_globals") else { return };
    let registers = |name: &str| name.starts_with("__cudaRegister");
    for call in calls(register).filter(|call| callee_name(*call).is_some_and(|name| registers(&name))) {
        let registered = pointer(call, 2).and_then(|text| string(module, text));
        let Some(name) = registered.and_then(|plain| other(&plain)) else { continue };
        let text = module.get_context().const_string(name.as_bytes(), true);
        let global = module.add_global(text.get_type(), None, "");
        global.set_initializer(&text);
        global.set_constant(true);
        global.set_linkage(Linkage::Private);
        for operand in [2, 3] {
            call.set_operand(operand, global.as_pointer_value());
        }
    }
}

#[cfg(test)]
mod tests {
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;

    #[test]
    fn what_is_private_is_registered_by_its_own_name() {
        let text = r#"
@0 = private constant [8 x i8] c"_ZL1kPi\00"
@1 = private constant [6 x i8] c"_Z1tv\00"
@_ZL1x = internal global i32 undef
declare i32 @__cudaRegisterFunction(ptr, ptr, ptr, ptr, i32, ptr, ptr, ptr, ptr, ptr)
define internal void @__cuda_register_globals(ptr %0) {
  %2 = call i32 @__cudaRegisterFunction(ptr %0, ptr null, ptr @0, ptr @0, i32 -1, ptr null, ptr null, ptr null, ptr null, ptr null)
  %3 = call i32 @__cudaRegisterFunction(ptr %0, ptr null, ptr @1, ptr @1, i32 -1, ptr null, ptr null, ptr null, ptr null, ptr null)
  ret void
}
"#;
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{text}\0").as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("IR that parses");
        register_as(&module, |name| (name == "_ZL1kPi").then(|| "_ZL1kPi__intern__ab".into()));
        module.verify().expect("valid IR");
        let text = module.to_string();
        assert!(text.contains(r#"@2 = private constant [20 x i8] c"_ZL1kPi__intern__ab\00""#), "{text}");
        assert!(text.contains("ptr null, ptr @2, ptr @2, i32 -1"), "{text}");
        assert!(text.contains("ptr null, ptr @1, ptr @1, i32 -1"), "{text}");
    }
}
