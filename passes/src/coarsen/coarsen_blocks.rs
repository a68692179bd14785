//! `regrain-coarsen-blocks`: each block does the work of several.
//!
//! ```text
//! Before:
//!   %e = regrain.gpu_wrapper grid(%n, %c1, %c1) block(...) {
//!     scf.parallel (%i, ...) to (%n, ...) {
//!       %tile = regrain.shared "tile" : ...
//!       scf.parallel (%x, ...) { A(%i, %x, %tile) ; regrain.barrier(%x, ...) }
//! After (factor 2):
//!   %q = arith.divui %n, 2 ; %some = arith.cmpi ne, %q, 0 ; %covered = select(%some, %q * 2, 0)
//!   %e0 = scf.if %some -> i32 {
//!     regrain.gpu_wrapper grid(%q, %c1, %c1) block(...) attributes {regrain.grain = array<i64: 2, 1, 1>} {
//!       scf.parallel (%i, ...) to (%q, ...) {
//!         %i0 = %i * 2 ; %i1 = %i0 + 1
//!         %tile = regrain.shared "tile" : ... ; %tile1 = regrain.shared "tile.1" : ...
//!         scf.parallel (%x, ...) { A(%i0, %x, %tile) ; A(%i1, %x, %tile1) ; regrain.barrier(%x, ...) }
//!   } else { 0 }
//!   %e1 = scf.if %n != %covered and %e0 == 0 -> i32 {
//!     regrain.gpu_wrapper grid(%n - %covered, ...) attributes {regrain.epilogue} { scf.parallel (%i, ...) = (%covered, ...) to (%n, ...) ...
//!   } else { 0 }
//! ```
//!
//! Any factor serves: blocks that are left over run at the grain they had, in an epilogue on the same stream, one for each
//! coarsened dimension; an empty one is not launched, nor anything after an error, so that an error of the first launch means that
//! nothing has run. Dynamic shared memory is cut into one region for each original block,
//! each rounded up to 16 bytes (or its alignment); a launch that would ask for more of it than `dynamic-shared-limit` keeps
//! its grain: everything is left over then.
//!
//! Declines where unroll-and-interleave does, above all where control flow around a barrier may depend on the block.

use mlir_bridge::{
    ir::{Builder, Op, Value},
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
};
use regrain_dialects::{
    attributes::{EPILOGUE, GRAIN, ORIGINAL},
    ops::{DynamicShared, GpuWrapper},
};

use crate::{
    analysis::facts::constant,
    analysis::functions::Functions,
    coarsen::coarsening::{
        Factors, both, choose, copy_before, divided, each_launch, loops, multiply_grain, parse_factors, resolve,
        static_shared_bytes,
    },
    coarsen::unroll_and_interleave::{self, Indexing, Refusal, Unroll, region_alignment, round_up},
};

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-coarsen-blocks",
    summary: "let each block do the work of several",
    anchor: Anchor::Module,
    options: &[
        PassOption { name: "factor", default: "", description: "how much coarser, balanced over the dimensions" },
        PassOption { name: "factors", default: "", description: "how much coarser in each dimension, as X,Y,Z" },
        PassOption {
            name: "dynamic-shared-limit",
            default: "0",
            description: "the most bytes of dynamic shared memory that a coarser block may take; 0 without a limit",
        },
    ],
    dialects: &["arith", "scf", "llvm", "regrain", "ub"],
    run,
};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub factors: Factors,
    /// The most bytes of dynamic shared memory that a coarser block may take; 0 without a limit.
    pub dynamic_shared_limit: i64,
}

fn run(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    let request =
        Request { factors: parse_factors(pass)?, dynamic_shared_limit: pass.option_int("dynamic-shared-limit")? };
    each_launch(module, "blocks", |wrapper, functions| coarsen(wrapper, &request, functions));
    Ok(())
}

