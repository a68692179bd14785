//! Putting a fat binary into the host module that clang made with `-fcuda-include-gpubinary <placeholder>`.
//!
//! ```text
//! before  @1 = private constant [1 x i8] c"x", section ".nv_fatbin"
//!         @__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 0x466243b1, i32 1, ptr @1, ptr null }
//! after   @__regrain_fatbin = private constant [N x i8] c"P\EDU\BA...", section ".nv_fatbin", align 8
//!         @__cuda_fatbin_wrapper = ... { i32 0x466243b1, i32 1, ptr @__regrain_fatbin, ptr null }
//! ```
//!
//! All else of clang's registration code stays, so the program registers itself with NVIDIA's runtime as any CUDA
//! program does. A module without a wrapper (no kernels, no device variables) is left alone.

use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicValueEnum, UnnamedAddress};

use crate::Error;

const WRAPPER: &str = "__cuda_fatbin_wrapper";
const IMAGE: &str = "__regrain_fatbin";
const IMAGE_SECTION: &str = ".nv_fatbin";

/// Embeds `fat_binary`; says whether the module has a place for it.
pub fn embed(host: &Module<'_>, fat_binary: &[u8]) -> Result<bool, Error> {
    let Some(wrapper) = host.get_global(WRAPPER) else { return Ok(false) };
    let unexpected = |what: &str| Error::internal("embedding the fat binary", format!("expected {what} in {WRAPPER}"));
    let Some(BasicValueEnum::StructValue(fields)) = wrapper.get_initializer() else {
        return Err(unexpected("a struct"));
    };
    let field = |index| fields.get_field_at_index(index).ok_or_else(|| unexpected("four fields"));
    let (magic, version, data, rest) = (field(0)?, field(1)?, field(2)?, field(3)?);
    let BasicValueEnum::PointerValue(placeholder) = data else { return Err(unexpected("a pointer")) };

    let context = host.get_context();
    let bytes = context.const_string(fat_binary, false);
    let image = host.add_global(bytes.get_type(), None, IMAGE);
    image.set_initializer(&bytes);
    image.set_constant(true);
    image.set_linkage(Linkage::Private);
    image.set_unnamed_address(UnnamedAddress::None);
    image.set_section(Some(IMAGE_SECTION));
    image.set_alignment(8);
    let new = context.const_struct(&[magic, version, image.as_pointer_value().into(), rest], false);
    wrapper.set_initializer(&new);

    // The placeholder must not stand among the images: readers of the section walk it from image to image.
    let section_of = |global: &inkwell::values::GlobalValue<'_>| global.as_pointer_value() == placeholder;
    if let Some(old) = host.get_globals().find(section_of) {
        old.set_section(None);
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    const HOST: &str = r#"
@0 = private constant [1 x i8] c"x", section ".nv_fatbin", align 8
@__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 1180844977, i32 1, ptr @0, ptr null }, section ".nvFatBinSegment", align 8
@user = global ptr @__cuda_fatbin_wrapper
"#;

    fn parse<'c>(context: &'c Context, text: &str) -> Module<'c> {
        let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{text}\0").as_bytes(), "host");
        context.create_module_from_ir(buffer).unwrap()
    }

    #[test]
    fn the_wrapper_points_to_the_image() {
        let context = Context::create();
        let module = parse(&context, HOST);
        assert!(embed(&module, b"P\xedU\xbaimage").unwrap());
        module.verify().unwrap();
        let text = module.print_to_string().to_string();
        let image =
            "@__regrain_fatbin = private constant [9 x i8] c\"P\\EDU\\BAimage\", section \".nv_fatbin\", align 8";
        assert!(text.contains(image), "{text}");
        assert!(text.contains("{ i32 1180844977, i32 1, ptr @__regrain_fatbin, ptr null }"), "{text}");
        assert_eq!(text.matches("section \".nv_fatbin\"").count(), 1, "{text}");
    }

    #[test]
    fn do_not_touch_a_module_without_device_code() {
        let context = Context::create();
        let module = parse(&context, "@a = global i32 1\n");
        assert!(!embed(&module, b"image").unwrap());
        assert!(module.get_global(IMAGE).is_none());
    }
}
