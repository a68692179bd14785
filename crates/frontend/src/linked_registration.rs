//! The host side of a unit whose device code launches kernels.
//!
//! clang takes such launches with `-fgpu-rdc` alone, on both sides. Its host side then leaves registration to NVIDIA's device linker, and
//! names what is private to the unit as the device side does:
//!
//! ```text
//! @1 = private constant [n x i8] c"_ZL1kPi__intern__e325bd1abb4d18c8\00"
//! @id = private constant [22 x i8] c"__nv_c49e0071cf2cb451\00", section "__nv_module_id"
//! @__fatbinwrap__nv_c49e0071cf2cb451 = alias { i32, i32, ptr, ptr }, ptr @__cuda_fatbin_wrapper
//! define internal void @__cuda_module_ctor() {
//!   call void @__cudaRegisterLinkedBinary__nv_c49e0071cf2cb451(ptr @__cuda_register_globals, ptr @__cuda_fatbin_wrapper, ptr @id, ptr @dummy)
//! ```
//! becomes what all other units have:
//! ```text
//! @1 = private constant [n x i8] c"_ZL1kPi\00"
//! define internal void @__cuda_module_ctor() {
//!   %1 = call ptr @__cudaRegisterFatBinary(ptr @__cuda_fatbin_wrapper)
//!   store ptr %1, ptr @__cuda_gpubin_handle
//!   call void @__cuda_register_globals(ptr %1)
//!   call void @__cudaRegisterFatBinaryEnd(ptr %1)
//!   %2 = call i32 @atexit(ptr @__cuda_module_dtor)
//! ```

use std::ffi::OsString;

use inkwell::AddressSpace;
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::{Linkage, Module};
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::{FunctionValue, GlobalValue};
use mlir_bridge::llvm;

use crate::host;
use crate::launches::calls;
use crate::private_names::plain_name;
use crate::unit::TranslationUnit;

/// How clang says that a kernel is launched by device code on a side that is not relocatable.
pub const ERROR: &str = "kernel launch from __device__ or __global__ function requires relocatable device code";

const REGISTER: &str = "__cudaRegisterLinkedBinary";
const CONSTRUCTOR: &str = "__cuda_module_ctor";
const ALIAS: &str = "__fatbinwrap";
const UNIT_NUMBERS: &str = "__nv_module_id";

/// What the host side of such a unit is compiled with.
pub fn options(unit: &TranslationUnit) -> Vec<OsString> {
    let options = ["--no-offload-new-driver", "-Xclang", "-fgpu-rdc"].map(OsString::from);
    options.into_iter().chain([format!("-cuid={}", unit.id()).into()]).collect()
}

/// Lets the host side of the unit `id` register itself, if it was compiled so; whether it was.
pub fn by_itself(host: &Module<'_>, id: &str) -> bool {
    let found = host.get_functions().find(|f| f.get_name().to_bytes().starts_with(REGISTER.as_bytes()));
    let (Some(linked), Some(constructor)) = (found, host.get_function(CONSTRUCTOR)) else { return false };
    let own = define(host, linked).expect("IR that can be built");
    for call in calls(constructor).filter(|call| llvm::callee(*call) == Some(linked)).collect::<Vec<_>>() {
        llvm::set_callee(call, own);
        llvm::inline_call(call);
    }
    llvm::remove_unused(linked);
    llvm::remove_unused(own);
    llvm::hide_aliases(host, ALIAS);
    let is_number = |global: &GlobalValue<'_>| {
        global.get_section().is_some_and(|section| section.to_bytes() == UNIT_NUMBERS.as_bytes())
    };
    for number in host.get_globals().filter(is_number) {
        number.set_section(None);
    }
    host::register_as(host, |name| plain_name(name, id));
    true
}

/// A function in the place of the linker's, which registers the unit alone.
fn define<'ctx>(host: &Module<'ctx>, linked: FunctionValue<'ctx>) -> Result<FunctionValue<'ctx>, BuilderError> {
    let context = host.get_context();
    let pointer = context.ptr_type(AddressSpace::default());
    let function = host.add_function("__regrain_register", linked.get_type(), Some(Linkage::Internal));
    let handle = host.add_global(pointer, None, "__cuda_gpubin_handle");
    handle.set_initializer(&pointer.const_null());
    handle.set_linkage(Linkage::Internal);
    let takes: [BasicMetadataTypeEnum<'ctx>; 1] = [pointer.into()];
    let declare = |name: &str, ty| host.get_function(name).unwrap_or_else(|| host.add_function(name, ty, None));
    let builder: Builder<'ctx> = context.create_builder();

    let destructor = host.add_function("__cuda_module_dtor", context.void_type().fn_type(&[], false), None);
    destructor.set_linkage(Linkage::Internal);
    builder.position_at_end(context.append_basic_block(destructor, ""));
    let loaded = builder.build_load(pointer, handle.as_pointer_value(), "")?;
    let unregister = declare("__cudaUnregisterFatBinary", context.void_type().fn_type(&takes, false));
    builder.build_call(unregister, &[loaded.into()], "")?;
    builder.build_return(None)?;

    let parameter = |index| function.get_nth_param(index).expect("four parameters").into_pointer_value();
    builder.position_at_end(context.append_basic_block(function, ""));
    let register = declare("__cudaRegisterFatBinary", pointer.fn_type(&takes, false));
    let made = builder.build_call(register, &[parameter(1).into()], "")?.try_as_basic_value().unwrap_basic();
    builder.build_store(handle.as_pointer_value(), made)?;
    builder.build_indirect_call(context.void_type().fn_type(&takes, false), parameter(0), &[made.into()], "")?;
    let end = declare("__cudaRegisterFatBinaryEnd", context.void_type().fn_type(&takes, false));
    builder.build_call(end, &[made.into()], "")?;
    let at_exit = declare("atexit", context.i32_type().fn_type(&takes, false));
    builder.build_call(at_exit, &[destructor.as_global_value().as_pointer_value().into()], "")?;
    builder.build_return(None)?;
    Ok(function)
}
