//! What isl is asked to schedule: the instances of statements, and what has to stay in order.

use mlir_bridge::isl::{Schedule, UnionSet};

use crate::affine::{
    Description, Reason,
    dependences::Dependences,
    rounds,
    sets::{Sets, in_general},
    sizes::{Sizes, is_of_types},
};

/// The statements of a nest with their dependences, for all sizes that arrays and loops may have.
pub struct Problem {
    /// The sizes that there are, where they are others than all.
    sizes: Option<Sizes>,
    /// The instances for all sizes, and those that there are.
    domains: [UnionSet; 2],
    dependences: Dependences,
}

impl Problem {
    /// That of a description.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn of(description: &Description<'_>, sets: &Sets) -> Result<Self, Reason> {
        let sizes = Sizes::of(description);
        let is_general = !description.numbers.assumptions.iter().any(|assumption| is_of_types(&assumption.holds));
        if is_general && sizes.is_empty() {
            let Sets { domain, accesses, .. } = sets;
            let dependences = Dependences::of(description, domain, accesses)?;
            return Ok(Self { sizes: None, domains: [domain.clone(), domain.clone()], dependences });
        }
        let (domain, accesses) = in_general(sets.domain.context(), description, &sizes)?;
        let dependences = Dependences::of(description, &domain, &accesses)?;
        Ok(Self { sizes: Some(sizes), domains: [domain, sets.domain.clone()], dependences })
    }

    /// A schedule of the instances that there are. `tilable` has bands that may be tiled before dimensions that carry nothing.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn schedule(&self, description: &Description<'_>, tilable: bool) -> Result<Schedule, Reason> {
        let Self { sizes, domains: [general, domain], dependences } = self;
        let rounds = if tilable { None } else { rounds::schedule(description, general, dependences)? };
        let schedule = match rounds {
            Some(rounds) => rounds,
            None => {
                let (context, Dependences { all, flow, .. }) = (domain.context(), dependences);
                context.prefer_tilable(tilable);
                let schedule = Schedule::compute(general, all, all, flow);
                context.prefer_tilable(false);
                schedule?
            }
        };
        match sizes {
            None => Ok(schedule),
            Some(sizes) => sizes.schedule(&schedule, domain),
        }
    }
}
