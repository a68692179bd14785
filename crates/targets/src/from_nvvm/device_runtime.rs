//! CUDA's runtime for device code, where the destination's runtime has it: launches of kernels above all.
//!
//! ```text
//! %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 16)           ; the name has no `__cudaCDP2` with older headers
//! %e = call i32 @__cudaCDP2LaunchDevice(ptr @child, ptr %b, ptr byval(%struct.dim3) %grid, ptr byval(%struct.dim3) %block, i32 0, ptr %stream)
//! ```
//! becomes
//! ```text
//! %b = call ptr @__regrain_cuda_GetParameterBuffer(i64 64, i64 16, i64 %blockNumber, i32 %threadNumber)
//! %e = call i32 @__regrain_cuda_LaunchDevice(ptr @child, ptr %b, ptr %grid, ptr %block, i32 0, ptr %stream, i64 %blockNumber, i32 %threadNumber)
//! ```
//! Errors are a thread's, and the default stream is a block's, so each function is told who calls. What it takes by value it only reads.
//!
//! Where there is no such runtime, a thread that calls it traps.

use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicMetadataTypeEnum, BasicTypeEnum};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValue, CallSiteValue, FunctionValue, InstructionOpcode, InstructionValue, IntValue,
};
use mlir_bridge::llvm;

use super::place;
use crate::nvvm::library::DEVICE_RUNTIME;
use crate::{Error, Unsupported};

/// How the functions begin in older headers, and in those of CUDA 12 and 13.
const PREFIXES: [&str; 2] = ["__cudaCDP2", "cuda"];
/// What ends the names where a thread's default stream is its own.
const PER_THREAD: &str = "_ptsz";

/// What the runtime has (`runtime::device::cpu::device_calls`), without `cuda`.
const FUNCTIONS: &[&str] = &[
    "DeviceGetAttribute",
    "DeviceGetCacheConfig",
    "DeviceGetLimit",
    "DeviceGetSharedMemConfig",
    "DeviceSynchronize",
    "EventCreateWithFlags",
    "EventDestroy",
    "EventRecord",
    "EventRecordWithFlags",
    "Free",
    "FuncGetAttributes",
    "GetDevice",
    "GetDeviceCount",
    "GetErrorName",
    "GetErrorString",
    "GetLastError",
    "GetParameterBuffer",
    "GetParameterBufferV2",
    "GraphSetConditional",
    "LaunchDevice",
    "LaunchDeviceV2",
    "Malloc",
    "Memcpy2DAsync",
    "Memcpy3DAsync",
    "MemcpyAsync",
    "Memset2DAsync",
    "Memset3DAsync",
    "MemsetAsync",
    "OccupancyMaxActiveBlocksPerMultiprocessor",
    "OccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "PeekAtLastError",
    "RuntimeGetVersion",
    "StreamCreateWithFlags",
    "StreamDestroy",
    "StreamWaitEvent",
];

/// Sends calls of CUDA's runtime for device code to the runtime of the program.
///
/// # Errors
/// Ours alone.
pub(crate) fn bind(device: &Module<'_>) -> Result<(), Error> {
    let failed = |e: inkwell::builder::BuilderError| Error::internal("calling the runtime", e.to_string());
    for function in device.get_functions().filter(|f| f.get_first_basic_block().is_none()).collect::<Vec<_>>() {
        let Some(name) = wanted(&function.get_name().to_string_lossy()) else { continue };
        let own = declare(device, function, &name);
        for call in llvm::users(function.as_global_value()) {
            if call.get_opcode() == InstructionOpcode::Call && llvm::callee(call) == Some(function) {
                replace(device, call, own).map_err(failed)?;
            }
        }
        llvm::remove_unused(function);
    }
    Ok(())
}

