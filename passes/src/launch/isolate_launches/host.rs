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
//! Here a handle says by its attribute `regrain.handle` which kernel it stands for.

use std::collections::{BTreeSet, HashMap, HashSet};

use mlir_bridge::{
    ir::{Block, Builder, Op, Type, Value, Walk},
    pass::{self, PassError},
};
use regrain_dialects::{
    attributes::{self, HANDLE, HOST, KERNEL_ARG, ORIGINAL, REST, STATIC_SHARED},
    ops::{Alternatives, GpuWrapper},
};

use super::{
    parameters::passed_type,
    versions::{retain_versions, versions},
};
use crate::{coarsen::coarsening::static_shared_bytes, launch::launch_function::dispatched, pipelines};

/// Beginning of the names of what stands for kernels in launches; the front end finds them by it.
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

/// Where host code is made.
pub(super) struct Host<'c> {
    pub module: Op<'c>,
    pub dispatch: Op<'c>,
    /// Bytes of shared memory that every block may have unasked; 0 for any number.
    pub unasked: u64,
}

impl<'c> Host<'c> {
    /// Launches kernel `name` in place of a wrapper, with the first `count` arguments of the dispatch function and
    /// `extras`.
    pub fn launch(&self, wrapper: GpuWrapper<'c>, name: &str, count: usize, extras: &[Value<'c>]) -> Value<'c> {
        let b = Builder::before(wrapper.op());
        let (ctx, parameters) = (b.ctx(), self.dispatch.body().args());
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
            _ => argument_array(b, self.dispatch, parameters[0], count, extras),
        };
        if let Some(tasks) = attributes::tasks(wrapper.op()) {
            self.declare(SET_TASKS, ctx.llvm_void(), &[ctx.int(32)]);
            b.llvm_call(SET_TASKS, &[b.const_int(ctx.int(32), tasks.into())], &[]);
        }
        self.call(b, name, &sizes, &[arguments, bytes, stream, b.const_int(long, self.unasked_by(wrapper))])
    }

    /// What a kernel may have of dynamic shared memory unasked, or -1: the original is the program's own matter.
    fn unasked_by(&self, wrapper: GpuWrapper<'c>) -> i64 {
        if wrapper.op().has_attr(ORIGINAL) || self.unasked == 0 {
            return -1;
        }
        (self.unasked as i64 - static_shared_bytes(wrapper.op())).max(0)
    }

    fn call(&self, b: Builder<'c>, name: &str, sizes: &[Value<'c>], rest: &[Value<'c>]) -> Value<'c> {
        let ctx = b.ctx();
        let (ptr, word, long) = (ctx.ptr(0), ctx.int(32), ctx.int(64));
        let symbol = format!("{HANDLE_PREFIX}{name}");
        if self.module.lookup_symbol(&symbol).is_none() {
            let handle = self.at_end().llvm_global(&symbol, ctx.int(8));
            handle.set_attr(HOST, ctx.unit_attr());
            handle.set_attr(HANDLE, ctx.symbol_attr(name));
            if let Some(axis) = self.module.lookup_symbol(name).and_then(|kernel| kernel.attr(REST)) {
                handle.set_attr(REST, axis);
            }
        }
        self.declare(LAUNCHER, word, &[ptr, word, word, word, word, word, word, ptr, long, ptr, long]);
        let operands = [&[b.llvm_addressof(&symbol)], sizes, rest].concat();
        b.llvm_call(LAUNCHER, &operands, &[word]).result(0)
    }

    /// Declares a function that host code calls, once.
    fn declare(&self, name: &str, result: Type<'c>, inputs: &[Type<'c>]) {
        if self.module.lookup_symbol(name).is_none() {
            self.at_end().llvm_func(name, result, inputs).set_attr(HOST, self.module.ctx().unit_attr());
        }
    }

    fn at_end(&self) -> Builder<'c> {
        Builder::at_end(self.module.body(), self.module.ctx().unknown_loc())
    }
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
    let at = |base: Value<'c>, index: usize| b.llvm_element(base, ptr, index);
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
            alternatives.retain(|at, _| at != region);
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

/// What stands for kernels in the launches of a module.
pub struct Handles<'c>(HashMap<&'c str, Op<'c>>);

impl<'c> Handles<'c> {
    pub fn of(module: Op<'c>) -> Self {
        let handles = module.body().ops().into_iter().filter(|op| op.has_attr(HANDLE));
        Self(handles.filter_map(|op| Some((op.symbol_name()?, op))).collect())
    }

    /// The kernel whose handle an operation takes, to launch it.
    pub fn launched(&self, op: Op<'c>) -> Option<&'c str> {
        attributes::symbol(*self.taken(op)?, HANDLE)
    }

    /// Whether that kernel runs what coarse blocks leave over.
    pub fn is_rest(&self, op: Op<'c>) -> bool {
        self.taken(op).is_some_and(|handle| handle.has_attr(REST))
    }

    fn taken(&self, op: Op<'c>) -> Option<&Op<'c>> {
        self.0.get(op.attr("global_name")?.as_symbol()?)
    }
}

/// Takes kernel `name` out of the host functions of a module, with the alternatives that launch it.
pub fn drop_kernel(module: Op<'_>, name: &str) {
    let handles = Handles::of(module);
    for (dispatch, ..) in dispatched(module) {
        loop {
            let used = dispatch.find_all(|op| handles.launched(op) == Some(name));
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

/// Removes host functions that launch nothing but the original kernel, as the program would.
pub fn drop_idle(host: Op<'_>) {
    let sets_tasks = |op: Op<'_>| attributes::symbol(op, "callee") == Some(SET_TASKS);
    for ((function, ..), dispatcher) in dispatched(host).into_iter().zip(dispatchers(host)) {
        if dispatcher.versions.is_empty() && !function.contains(sets_tasks) {
            function.erase();
        }
    }
}

/// The host functions of a module.
pub fn dispatchers(host: Op<'_>) -> Vec<Dispatcher> {
    let handles = Handles::of(host);
    let of = |(function, kernel, shape): (Op<'_>, &str, Option<[u32; 3]>)| {
        let mut versions = BTreeSet::new();
        function.walk_pre(|op| {
            versions.extend(handles.launched(op).filter(|name| *name != kernel).map(str::to_owned));
            Walk::Advance
        });
        Dispatcher {
            kernel: kernel.to_owned(),
            symbol: function.symbol_name().unwrap_or_default().to_owned(),
            shape,
            versions: versions.into_iter().collect(),
            static_shared: attributes::count(function, STATIC_SHARED).unwrap_or(0),
        }
    };
    dispatched(host).into_iter().map(of).collect()
}

/// Removes the kernels made here that no host function launches, and says in the others how much static shared memory they ask
/// for.
pub(super) fn remove_unused_versions(module: Op<'_>) {
    let versions = versions(module);
    let mut used = HashSet::new();
    for ((function, ..), dispatcher) in dispatched(module).into_iter().zip(dispatchers(module)) {
        let of = |name: &String| {
            versions.iter().find(|version| version.name == *name).map_or(0, |version| version.static_shared)
        };
        let most = dispatcher.versions.iter().map(of).max().unwrap_or(0);
        function.set_attr(STATIC_SHARED, module.ctx().i64_attr(most as i64));
        used.extend(dispatcher.versions);
    }
    retain_versions(module, &used);
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
    pass::run_pipeline(host, pipelines::LOWER_GPU)?;
    for op in host.body().ops() {
        for name in attributes::ALL {
            op.remove_attr(name);
        }
    }
    Ok(())
}
