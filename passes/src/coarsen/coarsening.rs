//! What coarsening of threads and of blocks have in common: factors, and the loops of a launch.
//!
//! A total is balanced over the dimensions that are not 1: 16 gives 4,2,2 and 6 gives 3,2,1. A dimension counts as 1 if its
//! size is the constant 1 or nothing in the kernel asks for its index.

use mlir_bridge::{
    ir::{Builder, Op, Value},
    pass::PassRun,
};
pub use regrain_dialects::attributes::{KEPT, ORIGINAL};
use regrain_dialects::{
    attributes::{EPILOGUE, OF_BLOCKS, factors},
    ops::{GpuWrapper, Shared, is_shared_memory, is_synchronising},
};
pub use regrain_tuning::grain::{Factors, balance};

use crate::{
    analysis::facts::constant, analysis::functions::Functions, coarsen::unroll_and_interleave::Refusal,
    launch::launch_function::subject,
};

/// The options `factor` and `factors` of a pass.
pub fn parse_factors(pass: &PassRun<'_>) -> Result<Factors, String> {
    match (pass.option("factor").trim(), pass.option("factors").trim()) {
        ("", "") => Ok(Factors::Total(1)),
        (total, "") => Factors::parse(total),
        ("", each) if each.contains(',') => Factors::parse(each),
        ("", each) => Err(format!("option 'factors' is '{each}', expected X,Y,Z")),
        _ => Err("options 'factor' and 'factors' exclude each other".into()),
    }
}

/// The factor of each dimension of a loop. With `divisors`, factors of constant sizes divide them where that is possible.
pub fn resolve(factors: Factors, nest: Op<'_>, divisors: bool) -> [i64; 3] {
    match factors {
        Factors::Each(factors) => factors,
        Factors::Total(total) => {
            let sizes: Vec<_> = nest.operands()[3..6].iter().map(|size| constant(*size)).collect();
            let ivs = nest.body().args();
            let live: Vec<_> = (0..3).map(|axis| sizes[axis] != Some(1) && is_asked_for(ivs[axis])).collect();
            let sizes: Vec<_> = sizes.into_iter().map(|size| size.filter(|_| divisors)).collect();
            balance(total, [live[0], live[1], live[2]], [sizes[0], sizes[1], sizes[2]])
        }
    }
}

/// Whether anything but synchronisation uses an induction variable.
fn is_asked_for(iv: Value<'_>) -> bool {
    iv.users().into_iter().any(|user| !is_synchronising(user))
}

/// The two loops of a launch.
#[derive(Clone, Copy)]
pub struct Loops<'c> {
    pub grid: Op<'c>,
    pub block: Op<'c>,
}

/// Finds the loops of a wrapper, which run over just what the wrapper says; in an epilogue the grid loop begins later.
pub fn loops<'c>(wrapper: GpuWrapper<'c>) -> Result<Loops<'c>, Refusal> {
    let (Some(grid), Some(block)) = (wrapper.grid_loop(), wrapper.block_loop()) else {
        return Err(Refusal::NoBlockLoop);
    };
    if !wrapper.op().has_attr(EPILOGUE) && !is_whole(grid, &wrapper.grid()) {
        return Err(Refusal::GridShape);
    }
    if !is_whole(block, &wrapper.block_shape()) {
        return Err(Refusal::BlockShape);
    }
    let computes = |op: &Op<'_>| {
        *op == grid || *op == block || op.is_terminator() || is_shared_memory(*op) || op.is_memory_effect_free()
    };
    let beside = wrapper.body().ops().into_iter().chain(grid.body().ops());
    if beside.into_iter().all(|op| computes(&op)) {
        Ok(Loops { grid, block })
    } else {
        Err(Refusal::EffectsBesideLoops)
    }
}

/// Whether a loop has three dimensions, and runs in steps of one from 0 to `sizes`.
fn is_whole(nest: Op<'_>, sizes: &[Value<'_>]) -> bool {
    let operands = nest.operands();
    let same = |a: Value<'_>, b: Value<'_>| a == b || (constant(a).is_some() && constant(a) == constant(b));
    operands.len() == 9
        && nest.num_results() == 0
        && operands[..3].iter().all(|low| constant(*low) == Some(0))
        && operands[3..6].iter().zip(sizes).all(|(high, size)| same(*high, *size))
        && operands[6..].iter().all(|step| constant(*step) == Some(1))
}

/// Bytes of static shared memory that the blocks of a launch have.
pub fn static_shared_bytes(wrapper: Op<'_>) -> i64 {
    let own = Shared::all(wrapper).into_iter().filter(|shared| !shared.op().has_attr(OF_BLOCKS));
    let total = own.fold(0, |total: u64, shared| {
        let (size, natural) = shared.memory_type().layout(wrapper);
        let alignment = shared.alignment().map_or(natural, |alignment| alignment as u64).max(1);
        total.next_multiple_of(alignment) + size
    });
    i64::try_from(total).unwrap_or(i64::MAX)
}

/// Multiplies the factors that a wrapper carries under `name` by further ones.
pub fn multiply_grain(wrapper: Op<'_>, name: &str, by: [i64; 3]) {
    let mut all = factors(wrapper, name);
    for (all, factor) in all.iter_mut().zip(by) {
        *all *= factor;
    }
    wrapper.set_attr(name, wrapper.ctx().i64_array_attr(&all));
    wrapper.remove_attr(ORIGINAL);
}

/// A size divided by a constant.
pub fn divided<'c>(b: Builder<'c>, size: Value<'c>, factor: i64) -> Value<'c> {
    match (constant(size), factor) {
        (_, 1) => size,
        (Some(known), _) => b.const_index(known / factor),
        _ => b.arith("divui", size, b.const_index(factor)),
    }
}

/// Puts another copy of an operation with its regions before it.
pub fn copy_before<'c>(op: Op<'c>) -> Op<'c> {
    Builder::before(op).clone_op(op, &mut mlir_bridge::ir::Mapping::new())
}

/// A conjunction of conditions; `None` holds always.
pub fn both<'c>(b: Builder<'c>, left: Option<Value<'c>>, right: Value<'c>) -> Value<'c> {
    left.map_or(right, |left| b.arith("andi", left, right))
}

/// `scf.if` with an error code as its result; `then` and `otherwise` are moved into it, and their results yielded.
pub fn choose<'c>(b: Builder<'c>, condition: Value<'c>, then: Op<'c>, otherwise: Option<Op<'c>>) -> Op<'c> {
    let made = b.scf_if(condition, &[b.ctx().int(32)], true);
    for (region, op) in made.regions().into_iter().zip([Some(then), otherwise]) {
        let end = Builder::at_end(region.entry(), b.loc);
        let value = match op {
            Some(op) => {
                op.move_to_end(region.entry());
                op.result(0)
            }
            None => end.const_i32(0),
        };
        end.scf_yield(&[value]);
    }
    made
}

/// Runs `coarsen` on every launch of a module, with a remark where it is refused (`what` is refused).
pub fn each_launch<'c>(
    module: Op<'c>,
    what: &str,
    mut coarsen: impl FnMut(GpuWrapper<'c>, &mut Functions<'c>) -> Result<(), Refusal>,
) {
    let mut functions = Functions::new(module);
    for wrapper in GpuWrapper::all(module).into_iter().filter(|wrapper| !wrapper.op().has_attr(KEPT)) {
        if let Err(refusal) = coarsen(wrapper, &mut functions) {
            wrapper.op().remark(format!("{}{what} not coarsened: {refusal}", subject(wrapper.op())));
        }
    }
}
