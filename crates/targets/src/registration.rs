//! clang's registration code in a host module: which device image it hands to the runtime.
//!
//! clang compiled the host side against an empty file, and the real thing is put in place here:
//!
//! ```text
//! before  @1 = private constant [1 x i8] c"x", section ".nv_fatbin"
//!         @__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 0x466243b1, i32 1, ptr @1, ptr null }
//! after   @__cuda_fatbin_wrapper = ... { i32 0x466243b1, i32 1, ptr @image, ptr null }
//! ```
//!
//! All else of that code stays, so a program registers itself as any CUDA program does. A module without a wrapper (no
//! kernels, no device variables) is left alone.

use inkwell::GlobalVisibility;
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicValueEnum, GlobalValue, PointerValue};
use mlir_bridge::llvm;

use crate::Error;

const WRAPPER: &str = "__cuda_fatbin_wrapper";

/// Whether the unit registers anything: a source without kernels or device variables does not.
pub fn registers_device_code(host: &Module<'_>) -> bool {
    wrapper(host).is_some()
}

/// Lets the registration code refer to the external symbol `image`, which is part of the same executable or library.
pub fn refer_to_image(host: &Module<'_>, image: &str) -> Result<bool, Error> {
    if !registers_device_code(host) {
        return Ok(false);
    }
    register_early(host);
    set_image(host, external(host, image).as_pointer_value())
}

/// Says what `__CUDA_ARCH__` the source saw, for the properties of devices that are none of NVIDIA's. All units of a program say it.
pub fn say_cuda_arch(host: &Module<'_>, value: u32) {
    let number = host.get_context().i32_type();
    let global = host.add_global(number, None, "__regrain_cuda_arch");
    global.set_initializer(&number.const_int(value.into(), false));
    global.set_constant(true);
    global.set_linkage(Linkage::WeakODR);
}

/// Just before the priority of constructors that state none.
const EARLY: u32 = 65534;

/// Registers with our runtime before C++'s static objects are made, which may launch kernels: clang puts its constructor behind
/// theirs.
pub(crate) fn register_early(host: &Module<'_>) {
    if let Some(constructor) = host.get_function("__cuda_module_ctor") {
        llvm::set_constructor_priority(host, constructor, EARLY);
    }
}

/// The symbol `name` of another object of the same executable or library.
pub(crate) fn external<'ctx>(host: &Module<'ctx>, name: &str) -> GlobalValue<'ctx> {
    let symbol = host.add_global(host.get_context().i8_type(), None, name);
    symbol.set_linkage(Linkage::External);
    symbol.set_visibility(GlobalVisibility::Hidden);
    symbol
}

/// Lets the registration code refer to `image`; says whether the module has a place for it.
pub(crate) fn set_image<'ctx>(host: &Module<'ctx>, image: PointerValue<'ctx>) -> Result<bool, Error> {
    let Some(wrapper) = wrapper(host) else { return Ok(false) };
    let unexpected = |what: &str| Error::internal("embedding device images", format!("expected {what} in {WRAPPER}"));
    let Some(BasicValueEnum::StructValue(fields)) = wrapper.get_initializer() else {
        return Err(unexpected("a struct"));
    };
    let field = |index| fields.get_field_at_index(index).ok_or_else(|| unexpected("four fields"));
    let BasicValueEnum::PointerValue(placeholder) = field(2)? else { return Err(unexpected("a pointer")) };
    let new = host.get_context().const_struct(&[field(0)?, field(1)?, image.into(), field(3)?], false);
    wrapper.set_initializer(&new);
    // The placeholder must not stand among the images: readers of the section walk it from image to image.
    if let Some(old) = host.get_globals().find(|global| global.as_pointer_value() == placeholder) {
        old.set_section(None);
    }
    Ok(true)
}

fn wrapper<'ctx>(host: &Module<'ctx>) -> Option<GlobalValue<'ctx>> {
    host.get_globals().find(|global| global.get_name().to_bytes().starts_with(WRAPPER.as_bytes()))
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
        let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{text}\0").as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("IR that parses");
        assert!(refer_to_image(&module, "image").expect("referred to"));
        module.verify().expect("valid IR");
        let text = module.print_to_string().to_string();
        assert!(text.contains("{ i32 65534, ptr @__cuda_module_ctor, ptr null }"), "{text}");
        assert!(text.contains("{ i32 65535, ptr @objects, ptr null }"), "{text}");
        assert!(text.contains("i32 1, ptr @image, ptr null"), "{text}");
    }
}
