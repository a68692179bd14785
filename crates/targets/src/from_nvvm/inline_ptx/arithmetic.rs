//! Inline PTX that computes, or loads and stores as any code does, becomes plain IR in its place, before anything is made of the code: what
//! is a statement to the passes is done thread by thread, what is arithmetic or an access by rows of threads.
//!
//! ```text
//! %r = call float asm "{.reg .f16 l,h; mov.b32 {l,h},$1; cvt.f32.f16 $0, h;}", "=f,r"(i32 %x)
//! ```
//! becomes
//! ```text
//! %s = lshr i32 %x, 16 ; %t = trunc i32 %s to i16 ; %h = bitcast i16 %t to half ; %r = fpext half %h to float
//! ```
//! The statements' functions are the same as ever ([`super::lower`]), so both forms compute the same. They are finished in a module of
//! their own; one that is no straight code after that, accesses memory in an order of its own (`volatile`, `relaxed`, ...), or calls
//! what has no vector form stays a statement, as does one that says that it writes memory, which is a barrier to the compiler, or does nothing.
//! Matrix instructions become what the parallel form knows of warps ([`matrix`]). What reads or writes a texture or surface may branch, and call what the library keeps apart.

use std::collections::{BTreeMap, BTreeSet};

use inkwell::AtomicOrdering;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::types::AnyTypeEnum;
use inkwell::values::{BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode, InstructionValue, Operand};
use mlir_bridge::llvm;

use super::{Statement, collect, lower, matrix, matrix_intrinsics, read, texture};
use crate::from_nvvm::DeviceLibrary;
use crate::nvvm::library::{SHARED_POINTER, has_vector_form};
use crate::{Error, machines};

/// What finishes the functions of statements.
const FINISH: &str =
    "always-inline,function(sroa,early-cse,instcombine,simplifycfg<speculate-blocks>,instcombine,dce),globaldce";
/// The most instructions of a statement that is put in place, and of one that reads a texture, most of which is for channels that nobody wants.
const LONGEST: usize = 128;
const LONGEST_FETCH: usize = 2048;

/// Puts what statements of `module` compute in their place, where they do nothing else. `cuda_arch` is what the source saw.
pub(crate) fn open<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    library: &DeviceLibrary,
    cuda_arch: u32,
) -> Result<(), Error> {
    let signatures = library.signatures();
    let mut statements: Vec<_> = collect(module).into_iter().filter(may_compute).collect();
    statements.extend(matrix_intrinsics(module));
    let mut functions = BTreeMap::new();
    let mut declarations = BTreeMap::new();
    for statement in &statements {
        if !functions.contains_key(&statement.name)
            && let Ok(lowered) = lower(signatures, statement)
        {
            functions.insert(statement.name.clone(), lowered.function);
            declarations.extend(lowered.declarations);
        }
    }
    if functions.is_empty() {
        return Ok(());
    }
    let machine = machines::nvptx(cuda_arch)?;
    let text: String = declarations.into_values().chain(functions.into_values()).collect();
    let internal = |e: String| Error::internal("opening inline PTX", e);
    let apart = read(module, &text).map_err(internal)?;
    let definitions = library.load(context)?;
    definitions.set_triple(&module.get_triple());
    definitions.set_data_layout(&module.get_data_layout());
    // A pass knows what shared memory an address is of.
    let is_address = |function: &FunctionValue<'ctx>| function.get_name().to_bytes() == SHARED_POINTER.as_bytes();
    let stays =
        |function: &FunctionValue<'ctx>| has_rows(*function) || is_kept_apart(*function) || is_address(function);
    definitions.get_functions().filter(stays).for_each(llvm::forget_body);
    apart.link_in_module(definitions).map_err(|e| internal(e.to_string()))?;
    machines::run_passes(&apart, FINISH, &machine)?;
    let named: BTreeSet<_> = statements.iter().map(|statement| statement.name.as_str()).collect();
    let fetches = statements.iter().filter(|statement| texture::is_fetch(&statement.text));
    let fetching: BTreeSet<_> = fetches.map(|statement| statement.name.as_str()).collect();
    let products = statements.iter().filter(|statement| matrix::is_matrix(&statement.text));
    let multiplying: BTreeSet<_> = products.map(|statement| statement.name.as_str()).collect();
    for function in apart.get_functions() {
        let name = function.get_name().to_string_lossy().into_owned();
        let is_plain = || {
            multiplying.contains(name.as_str())
                || only_computes(function)
                || fetching.contains(name.as_str()) && only_fetches(function)
        };
        if named.contains(name.as_str()) && !is_plain() {
            function.set_linkage(Linkage::Internal);
        }
    }
    machines::run_passes(&apart, "globaldce", &machine)?;
    module.link_in_module(apart).map_err(|e| internal(e.to_string()))?;
    let inlined = Attribute::get_named_enum_kind_id("alwaysinline");
    for statement in &statements {
        let Some(function) = module.get_function(&statement.name) else { continue };
        function.set_linkage(Linkage::Internal);
        llvm::set_callee(statement.call, function);
        if let Ok(call) = CallSiteValue::try_from(statement.call) {
            call.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id("memory"));
        }
        // By itself: what else has to be inlined may be most of the module, and is smaller when its time comes.
        if function.get_enum_attribute(AttributeLoc::Function, inlined).is_some() {
            llvm::inline_call(statement.call);
        }
    }
    named.into_iter().filter_map(|name| module.get_function(name)).for_each(llvm::remove_unused);
    if !fetching.is_empty() {
        // They were a statement, and are larger now than what is inlined for its size.
        let wrappers = module.get_functions().filter(|f| texture::is_wrapper(&f.get_name().to_string_lossy()));
        let inline = context.create_enum_attribute(inlined, 0);
        wrappers.for_each(|wrapper| wrapper.add_attribute(AttributeLoc::Function, inline));
    }
    Ok(())
}

