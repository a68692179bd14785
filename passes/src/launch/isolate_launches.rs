//! `regrain-isolate-launches`: launches that were changed become kernels of their own, and what stood around them becomes host
//! code that launches those kernels.
//!
//! Before:
//! ```mlir
//! llvm.func @__regrain_dispatch.k(%args: !llvm.ptr, %gx: i32, ...) -> i32 attributes {regrain.dispatch = @k} {
//!   %e = scf.if %some -> i32 { regrain.gpu_wrapper @k grid(%q, ...) ... {regrain.grain = array<i64: 2, 1, 1>} { <uses %a, %gx> } }
//!   ... scf.if %more -> i32 { regrain.gpu_wrapper @k ... {regrain.epilogue} { scf.parallel (%i, ...) = (%covered, ...) ...
//! ```
//! After:
//! ```mlir
//! llvm.func ptx_kernelcc @"k$b2x1x1"(!llvm.ptr, i32) attributes {regrain.version_of = @k, regrain.grain = array<i64: 2, 1, 1>, ...}
//!                                                          // the arguments of k, and %gx
//! llvm.func @"__regrain_launch.k$b2x1x1"(%args: !llvm.ptr, %gx: i32, ...) -> i32 { <the wrapper alone> }
//! llvm.func ptx_kernelcc @"k$original$rest0"(...) attributes {regrain.version_of = @k, regrain.rest = 0, ...}
//! llvm.func @"__regrain_launch.k$original$rest0"(...) -> i32 { <the wrapper; its loop runs from 0, %i + %covered inside> }
//! llvm.func @__regrain_dispatch.k(...) -> i32 attributes {regrain.dispatch = @k, regrain.host} {
//!   %e = scf.if %some -> i32 { llvm.call @__regrain_launch_kernel(@"__regrain_handle.k$b2x1x1", %q, ..., %array, ...) } ...
//! ```
//! Launch functions made here are as `regrain-form-parallel` makes them, so that every lowering takes them as any other
//! kernel. What a wrapper takes from outside is computed again where it follows from constants, arguments and the sizes of
//! its own launch, and is cheap; the rest becomes further parameters behind those of the original kernel. With a constant block shape the
//! declaration says so (`regrain.block_shape`: the shape that the original is launched with). Names are labels that
//! show the same.
//!
//! A wrapper that is still `regrain.original` becomes a launch of the original kernel. How many blocks a task has (`regrain.tasks`)
//! is a matter of the launch alone: kernels that differ in nothing else are one. Where one wrapper cannot be isolated
//! (`Refusal` lists the reasons), the region of `regrain.alternatives` that it stands in goes; without alternatives, or
//! where it was the last, the dispatch function goes, and the launch keeps its grain. How much static shared memory and
//! how many bytes of parameters a kernel may have is the request's to say (0: any number).

mod host;
mod parameters;
mod refusal;
mod versions;

use std::collections::HashMap;

use mlir_bridge::{
    ir::{Attr, Builder, Loc, Mapping, Op, Type, Value},
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
};
use regrain_dialects::{
    LaunchBounds,
    attributes::{
        self, BLOCK_SHAPE, COMDAT, EPILOGUE, GRAIN, HOST, LINKAGE, ORIGINAL, REST, STATIC_SHARED, TASKS, THREAD_GRAIN,
        VERSION_OF, factors,
    },
    ops::{Alternatives, GpuWrapper},
};
use regrain_tuning::grain::Grain;

use crate::{
    analysis::facts::constant,
    coarsen::coarsening::{loops, static_shared_bytes},
    launch::launch_function::{self, dispatched},
};
pub use host::{Dispatcher, Handles, dispatchers, drop_idle, drop_kernel, keep_kernels, lower_host, take_host};
use parameters::Outside;
pub use refusal::Refusal;
pub use versions::{Version, retain_versions, versions};

/// Dialects whose operations the pass makes.
pub const DIALECTS: &[&str] = &["regrain", "llvm", "scf", "arith"];

