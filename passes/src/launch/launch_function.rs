//! The host function that launches a kernel: loads of the arguments and the two empty loops.
//!
//!   llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, ..., %bz: i32, %shmem: i64, %stream: !llvm.ptr) -> i32 {
//!     %a0 = <load of the argument that %args[0] points to>     // marked regrain.kernel_arg = 0
//!     %err = regrain.gpu_wrapper @k grid(...) block(...) shared(%shmem : i64) stream(%stream : !llvm.ptr) {
//!       scf.parallel (%i, %j, %k) = ... {
//!         scf.parallel (%x, %y, %z) = ... {
//!         }
//!       }
//!     }
//!     llvm.return %err : i32
//!   }
//!
//! With a constant block shape the block sizes are constants and the name ends in `.bXxYxZ`; the caller must launch it
//! with exactly that shape.

use std::fmt::Write;

use mlir_bridge::ir::{Op, Type, Value, Walk};

/// Beginning of the names of launch functions.
pub const LAUNCH_PREFIX: &str = "__regrain_launch.";

/// Beginning of the names of the host functions that launch versions of a kernel.
pub const DISPATCH_PREFIX: &str = "__regrain_dispatch.";

pub use crate::analysis::objects::KERNEL_ARG;

/// Marks a constant size of the grid or block, until the kernel's body is in place.
pub const SIZE: &str = "regrain.size";

/// A kernel parameter.
#[derive(Clone, Copy)]
pub struct Parameter<'c> {
    pub ty: Type<'c>,
    /// The type behind a `byval` pointer.
    pub byval: Option<Type<'c>>,
}

/// The parts of a launch function that a kernel's body is put into.
pub struct Launch<'c> {
    pub func: Op<'c>,
    pub grid_loop: Op<'c>,
    pub block_loop: Op<'c>,
    /// The kernel's arguments.
    pub arguments: Vec<Value<'c>>,
    /// Sizes as i32: grid x, y, z, block x, y, z.
    pub sizes: Vec<Value<'c>>,
    pub shared_bytes: Value<'c>,
}

/// The name of the launch function of a kernel.
pub fn launch_name(kernel: &str, shape: Option<[u32; 3]>) -> String {
    match shape {
        None => format!("{LAUNCH_PREFIX}{kernel}"),
        Some([x, y, z]) => format!("{LAUNCH_PREFIX}{kernel}.b{x}x{y}x{z}"),
    }
}

/// What a remark about a launch begins with: the kernel and its block shape, by the function that the launch is in.
pub fn subject(launch: Op<'_>) -> String {
    let function = launch.parent_of_name("llvm.func").unwrap_or(launch);
    match function.symbol_name().and_then(kernel_of_launch) {
        None => String::new(),
        Some((kernel, shape)) => format!("{}: ", described(kernel, shape)),
    }
}

/// A kernel, and the constant block shape that is spoken of, in remarks.
pub fn described(kernel: &str, shape: Option<[u32; 3]>) -> String {
    match shape {
        None => format!("kernel '{kernel}'"),
        Some([x, y, z]) => format!("kernel '{kernel}' for blocks of {x}x{y}x{z}"),
    }
}

/// The host functions of a module that launch versions, with their kernels and constant block shapes.
pub fn dispatched<'c>(module: Op<'c>) -> Vec<(Op<'c>, &'c str, Option<[u32; 3]>)> {
    let of = |function: Op<'c>| {
        let name = function.symbol_name().filter(|name| name.starts_with(DISPATCH_PREFIX))?;
        kernel_of_launch(name).map(|(kernel, shape)| (function, kernel, shape))
    };
    module.find_named("llvm.func").into_iter().filter_map(of).collect()
}

