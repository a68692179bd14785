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
//! (or `invoke`s, where objects have to be destroyed if a copy of an argument throws) once `dim3`'s constructors are inlined
//! and propagated, which is done here on a copy. What branches say of a shape is known behind them: a kernel that is a template over how
//! many threads a block has is launched where a switch over that number has found it. The shapes only ever add
//! versions of a kernel that are chosen by comparing with the real shape, so a launch that is missed or taken for
//! another costs speed, never correctness. Of attributes it is the other way round: what is not known counts as set.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;
use inkwell::values::{
    BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, PhiValue, PointerValue,
};
use mlir_bridge::llvm;

use crate::error::Error;

/// Numbers of threads of a block in x, y and z.
pub type BlockShape = [u32; 3];

/// More distinct shapes of one kernel than this are not worth a version each.
const MAX_SHAPES: usize = 4;
/// Nor are more guessed ones.
const MOST_GUESSES: usize = 2;
const WARP: u64 = 32;
/// How many threads a block may have in a dimension.
const SIZES: RangeInclusive<u32> = 1..=1024;
const DIM3_CONSTRUCTORS: [&str; 2] = ["_ZN4dim3C1Ejjj", "_ZN4dim3C2Ejjj"];

/// What a launch says of its grid before it calls the stub.
const CONFIGURE: &str = "__cudaPushCallConfiguration";
/// The functions by which stubs launch, without and with a default stream for each thread.
pub(crate) const LAUNCH_FUNCTIONS: [&str; 2] = ["cudaLaunchKernel", "cudaLaunchKernel_ptsz"];
/// Sets an attribute of a kernel. `cudaFuncSetCacheConfig` and `cudaFuncSetSharedMemConfig` are hints.
pub(crate) const SET_ATTRIBUTE: &str = "cudaFuncSetAttribute";
/// `cudaFuncAttributePreferredSharedMemoryCarveout`, a hint.
const CARVEOUT: u64 = 9;

/// Functions that ask about a kernel, or set something of it, and launch nothing, with the number of the argument that says which.
const INQUIRIES: [(&str, u32); 7] = [
    (SET_ATTRIBUTE, 0),
    ("cudaFuncSetCacheConfig", 0),
    ("cudaFuncSetSharedMemConfig", 0),
    ("cudaFuncGetAttributes", 1),
    ("cudaOccupancyMaxActiveBlocksPerMultiprocessor", 1),
    ("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 1),
    ("cudaOccupancyAvailableDynamicSMemPerBlock", 1),
];

/// What the host does with kernels, by their mangled device names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The constant block shapes that kernels are launched with.
    pub shapes: BTreeMap<String, Vec<BlockShape>>,
    /// What x of the blocks always is where kernels are launched and the rest of the shape is not known.
    pub widths: BTreeMap<String, u32>,
    /// The kernels that are launched with these shapes, and of which nothing else is seen that may launch them.
    pub only: BTreeSet<String>,
    /// The kernels whose attributes are set; `None` if that may be any.
    pub attributed: Option<BTreeSet<String>>,
}

impl Default for Survey {
    /// Of a host that does nothing.
    fn default() -> Self {
        Self {
            shapes: BTreeMap::new(),
            widths: BTreeMap::new(),
            only: BTreeSet::new(),
            attributed: Some(BTreeSet::new()),
        }
    }
}

