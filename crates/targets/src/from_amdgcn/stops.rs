//! Where lanes of a wave stop: operations of the wave, barriers, ends of rounds of loops that have any.
//!
//! ```text
//! %r = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %v)
//! ```
//! becomes
//! ```text
//! %0 = zext i32 %v to i64
//! %1 = call i64 @__regrain_amdgcn_readfirstlane(i64 %0, i32 2147483651)   ; a wave of 64, the fourth stop
//! %r = trunc i64 %1 to i32
//! ```
//! Functions in which lanes stop are inlined first, so that one order holds for a kernel. What is called through a
//! pointer or calls itself cannot be, and is refused.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::types::{BasicTypeEnum, IntType};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, IntValue,
    Operand,
};
use mlir_bridge::llvm;

use super::PREFIX;
use super::order::{Place, order};
use crate::amdgpu::chips::Chip;
use crate::kernel_names::is_kernel;
use crate::{Error, Unsupported, machines};

/// In a site: a wave has 64 lanes.
const WAVE64: u64 = 1 << 31;

/// An intrinsic that depends on the wave, as it is called behind `llvm.amdgcn.` and before its types.
struct Operation {
    name: &'static str,
    /// Whether it depends on what other lanes do.
    stops: bool,
}

const fn stops(name: &'static str) -> Operation {
    Operation { name, stops: true }
}

const fn alone(name: &'static str) -> Operation {
    Operation { name, stops: false }
}

static OPERATIONS: &[Operation] = &[
    stops("ballot"),
    stops("readlane"),
    stops("readfirstlane"),
    alone("writelane"),
    alone("inverse.ballot"),
    stops("ds.bpermute"),
    stops("ds.permute"),
    stops("ds.swizzle"),
    stops("update.dpp"),
    stops("mov.dpp"),
    stops("mov.dpp8"),
    stops("permlane16"),
    stops("permlanex16"),
    stops("permlane64"),
    stops("wave.barrier"),
    stops("s.barrier"),
    alone("mbcnt.lo"),
    alone("mbcnt.hi"),
    alone("wavefrontsize"),
];

fn failed(error: BuilderError) -> Error {
    Error::internal("placing the stops of waves", error.to_string())
}

/// What an instruction calls, if it depends on the wave.
fn operation(instruction: InstructionValue<'_>) -> Option<&'static Operation> {
    if instruction.get_opcode() != InstructionOpcode::Call {
        return None;
    }
    let callee = llvm::callee(instruction)?.get_name().to_string_lossy().into_owned();
    let name = callee.strip_prefix(PREFIX)?;
    OPERATIONS.iter().find(|known| name.strip_prefix(known.name).is_some_and(is_type_suffix))
}

/// As in `.i32` or `.v2f16`, and nothing.
fn is_type_suffix(suffix: &str) -> bool {
    let Some(name) = suffix.strip_prefix('.') else { return suffix.is_empty() };
    let digits = name.trim_start_matches(|c: char| c.is_ascii_lowercase());
    name.len() - digits.len() <= 2 && digits.starts_with(|c: char| c.is_ascii_digit())
}

fn instructions(function: FunctionValue<'_>) -> impl Iterator<Item = InstructionValue<'_>> {
    function.get_basic_block_iter().flat_map(|block| block.get_instructions())
}

/// Lanes of a wave of each kernel, by its name.
pub(super) type Waves = HashMap<String, u32>;

/// The kernels of `module`, as the back end's attributes and conventions have them.
pub(super) fn waves(module: &Module<'_>) -> Waves {
    let kernels = module.get_functions().filter(|function| is_kernel(*function));
    kernels.map(|function| (name_of(function), lanes(function))).collect()
}

fn name_of(function: FunctionValue<'_>) -> String {
    function.get_name().to_string_lossy().into_owned()
}

/// Puts the stops into every kernel of `module`.
///
/// # Errors
/// An operation of a wave in a function that cannot be inlined, or of a type that is too large.
pub(super) fn insert<'ctx>(context: &'ctx Context, module: &Module<'ctx>, waves: &Waves) -> Result<(), Error> {
    if inline(module, waves)? {
        machines::run_passes(module, "function(loop-simplify)", &machines::host()?)?;
    }
    for function in module.get_functions().filter(|f| f.get_first_basic_block().is_some()).collect::<Vec<_>>() {
        let wave = waves.get(&name_of(function));
        let stop = instructions(function).find(|i| operation(*i).is_some_and(|operation| operation.stops));
        if let Some(stop) = stop.filter(|_| wave.is_none()) {
            let what = "emulation has no operation of a wave where a function calls itself or is called by a pointer";
            return Err(unsupported(stop, what));
        }
        // Functions outside of kernels ask for their lane alone, and waves of a module have one width.
        let lanes = wave.or(waves.values().next()).copied().unwrap_or(32);
        Inserting { context, module, builder: context.create_builder(), lanes }.function(function)?;
    }
    Ok(())
}

fn unsupported(instruction: InstructionValue<'_>, what: &str) -> Error {
    let function = instruction.get_parent().and_then(|block| block.get_parent());
    Error::Unsupported(Unsupported {
        function: function.map_or(String::new(), name_of),
        location: llvm::source_frames(instruction).pop(),
        what: what.to_owned(),
    })
}

/// Inlines the functions in which lanes stop. Returns whether there are stops at all.
fn inline(module: &Module<'_>, waves: &Waves) -> Result<bool, Error> {
    let mut callers: HashMap<String, Vec<FunctionValue<'_>>> = HashMap::new();
    let mut work = Vec::new();
    for function in module.get_functions() {
        for instruction in instructions(function).filter(|i| i.get_opcode() == InstructionOpcode::Call) {
            if operation(instruction).is_some_and(|operation| operation.stops) {
                work.push(function);
            } else if let Some(callee) = llvm::callee(instruction) {
                callers.entry(name_of(callee)).or_default().push(function);
            }
        }
    }
    let any = !work.is_empty();
    let mut seen = HashSet::new();
    let always = module.get_context().create_enum_attribute(Attribute::get_named_enum_kind_id("alwaysinline"), 0);
    while let Some(function) = work.pop() {
        if !seen.insert(name_of(function)) || waves.contains_key(&name_of(function)) {
            continue;
        }
        work.extend(callers.get(&name_of(function)).into_iter().flatten().copied());
        for never in ["noinline", "optnone"] {
            function.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(never));
        }
        function.add_attribute(AttributeLoc::Function, always);
    }
    if any {
        machines::run_passes(module, "always-inline", &machines::host()?)?;
    }
    Ok(any)
}