/// Lets calls of CUDA's runtime for device code trap, which `target` has not, and gives where they are.
///
/// # Errors
/// Ours alone.
pub fn trap(device: &Module<'_>, target: &str) -> Result<Vec<Unsupported>, Error> {
    let failed = |e: inkwell::builder::BuilderError| Error::internal("letting calls trap", e.to_string());
    let mut found = Vec::new();
    for function in device.get_functions().filter(|f| f.get_first_basic_block().is_none()).collect::<Vec<_>>() {
        let name = function.get_name().to_string_lossy().into_owned();
        if wanted(&name).is_none() {
            continue;
        }
        let what = lack(&name, target).unwrap_or_default();
        for call in llvm::users(function.as_global_value()) {
            let (location, function) = place::of_program(call);
            let one = Unsupported { function, location, what: what.clone() };
            if !found.contains(&one) {
                found.push(one);
            }
        }
        let context = device.get_context();
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, ""));
        let ty = context.void_type().fn_type(&[], false);
        let trap = device.get_function("llvm.trap").unwrap_or_else(|| device.add_function("llvm.trap", ty, None));
        builder.build_call(trap, &[], "").map_err(failed)?;
        builder.build_unreachable().map_err(failed)?;
        function.set_linkage(Linkage::Internal);
    }
    Ok(found)
}

/// What it means that `target` has no function of this name, if that is one of CUDA's runtime for device code.
pub(super) fn lack(name: &str, target: &str) -> Option<String> {
    let rest = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix))?;
    rest.starts_with(|c: char| c.is_ascii_uppercase()).then_some(())?;
    let launches = ["LaunchDevice", "GetParameterBuffer"].iter().any(|launch| rest.starts_with(launch));
    Some(match launches {
        true => format!("a kernel is launched by device code, which {target} does not support"),
        false => format!("{target} has no 'cuda{rest}' for device code"),
    })
}

/// The runtime's name of a function of CUDA's.
fn wanted(name: &str) -> Option<String> {
    let rest = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix))?;
    let rest = rest.strip_suffix(PER_THREAD).unwrap_or(rest);
    FUNCTIONS.contains(&rest).then(|| format!("{DEVICE_RUNTIME}{rest}"))
}

fn declare<'ctx>(device: &Module<'ctx>, old: FunctionValue<'ctx>, name: &str) -> FunctionValue<'ctx> {
    if let Some(known) = device.get_function(name) {
        return known;
    }
    let context = device.get_context();
    let mut takes: Vec<BasicMetadataTypeEnum<'_>> = old.get_type().get_param_types().into_iter().collect();
    takes.extend([BasicMetadataTypeEnum::from(context.i64_type()), context.i32_type().into()]);
    let ty = match old.get_type().get_return_type() {
        Some(BasicTypeEnum::IntType(int)) => int.fn_type(&takes, false),
        Some(BasicTypeEnum::PointerType(pointer)) => pointer.fn_type(&takes, false),
        _ => context.void_type().fn_type(&takes, false),
    };
    device.add_function(name, ty, None)
}

