//! Managed variables: `.visible .global .attribute(.managed) .align 4 .u32 count = 40;`

use std::ffi::CStr;

use inkwell::module::Module;

/// The section that they are in before they are annotated.
pub const SECTION: &CStr = c"managed";

/// Tells the back end which variables are managed.
pub fn annotate(module: &Module<'_>) {
    let context = module.get_context();
    for global in module.get_globals().filter(|global| global.get_section() == Some(SECTION)) {
        global.set_section(None);
        let variable = global.as_pointer_value();
        let yes = context.i32_type().const_int(1, false);
        let node = context.metadata_node(&[variable.into(), context.metadata_string("managed").into(), yes.into()]);
        module.add_global_metadata("nvvm.annotations", &node).expect("a node");
    }
}
