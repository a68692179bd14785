//! Inline PTX in a device module becomes plain LLVM IR over the device library.
//!
//! ```text
//! %r = call i16 asm "{add.f16 $0,$1,$2;}", "=h,h,h"(i16 %a, i16 %b)
//! ```
//! becomes
//! ```text
//! %r = call i16 @__regrain_asm.5d1c(i16 %a, i16 %b)
//! define internal i16 @__regrain_asm.5d1c(i16 %p0, i16 %p1) alwaysinline { ... fadd ... }
//! ```
//!
//! Each distinct statement becomes one function, written as text by [`emit`], which the optimiser inlines. What is not
//! understood is reported with its place; the module is then left as it was.
//!
//! A 32-bit shared address is the low half of the flat address: the device library puts the whole together again.

pub(super) mod arithmetic;
mod barrier_objects;
mod convert;
mod dispatch;
mod emit;
mod float;
mod integer;
mod library;
mod matrix;
mod memory;
pub(crate) mod parse;
#[cfg(test)]
mod tests;
mod texture;
mod warp;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode, InstructionValue, Operand};
use mlir_bridge::llvm;

use super::lacks::lack;
use super::place;
use crate::Unsupported;
use crate::nvvm::grid_barriers;
use emit::{NOT_KNOWN, Outer, OuterType, Reason};
pub(super) use library::Library;
use parse::Immediates;

/// Replaces every inline PTX statement of `module`; all that cannot be replaced are listed in the error.
pub(super) fn lower_inline_ptx(module: &Module<'_>, library: &Library) -> Result<(), Vec<Unsupported>> {
    grid_barriers::replace(module);
    let jumps = jumping(module);
    if !jumps.is_empty() {
        return Err(jumps);
    }
    let mut statements = collect(module);
    statements.extend(matrix_intrinsics(module));
    if statements.is_empty() {
        return Ok(());
    }
    let mut functions: BTreeMap<String, String> = BTreeMap::new();
    let mut declarations = BTreeMap::new();
    let mut missing = Vec::new();
    for statement in &statements {
        if functions.contains_key(&statement.name) {
            continue;
        }
        match lower(library, statement) {
            Ok(lowered) => {
                functions.insert(statement.name.clone(), lowered.function);
                declarations.extend(lowered.declarations);
            }
            // What the target has not is said later, if it is called.
            Err(_) if statement.intrinsic.is_some() => (),
            Err(refusal) => missing.push(unsupported(&statement.call, &refusal.to_string())),
        }
    }
    if !missing.is_empty() {
        return Err(missing);
    }
    let mut text: String = declarations.into_values().collect();
    functions.values().for_each(|function| text.push_str(function));
    if let Err(message) = add(module, &text) {
        return Err(vec![unsupported(&statements[0].call, &format!("internal error: {message}"))]);
    }
    for statement in statements {
        if !functions.contains_key(&statement.name) {
            continue;
        }
        let Some(function) = module.get_function(&statement.name) else {
            return Err(vec![unsupported(&statement.call, &format!("internal error: no '{}'", statement.name))]);
        };
        function.set_linkage(Linkage::Internal);
        llvm::set_callee(statement.call, function);
        // What held for the statement as written (that it touches no memory) need not hold for its replacement.
        if let Ok(call) = CallSiteValue::try_from(statement.call) {
            call.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id("memory"));
        }
        statement.intrinsic.into_iter().for_each(llvm::remove_unused);
    }
    Ok(())
}

/// The statements that the library cannot do, with a name for a function in their place, and what there is to say. Those that
/// cannot be read, and instructions that nobody has, are left: they are mistakes.
pub(super) fn unsupported_statements<'ctx>(
    module: &Module<'ctx>,
    library: &Library,
) -> Vec<(InstructionValue<'ctx>, String, String)> {
    let mut found: HashMap<String, Option<String>> = HashMap::new();
    let mut lacking = |statement: Statement<'ctx>| {
        let refused = || lower(library, &statement).err().filter(Refusal::is_lack).map(|refusal| refusal.to_string());
        let what = found.entry(statement.name.clone()).or_insert_with(refused).clone()?;
        Some((statement.call, statement.name, what))
    };
    collect(module).into_iter().filter_map(&mut lacking).collect()
}

