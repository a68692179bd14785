//! Cleaning of clang's device LLVM IR before it is imported into MLIR.
//!
//! Before: clang's output with `-O2 -Xclang -disable-llvm-passes`: allocas everywhere, thread ids behind small
//! functions. After: SSA form with simplified, *unrotated* loops in LCSSA form, and every function that holds a barrier,
//! a thread id, a warp operation or a shared variable inlined into the kernels that call it.
//!
//! What is left out on purpose: loop-rotate (loops would stay do-while behind guards), instcombine (it rewrites
//! induction variables so that fewer loops are recognised) and infer-address-spaces (registers rise); the back end's O3
//! does all three at the end.
//!
//! Structures that a kernel takes by value and changes are copied first (`arguments`).
//!
//! A function that calls itself, directly or not, is not marked for inlining: its kernel is declined later.

use std::collections::{HashMap, HashSet};

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple};
use inkwell::values::{BasicValueEnum, FunctionValue, GlobalValue, InstructionOpcode, InstructionValue, Operand};
use inkwell::{AddressSpace, OptimizationLevel};
use mlir_bridge::llvm;

use crate::arguments;

/// The passes, in order. A function is simplified before it is inlined, what is marked for inlining too: inlined as it is written, all of it
/// would have to be simplified in each place.
pub const CLEANING_PASSES: &str = "nvvm-reflect,\
    cgscc(inline,function(sroa,early-cse,simplifycfg)),function(loop-simplify,lcssa),globaldce";

/// What follows where kernels change structures that they take by value.
const PASSES_FOR_ARGUMENTS: &str = "function(sroa,early-cse,simplifycfg,loop-simplify,lcssa)";

/// Calling convention of `ptx_kernel` functions.
const PTX_KERNEL: u32 = 71;

/// The address space of `__shared__` variables.
const SHARED: u16 = 3;

/// Beginnings of the names of functions, intrinsics above all, that tie a function to its thread, warp, block or grid.
const THREAD_INTRINSICS: &[&str] = &[
    "__regrain_grid_barrier",
    "__regrain_warp.",
    "llvm.nvvm.barrier",
    "llvm.nvvm.bar.",
    "llvm.nvvm.read.ptx.sreg.",
    "llvm.nvvm.shfl",
    "llvm.nvvm.vote",
    "llvm.nvvm.match",
    "llvm.nvvm.activemask",
    "llvm.nvvm.redux",
    "llvm.nvvm.wmma",
    "llvm.nvvm.mma",
    "llvm.nvvm.ldmatrix",
    "llvm.nvvm.elect",
    "llvm.nvvm.fns",
];

/// Why cleaning failed.
#[derive(Debug, thiserror::Error)]
pub enum CleanError {
    #[error("the NVPTX target is not available: {0}")]
    Target(String),
    #[error("cleaning passes failed: {0}")]
    Passes(String),
}

/// Cleans a device module in place. `cpu` is the architecture, such as `sm_70`.
pub fn clean_device_module(module: &Module<'_>, cpu: &str) -> Result<(), CleanError> {
    mark_for_inlining(module);
    let machine = nvptx_machine(module, cpu)?;
    let run = |passes| {
        let done = module.run_passes(passes, &machine, PassBuilderOptions::create());
        done.map_err(|error| CleanError::Passes(error.to_string()))
    };
    run(CLEANING_PASSES)?;
    // Only now it is known: before, functions took references to members.
    let layout = machine.get_target_data();
    match arguments::copy_changed(module, PTX_KERNEL, &layout).map_err(|error| CleanError::Passes(error.to_string()))? {
        true => run(PASSES_FOR_ARGUMENTS),
        false => Ok(()),
    }
}

pub fn nvptx_machine(module: &Module<'_>, cpu: &str) -> Result<TargetMachine, CleanError> {
    Target::initialize_nvptx(&InitializationConfig::default());
    let mut triple = module.get_triple();
    if !triple.as_str().to_string_lossy().starts_with("nvptx") {
        triple = TargetTriple::create("nvptx64-nvidia-cuda");
    }
    let target = Target::from_triple(&triple).map_err(|error| CleanError::Target(error.to_string()))?;
    target
        .create_target_machine(&triple, cpu, "", OptimizationLevel::Default, RelocMode::Default, CodeModel::Default)
        .ok_or_else(|| CleanError::Target(format!("no target machine for {cpu}")))
}

/// What a function does directly, as far as inlining is concerned.
#[derive(Default)]
struct Body {
    calls: HashSet<String>,
    knows_its_thread: bool,
}

