//! Safe view of `cpp/optimise.cpp`: pass pipelines for the host processor.

use inkwell::module::Module;
use inkwell::targets::TargetMachine;

use crate::ffi;

/// The width, in bits, of the vector registers that code for a processor had best use.
pub fn vector_register_bits(machine: &TargetMachine) -> u32 {
    // SAFETY: a live machine, which is asked and not changed.
    unsafe { ffi::regrainVectorRegisterBits(machine.as_mut_ptr()) }
}

/// Runs a pipeline in the textual form of `opt -passes=`, with all kinds of vectorisation and unrolling, and with what
/// LLVM's vectoriser gets wrong kept from it.
pub fn optimise_for_host(module: &Module<'_>, passes: &str, machine: &TargetMachine) -> Result<(), String> {
    ffi::attempt(|sink, user| {
        // SAFETY: module, text and machine are alive for the call; the sink gets its own.
        unsafe {
            ffi::regrainOptimiseForHost(module.as_mut_ptr(), ffi::string(passes), machine.as_mut_ptr(), sink, user)
        }
    })
    .map(drop)
}
