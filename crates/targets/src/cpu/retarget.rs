//! From NVPTX device IR to IR for the host.
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
//! Address spaces 1, 3, 4 and 5 stay in the IR: on x86-64 and AArch64 all of them are the one flat space, and casts
//! between them cost nothing. A worker thread runs one block at a time, so block-shared memory is thread-local.
//! What has no counterpart (an instruction of inline PTX that we do not know) is an error with its location.

use inkwell::AddressSpace;
use inkwell::GlobalVisibility;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetTriple;
use inkwell::types::{AnyTypeEnum, BasicTypeEnum, FunctionType};
use inkwell::values::{BasicMetadataValueEnum, CallSiteValue, FunctionValue, GlobalValue, InstructionOpcode};
use mlir_bridge::llvm;

use super::codegen;
use crate::target::BlockOptions;
use super::device_library;
use crate::{Error, inline_ptx};

/// LLVM's number of the `ptx_kernel` calling convention.
pub(super) const PTX_KERNEL: u32 = 71;
const SHARED: u16 = 3;
/// The thread-local array of the runtime that holds a block's dynamic shared memory.
const DYNAMIC_SHARED: &str = "__regrain_dynamic_shared";

/// Makes `module` IR of the host. Kernels keep their names here; [`super::symbols`] renames.
pub(super) fn retarget<'ctx>(context: &'ctx Context, module: &Module<'ctx>, options: &BlockOptions) -> Result<(), Error> {
    inline_ptx::lower_inline_ptx(module).map_err(|all| match all.into_iter().next() {
        Some(first) => Error::Unsupported(first),
        None => Error::internal("lowering inline PTX", "no reason given"),
    })?;
    resolve_reflection(module, options)?;
    drop_device_metadata(module);
    for function in module.get_functions() {
        plain_function(function);
    }
    place_shared(context, module, options);
    for function in module.get_functions().collect::<Vec<_>>() {
        replace_intrinsic(context, module, function)?;
    }
    let machine = codegen::machine(options)?;
    module.set_triple(&TargetTriple::create(&machine.get_triple().as_str().to_string_lossy()));
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    Ok(())
}

/// `__nvvm_reflect("__CUDA_ARCH")` and the like become the constants that the source saw.
fn resolve_reflection(module: &Module<'_>, options: &BlockOptions) -> Result<(), Error> {
    if module.get_function("__nvvm_reflect").is_none() && module.get_function("llvm.nvvm.reflect").is_none() {
        return Ok(());
    }
    let machine = codegen::nvptx_machine(options.cuda_arch)?;
    codegen::run(module, "nvvm-reflect", &machine)
}

/// Attributes and globals that only mean something to NVPTX.
fn drop_device_metadata(module: &Module<'_>) {
    for name in ["llvm.compiler.used", "llvm.used"] {
        if let Some(global) = module.get_global(name) {
            llvm::remove_list(global);
        }
    }
}

fn plain_function(function: FunctionValue<'_>) {
    function.set_call_conventions(0);
    for key in ["target-cpu", "target-features", "frame-pointer", "stack-protector-buffer-size"] {
        function.remove_string_attribute(AttributeLoc::Function, key);
    }
    // A CUDA thread is a thread of its own here: synchronising calls are opaque, nothing else is convergent.
    let convergent = Attribute::get_named_enum_kind_id("convergent");
    function.remove_enum_attribute(AttributeLoc::Function, convergent);
    // Contraction would be decided by the shape of the code around an operation; every form of a kernel must give the
    // same bits, so only explicit fused operations stay fused.
    llvm::forbid_contraction(function);
    for block in function.get_basic_block_iter() {
        for instruction in block.get_instructions() {
            if instruction.get_opcode() == InstructionOpcode::Call
                && let Ok(call) = CallSiteValue::try_from(instruction)
            {
                call.set_call_convention(0);
                call.remove_enum_attribute(AttributeLoc::Function, convergent);
            }
        }
    }
}

