//! The host's half: code that launches kernels, and the module that it is exported from.
//!
//! ```mlir
//! %e = llvm.call @__regrain_launch_kernel(%handle, %gx, %gy, %gz, %bx, %by, %bz, %array, %shmem, %stream, %unasked)
//! ```
//! `%unasked` are the bytes of dynamic shared memory that the kernel has without being allowed more.
//! A launch that says how many blocks a task has stands behind `llvm.call @__regrain_blocks_per_task(%n)`, a function of the CPU's
//! runtime that holds for the next launch of the calling thread.
//! The front end defines `__regrain_launch_kernel` by `cudaLaunchKernel`, whose calling convention is that of the host's ABI,
//! and the handles: `__regrain_handle.<kernel>` is the launch stub for an original kernel, and a symbol of its own for others.

use std::collections::{BTreeSet, HashSet};

use mlir_bridge::{
    ir::{Block, Builder, Op, Type, Value, Walk},
    pass::{self, PassError},
};
use regrain_dialects::ops::{Alternatives, GpuWrapper};

use super::{HOST, SHARED_LIMIT, STATIC_SHARED, VERSION, parameters::passed_type};
use crate::{
    coarsen::coarsening,
    alternatives::content_hash::CONTENT,
    alternatives::expand_alternatives::SPACE,
    launch::launch_function::{DISPATCH_PREFIX, KERNEL_ARG, LAUNCH_PREFIX, kernel_of_launch},
    pipelines::LOWER_GPU,
    alternatives::select_alternative,
};

/// Beginning of the names of what stands for kernels in launches.
const HANDLE_PREFIX: &str = "__regrain_handle.";
const LAUNCHER: &str = "__regrain_launch_kernel";
const SET_TASKS: &str = "__regrain_blocks_per_task";

/// A host function that launches versions of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatcher {
    /// The original kernel.
    pub kernel: String,
    pub symbol: String,
    /// The only block shape that it is for, or `None` for all.
    pub shape: Option<[u32; 3]>,
    /// The versions that it launches, without the original.
    pub versions: Vec<String>,
    /// The most static shared memory that a block of one of them has, bytes.
    pub static_shared: u64,
}

/// Launches kernel `name` in place of a wrapper, with the first `count` arguments of the dispatch function and `extras`.
pub(super) fn launch<'c>(
    module: Op<'c>,
    dispatch: Op<'c>,
    wrapper: GpuWrapper<'c>,
    name: &str,
    count: usize,
    extras: &[Value<'c>],
) -> Value<'c> {
    let b = Builder::before(wrapper.op());
    let (ctx, parameters) = (b.ctx(), dispatch.body().args());
    let word = |size: Value<'c>| match size.defining_op() {
        Some(cast) if cast.is("arith.index_castui") && cast.operand(0).ty().is_int(32) => cast.operand(0),
        _ => b.index_cast(size, ctx.int(32)),
    };
    let sizes: Vec<_> = wrapper.grid().into_iter().chain(wrapper.block_shape()).map(word).collect();
    let long = ctx.int(64);
    let bytes = match wrapper.shared_bytes() {
        None => b.const_int(long, 0),
        Some(bytes) if bytes.ty().is_index() => b.index_cast(bytes, long),
        Some(bytes) if bytes.ty().is_int(64) => bytes,
        Some(bytes) => b.value("arith.extui", &[bytes], long),
    };
    let stream = wrapper.stream().unwrap_or_else(|| b.value("llvm.mlir.zero", &[], ctx.ptr(0)));
    let arguments = match extras {
        [] => parameters[0],
        _ => argument_array(b, dispatch, parameters[0], count, extras),
    };
    // What a kernel may have of dynamic shared memory unasked; the original is the program's own matter.
    let unasked = match wrapper.op().has_attr(coarsening::ORIGINAL) {
        true => -1,
        false => (SHARED_LIMIT as i64 - coarsening::static_shared_bytes(wrapper.op())).max(0),
    };
    if let Some(tasks) = coarsening::tasks(wrapper.op()) {
        if module.lookup_symbol(SET_TASKS).is_none() {
            module.body().parse_into(ctx, &format!("llvm.func @{SET_TASKS}(i32) attributes {{{HOST}}}\n"));
        }
        b.llvm_call(SET_TASKS, &[b.const_int(ctx.int(32), tasks.into())], &[]);
    }
    call(module, b, name, &sizes, &[arguments, bytes, stream, b.const_int(long, unasked)])
}

