//! The CPU target: device LLVM IR in, a host object with an image table out.
//!
//! A device module is lowered as it comes from clang, without any transformation of ours: each kernel becomes a
//! function that runs *one CUDA thread* (the coroutine form, the oracle). Block functions made from the parallel
//! form (the split form) are linked in beside it. The steps, in order:
//!
//! 1. [`crate::from_nvvm`]: inline PTX, NVVM intrinsics and address spaces become plain host IR over the device library (of what is
//!    emulated for AMD's chips, [`crate::from_amdgcn`]);
//! 2. [`symbols`]: device symbols get a prefix and, unless code is relocatable, internal linkage;
//! 3. the device library is linked in; [`sync`] finds which kernels may synchronise, and marks the source site of
//!    each synchronising call;
//! 4. [`image`]: the table through which the runtime finds kernels and variables;
//! 5. [`codegen`]: optimise and emit for the host processor.
//!
//! # Forms of a kernel
//!
//! *Coroutine form.* One function runs one CUDA thread. The runtime runs the threads of a block in order on one OS thread, and
//! gives a thread a stack of its own only when it waits. Barriers, warp operations, named barriers, early returns, recursion,
//! function pointers: all work, because nothing is assumed. A deadlock is seen when no thread can go on, and reported with the
//! source lines that threads wait at. Three hints go into clang's IR: the site of each synchronising call, a chance to give way
//! after each atomic operation (spin locks), a change of lanes after each volatile access (the lanes of a warp go in step, as
//! programs from before `__syncwarp` count on).
//!
//! *Split form.* The block loop is split at barriers and warp operations; conditionals and loops around them are interchanged
//! with the thread loops where they are uniform over the block, and masked where not; values that live across a split are
//! recomputed or kept in an array over the threads. What is not proven is declined with a reason from a closed list
//! (`split_barriers/legality.rs` of the passes), and the kernel runs in the coroutine form. Rows of threads go through the thread loops as
//! vectors (`vectorize_threads.rs`); where rows are warps, operations of warps need no split. Atomics on shared memory are loads and stores.
//! At a barrier of the grid a block function calls the runtime, which goes on with the next block: an OS thread has a fixed share of the
//! blocks of a cooperative grid, each on a stack of its own (`runtime::device::cpu::turns`). So blocks need not agree on control flow, and
//! what lives across is in the block's own frame. Threads that all do the same run once (`merge_redundant_threads.rs`); what the rounds
//! of a loop add to shared memory is added up first (`carry_atomics.rs`); loops in which threads go on by a stride go outside of them
//! (`interchange_strides.rs`); pieces of memory that follow one another are accessed one after the other (`access_in_order.rs`).
//!
//! Both give the same bits: `tools/regrain/tests/random_kernels.rs` compares them on random kernels.
//!
//! # Mathematics
//!
//! One C source (`device-lib/lanes`) gives a function of libdevice and its vector forms of 4, 8, 16 and 32 elements
//! ([`crate::nvvm::library::vector_form`]): elementwise IEEE operations without contraction, so that a thread has the same bits alone
//! and in a row. Accuracy is CUDA's (`device_library_accuracy.c`). What has no vector form is the C library's.

mod cheap;
mod checks;
mod codegen;
mod constants;
mod destination;
mod image;
mod limits;
mod parts;
mod spin;
mod symbols;
mod sync;
mod target;

use inkwell::context::Context;
use inkwell::module::Module;

use crate::from_nvvm::{link_library, retarget};
use crate::target::{BlockOptions, SplitForm};
use crate::{Error, from_amdgcn};
pub use destination::device_library;
pub use limits::limits;
pub use symbols::DEVICE_PREFIX;
pub use target::Cpu;

/// What became of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuKernel {
    /// Mangled device name.
    pub name: String,
    /// A barrier, warp operation or the like may be reached from it.
    pub may_synchronise: bool,
    /// A function that runs a whole block exists.
    pub split: bool,
}

/// Lowers `device` (NVPTX device IR of one translation unit) to a module of the host.
///
/// `split` holds the block functions made from the parallel form, if any: IR that still speaks of NVVM intrinsics
/// and of the same device symbols as `device`.
///
/// The module defines `__regrain_cpu_image.<unit>` ([`image_symbol`]), which the host object's registration code
/// refers to.
pub fn lower<'ctx>(
    context: &'ctx Context,
    device: Module<'ctx>,
    split: Option<SplitForm<'ctx>>,
    options: &BlockOptions,
) -> Result<(Module<'ctx>, Vec<CpuKernel>), Error> {
    let kernels = image::Kernel::collect(&device, options)?;
    spin::insert_hints(&device)?;
    match from_amdgcn::is_amdgcn(&device) {
        true => from_amdgcn::retarget(context, &device, options)?,
        false => retarget(&device, options)?,
    }
    symbols::rename(&device, options, symbols::Role::Original);
    let (blocks, seldom) = match split {
        Some(form) => {
            mlir_bridge::llvm::lower_single_thread_atomics(&form.module);
            retarget(&form.module, options)?;
            symbols::rename(&form.module, options, symbols::Role::Split);
            device.link_in_module(form.module).map_err(|e| Error::internal("linking the split form", e.to_string()))?;
            (form.blocks, form.seldom)
        }
        None => <_>::default(),
    };
    link_library(context, &device, options)?;
    let synchronising = sync::analyse(&device);
    sync::inline_header_wrappers(&device, &synchronising, options)?;
    if options.checks != 0 {
        checks::insert(&device, options)?;
    }
    sync::mark_sites(&device, &synchronising)?;
    let table = image::emit(context, &device, &kernels, &blocks, &synchronising, options)?;
    symbols::internalise(&device, options, &table.keep);
    if options.level > 0 {
        cheap::mark(&device, &cheap::Forms { kernels: &kernels, blocks: &blocks, seldom: &seldom });
    }
    if let Err(message) = device.verify() {
        return Err(Error::internal("verifying the lowered device module", message.to_string()));
    }
    Ok((device, table.kernels))
}

/// Name of the image table that the object of translation unit `unit` defines.
pub fn image_symbol(unit: &str) -> String {
    format!("__regrain_cpu_image.{unit}")
}
