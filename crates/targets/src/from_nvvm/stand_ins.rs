//! What the destination cannot do fails where a thread gets there, not the file that holds it.
//!
//! ```text
//! %v = call { float, float, float, float } asm sideeffect "tex.2d.v4.f32.f32 ...", "..."(i64 %texture, float %x, float %y)
//! ```
//! becomes a call of
//! ```text
//! define internal { float, float, float, float } @__regrain_asm.0123456789abcdef(i64, float, float) {
//!   call void @__regrain_lacks(ptr @text)
//!   ret { float, float, float, float } zeroinitializer
//! }
//! ```
//! with which the launch fails with `cudaErrorNotSupported` and that text.

use std::collections::BTreeSet;

use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::types::FunctionType;
use inkwell::values::{CallSiteValue, FunctionValue, InstructionValue};
use mlir_bridge::llvm;

use super::inline_ptx::{is_lowered_matrix, unsupported_statements};
use super::lacks::lack;
use super::library::{intrinsic_symbol, struct_intrinsic_symbol};
use super::{DeviceLibrary, place};
use crate::{Error, Unsupported};

/// What a stand-in calls (`device-lib/cpu/system.c`).
const LACKS: &str = "__regrain_lacks";

/// Puts stand-ins in the place of what `target`, whose library is `library`, cannot do, and gives where that was.
///
/// # Errors
/// Ours alone.
pub(crate) fn stand_in<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    library: &DeviceLibrary,
    target: &str,
) -> Result<Vec<Unsupported>, Error> {
    let mut found = Vec::new();
    let mut put = |call: InstructionValue<'ctx>, name: &str, what: String| {
        let site = CallSiteValue::try_from(call).map_err(|()| Error::internal("standing in", "no call"))?;
        let function = match module.get_function(name) {
            Some(function) => function,
            None => make(context, module, name, site.get_called_fn_type(), &what)?,
        };
        let (location, caller) = place::of_program(call);
        llvm::set_callee(call, function);
        site.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id("memory"));
        found.push(Unsupported { function: caller, location, what });
        Ok::<(), Error>(())
    };
    let library = library.signatures();
    for (call, name, what) in unsupported_statements(module, library) {
        put(call, &name, what)?;
    }
    for intrinsic in module.get_functions().collect::<Vec<_>>() {
        let name = intrinsic.get_name().to_string_lossy().into_owned();
        if !name.starts_with("llvm.nvvm.") {
            continue;
        }
        let symbol = intrinsic_symbol(&name);
        let Some(what) = lack(&symbol) else { continue };
        let has = library.has(&symbol) || library.has(&struct_intrinsic_symbol(&name));
        if has || is_lowered_matrix(intrinsic, library) {
            continue;
        }
        for call in llvm::users(intrinsic.as_global_value()) {
            put(call, &format!("{symbol}.lacks"), format!("{target} has no {what} ('{name}')"))?;
        }
    }
    // What is put in many places of a line is said once.
    let mut said = BTreeSet::new();
    found.retain(|one| said.insert((one.function.clone(), one.location.clone(), one.what.clone())));
    Ok(found)
}

fn make<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    name: &str,
    ty: FunctionType<'ctx>,
    what: &str,
) -> Result<FunctionValue<'ctx>, Error> {
    let failed = |e: inkwell::builder::BuilderError| Error::internal("building a stand-in", e.to_string());
    let function = module.add_function(name, ty, Some(Linkage::Internal));
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, "entry"));
    let takes = context.void_type().fn_type(&[context.ptr_type(AddressSpace::default()).into()], false);
    let lacks = module.get_function(LACKS).unwrap_or_else(|| module.add_function(LACKS, takes, None));
    let text = builder.build_global_string_ptr(what, "lacks").map_err(failed)?;
    builder.build_call(lacks, &[text.as_pointer_value().into()], "").map_err(failed)?;
    match ty.get_return_type() {
        Some(result) => builder.build_return(Some(&result.const_zero())).map_err(failed)?,
        None => builder.build_return(None).map_err(failed)?,
    };
    Ok(function)
}
