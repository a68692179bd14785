//! From NVPTX device IR to IR of another target; here, of a CPU.
//!
//! ```text
//! @tile = internal addrspace(3) global [256 x float] undef
//! @dyn  = external addrspace(3) global [0 x float]
//! %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
//! call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
//! ```
//! becomes
//! ```text
//! @tile = hidden thread_local global [256 x float] zeroinitializer
//! @__regrain_dynamic_shared = external thread_local global [0 x i8]
//! %t = call i32 @__regrain_llvm_nvvm_read_ptx_sreg_tid_x()
//! call void @__regrain_llvm_nvvm_barrier_cta_sync_aligned_all(i32 0)
//! ```
//!
//! What has no counterpart (an instruction of inline PTX that we do not know) is an error with its location.

use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetTriple;
use inkwell::types::{BasicTypeEnum, FunctionType};
use inkwell::values::{BasicMetadataValueEnum, CallSiteValue, FunctionValue, InstructionOpcode};
use mlir_bridge::llvm;

use super::library::{intrinsic_symbol, struct_intrinsic_symbol};
use super::{Destination, inline_ptx};
use crate::nvvm::{KERNEL_CONVENTION, SHARED, matrices};
use crate::{Error, machines};

/// Makes `module` IR of the destination, over its device library, which is not linked yet. Symbols keep their names.
pub fn retarget<'ctx>(module: &Module<'ctx>, destination: &dyn Destination) -> Result<(), Error> {
    let library = destination.library().signatures();
    inline_ptx::lower_inline_ptx(module, library).map_err(|all| match all.into_iter().next() {
        Some(first) => Error::Unsupported(first),
        None => Error::internal("lowering inline PTX", "no reason given"),
    })?;
    resolve_reflection(module, destination.cuda_arch())?;
    drop_device_metadata(module);
    for function in module.get_functions() {
        plain_function(function, KERNEL_CONVENTION, destination);
    }
    place_shared(module, destination);
    for function in module.get_functions().collect::<Vec<_>>() {
        replace_intrinsic(module, function, destination, &|name| {
            (name.starts_with("llvm.nvvm.") || matrices::is_together(name)).then(|| intrinsic_symbol(name))
        })?;
    }
    let machine = destination.machine()?;
    module.set_triple(&TargetTriple::create(&machine.get_triple().as_str().to_string_lossy()));
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    Ok(())
}

/// `__nvvm_reflect("__CUDA_ARCH")` and the like become the constants that the source saw.
fn resolve_reflection(module: &Module<'_>, cuda_arch: u32) -> Result<(), Error> {
    if module.get_function("__nvvm_reflect").is_none() && module.get_function("llvm.nvvm.reflect").is_none() {
        return Ok(());
    }
    machines::run_passes(module, "nvvm-reflect", &machines::nvptx(cuda_arch)?)
}

/// Attributes and globals that only mean something to NVPTX.
pub(crate) fn drop_device_metadata(module: &Module<'_>) {
    for name in ["llvm.compiler.used", "llvm.used"] {
        if let Some(global) = module.get_global(name) {
            llvm::remove_list(global);
        }
    }
}

/// Kernels, which have the convention `kernel`, get the destination's, everything else C's; what only means something to another
/// target goes.
pub(crate) fn plain_function(function: FunctionValue<'_>, kernel: u32, destination: &dyn Destination) {
    let is_kernel = function.get_call_conventions() == kernel;
    function.set_call_conventions(if is_kernel { destination.kernel_convention() } else { 0 });
    for key in ["target-cpu", "target-features", "frame-pointer", "stack-protector-buffer-size"] {
        function.remove_string_attribute(AttributeLoc::Function, key);
    }
    let convergent = Attribute::get_named_enum_kind_id("convergent");
    if !destination.keeps_convergent() {
        function.remove_enum_attribute(AttributeLoc::Function, convergent);
    }
    if destination.forbids_contraction() {
        llvm::forbid_contraction(function);
    }
    for block in function.get_basic_block_iter() {
        for instruction in block.get_instructions() {
            if instruction.get_opcode() == InstructionOpcode::Call
                && let Ok(call) = CallSiteValue::try_from(instruction)
            {
                call.set_call_convention(0);
                if !destination.keeps_convergent() {
                    call.remove_enum_attribute(AttributeLoc::Function, convergent);
                }
            }
        }
    }
}

/// Block-shared variables go where the destination has them.
pub(crate) fn place_shared<'ctx>(module: &Module<'ctx>, destination: &dyn Destination) {
    let context = module.get_context();
    for global in module.get_globals().collect::<Vec<_>>() {
        if global.as_pointer_value().get_type().get_address_space() != AddressSpace::from(SHARED) {
            continue;
        }
        if let Some(flat) = destination.place_shared(module, global) {
            llvm::replace_global(global, flat.const_address_space_cast(context.ptr_type(AddressSpace::from(SHARED))));
        }
    }
}

/// Sends the calls of one intrinsic to the function that `wanted` says, those of `llvm.trap` where the destination wants them.
pub(crate) fn replace_intrinsic<'ctx>(
    module: &Module<'ctx>,
    intrinsic: FunctionValue<'ctx>,
    destination: &dyn Destination,
    wanted: &dyn Fn(&str) -> Option<String>,
) -> Result<(), Error> {
    let name = intrinsic.get_name().to_string_lossy().into_owned();
    let target = match name.as_str() {
        "llvm.trap" => destination.trap().map(str::to_owned),
        _ => wanted(&name),
    };
    let Some(target) = target else { return Ok(()) };
    let signature = intrinsic.get_type();
    let replacement = match signature.get_return_type() {
        Some(BasicTypeEnum::StructType(_)) => struct_result(module, &name, signature)?,
        _ => module
            .get_function(&target)
            .unwrap_or_else(|| module.add_function(&target, signature, Some(Linkage::External))),
    };
    llvm::replace_function(intrinsic, replacement);
    Ok(())
}

/// A struct result comes back through a pointer: C's and LLVM's ways to return one differ.
fn struct_result<'ctx>(
    module: &Module<'ctx>,
    name: &str,
    signature: FunctionType<'ctx>,
) -> Result<FunctionValue<'ctx>, Error> {
    let context = module.get_context();
    let wrapper_name = format!("{}.struct", intrinsic_symbol(name));
    if let Some(done) = module.get_function(&wrapper_name) {
        return Ok(done);
    }
    let result = signature.get_return_type().expect("a struct result");
    let mut parameters = vec![context.ptr_type(AddressSpace::default()).into()];
    parameters.extend(signature.get_param_types());
    let out =
        module.add_function(&struct_intrinsic_symbol(name), context.void_type().fn_type(&parameters, false), None);
    let wrapper = module.add_function(&wrapper_name, signature, Some(Linkage::Internal));
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(wrapper, "entry"));
    let failed = |e: inkwell::builder::BuilderError| Error::internal("building a call", e.to_string());
    let slot = builder.build_alloca(result, "result").map_err(failed)?;
    let mut arguments: Vec<BasicMetadataValueEnum> = vec![slot.into()];
    arguments.extend(wrapper.get_param_iter().map(BasicMetadataValueEnum::from));
    builder.build_call(out, &arguments, "").map_err(failed)?;
    let value = builder.build_load(result, slot, "").map_err(failed)?;
    builder.build_return(Some(&value)).map_err(failed)?;
    Ok(wrapper)
}