/// Looks at `host`, which is not optimised yet.
///
/// A kernel that is launched with a shape that is not followed, as when a lambda holds the `dim3`, is taken to have the shapes of the
/// constant `dim3`s of the unit, if those are few. What is ours states the shapes where it launches, and takes fewer passes.
pub fn survey(host: &Module<'_>, machine: &TargetMachine, is_ours: bool) -> Result<Survey, Error> {
    let guesses = constant_shapes(host);
    let copy = host.clone();
    let kernels = kernels_of_stubs(&copy);
    let no_inline = copy.get_context().create_enum_attribute(Attribute::get_named_enum_kind_id("noinline"), 0);
    for stub in kernels.keys().filter_map(|name| copy.get_function(name)) {
        stub.add_attribute(AttributeLoc::Function, no_inline);
    }
    let plain = "cgscc(inline),function(sroa,early-cse)";
    let all = "always-inline,cgscc(inline,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)),function(sroa,sccp,instcombine<no-verify-fixpoint>),globaldce";
    copy.run_passes(if is_ours { plain } else { all }, machine, PassBuilderOptions::create())
        .map_err(|e| Error::Internal { doing: "looking at launches".into(), message: e.to_string() })?;
    llvm::know_arguments(&copy, CONFIGURE);
    let mut shapes: BTreeMap<String, BTreeSet<BlockShape>> = BTreeMap::new();
    let mut followed: BTreeMap<String, usize> = BTreeMap::new();
    let mut widths: BTreeMap<String, Option<u32>> = BTreeMap::new();
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    for function in copy.get_functions() {
        for stub in inquiries(function) {
            *asked.entry(stub).or_default() += 1;
        }
        for (kernel, block) in launches(function, &kernels) {
            let shapes = shapes.entry(kernel.clone()).or_default();
            match block {
                Block::Known(shape) => {
                    shapes.insert(shape);
                    *followed.entry(kernel).or_default() += 1;
                }
                Block::Open { width } => {
                    shapes.extend(&guesses);
                    let known = widths.entry(kernel).or_insert(width);
                    *known = known.filter(|known| Some(*known) == width);
                }
            }
        }
    }
    shapes.retain(|_, set| (1..=MAX_SHAPES).contains(&set.len()));
    let is_only = |stub: &String, kernel: &String| {
        let seen = followed.get(kernel).copied().unwrap_or(0) + asked.get(stub).copied().unwrap_or(0);
        shapes.contains_key(kernel) && copy.get_function(stub).is_some_and(|stub| uses(stub) == seen + OWN_USES)
    };
    let only =
        kernels.iter().filter(|(stub, kernel)| is_only(stub, kernel)).map(|(_, kernel)| kernel.clone()).collect();
    let shapes = shapes.into_iter().map(|(kernel, set)| (kernel, set.into_iter().collect())).collect();
    let widths = widths.into_iter().filter_map(|(kernel, width)| Some((kernel, width?))).collect();
    Ok(Survey { shapes, widths, only, attributed: attributed(&copy, &kernels) })
}

/// A stub launches what it stands for, and is registered.
const OWN_USES: usize = 2;

/// How often a function is used.
fn uses(function: FunctionValue<'_>) -> usize {
    let first = function.as_global_value().as_pointer_value().get_first_use();
    std::iter::successors(first, |one| one.get_next_use()).count()
}

/// The names of the kernels' stubs that a function asks about.
fn inquiries(function: FunctionValue<'_>) -> Vec<String> {
    let about = |call| {
        let name = callee_name(call)?;
        let (_, argument) = INQUIRIES.iter().find(|(asks, _)| *asks == name)?;
        Some(pointer(call, *argument)?.get_name().to_string_lossy().into_owned())
    };
    calls(function).filter_map(about).collect()
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
    (self::uses(setter) == uses).then_some(found)
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

/// The shapes that constant `dim3`s of a host would give blocks, if they are few; what is smaller than a warp is a grid rather.
fn constant_shapes(host: &Module<'_>) -> BTreeSet<BlockShape> {
    let shape = |call: InstructionValue<'_>| {
        let sizes = [1, 2, 3].map(|index| integer(call, index));
        let [Some(x), Some(y), Some(z)] = sizes else { return None };
        let threads = x.checked_mul(y)?.checked_mul(z)?;
        (WARP..=1024).contains(&threads).then_some([x as u32, y as u32, z as u32])
    };
    let constructed = host
        .get_functions()
        .flat_map(calls)
        .filter(|call| callee_name(*call).is_some_and(|name| DIM3_CONSTRUCTORS.contains(&name.as_str())));
    let found: BTreeSet<_> = constructed.filter_map(shape).collect();
    if found.len() <= MOST_GUESSES { found } else { BTreeSet::new() }
}

/// What is known of the blocks of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Known(BlockShape),
    /// No more than x, or nothing.
    Open {
        width: Option<u32>,
    },
}

