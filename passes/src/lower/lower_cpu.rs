//! `regrain-lower-cpu`: launches in parallel form, split at their barriers, become functions that run one block.
//!
//! Before:
//! ```mlir
//! llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, ...) -> i32 {
//!   %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
//!   %a = llvm.load %slot {regrain.kernel_arg = 0} : !llvm.ptr -> !llvm.ptr
//!   %err = regrain.gpu_wrapper @k grid(...) block(...) {
//!     scf.parallel (%i, %j, %k) = ... {
//!       %tile = regrain.shared : !llvm.array<16 x f32> -> !llvm.ptr<3>
//!       scf.parallel (%x, %y, %z) = ... { A }
//!       scf.parallel (%x, %y, %z) = ... { B }
//! ```
//! After:
//! ```mlir
//! llvm.func @__regrain_block.k(%args: !llvm.ptr) {
//!   %i = nvvm.read.ptx.sreg.ctaid.x : i32
//!   %tile = llvm.alloca %one x !llvm.array<16 x f32> {alignment = 64} : (i32) -> !llvm.ptr
//!   <loop z> <loop y> <loop x> { A }     // the innermost with parallel access groups, to vectorise
//!   <loop z> <loop y> <loop x> { B }
//!   llvm.return
//! }
//! ```
//! Everything ends in the llvm dialect. Launch functions and kernels leave the module: host code calls clang's own stubs,
//! and the kernels stand in the module that the coroutine form is made of. A wrapper marked `regrain.not_split` gives no
//! block function.

mod address_spaces;
mod along;
mod atomics;
mod choose;
mod clamps;
mod columns;
mod failures;
mod fold_rows;
mod grid_blocks;
mod narrow;
mod picked;
mod prefetch;
mod runs;
mod scatters;
mod selected;
mod side_by_side;
mod state;
mod streams;
mod taken;
mod thread_loops;
mod transpose;
mod waiting;

use std::collections::{HashMap, HashSet};

use mlir_bridge::{
    ir::{Attr, Builder, Mapping, Op, Value, Walk},
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
    reasons::fill,
    timing,
};

use regrain_dialects::{
    LaunchBounds,
    attributes::{
        self, BLOCK_OF, BLOCK_SHAPE, DOUBTFUL, INTERLEAVED, KERNEL_ARG, MAX_THREADS, NOT_SPLIT, OWN, PARAMETER_SIZES,
        REUSED, SELDOM, SOLE, STATIC_SHARED, TAKEN_BY_ROW, UNCHANGING,
    },
    ops::{DynamicShared, GpuWrapper, Shared},
};
use regrain_targets::device_language;
use regrain_targets::device_operations::{Axis, DeviceOperations, Place, common};
use regrain_targets::target::{BlockFunction, Demand, KernelFacts};

use transpose::BlockMemory;

use crate::{
    analysis::{constants::product, functions},
    coarsen::coarsening::static_shared_bytes,
    launch::launch_function::{self, is_version, label},
    lower::{
        DYNAMIC_SHARED, LOOP_ANNOTATION, SHARED_ALIGNMENT, merge_redundant_threads,
        vectorize_threads::{self, Machine},
    },
    pipelines::LOWER_CPU,
};

mlir_bridge::reasons! {
    /// Why a launch cannot be made a block function.
    pub enum NoBlock {
        Launches => "expected one launch",
        GridLoop => "expected one loop over the grid",
        Dimensions => "expected loops over three dimensions",
        Parameters => "expected a launch function with 9 parameters, got {}",
        UnknownArgument => "nothing is known of an argument by value",
        UntypedArgument => "an argument by value has no type",
    }
}

pub use super::BLOCK_PREFIX;

/// Dialects whose operations the pass makes.
pub const DIALECTS: &[&str] = &["llvm", device_language::DIALECT, "scf", "arith", "cf", "vector", "ub"];

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-lower-cpu",
    summary: "lower split launches to functions that run one block",
    anchor: Anchor::Module,
    options: &[
        vectorize_threads::REGISTER_BITS,
        vectorize_threads::REGISTERS,
        vectorize_threads::COST_MODEL,
        vectorize_threads::REPORT,
        RUNS,
    ],
    dialects: DIALECTS,
    run,
};

/// The option for functions that run blocks which follow one another in x as one.
const RUNS: PassOption = PassOption {
    name: "runs",
    default: "false",
    description: "let blocks that follow one another in x go as one, where threads ask for no more than their place in the grid",
};

