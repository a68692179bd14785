//! Which grains kernels get beside the one that the program wrote.

use regrain_passes::alternatives::candidates::LaunchCandidates;
use regrain_passes::alternatives::expand_alternatives::Omission;
use regrain_tuning::{Grain, Space};

use crate::options::Options;

/// Whether and how kernels of a source get versions at other grains.
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
    /// What the user asks for.
    pub fn of(options: &Options) -> Self {
        let keeps = || options.round_trip || options.debug_device;
        if options.device_level() == 0 {
            Self::Off
        } else if options.coarsen_blocks.is_some() || options.coarsen_threads.is_some() {
            Self::Forced
        } else if options.alternatives.as_ref().map_or_else(keeps, |space| *space == Space::none()) {
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
    fn keep(&self, launch: &LaunchCandidates) -> Vec<Grain>;

    /// The most operations of a body that are worth a try.
    fn most_operations(&self) -> i64;

    /// Whether there is no time left to look at further launches.
    fn is_over(&self) -> bool;

    /// Says that so many launches keep their grain because there was no time left.
    fn out_of_time(&self, launches: usize);
}