/// Why a statement cannot be replaced.
enum Refusal {
    Unreadable(String),
    /// An instruction of it.
    Unsupported(String, Reason),
}

impl Refusal {
    /// Whether it is that the target has no such thing, as far as can be said.
    fn is_lack(&self) -> bool {
        match self {
            Self::Unreadable(_) => false,
            Self::Unsupported(name, reason) => reason != NOT_KNOWN || lack(&format!("__regrain_ptx_{name}")).is_some(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => f.write_str(why),
            Self::Unsupported(name, reason) => write!(f, "unsupported PTX instruction '{name}': {reason}"),
        }
    }
}

/// One `call ... asm`.
struct Statement<'ctx> {
    call: InstructionValue<'ctx>,
    text: String,
    constraints: String,
    result: Option<String>,
    parameters: Vec<String>,
    immediates: Immediates,
    name: String,
    /// The intrinsic that is called, where it is none of the program's.
    intrinsic: Option<FunctionValue<'ctx>>,
}

impl<'ctx> Statement<'ctx> {
    /// The statement of a call, from its text and constraints.
    fn of(call: InstructionValue<'ctx>, (text, constraints): (String, String)) -> Option<Self> {
        let ty = CallSiteValue::try_from(call).ok()?.get_called_fn_type();
        let printed = |s: String| s.trim_matches('"').to_string();
        let result = ty.get_return_type().map(|ty| printed(ty.print_to_string().to_string()));
        let parameters: Vec<String> =
            ty.get_param_types().iter().map(|p| printed(p.print_to_string().to_string())).collect();
        let immediates = immediates(call, &constraints);
        let mut hasher = DefaultHasher::new();
        (&text, &constraints, &result, &parameters, &immediates).hash(&mut hasher);
        let name = format!("__regrain_asm.{:016x}", hasher.finish());
        Some(Self { call, text, constraints, result, parameters, immediates, name, intrinsic: None })
    }
}

/// The calls of intrinsics that are matrix instructions, as the statements that they stand for.
fn matrix_intrinsics<'ctx>(module: &Module<'ctx>) -> Vec<Statement<'ctx>> {
    module.get_functions().flat_map(matrix_statements).collect()
}

/// The same of one intrinsic.
fn matrix_statements(intrinsic: FunctionValue<'_>) -> Vec<Statement<'_>> {
    let ty = intrinsic.get_type();
    let results = match ty.get_return_type() {
        Some(BasicTypeEnum::StructType(fields)) => fields.count_fields() as usize,
        result => usize::from(result.is_some()),
    };
    let name = intrinsic.get_name().to_string_lossy().into_owned();
    let Some(text) = matrix::as_statement(&name, results, ty.count_param_types() as usize) else { return Vec::new() };
    let calls = llvm::users(intrinsic.as_global_value()).into_iter();
    let statement = |call| Some(Statement { intrinsic: Some(intrinsic), ..Statement::of(call, text.clone())? });
    calls.filter(|user| user.get_opcode() == InstructionOpcode::Call).filter_map(statement).collect()
}

/// Whether an intrinsic is a matrix instruction that the library can do.
pub(super) fn is_lowered_matrix(intrinsic: FunctionValue<'_>, library: &Library) -> bool {
    matrix_statements(intrinsic).first().is_some_and(|statement| lower(library, statement).is_ok())
}

fn collect<'ctx>(module: &Module<'ctx>) -> Vec<Statement<'ctx>> {
    let blocks = module.get_functions().flat_map(FunctionValue::get_basic_block_iter);
    let calls = blocks.flat_map(|block| block.get_instructions().collect::<Vec<_>>());
    calls
        .filter(|i| i.get_opcode() == InstructionOpcode::Call && llvm::calls_inline_asm(*i))
        .filter_map(|call| Statement::of(call, llvm::inline_asm(call)?))
        .collect()
}

/// The constraints of a statement's operands, without what it clobbers.
fn operand_constraints(constraints: &str) -> impl Iterator<Item = &str> {
    constraints.split(',').filter(|c| !c.is_empty() && !c.starts_with('~'))
}

