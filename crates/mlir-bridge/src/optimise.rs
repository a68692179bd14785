//! Safe view of `cpp/optimise.cpp`: pass pipelines for the host processor.

use inkwell::module::Module;
use inkwell::targets::TargetMachine;

use crate::ffi;

/// The vector registers of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorRegisters {
    /// The width, in bits, that code had best use.
    pub bits: u32,
    /// How many there are.
    pub count: u32,
}

impl VectorRegisters {
    /// Those of the processor that a machine makes code for.
    pub fn of(machine: &TargetMachine) -> Self {
        // SAFETY: a live machine, which is asked and not changed.
        let found = unsafe { ffi::regrainVectorRegisters(machine.as_mut_ptr()) };
        Self { bits: found.bits, count: found.count }
    }
}

/// Whether the processor that a machine makes code for has a feature, in LLVM's words (`avx2`).
pub fn has_feature(machine: &TargetMachine, feature: &str) -> bool {
    // SAFETY: a live machine and text, which are asked and not changed.
    unsafe { ffi::regrainHasFeature(machine.as_mut_ptr(), ffi::string(feature)) }
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
