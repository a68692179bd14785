//! `regrain-isolate-launches`: launches that were changed become kernels of their own, and what stood around them becomes host
//! code that launches those kernels.
//!
//! Before:
//! ```mlir
//! llvm.func @__regrain_dispatch.k(%args: !llvm.ptr, %gx: i32, ...) -> i32 {
//!   %e = scf.if %some -> i32 { regrain.gpu_wrapper @k grid(%q, ...) ... {regrain.grain = array<i64: 2, 1, 1>} { <uses %a, %gx> } }
//!   ... scf.if %more -> i32 { regrain.gpu_wrapper @k ... {regrain.epilogue} { scf.parallel (%i, ...) = (%covered, ...) ...
//! ```
//! After:
//! ```mlir
//! llvm.func ptx_kernelcc @"k$b2x1x1"(!llvm.ptr, i32) attributes {regrain.version_of = "k"}     // the arguments of k, and %gx
//! llvm.func @"__regrain_launch.k$b2x1x1"(%args: !llvm.ptr, %gx: i32, ...) -> i32 { <the wrapper alone> }
//! llvm.func @"__regrain_launch.k$original$rest0"(...) -> i32 { <the wrapper; its loop runs from 0, %i + %covered inside> }
//! llvm.func @__regrain_dispatch.k(...) -> i32 attributes {regrain.host} {
//!   %e = scf.if %some -> i32 { llvm.call @__regrain_launch_kernel(@"__regrain_handle.k$b2x1x1", %q, ..., %array, ...) } ...
//! ```
//! Launch functions made here are as `regrain-form-parallel` makes them, so that every lowering takes them as any other
//! kernel. What a wrapper takes from outside is computed again where it follows from constants, arguments and the sizes of
//! its own launch, and is cheap; the rest becomes further parameters behind those of the original kernel. With a constant block shape the
//! name ends in `$s16x16x1`, the shape that the original is launched with.
//!
//! A wrapper that is still `regrain.original` becomes a launch of the original kernel. How many blocks a task has (`regrain.tasks`)
//! is a matter of the launch alone: kernels that differ in nothing else are one. Where one wrapper cannot be isolated
//! (`Refusal` lists the reasons), the region of `regrain.alternatives` that it stands in goes; without alternatives, or
//! where it was the last, the dispatch function goes, and the launch keeps its grain.

mod host;
mod parameters;

use std::collections::{HashMap, HashSet};

use mlir_bridge::{
    ir::{Attr, Builder, Loc, Mapping, Op, Type, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};
use regrain_dialects::ops::GpuWrapper;
use regrain_tuning::grain::Grain;
use serde::{Deserialize, Serialize};

use crate::{
    coarsen::coarsening::{EPILOGUE, GRAIN, ORIGINAL, TASKS, THREAD_GRAIN, factors, loops, static_shared_bytes},
    analysis::facts::constant,
    raise::form_parallel::{COMDAT, LINKAGE},
    launch::launch_function::{self, DISPATCH_PREFIX},
};
pub use host::{
    Dispatcher, dispatchers, drop_idle, drop_kernel, keep_kernels, launched_kernel, lower_host, retain_versions,
    take_host,
};
use parameters::Outside;

/// On the declaration of a kernel that is made here: the name of the original kernel.
pub const VERSION: &str = "regrain.version_of";

/// Likewise: the bytes of static shared memory that its blocks have.
pub const STATIC_SHARED: &str = "regrain.static_shared";

/// On host functions.
pub const HOST: &str = "regrain.host";

/// Stands in the names of kernels that run what a coarse launch leaves over.
pub const REST: &str = "$rest";

/// Static and dynamic shared memory that every block may have unasked, bytes.
pub const SHARED_LIMIT: u64 = 48 << 10;

/// Parameters that a kernel may have on every chip, bytes.
const PARAMETER_LIMIT: u64 = 4 << 10;

/// Dialects whose operations the pass makes.
pub const DIALECTS: &[&str] = &["regrain", "llvm", "scf", "arith"];

/// The pass that makes kernels of changed launches.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-isolate-launches",
    summary: "make changed launches kernels of their own, launched by host code",
    anchor: Anchor::Module,
    options: &[],
    dialects: DIALECTS,
    run,
};

/// Why a launch cannot become a kernel of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    NoKernel,
    Clusters,
    LaunchBounds,
    Loops,
    HostValue,
    SharedMemory,
    Parameters,
}

/// All reasons.
pub const REFUSALS: &[Refusal] = &[
    Refusal::NoKernel,
    Refusal::Clusters,
    Refusal::LaunchBounds,
    Refusal::Loops,
    Refusal::HostValue,
    Refusal::SharedMemory,
    Refusal::Parameters,
];

impl Refusal {
    /// The reason as remarks give it.
    pub fn text(self) -> &'static str {
        match self {
            Self::NoKernel => "its kernel is not declared",
            Self::Clusters => "its kernel asks for clusters of blocks",
            Self::LaunchBounds => "its kernel's launch bounds forbid blocks of this shape",
            Self::Loops => "its loops do not run over the whole launch",
            Self::HostValue => "it uses a value that the host alone has",
            Self::Parameters => "its kernel would have more than 4 KiB of parameters",
            Self::SharedMemory => "its blocks would take more than 48 KiB of static shared memory",
        }
    }
}