/// Coarsens the blocks of one launch; on `Err` nothing has changed.
pub fn coarsen<'c>(wrapper: GpuWrapper<'c>, request: &Request, functions: &mut Functions<'c>) -> Result<(), Refusal> {
    if wrapper.op().has_attr(EPILOGUE) {
        return Ok(());
    }
    let mut factors = resolve(request.factors, loops(wrapper)?.grid, false);
    let sizes = wrapper.grid();
    for (factor, size) in factors.iter_mut().zip(&sizes) {
        // A grid of fewer blocks than one coarse block holds has nothing but an epilogue in this dimension.
        *factor = constant(*size).filter(|size| size < factor).map_or(*factor, |_| 1);
    }
    if factors == [1; 3] {
        return Ok(());
    }
    let coarse = copy_before(wrapper.op());
    let split = Split::new(Builder::before(coarse), &sizes, factors);
    if let Err(refusal) = unroll(coarse, &split, functions) {
        coarse.erase();
        return Err(refusal);
    }
    let fits = GpuWrapper::cast(coarse)
        .and_then(|view| multiply_shared(Builder::before(coarse), wrapper, view, &split, request.dynamic_shared_limit));
    let error = launch(wrapper, coarse, &split, fits);
    wrapper.op().replace_with(&[error]);
    Ok(())
}

/// A grid divided into coarse blocks.
struct Split<'c> {
    sizes: Vec<Value<'c>>,
    factors: [i64; 3],
    quotients: Vec<Value<'c>>,
}

impl<'c> Split<'c> {
    fn new(b: Builder<'c>, sizes: &[Value<'c>], factors: [i64; 3]) -> Self {
        let quotients = sizes.iter().zip(factors).map(|(size, factor)| divided(b, *size, factor)).collect();
        Self { sizes: sizes.to_vec(), factors, quotients }
    }

    /// The dimensions that become coarser.
    fn axes(&self) -> impl Iterator<Item = usize> {
        let factors = self.factors;
        (0..3).filter(move |axis| factors[*axis] > 1)
    }
}

/// Unrolls the grid loop of a wrapper, one dimension after the other.
fn unroll<'c>(wrapper: Op<'c>, split: &Split<'c>, functions: &mut Functions<'c>) -> Result<(), Refusal> {
    align_alike(wrapper);
    for dimension in split.axes() {
        let view = GpuWrapper::cast(wrapper).ok_or(Refusal::NoBlockLoop)?;
        let nest = view.grid_loop().ok_or(Refusal::NoBlockLoop)?;
        let factor = split.factors[dimension] as usize;
        let unroll = Unroll { dimension, factor, indexing: Indexing::Adjacent, whole_warps: false };
        let plan = unroll_and_interleave::check(nest, &unroll, functions)?;
        unroll_and_interleave::apply(nest, &unroll, &plan, split.quotients[dimension]);
        view.set_grid(dimension, split.quotients[dimension]);
    }
    multiply_grain(wrapper, GRAIN, split.factors);
    if GpuWrapper::cast(wrapper).and_then(GpuWrapper::block_loop).is_none() {
        return Err(Refusal::NoBlockLoop);
    }
    Ok(())
}

/// All operations that give the dynamic shared memory of a block give one address, so their regions must be of one size.
fn align_alike(wrapper: Op<'_>) {
    let all = DynamicShared::all(wrapper);
    let most = all.iter().map(|dynamic| region_alignment(dynamic.op())).max();
    for dynamic in all {
        most.into_iter().for_each(|most| dynamic.set_alignment(most));
    }
}

/// Gives a coarse block the dynamic shared memory of its original blocks; whether that is within the limit, or `None` if
/// there is none to multiply or no limit.
fn multiply_shared<'c>(
    b: Builder<'c>,
    wrapper: GpuWrapper<'c>,
    coarse: GpuWrapper<'c>,
    split: &Split<'c>,
    limit: i64,
) -> Option<Value<'c>> {
    let bytes = wrapper.shared_bytes()?;
    let alignment = DynamicShared::all(coarse.op()).into_iter().map(|dynamic| region_alignment(dynamic.op())).max()?;
    let factor = split.factors.iter().product();
    let total = b.arith("muli", round_up(b, bytes, alignment), b.const_int(bytes.ty(), factor));
    coarse.set_shared_bytes(total);
    if limit == 0 {
        return None;
    }
    // Static shared memory takes its part. The sizes of regions are checked before they are multiplied, so that nothing wraps.
    let limit = (limit - static_shared_bytes(coarse.op())).max(0);
    Some(b.cmpi("ule", bytes, b.const_int(bytes.ty(), (limit / factor) & -alignment)))
}