/// The pass that makes kernels of changed launches.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-isolate-launches",
    summary: "make changed launches kernels of their own, launched by host code",
    anchor: Anchor::Module,
    options: &[
        PassOption {
            name: "shared-limit",
            default: "0",
            description: "the bytes of shared memory that every block may have unasked; 0 without a limit",
        },
        PassOption {
            name: "parameter-limit",
            default: "0",
            description: "the most bytes of a kernel's parameters; 0 without a limit",
        },
    ],
    dialects: DIALECTS,
    run,
};

/// What a kernel may have wherever the program runs; 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Static and dynamic shared memory that every block may have unasked, bytes.
    pub shared: u64,
    /// Parameters of a kernel, bytes.
    pub parameters: u64,
}

impl Limits {
    fn exceeds(limit: u64, bytes: u64) -> bool {
        limit != 0 && bytes > limit
    }
}

fn run(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    let bytes = |name| pass.option_int(name).map(|bytes| u64::try_from(bytes).unwrap_or(0));
    isolate_launches(module, Limits { shared: bytes("shared-limit")?, parameters: bytes("parameter-limit")? });
    Ok(())
}

/// Isolates the launches of every dispatch function; one whose launch nobody changed goes.
pub fn isolate_launches(module: Op<'_>, limits: Limits) {
    let mut isolation = Isolation { module, limits, made: HashMap::new() };
    for (dispatch, ..) in dispatched(module) {
        let is_changed = |wrapper: GpuWrapper<'_>| !wrapper.op().has_attr(ORIGINAL) || wrapper.op().has_attr(TASKS);
        if !GpuWrapper::all(dispatch).into_iter().any(is_changed) && Alternatives::all(dispatch).is_empty() {
            dispatch.erase();
            continue;
        }
        dispatch.set_attr(HOST, module.ctx().unit_attr());
        isolation.function(dispatch);
    }
    host::remove_unused_versions(module);
}

/// A kernel made here.
struct Made<'c> {
    kernel: Op<'c>,
    launch: Op<'c>,
    name: String,
}

impl<'c> Made<'c> {
    /// What it does, whatever its name.
    fn structure(&self, module: Op<'c>) -> Vec<u8> {
        module.structure(&[self.kernel, self.launch], &[])
    }
}

struct Isolation<'c> {
    module: Op<'c>,
    limits: Limits,
    /// Kernels made so far, by the name that they were to have.
    made: HashMap<String, Vec<Made<'c>>>,
}

impl<'c> Isolation<'c> {
    fn function(&mut self, dispatch: Op<'c>) {
        // Falling back removes wrappers, so the next one is looked for each time.
        while let Some(wrapper) = GpuWrapper::all(dispatch).first().copied() {
            match self.wrapper(dispatch, wrapper) {
                Ok(error) => wrapper.op().replace_with(&[error]),
                Err(refusal) => {
                    wrapper.op().remark(format!(
                        "{}launch keeps its grain: {}",
                        launch_function::subject(wrapper.op()),
                        refusal.text()
                    ));
                    if !host::fall_back(dispatch, wrapper.op()) {
                        return;
                    }
                }
            }
        }
        host::remove_dead_code(dispatch);
    }