/// Whether rows of threads have a function of the library of their own.
fn has_rows(function: FunctionValue<'_>) -> bool {
    has_vector_form(&function.get_name().to_string_lossy())
}

/// Whether the library wants a function to be called, not put in place.
fn is_kept_apart(function: FunctionValue<'_>) -> bool {
    function.get_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id("noinline")).is_some()
}

fn may_compute(statement: &Statement<'_>) -> bool {
    matrix::is_matrix(&statement.text) || !statement.constraints.contains("~{memory}")
}

/// Whether a function is straight code that computes a result or stores something.
fn only_computes(function: FunctionValue<'_>) -> bool {
    let blocks = function.get_basic_blocks();
    let [only] = blocks.as_slice() else { return false };
    let stores = || only.get_instructions().any(|i| i.get_opcode() == InstructionOpcode::Store);
    let has_use = function.get_type().get_return_type().is_some() || stores();
    has_use && only.get_instructions().count() <= LONGEST && only.get_instructions().all(computes)
}

/// Whether a function has no more than branches, accesses and calls of the library.
fn only_fetches(function: FunctionValue<'_>) -> bool {
    use InstructionOpcode as Of;
    let blocks = function.get_basic_block_iter();
    let all: Vec<_> = blocks.flat_map(|block| block.get_instructions().collect::<Vec<_>>()).collect();
    let fits = |instruction: &InstructionValue<'_>| match instruction.get_opcode() {
        Of::Br | Of::Switch | Of::Phi | Of::Load | Of::Store => true,
        Of::Call => !llvm::calls_inline_asm(*instruction) && llvm::callee(*instruction).is_some(),
        _ => computes(*instruction),
    };
    all.len() <= LONGEST_FETCH && all.iter().all(fits)
}

fn computes(instruction: InstructionValue<'_>) -> bool {
    use InstructionOpcode as Of;
    // A number in the middle may be wider than what rows have.
    let wide = |ty: AnyTypeEnum<'_>| matches!(ty, AnyTypeEnum::IntType(ty) if ty.get_bit_width() > 64);
    if wide(instruction.get_type()) {
        return false;
    }
    match instruction.get_opcode() {
        Of::Call => {
            let speculatable = Attribute::get_named_enum_kind_id("speculatable");
            let is_known = |callee: FunctionValue<'_>| {
                has_rows(callee) || callee.get_enum_attribute(AttributeLoc::Function, speculatable).is_some()
            };
            !llvm::calls_inline_asm(instruction) && llvm::callee(instruction).is_some_and(is_known)
        }
        Of::Load | Of::Store => {
            let ordered = instruction.get_atomic_ordering() != Ok(AtomicOrdering::NotAtomic);
            !ordered && instruction.get_volatile() == Ok(false) && accesses_given_place(instruction)
        }
        Of::Alloca | Of::Fence | Of::AtomicRMW | Of::AtomicCmpXchg | Of::VAArg => false,
        Of::Invoke | Of::CallBr | Of::IndirectBr | Of::Switch | Of::Unreachable => false,
        _ => true,
    }
}

/// Whether a load or store is of a place that the statement was given. What the library keeps of a thread is there before its rows are.
fn accesses_given_place(access: InstructionValue<'_>) -> bool {
    let place = if access.get_opcode() == InstructionOpcode::Load { 0 } else { 1 };
    let Some(Operand::Value(BasicValueEnum::PointerValue(pointer))) = access.get_operand(place) else { return false };
    match pointer.as_instruction() {
        None => !pointer.is_const(),
        Some(made) => matches!(made.get_opcode(), InstructionOpcode::IntToPtr) || is_offset_of_given(made),
    }
}

/// Whether an instruction adds to an address that is a parameter.
fn is_offset_of_given(made: InstructionValue<'_>) -> bool {
    let base = made.get_operand(0).filter(|_| made.get_opcode() == InstructionOpcode::GetElementPtr);
    matches!(base, Some(Operand::Value(BasicValueEnum::PointerValue(base))) if base.as_instruction().is_none() && !base.is_const())
}