/// A kernel that was made here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    pub name: String,
    /// The kernel that it is a version of.
    pub original: String,
    /// How many original threads one of its threads is.
    pub thread_total: i64,
    /// Static shared memory of a block, bytes.
    pub static_shared: u64,
}

fn run(_pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    isolate_launches(module);
    Ok(())
}

/// The kernels of a module that were made here.
pub fn versions(module: Op<'_>) -> Vec<Version> {
    let of = |kernel: Op<'_>| {
        Some(Version {
            name: kernel.symbol_name()?.to_owned(),
            original: kernel.attr(VERSION)?.as_str()?.to_owned(),
            thread_total: factors(kernel, THREAD_GRAIN).iter().product(),
            static_shared: kernel.attr(STATIC_SHARED)?.as_int()?.try_into().ok()?,
        })
    };
    module.body().ops().into_iter().filter_map(of).collect()
}

/// Isolates the launches of every dispatch function; one whose launch nobody changed goes.
pub fn isolate_launches(module: Op<'_>) {
    let mut isolation = Isolation { module, made: HashMap::new() };
    for dispatch in module.find_named("llvm.func") {
        let Some(target) = dispatch.symbol_name().and_then(|name| name.strip_prefix(DISPATCH_PREFIX)) else { continue };
        let wrappers = dispatch.find_named("regrain.gpu_wrapper");
        if wrappers.iter().all(|wrapper| wrapper.has_attr(ORIGINAL) && !wrapper.has_attr(TASKS))
            && !dispatch.contains(|op| op.is("regrain.alternatives"))
        {
            dispatch.erase();
            continue;
        }
        dispatch.set_attr(HOST, module.ctx().unit_attr());
        isolation.function(dispatch, target);
    }
    host::remove_unused_versions(module);
}

struct Isolation<'c> {
    module: Op<'c>,
    /// Kernels made so far, by the name that they were to have: declaration, launch function, and the name they got.
    made: HashMap<String, Vec<(Op<'c>, Op<'c>, String)>>,
}

