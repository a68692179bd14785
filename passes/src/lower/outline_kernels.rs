//! `regrain-outline-kernels`: launches in parallel form become GPU kernels of the llvm dialect again.
//!
//! Before:
//! ```mlir
//! llvm.func ptx_kernelcc @k(%a: !llvm.ptr {llvm.noalias}) { ... }
//! llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, ..., %bx: i32, ...) -> i32 {
//!   %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
//!   %a = llvm.load %slot {regrain.kernel_arg = 0} : !llvm.ptr -> !llvm.ptr
//!   %err = regrain.gpu_wrapper grid(...) block(...) stream(...) {
//!     scf.parallel (%i, %j, %k) = ... {
//!       %tile = regrain.shared : !llvm.array<16 x f32> -> !llvm.ptr<3>
//!       scf.parallel (%x, %y, %z) = ... {
//!         scf.for ... { ... regrain.barrier(%x, %y, %z) ... }
//! ```
//! After:
//! ```mlir
//! llvm.mlir.global internal @k.tile() {addr_space = 3 : i32} : !llvm.array<16 x f32>
//! llvm.func ptx_kernelcc @k(%a: !llvm.ptr {llvm.noalias}) {
//!   %tid = nvvm.read.ptx.sreg.tid.x : i32
//!   ...
//! ^latch: ... llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%zero) ... llvm.br ^head {loop_annotation}
//! ```
//! The kernel keeps its name, calling convention and argument attributes, so that the host's registration finds it.
//! Specialised forms (`@__regrain_launch.k.b16x16x1`) become `@k.b16x16x1` with `nvvm.reqntid`, if asked for.
//!
//! Kernels that `regrain-isolate-launches` made are made likewise; one that cannot be is not launched by the host.
//!
//! Declines loops that do not run over the whole grid and block, values that the host computes, effects between the grid
//! loop and the block loop: with a remark where the kernel still has a body of its own, which then stays, else with an
//! error.

use mlir_bridge::ir::{Builder, Mapping, Op, Value};
use mlir_bridge::pass::{Anchor, PassInfo, PassOption, PassResult, PassRun};
use mlir_bridge::reasons::fill;
use regrain_dialects::LaunchBounds;
use regrain_dialects::ops::{DynamicShared, GpuWrapper, is_shared_memory};
use regrain_targets::device_language;
use regrain_targets::device_operations::{Axis, DeviceOperations, Place, common};

use regrain_dialects::attributes::{
    self, BLOCK_SHAPE, COMDAT, GRAIN, LINKAGE, NOT_RAISED, REST, STATIC_SHARED, THREAD_GRAIN, VERSION_OF,
};

use crate::analysis::counted_loop::is_outside;
use crate::analysis::facts::constant;
use crate::launch::isolate_launches::{drop_kernel, plain_location};
use crate::launch::launch_function::{label, launches, subject};
use crate::pipelines::LOWER_GPU;

/// The row of the table of passes.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-outline-kernels",
    summary: "turns launches in parallel form into GPU kernels of the llvm dialect",
    anchor: Anchor::Module,
    options: &[PassOption {
        name: "specialized",
        default: "false",
        description: "also make kernels of the forms for constant block shapes",
    }],
    dialects: &["arith", "cf", "llvm", device_language::DIALECT],
    run,
};

mlir_bridge::reasons! {
    /// Why a launch cannot be made a kernel.
    pub enum NoKernel {
        BlockShape => "its block is not that of the launch",
        Wrappers => "expected one 'regrain.gpu_wrapper'",
        Loops => "expected one loop over the {}",
        Dimensions => "expected a loop nest of three dimensions over the {}",
        PartOfLaunch => "its loops do not run over the whole {}",
        LaunchValue => "it uses what only the launch knows",
        HostValue => "it uses a value that the host computes",
        BesideLoops => "'{}' stands outside of the loop over the block",
    }
}

const LOOP_ANNOTATION: &str = "llvm.loop_annotation";

fn run(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    outline_kernels(pass, module, common())
}

/// Makes kernels of all launches, with what `operations` has for the operations of the regrain dialect.
fn outline_kernels(pass: &PassRun<'_>, module: Op<'_>, operations: &dyn DeviceOperations) -> PassResult {
    let specialized = pass.option_bool("specialized")?;
    for (launch, name, shape) in launches(module) {
        if let Some(kernel) = module.lookup_symbol(name)
            && (shape.is_none() || specialized)
            && let Err(reason) = outline((module, operations), launch, kernel, shape)
        {
            if kernel.has_attr(VERSION_OF) {
                launch.remark(format!("{}launch keeps its grain: {reason}", subject(launch)));
                drop_kernel(module, name);
                kernel.erase();
                launch.erase();
                continue;
            }
            if kernel.region(0).is_empty() {
                let target = label(name, shape);
                return Err(launch.error(format!("kernel '{target}' cannot be made of its parallel form: {reason}")));
            }
            launch.remark(format!("kernel '{name}' keeps the form it came in: {reason}"));
        }
        launch.erase();
    }
    for kernel in module.find_named("llvm.func") {
        restore_attributes(kernel, operations);
    }
    pass.run_pipeline(module, LOWER_GPU)?;
    restore_loop_annotations(module);
    Ok(())
}

