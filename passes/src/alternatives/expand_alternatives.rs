//! `regrain-expand-alternatives`: a launch becomes the same launch at several grains, side by side.
//!
//! ```text
//! Before:
//!   %e = regrain.gpu_wrapper @k grid(...) block(...) { ... }
//! After (`space=blocks=1,2:threads=1,2`):
//!   %e = regrain.alternatives ["original", "b2x1x1", "t2x1x1", "b2x1x1t2x1x1"] -> i32 {
//!     %0 = regrain.gpu_wrapper @k ... ; regrain.yield %0
//!   }, {
//!     <the launch with coarser blocks, its epilogue and all> ; regrain.yield %1
//!   }, ...
//! ```
//!
//! The original is always the first. A total is balanced over the dimensions of the launch at hand, so different totals can
//! come to one grain, which is then made once. Threads are coarsened before blocks. Where the launch decides whether a thread
//! factor divides its block, the launch at the grain it had stays in the other branch and its blocks are not coarsened.
//!
//! A grain is left out, with a remark, where coarsening declines, where a block would have fewer than one thread or more
//! static shared memory than `shared-limit`, where a constant grid has fewer blocks than one coarse block holds, and where the
//! body would have more operations than `operation-limit`.
//! Alternatives inside alternatives are made one list (`flatten`).
//!
//! A grain that says how many blocks a task has (`p16`) is a copy of the launch with that number on it (`regrain.tasks`); what
//! coarse blocks leave over is too little for it. A kernel that polls memory in a loop gets none but 1: the runtime's own number
//! lets as many blocks as possible run at once, and a block may count on that. The body is that of the same grain without it, so `regrain-isolate-launches`
//! makes no second kernel of it.

use mlir_bridge::{
    ir::{Attr, Builder, Op, Walk},
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
    reasons::fill,
};
use regrain_dialects::{
    attributes::{self, EPILOGUE, GRAIN, KEPT, OMITTED, SPACE, TASKS},
    ops::{Alternatives, GpuWrapper, yield_results},
};
use regrain_tuning::{Factors, Grain, Space};

use crate::{
    analysis::facts::constant,
    analysis::functions::Functions,
    analysis::waiting::may_wait,
    coarsen::coarsen_blocks,
    coarsen::coarsen_threads,
    coarsen::coarsening::{Loops, loops, resolve, static_shared_bytes},
    coarsen::unroll_and_interleave::{Indexing, Refusal},
    launch::launch_function::{dispatched, launches},
};

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-expand-alternatives",
    summary: "put versions of each launch at several grains beside it",
    anchor: Anchor::Module,
    options: &[
        PassOption {
            name: "space",
            default: "blocks=1,2,4:threads=1,2",
            description: "the grains, as in blocks=1,2,4:threads=1,2:tasks=auto,16",
        },
        PassOption {
            name: "shared-limit",
            default: "0",
            description: "the most bytes of static shared memory of a block; 0 without a limit",
        },
        PassOption {
            name: "dynamic-shared-limit",
            default: "0",
            description: "the same for dynamic shared memory, checked by the launch",
        },
        PassOption {
            name: "operation-limit",
            default: "8000",
            description: "the most operations of the body of an alternative",
        },
        PassOption {
            name: "quiet",
            default: "false",
            description: "leave what was left out to the attribute 'regrain.omitted', without remarks",
        },
    ],
    dialects: &["arith", "scf", "llvm", "regrain", "ub"],
    run,
};

/// The most operations that the body of an alternative may have where nobody asked for it: no instruction cache of a GPU holds more.
pub const USUAL_OPERATIONS: i64 = 8_000;

/// The same for functions that run blocks: a processor's first level holds some 32 KiB, and a row of threads takes several instructions
/// for an operation.
pub const USUAL_OPERATIONS_OF_BLOCKS: i64 = 2_000;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The grains.
    pub space: Space,
    /// The most bytes of static shared memory that a block may take; 0 without a limit.
    pub shared_limit: i64,
    /// The most bytes of dynamic shared memory that a coarser block may take; 0 without a limit.
    pub dynamic_shared_limit: i64,
    /// The most operations that the body of an alternative may have.
    pub operation_limit: i64,
}

