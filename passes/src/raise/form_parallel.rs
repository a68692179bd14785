//! `regrain-form-parallel`: a kernel becomes parallel loops inside a host launch function.
//!
//! ```text
//! Before:                                              After:
//!   llvm.mlir.global internal @s() {addr_space = 3}      llvm.func ptx_kernelcc @k(!llvm.ptr)    // declaration
//!   llvm.func ptx_kernelcc @k(%p: !llvm.ptr) {           llvm.func @__regrain_launch.k(%args, %gx, ..., %stream) -> i32 {
//!     %s = llvm.mlir.addressof @s : !llvm.ptr<3>           %p = <load of the argument>
//!     %t = nvvm.read.ptx.sreg.tid.x : i32                  %err = regrain.gpu_wrapper @k grid(...) block(...) ... {
//!     ...                                                    scf.parallel (%i, %j, %k) = ... {
//!     llvm.call_intrinsic "llvm.nvvm.barrier..."               %s = regrain.shared "s" : ... -> !llvm.ptr<3>
//!     ...                                                      scf.parallel (%x, %y, %z) = ... {
//!     llvm.return                                                %t = arith.index_cast %x : index to i32
//!   }                                                            ...
//!                                                                regrain.barrier(%x, %y, %z)
//!                                                                ...
//! ```
//!
//! With option `shapes`, `k=16x16x1;k=256x1x1`, further launch functions get constant block sizes; with `bounds` one gets the most threads that
//! the kernel's launch bounds allow, where it has operations of warps, whose rows must be known, in rows of `widths` or in one; where such a kernel never reads how many
//! threads a block has, that for all shapes is `regrain.seldom`; so it is where one of `shapes` has as many threads. One that numbers its threads, as `32 * y + x` does, says the width of its rows itself. One that says nothing and
//! asks for y of a thread is taken to be launched in rows of a warp: there the one for all shapes is `regrain.doubtful`. Where such kernels have more than `budget`
//! operations together, those whose one shape is known have no other (`regrain.sole`).
//!
//! A kernel that has no parallel form (`analysis/functions.rs` lists the reasons) stays as it is, with a remark and the
//! attribute `regrain.not_raised`.

mod largest;

use std::collections::{HashMap, HashSet};

use mlir_bridge::{
    ir::{Attr, Builder, Mapping, Op, Value},
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
};

use regrain_dialects::attributes::{COMDAT, LINKAGE, NOT_RAISED, SELDOM, SOLE};
use regrain_dialects::ops::{Barrier, BarrierReduce, DynamicShared, ReduceKind, Shared, is_barrier, is_synchronising};
use regrain_targets::device_language;
use regrain_targets::device_language::thread_ops::{ThreadOp, classify};
use regrain_targets::device_language::warp_ops;
use regrain_targets::device_operations::Axis;

use crate::{
    analysis::functions::{Functions, address_space, is_dynamic_shared, is_kernel},
    launch::launch_function::{self, LaunchFunction},
};

use largest::Largest;

/// Dialects whose operations the pass makes.
pub const DIALECTS: &[&str] = &["regrain", "llvm", "scf", "arith"];

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-form-parallel",
    summary: "turn kernels into parallel loops inside host launch functions",
    anchor: Anchor::Module,
    options: &[
        PassOption {
            name: "shapes",
            default: "",
            description: "constant block shapes to specialise for, as kernel=16x16x1;kernel=256x1x1",
        },
        PassOption {
            name: "only",
            default: "",
            description: "kernels that are launched with those shapes alone, and get no launch function for all: k1;k2",
        },
        PassOption {
            name: "widths",
            default: "",
            description: "what x of a kernel's blocks is where no more is known of them: k1=32;k2=64",
        },
        PassOption {
            name: "bounds",
            default: "false",
            description: "kernels with operations of warps and no such shape are specialised for the most threads that they may have",
        },
        PassOption {
            name: "budget",
            default: "10000",
            description: "the operations of kernels that are so specialised, up to which each is made for all shapes too",
        },
    ],
    dialects: DIALECTS,
    run,
};

/// Constant block shapes, by kernel.
pub type Shapes = HashMap<String, Vec<[u32; 3]>>;

/// What became of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelOutcome {
    pub name: String,
    /// Why it was not raised; `None` when it was.
    pub reason: Option<String>,
}

fn run(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    let shapes = parse_shapes(pass.option("shapes"))?;
    let only = pass.option("only").split(';').collect();
    let widths = parse_widths(pass.option("widths"))?;
    let budget = usize::try_from(pass.option_int("budget")?).unwrap_or(0);
    let bounds = pass.option_bool("bounds")?.then_some(Bounds { widths, budget });
    form_kernels(module, &shapes, &only, bounds);
    Ok(())
}