/// The two loop nests of a launch.
struct Nests<'c> {
    wrapper: Op<'c>,
    grid: Op<'c>,
    block: Op<'c>,
}

/// Makes the kernel; on `Err`, which says why not, nothing has changed.
fn outline<'c>(
    (module, operations): (Op<'c>, &dyn DeviceOperations),
    launch: Op<'c>,
    kernel: Op<'c>,
    shape: Option<[u32; 3]>,
) -> Result<(), String> {
    let nests = find_nests(launch)?;
    check_loops(launch, &nests)?;
    let extents = nests.block.operands()[3..6].to_vec();
    if shape.is_some_and(|shape| extents.iter().zip(shape).any(|(extent, size)| constant(*extent) != Some(size.into())))
    {
        return Err(NoKernel::BlockShape.to_string());
    }
    let made = kernel.clone_without_regions(&mut Mapping::new());
    Builder::before(kernel).insert(made);
    let inputs = kernel.attr("function_type").and_then(|ty| ty.as_type()?.function_inputs()).unwrap_or_default();
    let entry = made.region(0).append_block(&inputs, kernel.loc());
    let mut body = Body {
        launch,
        operations,
        builder: Builder::at_end(entry, kernel.loc()),
        arguments: entry.args(),
        mapping: Mapping::new(),
    };
    if let Err(reason) = body.fill(&nests).and_then(|()| operations.lower(module, made)) {
        made.drop_all_references();
        made.erase();
        return Err(reason);
    }
    match shape {
        None => kernel.erase(),
        Some(shape) => {
            let name = label(kernel.symbol_name().unwrap_or_default(), Some(shape));
            made.set_attr("sym_name", module.ctx().str_attr(&name));
            operations.require_block(made, shape);
        }
    }
    Ok(())
}