/// The kernels that `function` launches, with what is known of the block's shape. Between the configuration of a launch and the call of the
/// stub stands what computes the arguments, which may launch in turn.
fn launches(function: FunctionValue<'_>, kernels: &BTreeMap<String, String>) -> Vec<(String, Block)> {
    let mut found = Vec::new();
    let mut pending = Vec::new();
    for call in calls(function) {
        let Some(name) = callee_name(call) else { continue };
        let is_launch = LAUNCH_FUNCTIONS.contains(&name.as_str());
        let (stub, block) = if name == CONFIGURE {
            pending.push(block_of(call, 2));
            continue;
        } else if is_launch {
            let stub = pointer(call, 0).map(|stub| stub.get_name().to_string_lossy().into_owned());
            (stub.unwrap_or_default(), block_of(call, 3))
        } else if kernels.contains_key(&name) {
            (name, pending.pop().unwrap_or(Block::Open { width: None }))
        } else {
            continue;
        };
        // The stub's own launch has what its caller configured.
        if let Some(kernel) = kernels.get(&stub).filter(|_| matches!(block, Block::Known(_)) || !is_launch) {
            found.push((kernel.clone(), block));
        }
    }
    found
}

/// A `dim3` passed as clang passes it: x and y in one i64 at operand `first`, z in the i32 after it.
fn block_of(call: InstructionValue<'_>, first: u32) -> Block {
    if let (Some(xy), Some(z)) = (integer(call, first), integer(call, first + 1)) {
        let shape = [xy as u32, (xy >> 32) as u32, z as u32];
        if shape.iter().all(|size| SIZES.contains(size)) {
            return Block::Known(shape);
        }
    }
    Block::Open { width: operand(call, first).and_then(width_of) }
}

/// x of the `dim3` whose first two sizes are `xy`: of a constant, of `or (shl y, 32), x`, or of what paths agree about.
fn width_of(xy: BasicValueEnum<'_>) -> Option<u32> {
    let known = match xy.as_instruction_value() {
        None => vec![constant(xy)],
        Some(joined) => match joined.get_opcode() {
            InstructionOpcode::Or => vec![integer(joined, 1)],
            InstructionOpcode::Select => vec![integer(joined, 1), integer(joined, 2)],
            InstructionOpcode::Phi => {
                PhiValue::try_from(joined).ok()?.get_incomings().map(|(value, _)| constant(value)).collect()
            }
            _ => return None,
        },
    };
    let mut widths = known.into_iter().map(|xy| xy.map(|xy| xy as u32).filter(|x| SIZES.contains(x)));
    let width = widths.next()??;
    widths.all(|other| other == Some(width)).then_some(width)
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
    constant(operand(call, index)?)
}

fn constant(value: BasicValueEnum<'_>) -> Option<u64> {
    match value {
        BasicValueEnum::IntValue(value) => value.get_zero_extended_constant(),
        _ => None,
    }
}

pub(crate) fn pointer<'ctx>(call: InstructionValue<'ctx>, index: u32) -> Option<PointerValue<'ctx>> {
    match operand(call, index)? {
        BasicValueEnum::PointerValue(value) => Some(value),
        _ => None,
    }
}