/// How kernels are specialised for what their launch bounds allow.
pub struct Bounds {
    /// What x of blocks is, by kernel.
    widths: Widths,
    /// The operations of such kernels that are still made for all shapes too.
    budget: usize,
}

impl Bounds {
    /// What launch bounds say beside the shapes that are known: one more shape, and what stands on the launch function for all others.
    fn tell(
        &self,
        kernel: Op<'_>,
        launch: &LaunchFunction<'_>,
        known: &[[u32; 3]],
    ) -> (Option<[u32; 3]>, Option<&'static str>) {
        if !known.is_empty() {
            return (None, Largest::is_among(known, kernel).then_some(SELDOM));
        }
        let of_warps = launch.block_loop.contains(|op| is_synchronising(op) && !is_barrier(op));
        let largest = of_warps.then(|| Largest::of(kernel, &self.widths)).flatten();
        largest.map_or((None, None), |largest| (Some(largest.shape), largest.demand_of_others))
    }

    /// Whether launches are made of a function that no launch is expected to need.
    fn afford(&mut self, function: Op<'_>) -> bool {
        let size = function.find_all(|_| true).len();
        let afforded = size <= self.budget;
        self.budget = self.budget.saturating_sub(size);
        afforded
    }
}

/// Parses the option `shapes`.
pub fn parse_shapes(text: &str) -> Result<Shapes, String> {
    let mut shapes = Shapes::new();
    for item in text.split(';').filter(|item| !item.trim().is_empty()) {
        let bad = || format!("block shape '{item}', expected kernel=XxYxZ");
        let (kernel, sizes) = item.trim().rsplit_once('=').ok_or_else(bad)?;
        let sizes: Vec<u32> = sizes.split('x').map(str::parse).collect::<Result<_, _>>().map_err(|_| bad())?;
        let shape: [u32; 3] = sizes.try_into().map_err(|_| bad())?;
        if shape.contains(&0) || shape.iter().map(|size| u64::from(*size)).product::<u64>() > 1024 {
            return Err(format!("block shape '{item}' is no valid shape of a block"));
        }
        let list = shapes.entry(kernel.to_owned()).or_default();
        if !list.contains(&shape) {
            list.push(shape);
        }
    }
    Ok(shapes)
}

/// What x of blocks is, by kernel.
pub type Widths = HashMap<String, u32>;

/// Parses the option `widths`.
fn parse_widths(text: &str) -> Result<Widths, String> {
    let parse = |item: &str| {
        let (kernel, width) = item.trim().rsplit_once('=')?;
        let width = width.parse().ok().filter(|width| (1..=1024).contains(width))?;
        Some((kernel.to_owned(), width))
    };
    let items = text.split(';').filter(|item| !item.trim().is_empty());
    items.map(|item| parse(item).ok_or_else(|| format!("width '{item}', expected kernel=1..1024"))).collect()
}

/// Forms every kernel of the module that has a parallel form.
///
/// Those in `only` get a launch function for each of their `shapes`, and none for all others. With `bounds` kernels of no such shape get one for
/// what their launch bounds allow.
pub fn form_kernels(
    module: Op<'_>,
    shapes: &Shapes,
    only: &HashSet<&str>,
    mut bounds: Option<Bounds>,
) -> Vec<KernelOutcome> {
    let mut functions = Functions::new(module);
    let kernels: Vec<_> = module.body().ops().into_iter().filter(|op| is_kernel(*op)).collect();
    let mut outcomes = Vec::new();
    for kernel in kernels.into_iter().filter(|kernel| !kernel.region(0).is_empty()) {
        let name = kernel.symbol_name().unwrap_or("").to_owned();
        let reason = match functions.why_not(kernel) {
            Some(reason) => Some(reason),
            None => {
                let constant = shapes.get(&name).map_or(&[][..], Vec::as_slice);
                let general = constant.is_empty() || !only.contains(name.as_str());
                form(module, &functions, kernel, (constant, general), bounds.as_mut()).err()
            }
        };
        if let Some(reason) = &reason {
            kernel.remark(format!("kernel {name} is not raised: {reason}"));
            kernel.set_attr(NOT_RAISED, module.ctx().str_attr(reason));
        }
        outcomes.push(KernelOutcome { name, reason });
    }
    erase_unused_shared(module);
    outcomes
}