mlir_bridge::reasons! {
    /// Why a grain is not among the alternatives although coarsening is right.
    pub enum Limit {
        SharedMemory => "its {} bytes of static shared memory are over the limit of {}",
        Size => "its body would have {} operations, over the limit of {}",
        SmallGrid => "the grid has {} blocks in dimension {}, fewer than the {} of one coarse block",
        SmallBlock => "the block has {} threads in dimension {}, fewer than the {} of one coarse thread",
        MayWait => "its blocks may wait for one another",
    }
}

/// Why a grain is not among the alternatives.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeftOut {
    /// Coarsening is not proven right.
    #[error("{0}")]
    Refused(Refusal),
    /// It takes more static shared memory than there is.
    #[error("{}", fill(Limit::SharedMemory, &[.needed, .limit]))]
    SharedMemory { needed: i64, limit: i64 },
    /// It would be unrolled to more than is worth compiling.
    #[error("{}", fill(Limit::Size, &[.needed, .limit]))]
    Size { needed: i64, limit: i64 },
    /// The constant grid does not hold one coarse block.
    #[error("{}", fill(Limit::SmallGrid, &[.size, .axis, .factor]))]
    SmallGrid { axis: usize, size: i64, factor: i64 },
    /// The constant block does not hold one coarse thread.
    #[error("{}", fill(Limit::SmallBlock, &[.size, .axis, .factor]))]
    SmallBlock { axis: usize, size: i64, factor: i64 },
    /// A block would wait for one that comes behind it in its task.
    #[error("{}", Limit::MayWait)]
    MayWait,
}

impl LeftOut {
    /// Whether it is not proven right; else it would take too much of something.
    fn is_declined(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::MayWait)
    }
}

/// A grain that was left out of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    /// The kernel that is launched.
    pub kernel: String,
    /// The only block shape that the launch is for.
    pub shape: Option<[u32; 3]>,
    pub grain: Grain,
    /// Whether it is not proven right; else it would take too much of something.
    pub is_declined: bool,
    pub reason: String,
}

/// What was left out of the launches of a module, by the attributes that the pass left; they go.
pub fn take_omissions(module: Op<'_>) -> Vec<Omission> {
    let mut found = Vec::new();
    for (function, kernel, shape) in dispatched(module).into_iter().chain(launches(module)) {
        let rows = function.attr(OMITTED).and_then(Attr::as_array).unwrap_or_default();
        function.remove_attr(OMITTED);
        for row in rows {
            let texts: Vec<&str> = row.as_array().unwrap_or_default().into_iter().filter_map(Attr::as_str).collect();
            if let [grain, decision, reason] = texts[..]
                && let Ok(grain) = grain.parse()
            {
                let (kernel, reason) = (kernel.to_owned(), reason.to_owned());
                found.push(Omission { kernel, shape, grain, is_declined: decision == DECLINED, reason });
            }
        }
    }
    found
}

const DECLINED: &str = "declined";
const PRUNED: &str = "pruned";

/// Leaves on a launch function what was left out of its launch.
fn record<'c>(function: Op<'c>, omitted: &[(Grain, LeftOut)]) {
    let ctx = function.ctx();
    let row = |(grain, reason): &(Grain, LeftOut)| {
        let decision = if reason.is_declined() { DECLINED } else { PRUNED };
        ctx.array_attr(&[ctx.str_attr(&grain.to_string()), ctx.str_attr(decision), ctx.str_attr(&reason.to_string())])
    };
    if !omitted.is_empty() {
        function.set_attr(OMITTED, ctx.array_attr(&omitted.iter().map(row).collect::<Vec<_>>()));
    }
}

fn run(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    let request = Request {
        space: pass.option("space").parse()?,
        shared_limit: pass.option_int("shared-limit")?,
        dynamic_shared_limit: pass.option_int("dynamic-shared-limit")?,
        operation_limit: pass.option_int("operation-limit")?,
    };
    let is_quiet = pass.option_bool("quiet")?;
    for (function, omitted) in expand_all(module, &request) {
        for (grain, reason) in omitted.iter().filter(|_| !is_quiet) {
            function.remark(format!("grain {grain} is left out: {reason}"));
        }
        if is_quiet {
            record(function, &omitted);
        }
    }
    Ok(())
}

