//! Versions of kernels for a constant block shape, on a GPU.
//!
//! A kernel that the host launches with a constant shape gets a second version that knows it: reads of `blockDim` are
//! constants and the assembler knows the number of threads. It is clang's code otherwise, made before any optimisation.
//!
//! Device side: `@k` stays as it is, and beside it
//!
//! ```text
//! define ptx_kernel void @"k$b16x16x1"(...) "nvvm.reqntid"="16,16,1"
//! ```
//! Host side: the launch stub chooses by the shape of the launch, which is a constant once it is inlined:
//!
//! ```text
//! %match = icmp eq i64 %blockxy, 68719476752            ; and z, and dynamic shared memory within the common limit
//! %handle = select i1 %match, ptr @"__regrain_handle.k$b16x16x1", ptr @__device_stub__k
//! call i32 @cudaLaunchKernel(ptr %handle, ...)
//! ```
//! and the handle is registered beside the stub. Declined for a whole unit that sets attributes of functions
//! (`cudaFuncSetAttribute`, `cudaFuncSetCacheConfig`), since they are set on the stub's handle alone; launches by
//! `cudaLaunchKernel` with a pointer keep the general version.

use std::collections::BTreeMap;

use inkwell::attributes::AttributeLoc;
use inkwell::builder::BuilderError;
use inkwell::module::{Linkage, Module};
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, FunctionValue, GlobalValue, InstructionValue, PointerValue,
};
use inkwell::{AddressSpace, IntPredicate};
use mlir_bridge::llvm;

use crate::error::Error;
use crate::launches::{self, BlockShape, LAUNCH_FUNCTIONS};

/// Dynamic shared memory that every launch may use without the program asking for more, bytes.
pub(crate) const COMMON_SHARED_LIMIT: u64 = 48 << 10;

/// Kernels and the shapes that they are specialised for.
pub type Shapes = BTreeMap<String, Vec<BlockShape>>;

/// Name of the version of `kernel` for `shape`; PTX allows the dollar sign, C++ names do not have it.
pub fn version_name(kernel: &str, [x, y, z]: BlockShape) -> String {
    format!("{kernel}$b{x}x{y}x{z}")
}

/// Whether launches in `host` may be redirected at all.
pub fn is_allowed(host: &Module<'_>) -> bool {
    ["cudaFuncSetAttribute", "cudaFuncSetCacheConfig", "cudaFuncSetSharedMemConfig"]
        .iter()
        .all(|name| host.get_function(name).is_none())
}

/// Static shared memory of a device module, bytes: an upper bound of what any of its kernels has.
pub fn static_shared(module: &Module<'_>, machine: &TargetMachine) -> u64 {
    let layout = machine.get_target_data();
    let is_shared =
        |g: &GlobalValue<'_>| g.as_pointer_value().get_type().get_address_space() == AddressSpace::from(3u16);
    module
        .get_globals()
        .filter(|g| is_shared(g) && !g.is_declaration())
        .map(|g| layout.get_abi_size(&g.get_value_type()))
        .sum()
}

/// Adds the versions to a device module of clang's. `machine` is one for the module's chip.
pub fn device(module: &Module<'_>, shapes: &Shapes, machine: &TargetMachine) -> Result<(), Error> {
    let failed = |message: String| Error::Internal { doing: "specialising kernels".into(), message };
    // `blockDim.x` is a call of a small function until then.
    module.run_passes("always-inline", machine, PassBuilderOptions::create()).map_err(|e| failed(e.to_string()))?;
    for (kernel, shapes) in shapes {
        let Some(function) = module.get_function(kernel).filter(|f| f.get_first_basic_block().is_some()) else {
            continue;
        };
        for shape in shapes {
            specialise(module, function, &version_name(kernel, *shape), *shape);
        }
    }
    Ok(())
}

fn specialise<'ctx>(module: &Module<'ctx>, kernel: FunctionValue<'ctx>, name: &str, shape: BlockShape) {
    let version = llvm::clone_function(kernel, name);
    version.remove_string_attribute(AttributeLoc::Function, "nvvm.maxntid");
    let [x, y, z] = shape;
    let required = module.get_context().create_string_attribute("nvvm.reqntid", &format!("{x},{y},{z}"));
    version.add_attribute(AttributeLoc::Function, required);
    for (axis, size) in ["x", "y", "z"].into_iter().zip(shape) {
        let read = format!("llvm.nvvm.read.ptx.sreg.ntid.{axis}");
        let size = module.get_context().i32_type().const_int(size.into(), false);
        for call in launches::calls(version).collect::<Vec<_>>() {
            if launches::callee_name(call).as_deref() == Some(&read) {
                llvm::replace_by_constant(call, size);
            }
        }
    }
}