fn call<'c>(module: Op<'c>, b: Builder<'c>, name: &str, sizes: &[Value<'c>], rest: &[Value<'c>]) -> Value<'c> {
    let ctx = b.ctx();
    let symbol = format!("{HANDLE_PREFIX}{name}");
    if module.lookup_symbol(&symbol).is_none() {
        let text = format!("llvm.mlir.global external @\"{symbol}\"() {{{HOST}}} : i8\n");
        module.body().parse_into(ctx, &text);
    }
    if module.lookup_symbol(LAUNCHER).is_none() {
        let text = format!(
            "llvm.func @{LAUNCHER}(!llvm.ptr, i32, i32, i32, i32, i32, i32, !llvm.ptr, i64, !llvm.ptr, i64) -> i32 attributes {{{HOST}}}\n"
        );
        module.body().parse_into(ctx, &text);
    }
    let handle =
        b.op("llvm.mlir.addressof").attr("global_name", ctx.symbol_attr(&symbol)).result(ctx.ptr(0)).build().result(0);
    let operands = [&[handle], sizes, rest].concat();
    b.llvm_call(LAUNCHER, &operands, &[ctx.int(32)]).result(0)
}

/// The array of pointers to arguments that a launch takes, with those to `extras` behind the first `count`.
fn argument_array<'c>(
    b: Builder<'c>,
    dispatch: Op<'c>,
    given: Value<'c>,
    count: usize,
    extras: &[Value<'c>],
) -> Value<'c> {
    let ptr = b.ctx().ptr(0);
    // Stack memory is allocated where the function begins.
    let start = Builder::at_start(dispatch.body(), b.loc);
    let allocate = |ty: Type<'c>, size: usize| {
        let size = start.const_int(start.ctx().int(64), size as i64);
        let spec = start.op("llvm.alloca").operands(&[size]).result(ptr);
        let made = spec.attr("elem_type", start.ctx().type_attr(ty)).build();
        if let Some(size) = size.defining_op() {
            size.move_before(made);
        }
        made.result(0)
    };
    let at = |base: Value<'c>, index: usize| {
        let spec = b.op("llvm.getelementptr").operands(&[base]).result(ptr).attr("elem_type", b.ctx().type_attr(ptr));
        spec.attr("rawConstantIndices", b.ctx().i32_array_attr(&[index as i32])).build().result(0)
    };
    let store = |value: Value<'c>, to: Value<'c>| {
        b.op("llvm.store").operands(&[value, to]).build();
    };
    let array = allocate(ptr, count + extras.len());
    for index in 0..count {
        let pointer = b.value("llvm.load", &[at(given, index)], ptr);
        store(pointer, at(array, index));
    }
    for (index, extra) in extras.iter().enumerate() {
        let ty = passed_type(*extra);
        let slot = allocate(ty, 1);
        let value = if extra.ty().is_index() { b.index_cast(*extra, ty) } else { *extra };
        store(value, slot);
        store(slot, at(array, count + index));
    }
    array
}

/// What stands around `op` goes: the region of alternatives that it is in. Without others the dispatch function goes (`false`),
/// and the launch keeps its grain.
pub(super) fn fall_back<'c>(dispatch: Op<'c>, op: Op<'c>) -> bool {
    match region_of(op) {
        Some((alternatives, region)) if alternatives.choices().len() > 1 => {
            select_alternative::retain(alternatives, |at, _| at != region);
            true
        }
        _ => {
            dispatch.erase();
            false
        }
    }
}

/// The innermost alternatives that `op` stands in, and the number of the region.
fn region_of(op: Op<'_>) -> Option<(Alternatives<'_>, usize)> {
    let mut block: Option<Block<'_>> = op.block();
    while let Some(at) = block {
        let parent = at.parent_op()?;
        if let Some(alternatives) = Alternatives::cast(parent) {
            let region = alternatives.choices().into_iter().position(|region| region.first_block() == Some(at))?;
            return Some((alternatives, region));
        }
        block = parent.block();
    }
    None
}

/// Takes kernel `name` out of the host functions of a module, with the alternatives that launch it.
pub fn drop_kernel(module: Op<'_>, name: &str) {
    let symbol = format!("{HANDLE_PREFIX}{name}");
    for dispatch in host_functions(module) {
        loop {
            let used = dispatch.find_all(|op| handle(op) == Some(symbol.as_str()));
            let Some(first) = used.first() else { break };
            if !fall_back(dispatch, *first) {
                break;
            }
        }
    }
}

/// Keeps of the versions that host functions launch those in `made`, and the alternatives that need no other.
pub fn keep_kernels(host: Op<'_>, made: &HashSet<String>) {
    let wanted: BTreeSet<String> = dispatchers(host).into_iter().flat_map(|dispatcher| dispatcher.versions).collect();
    for name in wanted.into_iter().filter(|name| !made.contains(name)) {
        drop_kernel(host, &name);
    }
}

