//! Versions of kernels at other grains, and the host code that launches them.
//!
//! # How versions come to be
//!
//! A launch that was made coarser becomes kernels of their own and host code that launches them, the same on every target:
//!
//! ```text
//! raised ─ regrain-keep-launches ─┬─ @__regrain_launch.k: the kernel as it was ───────────────────────────┐
//!                                 └─ @__regrain_dispatch.k ─ coarsening ─ regrain-isolate-launches ─┬─ @__regrain_launch.k$b2x1x1 ─ lowered as any kernel
//!                                                                                                   └─ host code ─ frontend::dispatch ─► host module
//! ```
//!
//! `regrain-isolate-launches` gives each changed `regrain.gpu_wrapper` a declaration `k$<grain>` and a standard launch function,
//! so that outlining, splitting and the block functions know nothing of coarsening. Names: `k$b4x1x1t2x1x1` (the grain),
//! `$s64x1x1` behind it (for that constant block shape of the program alone), `$rest0` (what coarse blocks leave over in dimension
//! 0), `$v2` (a second kernel that would have the same name). With `-g` each has a subprogram of its own (`regrain-scope-debug-info`), and its
//! operations keep their lines. What a kernel cannot compute from its own launch becomes a
//! parameter behind those of the original. Kernels that came out alike are one.
//!
//! The host's half holds launches of `@__regrain_handle.<kernel>`, guards as `scf.if`, and `regrain.alternatives` where
//! they stand. It is moved into a module of its own (`take_host`), loses what could not be outlined or split (`keep_kernels`:
//! the region of the alternatives, else the whole function, so that the launch keeps its grain) and is lowered (`lower_host`).
//! `frontend::dispatch` links it into clang's host module, sends the `cudaLaunchKernel` of the stub to it and registers the
//! handles beside the stub. The ABI of `dim3` is known there alone.
//!
//! The original kernel stays: for launches that CUDA refuses (the error is CUDA's own) and for those of which no version can be launched
//! (nothing is launched after an error, so an error of the first launch means that nothing has run), blocks too large for the registers of the
//! versions, more shared memory than every block may have, cooperative launches, pointers to kernels that are launched
//! by `cudaLaunchKernel`, and kernels whose attributes the source sets (of all, where it cannot be said of which; `frontend::launches`). On NVIDIA it is clang's IR, to which
//! `regrain_targets::merge` adds the versions; variables and functions are shared. On the CPU versions exist as block functions alone, and
//! `REGRAIN_CPU_MODE=coroutine` keeps the original (`__regrain_keeps_grain`); with `-fregrain-round-trip` the very kernels and host
//! code that NVIDIA gets run as coroutines.

use std::collections::{BTreeMap, HashMap, HashSet};

use inkwell::context::Context;
use inkwell::module::Module;
use mlir_bridge::ir::Op;
use mlir_bridge::module_op;
use regrain_frontend::dispatch::Dispatcher;
use regrain_passes::alternatives::candidates::{self, Kept, LaunchCandidates};
use regrain_passes::alternatives::{choose_by_grid, profile_alternatives};
use regrain_passes::launch::isolate_launches::{self, Version};
use regrain_tuning::{Grain, VERSION};

use crate::context::mlir_context;
use crate::error::{Error, Result};

/// Versions of kernels at other grains, and the host code that launches them.
#[derive(Clone, Debug, Default)]
pub struct Versions {
    /// The kernels that were made.
    pub kernels: Vec<Version>,
    /// The host functions, a module of MLIR with structured control flow; empty when there are none.
    pub host: String,
    /// The launches that have alternatives.
    pub launches: Vec<LaunchCandidates>,
    /// Where programs choose by themselves: what the host functions run before anything is known.
    pub firsts: BTreeMap<String, Grain>,
}

/// What the program does with the alternatives that are left.
#[derive(Clone, Copy, Debug)]
pub struct Choosing<'s> {
    /// What the target is called in a tuning database.
    pub target: &'s str,
    /// Whether it settles on one by itself; else it measures all of them.
    pub is_adaptive: bool,
}

/// Host functions beside the module that they were taken from.
pub(crate) struct Host<'c> {
    pub(crate) module: melior::ir::Module<'c>,
    pub(crate) versions: Vec<Version>,
    pub(crate) launches: Vec<LaunchCandidates>,
}