    /// Puts host code before a wrapper that launches its kernel; gives the error code.
    fn wrapper(&mut self, dispatch: Op<'c>, wrapper: GpuWrapper<'c>) -> Result<Value<'c>, Refusal> {
        let name = wrapper.kernel().ok_or(Refusal::NoKernel)?;
        let kernel = self.module.lookup_symbol(name).ok_or(Refusal::NoKernel)?;
        let count = launch_function::parameters(kernel).len();
        let host = host::Host { module: self.module, dispatch, unasked: self.limits.shared };
        if wrapper.op().has_attr(ORIGINAL) {
            return Ok(host.launch(wrapper, name, count, &[]));
        }
        let outside = self.check(kernel, dispatch, wrapper)?;
        let version = self.version(kernel, attributes::block_shape(dispatch), wrapper, &outside)?;
        Ok(host.launch(wrapper, &version, count, outside.extras()))
    }

    /// Why a launch cannot be a kernel of its own, or what that takes from outside.
    fn check(&self, kernel: Op<'c>, dispatch: Op<'c>, wrapper: GpuWrapper<'c>) -> Result<Outside<'c>, Refusal> {
        let bounds = LaunchBounds::of(kernel);
        if !bounds.cluster_shape.is_empty() {
            return Err(Refusal::Clusters);
        }
        let threads: Option<i64> = wrapper.block_shape().into_iter().map(constant).product();
        if let (Some(threads), Some(most)) = (threads, version_max_threads(&bounds, wrapper))
            && threads > most
        {
            return Err(Refusal::LaunchBounds);
        }
        loops(wrapper).map_err(|_| Refusal::Loops)?;
        if Limits::exceeds(self.limits.shared, static_shared_bytes(wrapper.op()).unsigned_abs()) {
            return Err(Refusal::SharedMemory);
        }
        let outside = Outside::collect(dispatch, wrapper)?;
        if outside.arguments() > launch_function::parameters(kernel).len() {
            return Err(Refusal::Arguments);
        }
        if Limits::exceeds(self.limits.parameters, parameter_bytes(kernel, &outside.extra_types())) {
            return Err(Refusal::Parameters);
        }
        Ok(outside)
    }

    /// Makes the kernel, or finds one that is the same; gives its name.
    fn version(
        &mut self,
        kernel: Op<'c>,
        shape: Option<[u32; 3]>,
        wrapper: GpuWrapper<'c>,
        outside: &Outside<'c>,
    ) -> Result<String, Refusal> {
        let base = version_name(kernel.symbol_name().unwrap_or_default(), shape, wrapper);
        let known = self.made.entry(base.clone()).or_default();
        let name = if known.is_empty() { base } else { format!("{base}$v{}", known.len() + 1) };
        let declaration = declare(kernel, &name, shape, wrapper, outside);
        let launch = launch_function::create(self.module, declaration, None).map_err(|_| Refusal::NoKernel)?;
        outside.fill(wrapper, &launch);
        let made = Made { kernel: declaration, launch: launch.func, name };
        if !known.is_empty() {
            let structure = made.structure(self.module);
            if let Some(same) = known.iter().find(|known| known.structure(self.module) == structure) {
                made.launch.erase();
                made.kernel.erase();
                return Ok(same.name.clone());
            }
        }
        let name = made.name.clone();
        known.push(made);
        Ok(name)
    }
}

/// A label that says what a version is, as in `k$b2x1x1$s64x1x1$rest0`.
fn version_name(kernel: &str, shape: Option<[u32; 3]>, wrapper: GpuWrapper<'_>) -> String {
    let op = wrapper.op();
    let grain = Grain { blocks: factors(op, GRAIN), threads: factors(op, THREAD_GRAIN), tasks: None };
    let mut name = format!("{kernel}${grain}");
    if let Some([x, y, z]) = shape {
        name += &format!("$s{x}x{y}x{z}");
    }
    if let Some(axis) = rest(wrapper) {
        name += &format!("$rest{axis}");
    }
    name
}

/// The dimension in which a launch runs what coarse blocks leave over.
fn rest(wrapper: GpuWrapper<'_>) -> Option<usize> {
    if !wrapper.op().has_attr(EPILOGUE) {
        return None;
    }
    let lows = wrapper.grid_loop().map(|grid| grid.operands()[..3].to_vec()).unwrap_or_default();
    Some(lows.iter().position(|low| constant(*low) != Some(0)).unwrap_or(0))
}

/// Bytes of a kernel's parameters with further ones behind them.
fn parameter_bytes<'c>(kernel: Op<'c>, extras: &[Type<'c>]) -> u64 {
    let own = launch_function::parameters(kernel).into_iter().map(|parameter| parameter.byval.unwrap_or(parameter.ty));
    own.chain(extras.iter().copied()).fold(0, |bytes: u64, ty| {
        let (size, alignment) = ty.layout(kernel);
        bytes.next_multiple_of(alignment.max(1)) + size
    })
}

