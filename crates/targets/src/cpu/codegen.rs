//! Optimising and emitting a lowered device module for the host processor.

use std::path::Path;
use std::sync::Once;

use inkwell::OptimizationLevel;
use inkwell::module::Module;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetMachineOptions, TargetTriple,
};

use mlir_bridge::llvm;

use crate::Error;
use crate::target::BlockOptions;

fn initialise() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let config = InitializationConfig::default();
        Target::initialize_native(&config).expect("LLVM has a back end for the host");
        Target::initialize_nvptx(&config);
    });
}

fn level(number: u8) -> OptimizationLevel {
    match number {
        0 => OptimizationLevel::None,
        1 => OptimizationLevel::Less,
        2 => OptimizationLevel::Default,
        _ => OptimizationLevel::Aggressive,
    }
}

/// A target machine for the host.
pub(super) fn machine(options: &BlockOptions) -> Result<TargetMachine, Error> {
    initialise();
    let triple = TargetMachine::get_default_triple();
    let target =
        Target::from_triple(&triple).map_err(|e| Error::internal("choosing the host's back end", e.to_string()))?;
    let (cpu, features) = match &options.cpu {
        Some(cpu) => (cpu.clone(), String::new()),
        None => (TargetMachine::get_host_cpu_name().to_string(), TargetMachine::get_host_cpu_features().to_string()),
    };
    let settings = TargetMachineOptions::new()
        .set_cpu(&cpu)
        .set_features(&features)
        .set_level(level(options.level))
        .set_reloc_mode(RelocMode::PIC)
        .set_code_model(CodeModel::Default);
    target
        .create_target_machine_from_options(&triple, settings)
        .ok_or_else(|| Error::User(format!("unknown target CPU '{cpu}'")))
}

/// A target machine for any processor of the host's kind, for analyses of host code.
pub fn host_machine() -> Result<TargetMachine, Error> {
    initialise();
    let triple = TargetMachine::get_default_triple();
    let target =
        Target::from_triple(&triple).map_err(|e| Error::internal("choosing the host's back end", e.to_string()))?;
    let made = target.create_target_machine_from_options(&triple, TargetMachineOptions::new());
    made.ok_or_else(|| Error::internal("choosing the host's back end", "no target machine"))
}

/// A target machine for `sm_<arch>`, for the passes that NVPTX brings.
pub(super) fn nvptx_machine(arch: u32) -> Result<TargetMachine, Error> {
    initialise();
    let triple = TargetTriple::create("nvptx64-nvidia-cuda");
    let target = Target::from_triple(&triple).map_err(|e| Error::internal("choosing NVPTX", e.to_string()))?;
    let settings = TargetMachineOptions::new().set_cpu(&format!("sm_{arch}"));
    target
        .create_target_machine_from_options(&triple, settings)
        .ok_or_else(|| Error::User(format!("unsupported CUDA gpu architecture: sm_{arch}")))
}

/// Runs a pass pipeline in the textual form of `opt -passes=`.
pub(super) fn run(module: &Module<'_>, passes: &str, machine: &TargetMachine) -> Result<(), Error> {
    mlir_bridge::optimise_for_host(module, passes, machine)
        .map_err(|e| Error::internal(format!("running the passes '{passes}'"), e))
}

/// Optimises at the level that the options ask for. Calls must be cheap even without: `always-inline` runs at 0.
pub(super) fn optimise(module: &Module<'_>, options: &BlockOptions) -> Result<(), Error> {
    let machine = machine(options)?;
    // Device functions carry no processor of their own; what is inlined into them must not either.
    run(module, &format!("globaldce,default<O{}>", options.level.min(3)), &machine)
}

/// Writes `module` to `output` as an object file.
pub(super) fn emit_object(module: &Module<'_>, options: &BlockOptions, output: &Path) -> Result<(), Error> {
    if options.lines {
        llvm::keep_line_tables(module);
    } else {
        module.strip_debug_info();
    }
    machine(options)?
        .write_to_file(module, FileType::Object, output)
        .map_err(|e| Error::internal(format!("writing '{}'", output.display()), e.to_string()))
}
