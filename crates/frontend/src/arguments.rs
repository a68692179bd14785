//! Structures that a kernel takes by value and changes.
//!
//! Before: `%1` is `ptr byval(%S)`, and the kernel stores to what lies behind it. After: an `alloca %S` and a copy at the start of the
//! kernel, which everything else names instead. Members become values of each thread then, as those of any other local variable do;
//! in an argument they stay in memory, and nobody sees that they are the same in all threads.
//!
//! A structure that is only read stays where it is.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::types::AnyTypeEnum;
use inkwell::values::{
    AnyValueEnum, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, PointerValue,
};

/// Copies what kernels, functions of this calling convention, change; whether there was any.
pub fn copy_changed(module: &Module<'_>, convention: u32, layout: &TargetData) -> Result<bool, BuilderError> {
    let builder = module.get_context().create_builder();
    let mut any = false;
    for kernel in module.get_functions().filter(|function| function.get_call_conventions() == convention) {
        let Some(start) = kernel.get_first_basic_block().and_then(|block| block.get_first_instruction()) else {
            continue;
        };
        for index in 0..kernel.count_params() {
            let Some((argument, by_value)) = by_value(kernel, index) else {
                continue;
            };
            if is_changed(argument) {
                builder.position_before(&start);
                copy(&builder, argument, by_value.get_type_value(), layout)?;
                any = true;
            }
        }
    }
    Ok(any)
}

/// An argument that is passed by value, and the attribute that holds its type.
fn by_value<'ctx>(kernel: FunctionValue<'ctx>, index: u32) -> Option<(PointerValue<'ctx>, Attribute)> {
    let attribute =
        kernel.get_enum_attribute(AttributeLoc::Param(index), Attribute::get_named_enum_kind_id("byval"))?;
    match kernel.get_nth_param(index)? {
        BasicValueEnum::PointerValue(pointer) => Some((pointer, attribute)),
        _ => None,
    }
}

/// Whether memory behind a pointer may be written, or its address kept.
fn is_changed(pointer: PointerValue<'_>) -> bool {
    users(pointer).any(|user| match user.map(|user| (user, user.get_opcode())) {
        Some((_, InstructionOpcode::Load)) => false,
        Some((user, InstructionOpcode::GetElementPtr | InstructionOpcode::AddrSpaceCast)) => {
            PointerValue::try_from(user).map_or(true, is_changed)
        }
        _ => true,
    })
}

/// The instructions that name a pointer; none for what is no instruction.
fn users<'ctx>(pointer: PointerValue<'ctx>) -> impl Iterator<Item = Option<InstructionValue<'ctx>>> {
    std::iter::successors(pointer.get_first_use(), |each| each.get_next_use()).map(|each| match each.get_user() {
        AnyValueEnum::InstructionValue(user) => Some(user),
        other => BasicValueEnum::try_from(other).ok().and_then(|value| value.as_instruction_value()),
    })
}

fn copy<'ctx>(
    builder: &Builder<'ctx>,
    argument: PointerValue<'ctx>,
    ty: AnyTypeEnum<'ctx>,
    layout: &TargetData,
) -> Result<(), BuilderError> {
    let local = match ty {
        AnyTypeEnum::StructType(ty) => builder.build_alloca(ty, "own")?,
        AnyTypeEnum::ArrayType(ty) => builder.build_alloca(ty, "own")?,
        _ => return Ok(()),
    };
    argument.replace_all_uses_with(local);
    let size = argument.get_type().get_context().i64_type().const_int(layout.get_abi_size(&ty), false);
    let alignment = layout.get_abi_alignment(&ty);
    builder.build_memcpy(local, alignment, argument, alignment, size)?;
    Ok(())
}