fn form<'c>(
    module: Op<'c>,
    functions: &Functions<'c>,
    kernel: Op<'c>,
    (constant, general): (&[[u32; 3]], bool),
    mut bounds: Option<&mut Bounds>,
) -> Result<(), String> {
    let mut shapes: Vec<_> = general.then_some(None).into_iter().chain(constant.iter().copied().map(Some)).collect();
    if !general {
        device_language::bounds::take(kernel).put(kernel);
    }
    let unit = module.ctx().unit_attr();
    let (mut made, mut sole) = (0, false);
    while let Some(shape) = shapes.get(made).copied() {
        let launch = launch_function::create(module, kernel, shape)?;
        fill(functions, kernel, &launch);
        if sole {
            launch.func.set_attr(SOLE, unit);
        }
        if shape.is_none() {
            device_language::bounds::take(kernel).put(kernel);
        }
        if let Some(bounds) = bounds.as_deref_mut().filter(|_| shape.is_none()) {
            let (largest, demand) = bounds.tell(kernel, &launch, constant);
            shapes.extend(largest.map(Some));
            sole = demand == Some(SELDOM) && !bounds.afford(launch.func);
            match demand {
                _ if sole => launch.func.erase(),
                Some(demand) => launch.func.set_attr(demand, unit),
                None => (),
            }
        }
        made += 1;
    }
    leave_declaration(kernel);
    Ok(())
}

/// Puts a copy of the kernel's body into the block loop and ties it to the loops.
fn fill<'c>(functions: &Functions<'c>, kernel: Op<'c>, launch: &LaunchFunction<'c>) {
    let block = launch.block_loop.body();
    let Some(end) = block.terminator() else {
        return;
    };
    let body = Builder::before(end).with_loc(kernel.loc());
    let mut mapping = Mapping::new();
    let parameters = launch_function::parameters(kernel);
    for (index, (from, to)) in kernel.body().args().into_iter().zip(&launch.arguments).enumerate() {
        let value = match parameters[index].byval {
            Some(ty) if is_written(from) => private_copy(body, *to, ty),
            _ => *to,
        };
        mapping.map(from, value);
    }
    body.clone_body(kernel.body(), &mut mapping);
    tie_to_loops(launch);
    place_shared(functions, launch);
}

/// Whether memory behind a `byval` pointer may be written, or its address kept.
fn is_written(pointer: Value<'_>) -> bool {
    pointer.uses().into_iter().any(|used| match used.owner.name() {
        "llvm.load" => false,
        "llvm.getelementptr" | "llvm.addrspacecast" => used.operand != 0 || is_written(used.owner.result(0)),
        "llvm.intr.memcpy" => used.operand != 1,
        _ => true,
    })
}

/// A thread's own copy of a structure passed by value.
fn private_copy<'c>(builder: Builder<'c>, source: Value<'c>, ty: mlir_bridge::ir::Type<'c>) -> Value<'c> {
    let ctx = builder.ctx();
    let (pointer, long) = (ctx.ptr(0), ctx.int(64));
    let element = ctx.type_attr(ty);
    let one = builder.op("llvm.mlir.constant").attr("value", ctx.i64_attr(1)).result(long).build().result(0);
    let copy = builder
        .op("llvm.alloca")
        .operands(&[one])
        .attrs(&[("elem_type", element), ("alignment", ctx.i64_attr(16))])
        .result(pointer)
        .build()
        .result(0);
    let zero = builder.value("llvm.mlir.zero", &[], pointer);
    let end = builder
        .op("llvm.getelementptr")
        .operands(&[zero])
        .attrs(&[("elem_type", element), ("rawConstantIndices", ctx.i32_array_attr(&[1]))])
        .result(pointer)
        .build()
        .result(0);
    let size = builder.value("llvm.ptrtoint", &[end], long);
    builder.llvm_memcpy(copy, source, size);
    copy
}

/// Replaces everything that names the thread, warp or block.
fn tie_to_loops(launch: &LaunchFunction<'_>) {
    let ivs = launch.block_loop.body().args();
    let thread = casts(launch.block_loop, Builder::at_start(launch.block_loop.body(), launch.func.loc()));
    let block = casts(launch.grid_loop, Builder::before(launch.block_loop));
    let pick = |op: Op<'_>, values: &[_], axis: Axis| op.replace_with(&[values[axis.index()]]);
    for op in launch.block_loop.find_all(|op| classify(op).is_some()) {
        match classify(op) {
            Some(ThreadOp::ThreadId(axis)) => pick(op, &thread, axis),
            Some(ThreadOp::BlockId(axis)) => pick(op, &block, axis),
            Some(ThreadOp::GridDim(axis)) => pick(op, &launch.sizes[..3], axis),
            Some(ThreadOp::BlockDim(axis)) => pick(op, &launch.sizes[3..], axis),
            Some(ThreadOp::Barrier) => {
                Barrier::create_named(Builder::before(op), &ivs, None, None, is_unaligned(op));
                op.erase();
            }
            Some(ThreadOp::GridBarrier) => {
                Barrier::create_grid(Builder::before(op), &ivs);
                op.erase();
            }
            Some(ThreadOp::BarrierReduce(kind)) => replace_barrier_reduce(op, kind, &ivs),
            Some(ThreadOp::Lane(register)) => {
                warp_ops::replace_lane_register(op, register, &ivs);
            }
            Some(ThreadOp::Warp) => {
                warp_ops::replace(op, &ivs);
            }
            Some(ThreadOp::Unsupported(_)) | None => {}
        }
    }
    erase_dead_casts(&thread);
    erase_dead_casts(&block);
}

