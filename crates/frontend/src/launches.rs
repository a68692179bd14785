//! How the host launches kernels: with which block shapes that are known at compile time, and with attributes of which kernels.
//!
//! clang turns `kernel<<<grid, dim3(16, 16)>>>(...)` into
//!
//! ```text
//! %ok = call i32 @__cudaPushCallConfiguration(i64 %gridxy, i32 %gridz, i64 68719476752, i32 1, i64 0, ptr null)
//! br i1 %cmp, label %then, label %done
//! then:
//!   call void @__device_stub__kernel(...)
//! ```
//! once `dim3`'s constructors are inlined and propagated, which is done here on a copy. The shapes only ever add
//! versions of a kernel that are chosen by comparing with the real shape, so a launch that is missed or taken for
//! another costs speed, never correctness. Of attributes it is the other way round: what is not known counts as set.

use std::collections::{BTreeMap, BTreeSet};

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;
use inkwell::values::{BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, PointerValue};
use mlir_bridge::llvm;

use crate::Error;

/// Numbers of threads of a block in x, y and z.
pub type BlockShape = [u32; 3];

/// More distinct shapes of one kernel than this are not worth a version each.
const MAX_SHAPES: usize = 4;

/// Sets an attribute of a kernel. `cudaFuncSetCacheConfig` and `cudaFuncSetSharedMemConfig` are hints.
pub(crate) const SET_ATTRIBUTE: &str = "cudaFuncSetAttribute";
/// `cudaFuncAttributePreferredSharedMemoryCarveout`, a hint.
const CARVEOUT: u64 = 9;

/// What the host does with kernels, by their mangled device names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The constant block shapes that kernels are launched with.
    pub shapes: BTreeMap<String, Vec<BlockShape>>,
    /// The kernels whose attributes are set; `None` if that may be any.
    pub attributed: Option<BTreeSet<String>>,
}

impl Default for Survey {
    /// Of a host that does nothing.
    fn default() -> Self {
        Self { shapes: BTreeMap::new(), attributed: Some(BTreeSet::new()) }
    }
}

/// Looks at `host`, which is not optimised yet.
pub fn survey(host: &Module<'_>, machine: &TargetMachine) -> Result<Survey, Error> {
    let copy = host.clone();
    let kernels = kernels_of_stubs(&copy);
    let no_inline = copy.get_context().create_enum_attribute(Attribute::get_named_enum_kind_id("noinline"), 0);
    for stub in kernels.keys().filter_map(|name| copy.get_function(name)) {
        stub.add_attribute(AttributeLoc::Function, no_inline);
    }
    let passes = "always-inline,cgscc(inline,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)),function(sroa,sccp,instcombine<no-verify-fixpoint>),globaldce";
    copy.run_passes(passes, machine, PassBuilderOptions::create())
        .map_err(|e| Error::Internal { doing: "looking at launches".into(), message: e.to_string() })?;
    let mut shapes: BTreeMap<String, BTreeSet<BlockShape>> = BTreeMap::new();
    for function in copy.get_functions() {
        for (stub, shape) in launches(function) {
            if let Some(kernel) = kernels.get(&stub) {
                shapes.entry(kernel.clone()).or_default().insert(shape);
            }
        }
    }
    shapes.retain(|_, set| set.len() <= MAX_SHAPES);
    let shapes = shapes.into_iter().map(|(kernel, set)| (kernel, set.into_iter().collect())).collect();
    Ok(Survey { shapes, attributed: attributed(&copy, &kernels) })
}

/// The kernels whose attributes are set.
fn attributed(host: &Module<'_>, kernels: &BTreeMap<String, String>) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let Some(setter) = host.get_function(SET_ATTRIBUTE) else { return Some(found) };
    let mut uses = 0;
    for call in
        host.get_functions().flat_map(|function| calls(function)).filter(|call| llvm::callee(*call) == Some(setter))
    {
        uses += 1;
        if integer(call, 1) == Some(CARVEOUT) {
            continue;
        }
        let stub = pointer(call, 0)?.get_name().to_string_lossy().into_owned();
        found.insert(kernels.get(&stub)?.clone());
    }
    // A use that is no call could set anything.
    let first = setter.as_global_value().as_pointer_value().get_first_use();
    let all = std::iter::successors(first, |one| one.get_next_use()).count();
    (all == uses).then_some(found)
}