/// Block-shared variables become thread-local ones.
fn place_shared<'ctx>(context: &'ctx Context, module: &Module<'ctx>, options: &BlockOptions) {
    for global in module.get_globals().collect::<Vec<_>>() {
        let space = global.as_pointer_value().get_type().get_address_space();
        if space != AddressSpace::from(SHARED) {
            continue;
        }
        let replacement = if global.is_declaration() {
            // Outlined kernels call theirs as the runtime does.
            global.set_name("");
            dynamic_shared(context, module)
        } else {
            static_shared(module, global, options)
        };
        let flat = replacement.as_pointer_value();
        let cast = flat.const_address_space_cast(context.ptr_type(AddressSpace::from(SHARED)));
        llvm::replace_global(global, cast);
    }
}

fn dynamic_shared<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> GlobalValue<'ctx> {
    if let Some(global) = module.get_global(DYNAMIC_SHARED) {
        return global;
    }
    let global = module.add_global(context.i8_type().array_type(0), None, DYNAMIC_SHARED);
    global.set_thread_local(true);
    global.set_alignment(16);
    global
}

/// The linkage is external so that no optimisation takes the variable for one thread's own: a barrier, which the
/// optimiser sees as an unknown call, changes it.
fn static_shared<'ctx>(module: &Module<'ctx>, old: GlobalValue<'ctx>, options: &BlockOptions) -> GlobalValue<'ctx> {
    let name = old.get_name().to_string_lossy().into_owned();
    let value_type = basic(old.get_value_type());
    let new = module.add_global(value_type, None, &format!("__regrain_shared.{}.{name}", options.unit));
    new.set_initializer(&value_type.const_zero());
    new.set_thread_local(true);
    new.set_linkage(Linkage::External);
    new.set_visibility(GlobalVisibility::Hidden);
    new.set_alignment(old.get_alignment().max(16));
    new
}

fn basic(ty: AnyTypeEnum<'_>) -> BasicTypeEnum<'_> {
    BasicTypeEnum::try_from(ty).expect("a global variable has a first-class type")
}

/// Sends the calls of one `llvm.nvvm.*` intrinsic to the device library (see its README for the names), those of
/// `llvm.trap` to the runtime.
fn replace_intrinsic<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    intrinsic: FunctionValue<'ctx>,
) -> Result<(), Error> {
    let name = intrinsic.get_name().to_string_lossy().into_owned();
    // The host's own trap would end the process.
    let target = match name.as_str() {
        "llvm.trap" => "__regrain_trap".to_owned(),
        _ if name.starts_with("llvm.nvvm.") => device_library::intrinsic_symbol(&name),
        _ => return Ok(()),
    };
    let signature = intrinsic.get_type();
    let replacement = match signature.get_return_type() {
        Some(BasicTypeEnum::StructType(_)) => struct_result(context, module, &name, signature)?,
        _ => module
            .get_function(&target)
            .unwrap_or_else(|| module.add_function(&target, signature, Some(Linkage::External))),
    };
    llvm::replace_function(intrinsic, replacement);
    Ok(())
}

/// A struct result comes back through a pointer: C's and LLVM's ways to return one differ.
fn struct_result<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    name: &str,
    signature: FunctionType<'ctx>,
) -> Result<FunctionValue<'ctx>, Error> {
    let wrapper_name = format!("{}.struct", device_library::intrinsic_symbol(name));
    if let Some(done) = module.get_function(&wrapper_name) {
        return Ok(done);
    }
    let result = signature.get_return_type().expect("a struct result");
    let mut parameters = vec![context.ptr_type(AddressSpace::default()).into()];
    parameters.extend(signature.get_param_types());
    let out = module.add_function(
        &device_library::struct_intrinsic_symbol(name),
        context.void_type().fn_type(&parameters, false),
        None,
    );
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