/// The C string that a private global holds.
pub(crate) fn string(module: &Module<'_>, pointer: PointerValue<'_>) -> Option<String> {
    let global = module.get_globals().find(|g| g.as_pointer_value() == pointer)?;
    let bytes = match global.get_initializer()? {
        BasicValueEnum::ArrayValue(array) => array.as_const_string()?.to_vec(),
        _ => return None,
    };
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8(bytes[..end].to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;

    const STUBS: &str = r#"
declare i32 @__cudaPushCallConfiguration(i64, i32, i64, i32, i64, ptr)
declare i32 @cudaLaunchKernel_ptsz(ptr, i64, i32, i64, i32, ptr, i64, ptr)
declare i32 @argument()
declare void @stub(i32)
declare void @inner(i32)
declare i32 @__gxx_personality_v0(...)
"#;

    fn found(body: &str) -> Vec<(String, Block)> {
        let context = Context::create();
        let text = format!("{STUBS}define void @f(ptr %args) personality ptr @__gxx_personality_v0 {{\n{body}}}\n");
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("IR that parses");
        let kernels = [("stub", "k"), ("inner", "j")].map(|(stub, kernel)| (stub.to_owned(), kernel.to_owned()));
        launches(module.get_function("f").expect("a function"), &kernels.into())
    }

    #[test]
    fn launches_with_ways_out_are_seen() {
        let body = r#"
  %c = invoke i32 @__cudaPushCallConfiguration(i64 1, i32 1, i64 8589934624, i32 1, i64 0, ptr null) to label %a unwind label %pad
a:
  %v = invoke i32 @argument() to label %b unwind label %pad
b:
  invoke void @stub(i32 %v) to label %c2 unwind label %pad
c2:
  %e = invoke i32 @cudaLaunchKernel_ptsz(ptr @stub, i64 1, i32 1, i64 4294967303, i32 1, ptr %args, i64 0, ptr null) to label %d unwind label %pad
d:
  ret void
pad:
  %p = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %p
"#;
        assert_eq!(
            found(body),
            [("k".to_owned(), Block::Known([32, 2, 1])), ("k".to_owned(), Block::Known([7, 1, 1]))]
        );
    }

    #[test]
    fn shapes_of_constant_dim3s_are_guessed() {
        let context = Context::create();
        let text = "declare void @_ZN4dim3C2Ejjj(ptr, i32, i32, i32)\ndefine void @f(ptr %d, i32 %n) {\n\
            call void @_ZN4dim3C2Ejjj(ptr %d, i32 16, i32 8, i32 1)\ncall void @_ZN4dim3C2Ejjj(ptr %d, i32 %n, i32 8, i32 1)\n\
            call void @_ZN4dim3C2Ejjj(ptr %d, i32 4, i32 1, i32 1)\nret void\n}\n";
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("IR that parses");
        assert_eq!(constant_shapes(&module), BTreeSet::from([[16, 8, 1]]));
    }

    #[test]
    fn a_launch_among_the_arguments_of_another() {
        let body = r#"
  %outer = call i32 @__cudaPushCallConfiguration(i64 1, i32 1, i64 4294967328, i32 1, i64 0, ptr null)
  %other = call i32 @__cudaPushCallConfiguration(i64 1, i32 1, i64 4294967360, i32 1, i64 0, ptr null)
  call void @inner(i32 0)
  call void @stub(i32 1)
  ret void
"#;
        assert_eq!(
            found(body),
            [("j".to_owned(), Block::Known([64, 1, 1])), ("k".to_owned(), Block::Known([32, 1, 1]))]
        );
    }

    /// A host that registers the kernel `k`, whose stub is `stub`, and launches it with blocks of 32 threads.
    const HOST: &str = r#"
@name = private constant [2 x i8] c"k\00"
@kept = global ptr null
declare i32 @__cudaRegisterFunction(ptr, ptr, ptr, ptr)
declare i32 @__cudaPushCallConfiguration(i64, i32, i64, i32, i64, ptr)
declare i32 @cudaLaunchKernel(ptr, i64, i32, i64, i32, ptr, i64, ptr)
define void @stub(i32 %n) {
  %ok = call i32 @cudaLaunchKernel(ptr @stub, i64 0, i32 1, i64 0, i32 1, ptr null, i64 0, ptr null)
  ret void
}
define void @__cuda_register_globals(ptr %h) {
  %r = call i32 @__cudaRegisterFunction(ptr %h, ptr @stub, ptr @name, ptr @name)
  ret void
}
define void @launch() {
  %c = call i32 @__cudaPushCallConfiguration(i64 1, i32 1, i64 4294967328, i32 1, i64 0, ptr null)
  call void @stub(i32 1)
  ret void
}
"#;

    fn surveyed(more: &str) -> Survey {
        let context = Context::create();
        let text = format!("{HOST}{more}");
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("IR that parses");
        let machine = crate::clean::nvptx_machine(&module, "sm_80").expect("a machine");
        survey(&module, &machine, false).expect("passes that run")
    }

    #[test]
    fn nothing_but_launches_of_known_shapes_is_seen() {
        let found = surveyed("");
        assert_eq!(found.shapes, BTreeMap::from([("k".to_owned(), vec![[32, 1, 1]])]));
        assert_eq!(found.only, BTreeSet::from(["k".to_owned()]));
        let again = "define void @again() {\n\
            %c = call i32 @__cudaPushCallConfiguration(i64 1, i32 1, i64 4294967360, i32 1, i64 0, ptr null)\n\
            call void @stub(i32 1)\nret void\n}\n";
        let found = surveyed(again);
        assert_eq!(found.shapes["k"], [[32, 1, 1], [64, 1, 1]]);
        assert_eq!(found.only.len(), 1);
    }

    #[test]
    fn the_width_of_blocks_is_seen_where_it_is_all_that_is_known() {
        let launch = |name: &str, width: u64| {
            format!(
                "define void @{name}(i32 %n) {{\n%y = zext i32 %n to i64\n%high = shl nuw i64 %y, 32\n\
                 %shape = or disjoint i64 %high, {width}\n\
                 %c = call i32 @__cudaPushCallConfiguration(i64 1, i32 1, i64 %shape, i32 1, i64 0, ptr null)\n\
                 call void @stub(i32 1)\nret void\n}}\n"
            )
        };
        assert_eq!(surveyed(&launch("one", 32)).widths, BTreeMap::from([("k".to_owned(), 32)]));
        assert!(surveyed(&format!("{}{}", launch("one", 32), launch("two", 64))).widths.is_empty());
        assert!(surveyed(&launch("one", 4096)).widths.is_empty());
        let paths = |other: u64| {
            format!(
                "define void @paths(i1 %large) {{\nbr i1 %large, label %a, label %b\na:\nbr label %b\nb:\n\
                 %shape = phi i64 [ 17179869216, %a ], [ {other}, %0 ]\n\
                 %c = call i32 @__cudaPushCallConfiguration(i64 1, i32 1, i64 %shape, i32 1, i64 0, ptr null)\n\
                 call void @stub(i32 1)\nret void\n}}\n"
            )
        };
        assert_eq!(surveyed(&paths(8_589_934_624)).widths, BTreeMap::from([("k".to_owned(), 32)]));
        assert!(surveyed(&paths(8_589_934_656)).widths.is_empty());
    }

    #[test]
    fn branches_say_what_a_shape_is() {
        let switched = |other: &str| {
            format!(
                "declare void @first()\ndefine void @switched(i32 %n, i1 %both) {{\n%x = zext i32 %n to i64\n\
                 %shape = or disjoint i64 %x, 4294967296\nswitch i32 %n, label %none [ i32 64, label %a {other} ]\na:\n\
                 br i1 %both, label %b, label %c\nb:\ncall void @first()\nbr label %c\nc:\n\
                 %c1 = call i32 @__cudaPushCallConfiguration(i64 1, i32 1, i64 %shape, i32 1, i64 0, ptr null)\n\
                 call void @stub(i32 1)\nret void\nnone:\nret void\n}}\n"
            )
        };
        let found = surveyed(&switched(""));
        assert_eq!(found.shapes["k"], [[32, 1, 1], [64, 1, 1]]);
        assert_eq!(found.only.len(), 1);
        let found = surveyed(&switched("i32 96, label %a"));
        assert_eq!(found.shapes["k"], [[32, 1, 1]]);
        assert!(found.only.is_empty());
    }

    #[test]
    fn another_use_of_a_kernel_may_launch_it_with_any_shape() {
        let stored = "define void @keep() {\nstore ptr @stub, ptr @kept\nret void\n}\n";
        let unknown = "define void @other(i64 %shape) {\n\
            %c = call i32 @__cudaPushCallConfiguration(i64 1, i32 1, i64 %shape, i32 1, i64 0, ptr null)\n\
            call void @stub(i32 1)\nret void\n}\n";
        for more in [stored, unknown] {
            let found = surveyed(more);
            assert_eq!(found.shapes["k"], [[32, 1, 1]], "{more}");
            assert!(found.only.is_empty(), "{more}");
        }
    }
}
