//! Versions of kernels at other grains, and the host code that launches them.

use std::collections::{HashMap, HashSet};

use inkwell::context::Context;
use inkwell::module::Module;
use mlir_bridge::ir::Op;
use mlir_bridge::module_op;
use regrain_frontend::dispatch::Dispatcher;
use regrain_passes::alternatives::candidates::{self, Kept, LaunchCandidates};
use regrain_passes::alternatives::profile_alternatives;
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
        let mut all = Self { kernels: versions, host: String::new(), launches };
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

    /// Keeps the alternatives that are wanted, in the host functions and in the list of kernels.
    ///
    /// # Errors
    /// The host functions do not read.
    pub fn choose(&mut self, kept: &Kept) -> Result<()> {
        let mlir = mlir_context();
        let module = read_host(&mlir, &self.host)?;
        candidates::retain(module_op(&module), kept);
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
    /// that is fewer than `limit`; `profiled` names the target whose times are taken; `show` gets the functions as MLIR.
    ///
    /// # Errors
    /// The host functions cannot be lowered.
    pub fn host_functions<'ctx>(
        &self,
        context: &'ctx Context,
        limit: u32,
        most_threads: &HashMap<String, u32>,
        profiled: Option<&str>,
        show: impl FnOnce(&melior::ir::Module<'_>),
    ) -> Result<(Module<'ctx>, Vec<Dispatcher>)> {
        let failed = |message: String| Error::internal(format!("no host code for versions of kernels: {message}"));
        let mlir = mlir_context();
        let module = read_host(&mlir, &self.host)?;
        show(&module);
        if let Some(target) = profiled {
            profile_alternatives::profile_all(module_op(&module), target, VERSION);
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
