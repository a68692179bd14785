//! The host function that launches a kernel: loads of the arguments and the two empty loops.
//!
//! ```text
//!   llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, ..., %bz: i32, %shmem: i64, %stream: !llvm.ptr) -> i32
//!       attributes {regrain.launch = @k} {
//!     %a0 = <load of the argument that %args[0] points to>     // marked regrain.kernel_arg = 0
//!     %err = regrain.gpu_wrapper @k grid(...) block(...) shared(%shmem : i64) stream(%stream : !llvm.ptr) {
//!       scf.parallel (%i, %j, %k) = ... {
//!         scf.parallel (%x, %y, %z) = ... {
//!         }
//!       }
//!     }
//!     llvm.return %err : i32
//!   }
//! ```
//!
//! With a constant block shape (`regrain.block_shape`) the block sizes are constants; the caller must launch it with
//! exactly that shape. Names are labels: whose launch a function is, its attributes say.

use mlir_bridge::ir::{Builder, Op, Type, Value};
use regrain_dialects::{
    attributes::{self, DISPATCH, LAUNCH, VERSION_OF},
    ops::GpuWrapper,
};

pub use regrain_dialects::attributes::KERNEL_ARG;

/// Beginning of the names of launch functions.
const LAUNCH_PREFIX: &str = "__regrain_launch.";

/// Beginning of the names of the host functions that launch versions of a kernel.
const DISPATCH_PREFIX: &str = "__regrain_dispatch.";

/// A kernel parameter.
#[derive(Clone, Copy)]
pub struct Parameter<'c> {
    pub ty: Type<'c>,
    /// The type behind a `byval` pointer.
    pub byval: Option<Type<'c>>,
}

/// The parts of a launch function that a kernel's body is put into.
pub struct LaunchFunction<'c> {
    pub func: Op<'c>,
    pub grid_loop: Op<'c>,
    pub block_loop: Op<'c>,
    /// The kernel's arguments.
    pub arguments: Vec<Value<'c>>,
    /// Sizes as i32: grid x, y, z, block x, y, z.
    pub sizes: Vec<Value<'c>>,
    pub shared_bytes: Value<'c>,
}

/// A label for a kernel at one block shape: `k`, or `k.b16x16x1`.
pub fn label(kernel: &str, shape: Option<[u32; 3]>) -> String {
    match shape {
        None => kernel.to_owned(),
        Some([x, y, z]) => format!("{kernel}.b{x}x{y}x{z}"),
    }
}

/// The kernel and the block shape that a label is for.
pub fn of_label(label: &str) -> (&str, Option<[u32; 3]>) {
    let parsed =
        |shape: &str| shape.split('x').map(|size| size.parse().ok()).collect::<Option<Vec<u32>>>()?.try_into().ok();
    match label.rsplit_once(".b").and_then(|(kernel, shape)| Some((kernel, parsed(shape)?))) {
        Some((kernel, shape)) => (kernel, Some(shape)),
        None => (label, None),
    }
}

/// The name of the host function that launches versions of a kernel.
pub fn dispatch_name(kernel: &str, shape: Option<[u32; 3]>) -> String {
    format!("{DISPATCH_PREFIX}{}", label(kernel, shape))
}

/// The kernel that a host function launches, or launches versions of.
pub fn kernel_of(function: Op<'_>) -> Option<&str> {
    attributes::symbol(function, LAUNCH).or_else(|| attributes::symbol(function, DISPATCH))
}

/// What a remark about a launch begins with: the kernel and its block shape, by the function that the launch is in.
pub fn subject(launch: Op<'_>) -> String {
    let function = launch.parent_of_name("llvm.func").unwrap_or(launch);
    match kernel_of(function) {
        None => String::new(),
        Some(kernel) => format!("{}: ", described(kernel, attributes::block_shape(function))),
    }
}

/// A kernel, and the constant block shape that is spoken of, in remarks.
pub fn described(kernel: &str, shape: Option<[u32; 3]>) -> String {
    match shape {
        None => format!("kernel '{kernel}'"),
        Some([x, y, z]) => format!("kernel '{kernel}' for blocks of {x}x{y}x{z}"),
    }
}

/// The functions of a module that carry attribute `role` ([`LAUNCH`] or [`DISPATCH`]), with their kernels and constant
/// block shapes.
fn host_functions<'c>(module: Op<'c>, role: &str) -> Vec<(Op<'c>, &'c str, Option<[u32; 3]>)> {
    let of = |function: Op<'c>| {
        let kernel = attributes::symbol(function, role)?;
        Some((function, kernel, attributes::block_shape(function)))
    };
    module.body().ops().into_iter().filter_map(of).collect()
}

/// The launch functions of a module, with their kernels and constant block shapes.
pub fn launches<'c>(module: Op<'c>) -> Vec<(Op<'c>, &'c str, Option<[u32; 3]>)> {
    host_functions(module, LAUNCH)
}

