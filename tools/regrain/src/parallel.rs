//! The parallel form of a translation unit: device IR cleaned, imported and raised.
//!
//! Whatever goes wrong here is no error of the user's: a kernel, or a whole unit, that cannot be raised keeps the form
//! that clang gave it, and a remark says why.

use std::collections::{BTreeSet, HashMap, HashSet};

use inkwell::context::Context;
use inkwell::module::Module;
use mlir_bridge::diagnostics::with_diagnostics;
use mlir_bridge::ir::Op;
use mlir_bridge::module_op;
use regrain_dialects::attributes::SPACE;
use regrain_frontend::dispatch::Dispatcher;
use regrain_frontend::launches::Survey;
use regrain_passes::alternatives::candidates::{self, Kept, Launch};
use regrain_passes::alternatives::expand_alternatives::{self, Omission};
use regrain_passes::launch::isolate_launches::{self, Limits, Version};
use regrain_passes::launch::keep_launches;
use regrain_passes::launch::launch_function::{described, dispatched};
use regrain_passes::raise::form_parallel::Shapes;
use regrain_passes::{
    alternatives::content_hash, alternatives::profile_alternatives, lower::scope_debug_info, optimise, raise,
};
use regrain_targets::cpu::{BlockFunction, SplitForm, VersionFacts};
use regrain_targets::toolkit::SmArch;
use regrain_tuning::limits::{limits, shared_opt_in_everywhere};
use regrain_tuning::{Grain, Space, VERSION};

use crate::compile::Compilation;
use crate::diagnostics::{self, Missed};
use crate::dump::Dump;

/// The most operations of a body that was asked for (`-fregrain-alternatives=`); assemblers take minutes for larger ones.
const STATED_OPERATIONS: i64 = 64_000;

/// What every chip gives a kernel unasked.
const LIMITS: Limits = Limits { shared: 48 << 10, parameters: 4 << 10 };

/// The most threads that CUDA allows in a block.
const MOST_THREADS: u32 = 1024;

/// What the stages share.
#[derive(Clone)]
pub struct Stages<'s> {
    /// The source.
    pub compilation: &'s Compilation<'s>,
    /// Where the stages are shown.
    pub dump: &'s Dump,
    /// What hears why something was not done.
    pub missed: &'s Missed,
    /// The chip whose `__CUDA_ARCH__` the source saw, as in `sm_80`.
    pub arch: String,
    /// What the host does with kernels.
    pub survey: &'s Survey,
    /// Which grains kernels get.
    pub grains: Grains<'s>,
    /// The target that times are taken for, if the program is to time its alternatives.
    pub profiled: Option<String>,
}

/// Which grains kernels get beside the one that the program wrote.
#[derive(Clone, Copy)]
pub enum Grains<'s> {
    /// None.
    Original,
    /// The one that was asked for.
    Forced,
    /// What a search leaves.
    Search(&'s dyn Search),
}

impl Grains<'_> {
    /// Whether kernels get versions at other grains.
    pub fn are_coarser(&self) -> bool {
        !matches!(self, Self::Original)
    }
}

/// A search for the grain of each launch.
pub trait Search {
    /// The grains to try for a launch whose block has this shape, if it is constant.
    fn space(&self, shape: Option<[u32; 3]>) -> Space;

    /// Says why a grain is not among the alternatives.
    fn left_out(&self, omissions: &[Omission]);

    /// The grains of a launch that are to be lowered, before anything is. One alone is taken; none keeps the original.
    fn keep(&self, launch: &Launch) -> Vec<Grain>;
}

/// Versions of kernels at other grains, and the host code that launches them.
#[derive(Clone, Debug, Default)]
pub struct Versions {
    /// The kernels that were made.
    pub kernels: Vec<Version>,
    /// The host functions, a module of MLIR with structured control flow; empty when there are none.
    pub host: String,
    /// The launches that have alternatives.
    pub launches: Vec<Launch>,
}

impl Versions {
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
}

/// Host functions beside the module that they were taken from.
struct Host<'c> {
    module: melior::ir::Module<'c>,
    versions: Vec<Version>,
    launches: Vec<Launch>,
}

