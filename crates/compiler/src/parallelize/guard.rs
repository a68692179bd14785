//! The function of a nest asks what stands for it first:
//!
//! ```text
//!   define internal void @f.region0(...) {          define internal void @f.region0(...) {
//!   entry:                                            %done = call i32 @regrain_f_region0(...)
//!     ...                                    ->       br %done ? leave : entry
//!                                                   entry: ...
//! ```

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicMetadataTypeEnum, BasicTypeEnum, FunctionType};
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, FunctionValue};
use inkwell::{GlobalVisibility, IntPredicate};

use crate::error::{Error, Result};

/// What an argument of what stands for a nest is.
pub enum Argument {
    /// The nest's own.
    Parameter(usize),
    /// The address of a variable.
    Variable(String),
}

/// The function of a nest.
pub struct Function {
    /// Its name.
    pub name: String,
    /// That of what stands for it.
    pub launches: String,
    /// What that is given.
    pub arguments: Vec<Argument>,
}

/// Has what launches compiled as fast as can be: it runs once for a nest, and is most of a short source.
pub fn compile_cheaply(launches: &Module<'_>) {
    let context = launches.get_context();
    let kind = Attribute::get_named_enum_kind_id;
    let is_ours = |function: &FunctionValue<'_>| {
        let has = |name| function.get_enum_attribute(AttributeLoc::Function, kind(name)).is_some();
        function.count_basic_blocks() != 0
            && function.get_linkage() != Linkage::LinkOnceODR
            && !["alwaysinline", "optsize", "minsize"].into_iter().any(has)
    };
    for function in launches.get_functions().filter(is_ours) {
        for name in ["noinline", "optnone"] {
            function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind(name), 0));
        }
    }
}

/// What clang gets of the host's code and the module that launches, whose functions in `asked` that code calls: one module, or where there
/// is no such code any more the one that launches, for an object of its own.
///
/// # Errors
/// The modules do not fit: a defect of ours.
pub fn whole<'n, 'ctx>(
    host: Option<Module<'ctx>>,
    launches: Module<'ctx>,
    asked: impl Iterator<Item = &'n str>,
) -> Result<Module<'ctx>> {
    let is_apart = host.is_none();
    let whole = match host {
        Some(host) => {
            host.link_in_module(launches).map_err(|error| Error::internal(error.to_string()))?;
            host
        }
        None => launches,
    };
    for name in asked {
        let function = whole.get_function(name).ok_or_else(|| Error::internal(format!("no function '{name}'")))?;
        if is_apart {
            function.as_global_value().set_visibility(GlobalVisibility::Hidden);
        } else {
            function.set_linkage(Linkage::Internal);
        }
    }
    Ok(whole)
}

/// Declares a function of the module that launches.
pub fn declare<'ctx>(host: &Module<'ctx>, name: &str, signature: FunctionType<'ctx>) -> FunctionValue<'ctx> {
    let function = host.add_function(name, signature, None);
    function.as_global_value().set_visibility(GlobalVisibility::Hidden);
    function
}

/// Has nests ask what stands for them.
///
/// # Errors
/// There is no such nest: a defect of ours.
pub fn join(host: &Module<'_>, functions: &[Function]) -> Result<()> {
    for function in functions {
        let of = || Error::internal(format!("no function '{}'", function.name));
        let nest = host.get_function(&function.name).ok_or_else(of)?;
        let arguments = arguments(host, nest, function).ok_or_else(of)?;
        let types: Vec<BasicMetadataTypeEnum<'_>> = arguments.iter().map(|one| one.get_type().into()).collect();
        let signature = host.get_context().i32_type().fn_type(&types, false);
        let launches = declare(host, &function.launches, signature);
        ask(host, nest, launches, &arguments).map_err(|error| Error::internal(error.to_string()))?;
    }
    Ok(())
}

fn arguments<'ctx>(
    host: &Module<'ctx>,
    nest: FunctionValue<'ctx>,
    function: &Function,
) -> Option<Vec<BasicValueEnum<'ctx>>> {
    let of = |argument: &Argument| {
        Some(match argument {
            Argument::Parameter(number) => nest.get_nth_param(u32::try_from(*number).ok()?)?,
            Argument::Variable(name) => host.get_global(name)?.as_pointer_value().into(),
        })
    };
    function.arguments.iter().map(of).collect()
}

fn ask<'ctx>(
    host: &Module<'ctx>,
    nest: FunctionValue<'ctx>,
    launches: FunctionValue<'ctx>,
    arguments: &[BasicValueEnum<'ctx>],
) -> std::result::Result<(), inkwell::builder::BuilderError> {
    let Some(entry) = nest.get_first_basic_block() else { return Ok(()) };
    let context = host.get_context();
    let (ask, leave) = (context.prepend_basic_block(entry, "ask"), context.append_basic_block(nest, "leave"));
    let builder = context.create_builder();
    builder.position_at_end(leave);
    builder.build_return(None)?;
    builder.position_at_end(ask);
    let given: Vec<BasicMetadataValueEnum<'_>> = arguments.iter().map(|argument| (*argument).into()).collect();
    let call = builder.build_call(launches, &given, "done")?;
    for (number, argument) in (0..).zip(arguments) {
        // As C's calls have small integers.
        let extension = match argument.get_type() {
            BasicTypeEnum::IntType(ty) if ty.get_bit_width() == 1 => "zeroext",
            BasicTypeEnum::IntType(ty) if ty.get_bit_width() < 32 => "signext",
            _ => continue,
        };
        let kind = Attribute::get_named_enum_kind_id(extension);
        call.add_attribute(AttributeLoc::Param(number), context.create_enum_attribute(kind, 0));
    }
    let done = call.try_as_basic_value().unwrap_basic().into_int_value();
    let is_done = builder.build_int_compare(IntPredicate::NE, done, context.i32_type().const_zero(), "is_done")?;
    builder.build_conditional_branch(is_done, leave, entry)?;
    Ok(())
}
