//! LLVM's target machines that more than one target needs, and running LLVM's passes with one.

use std::sync::Once;

use inkwell::module::Module;
use inkwell::targets::{InitializationConfig, Target, TargetMachine, TargetMachineOptions, TargetTriple};

use crate::Error;

fn initialise() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let config = InitializationConfig::default();
        Target::initialize_native(&config).expect("LLVM has a back end for the host");
        Target::initialize_nvptx(&config);
        Target::initialize_amd_gpu(&config);
    });
}

/// LLVM's back end for the host, and the host's triple.
pub(crate) fn host_target() -> Result<(TargetTriple, Target), Error> {
    initialise();
    let triple = TargetMachine::get_default_triple();
    let target =
        Target::from_triple(&triple).map_err(|e| Error::internal("choosing the host's back end", e.to_string()))?;
    Ok((triple, target))
}

/// A target machine for any processor of the host's kind, for analyses of host code.
pub fn host() -> Result<TargetMachine, Error> {
    let (triple, target) = host_target()?;
    let made = target.create_target_machine_from_options(&triple, TargetMachineOptions::new());
    made.ok_or_else(|| Error::internal("choosing the host's back end", "no target machine"))
}

/// A target machine for `sm_<arch>`, for the passes that NVPTX brings.
pub(crate) fn nvptx(arch: u32) -> Result<TargetMachine, Error> {
    initialise();
    let triple = TargetTriple::create("nvptx64-nvidia-cuda");
    let target = Target::from_triple(&triple).map_err(|e| Error::internal("choosing NVPTX", e.to_string()))?;
    let settings = TargetMachineOptions::new().set_cpu(&format!("sm_{arch}"));
    target
        .create_target_machine_from_options(&triple, settings)
        .ok_or_else(|| Error::User(format!("unsupported CUDA gpu architecture: sm_{arch}")))
}

/// A target machine for AMD's `chip`, as in `gfx90a`.
pub(crate) fn amdgpu(chip: &str) -> Result<TargetMachine, Error> {
    initialise();
    let triple = TargetTriple::create("amdgcn-amd-amdhsa");
    let target = Target::from_triple(&triple).map_err(|e| Error::internal("choosing AMDGPU", e.to_string()))?;
    let settings = TargetMachineOptions::new().set_cpu(chip);
    target
        .create_target_machine_from_options(&triple, settings)
        .ok_or_else(|| Error::User(format!("unsupported AMD gpu architecture: {chip}")))
}

/// Runs a pass pipeline in the textual form of `opt -passes=`.
pub(crate) fn run_passes(module: &Module<'_>, passes: &str, machine: &TargetMachine) -> Result<(), Error> {
    mlir_bridge::optimise_for_host(module, passes, machine)
        .map_err(|e| Error::internal(format!("running the passes '{passes}'"), e))
}