/// The host functions of a module that launch versions, with their kernels and constant block shapes.
pub fn dispatched<'c>(module: Op<'c>) -> Vec<(Op<'c>, &'c str, Option<[u32; 3]>)> {
    host_functions(module, DISPATCH)
}

/// Whether a function is the declaration of a kernel that was made of a changed launch.
pub fn is_version(kernel: Op<'_>) -> bool {
    kernel.has_attr(VERSION_OF)
}

/// The parameters of a kernel.
pub fn parameters<'c>(kernel: Op<'c>) -> Vec<Parameter<'c>> {
    let function = kernel.attr("function_type").and_then(|ty| ty.as_type());
    let types = function.and_then(|ty| ty.function_inputs()).unwrap_or_default();
    let attrs = kernel.attr("arg_attrs").and_then(|attrs| attrs.as_array()).unwrap_or_default();
    types
        .iter()
        .enumerate()
        .map(|(index, ty)| Parameter {
            ty: *ty,
            byval: attrs.get(index).and_then(|attrs| attrs.get("llvm.byval")).and_then(|ty| ty.as_type()),
        })
        .collect()
}

/// Appends an empty launch function to the module.
pub fn create<'c>(module: Op<'c>, kernel: Op<'c>, shape: Option<[u32; 3]>) -> Result<LaunchFunction<'c>, String> {
    let name = kernel.symbol_name().ok_or("the kernel has no name")?;
    let symbol = format!("{LAUNCH_PREFIX}{}", label(name, shape));
    if let Some(old) = module.lookup_symbol(&symbol) {
        old.erase();
    }
    let func = declare(Builder::at_end(module.body(), kernel.loc()), &symbol);
    func.set_attr(LAUNCH, module.ctx().symbol_attr(name));
    if let Some(shape) = shape {
        attributes::set_block_shape(func, shape);
    }
    Ok(fill(func, name, &parameters(kernel), shape))
}

/// The function that a launch function is, still empty: array of arguments, grid, block, shared memory, stream.
fn declare<'c>(b: Builder<'c>, symbol: &str) -> Op<'c> {
    let ctx = b.ctx();
    let (ptr, word, long) = (ctx.ptr(0), ctx.int(32), ctx.int(64));
    let inputs = [ptr, word, word, word, word, word, word, long, ptr];
    let func = b.llvm_func(symbol, word, &inputs);
    func.region(0).append_block(&inputs, b.loc);
    func
}

/// Loads the arguments and launches two empty loops.
fn fill<'c>(func: Op<'c>, kernel: &str, parameters: &[Parameter<'c>], shape: Option<[u32; 3]>) -> LaunchFunction<'c> {
    let given = func.body().args();
    let b = Builder::at_end(func.body(), func.loc());
    let (index, word) = (b.ctx().index(), b.ctx().int(32));
    let (zero, one) = (b.const_index(0), b.const_index(1));
    let mut sizes = given[1..7].to_vec();
    let grid = [0, 1, 2].map(|axis| b.index_castui(sizes[axis], index));
    let block = [0, 1, 2].map(|axis| match shape {
        None => b.index_castui(sizes[3 + axis], index),
        Some(shape) => {
            let size = i64::from(shape[axis]);
            let constant = b.op("llvm.mlir.constant").attr("value", b.ctx().int_attr(word, size));
            sizes[3 + axis] = constant.result(word).build().result(0);
            b.const_index(size)
        }
    });
    let arguments = parameters.iter().enumerate().map(|(number, parameter)| argument(b, given[0], number, parameter));
    let arguments = arguments.collect();
    let wrapper = GpuWrapper::create(b, Some(kernel), grid, block, Some(given[7]), Some(given[8]));
    let grid_loop = Builder::at_end(wrapper.body(), b.loc).scf_parallel(&[zero; 3], &grid, &[one; 3]);
    let inside = Builder::before_terminator(grid_loop.body(), b.loc);
    let block_loop = inside.scf_parallel(&[zero; 3], &block, &[one; 3]);
    b.op("llvm.return").operands(&[wrapper.op().result(0)]).build();
    LaunchFunction { func, grid_loop, block_loop, arguments, sizes, shared_bytes: given[7] }
}

/// Loads one argument: `given` is the array of pointers that `cudaLaunchKernel` takes.
fn argument<'c>(b: Builder<'c>, given: Value<'c>, number: usize, parameter: &Parameter<'c>) -> Value<'c> {
    let ptr = b.ctx().ptr(0);
    let slot = b.llvm_element(given, ptr, number);
    let load = |from: Value<'c>, ty: Type<'c>| b.op("llvm.load").operands(&[from]).result(ty).build();
    let pointer = load(slot, ptr);
    // A structure by value is where the pointer leads.
    let value = if parameter.byval.is_some() { pointer } else { load(pointer.result(0), parameter.ty) };
    value.set_attr(KERNEL_ARG, b.ctx().i64_attr(number as i64));
    value.result(0)
}
