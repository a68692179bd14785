//! Putting a fat binary into the host module that clang made with `-fcuda-include-gpubinary <placeholder>`.
//!
//! ```text
//! @__regrain_fatbin = private constant [N x i8] c"P\EDU\BA...", section ".nv_fatbin", align 8
//! ```
//!
//! The program registers it with NVIDIA's runtime as any CUDA program does.

use inkwell::module::{Linkage, Module};
use inkwell::values::UnnamedAddress;

use crate::{Error, registration};

const IMAGE: &str = "__regrain_fatbin";
/// The section that holds fat binaries.
pub const IMAGE_SECTION: &str = ".nv_fatbin";

/// Embeds `fat_binary`; says whether the module has a place for it.
pub fn embed(host: &Module<'_>, fat_binary: &[u8]) -> Result<bool, Error> {
    if !registration::registers_device_code(host) {
        return Ok(false);
    }
    let bytes = host.get_context().const_string(fat_binary, false);
    let image = host.add_global(bytes.get_type(), None, IMAGE);
    image.set_initializer(&bytes);
    image.set_constant(true);
    image.set_linkage(Linkage::Private);
    image.set_unnamed_address(UnnamedAddress::None);
    image.set_section(Some(IMAGE_SECTION));
    image.set_alignment(8);
    registration::set_image(host, image.as_pointer_value())
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
