//! Host code that launches versions of kernels: put into the host module.

use anyhow::{Result, anyhow};
use inkwell::context::Context;
use inkwell::module::Module;
use regrain_frontend::{dispatch, specialise};
use regrain_passes::isolate_launches::Version;

use crate::compile::Compilation;
use crate::parallel::{Stages, Versions};

/// Whether kernels of this source get versions at other grains. Not in a unit that sets attributes of functions: they are set
/// on the original kernel alone.
pub fn coarsens(compilation: &Compilation<'_>, host: &Module<'_>) -> bool {
    let args = &compilation.session.args;
    if args.coarsen_blocks.is_none() && args.coarsen_threads.is_none() {
        return false;
    }
    let allowed = specialise::is_allowed(host);
    if !allowed && args.remarks.missed {
        eprintln!("{}: launches keep their grain: the source sets attributes of kernels", compilation.stem());
    }
    allowed
}

/// Lets the launches in `host` choose versions. `most_threads` says how many threads a block of a version may have; with `asks`
/// the runtime is asked first whether versions may run.
pub fn redirect<'ctx>(
    context: &'ctx Context,
    stages: &Stages<'_>,
    host: &Module<'ctx>,
    versions: &Versions,
    most_threads: impl Fn(&Version) -> u32,
    asks: bool,
) -> Result<()> {
    let made = stages.host_functions(context, versions, most_threads);
    let (functions, dispatchers) = made.map_err(|message| anyhow!("internal error: no host code for versions of kernels: {message}"))?;
    dispatch::redirect(host, functions, &dispatchers, asks)?;
    Ok(())
}