fn run(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    let how = How { machine: Machine::of(pass)?, runs: pass.option_bool(RUNS.name)? };
    make_blocks(module, common(), how)?;
    pass.run_pipeline(module, LOWER_CPU)?;
    finish(module);
    Ok(())
}

/// How block functions are made.
#[derive(Clone, Copy)]
struct How {
    machine: Machine,
    /// Whether blocks may go as one.
    runs: bool,
}

/// Makes the block functions, still with structured control flow, and removes launch functions and kernels.
fn make_blocks(module: Op<'_>, operations: &dyn DeviceOperations, how: How) -> PassResult {
    let mut made = Vec::new();
    let launches = launch_function::launches(module);
    let wrappers_of = |launch| GpuWrapper::all(launch).into_iter().map(GpuWrapper::op).collect::<Vec<_>>();
    let is_split = |launch| wrappers_of(launch).iter().all(|wrapper| !wrapper.has_attr(NOT_SPLIT));
    let shaped = launches.iter().filter(|(launch, _, shape)| shape.is_some() && is_split(*launch));
    let shaped: HashSet<&str> = shaped.map(|(_, name, _)| *name).collect();
    for (launch, name, shape) in launches {
        let wrappers = wrappers_of(launch);
        let demand = if shaped.contains(name) { demand(launch) } else { Demand::Usual };
        let is_seldom = demand == Demand::Seldom;
        let short = matches!(demand, Demand::Doubtful | Demand::Seldom);
        if let Some(wrapper) = wrappers.first().copied()
            && !wrappers.iter().any(|wrapper| wrapper.has_attr(NOT_SPLIT))
        {
            let symbol = format!("{BLOCK_PREFIX}{}", label(name, shape));
            timing::measure(timing::KERNELS, &symbol, || {
                let of_block = How { runs: how.runs && !short, ..how };
                make_block((module, operations), launch, wrapper, (&symbol, of_block), |function| {
                    // Operations of warps were left whole for rows.
                    let whole = !is_seldom || function.contains(vectorize_threads::is_of_warp);
                    if !whole {
                        return Ok(());
                    }
                    columns::serialise(function);
                    side_by_side::join(module, function, how.machine);
                    vectorize_threads::vectorise(function, Machine { short, ..how.machine })
                })
            })
            .map_err(|reason| launch.error(reason))?;
            let version = module.lookup_symbol(name).filter(|op| is_version(*op)).map(|op| version_facts(op, wrapper));
            made.push(BlockFunction { kernel: name.to_owned(), symbol, shape, demand, version });
        }
        launch.erase();
    }
    remove_unreachable(module, &made);
    for block in &made {
        if let Some(function) = module.lookup_symbol(&block.symbol) {
            describe(function, block);
        }
    }
    Ok(())
}

/// The block functions of a module, by the attributes that [`make_blocks`] left; they go.
pub fn take_blocks(module: Op<'_>) -> Vec<BlockFunction> {
    let mut found = Vec::new();
    for function in module.find_named("llvm.func") {
        let Some(kernel) = attributes::text(function, BLOCK_OF) else { continue };
        let sizes = function.attr(PARAMETER_SIZES).and_then(Attr::as_i64_array);
        let version = sizes.map(|sizes| KernelFacts {
            parameter_sizes: sizes.into_iter().map(i64::cast_unsigned).collect(),
            max_threads: LaunchBounds::of(function).most_threads().and_then(|most| most.try_into().ok()).unwrap_or(0),
            static_shared: attributes::count(function, STATIC_SHARED).unwrap_or(0),
        });
        found.push(BlockFunction {
            kernel: kernel.to_owned(),
            symbol: function.symbol_name().unwrap_or_default().to_owned(),
            shape: attributes::block_shape(function),
            demand: demand(function),
            version,
        });
        for name in [BLOCK_OF, BLOCK_SHAPE, SELDOM, DOUBTFUL, SOLE, PARAMETER_SIZES, STATIC_SHARED, MAX_THREADS] {
            function.remove_attr(name);
        }
    }
    found
}

/// How likely launches need a function, by what stands on it.
fn demand(function: Op<'_>) -> Demand {
    match () {
        () if function.has_attr(SELDOM) => Demand::Seldom,
        () if function.has_attr(DOUBTFUL) => Demand::Doubtful,
        () if function.has_attr(SOLE) => Demand::Sole,
        () => Demand::Usual,
    }
}

