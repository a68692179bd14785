//! The parallel form of a translation unit: device IR cleaned, imported and raised.
//!
//! Whatever goes wrong here is no error of the user's: a kernel, or a whole unit, that cannot be raised keeps the form
//! that clang gave it, and a remark says why.

use std::collections::{BTreeSet, HashMap, HashSet};

use inkwell::context::Context;
use inkwell::module::Module;
use mlir_bridge::VectorRegisters;
use mlir_bridge::diagnostics::with_diagnostics;
use mlir_bridge::ir::{Block, Op};
use mlir_bridge::module_op;
use mlir_bridge::timing::{STEPS, measure};
use regrain_dialects::attributes;
use regrain_frontend::launches::Survey;
use regrain_passes::alternatives::candidates::{self, Kept, LaunchCandidates};
use regrain_passes::alternatives::expand_alternatives::take_omissions;
use regrain_passes::launch::launch_function::{described, dispatched};
use regrain_passes::launch::{isolate_launches, keep_launches};
use regrain_passes::lower::lower_cpu::take_blocks;
use regrain_passes::lower::vectorize_threads;
use regrain_passes::pipelines;
use regrain_targets::target::{BlockFunction, LaunchLimits, SplitForm};
use regrain_tuning::Space;

use crate::context::{mlir_context, run};
use crate::diagnostics::{self, RemarkLog};
use crate::dump::Dump;
use crate::grains::{Grains, Search};
use crate::source::Source;
use crate::versions::{Host, Versions};

/// What the stages share.
#[derive(Clone)]
pub struct Stages<'s> {
    /// The source.
    pub source: &'s Source<'s>,
    /// Where the stages are shown.
    pub dump: &'s Dump,
    /// What hears what became of code.
    pub remarks: &'s RemarkLog,
    /// The chip whose `__CUDA_ARCH__` the source saw, as in `sm_80`.
    pub chip: String,
    /// What launches may ask for wherever the program runs.
    pub limits: LaunchLimits,
    /// What the host does with kernels.
    pub survey: &'s Survey,
    /// Which grains kernels get.
    pub grains: Grains<'s>,
}