fn host_functions(module: Op<'_>) -> Vec<Op<'_>> {
    let mut functions = module.body().ops();
    functions.retain(|op| op.is("llvm.func") && op.symbol_name().is_some_and(|name| name.starts_with(DISPATCH_PREFIX)));
    functions
}

/// The kernel whose handle an operation of host code takes, to launch it.
pub fn launched_kernel(op: Op<'_>) -> Option<&str> {
    handle(op).map(|symbol| &symbol[HANDLE_PREFIX.len()..])
}

/// Removes host functions that launch nothing but the original kernel, as the program would.
pub fn drop_idle(host: Op<'_>) {
    let sets_tasks = |op: Op<'_>| op.attr("callee").and_then(|callee| callee.as_symbol()) == Some(SET_TASKS);
    for (function, dispatcher) in host_functions(host).into_iter().zip(dispatchers(host)) {
        if dispatcher.versions.is_empty() && !function.contains(sets_tasks) {
            function.erase();
        }
    }
}

fn handle(op: Op<'_>) -> Option<&str> {
    op.attr("global_name")?.as_symbol().filter(|name| name.starts_with(HANDLE_PREFIX))
}

/// The host functions of a module.
pub fn dispatchers(host: Op<'_>) -> Vec<Dispatcher> {
    let of = |function: Op<'_>| {
        let symbol = function.symbol_name()?;
        let (kernel, shape) = kernel_of_launch(symbol)?;
        let mut versions = BTreeSet::new();
        function.walk_pre(|op| {
            versions
                .extend(handle(op).map(|name| name[HANDLE_PREFIX.len()..].to_owned()).filter(|name| name != kernel));
            Walk::Advance
        });
        let static_shared = function.attr(STATIC_SHARED).and_then(|bytes| bytes.as_int()).unwrap_or(0);
        Some(Dispatcher {
            kernel: kernel.to_owned(),
            symbol: symbol.to_owned(),
            shape,
            versions: versions.into_iter().collect(),
            static_shared: static_shared.try_into().unwrap_or(0),
        })
    };
    host_functions(host).into_iter().filter_map(of).collect()
}

/// Removes the kernels made here that no host function launches, and says in the others how much static shared memory they ask
/// for.
pub(super) fn remove_unused_versions(module: Op<'_>) {
    let versions = super::versions(module);
    let mut used = HashSet::new();
    for (function, dispatcher) in host_functions(module).into_iter().zip(dispatchers(module)) {
        let of = |name: &String| {
            versions.iter().find(|version| version.name == *name).map_or(0, |version| version.static_shared)
        };
        let most = dispatcher.versions.iter().map(of).max().unwrap_or(0);
        function.set_attr(STATIC_SHARED, module.ctx().i64_attr(most as i64));
        used.extend(dispatcher.versions);
    }
    retain_versions(module, &used);
}

/// Keeps of the kernels that were made here those in `wanted`, with their launch functions.
pub fn retain_versions(module: Op<'_>, wanted: &HashSet<String>) {
    for version in super::versions(module).into_iter().filter(|version| !wanted.contains(&version.name)) {
        for symbol in
            [format!("{LAUNCH_PREFIX}{}", version.name), format!("{HANDLE_PREFIX}{}", version.name), version.name]
        {
            if let Some(op) = module.lookup_symbol(&symbol) {
                op.erase();
            }
        }
    }
}

/// Removes what host code computed for the kernels alone.
pub(super) fn remove_dead_code(function: Op<'_>) {
    function.walk_post(|op| {
        op.remove_attr(KERNEL_ARG);
        Walk::Advance
    });
    loop {
        let dead: Vec<_> = function.find_all(|op| op != function && op.is_trivially_dead());
        if dead.is_empty() {
            return;
        }
        for op in dead.into_iter().rev() {
            if op.is_trivially_dead() {
                op.erase();
            }
        }
    }
}

/// Moves the host's half of `module` into `host`, an empty module.
pub fn take_host<'c>(module: Op<'c>, host: Op<'c>) {
    for op in module.body().ops().into_iter().filter(|op| op.has_attr(HOST)) {
        op.detach();
        Builder::at_end(host.body(), op.loc()).insert(op);
    }
}

/// Lowers the host's half to the llvm dialect. Alternatives must have been chosen from.
pub fn lower_host(host: Op<'_>) -> Result<(), PassError> {
    pass::run_pipeline(host, LOWER_GPU)?;
    for op in host.body().ops() {
        for mark in [HOST, STATIC_SHARED, VERSION, CONTENT, SPACE, coarsening::THREAD_GRAIN] {
            op.remove_attr(mark);
        }
    }
    Ok(())
}