/// Leaves on a block function what [`take_blocks`] reads.
fn describe(function: Op<'_>, block: &BlockFunction) {
    let ctx = function.ctx();
    function.set_attr(BLOCK_OF, ctx.str_attr(&block.kernel));
    if let Some(shape) = block.shape {
        attributes::set_block_shape(function, shape);
    }
    match block.demand {
        Demand::Usual => (),
        Demand::Doubtful => function.set_attr(DOUBTFUL, ctx.unit_attr()),
        Demand::Seldom => function.set_attr(SELDOM, ctx.unit_attr()),
        Demand::Sole => function.set_attr(SOLE, ctx.unit_attr()),
    }
    if let Some(facts) = &block.version {
        let sizes: Vec<i64> = facts.parameter_sizes.iter().map(|size| size.cast_signed()).collect();
        function.set_attr(PARAMETER_SIZES, ctx.i64_array_attr(&sizes));
        function.set_attr(STATIC_SHARED, ctx.i64_attr(facts.static_shared.cast_signed()));
        if facts.max_threads > 0 {
            function.set_attr(MAX_THREADS, ctx.i64_array_attr(&[facts.max_threads.into()]));
        }
    }
}

fn version_facts(kernel: Op<'_>, wrapper: Op<'_>) -> KernelFacts {
    let sizes = launch_function::parameters(kernel)
        .into_iter()
        .map(|parameter| parameter.byval.unwrap_or(parameter.ty).layout(kernel).0);
    KernelFacts {
        parameter_sizes: sizes.collect(),
        max_threads: LaunchBounds::of(kernel).most_threads().and_then(|most| most.try_into().ok()).unwrap_or(0),
        static_shared: static_shared_bytes(wrapper).unsigned_abs(),
    }
}

/// Removes the functions that no block function needs, kernels above all, and shared variables, which they alone use.
fn remove_unreachable(module: Op<'_>, blocks: &[BlockFunction]) {
    let symbols: HashMap<&str, Op<'_>> =
        module.body().ops().into_iter().filter_map(|op| Some((op.symbol_name()?, op))).collect();
    let is_shared = |op: Op<'_>| op.is("llvm.mlir.global") && functions::address_space(op) == 3;
    let is_root = |op: &Op<'_>| {
        let block = op.symbol_name().is_some_and(|name| blocks.iter().any(|block| block.symbol == name));
        // LLVM's own lists of used symbols mean something to NVPTX only.
        let list = op.symbol_name().is_some_and(|name| name.starts_with("llvm."));
        block || !(op.is("llvm.func") || is_shared(*op) || list)
    };
    let mut work: Vec<_> = module.body().ops().into_iter().filter(is_root).collect();
    let mut seen: HashSet<Op<'_>> = work.iter().copied().collect();
    while let Some(op) = work.pop() {
        op.walk_pre(|inner| {
            for (_, attr) in inner.attrs() {
                if let Some(found) =
                    attr.as_symbol().and_then(|name| symbols.get(name)).filter(|found| seen.insert(**found))
                {
                    work.push(*found);
                }
            }
            Walk::Advance
        });
    }
    for op in module.body().ops() {
        if !seen.contains(&op) {
            op.erase();
        }
    }
}

/// After the lowering: loop annotations stand where the export reads them, and our marks are gone.
fn finish(module: Op<'_>) {
    for op in module.find_all(|op| op.has_attr(LOOP_ANNOTATION) || op.is("llvm.alloca")) {
        for mark in [REUSED, INTERLEAVED, OWN] {
            op.remove_attr(mark);
        }
        if let Some(annotation) = op.attr(LOOP_ANNOTATION) {
            op.remove_attr(LOOP_ANNOTATION);
            op.set_attr("loop_annotation", annotation);
        }
    }
    for mark in [KERNEL_ARG, UNCHANGING] {
        for op in module.find_all(|op| op.has_attr(mark)) {
            op.remove_attr(mark);
        }
    }
}