/// Marks every device function that knows its thread, directly or through a callee, as always inline.
fn mark_for_inlining(module: &Module<'_>) {
    let bodies: HashMap<String, Body> = module
        .get_functions()
        .filter(|function| function.count_basic_blocks() > 0)
        .map(|function| (name_of(function), inspect(function)))
        .collect();
    let sharing = users_of_shared_memory(module);
    let mut marked: HashSet<&str> = bodies
        .iter()
        .filter(|(name, body)| body.knows_its_thread || sharing.contains(*name))
        .map(|(name, _)| name.as_str())
        .collect();
    loop {
        let more: Vec<&str> = bodies
            .iter()
            .filter(|(name, body)| {
                !marked.contains(name.as_str()) && body.calls.iter().any(|callee| marked.contains(callee.as_str()))
            })
            .map(|(name, _)| name.as_str())
            .collect();
        if more.is_empty() {
            break;
        }
        marked.extend(more);
    }
    for function in module.get_functions() {
        let name = name_of(function);
        if marked.contains(name.as_str())
            && function.get_call_conventions() != PTX_KERNEL
            && !reaches(&bodies, &name, &name)
        {
            always_inline(module, function);
        }
    }
}

fn name_of(function: FunctionValue<'_>) -> String {
    function.get_name().to_string_lossy().into_owned()
}

fn inspect(function: FunctionValue<'_>) -> Body {
    let mut body = Body::default();
    for block in function.get_basic_block_iter() {
        for instruction in block.get_instructions() {
            if instruction.get_opcode() != InstructionOpcode::Call {
                continue;
            }
            match callee_name(instruction) {
                Some(callee) => {
                    body.knows_its_thread |= THREAD_INTRINSICS.iter().any(|part| callee.starts_with(part));
                    body.calls.insert(callee);
                }
                None => body.knows_its_thread |= is_thread_asm(instruction),
            }
        }
    }
    body
}

/// The functions that name a `__shared__` variable, which belongs to the block.
fn users_of_shared_memory(module: &Module<'_>) -> HashSet<String> {
    let is_shared = |global: &GlobalValue<'_>| {
        global.as_pointer_value().get_type().get_address_space() == AddressSpace::from(SHARED)
    };
    let users = module.get_globals().filter(is_shared).flat_map(llvm::users);
    users.filter_map(llvm::function_of).map(name_of).collect()
}

fn callee_name(call: InstructionValue<'_>) -> Option<String> {
    let last = call.get_num_operands().checked_sub(1)?;
    let Some(Operand::Value(BasicValueEnum::PointerValue(callee))) = call.get_operand(last) else {
        return None;
    };
    let name = callee.get_name().to_string_lossy().into_owned();
    (!name.is_empty()).then_some(name)
}

/// Whether an unnamed callee is inline assembly that names the thread or synchronises.
fn is_thread_asm(call: InstructionValue<'_>) -> bool {
    // Only the callee is printed: printing the call numbers the whole module.
    let Some(last) = call.get_num_operands().checked_sub(1) else {
        return false;
    };
    let Some(Operand::Value(BasicValueEnum::PointerValue(callee))) = call.get_operand(last) else {
        return false;
    };
    let text = if callee.as_instruction().is_some() { String::new() } else { callee.to_string() };
    text.contains("asm ")
        && [
            "bar.",
            "barrier",
            "shfl",
            "vote",
            "match.",
            "activemask",
            "redux",
            "%tid",
            "%laneid",
            "%lanemask",
            "%warpid",
            "%ctaid",
            "%ntid",
            "mma",
            "cp.async",
            "elect",
        ]
        .iter()
        .any(|part| text.contains(part))
}

/// Whether calls lead from `from` to `to`.
fn reaches(bodies: &HashMap<String, Body>, from: &str, to: &str) -> bool {
    let mut seen = HashSet::new();
    let mut work = vec![from];
    while let Some(name) = work.pop() {
        let Some(body) = bodies.get(name) else {
            continue;
        };
        for callee in &body.calls {
            if callee == to {
                return true;
            }
            if seen.insert(callee.as_str()) {
                work.push(callee);
            }
        }
    }
    false
}

fn always_inline(module: &Module<'_>, function: FunctionValue<'_>) {
    let kind = Attribute::get_named_enum_kind_id;
    for attribute in ["noinline", "optnone"] {
        function.remove_enum_attribute(AttributeLoc::Function, kind(attribute));
    }
    let attribute = module.get_context().create_enum_attribute(kind("alwaysinline"), 0);
    function.add_attribute(AttributeLoc::Function, attribute);
}