/// Whether the threads of a warp may arrive at a barrier separately.
fn is_unaligned(op: Op<'_>) -> bool {
    op.attr("intrin").and_then(|name| name.as_str()).is_some_and(|name| !name.contains("aligned"))
}

/// The induction variables of a loop as i32.
fn casts<'c>(loop_: Op<'c>, builder: Builder<'c>) -> Vec<Value<'c>> {
    let word = builder.ctx().int(32);
    loop_.body().args().into_iter().map(|iv| builder.index_cast(iv, word)).collect()
}

fn erase_dead_casts(values: &[Value<'_>]) {
    for cast in values.iter().filter_map(|value| value.defining_op()) {
        if cast.is_trivially_dead() {
            cast.erase();
        }
    }
}

/// `op` holds the barrier's number and the predicate; its result is i32 for a count and i1 else.
fn replace_barrier_reduce<'c>(op: Op<'c>, kind: ReduceKind, ivs: &[Value<'c>]) {
    let made = BarrierReduce::create(Builder::before(op), kind, op.operand(1), ivs, None);
    op.replace_with(&made.op().results());
}

/// Shared variables become allocations of the grid loop.
fn place_shared<'c>(functions: &Functions<'c>, launch: &LaunchFunction<'c>) {
    let builder = Builder::at_start(launch.grid_loop.body(), launch.func.loc());
    let mut placed: HashMap<String, Value<'c>> = HashMap::new();
    let mut dynamic: Option<DynamicShared<'c>> = None;
    for address in launch.block_loop.find_named("llvm.mlir.addressof") {
        let Some(global) = functions.global_of(address).filter(|global| address_space(*global) == 3) else {
            continue;
        };
        let value = if is_dynamic_shared(global) {
            let memory = *dynamic.get_or_insert_with(|| DynamicShared::create(builder, launch.shared_bytes, None));
            // All `extern __shared__` arrays share one address: it takes the largest alignment, at least 16.
            memory.set_alignment(memory.alignment().unwrap_or(16).max(alignment(global)));
            memory.pointer()
        } else {
            let name = global.symbol_name().unwrap_or("").to_owned();
            *placed.entry(name).or_insert_with(|| static_shared(builder, global))
        };
        address.replace_with(&[value]);
    }
}

fn alignment(global: Op<'_>) -> i64 {
    global.attr("alignment").and_then(|alignment| alignment.as_int()).unwrap_or(16)
}

fn static_shared<'c>(builder: Builder<'c>, global: Op<'c>) -> Value<'c> {
    let ty = global.attr("global_type").and_then(Attr::as_type).expect("a global without a type");
    Shared::create(builder, ty, Some(alignment(global)), global.symbol_name()).pointer()
}

/// The kernel keeps name, type and attributes, and loses its body.
fn leave_declaration(kernel: Op<'_>) {
    for block in kernel.region(0).blocks() {
        for op in block.ops() {
            op.drop_all_references();
        }
        block.erase();
    }
    if let Some(linkage) = kernel.attr("linkage") {
        kernel.set_attr(LINKAGE, linkage);
    }
    if let Some(comdat) = kernel.attr("comdat") {
        kernel.set_attr(COMDAT, comdat);
        kernel.remove_attr("comdat");
    }
    if let Some(external) = kernel.ctx().parse_attr("#llvm.linkage<external>") {
        kernel.set_attr("linkage", external);
    }
}

/// Erases shared globals that nobody names any more.
fn erase_unused_shared(module: Op<'_>) {
    let named: Vec<_> = module
        .find_named("llvm.mlir.addressof")
        .into_iter()
        .filter_map(|address| address.attr("global_name").and_then(|name| name.as_symbol()))
        .collect();
    for global in module.body().ops() {
        if global.is("llvm.mlir.global")
            && address_space(global) == 3
            && global.symbol_name().is_some_and(|name| !named.contains(&name))
        {
            global.erase();
        }
    }
}
