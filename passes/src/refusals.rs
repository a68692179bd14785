//! Why passes decline: the closed list of each, for tests that see to it that every reason is asserted.

use regrain_targets::device_language::{NoCounterpart, thread_ops::NoParallelForm};

use crate::{
    affine,
    alternatives::expand_alternatives::Limit,
    analysis::{counted_loop, functions::NoForm},
    coarsen::unroll_and_interleave,
    launch::isolate_launches,
    lower::{lower_cpu::NoBlock, outline_kernels::NoKernel, split_barriers},
};

/// The texts of all reasons, `{}` where something is put in, with the passes that give them.
pub const ALL: &[(&[&str], &[&str])] = &[
    (&["regrain-raise-while-to-for"], counted_loop::Refusal::TEXTS),
    (&["regrain-describe-affine"], affine::Reason::TEXTS),
    (&["regrain-form-parallel"], NoForm::TEXTS),
    (&["regrain-form-parallel"], NoParallelForm::TEXTS),
    (
        &[
            "regrain-unroll-and-interleave",
            "regrain-coarsen-threads",
            "regrain-coarsen-blocks",
            "regrain-expand-alternatives",
        ],
        unroll_and_interleave::Refusal::TEXTS,
    ),
    (&["regrain-expand-alternatives"], Limit::TEXTS),
    (&["regrain-isolate-launches"], isolate_launches::Refusal::TEXTS),
    (&["regrain-split-barriers"], split_barriers::Refusal::TEXTS),
    (&["regrain-lower-cpu"], NoBlock::TEXTS),
    (&["regrain-outline-kernels"], NoKernel::TEXTS),
    (&["regrain-outline-kernels"], NoCounterpart::TEXTS),
];
