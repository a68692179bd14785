//! The parallel form of a translation unit: device IR cleaned, imported and raised.
//!
//! Whatever goes wrong here is no error of the user's: a kernel, or a whole unit, that cannot be raised keeps the form
//! that clang gave it, and a remark says why.

use std::collections::HashMap;

use inkwell::context::Context;
use inkwell::module::Module;
use mlir_bridge::diagnostics::with_diagnostics;
use regrain_passes::form_parallel::Shapes;
use regrain_passes::raise;
use regrain_targets::cpu::{BlockFunction, SplitForm};

use crate::compile::Compilation;
use crate::diagnostics;
use crate::dump::Dump;

/// Constant block shapes of the launches, by kernel.
pub type LaunchShapes = std::collections::BTreeMap<String, Vec<[u32; 3]>>;

/// What the stages share.
pub struct Stages<'s> {
    /// The source.
    pub compilation: &'s Compilation<'s>,
    /// Where the stages are shown.
    pub dump: &'s Dump,
    /// The chip whose `__CUDA_ARCH__` the source saw, as in `sm_80`.
    pub arch: String,
    /// Constant block shapes of the launches.
    pub shapes: &'s LaunchShapes,
}

impl Stages<'_> {
    /// Block functions for the CPU from `device` (clang's IR), or `None` when there is nothing to gain.
    pub fn split_form<'ctx>(&self, context: &'ctx Context, device: &Module<'ctx>) -> Option<SplitForm<'ctx>> {
        self.attempt(context, device, |module| {
            self.coarsen(module)?;
            regrain_passes::cpu::split(mlir_bridge::module_op(module));
            self.show("split", module);
            let lowered = regrain_passes::cpu::lower_to_blocks(mlir_bridge::module_op(module));
            self.show("blocks", module);
            let made = lowered.map_err(|error| format!("no block functions: {error:?}"))?;
            Ok(made.into_iter().map(|b| BlockFunction { kernel: b.kernel, symbol: b.symbol, shape: b.shape }).collect::<Vec<_>>())
        })
        .map(|(module, blocks)| SplitForm { module, blocks })
        .filter(|form| !form.blocks.is_empty())
    }

    /// Gives every kernel the grain that was asked for, where that is right.
    fn coarsen(&self, module: &melior::ir::Module<'_>) -> Result<(), String> {
        let args = &self.compilation.session.args;
        let asked = [("threads", &args.coarsen_threads), ("blocks", &args.coarsen_blocks)];
        for (what, factors) in asked.into_iter().filter_map(|(what, factors)| Some((what, factors.as_ref()?))) {
            let pass = format!("regrain-coarsen-{what}{{{factors}}}");
            let done = mlir_bridge::pass::run_pipeline(mlir_bridge::module_op(module), &pass);
            done.map_err(|error| format!("{what} not coarsened: {error:?}"))?;
            self.show(&format!("coarse-{what}"), module);
        }
        Ok(())
    }

    /// Device IR that went through the parallel form and back, untransformed.
    pub fn round_trip<'ctx>(&self, context: &'ctx Context, device: &Module<'ctx>) -> Option<Module<'ctx>> {
        let outline = |module: &melior::ir::Module<'_>| {
            mlir_bridge::run_on_module(module, "regrain-outline-kernels").map_err(|e| e.to_string())?;
            self.show("outlined", module);
            Ok(())
        };
        self.attempt(context, device, outline).map(|(module, ())| module)
    }

    /// Cleans, imports and raises; lets `lower` take the parallel form down to the LLVM dialect; exports.
    fn attempt<'ctx, T>(
        &self,
        context: &'ctx Context,
        device: &Module<'ctx>,
        lower: impl FnOnce(&melior::ir::Module<'_>) -> Result<T, String>,
    ) -> Option<(Module<'ctx>, T)> {
        let made = self.try_all(context, device, lower);
        made.map_err(|reason| self.remark(&format!("{}: not raised: {reason}", self.compilation.stem()))).ok()
    }

    fn try_all<'ctx, T>(
        &self,
        context: &'ctx Context,
        device: &Module<'ctx>,
        lower: impl FnOnce(&melior::ir::Module<'_>) -> Result<T, String>,
    ) -> Result<(Module<'ctx>, T), String> {
        let clean = device.clone();
        regrain_frontend::clean::clean_device_module(&clean, &self.arch).map_err(|e| e.to_string())?;
        self.dump.llvm("clean", &clean).map_err(|e| e.to_string())?;
        register();
        let mlir = mlir_bridge::new_context();
        let module = mlir_bridge::import_inkwell(&mlir, &clean).map_err(|e| e.to_string())?;
        self.show("imported", &module);
        let shapes: Shapes = self.shapes.iter().map(|(k, v)| (k.clone(), v.clone())).collect::<HashMap<_, _>>();
        let (lowered, said) = with_diagnostics(&mlir, || {
            raise::raise_module(mlir_bridge::module_op(&module), &shapes);
            self.show("parallel", &module);
            lower(&module)
        });
        self.remark(said.trim_end());
        let lowered = lowered?;
        let exported = mlir_bridge::export_inkwell(&module, &self.compilation.stem(), context).map_err(|e| e.to_string())?;
        Ok((exported, lowered))
    }

    fn show(&self, stage: &str, module: &melior::ir::Module<'_>) {
        if self.dump.is_on()
            && let Err(error) = self.dump.text(stage, "mlir", &mlir_bridge::module_op(module).to_string())
        {
            diagnostics::note(&error.to_string());
        }
    }

    fn remark(&self, text: &str) {
        if self.compilation.session.args.remarks.missed && !text.is_empty() {
            eprintln!("{text}");
        }
    }
}

fn register() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        regrain_dialects::register();
        mlir_bridge::register_upstream_passes();
        regrain_passes::registry::register();
    });
}