/// Declares a version of a kernel: its attributes, and further parameters.
fn declare<'c>(
    kernel: Op<'c>,
    name: &str,
    shape: Option<[u32; 3]>,
    wrapper: GpuWrapper<'c>,
    outside: &Outside<'c>,
) -> Op<'c> {
    let ctx = kernel.ctx();
    let made = kernel.clone_without_regions(&mut Mapping::new());
    Builder::after(kernel).insert(made);
    made.set_attr("sym_name", ctx.str_attr(name));
    made.set_loc(plain_location(kernel));
    let function = kernel.attr("function_type").and_then(Attr::as_type);
    let mut inputs = function.and_then(|ty| ty.function_inputs()).unwrap_or_default();
    let result = function.and_then(|ty| ty.llvm_function_result()).unwrap_or(ctx.llvm_void());
    let mut about =
        kernel.attr("arg_attrs").and_then(Attr::as_array).unwrap_or_else(|| vec![ctx.dict_attr(&[]); inputs.len()]);
    for ty in outside.extra_types() {
        inputs.push(ty);
        about.push(ctx.dict_attr(&[]));
    }
    made.set_attr("function_type", ctx.type_attr(ctx.llvm_function(result, &inputs, false)));
    if !about.is_empty() {
        made.set_attr("arg_attrs", ctx.array_attr(&about));
    }
    // Every unit has its own versions; the original may be merged with that of another unit.
    for mark in [LINKAGE, COMDAT, "comdat", BLOCK_SHAPE] {
        made.remove_attr(mark);
    }
    state_facts(made, kernel, shape, wrapper);
    made
}

/// Marks a version with what it is.
fn state_facts<'c>(made: Op<'c>, kernel: Op<'c>, shape: Option<[u32; 3]>, wrapper: GpuWrapper<'c>) {
    let ctx = made.ctx();
    made.set_attr(VERSION_OF, ctx.symbol_attr(kernel.symbol_name().unwrap_or_default()));
    made.set_attr(STATIC_SHARED, ctx.i64_attr(static_shared_bytes(wrapper.op())));
    for grain in [GRAIN, THREAD_GRAIN] {
        made.set_attr(grain, ctx.i64_array_attr(&factors(wrapper.op(), grain)));
    }
    if let Some(shape) = shape {
        attributes::set_block_shape(made, shape);
    }
    if let Some(axis) = rest(wrapper) {
        made.set_attr(REST, ctx.i64_attr(axis as i64));
    }
    version_bounds(&LaunchBounds::of(kernel), wrapper).put(made);
}

/// Where an operation stands in the source, without the subprogram that debug information has for it: only one function can
/// have it.
pub fn plain_location(op: Op<'_>) -> Loc<'_> {
    match op.loc().file_line() {
        Some((file, line, column)) => op.ctx().file_loc(&file, line, column),
        None => op.ctx().unknown_loc(),
    }
}

/// The most threads that a kernel's bounds allow in a block of a version, whose threads are fewer.
fn version_max_threads(bounds: &LaunchBounds, wrapper: GpuWrapper<'_>) -> Option<i64> {
    let threads: i64 = factors(wrapper.op(), THREAD_GRAIN).iter().product();
    bounds.most_threads().map(|most| (most / threads).max(1))
}

/// The bounds of a version. Those of the kernel speak of original threads and blocks: a coarser version has fewer
/// threads, and its blocks are another number in a multiprocessor. A constant block shape is required of launches, and
/// says it all.
fn version_bounds(bounds: &LaunchBounds, wrapper: GpuWrapper<'_>) -> LaunchBounds {
    let shape: Option<Vec<i64>> = wrapper.block_shape().into_iter().map(constant).collect();
    let most = version_max_threads(bounds, wrapper).filter(|_| shape.is_none());
    LaunchBounds {
        max_threads: most.map(|most| vec![most]).unwrap_or_default(),
        required_threads: shape.unwrap_or_default(),
        min_blocks: bounds.min_blocks.filter(|_| factors(wrapper.op(), GRAIN) == [1; 3]),
        ..bounds.clone()
    }
}
