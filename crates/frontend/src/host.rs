//! The host module: what the device side needs of it.
//!
//! Its registration code is the targets' matter (`regrain_targets::registration`).

use inkwell::module::{Linkage, Module};

/// With relocatable device code a device variable's shadow is one object for the whole program, as the variable is:
/// `extern __device__` in another unit refers to it. `names` are the variables that this unit's device side defines for
/// others to see.
pub fn export_shadows(module: &Module<'_>, names: &[String]) {
    let shadows = names.iter().filter_map(|name| module.get_global(name));
    for shadow in shadows.filter(|global| global.get_linkage() == Linkage::Internal) {
        shadow.set_linkage(Linkage::External);
    }
}