/// Expands every launch of a module; says what was left out of the launch in which function.
fn expand_all<'c>(module: Op<'c>, request: &Request) -> Vec<(Op<'c>, Vec<(Grain, LeftOut)>)> {
    let mut functions = Functions::new(module);
    let mut omitted = Vec::new();
    for wrapper in GpuWrapper::all(module) {
        if [EPILOGUE, GRAIN, KEPT].iter().any(|mark| wrapper.op().has_attr(mark)) {
            continue;
        }
        let function = wrapper.op().parent_of_name("llvm.func");
        let left_out = expand(wrapper, request, &mut functions);
        omitted.extend(function.map(|function| (function, left_out)));
    }
    let is_outermost = |alternatives: &Alternatives<'_>| Alternatives::around(alternatives.op()).is_none();
    let outermost: Vec<_> = Alternatives::all(module).into_iter().filter(is_outermost).collect();
    for outer in outermost {
        flatten(outer);
    }
    omitted
}

/// The grains that a search space comes to for one launch: balanced, each once, the original not among them.
pub fn grains(wrapper: GpuWrapper<'_>, space: &Space) -> Result<Vec<Grain>, Refusal> {
    let Loops { grid, block } = loops(wrapper)?;
    let mut grains = Vec::new();
    for (blocks, threads, tasks) in space.points() {
        let grain = Grain { blocks: resolve(blocks, grid, false), threads: resolve(threads, block, true), tasks };
        if !grain.is_original() && !grains.contains(&grain) {
            grains.push(grain);
        }
    }
    Ok(grains)
}

/// Puts the alternatives in the place of a launch; gives what was left out.
fn expand<'c>(wrapper: GpuWrapper<'c>, request: &Request, functions: &mut Functions<'c>) -> Vec<(Grain, LeftOut)> {
    let stated =
        wrapper.op().parent_of_name("llvm.func").and_then(|function| attributes::text(function, SPACE)?.parse().ok());
    let space = stated.as_ref().unwrap_or(&request.space);
    if space.points().next().is_none() {
        return Vec::new();
    }
    let grains = match grains(wrapper, space) {
        Ok(grains) => grains,
        Err(refusal) => return vec![(Grain::ORIGINAL, LeftOut::Refused(refusal))],
    };
    let (mut names, mut made, mut omitted) = (vec!["original".to_owned()], Vec::new(), Vec::new());
    for grain in grains {
        match alternative(wrapper, grain, request, functions) {
            Ok(single) => {
                names.push(grain.to_string());
                made.push(single);
            }
            Err(reason) => omitted.push((grain, reason)),
        }
    }
    if made.is_empty() {
        return omitted;
    }
    let op = wrapper.op();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = Alternatives::create(Builder::before(op), &names, &[op.ctx().int(32)]);
    let regions = all.choices();
    op.result(0).replace_all_uses_with(all.op().result(0));
    let original = regions[0].entry();
    op.move_to_end(original);
    yield_results(Builder::at_end(original, op.loc()), &[op.result(0)]);
    for (region, single) in regions[1..].iter().zip(made) {
        let from = Alternatives::cast(single).expect("made as alternatives").choices()[0];
        region.entry().erase();
        region.take_blocks(from);
        single.erase();
    }
    omitted
}

/// One alternative, in an operation of its own before the launch; on `Err` nothing has changed.
fn alternative<'c>(
    wrapper: GpuWrapper<'c>,
    grain: Grain,
    request: &Request,
    functions: &mut Functions<'c>,
) -> Result<Op<'c>, LeftOut> {
    check(wrapper, grain, request)?;
    let op = wrapper.op();
    let single = Alternatives::create(Builder::before(op), &[&grain.to_string()], &[op.ctx().int(32)]).op();
    let body = single.region(0).entry();
    let copy = Builder::at_end(body, op.loc()).clone_op(op, &mut mlir_bridge::ir::Mapping::new());
    yield_results(Builder::at_end(body, op.loc()), &[copy.result(0)]);
    match coarsen(copy, single, grain, request, functions) {
        Ok(()) => {
            set_tasks(single, grain);
            Ok(single)
        }
        Err(refusal) => {
            single.erase();
            Err(LeftOut::Refused(refusal))
        }
    }
}

