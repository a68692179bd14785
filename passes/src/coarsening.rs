//! What coarsening of threads and of blocks have in common: factors, and the loops of a launch.
//!
//! A total is balanced over the dimensions that are not 1: 16 gives 4,2,2 and 6 gives 3,2,1. A dimension counts as 1 if its
//! size is the constant 1 or nothing in the kernel asks for its index.

use mlir_bridge::{
    ir::{Attr, Builder, Op, Value},
    pass::PassRun,
};
use regrain_dialects::ops::GpuWrapper;

use crate::{
    facts::constant,
    kernel_checks::Functions,
    split_barriers::{BARRIERS, WARP},
    unroll_and_interleave::Refusal,
};

/// On a wrapper: how many original blocks one of its blocks is, by dimension. Its grid loop counts blocks of that size.
pub const GRAIN: &str = "regrain.grain";

/// On a wrapper: it runs the blocks that a coarsened launch beside it leaves over.
pub const EPILOGUE: &str = "regrain.epilogue";

/// How much coarser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factors {
    /// To be balanced over the dimensions.
    Total(i64),
    Each([i64; 3]),
}

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

impl Factors {
    /// Reads `N` or `X,Y,Z`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("coarsening factor '{text}', expected N or X,Y,Z, each at least 1");
        let numbers: Option<Vec<i64>> =
            text.split(',').map(|number| number.trim().parse().ok().filter(|number| (1..=1 << 20).contains(number))).collect();
        match numbers.ok_or_else(bad)?[..] {
            [total] => Ok(Self::Total(total)),
            [x, y, z] => Ok(Self::Each([x, y, z])),
            _ => Err(bad()),
        }
    }

    /// The factor of each dimension of a loop. With `divisors`, factors of constant sizes divide them where that is possible.
    pub fn resolve(self, nest: Op<'_>, divisors: bool) -> [i64; 3] {
        match self {
            Self::Each(factors) => factors,
            Self::Total(total) => {
                let sizes: Vec<_> = nest.operands()[3..6].iter().map(|size| constant(*size)).collect();
                let ivs = nest.body().args();
                let live: Vec<_> = (0..3).map(|axis| sizes[axis] != Some(1) && is_asked_for(ivs[axis])).collect();
                let sizes: Vec<_> = sizes.into_iter().map(|size| size.filter(|_| divisors)).collect();
                balance(total, [live[0], live[1], live[2]], [sizes[0], sizes[1], sizes[2]])
            }
        }
    }
}

/// Whether anything but synchronisation uses an induction variable.
fn is_asked_for(iv: Value<'_>) -> bool {
    iv.users().into_iter().any(|user| !(BARRIERS.contains(&user.name()) || WARP.contains(&user.name())))
}

/// Spreads the prime factors of a total, the largest first, each to the live dimension with the smallest factor so far.
pub fn balance(total: i64, live: [bool; 3], sizes: [Option<i64>; 3]) -> [i64; 3] {
    let live = if live.contains(&true) { live } else { [true, false, false] };
    let mut factors = [1; 3];
    for prime in primes(total) {
        let fits = |axis: &usize| sizes[*axis].is_none_or(|size| size % (factors[*axis] * prime) == 0);
        let axes = || (0..3).filter(|axis| live[*axis]);
        let fitting = axes().filter(fits).min_by_key(|axis| factors[*axis]);
        if let Some(axis) = fitting.or_else(|| axes().min_by_key(|axis| factors[*axis])) {
            factors[axis] *= prime;
        }
    }
    if sizes == [None; 3] {
        descend(&mut factors, live);
    }
    factors
}

/// Puts the larger factors before the smaller.
fn descend(factors: &mut [i64; 3], live: [bool; 3]) {
    let axes: Vec<usize> = (0..3).filter(|axis| live[*axis]).collect();
    let mut values: Vec<i64> = axes.iter().map(|axis| factors[*axis]).collect();
    values.sort_unstable_by(|a, b| b.cmp(a));
    for (axis, value) in axes.into_iter().zip(values) {
        factors[axis] = value;
    }
}