fn make_block<'c>(
    (module, operations): (Op<'c>, &dyn DeviceOperations),
    launch: Op<'c>,
    wrapper: Op<'c>,
    (symbol, how): (&str, How),
    vectorise: impl Fn(Op<'c>) -> Result<(), vectorize_threads::Apart>,
) -> Result<(), String> {
    let function = empty_function(module, symbol);
    let b = Builder::before_terminator(function.body(), launch.loc());
    let mut mapping = Mapping::new();
    map_parameters(b, operations, launch, function, &mut mapping)?;
    b.clone_body(launch.body(), &mut mapping);
    let start = Builder::at_start(function.body(), launch.loc());
    let number = |axis| start.index_castui(operations.place(start, Place::Block, axis), start.ctx().index());
    inline_wrapper(function, &Axis::ALL.map(number))?;
    hoist_memory(function);
    copy_structs(module, wrapper, function)?;
    let loops = function.find_named("scf.parallel");
    // Bounds and steps of three dimensions each.
    if loops.iter().any(|parallel| parallel.num_operands() != 9) {
        return Err(NoBlock::Dimensions.to_string());
    }
    for parallel in loops {
        merge_redundant_threads::merge(parallel);
    }
    drop_unused_size(function, operations);
    let runs = how.runs && runs::merge(module, function);
    atomics::of_block(function);
    place_shared(module, function);
    address_spaces::flatten(function);
    failures::name_threads(module, function);
    picked::pick(function);
    narrow::narrow(function);
    let waiting = waiting::outline(module, function, operations)?;
    clamps::specialise(function, runs);
    selected::bound(function);
    for function in waiting.into_iter().chain([function]) {
        streams::mark(function);
        // Blocks that go as one have no phases, but loops around what they were cut into.
        let mut phases = if runs { Vec::new() } else { prefetch::phase_loops(function) };
        let memory = BlockMemory::of(function);
        vectorise(function).map_err(|why| why.to_string())?;
        let expected = transpose::transpose(function, &memory);
        let gone = choose::choose(function, &expected, how.machine);
        scatters::take_apart(function, how.machine);
        phases.retain(|phase| !gone.contains(phase));
        prefetch::fetch_ahead(function, &phases);
        thread_loops::lower(function);
        function.remove_attr(TAKEN_BY_ROW);
    }
    taken::ask(module, function);
    Ok(())
}

/// A function of an array of arguments that only returns.
fn empty_function<'c>(module: Op<'c>, symbol: &str) -> Op<'c> {
    let ctx = module.ctx();
    let inputs = [ctx.ptr(0)];
    let function = Builder::at_end(module.body(), ctx.unknown_loc()).llvm_func(symbol, ctx.llvm_void(), &inputs);
    let entry = function.region(0).append_block(&inputs, ctx.unknown_loc());
    Builder::at_end(entry, ctx.unknown_loc()).op("llvm.return").build();
    function
}

/// What threads keep in a version of a block loop lies on the stack from the start.
fn hoist_memory(function: Op<'_>) {
    for choice in function.body().ops().into_iter().filter(|op| op.is("scf.if")) {
        for block in choice.regions().into_iter().flat_map(|region| region.blocks()) {
            for alloca in block.ops().into_iter().filter(|op| op.is("llvm.alloca")) {
                let size = alloca.operand(0);
                if let Some(number) = product(size)
                    && let Some(first) = function.body().first_op()
                {
                    alloca.move_before(first);
                    let count = Builder::before(alloca).const_int(size.ty(), number);
                    alloca.set_operand(0, count);
                }
            }
        }
    }
}

/// Most kernels do not ask how much dynamic shared memory they have.
fn drop_unused_size(function: Op<'_>, operations: &dyn DeviceOperations) {
    for op in function.find_all(|op| operations.is_dynamic_shared_size(op)) {
        let casts = op.result(0).users();
        if casts.iter().all(|cast| cast.is_trivially_dead()) {
            casts.into_iter().for_each(Op::erase);
            op.erase();
        }
    }
}

/// The launch in a block function becomes the work of the one block that the thread state names.
fn inline_wrapper<'c>(function: Op<'c>, numbers: &[Value<'c>]) -> Result<(), String> {
    let [wrapper] = GpuWrapper::all(function)[..] else { return Err(NoBlock::Launches.to_string()) };
    let grid = wrapper.grid_loop().ok_or_else(|| NoBlock::GridLoop.to_string())?;
    let b = Builder::before(wrapper.op());
    let mut mapping = Mapping::new();
    for op in wrapper.body().ops() {
        if op == grid {
            break;
        }
        b.clone_op(op, &mut mapping);
    }
    mapping.map_all(&grid.body().args(), numbers);
    b.clone_body(grid.body(), &mut mapping);
    wrapper.op().replace_with(&[b.const_i32(0)]);
    Ok(())
}

