//! The host module: its registration code.
//!
//! clang's code registers the device binary that was named when the host side was compiled. We compile the host side
//! first, against an empty file, and put the real thing in place here:
//!
//! ```text
//! @__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 1180844977, i32 1, ptr @0, ptr null }
//! ```
//! becomes the same with `ptr @image` for a symbol of another object. (The NVIDIA target embeds a fat binary instead.)

use inkwell::AddressSpace;
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicValue, BasicValueEnum, PointerValue, StructValue};
use inkwell::{GlobalVisibility, values::GlobalValue};
use mlir_bridge::llvm;

/// Just before the priority of constructors that state none.
const EARLY: u32 = 65534;

/// Whether the unit registers anything: a source without kernels or device variables does not.
pub fn registers_device_code(module: &Module<'_>) -> bool {
    wrapper(module).is_some()
}

/// Lets the registration code refer to the external symbol `image`, which is part of the same executable or library.
pub fn refer_to_image(module: &Module<'_>, image: &str) {
    let Some(wrapper) = wrapper(module) else { return };
    let symbol = module.add_global(module.get_context().i8_type(), None, image);
    symbol.set_linkage(Linkage::External);
    symbol.set_visibility(GlobalVisibility::Hidden);
    set_data(module, wrapper, symbol.as_pointer_value());
    register_early(module);
}

/// Registers before C++'s static objects are made, which may launch kernels: clang puts its constructor behind theirs.
fn register_early(module: &Module<'_>) {
    if let Some(constructor) = module.get_function("__cuda_module_ctor") {
        llvm::set_constructor_priority(module, constructor, EARLY);
    }
}

/// With relocatable device code a device variable's shadow is one object for the whole program, as the variable is:
/// `extern __device__` in another unit refers to it. `names` are the variables that this unit's device side defines for
/// others to see.
pub fn export_shadows(module: &Module<'_>, names: &[String]) {
    let shadows = names.iter().filter_map(|name| module.get_global(name));
    for shadow in shadows.filter(|global| global.get_linkage() == Linkage::Internal) {
        shadow.set_linkage(Linkage::External);
    }
}

fn wrapper<'ctx>(module: &Module<'ctx>) -> Option<GlobalValue<'ctx>> {
    module.get_globals().find(|g| g.get_name().to_bytes().starts_with(b"__cuda_fatbin_wrapper"))
}

fn set_data<'ctx>(module: &Module<'ctx>, wrapper: GlobalValue<'ctx>, data: PointerValue<'ctx>) {
    let old: StructValue<'ctx> = match wrapper.get_initializer() {
        Some(BasicValueEnum::StructValue(value)) => value,
        _ => return,
    };
    let context = module.get_context();
    let null = context.ptr_type(AddressSpace::default()).const_null();
    let field = |i: u32| old.get_field_at_index(i).unwrap_or_else(|| null.as_basic_value_enum());
    let fields = [field(0), field(1), data.as_basic_value_enum(), field(3)];
    wrapper.set_initializer(&context.const_struct(&fields, false));
}

#[cfg(test)]
mod tests {
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;

    #[test]
    fn registration_comes_before_static_objects() {
        let text = r#"
@__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 1180844977, i32 1, ptr null, ptr null }
@llvm.global_ctors = appending global [2 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @objects, ptr null }, { i32, ptr, ptr } { i32 65535, ptr @__cuda_module_ctor, ptr null }]
define internal void @objects() { ret void }
define internal void @__cuda_module_ctor() { ret void }
"#;
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("IR that parses");
        refer_to_image(&module, "image");
        module.verify().expect("valid IR");
        let text = module.to_string();
        assert!(text.contains("{ i32 65534, ptr @__cuda_module_ctor, ptr null }"), "{text}");
        assert!(text.contains("{ i32 65535, ptr @objects, ptr null }"), "{text}");
        assert!(text.contains("i32 1, ptr @image, ptr null"), "{text}");
    }
}