impl Stages<'_> {
    /// The same for one chip.
    pub fn for_chip(&self, arch: SmArch) -> Self {
        Self { arch: arch.to_string(), ..self.clone() }
    }

    /// Block functions for the CPU from `device` (clang's IR), or `None` when there is nothing to gain, and the launches that
    /// have versions. These may do without block functions: where they only say how many blocks a task has.
    pub fn split_form<'ctx>(
        &self,
        context: &'ctx Context,
        device: &Module<'ctx>,
    ) -> (Option<SplitForm<'ctx>>, Versions) {
        let made = self.attempt(context, device, |mlir, module| {
            let host = self.versions(mlir, module)?;
            optimise::optimise_all(module_op(module));
            self.show("optimized", module);
            regrain_passes::lower::split(module_op(module));
            self.show("split", module);
            let lowered = regrain_passes::lower::lower_to_blocks(module_op(module));
            self.show("blocks", module);
            let made = lowered.map_err(|error| format!("no block functions: {error:?}"))?;
            let names = made.iter().map(|block| block.kernel.clone()).collect();
            Ok((made.into_iter().map(block_function).collect::<Vec<_>>(), self.made(host, &names)))
        });
        let Some((module, (blocks, versions))) = made else { return (None, Versions::default()) };
        (Some(SplitForm { module, blocks }).filter(|form| !form.blocks.is_empty()), versions)
    }

    /// Device IR that went through the parallel form and back, with versions at other grains if they are asked for.
    pub fn round_trip<'ctx>(&self, context: &'ctx Context, device: &Module<'ctx>) -> Option<(Module<'ctx>, Versions)> {
        self.outline(context, device, false)
    }

    /// The versions of kernels at other grains as device IR, in which the original kernels are declared. `None` if there are none.
    pub fn coarse<'ctx>(&self, context: &'ctx Context, device: &Module<'ctx>) -> Option<(Module<'ctx>, Versions)> {
        self.outline(context, device, true).filter(|(_, versions)| !versions.is_empty())
    }

    fn outline<'ctx>(
        &self,
        context: &'ctx Context,
        device: &Module<'ctx>,
        versions_only: bool,
    ) -> Option<(Module<'ctx>, Versions)> {
        self.attempt(context, device, |mlir, module| {
            let host = self.versions(mlir, module)?;
            if versions_only {
                keep_launches::drop_kept(module_op(module));
            }
            let said = mlir_bridge::run_on_module(module, "regrain-outline-kernels").map_err(|e| e.to_string())?;
            self.remark(said.trim_end());
            self.show("outlined", module);
            let is_made = |op: &Op<'_>| op.is("llvm.func") && !op.region(0).is_empty();
            let functions = module_op(module).body().ops().into_iter().filter(is_made);
            let names = functions.filter_map(|op| op.symbol_name().map(str::to_owned)).collect();
            Ok(self.made(host, &names))
        })
    }

    /// Gives every kernel a version of the grain that was asked for, where that is right.
    fn versions<'c>(
        &self,
        mlir: &'c melior::Context,
        module: &melior::ir::Module<'c>,
    ) -> Result<Option<Host<'c>>, String> {
        let op = module_op(module);
        let launches = match self.grains {
            Grains::Original => return Ok(None),
            Grains::Forced => {
                self.keep_launches(op);
                self.coarsen(module)?;
                Vec::new()
            }
            Grains::Search(search) => {
                content_hash::mark(op);
                self.keep_launches(op);
                self.expand(module, search)
            }
        };
        isolate_launches::isolate_launches(op, LIMITS);
        self.show("isolated", module);
        let host = host_module(mlir, "module {}")?;
        isolate_launches::take_host(op, module_op(&host));
        Ok(Some(Host { module: host, versions: isolate_launches::versions(op), launches }))
    }

    /// Gives every launch a host function that may launch something else. Not those of kernels whose attributes the program
    /// sets: it sets them on the original kernel alone.
    fn keep_launches(&self, module: Op<'_>) {
        keep_launches::keep_launches(module);
        let mut kept = BTreeSet::new();
        for (function, kernel, _) in dispatched(module) {
            if self.survey.attributed.as_ref().is_none_or(|kernels| kernels.contains(kernel)) {
                kept.insert(kernel.to_owned());
                function.erase();
            }
        }
        for kernel in kept {
            let source = self.compilation.unit.input.display();
            let kernel = described(&kernel, None);
            self.remark(&format!(
                "{source}: remark: {kernel} keeps its grain: the source sets its attributes [-Rpass-missed=regrain]"
            ));
        }
    }

    /// Coarsens every launch as it was asked for, where that is right.
    fn coarsen(&self, module: &melior::ir::Module<'_>) -> Result<(), String> {
        let op = module_op(module);
        let args = &self.compilation.session.args;
        let limit = format!(" dynamic-shared-limit={}", self.dynamic_shared_limit());
        let asked = [("threads", &args.coarsen_threads, ""), ("blocks", &args.coarsen_blocks, limit.as_str())];
        for (what, factors, more) in
            asked.into_iter().filter_map(|(what, factors, more)| Some((what, factors.as_ref()?, more)))
        {
            let pass = format!("regrain-coarsen-{what}{{{factors}{more}}}");
            let done = mlir_bridge::pass::run_pipeline(op, &pass);
            done.map_err(|error| format!("{what} not coarsened: {error:?}"))?;
            self.show(&format!("coarse-{what}"), module);
        }
        optimise::optimise_changed(op);
        self.show("optimized", module);
        Ok(())
    }

    /// Bytes of shared memory that a block may ask for wherever the program runs.
    fn dynamic_shared_limit(&self) -> i64 {
        let chips: Vec<String> = self.compilation.session.targets.sm.iter().map(ToString::to_string).collect();
        let bytes = match chips[..] {
            [] => limits(&self.arch).shared_opt_in,
            _ => shared_opt_in_everywhere(chips.iter().map(String::as_str)),
        };
        bytes.into()
    }

    /// Puts alternatives beside every launch and keeps those that the search wants lowered.
    fn expand(&self, module: &melior::ir::Module<'_>, search: &dyn Search) -> Vec<Launch> {
        let op = module_op(module);
        for (function, kernel, shape) in dispatched(op) {
            // Where the program is seen to launch a kernel with constant shapes, others are not worth versions.
            let is_rare = shape.is_none() && self.survey.shapes.get(kernel).is_some_and(|shapes| !shapes.is_empty());
            let space = if is_rare { Space::none() } else { search.space(shape) };
            function.set_attr(SPACE, op.ctx().str_attr(&space.to_string()));
        }
        let request = expand_alternatives::Request {
            space: Space::none(),
            shared_limit: LIMITS.shared as i64,
            dynamic_shared_limit: self.dynamic_shared_limit(),
            operation_limit: if self.compilation.session.args.alternatives.is_some() {
                STATED_OPERATIONS
            } else {
                expand_alternatives::USUAL_OPERATIONS
            },
        };
        search.left_out(&expand_alternatives::expand_all(op, &request));
        optimise::optimise_changed(op);
        self.show("alternatives", module);
        let mut launches = candidates::launches(op);
        let mut kept = Kept::new();
        for launch in &mut launches {
            let grains = search.keep(launch);
            launch.candidates.retain(|candidate| grains.contains(&candidate.grain));
            kept.insert(launch.symbol.clone(), grains);
        }
        candidates::retain(op, &kept);
        launches.retain(|launch| launch.candidates.len() > 1);
        launches
    }

    /// What is left of the versions when those in `names` could be made.
    fn made(&self, host: Option<Host<'_>>, names: &HashSet<String>) -> Versions {
        let Some(Host { module, versions, launches }) = host else { return Versions::default() };
        isolate_launches::keep_kernels(module_op(&module), names);
        let mut all = Versions { kernels: versions, host: String::new(), launches };
        all.follow(module_op(&module));
        all
    }

    /// Keeps the alternatives that are wanted, in the host functions and in the list of kernels.
    pub fn choose(&self, versions: &mut Versions, kept: &Kept) -> Result<(), String> {
        let mlir = mlir_context();
        let module = host_module(&mlir, &versions.host)?;
        candidates::retain(module_op(&module), kept);
        for launch in &mut versions.launches {
            let grains = kept.get(&launch.symbol).map_or(&[][..], Vec::as_slice);
            launch.candidates.retain(|candidate| grains.contains(&candidate.grain));
        }
        versions.follow(module_op(&module));
        Ok(())
    }

    /// The kernels that do most of the work of each alternative.
    pub fn main_kernels(&self, versions: &Versions) -> Result<Vec<(String, Grain, String)>, String> {
        let mlir = mlir_context();
        let module = host_module(&mlir, &versions.host)?;
        Ok(candidates::main_kernels(module_op(&module)))
    }

    /// The host functions as LLVM IR, and what they are. `most_threads` says how many threads a block of a version may have.
    pub fn host_functions<'ctx>(
        &self,
        context: &'ctx Context,
        versions: &Versions,
        most_threads: impl Fn(&Version) -> u32,
    ) -> Result<(Module<'ctx>, Vec<Dispatcher>), String> {
        let mlir = mlir_context();
        let module = host_module(&mlir, &versions.host)?;
        self.show("dispatch", &module);
        if let Some(target) = &self.profiled {
            profile_alternatives::profile_all(module_op(&module), target, VERSION);
        }
        let limit = |name: &String| {
            let version = versions.kernels.iter().find(|version| version.name == *name);
            version.map_or(MOST_THREADS, |version| {
                most_threads(version).saturating_mul(version.thread_total.try_into().unwrap_or(1))
            })
        };
        let found = isolate_launches::dispatchers(module_op(&module)).into_iter().map(|dispatcher| Dispatcher {
            most_threads: dispatcher.versions.iter().map(limit).min().unwrap_or(MOST_THREADS).min(MOST_THREADS),
            kernel: dispatcher.kernel,
            symbol: dispatcher.symbol,
            shape: dispatcher.shape,
            versions: dispatcher.versions,
            static_shared: dispatcher.static_shared,
        });
        let found = found.collect();
        isolate_launches::lower_host(module_op(&module)).map_err(|error| format!("{error:?}"))?;
        let exported = mlir_bridge::export_inkwell(&module, "dispatch", context).map_err(|e| e.to_string())?;
        Ok((exported, found))
    }

    /// Cleans, imports and raises; lets `lower` take the parallel form down to the LLVM dialect; exports.
    fn attempt<'ctx, T>(
        &self,
        context: &'ctx Context,
        device: &Module<'ctx>,
        lower: impl for<'c> FnOnce(&'c melior::Context, &melior::ir::Module<'c>) -> Result<T, String>,
    ) -> Option<(Module<'ctx>, T)> {
        let made = self.try_all(context, device, lower);
        made.map_err(|reason| self.remark(&format!("{}: not raised: {reason}", self.compilation.stem()))).ok()
    }

    fn try_all<'ctx, T>(
        &self,
        context: &'ctx Context,
        device: &Module<'ctx>,
        lower: impl for<'c> FnOnce(&'c melior::Context, &melior::ir::Module<'c>) -> Result<T, String>,
    ) -> Result<(Module<'ctx>, T), String> {
        let clean = device.clone();
        regrain_frontend::clean::clean_device_module(&clean, &self.arch).map_err(|e| e.to_string())?;
        self.dump.llvm("clean", &clean).map_err(|e| e.to_string())?;
        let mlir = mlir_context();
        let module = mlir_bridge::import_inkwell(&mlir, &clean).map_err(|e| e.to_string())?;
        self.show("imported", &module);
        let shapes: Shapes = self.survey.shapes.iter().map(|(k, v)| (k.clone(), v.clone())).collect::<HashMap<_, _>>();
        let (lowered, said) = with_diagnostics(&mlir, || {
            raise::raise_module(module_op(&module), &shapes);
            self.show("parallel", &module);
            lower(&mlir, &module)
        });
        self.remark(said.trim_end());
        let lowered = lowered?;
        if self.compilation.session.args.keeps_lines() {
            scope_debug_info::scope_all(module_op(&module));
        }
        let exported =
            mlir_bridge::export_inkwell(&module, &self.compilation.stem(), context).map_err(|e| e.to_string())?;
        Ok((exported, lowered))
    }

    fn show(&self, stage: &str, module: &melior::ir::Module<'_>) {
        if self.dump.is_on()
            && let Err(error) = self.dump.text(stage, "mlir", &module_op(module).to_string())
        {
            diagnostics::note(&error.to_string());
        }
    }

    /// Says something that only `-Rpass-missed` asks for.
    pub fn remark(&self, text: &str) {
        self.missed.say(text);
    }
}

fn block_function(block: regrain_passes::lower::BlockFunction) -> BlockFunction {
    let version = block.version.map(|facts| VersionFacts {
        parameter_sizes: facts.parameter_sizes,
        max_threads: facts.max_threads,
        static_shared: facts.static_shared,
    });
    BlockFunction { kernel: block.kernel, symbol: block.symbol, shape: block.shape, version }
}

/// A context that knows all dialects and passes.
fn mlir_context() -> melior::Context {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        regrain_dialects::register();
        mlir_bridge::register_upstream_passes();
        regrain_passes::registry::register();
    });
    mlir_bridge::new_context()
}

fn host_module<'c>(mlir: &'c melior::Context, text: &str) -> Result<melior::ir::Module<'c>, String> {
    mlir_bridge::parse_module(mlir, text, "host").map_err(|error| error.to_string())
}