fn coarsen<'c>(
    copy: Op<'c>,
    single: Op<'c>,
    grain: Grain,
    request: &Request,
    functions: &mut Functions<'c>,
) -> Result<(), Refusal> {
    let view = |op| GpuWrapper::cast(op).ok_or(Refusal::NoBlockLoop);
    let mut coarse = vec![copy];
    if grain.threads != [1; 3] {
        let threads = coarsen_threads::Request {
            factors: Factors::Each(grain.threads),
            indexing: Indexing::Strided,
            guard: true,
        };
        coarsen_threads::coarsen(view(copy)?, &threads, functions)?;
        // The first is coarse; a second one is the launch as it was, for blocks that the factor does not divide.
        coarse = GpuWrapper::all(single).into_iter().map(GpuWrapper::op).take(1).collect();
    }
    if grain.blocks != [1; 3] {
        let blocks = coarsen_blocks::Request {
            factors: Factors::Each(grain.blocks),
            dynamic_shared_limit: request.dynamic_shared_limit,
        };
        for wrapper in coarse {
            coarsen_blocks::coarsen(view(wrapper)?, &blocks, functions)?;
        }
    }
    Ok(())
}

/// Marks the launches of an alternative with the blocks of their tasks.
fn set_tasks(single: Op<'_>, grain: Grain) {
    let Some(tasks) = grain.tasks else { return };
    for wrapper in GpuWrapper::all(single).into_iter().filter(|wrapper| !wrapper.op().has_attr(EPILOGUE)) {
        wrapper.op().set_attr(TASKS, wrapper.op().ctx().i32_attr(tasks.cast_signed()));
    }
}

/// What can be said of a grain before it is made.
fn check(wrapper: GpuWrapper<'_>, grain: Grain, request: &Request) -> Result<(), LeftOut> {
    let (grid, block) = (wrapper.grid(), wrapper.block_shape());
    for axis in 0..3 {
        if let Some(size) = constant(grid[axis]).filter(|size| *size < grain.blocks[axis]) {
            return Err(LeftOut::SmallGrid { axis, size, factor: grain.blocks[axis] });
        }
        if let Some(size) = constant(block[axis]).filter(|size| *size < grain.threads[axis]) {
            return Err(LeftOut::SmallBlock { axis, size, factor: grain.threads[axis] });
        }
    }
    if grain.tasks.is_some_and(|tasks| tasks > 1) && wrapper.op().find_named("scf.while").into_iter().any(may_wait) {
        return Err(LeftOut::MayWait);
    }
    let needed = static_shared_bytes(wrapper.op()) * grain.block_total();
    if grain.block_total() > 1 && request.shared_limit != 0 && needed > request.shared_limit {
        return Err(LeftOut::SharedMemory { needed, limit: request.shared_limit });
    }
    let copies = grain.block_total() * grain.thread_total();
    let needed = operations(wrapper.op()).saturating_mul(copies);
    if copies > 1 && needed > request.operation_limit {
        return Err(LeftOut::Size { needed, limit: request.operation_limit });
    }
    Ok(())
}

/// Operations of the body of a launch.
fn operations(wrapper: Op<'_>) -> i64 {
    let mut count = 0;
    wrapper.walk_pre(|_| {
        count += 1;
        Walk::Advance
    });
    count
}

/// Makes alternatives that are a whole alternative of another one alternatives of that one.
fn flatten(view: Alternatives<'_>) {
    let outer = view.op();
    let nested = |at: usize| {
        let ops = view.choices()[at].entry().ops();
        match ops[..] {
            [inner, end] if end.operands() == inner.results() => Alternatives::cast(inner),
            _ => None,
        }
    };
    let names = view.descriptions();
    if !(0..names.len()).any(|at| nested(at).is_some()) {
        return;
    }
    let (mut flat, mut regions) = (Vec::new(), Vec::new());
    for (at, name) in names.iter().enumerate() {
        match nested(at) {
            None => {
                flat.push((*name).to_owned());
                regions.push(view.choices()[at]);
            }
            Some(inner) => {
                flat.extend(inner.descriptions().into_iter().map(str::to_owned));
                regions.extend(inner.choices());
            }
        }
    }
    let names: Vec<&str> = flat.iter().map(String::as_str).collect();
    let types: Vec<_> = outer.results().into_iter().map(|result| result.ty()).collect();
    let made = Alternatives::create(Builder::before(outer), &names, &types);
    for (to, from) in made.choices().into_iter().zip(regions) {
        to.entry().erase();
        to.take_blocks(from);
    }
    outer.replace_with(&made.op().results());
    flatten(made);
}
