//! The function of a nest asks what stands for it first:
//!
//! ```text
//!   define internal void @f.region0(...) {          define internal void @f.region0(...) {
//!   entry:                                            %done = call i32 @regrain_f_region0(...)
//!     ...                                    ->       br %done ? leave : entry
//!                                                   entry: ...
//! ```

use inkwell::IntPredicate;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicMetadataValueEnum, FunctionValue};

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

/// Takes the module that launches into the host's.
///
/// # Errors
/// The modules do not fit: a defect of ours.
pub fn link<'ctx>(host: &Module<'ctx>, launches: Module<'ctx>) -> Result<()> {
    host.link_in_module(launches).map_err(|error| Error::internal(error.to_string()))
}

/// Has nests ask what stands for them, in a module that has both.
///
/// # Errors
/// It has not: a defect of ours.
pub fn join(host: &Module<'_>, functions: &[Function]) -> Result<()> {
    let of = |name: &str| Error::internal(format!("no function '{name}'"));
    for function in functions {
        let nest = host.get_function(&function.name).ok_or_else(|| of(&function.name))?;
        let launches = host.get_function(&function.launches).ok_or_else(|| of(&function.launches))?;
        launches.set_linkage(Linkage::Internal);
        let arguments = arguments(host, nest, function).ok_or_else(|| of(&function.name))?;
        ask(host, nest, launches, &arguments).map_err(|error| Error::internal(error.to_string()))?;
    }
    Ok(())
}

fn arguments<'ctx>(
    host: &Module<'ctx>,
    nest: FunctionValue<'ctx>,
    function: &Function,
) -> Option<Vec<BasicMetadataValueEnum<'ctx>>> {
    let of = |argument: &Argument| {
        Some(match argument {
            Argument::Parameter(number) => nest.get_nth_param(u32::try_from(*number).ok()?)?.into(),
            Argument::Variable(name) => host.get_global(name)?.as_pointer_value().into(),
        })
    };
    function.arguments.iter().map(of).collect()
}

fn ask<'ctx>(
    host: &Module<'ctx>,
    nest: FunctionValue<'ctx>,
    launches: FunctionValue<'ctx>,
    arguments: &[BasicMetadataValueEnum<'ctx>],
) -> std::result::Result<(), inkwell::builder::BuilderError> {
    let Some(entry) = nest.get_first_basic_block() else { return Ok(()) };
    let context = host.get_context();
    let (ask, leave) = (context.prepend_basic_block(entry, "ask"), context.append_basic_block(nest, "leave"));
    let builder = context.create_builder();
    builder.position_at_end(leave);
    builder.build_return(None)?;
    builder.position_at_end(ask);
    let done = builder.build_call(launches, arguments, "done")?;
    let zero = context.i32_type().const_zero();
    match done.try_as_basic_value().basic() {
        Some(done) => {
            let is_done = builder.build_int_compare(IntPredicate::NE, done.into_int_value(), zero, "is_done")?;
            builder.build_conditional_branch(is_done, leave, entry)?;
        }
        None => drop(builder.build_unconditional_branch(entry)?),
    }
    Ok(())
}