fn find_nests(launch: Op<'_>) -> Result<Nests<'_>, String> {
    let [wrapper] = GpuWrapper::all(launch)[..] else {
        return Err(NoKernel::Wrappers.to_string());
    };
    let wrapper = wrapper.op();
    let [grid] = loops_in(wrapper)[..] else { return Err(fill(NoKernel::Loops, &[&"grid"])) };
    let [block] = loops_in(grid)[..] else { return Err(fill(NoKernel::Loops, &[&"block"])) };
    Ok(Nests { wrapper, grid, block })
}

fn loops_in(op: Op<'_>) -> Vec<Op<'_>> {
    op.body().ops().into_iter().filter(|op| op.is("scf.parallel")).collect()
}

/// Loops must run over exactly what the launch asks for: the hardware runs all of it, and nothing else.
fn check_loops(launch: Op<'_>, nests: &Nests<'_>) -> Result<(), String> {
    for (nest, what, first_dim) in [(nests.grid, "grid", 1), (nests.block, "block", 4)] {
        let operands = nest.operands();
        if operands.len() != 9 {
            return Err(fill(NoKernel::Dimensions, &[&what]));
        }
        let starts = operands[..3].iter().all(|start| constant(*start) == Some(0));
        let steps = operands[6..].iter().all(|step| constant(*step) == Some(1));
        let extents = operands[3..6].iter().enumerate().all(|(axis, extent)| {
            launch_argument(launch, *extent) == Some(first_dim + axis)
                || (what == "block" && constant(*extent).is_some())
        });
        if !(starts && steps && extents) {
            return Err(fill(NoKernel::PartOfLaunch, &[&what]));
        }
    }
    Ok(())
}

/// The argument of the launch function that `value` is, seen through casts.
fn launch_argument(launch: Op<'_>, value: Value<'_>) -> Option<usize> {
    if let Some((block, index)) = value.block_arg() {
        return (block.parent_op() == Some(launch)).then_some(index);
    }
    let op = value.defining_op()?;
    let cast =
        matches!(op.name(), "arith.index_cast" | "arith.index_castui" | "llvm.sext" | "llvm.zext" | "arith.extui");
    cast.then(|| launch_argument(launch, op.operand(0))).flatten()
}

/// A kernel's body in the making.
struct Body<'c, 'o> {
    launch: Op<'c>,
    operations: &'o dyn DeviceOperations,
    builder: Builder<'c>,
    arguments: Vec<Value<'c>>,
    mapping: Mapping<'c>,
}

impl<'c> Body<'c, '_> {
    fn fill(&mut self, nests: &Nests<'c>) -> Result<(), String> {
        self.map_outer_values(nests.wrapper)?;
        self.map_induction_variables(nests.grid, Place::Block);
        self.map_induction_variables(nests.block, Place::Thread);
        self.clone_uniform(nests.wrapper, nests.grid)?;
        self.clone_uniform(nests.grid, nests.block)?;
        self.builder.clone_body(nests.block.body(), &mut self.mapping);
        self.builder.op("llvm.return").build();
        Ok(())
    }

    /// Gives every value that the wrapper takes from outside a counterpart in the kernel.
    fn map_outer_values(&mut self, wrapper: Op<'c>) -> Result<(), String> {
        let mut outer = Vec::new();
        for op in wrapper.find_all(|op| op != wrapper) {
            // How much dynamic shared memory there is says the launch, not the kernel.
            let operands = if DynamicShared::is(op) { Vec::new() } else { op.operands() };
            outer.extend(operands.into_iter().filter(|value| is_outside(*value, wrapper)));
        }
        outer.into_iter().try_for_each(|value| self.map_outer(value).map(drop))
    }

    fn map_outer(&mut self, value: Value<'c>) -> Result<Value<'c>, String> {
        if let Some(known) = self.mapping.get(value) {
            return Ok(known);
        }
        let made = match launch_argument_itself(self.launch, value) {
            Some(index @ 1..=3) => self.place(Place::GridSize, index - 1),
            Some(index @ 4..=6) => self.place(Place::BlockSize, index - 4),
            Some(_) => return Err(NoKernel::LaunchValue.to_string()),
            None => match self.kernel_argument(value) {
                Some(argument) => argument,
                None => return self.clone_pure(value),
            },
        };
        self.mapping.map(value, made);
        Ok(made)
    }

    /// Copies a computation of the launch function, if it is one that gives the same on the device.
    fn clone_pure(&mut self, value: Value<'c>) -> Result<Value<'c>, String> {
        let op = value.defining_op().filter(|op| op.num_regions() == 0 && op.is_pure());
        let op = op.ok_or_else(|| NoKernel::HostValue.to_string())?;
        for operand in op.operands() {
            self.map_outer(operand)?;
        }
        self.builder.clone_op(op, &mut self.mapping);
        self.mapping.get(value).ok_or_else(|| NoKernel::HostValue.to_string())
    }

    /// The kernel's argument that `value`, a load in the launch function, is marked to be.
    fn kernel_argument(&self, value: Value<'c>) -> Option<Value<'c>> {
        let number = attributes::kernel_arg(value.defining_op()?)?;
        let argument = self.arguments.get(number).copied()?;
        (argument.ty() == value.ty()).then_some(argument)
    }

    fn map_induction_variables(&mut self, nest: Op<'c>, place: Place) {
        let index = self.builder.ctx().index();
        for (axis, variable) in nest.body().args().into_iter().enumerate() {
            let number = self.place(place, axis);
            let number = self.builder.index_castui(number, index);
            self.mapping.map(variable, number);
        }
    }

    fn place(&self, place: Place, axis: usize) -> Value<'c> {
        self.operations.place(self.builder, place, Axis::ALL[axis])
    }

    /// Copies what stands in `outer` beside `inner`; every thread computes it for itself then.
    fn clone_uniform(&mut self, outer: Op<'c>, inner: Op<'c>) -> Result<(), String> {
        for op in outer.body().ops() {
            if op == inner || op.is_terminator() {
                continue;
            }
            if !is_shared_memory(op) && !op.is_pure() {
                return Err(fill(NoKernel::BesideLoops, &[&op.name()]));
            }
            self.builder.clone_op(op, &mut self.mapping);
        }
        Ok(())
    }
}

fn launch_argument_itself(launch: Op<'_>, value: Value<'_>) -> Option<usize> {
    let (block, index) = value.block_arg()?;
    (block.parent_op() == Some(launch)).then_some(index)
}

/// Gives a kernel what it could not keep while it was a declaration, and takes our marks off.
fn restore_attributes(kernel: Op<'_>, operations: &dyn DeviceOperations) {
    for mark in [NOT_RAISED, VERSION_OF, STATIC_SHARED, GRAIN, THREAD_GRAIN, REST, BLOCK_SHAPE] {
        kernel.remove_attr(mark);
    }
    let bounds = LaunchBounds::of(kernel);
    if bounds != LaunchBounds::default() {
        LaunchBounds::default().put(kernel);
        operations.set_bounds(kernel, &bounds);
    }
    if kernel.region(0).is_empty() {
        kernel.set_loc(plain_location(kernel));
        return;
    }
    for (mark, name) in [(LINKAGE, "linkage"), (COMDAT, "comdat")] {
        if let Some(attribute) = kernel.attr(mark) {
            kernel.remove_attr(mark);
            kernel.set_attr(name, attribute);
        }
    }
}

/// The lowering leaves a loop's annotation on its latch under a name that the export does not read.
fn restore_loop_annotations(module: Op<'_>) {
    for branch in module.find_all(|op| op.has_attr(LOOP_ANNOTATION)) {
        if let Some(annotation) = branch.attr(LOOP_ANNOTATION) {
            branch.remove_attr(LOOP_ANNOTATION);
            branch.set_attr("loop_annotation", annotation);
        }
    }
}
