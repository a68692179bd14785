//! Managed variables: `__managed__ int count;`, which host and device reach by one name.
//!
//! clang knows them for HIP alone. Our header makes the word one for a device variable with an annotation (`include/__regrain_nvcc.h`),
//! by which they are found again; the host's code is made to reach the device's storage (`mlir-bridge/cpp/managed.cpp`), and the runtime
//! says where that is before the program's own variables are initialised.

use std::ffi::CStr;

use inkwell::module::Module;
use mlir_bridge::llvm;

/// The annotation.
const MARK: &CStr = c"regrain.managed";

/// Where the managed variables of a module are declared, `FILE:LINE`.
pub fn places(module: &Module<'_>) -> Vec<String> {
    llvm::managed_variables(module, MARK)
}

/// Puts the managed variables of device code into a section, by which the target finds them.
pub fn place(module: &Module<'_>, section: &CStr) {
    llvm::place_managed(module, MARK, section);
}

/// Lets the host's code reach managed variables in the device's storage.
///
/// # Errors
/// The address of one stands in a constant: where that variable is declared.
pub fn reach(host: &Module<'_>) -> Result<(), String> {
    llvm::managed_shadows(host, MARK)
}
