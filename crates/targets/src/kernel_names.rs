//! The kernels of a device module, whichever target it is for.

use inkwell::module::Module;
use inkwell::values::FunctionValue;

use crate::nvvm;

/// LLVM's number of the calling convention of AMDGPU's kernels.
pub(crate) const AMDGPU_KERNEL: u32 = 91;

/// Whether the function is a kernel that has a body.
pub(crate) fn is_kernel(function: FunctionValue<'_>) -> bool {
    let convention = function.get_call_conventions();
    let conventions = [nvvm::KERNEL_CONVENTION, AMDGPU_KERNEL];
    conventions.contains(&convention) && function.get_first_basic_block().is_some()
}

/// The names of the kernels that `module` defines.
pub fn kernel_names(module: &Module<'_>) -> Vec<String> {
    let kernels = module.get_functions().filter(|function| is_kernel(*function));
    kernels.map(|function| function.get_name().to_string_lossy().into_owned()).collect()
}