/// Host stubs and the device names they are registered under.
pub(crate) fn kernels_of_stubs(module: &Module<'_>) -> BTreeMap<String, String> {
    let Some(register) = module.get_function("__cuda_register_globals") else { return BTreeMap::new() };
    let calls = calls(register).filter(|call| callee_name(*call).as_deref() == Some("__cudaRegisterFunction"));
    calls
        .filter_map(|call| {
            Some((pointer(call, 1)?.get_name().to_string_lossy().into_owned(), string(module, pointer(call, 2)?)?))
        })
        .collect()
}

/// The stubs that `function` calls right after a launch configuration with a constant block shape.
fn launches(function: FunctionValue<'_>) -> Vec<(String, BlockShape)> {
    let mut found = Vec::new();
    let mut pending = None;
    for call in calls(function) {
        match callee_name(call).as_deref() {
            Some("__cudaPushCallConfiguration") => pending = block_shape(call, 2),
            Some("cudaLaunchKernel") => {
                if let (Some(stub), Some(shape)) = (pointer(call, 0), block_shape(call, 3)) {
                    found.push((stub.get_name().to_string_lossy().into_owned(), shape));
                }
            }
            Some(name) if !name.starts_with("llvm.") => {
                if let Some(shape) = pending.take() {
                    found.push((name.to_owned(), shape));
                }
            }
            _ => {}
        }
    }
    found
}

/// A `dim3` passed as clang passes it: x and y in one i64 at operand `first`, z in the i32 after it.
fn block_shape(call: InstructionValue<'_>, first: u32) -> Option<BlockShape> {
    let (xy, z) = (integer(call, first)?, integer(call, first + 1)?);
    Some([xy as u32, (xy >> 32) as u32, z as u32]).filter(|shape| shape.iter().all(|n| (1..=1024).contains(n)))
}

pub(crate) fn calls<'ctx>(function: FunctionValue<'ctx>) -> impl Iterator<Item = InstructionValue<'ctx>> {
    let is_call =
        |i: &InstructionValue<'_>| matches!(i.get_opcode(), InstructionOpcode::Call | InstructionOpcode::Invoke);
    function.get_basic_block_iter().flat_map(|block| block.get_instructions()).filter(is_call)
}

pub(crate) fn callee_name(call: InstructionValue<'_>) -> Option<String> {
    if llvm::calls_inline_asm(call) {
        return None;
    }
    Some(llvm::callee(call)?.get_name().to_string_lossy().into_owned())
}

fn operand<'ctx>(call: InstructionValue<'ctx>, index: u32) -> Option<BasicValueEnum<'ctx>> {
    call.get_operand(index)?.value()
}

fn integer(call: InstructionValue<'_>, index: u32) -> Option<u64> {
    match operand(call, index)? {
        BasicValueEnum::IntValue(value) => value.get_zero_extended_constant(),
        _ => None,
    }
}

fn pointer<'ctx>(call: InstructionValue<'ctx>, index: u32) -> Option<PointerValue<'ctx>> {
    match operand(call, index)? {
        BasicValueEnum::PointerValue(value) => Some(value),
        _ => None,
    }
}

/// The C string that a private global holds.
fn string(module: &Module<'_>, pointer: PointerValue<'_>) -> Option<String> {
    let global = module.get_globals().find(|g| g.as_pointer_value() == pointer)?;
    let bytes = match global.get_initializer()? {
        BasicValueEnum::ArrayValue(array) => array.as_const_string()?.to_vec(),
        _ => return None,
    };
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8(bytes[..end].to_vec()).ok()
}
