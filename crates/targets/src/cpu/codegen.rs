//! Optimising and emitting a lowered device module for the host processor.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use inkwell::OptimizationLevel;
use inkwell::module::Module;
use inkwell::targets::{CodeModel, FileType, RelocMode, TargetMachine, TargetMachineOptions};
use mlir_bridge::timing::{STEPS, measure};
use mlir_bridge::{has_feature, llvm};

use crate::target::BlockOptions;
use crate::{Error, machines};

/// What makes LLVM use gathers that a processor has, but slow ones.
const SLOW_GATHERS: &str = "+fast-gather";

/// LLVM keeps to half of a register of 512 bits on all of Intel's processors, because the first ones lowered their clock for the whole. Those that
/// have this, from Ice Lake on, hardly do, and a kernel's rows are long enough for it.
const KEEPS_CLOCK: &str = "avx512vbmi2";
const WHOLE_REGISTERS: &str = "-prefer-256-bit";

fn level(number: u8) -> OptimizationLevel {
    match number {
        0 => OptimizationLevel::None,
        1 => OptimizationLevel::Less,
        2 => OptimizationLevel::Default,
        _ => OptimizationLevel::Aggressive,
    }
}

/// Machines by processor and level.
type Machines = HashMap<(Option<String>, u8), Rc<TargetMachine>>;

thread_local! {
    /// What a machine knows of a processor's features takes a millisecond to find out.
    static MACHINES: RefCell<Machines> = RefCell::default();
}

/// A target machine for the host, the same one for the same options.
pub(super) fn machine(options: &BlockOptions) -> Result<Rc<TargetMachine>, Error> {
    let key = (options.cpu.clone(), options.level);
    if let Some(machine) = MACHINES.with_borrow(|known| known.get(&key).cloned()) {
        return Ok(machine);
    }
    let made = Rc::new(new_machine(options)?);
    MACHINES.with_borrow_mut(|known| known.insert(key, made.clone()));
    Ok(made)
}

fn new_machine(options: &BlockOptions) -> Result<TargetMachine, Error> {
    let (triple, target) = machines::host_target()?;
    let (cpu, features) = match &options.cpu {
        Some(cpu) => (cpu.clone(), String::new()),
        None => (TargetMachine::get_host_cpu_name().to_string(), TargetMachine::get_host_cpu_features().to_string()),
    };
    let make = |features: &str| {
        let settings = TargetMachineOptions::new()
            .set_cpu(&cpu)
            .set_features(features)
            .set_level(level(options.level))
            .set_reloc_mode(RelocMode::PIC)
            .set_code_model(CodeModel::Default);
        let made = target.create_target_machine_from_options(&triple, settings);
        made.ok_or_else(|| Error::User(format!("unknown target CPU '{cpu}'")))
    };
    // Of the host it is known without a machine.
    let is_known = options.cpu.is_none() && features.split(',').any(|one| one.strip_prefix('+') == Some(KEEPS_CLOCK));
    if !is_known {
        let made = make(&features)?;
        if !has_feature(&made, KEEPS_CLOCK) {
            return Ok(made);
        }
    }
    let more = [features.as_str(), WHOLE_REGISTERS].into_iter().filter(|some| !some.is_empty());
    make(&more.collect::<Vec<_>>().join(","))
}

/// The passes that inline what has to be. Functions that do it one in another grow by all of the stack memory that passes arguments, which
/// goes as soon as it can, but where a debugger is to see it.
pub(super) fn mandatory_inlining(options: &BlockOptions) -> &'static str {
    match options.level {
        0 => "always-inline",
        _ => "cgscc(inline<only-mandatory>,function(sroa)),always-inline",
    }
}

/// Optimises at the level that the options ask for. Calls must be cheap even without: what has to be inlined is at 0.
pub(super) fn optimise(module: &Module<'_>, options: &BlockOptions) -> Result<(), Error> {
    let machine = machine(options)?;
    let slow = if machine.get_triple().as_str().to_bytes().starts_with(b"x86_64") { SLOW_GATHERS } else { "" };
    // Device functions carry no processor of their own; what is inlined into them must not either.
    let passes = format!(
        "globaldce,{},regrain-compile-cheaply,regrain-dot-products,default<O{}>,regrain-scalarise-gathers<{slow}>,regrain-scalarise-scatters,regrain-stream-stores",
        mandatory_inlining(options),
        options.level.min(3)
    );
    measure(STEPS, "LLVM's passes", || machines::run_passes(module, &passes, &machine))
}

/// Writes `module` to `output` as an object file.
pub(super) fn emit_object(module: &Module<'_>, options: &BlockOptions, output: &Path) -> Result<(), Error> {
    if options.lines && options.level == 0 {
        llvm::keep_variables(module);
    } else if options.lines {
        llvm::keep_line_tables(module);
    } else {
        module.strip_debug_info();
    }
    // Written by ourselves: LLVM would end the process where the disk is full.
    let machine = machine(options)?;
    let object = measure(STEPS, "emitting the object", || machine.write_to_memory_buffer(module, FileType::Object));
    let object = object.map_err(|e| Error::internal("making an object", e.to_string()))?;
    std::fs::write(output, object.as_slice()).map_err(|source| Error::Io { path: output.display().to_string(), source })
}
