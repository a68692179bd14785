//! Safe view of `cpp/optimise.cpp`: pass pipelines for the host processor.

use std::ffi::{CStr, CString, c_char};

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use llvm_sys::core::LLVMDisposeMessage;
use llvm_sys::prelude::LLVMModuleRef;
use llvm_sys::target_machine::LLVMTargetMachineRef;

unsafe extern "C" {
    fn regrainOptimiseForHost(
        module: LLVMModuleRef,
        passes: *const c_char,
        machine: LLVMTargetMachineRef,
    ) -> *mut c_char;
}

/// Runs a pipeline in the textual form of `opt -passes=`, with all kinds of vectorisation and unrolling, and with what
/// LLVM's vectoriser gets wrong kept from it.
pub fn optimise_for_host(module: &Module<'_>, passes: &str, machine: &TargetMachine) -> Result<(), String> {
    let passes = CString::new(passes).map_err(|error| error.to_string())?;
    // SAFETY: module, text and machine are alive for the call; a message that comes back is LLVM's, and freed once.
    unsafe {
        let message = regrainOptimiseForHost(module.as_mut_ptr(), passes.as_ptr(), machine.as_mut_ptr());
        if message.is_null() {
            return Ok(());
        }
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        Err(text)
    }
}