/// The prime factors of a number, the largest first.
fn primes(mut number: i64) -> Vec<i64> {
    let mut found = Vec::new();
    let mut candidate = 2;
    while candidate * candidate <= number {
        while number % candidate == 0 {
            found.push(candidate);
            number /= candidate;
        }
        candidate += 1;
    }
    if number > 1 {
        found.push(number);
    }
    found.reverse();
    found
}

/// The two loops of a launch.
#[derive(Clone, Copy)]
pub struct Loops<'c> {
    pub grid: Op<'c>,
    pub block: Op<'c>,
}

/// Finds the loops of a wrapper, which run over just what the wrapper says; in an epilogue the grid loop begins later.
pub fn loops<'c>(wrapper: GpuWrapper<'c>) -> Result<Loops<'c>, Refusal> {
    let (Some(grid), Some(block)) = (wrapper.grid_loop(), wrapper.block_loop()) else { return Err(Refusal::NoBlockLoop) };
    if !wrapper.op().has_attr(EPILOGUE) && !is_whole(grid, &wrapper.grid()) {
        return Err(Refusal::GridShape);
    }
    if !is_whole(block, &wrapper.block_shape()) {
        return Err(Refusal::BlockShape);
    }
    let computes = |op: &Op<'_>| {
        *op == grid
            || *op == block
            || op.is_terminator()
            || matches!(op.name(), "regrain.shared" | "regrain.dynamic_shared")
            || op.is_memory_effect_free()
    };
    let beside = wrapper.body().ops().into_iter().chain(grid.body().ops());
    if beside.into_iter().all(|op| computes(&op)) { Ok(Loops { grid, block }) } else { Err(Refusal::EffectsBesideLoops) }
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

/// The grain of a wrapper.
pub fn grain(wrapper: Op<'_>) -> [i64; 3] {
    let list = wrapper.attr(GRAIN).and_then(Attr::as_i64_array).unwrap_or_default();
    list.try_into().unwrap_or([1; 3])
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
pub fn both<'c>(b: Builder<'c>, left: Option<Value<'c>>, right: Value<'c>) -> Option<Value<'c>> {
    Some(left.map_or(right, |left| b.arith("andi", left, right)))
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

/// Runs `coarsen` on every launch of a module, with a remark where it is refused (`what` is refused); gives the refusals.
pub fn each_launch<'c>(
    module: Op<'c>,
    what: &str,
    mut coarsen: impl FnMut(GpuWrapper<'c>, &mut Functions<'c>) -> Result<(), Refusal>,
) -> Vec<(Op<'c>, Refusal)> {
    let mut functions = Functions::new(module);
    let mut refused = Vec::new();
    for wrapper in module.find_named("regrain.gpu_wrapper").into_iter().filter_map(GpuWrapper::cast) {
        if let Err(refusal) = coarsen(wrapper, &mut functions) {
            wrapper.op().remark(format!("{what} not coarsened: {refusal}"));
            refused.push((wrapper.op(), refusal));
        }
    }
    refused
}

#[cfg(test)]
mod tests {
    use super::balance;

    #[test]
    fn totals_are_balanced() {
        let any = [None; 3];
        assert_eq!(balance(16, [true; 3], any), [4, 2, 2]);
        assert_eq!(balance(6, [true; 3], any), [3, 2, 1]);
        assert_eq!(balance(24, [true; 3], any), [4, 3, 2]);
        assert_eq!(balance(16, [true, false, false], any), [16, 1, 1]);
        assert_eq!(balance(8, [false, true, false], any), [1, 8, 1]);
        assert_eq!(balance(7, [false; 3], any), [7, 1, 1]);
        assert_eq!(balance(6, [true, true, false], [Some(16), Some(9), None]), [2, 3, 1]);
    }
}