impl Versions {
    /// What is left of the versions when those in `names` could be made.
    pub(crate) fn of(host: Option<Host<'_>>, names: &HashSet<String>) -> Self {
        let Some(Host { module, versions, launches }) = host else { return Self::default() };
        isolate_launches::keep_kernels(module_op(&module), names);
        let mut all = Self { kernels: versions, launches, ..Self::default() };
        all.follow(module_op(&module));
        all
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.host.is_empty()
    }

    /// Follows what is left of the host functions; idle ones go.
    fn follow(&mut self, host: Op<'_>) {
        isolate_launches::drop_idle(host);
        let dispatchers = isolate_launches::dispatchers(host);
        let used: HashSet<&String> = dispatchers.iter().flat_map(|dispatcher| &dispatcher.versions).collect();
        self.kernels.retain(|version| used.contains(&version.name));
        self.host = if dispatchers.is_empty() { String::new() } else { host.to_string() };
    }

    /// Whether host code for one chip is right for another.
    pub fn are_those_of(&self, other: &Self) -> bool {
        (&self.kernels, &self.host) == (&other.kernels, &other.host)
    }

    /// Keeps the alternatives that are wanted, in the host functions and in the list of kernels. Host functions that are named in
    /// `least_blocks` choose by the size of the grid.
    ///
    /// # Errors
    /// The host functions do not read.
    pub fn choose(&mut self, kept: &Kept, least_blocks: &BTreeMap<String, u64>) -> Result<()> {
        let mlir = mlir_context();
        let module = read_host(&mlir, &self.host)?;
        candidates::retain(module_op(&module), kept);
        choose_by_grid::choose_all(module_op(&module), least_blocks);
        for launch in &mut self.launches {
            let grains = kept.get(&launch.symbol).map_or(&[][..], Vec::as_slice);
            launch.candidates.retain(|candidate| grains.contains(&candidate.grain));
        }
        self.follow(module_op(&module));
        Ok(())
    }

    /// The kernels that do most of the work of each alternative: the launch's symbol, the grain and the kernel.
    ///
    /// # Errors
    /// The host functions do not read.
    pub fn main_kernels(&self) -> Result<Vec<(String, Grain, String)>> {
        let mlir = mlir_context();
        let module = read_host(&mlir, &self.host)?;
        Ok(candidates::main_kernels(module_op(&module)))
    }

    /// The host functions as LLVM IR, and what they are. `most_threads` says how many threads a block of a version may have where
    /// that is fewer than `limit`; `choosing` is for programs that choose; `show` gets the functions as MLIR.
    ///
    /// # Errors
    /// The host functions cannot be lowered.
    pub fn host_functions<'ctx>(
        &self,
        context: &'ctx Context,
        limit: u32,
        most_threads: &HashMap<String, u32>,
        choosing: Option<Choosing<'_>>,
        show: impl FnOnce(&melior::ir::Module<'_>),
    ) -> Result<(Module<'ctx>, Vec<Dispatcher>)> {
        let failed = |message: String| Error::internal(format!("no host code for versions of kernels: {message}"));
        let mlir = mlir_context();
        let module = read_host(&mlir, &self.host)?;
        show(&module);
        if let Some(Choosing { target, is_adaptive }) = choosing {
            let first = is_adaptive.then_some(&self.firsts);
            let program = profile_alternatives::Program { target, version: VERSION, first };
            profile_alternatives::profile_all(module_op(&module), &program);
        }
        let threads = |name: &String| {
            let version = self.kernels.iter().find(|version| version.name == *name);
            let most = most_threads.get(name).copied().unwrap_or(limit);
            version.map_or(limit, |version| most.saturating_mul(version.thread_total.try_into().unwrap_or(1)))
        };
        let found = isolate_launches::dispatchers(module_op(&module)).into_iter().map(|dispatcher| Dispatcher {
            most_threads: dispatcher.versions.iter().map(threads).min().unwrap_or(limit).min(limit),
            kernel: dispatcher.kernel,
            symbol: dispatcher.symbol,
            shape: dispatcher.shape,
            versions: dispatcher.versions,
            static_shared: dispatcher.static_shared,
            device: None,
        });
        let found = found.collect();
        isolate_launches::lower_host(module_op(&module)).map_err(|error| failed(format!("{error:?}")))?;
        let exported =
            mlir_bridge::export_inkwell(&module, "dispatch", context).map_err(|error| failed(error.to_string()))?;
        Ok((exported, found))
    }
}

fn read_host<'c>(mlir: &'c melior::Context, text: &str) -> Result<melior::ir::Module<'c>> {
    mlir_bridge::parse_module(mlir, text, "host")
        .map_err(|error| Error::internal(format!("host code for versions of kernels: {error}")))
}