/// What stands for the parameters of the launch function: (args, gx, gy, gz, bx, by, bz, shared bytes, stream).
fn map_parameters<'c>(
    b: Builder<'c>,
    operations: &dyn DeviceOperations,
    launch: Op<'c>,
    function: Op<'c>,
    mapping: &mut Mapping<'c>,
) -> Result<(), String> {
    let args = launch.body().args();
    if args.len() != 9 {
        return Err(fill(NoBlock::Parameters, &[&args.len()]));
    }
    mapping.map(args[0], function.body().arg(0));
    for axis in Axis::ALL {
        mapping.map(args[1 + axis.index()], operations.place(b, Place::GridSize, axis));
        mapping.map(args[4 + axis.index()], operations.place(b, Place::BlockSize, axis));
    }
    let bytes = operations.dynamic_shared_size(b);
    mapping.map(args[7], b.value("arith.extui", &[bytes], args[7].ty()));
    mapping.map(args[8], b.value("llvm.mlir.zero", &[], args[8].ty()));
    Ok(())
}

/// Structs passed by value are copied to memory that is aligned as the kernel expects.
fn copy_structs<'c>(module: Op<'c>, wrapper: Op<'c>, function: Op<'c>) -> Result<(), String> {
    let kernel = GpuWrapper::cast(wrapper).and_then(|wrapper| module.lookup_symbol(wrapper.kernel()?));
    let attrs = kernel.and_then(|kernel| kernel.attr("arg_attrs")?.as_array()).unwrap_or_default();
    for argument in function.find_all(|op| op.has_attr(KERNEL_ARG)) {
        let number = attributes::kernel_arg(argument).unwrap_or(0);
        if !argument.operand(0).defining_op().is_some_and(|slot| slot.is("llvm.getelementptr")) {
            continue;
        }
        let about = attrs.get(number).ok_or_else(|| NoBlock::UnknownArgument.to_string())?;
        let ty =
            about.get("llvm.byval").and_then(|ty| ty.as_type()).ok_or_else(|| NoBlock::UntypedArgument.to_string())?;
        let (size, natural) = ty.layout(function);
        let alignment = about.get("llvm.align").and_then(|align| align.as_int()).unwrap_or(1).max(natural as i64);
        let b = Builder::after(argument);
        let ctx = b.ctx();
        let spec = b.op("llvm.alloca").operands(&[b.const_i32(1)]).result(ctx.ptr(0));
        let spec = spec.attr("elem_type", ctx.type_attr(ty)).attr("alignment", ctx.i64_attr(alignment));
        let copy = spec.build().result(0);
        let bytes = b.const_int(ctx.int(64), size as i64);
        let transfer = b.llvm_memcpy(copy, argument.result(0), bytes);
        argument.result(0).replace_uses_if(copy, |used| used.owner != transfer);
    }
    Ok(())
}

/// Static shared memory goes onto the stack, dynamic shared memory is the runtime's.
fn place_shared<'c>(module: Op<'c>, function: Op<'c>) {
    let ctx = module.ctx();
    for shared in Shared::all(function) {
        let op = shared.op();
        let b = Builder::before(op);
        let wanted = shared.alignment().unwrap_or(0);
        let element = shared.memory_type();
        let one = b.const_i32(1);
        let spec = b.op("llvm.alloca").operands(&[one]).result(ctx.ptr(0)).attr("elem_type", ctx.type_attr(element));
        let memory = spec.attr("alignment", ctx.i64_attr(wanted.max(SHARED_ALIGNMENT))).build().result(0);
        op.replace_with(&[b.value("llvm.addrspacecast", &[memory], op.result(0).ty())]);
    }
    let takes_turns = grid_blocks::takes_turns(function);
    for op in DynamicShared::all(function).into_iter().map(DynamicShared::op) {
        let b = Builder::before(op);
        let memory = if takes_turns {
            grid_blocks::dynamic_shared(module, b)
        } else {
            declare_dynamic_shared(module);
            let name = ctx.symbol_attr(DYNAMIC_SHARED);
            b.op("llvm.mlir.addressof").result(ctx.ptr(0)).attr("global_name", name).build().result(0)
        };
        op.replace_with(&[b.value("llvm.addrspacecast", &[memory], op.result(0).ty())]);
    }
}

fn declare_dynamic_shared(module: Op<'_>) {
    if module.lookup_symbol(DYNAMIC_SHARED).is_none() {
        let ctx = module.ctx();
        let bytes = ctx.llvm_array(ctx.int(8), 0);
        let global = Builder::at_end(module.body(), ctx.unknown_loc()).llvm_global(DYNAMIC_SHARED, bytes);
        global.set_attr("thread_local_", ctx.unit_attr());
        global.set_attr("alignment", ctx.i64_attr(SHARED_ALIGNMENT));
    }
}