/// Lets the launch stubs of `host`, unoptimised, choose among the versions, and registers them.
/// `static_shared` is an upper bound of any kernel's static shared memory, bytes.
pub fn host(module: &Module<'_>, shapes: &Shapes, static_shared: u64) -> Result<(), Error> {
    let failed = |e: BuilderError| Error::Internal { doing: "choosing kernel versions".into(), message: e.to_string() };
    let limit = COMMON_SHARED_LIMIT.saturating_sub(static_shared);
    for (stub, kernel) in launches::kernels_of_stubs(module) {
        let (Some(stub), Some(shapes)) = (module.get_function(&stub), shapes.get(&kernel)) else { continue };
        let launch = launches::calls(stub)
            .find(|c| launches::callee_name(*c).is_some_and(|name| LAUNCH_FUNCTIONS.contains(&name.as_str())));
        let Some(launch) = launch else { continue };
        for shape in shapes {
            let name = version_name(&kernel, *shape);
            let handle = handle(module, &name);
            register(module, handle, &name).map_err(failed)?;
            choose(module, launch, handle, *shape, limit).map_err(failed)?;
        }
    }
    Ok(())
}

/// What stands for the version in calls of the CUDA runtime: an address that nothing else has.
fn handle<'ctx>(module: &Module<'ctx>, name: &str) -> PointerValue<'ctx> {
    let byte = module.get_context().i8_type();
    define_handle(module, module.add_global(byte, None, &format!("__regrain_handle.{name}")))
}

/// Makes a declared handle one of this unit.
pub(crate) fn define_handle<'ctx>(module: &Module<'ctx>, global: GlobalValue<'ctx>) -> PointerValue<'ctx> {
    global.set_initializer(&module.get_context().i8_type().const_zero());
    global.set_linkage(Linkage::Internal);
    global.as_pointer_value()
}

/// Repeats the registration of the kernel's stub with another handle and name.
pub(crate) fn register<'ctx>(
    module: &Module<'ctx>,
    handle: PointerValue<'ctx>,
    name: &str,
) -> Result<(), BuilderError> {
    let (Some(all), Some(one)) =
        (module.get_function("__cuda_register_globals"), module.get_function("__cudaRegisterFunction"))
    else {
        return Ok(());
    };
    let end = all.get_last_basic_block().and_then(|block| block.get_terminator());
    let (Some(end), Some(binary)) = (end, all.get_first_param()) else { return Err(BuilderError::UnsetPosition) };
    let context = module.get_context();
    let builder = context.create_builder();
    builder.position_before(&end);
    let text = context.const_string(name.as_bytes(), true);
    let text_global = module.add_global(text.get_type(), None, "__regrain_name");
    text_global.set_initializer(&text);
    text_global.set_constant(true);
    text_global.set_linkage(Linkage::Private);
    let text = text_global.as_pointer_value();
    let null = handle.get_type().const_null();
    let no_limit = context.i32_type().const_all_ones();
    let arguments: [BasicMetadataValueEnum; 10] = [
        binary.into(),
        handle.into(),
        text.into(),
        text.into(),
        no_limit.into(),
        null.into(),
        null.into(),
        null.into(),
        null.into(),
        null.into(),
    ];
    builder.build_call(one, &arguments, "").map(drop)
}

/// Puts a choice before the handle that `launch` now uses.
fn choose<'ctx>(
    module: &Module<'ctx>,
    launch: InstructionValue<'ctx>,
    handle: PointerValue<'ctx>,
    [x, y, z]: BlockShape,
    shared_limit: u64,
) -> Result<(), BuilderError> {
    let operand = |index: u32| launch.get_operand(index).and_then(|o| o.value());
    let (Some(general), Some(xy), Some(depth), Some(shared)) = (operand(0), operand(3), operand(4), operand(6)) else {
        return Ok(());
    };
    let (BasicValueEnum::IntValue(xy), BasicValueEnum::IntValue(depth), BasicValueEnum::IntValue(shared)) =
        (xy, depth, shared)
    else {
        return Ok(());
    };
    let builder = module.get_context().create_builder();
    builder.position_before(&launch);
    let wanted = xy.get_type().const_int(u64::from(x) | u64::from(y) << 32, false);
    let plane = builder.build_int_compare(IntPredicate::EQ, xy, wanted, "")?;
    let deep = builder.build_int_compare(IntPredicate::EQ, depth, depth.get_type().const_int(z.into(), false), "")?;
    let limit = shared.get_type().const_int(shared_limit, false);
    let small = builder.build_int_compare(IntPredicate::ULE, shared, limit, "")?;
    let shape = builder.build_and(plane, deep, "")?;
    let all = builder.build_and(shape, small, "")?;
    let chosen = builder.build_select(all, handle, general.into_pointer_value(), "kernel")?;
    launch.set_operand(0, chosen);
    Ok(())
}