fn replace<'ctx>(
    device: &Module<'ctx>,
    call: InstructionValue<'ctx>,
    own: FunctionValue<'ctx>,
) -> Result<(), inkwell::builder::BuilderError> {
    let builder = device.get_context().create_builder();
    builder.position_before(&call);
    let read = |register: &str| -> Result<IntValue<'ctx>, inkwell::builder::BuilderError> {
        let name = format!("llvm.nvvm.read.ptx.sreg.{register}");
        let ty = device.get_context().i32_type().fn_type(&[], false);
        let function = device.get_function(&name).unwrap_or_else(|| device.add_function(&name, ty, None));
        Ok(builder.build_call(function, &[], "")?.try_as_basic_value().expect_basic("a number").into_int_value())
    };
    // The number of a thread in its block, or of a block in its grid.
    let number = |of: &str, wide| -> Result<IntValue<'ctx>, inkwell::builder::BuilderError> {
        let i64 = device.get_context().i64_type();
        let widen = |value| if wide { builder.build_int_z_extend(value, i64, "") } else { Ok(value) };
        let [x, y, z] = ["x", "y", "z"].map(|dim| read(&format!("{of}.{dim}")));
        let [nx, ny] = ["x", "y"].map(|dim| read(&format!("n{of}.{dim}")));
        let rows = builder.build_int_mul(widen(ny?)?, widen(z?)?, "")?;
        let row = builder.build_int_add(rows, widen(y?)?, "")?;
        builder.build_int_add(builder.build_int_mul(widen(nx?)?, row, "")?, widen(x?)?, "")
    };
    let old = CallSiteValue::try_from(call).expect("a call");
    let mut arguments: Vec<BasicMetadataValueEnum<'ctx>> = (0..old.count_arguments())
        .map(|index| {
            let operand = call.get_operand(index).and_then(inkwell::values::Operand::value).expect("an argument");
            BasicMetadataValueEnum::from(operand)
        })
        .collect();
    arguments.extend([BasicMetadataValueEnum::from(number("ctaid", true)?), number("tid", false)?.into()]);
    let new = builder.build_call(own, &arguments, "")?;
    if let Some(result) = new.try_as_basic_value().basic() {
        call.replace_all_uses_with(&result.as_instruction_value().expect("a call"));
    }
    call.erase_from_basic_block();
    Ok(())
}

#[cfg(test)]
mod tests {
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;

    const LAUNCHES: &str = r#"
%d = type { i32, i32, i32 }
declare ptr @cudaGetParameterBuffer(i64, i64)
declare i32 @__cudaCDP2LaunchDevice_ptsz(ptr, ptr, ptr byval(%d), ptr byval(%d), i32, ptr)
declare i32 @cudaNothingOfThatKind()
define i32 @f(ptr %k, ptr %g) {
  %b = call ptr @cudaGetParameterBuffer(i64 64, i64 8)
  %e = call i32 @__cudaCDP2LaunchDevice_ptsz(ptr %k, ptr %b, ptr byval(%d) %g, ptr byval(%d) %g, i32 0, ptr null)
  %n = call i32 @cudaNothingOfThatKind()
  ret i32 %e
}
"#;

    fn parse(context: &Context) -> Module<'_> {
        let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{LAUNCHES}\0").as_bytes(), "test");
        context.create_module_from_ir(buffer).expect("IR that parses")
    }

    #[test]
    fn who_has_no_runtime_traps() {
        let context = Context::create();
        let module = parse(&context);
        let found = trap(&module, "sm_80").expect("made to trap");
        module.verify().expect("valid IR");
        let what = "a kernel is launched by device code, which sm_80 does not support";
        assert_eq!(found.iter().map(|one| one.what.as_str()).collect::<Vec<_>>(), [what]);
        let text = module.print_to_string().to_string();
        assert!(text.contains("define internal ptr @cudaGetParameterBuffer(i64 %0, i64 %1)"), "{text}");
        assert!(text.contains("declare i32 @cudaNothingOfThatKind()"), "{text}");
        assert_eq!(lack("__cudaCDP2Free", "a").as_deref(), Some("a has no 'cudaFree' for device code"));
        assert_eq!(lack("cudart", "a"), None);
    }

    #[test]
    fn the_runtime_is_told_who_calls() {
        let context = Context::create();
        let module = parse(&context);
        bind(&module).expect("bound");
        module.verify().expect("valid IR");
        let text = module.print_to_string().to_string();
        assert!(text.contains("call ptr @__regrain_cuda_GetParameterBuffer(i64 64, i64 8, i64 %"), "{text}");
        assert!(text.contains("@__regrain_cuda_LaunchDevice(ptr %k, ptr %"), "{text}");
        assert!(text.contains(", ptr %g, ptr %g, i32 0, ptr null, i64 %"), "{text}");
        assert!(text.contains("call i32 @cudaNothingOfThatKind()"), "{text}");
        assert!(!text.contains("byval") && !text.contains("cudaCDP2"), "{text}");
    }
}