/// Launches the coarse blocks and what they leave over; gives the first error.
fn launch<'c>(wrapper: GpuWrapper<'c>, coarse: Op<'c>, split: &Split<'c>, fits: Option<Value<'c>>) -> Value<'c> {
    let b = Builder::before(wrapper.op());
    let before = Builder::before(coarse);
    let zero = before.const_index(0);
    let mut main = fits;
    for axis in split.axes() {
        if constant(split.quotients[axis]).is_none() {
            main = Some(both(before, main, before.cmpi("ne", split.quotients[axis], zero)));
        }
    }
    let covered = covered(before, split, main, zero);
    let mut error = match main {
        None => coarse.result(0),
        Some(condition) => choose(b, condition, coarse, None).result(0),
    };
    for (number, axis) in split.axes().enumerate() {
        let left_over = |size: i64| size % split.factors[axis] != 0;
        if main.is_none() && constant(split.sizes[axis]).is_some_and(|size| !left_over(size)) {
            continue;
        }
        let rest = match (constant(split.sizes[axis]), constant(covered[axis])) {
            (Some(size), Some(covered)) => b.const_index(size - covered),
            _ => b.arith("subi", split.sizes[axis], covered[axis]),
        };
        let epilogue = epilogue(wrapper, split, &covered, axis, rest);
        let some = constant(rest).is_none().then(|| b.cmpi("ne", rest, zero));
        // After an error nothing more is launched: where nothing was at all, the original can run instead.
        let fine = b.cmpi("eq", error, b.const_i32(0));
        let condition = both(b, launch_condition(b, some, main, number == 0), fine);
        let own = choose(b, condition, epilogue, None).result(0);
        error = b.value("arith.select", &[fine, own, error], own.ty());
    }
    error
}

/// How many original blocks the coarse blocks cover in each dimension: all of them where nothing is coarser, and none in the
/// first coarser one if no coarse block runs.
fn covered<'c>(b: Builder<'c>, split: &Split<'c>, main: Option<Value<'c>>, zero: Value<'c>) -> Vec<Value<'c>> {
    let mut covered = split.sizes.clone();
    for (number, axis) in split.axes().enumerate() {
        let factor = split.factors[axis];
        let all = match constant(split.quotients[axis]) {
            Some(known) => b.const_index(known * factor),
            None => b.arith("muli", split.quotients[axis], b.const_index(factor)),
        };
        covered[axis] = match main {
            Some(main) if number == 0 => b.value("arith.select", &[main, all, zero], all.ty()),
            _ => all,
        };
    }
    covered
}

/// When an epilogue is launched: if some blocks are left over. The first one runs all that coarse blocks do not, even an
/// empty grid, which is an error of the launch; the others only what is beside coarse blocks.
fn launch_condition<'c>(
    b: Builder<'c>,
    some: Option<Value<'c>>,
    main: Option<Value<'c>>,
    first: bool,
) -> Option<Value<'c>> {
    match (some, main) {
        (some, None) => some,
        (Some(some), Some(main)) if first => {
            let none = b.arith("xori", main, b.const_int(b.ctx().int(1), 1));
            Some(b.arith("ori", some, none))
        }
        (None, Some(_)) if first => None,
        (some, Some(main)) => Some(both(b, some, main)),
    }
}

/// The launch of what is left over in dimension `axis`, beside what is left over in those before it.
fn epilogue<'c>(
    wrapper: GpuWrapper<'c>,
    split: &Split<'c>,
    covered: &[Value<'c>],
    axis: usize,
    rest: Value<'c>,
) -> Op<'c> {
    let made = copy_before(wrapper.op());
    made.set_attr(EPILOGUE, made.ctx().unit_attr());
    made.remove_attr(ORIGINAL);
    let Some(view) = GpuWrapper::cast(made) else { return made };
    if let Some(nest) = view.grid_loop() {
        nest.set_operand(axis, covered[axis]);
        for earlier in split.axes().filter(|earlier| *earlier < axis) {
            nest.set_operand(3 + earlier, covered[earlier]);
            view.set_grid(earlier, covered[earlier]);
        }
    }
    view.set_grid(axis, rest);
    made
}