/// The operands whose constraint asks for a constant ("n", "i") and which are an integer constant.
fn immediates(call: InstructionValue<'_>, constraints: &str) -> Immediates {
    let mut found = Immediates::new();
    let mut argument = 0;
    for (number, constraint) in operand_constraints(constraints).enumerate() {
        if constraint.starts_with('=') {
            continue;
        }
        if constraint.contains(['n', 'i'])
            && let Some(Operand::Value(BasicValueEnum::IntValue(value))) = call.get_operand(argument)
            && let Some(value) = value.get_sign_extended_constant()
        {
            found.insert(number, value);
        }
        argument += 1;
    }
    found
}

/// Inline PTX that is no plain call: `asm goto`.
fn jumping(module: &Module<'_>) -> Vec<Unsupported> {
    let blocks = module.get_functions().flat_map(FunctionValue::get_basic_block_iter);
    let instructions = blocks.flat_map(|block| block.get_instructions().collect::<Vec<_>>());
    instructions
        .filter(|i| matches!(i.get_opcode(), InstructionOpcode::CallBr | InstructionOpcode::Invoke))
        .filter(|i| llvm::calls_inline_asm(*i))
        .map(|i| unsupported(&i, "inline PTX that jumps"))
        .collect()
}

fn unsupported(call: &InstructionValue<'_>, what: &str) -> Unsupported {
    let (location, function) = place::of_program(*call);
    Unsupported { function, location, what: what.to_string() }
}

fn lower(library: &Library, statement: &Statement<'_>) -> Result<emit::Lowered, Refusal> {
    let outer = operands(statement).map_err(Refusal::Unreadable)?;
    let program = parse::parse(&statement.text, &statement.immediates)
        .map_err(|e| Refusal::Unreadable(format!("cannot read inline PTX: {e}")))?;
    let result = statement.result.as_deref().unwrap_or("void");
    emit::function(library, &statement.name, result, &outer, &program)
        .map_err(|(instruction, reason)| Refusal::Unsupported(instruction, reason))
}

/// The operands of a statement from its constraints and types.
fn operands(statement: &Statement<'_>) -> Result<Vec<Outer>, String> {
    let constraints: Vec<&str> = operand_constraints(&statement.constraints).collect();
    let results = constraints.iter().filter(|c| c.starts_with('=')).count();
    let types: Vec<String> = match &statement.result {
        Some(whole) if results > 1 => {
            whole.trim_matches(|c| c == '{' || c == '}').split(',').map(|part| part.trim().to_string()).collect()
        }
        Some(one) => vec![one.clone()],
        None => Vec::new(),
    };
    if types.len() != results {
        return Err(format!("inline assembly with {results} results of type {:?}", statement.result));
    }
    let outer_type = |text: &str| match library::width_of_type(text) {
        Some(width) => Ok(OuterType { text: text.to_string(), width }),
        None => Err(format!("an inline assembly operand of type '{text}'")),
    };
    let mut outer = Vec::new();
    let mut arguments = statement.parameters.iter().enumerate();
    let mut next_result = types.iter();
    for constraint in constraints {
        if constraint.contains('*') {
            return Err(format!("the inline assembly constraint '{constraint}'"));
        }
        if constraint.starts_with('=') {
            let result = next_result.next().ok_or("more inline assembly results than types")?;
            outer.push(Outer::Result(outer_type(result)?));
            continue;
        }
        let (index, text) = arguments.next().ok_or("more inline assembly constraints than operands")?;
        outer.push(match constraint.parse::<usize>() {
            Ok(result) if result < results => Outer::Tied(outer_type(text)?, index, result),
            _ => Outer::Argument(outer_type(text)?, index),
        });
    }
    Ok(outer)
}

/// Adds functions given as text to the module.
fn add(module: &Module<'_>, text: &str) -> Result<(), String> {
    module.link_in_module(read(module, text)?).map_err(|e| e.to_string())
}

/// Functions given as text, in a module for the target of another.
fn read<'ctx>(module: &Module<'ctx>, text: &str) -> Result<Module<'ctx>, String> {
    let triple = module.get_triple();
    let header = format!(
        "target datalayout = \"{}\"\ntarget triple = \"{}\"\n",
        module.get_data_layout().as_str().to_string_lossy(),
        triple.as_str().to_string_lossy()
    );
    let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{header}{text}").as_bytes(), "inline_ptx");
    module.get_context().create_module_from_ir(buffer).map_err(|e| format!("{e}\n{text}"))
}