impl Stages<'_> {
    /// The same for one chip.
    pub fn for_chip(&self, chip: &str) -> Self {
        Self { chip: chip.to_owned(), ..self.clone() }
    }

    /// Block functions for the CPU from `device` (clang's IR, prepared for it), or `None` when there is nothing to gain, and the launches that
    /// have versions. These may do without block functions: where they only say how many blocks a task has.
    pub fn split_form<'ctx>(
        &self,
        context: &'ctx Context,
        device: &Module<'ctx>,
        registers: VectorRegisters,
    ) -> (Option<SplitForm<'ctx>>, Versions) {
        let report =
            self.source.options.remarks.name(vectorize_threads::PASS.name) || self.source.side_files.record.is_some();
        let made = self.attempt(context, device, true, |mlir, module| {
            let host = self.versions(mlir, module)?;
            run(module_op(module), pipelines::OPTIMIZE_BLOCKS)?;
            self.show("optimized", module);
            run(module_op(module), &pipelines::split(registers))?;
            self.show("split", module);
            let lowered = run(module_op(module), &pipelines::to_blocks(registers, report));
            self.show("blocks", module);
            lowered.map_err(|error| format!("no block functions: {error}"))?;
            let made = take_blocks(module_op(module));
            let names = made.iter().map(|block| block.kernel.clone()).collect();
            Ok((made, Versions::of(host, &names)))
        });
        let Some((module, (blocks, versions))) = made else { return (None, Versions::default()) };
        let seldom = self.seldom_general(&blocks);
        (Some(SplitForm { module, blocks, seldom }).filter(|form| !form.blocks.is_empty()), versions)
    }

    /// The kernels of which all launches that are seen have a block function for their shape alone.
    fn seldom_general(&self, blocks: &[BlockFunction]) -> HashSet<String> {
        let is_made =
            |kernel: &str, shape| blocks.iter().any(|block| block.kernel == kernel && block.shape == Some(shape));
        let all_made = |kernel: &&String| {
            self.survey.shapes.get(*kernel).is_some_and(|shapes| shapes.iter().all(|shape| is_made(kernel, *shape)))
        };
        self.survey.only.iter().filter(all_made).cloned().collect()
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
        self.attempt(context, device, false, |mlir, module| {
            let host = self.versions(mlir, module)?;
            if versions_only {
                keep_launches::drop_kept(module_op(module));
            }
            run(module_op(module), pipelines::TO_KERNELS)?;
            self.show("outlined", module);
            let is_made = |op: &Op<'_>| op.is("llvm.func") && !op.region(0).is_empty();
            let functions = module_op(module).body().ops().into_iter().filter(is_made);
            let names = functions.filter_map(|op| op.symbol_name().map(str::to_owned)).collect();
            Ok(Versions::of(host, &names))
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
                self.keep_launches(op)?;
                self.coarsen(module)?;
                Vec::new()
            }
            Grains::Search(search) => {
                self.keep_launches(op)?;
                self.expand(module, search)?
            }
        };
        let (shared, parameters) = (self.limits.static_shared, self.limits.parameters);
        run(op, &format!("regrain-isolate-launches{{shared-limit={shared} parameter-limit={parameters}}}"))?;
        self.show("isolated", module);
        let host = mlir_bridge::parse_module(mlir, "module {}", "host").map_err(|error| error.to_string())?;
        isolate_launches::take_host(op, module_op(&host));
        Ok(Some(Host { module: host, versions: isolate_launches::versions(op), launches }))
    }

    /// Gives every launch a host function that may launch something else. Not those of kernels whose attributes the program
    /// sets: it sets them on the original kernel alone.
    fn keep_launches(&self, module: Op<'_>) -> Result<(), String> {
        run(module, pipelines::KEEP)?;
        let mut kept = BTreeSet::new();
        for (function, kernel, _) in dispatched(module) {
            if self.survey.attributed.as_ref().is_none_or(|kernels| kernels.contains(kernel)) {
                kept.insert(kernel.to_owned());
                function.erase();
            }
        }
        for kernel in kept {
            let source = self.source.unit.input.display();
            let kernel = described(&kernel, None);
            self.remark(&format!(
                "{source}: remark: {kernel} keeps its grain: the source sets its attributes [-Rpass-missed=regrain]"
            ));
        }
        Ok(())
    }

    /// Coarsens every launch as it was asked for, where that is right.
    fn coarsen(&self, module: &melior::ir::Module<'_>) -> Result<(), String> {
        let op = module_op(module);
        let args = &self.source.options;
        let limit = format!(" dynamic-shared-limit={}", self.limits.dynamic_shared);
        let asked = [("threads", &args.coarsen_threads, ""), ("blocks", &args.coarsen_blocks, limit.as_str())];
        for (what, factors, more) in
            asked.into_iter().filter_map(|(what, factors, more)| Some((what, factors.as_ref()?, more)))
        {
            let pass = format!("regrain-coarsen-{what}{{{factors}{more}}}");
            run(op, &pass)?;
            self.show(&format!("coarse-{what}"), module);
        }
        run(op, pipelines::OPTIMIZE_PARALLEL)?;
        self.show("optimized", module);
        Ok(())
    }

    /// Puts alternatives beside every launch, those first that look as if most time went there, and keeps those that the search wants lowered. Launches for
    /// which no time is left keep their grain.
    fn expand(&self, module: &melior::ir::Module<'_>, search: &dyn Search) -> Result<Vec<LaunchCandidates>, String> {
        let op = module_op(module);
        let mut open = self.launches_to_expand(op, search);
        let symbols = open.iter().filter_map(|(function, _)| function.symbol_name());
        let order: HashMap<String, usize> = symbols.zip(0..).map(|(symbol, at)| (symbol.to_owned(), at)).collect();
        // Few at a time: then time is asked for often enough, and the module is not walked once for each.
        const MOST: usize = 8;
        let mut most = 1;
        while !open.is_empty() && !search.is_over() {
            let now: Vec<_> = open.drain(..most.min(open.len())).collect();
            for (function, space) in &now {
                function.set_attr(attributes::SPACE, op.ctx().str_attr(&space.to_string()));
            }
            run(op, &self.expansion(search.most_operations()))?;
            search.left_out(&take_omissions(op));
            for (function, _) in now {
                function.remove_attr(attributes::SPACE);
            }
            run(op, pipelines::OPTIMIZE_PARALLEL)?;
            most = MOST.min(2 * most);
        }
        search.out_of_time(open.len());
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
        launches.sort_by_key(|launch| order.get(&launch.symbol).copied());
        Ok(launches)
    }

    /// The host functions whose launches get alternatives, with the grains that are tried; those first that
    /// look as if most time went there.
    fn launches_to_expand<'c>(&self, module: Op<'c>, search: &dyn Search) -> Vec<(Op<'c>, Space)> {
        let mut found = Vec::new();
        for (function, kernel, shape) in dispatched(module) {
            // Where the program is seen to launch a kernel with constant shapes, others are not worth versions.
            let is_rare = shape.is_none() && self.survey.shapes.get(kernel).is_some_and(|shapes| !shapes.is_empty());
            if !is_rare {
                found.push((function, search.space(shape)));
            }
        }
        found.sort_by_cached_key(|(function, _)| std::cmp::Reverse(work(*function)));
        found
    }

    /// The pass that puts alternatives beside launches.
    fn expansion(&self, operations: i64) -> String {
        let LaunchLimits { static_shared, dynamic_shared, .. } = self.limits;
        format!(
            "regrain-expand-alternatives{{space=none shared-limit={static_shared} dynamic-shared-limit={dynamic_shared} \
             operation-limit={operations} quiet=true}}"
        )
    }

    /// Cleans, imports and raises, as functions that run blocks want it or as GPUs do; lets `lower` take the parallel form down to the LLVM
    /// dialect; exports.
    fn attempt<'ctx, T>(
        &self,
        context: &'ctx Context,
        device: &Module<'ctx>,
        for_blocks: bool,
        lower: impl for<'c> FnOnce(&'c melior::Context, &melior::ir::Module<'c>) -> Result<T, String>,
    ) -> Option<(Module<'ctx>, T)> {
        let made = self.try_all(context, device, for_blocks, lower);
        made.map_err(|reason| self.remark(&format!("{}: not raised: {reason}", self.source.stem()))).ok()
    }

    fn try_all<'ctx, T>(
        &self,
        context: &'ctx Context,
        device: &Module<'ctx>,
        for_blocks: bool,
        lower: impl for<'c> FnOnce(&'c melior::Context, &melior::ir::Module<'c>) -> Result<T, String>,
    ) -> Result<(Module<'ctx>, T), String> {
        let clean = device.clone();
        measure(STEPS, "cleaning", || regrain_frontend::clean::clean_device_module(&clean, &self.chip))
            .map_err(|e| e.to_string())?;
        if for_blocks {
            measure(STEPS, "arrays", || regrain_frontend::arrays::to_registers(&clean, &self.chip))
                .map_err(|e| e.to_string())?;
        }
        self.dump.llvm("clean", &clean).map_err(|e| e.to_string())?;
        let mlir = mlir_context();
        let module =
            measure(STEPS, "import", || mlir_bridge::import_inkwell(&mlir, &clean)).map_err(|e| e.to_string())?;
        self.show("imported", &module);
        let shapes = self
            .survey
            .shapes
            .iter()
            .flat_map(|(kernel, shapes)| shapes.iter().map(move |[x, y, z]| format!("{kernel}={x}x{y}x{z}")));
        let shapes = shapes.collect::<Vec<_>>().join(";");
        let widths = self.survey.widths.iter().map(|(kernel, width)| format!("{kernel}={width}"));
        let widths = widths.collect::<Vec<_>>().join(";");
        let (lowered, said) = with_diagnostics(&mlir, || {
            // A launch that has no block function runs in the coroutine form.
            let only = self.survey.only.iter().filter(|_| for_blocks);
            let pipeline = pipelines::raise(&shapes, only, for_blocks, &widths);
            measure(STEPS, "raising", || run(module_op(&module), &pipeline))?;
            self.show("parallel", &module);
            measure(STEPS, "parallel form", || lower(&mlir, &module))
        });
        self.remark(said.trim_end());
        let lowered = lowered?;
        if self.source.options.lines {
            run(module_op(&module), pipelines::SCOPE)?;
        }
        let exported = measure(STEPS, "export", || mlir_bridge::export_inkwell(&module, &self.source.stem(), context))
            .map_err(|e| e.to_string())?;
        Ok((exported, lowered))
    }

    fn show(&self, stage: &str, module: &melior::ir::Module<'_>) {
        show(self.dump, stage, module);
    }

    /// Says something that is only shown where it is asked for.
    pub fn remark(&self, text: &str) {
        self.remarks.say(text);
    }
}

/// What a thread of a launch does, roughly: its operations, those in loops so many times for each loop around them.
fn work(function: Op<'_>) -> u64 {
    const ROUNDS: u64 = 8;
    let blocks = function.regions().into_iter().flat_map(|region| region.blocks());
    let weight = |op: Op<'_>| {
        let rounds = if matches!(op.name(), "scf.for" | "scf.while") { ROUNDS } else { 1 };
        if op.num_regions() == 0 { 1 } else { work(op).saturating_mul(rounds) }
    };
    blocks.flat_map(Block::ops).fold(0, |sum: u64, op| sum.saturating_add(weight(op)))
}

/// Writes a stage, where stages are written. That it cannot be written is no reason to stop.
pub(crate) fn show(dump: &Dump, stage: &str, module: &melior::ir::Module<'_>) {
    if dump.is_on()
        && let Err(error) = dump.text(stage, "mlir", &module_op(module).to_string())
    {
        diagnostics::note(&error.to_string());
    }
}
