//! `regrain-coarsen-threads`: each thread of a block does the work of several.
//!
//! ```text
//! Before:                                                  After (factor 2):
//!   regrain.gpu_wrapper grid(...) block(%c64, %c1, %c1) {    regrain.gpu_wrapper grid(...) block(%c32, %c1, %c1) {
//!     scf.parallel (%i, %j, %k) = ... {                        scf.parallel (%i, %j, %k) = ... {
//!       scf.parallel (%x, ...) to (%c64, ...) {                  scf.parallel (%x, ...) to (%c32, ...) {
//!         A(%x)                                                    %x1 = arith.addi %x, 32 ; A(%x) ; A(%x1)
//!         regrain.barrier(%x, %y, %z)                              regrain.barrier(%x, %y, %z)
//! ```
//!
//! Thread `t` of `n / f` takes `t, t + n / f, t + 2 n / f, ...`, so that memory accesses stay coalesced; `indexing=adjacent`
//! gives it `t f, t f + 1, ...`. Factors are divisors of the block's size. Where the size is not constant, the launch decides:
//!
//! ```text
//!   %e = scf.if %divisible -> i32 { <coarse wrapper> } else { <the wrapper as it was> }
//! ```
//!
//! Declines where unroll-and-interleave does, where the factor does not divide a constant size, with `guard=false` where the
//! size is not constant, and where the kernel holds warp operations and the warps of the coarser block would not be whole
//! warps of the original one in CUDA's linear thread order (for sizes that are not constant the launch decides that too).

use mlir_bridge::{
    ir::{Builder, Op, Value},
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
};
use regrain_dialects::{attributes::THREAD_GRAIN, ops::GpuWrapper};

use crate::{
    analysis::facts::constant,
    analysis::functions::Functions,
    coarsen::coarsening::{
        Factors, both, choose, copy_before, divided, each_launch, loops, multiply_grain, parse_factors, resolve,
    },
    coarsen::unroll_and_interleave::{self, Indexing, Refusal, Unroll, is_warp_operation, parse_indexing},
};

const WARP_SIZE: i64 = 32;

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-coarsen-threads",
    summary: "let each thread of a block do the work of several",
    anchor: Anchor::Module,
    options: &[
        PassOption { name: "factor", default: "", description: "how much coarser, balanced over the dimensions" },
        PassOption { name: "factors", default: "", description: "how much coarser in each dimension, as X,Y,Z" },
        PassOption { name: "indexing", default: "strided", description: "strided or adjacent" },
        PassOption {
            name: "guard",
            default: "true",
            description: "let the launch decide where the block size is not constant",
        },
    ],
    dialects: &["arith", "scf", "llvm", "regrain", "ub"],
    run,
};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub factors: Factors,
    pub indexing: Indexing,
    /// Let the launch decide where the block size is not constant.
    pub guard: bool,
}

fn run(pass: &PassRun<'_>, module: Op<'_>) -> PassResult {
    let request = Request {
        factors: parse_factors(pass)?,
        indexing: parse_indexing(pass.option("indexing"))?,
        guard: pass.option_bool("guard")?,
    };
    each_launch(module, "threads", |wrapper, functions| coarsen(wrapper, &request, functions));
    Ok(())
}

/// Coarsens the threads of one launch; on `Err` nothing has changed.
pub fn coarsen<'c>(wrapper: GpuWrapper<'c>, request: &Request, functions: &mut Functions<'c>) -> Result<(), Refusal> {
    let block = loops(wrapper)?.block;
    let factors = resolve(request.factors, block, true);
    if factors == [1; 3] {
        return Ok(());
    }
    let warps = block.contains(is_warp_operation);
    let needs = needs(&wrapper.block_shape(), factors, request.indexing, warps)?;
    if !needs.is_empty() && !request.guard {
        return Err(Refusal::BlockSizeNotConstant);
    }
    let coarse = copy_before(wrapper.op());
    if let Err(refusal) = unroll(coarse, factors, request.indexing, functions) {
        coarse.erase();
        return Err(refusal);
    }
    let b = Builder::before(coarse);
    let error = match condition(b, &needs) {
        None => coarse.result(0),
        Some(condition) => {
            let original = copy_before(wrapper.op());
            choose(Builder::before(wrapper.op()), condition, coarse, Some(original)).result(0)
        }
    };
    wrapper.op().replace_with(&[error]);
    Ok(())
}

/// A product of sizes that must be a multiple of a number.
struct Need<'c> {
    sizes: Vec<Value<'c>>,
    multiple: i64,
}

/// What must hold of sizes that are not constant; an error if it does not hold of those that are.
fn needs<'c>(
    shape: &[Value<'c>],
    factors: [i64; 3],
    indexing: Indexing,
    warps: bool,
) -> Result<Vec<Need<'c>>, Refusal> {
    let mut needs = Vec::new();
    let mut need = |sizes: &[Value<'c>], multiple: i64, refusal| {
        let known: Option<i64> = sizes.iter().map(|size| constant(*size)).product();
        match known {
            Some(known) if known % multiple == 0 => Ok(()),
            Some(_) => Err(refusal),
            None => {
                needs.push(Need { sizes: sizes.to_vec(), multiple });
                Ok(())
            }
        }
    };
    // What the dimensions before were made smaller by, when it is the turn of `axis`.
    let mut smaller = 1;
    for axis in 0..3 {
        let factor = factors[axis];
        if factor == 1 {
            continue;
        }
        need(&shape[axis..=axis], factor, Refusal::NotDivisible)?;
        if warps {
            match indexing {
                // Copies lie `extent` rows apart: that distance must be whole warps.
                Indexing::Strided => need(&shape[..=axis], WARP_SIZE * smaller * factor, Refusal::SplitWarps)?,
                // Copies are neighbouring rows: a row must be whole warps.
                Indexing::Adjacent => need(&shape[..axis], WARP_SIZE * smaller, Refusal::SplitWarps)?,
            }
        }
        smaller *= factor;
    }
    Ok(needs)
}

fn condition<'c>(b: Builder<'c>, needs: &[Need<'c>]) -> Option<Value<'c>> {
    let mut holds = None;
    for need in needs {
        let product = need.sizes[1..].iter().fold(need.sizes[0], |product, size| b.arith("muli", product, *size));
        let rest = b.arith("remui", product, b.const_index(need.multiple));
        let whole = b.cmpi("eq", rest, b.const_index(0));
        holds = Some(both(b, holds, whole));
    }
    holds
}

/// Unrolls the block loop of a wrapper, one dimension after the other.
fn unroll<'c>(
    wrapper: Op<'c>,
    factors: [i64; 3],
    indexing: Indexing,
    functions: &mut Functions<'c>,
) -> Result<(), Refusal> {
    let b = Builder::before(wrapper);
    for (dimension, factor) in factors.into_iter().enumerate().filter(|(_, factor)| *factor > 1) {
        let view = GpuWrapper::cast(wrapper).ok_or(Refusal::NoBlockLoop)?;
        let block = view.block_loop().ok_or(Refusal::NoBlockLoop)?;
        let unroll = Unroll { dimension, factor: factor as usize, indexing, whole_warps: true };
        let plan = unroll_and_interleave::check(block, &unroll, functions)?;
        let extent = divided(b, block.operand(3 + dimension), factor);
        unroll_and_interleave::apply(block, &unroll, &plan, extent);
        view.set_block_shape(dimension, extent);
    }
    multiply_grain(wrapper, THREAD_GRAIN, factors);
    Ok(())
}