/// The kernel and the constant block shape that a launch function of this name is for.
pub fn kernel_of_launch(name: &str) -> Option<(&str, Option<[u32; 3]>)> {
    let target = name.strip_prefix(LAUNCH_PREFIX).or_else(|| name.strip_prefix(DISPATCH_PREFIX))?;
    let shape = |suffix: &str| {
        let sizes: Option<Vec<u32>> = suffix.split('x').map(|size| size.parse().ok()).collect();
        <[u32; 3]>::try_from(sizes?).ok()
    };
    match target.rsplit_once(".b").and_then(|(kernel, suffix)| Some((kernel, shape(suffix)?))) {
        Some((kernel, shape)) => Some((kernel, Some(shape))),
        None => Some((target, None)),
    }
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
pub fn create<'c>(module: Op<'c>, kernel: Op<'c>, shape: Option<[u32; 3]>) -> Result<Launch<'c>, String> {
    let name = kernel.symbol_name().ok_or("the kernel has no name")?;
    let launch = launch_name(name, shape);
    if let Some(old) = module.lookup_symbol(&launch) {
        old.erase();
    }
    let text = skeleton(name, &launch, &parameters(kernel), shape);
    if !module.body().parse_into(module.ctx(), &text) {
        return Err("its launch function does not parse".into());
    }
    let func = module.lookup_symbol(&launch).ok_or("its launch function is missing")?;
    func.walk_pre(|op| {
        op.set_loc(kernel.loc());
        Walk::Advance
    });
    take_apart(func)
}

fn take_apart<'c>(func: Op<'c>) -> Result<Launch<'c>, String> {
    let loops = func.find_named("scf.parallel");
    let [grid_loop, block_loop] = loops[..] else {
        return Err("its launch function has no two loops".into());
    };
    let mut arguments = func.find_all(|op| op.has_attr(KERNEL_ARG));
    arguments.sort_by_key(|op| op.attr(KERNEL_ARG).and_then(|number| number.as_int()));
    let sizes = func
        .find_named("arith.index_castui")
        .into_iter()
        .map(|cast| cast.operand(0))
        .chain(func.find_all(|op| op.has_attr(SIZE)).into_iter().map(|size| size.result(0)))
        .collect();
    Ok(Launch {
        func,
        grid_loop,
        block_loop,
        arguments: arguments.into_iter().map(|op| op.result(0)).collect(),
        sizes,
        shared_bytes: func.body().arg(7),
    })
}

fn skeleton(kernel: &str, launch: &str, parameters: &[Parameter<'_>], shape: Option<[u32; 3]>) -> String {
    let mut text = format!(
        "llvm.func @\"{launch}\"(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, \
         %shmem: i64, %stream: !llvm.ptr) -> i32 {{\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
    );
    let mut line = |content: String| {
        text.push_str(&content);
        text.push('\n');
    };
    for name in ["gx", "gy", "gz"] {
        line(format!("%{name}i = arith.index_castui %{name} : i32 to index"));
    }
    for (index, name) in ["bx", "by", "bz"].into_iter().enumerate() {
        match shape {
            None => line(format!("%{name}i = arith.index_castui %{name} : i32 to index")),
            Some(shape) => {
                line(format!("%{name}c = llvm.mlir.constant({} : i32) {{{SIZE}}} : i32", shape[index]));
                line(format!("%{name}i = arith.constant {} : index", shape[index]));
            }
        }
    }
    for (number, parameter) in parameters.iter().enumerate() {
        line(argument_text(number, parameter));
    }
    let _ = write!(
        text,
        "%err = regrain.gpu_wrapper @\"{kernel}\" grid(%gxi, %gyi, %gzi) block(%bxi, %byi, %bzi) \
         shared(%shmem : i64) stream(%stream : !llvm.ptr) {{\n\
         scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%gxi, %gyi, %gzi) step (%c1, %c1, %c1) {{\n\
         scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bxi, %byi, %bzi) step (%c1, %c1, %c1) {{\n\
         scf.reduce\n}}\nscf.reduce\n}}\n}}\nllvm.return %err : i32\n}}\n"
    );
    text
}

/// Loads one argument: `%args` is the array of pointers that `cudaLaunchKernel` takes.
fn argument_text(number: usize, parameter: &Parameter<'_>) -> String {
    let slot = format!("%slot{number} = llvm.getelementptr %args[{number}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n");
    let mark = format!("{{{KERNEL_ARG} = {number} : i64}}");
    if parameter.byval.is_some() {
        return format!("{slot}%arg{number} = llvm.load %slot{number} {mark} : !llvm.ptr -> !llvm.ptr");
    }
    format!(
        "{slot}%at{number} = llvm.load %slot{number} : !llvm.ptr -> !llvm.ptr\n\
         %arg{number} = llvm.load %at{number} {mark} : !llvm.ptr -> {}",
        parameter.ty
    )
}