impl<'c> Isolation<'c> {
    fn function(&mut self, dispatch: Op<'c>, target: &str) {
        // Falling back removes wrappers, so the next one is looked for each time.
        while let Some(wrapper) = dispatch.find_named("regrain.gpu_wrapper").into_iter().find_map(GpuWrapper::cast) {
            match self.wrapper(dispatch, target, wrapper) {
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
    fn wrapper(&mut self, dispatch: Op<'c>, target: &str, wrapper: GpuWrapper<'c>) -> Result<Value<'c>, Refusal> {
        let name = wrapper.kernel().ok_or(Refusal::NoKernel)?;
        let kernel = self.module.lookup_symbol(name).ok_or(Refusal::NoKernel)?;
        if wrapper.op().has_attr(ORIGINAL) {
            return Ok(host::launch(
                self.module,
                dispatch,
                wrapper,
                name,
                launch_function::parameters(kernel).len(),
                &[],
            ));
        }
        if passthrough(kernel).iter().any(|item| key(*item).starts_with("nvvm.cluster")) {
            return Err(Refusal::Clusters);
        }
        let threads: Option<i64> = wrapper.block_shape().into_iter().map(constant).product();
        if let (Some(threads), Some(most)) = (threads, version_max_threads(kernel, wrapper))
            && threads > most
        {
            return Err(Refusal::LaunchBounds);
        }
        loops(wrapper).map_err(|_| Refusal::Loops)?;
        let shared = static_shared_bytes(wrapper.op()).unsigned_abs();
        if shared > SHARED_LIMIT {
            return Err(Refusal::SharedMemory);
        }
        let outside = Outside::collect(dispatch, wrapper)?;
        if parameter_bytes(kernel, &outside.extra_types()) > PARAMETER_LIMIT {
            return Err(Refusal::Parameters);
        }
        let base = version_name(name, target, wrapper);
        let version = self.version(kernel, &base, wrapper, &outside, shared)?;
        let count = launch_function::parameters(kernel).len();
        Ok(host::launch(self.module, dispatch, wrapper, &version, count, outside.extras()))
    }

    /// Makes the kernel, or finds one that is the same; gives its name.
    fn version(
        &mut self,
        kernel: Op<'c>,
        base: &str,
        wrapper: GpuWrapper<'c>,
        outside: &Outside<'c>,
        shared: u64,
    ) -> Result<String, Refusal> {
        let known = self.made.entry(base.to_owned()).or_default();
        let name = if known.is_empty() { base.to_owned() } else { format!("{base}$v{}", known.len() + 1) };
        let made = declare(kernel, &name, wrapper, outside, shared);
        let launch = launch_function::create(self.module, made, None).map_err(|_| Refusal::NoKernel)?;
        outside.fill(wrapper, &launch);
        // Kernels are alike if they read alike but for their names.
        let text = |made: Op<'c>, launch: Op<'c>, name: &str| {
            (made.to_local_string() + &launch.to_local_string()).replace(name, "")
        };
        if !known.is_empty() {
            let new = text(made, launch.func, &name);
            if let Some((_, _, same)) = known.iter().find(|(made, launch, name)| text(*made, *launch, name) == new) {
                launch.func.erase();
                made.erase();
                return Ok(same.clone());
            }
        }
        known.push((made, launch.func, name.clone()));
        Ok(name)
    }
}

/// As in `k$b2x1x1$s64x1x1$rest0`.
fn version_name(kernel: &str, target: &str, wrapper: GpuWrapper<'_>) -> String {
    let op = wrapper.op();
    let grain = Grain { blocks: factors(op, GRAIN), threads: factors(op, THREAD_GRAIN), tasks: None };
    let mut name = format!("{kernel}${grain}");
    if let Some(shape) = target.strip_prefix(kernel).and_then(|rest| rest.strip_prefix(".b")) {
        name += &format!("$s{shape}");
    }
    if op.has_attr(EPILOGUE) {
        let lows = wrapper.grid_loop().map(|grid| grid.operands()[..3].to_vec()).unwrap_or_default();
        let axis = lows.iter().position(|low| constant(*low) != Some(0)).unwrap_or(0);
        name += &format!("{REST}{axis}");
    }
    name
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
fn declare<'c>(kernel: Op<'c>, name: &str, wrapper: GpuWrapper<'c>, outside: &Outside<'c>, shared: u64) -> Op<'c> {
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
    for mark in [LINKAGE, COMDAT, "comdat"] {
        made.remove_attr(mark);
    }
    made.set_attr(VERSION, ctx.str_attr(kernel.symbol_name().unwrap_or_default()));
    made.set_attr(STATIC_SHARED, ctx.i64_attr(shared as i64));
    made.set_attr(THREAD_GRAIN, ctx.i64_array_attr(&factors(wrapper.op(), THREAD_GRAIN)));
    set_launch_bounds(made, wrapper);
    made
}

/// Where an operation stands in the source, without the subprogram that debug information has for it: only one function can
/// have it.
pub fn plain_location(op: Op<'_>) -> Loc<'_> {
    match op.loc().file_line() {
        Some((file, line, column)) => op.ctx().file_loc(&file, line, column),
        None => op.ctx().unknown_loc(),
    }
}

fn passthrough(kernel: Op<'_>) -> Vec<Attr<'_>> {
    kernel.attr("passthrough").and_then(Attr::as_array).unwrap_or_default()
}

/// The key of an item of `passthrough`, which stands alone or with a value.
fn key(item: Attr<'_>) -> &str {
    let pair = item.as_array().unwrap_or_default();
    pair.first().copied().unwrap_or(item).as_str().unwrap_or_default()
}

fn value(item: Attr<'_>) -> Option<&str> {
    item.as_array()?.get(1)?.as_str()
}

/// The most threads of a block that a kernel's launch bounds allow.
pub fn max_threads(kernel: Op<'_>) -> Option<i64> {
    let bound = passthrough(kernel).into_iter().find(|item| key(*item) == "nvvm.maxntid")?;
    value(bound)?.split(',').map(|number| number.trim().parse::<i64>().ok()).product()
}

/// What they allow for a version, whose threads are fewer.
fn version_max_threads(kernel: Op<'_>, wrapper: GpuWrapper<'_>) -> Option<i64> {
    let threads: i64 = factors(wrapper.op(), THREAD_GRAIN).iter().product();
    max_threads(kernel).map(|most| (most / threads).max(1))
}

/// Launch bounds speak of original threads and blocks: a coarser version has fewer threads, and its blocks are another number
/// in a multiprocessor. A constant block shape is required of launches.
fn set_launch_bounds<'c>(made: Op<'c>, wrapper: GpuWrapper<'c>) {
    let ctx = made.ctx();
    let most = version_max_threads(made, wrapper);
    let mut dropped = HashSet::from(["nvvm.maxntid", "nvvm.reqntid"]);
    if factors(wrapper.op(), GRAIN) != [1; 3] {
        dropped.insert("nvvm.minctasm");
    }
    let mut items: Vec<_> = passthrough(made).into_iter().filter(|item| !dropped.contains(key(*item))).collect();
    let mut add = |key: &str, value: &str| items.push(ctx.array_attr(&[ctx.str_attr(key), ctx.str_attr(value)]));
    let shape: Option<Vec<i64>> = wrapper.block_shape().into_iter().map(constant).collect();
    match (shape, most) {
        (Some(shape), _) => {
            let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
            add("nvvm.reqntid", &sizes.join(","));
        }
        (None, Some(most)) => add("nvvm.maxntid", &most.to_string()),
        (None, None) => {}
    }
    made.remove_attr("passthrough");
    if !items.is_empty() {
        made.set_attr("passthrough", ctx.array_attr(&items));
    }
    made.remove_attr("nvvm.reqntid");
}
