//! Constants that tables of the lowered module point to.

use inkwell::module::{Linkage, Module};
use inkwell::values::PointerValue;

/// A private constant C string.
pub(super) fn string<'ctx>(module: &Module<'ctx>, text: &str) -> PointerValue<'ctx> {
    let value = module.get_context().const_string(text.as_bytes(), true);
    let global = module.add_global(value.get_type(), None, "__regrain_string");
    global.set_initializer(&value);
    global.set_constant(true);
    global.set_linkage(Linkage::Private);
    global.as_pointer_value()
}