/// Lanes of a wave: what the function's features say, else what its chip has.
fn lanes(function: FunctionValue<'_>) -> u32 {
    let text = |key| {
        let found = function.get_string_attribute(AttributeLoc::Function, key);
        found.map_or(String::new(), |attribute| attribute.get_string_value().to_string_lossy().into_owned())
    };
    let (chip, features) = (text("target-cpu"), text("target-features"));
    match (features.contains("+wavefrontsize64"), features.contains("+wavefrontsize32")) {
        (true, _) => 64,
        (_, true) => 32,
        _ => Chip::find(&chip).map_or(32, |chip| if chip.has_wave32() { 32 } else { 64 }),
    }
}

/// Numbers the stops of functions.
struct Inserting<'m, 'ctx> {
    context: &'ctx Context,
    module: &'m Module<'ctx>,
    builder: Builder<'ctx>,
    lanes: u32,
}

impl<'ctx> Inserting<'_, 'ctx> {
    fn function(&self, function: FunctionValue<'ctx>) -> Result<(), Error> {
        let blocks: Vec<BasicBlock<'ctx>> = function.get_basic_block_iter().collect();
        let number: HashMap<BasicBlock<'ctx>, usize> =
            blocks.iter().enumerate().map(|(n, block)| (*block, n)).collect();
        let found: Vec<Vec<_>> = blocks
            .iter()
            .map(|block| block.get_instructions().filter_map(|i| Some((i, operation(i)?))).collect())
            .collect();
        let stops: Vec<bool> = found.iter().map(|block| block.iter().any(|(_, operation)| operation.stops)).collect();
        let successors: Vec<Vec<usize>> = blocks.iter().map(|block| successors(*block, &number)).collect();
        let mut sites = 0;
        for place in order(&successors, &stops) {
            match place {
                Place::Block(block) => {
                    for (instruction, operation) in &found[block] {
                        self.call(*instruction, operation, sites)?;
                        sites += 1;
                    }
                }
                Place::Round(ends) => {
                    for end in ends.into_iter().filter_map(|end| blocks[end].get_terminator()) {
                        self.builder.position_before(&end);
                        self.build("latch", &[], sites)?;
                    }
                    sites += 1;
                }
            }
        }
        Ok(())
    }

    /// Calls the library's function for an operation, which takes integers of 64 bits and the site.
    fn build(&self, name: &str, values: &[IntValue<'ctx>], site: u64) -> Result<IntValue<'ctx>, Error> {
        let symbol = format!("__regrain_amdgcn_{}", name.replace('.', "_"));
        let (long, int) = (self.context.i64_type(), self.context.i32_type());
        let function = self.module.get_function(&symbol).unwrap_or_else(|| {
            let mut parameters = vec![long.into(); values.len()];
            parameters.push(int.into());
            self.module.add_function(&symbol, long.fn_type(&parameters, false), None)
        });
        let mut arguments: Vec<BasicMetadataValueEnum<'ctx>> = values.iter().map(|value| (*value).into()).collect();
        let wide = if self.lanes == 64 { WAVE64 } else { 0 };
        arguments.push(int.const_int(wide | site, false).into());
        let call = self.builder.build_call(function, &arguments, "").map_err(failed)?;
        Ok(call.try_as_basic_value().expect_basic("a result").into_int_value())
    }

    fn call(&self, instruction: InstructionValue<'ctx>, operation: &Operation, site: u64) -> Result<(), Error> {
        self.builder.position_before(&instruction);
        let count = instruction.get_num_operands().saturating_sub(1);
        let mut values = Vec::new();
        for operand in (0..count).filter_map(|at| instruction.get_operand(at)?.value()) {
            values.push(self.number(instruction, operand)?);
        }
        let result = self.build(operation.name, &values, site)?;
        if let Ok(wanted) = BasicTypeEnum::try_from(instruction.get_type()) {
            let result = self.value(instruction, result, wanted)?;
            if let Some(result) = result.as_instruction_value() {
                instruction.replace_all_uses_with(&result);
            }
        }
        instruction.erase_from_basic_block();
        Ok(())
    }

    /// An integer of the size of `of`.
    fn integer(&self, at: InstructionValue<'ctx>, of: BasicTypeEnum<'ctx>) -> Result<IntType<'ctx>, Error> {
        let bits = NonZeroU32::new(width(at, of)?).ok_or_else(|| too_wide(at))?;
        self.context.custom_width_int_type(bits).map_err(|_| too_wide(at))
    }

    /// The bits of a value.
    fn number(&self, at: InstructionValue<'ctx>, value: BasicValueEnum<'ctx>) -> Result<IntValue<'ctx>, Error> {
        let long = self.context.i64_type();
        let bits = match value {
            BasicValueEnum::PointerValue(pointer) => {
                return self.builder.build_ptr_to_int(pointer, long, "").map_err(failed);
            }
            BasicValueEnum::IntValue(number) => number,
            other => {
                let number = self.integer(at, other.get_type())?;
                self.builder.build_bit_cast(other, number, "").map_err(failed)?.into_int_value()
            }
        };
        if bits.get_type().get_bit_width() > 64 {
            return Err(too_wide(at));
        }
        self.builder.build_int_z_extend_or_bit_cast(bits, long, "").map_err(failed)
    }

    /// The value of type `wanted` that has these bits.
    fn value(
        &self,
        at: InstructionValue<'ctx>,
        bits: IntValue<'ctx>,
        wanted: BasicTypeEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, Error> {
        if let BasicTypeEnum::PointerType(pointer) = wanted {
            return Ok(self.builder.build_int_to_ptr(bits, pointer, "").map_err(failed)?.into());
        }
        let number = self.integer(at, wanted)?;
        let number = self.builder.build_int_truncate_or_bit_cast(bits, number, "").map_err(failed)?;
        match wanted {
            BasicTypeEnum::IntType(_) => Ok(number.into()),
            other => self.builder.build_bit_cast(number, other, "").map_err(failed),
        }
    }
}

fn too_wide(at: InstructionValue<'_>) -> Error {
    unsupported(at, "emulation has no operation of a wave on more than 64 bits")
}

/// Bits of a type.
fn width(at: InstructionValue<'_>, of: BasicTypeEnum<'_>) -> Result<u32, Error> {
    let bits = match of {
        BasicTypeEnum::IntType(number) => number.get_bit_width(),
        BasicTypeEnum::FloatType(number) => number.get_bit_width(),
        BasicTypeEnum::VectorType(vector) => vector.get_size() * width(at, vector.get_element_type())?,
        _ => u32::MAX,
    };
    if bits > 64 { Err(too_wide(at)) } else { Ok(bits) }
}

fn successors<'ctx>(block: BasicBlock<'ctx>, number: &HashMap<BasicBlock<'ctx>, usize>) -> Vec<usize> {
    let Some(end) = block.get_terminator() else { return Vec::new() };
    let next = (0..end.get_num_operands()).filter_map(|at| match end.get_operand(at)? {
        Operand::Block(next) => number.get(&next).copied(),
        Operand::Value(_) => None,
    });
    next.collect()
}
