//! Host code that launches versions of kernels: put into the host module.

use anyhow::{Result, anyhow};
use inkwell::context::Context;
use inkwell::module::Module;
use regrain_frontend::dispatch;
use regrain_passes::launch::isolate_launches::Version;
use regrain_tuning::Space;

use crate::args::Args;
use crate::parallel::{Grains, Search, Stages, Versions};

/// Whether and how kernels of this source get versions at other grains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coarsening {
    /// Not at all.
    Off,
    /// The grain that was asked for.
    Forced,
    /// What a search finds.
    Searched,
}

impl Coarsening {
    /// What the command line asks for.
    pub fn of(args: &Args) -> Self {
        if args.level.unwrap_or(3) == 0 {
            Self::Off
        } else if args.coarsen_blocks.is_some() || args.coarsen_threads.is_some() {
            Self::Forced
        } else if args
            .alternatives
            .as_ref()
            .map_or(args.round_trip || args.debugs_device(), |space| *space == Space::none())
        {
            Self::Off
        } else {
            Self::Searched
        }
    }

    /// The grains of the stages; `search` is asked where one is wanted.
    pub fn grains<'s>(self, search: &'s dyn Search) -> Grains<'s> {
        match self {
            Self::Off => Grains::Original,
            Self::Forced => Grains::Forced,
            Self::Searched => Grains::Search(search),
        }
    }
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
    let (functions, dispatchers) =
        made.map_err(|message| anyhow!("internal error: no host code for versions of kernels: {message}"))?;
    dispatch::redirect(host, functions, &dispatchers, asks)?;
    Ok(())
}
