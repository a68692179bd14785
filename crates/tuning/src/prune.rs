//! Which alternatives are not worth a try, by what the assembler reports.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits::GpuLimits;
use crate::occupancy::{Resources, occupancy, registers_for};

/// What an alternative needs too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Bytes of static and dynamic shared memory of a block.
    Shared,
    /// Bytes of instructions for want of registers, more than at the original grain.
    Spills,
    /// Registers of a warp that are kept elsewhere, more than at the original grain.
    ScalarSpills,
    /// Registers of a thread, for its block to be launched.
    Registers,
    /// Warps on a unit are too few.
    Occupancy,
}

impl What {
    /// The name in remarks and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared memory",
            Self::Spills => "spills",
            Self::ScalarSpills => "spilled scalar registers",
            Self::Registers => "registers",
            Self::Occupancy => "resident warps",
        }
    }
}

/// Why an alternative is not tried: `needed` against `limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pruned {
    /// Of what.
    pub what: What,
    /// What the alternative has or needs.
    pub needed: u64,
    /// The most, or for [`What::Occupancy`] the least, that is accepted.
    pub limit: u64,
}

impl fmt::Display for Pruned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, needed, limit } = self;
        match what {
            What::Shared => write!(f, "{}: {needed} bytes, limit {limit}", what.name()),
            What::Spills => write!(f, "{}: {needed} bytes, the original has {limit}", what.name()),
            What::ScalarSpills => write!(f, "{}: {needed}, the original has {limit}", what.name()),
            What::Registers => write!(f, "{}: {needed}, limit {limit}", what.name()),
            What::Occupancy => write!(f, "{}: {needed}, floor {limit}", what.name()),
        }
    }
}

/// How much pruning after assembly lets pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// Warps on a unit by those of the original grain: fewer than this part of them, and fewer than `warps`, is too few.
    pub part: f64,
    /// This many warps are always enough.
    pub warps: u32,
}

impl Default for Floor {
    /// Two warps for each scheduler, or a quarter of the original's.
    fn default() -> Self {
        Self { part: 0.25, warps: 8 }
    }
}

/// Prunes by the assembler's report: spills that the original grain has not, registers with which the block cannot be
/// launched, and too few warps. `threads` are those of a block at this and at the original grain. Warps are compared by the
/// original threads that they do the work of: a warp of a thread-coarsened kernel counts for as many as its factor.
pub fn after_assembly(
    limits: &GpuLimits,
    (resources, threads): (&Resources, u32),
    (original, original_threads): (&Resources, u32),
    floor: &Floor,
) -> Option<Pruned> {
    if resources.spills() > original.spills() {
        return Some(Pruned { what: What::Spills, needed: resources.spills().into(), limit: original.spills().into() });
    }
    let (ours, theirs) = (resources.scalar_spills, original.scalar_spills);
    if ours > theirs {
        return Some(Pruned { what: What::ScalarSpills, needed: ours.into(), limit: theirs.into() });
    }
    let most = registers_for(limits, threads);
    if resources.registers > most {
        return Some(Pruned { what: What::Registers, needed: resources.registers.into(), limit: most.into() });
    }
    if resources.shared() > limits.shared_opt_in.into() {
        return Some(Pruned { what: What::Shared, needed: resources.shared(), limit: limits.shared_opt_in.into() });
    }
    let (ours, theirs) = (occupancy(limits, threads, resources), occupancy(limits, original_threads, original));
    // What thread coarsening takes away in warps of a block is no loss: each does the work of several.
    let merged =
        f64::from(original_threads.div_ceil(limits.warp)) / f64::from(threads.max(1).div_ceil(limits.warp)).max(1.0);
    let least = (f64::from(theirs.warps) * floor.part / merged.max(1.0)).ceil().min(f64::from(floor.warps)) as u32;
    (ours.warps < least).then_some(Pruned { what: What::Occupancy, needed: ours.warps.into(), limit: least.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::SAMPLE;

    #[test]
    fn reports_are_checked_after_assembly() {
        let floor = Floor::default();
        let original = Resources { registers: 32, ..Resources::default() };
        let check = |ours: Resources, threads| after_assembly(&SAMPLE, (&ours, threads), (&original, 256), &floor);
        assert_eq!(check(Resources { registers: 64, ..original }, 256), None);
        let spills = check(Resources { spill_loads: 8, ..original }, 256).map(|pruned| pruned.to_string());
        assert_eq!(spills.as_deref(), Some("spills: 8 bytes, the original has 0"));
        let scalar = check(Resources { scalar_spills: 3, ..original }, 256).map(|pruned| pruned.to_string());
        assert_eq!(scalar.as_deref(), Some("spilled scalar registers: 3, the original has 0"));
        assert_eq!(check(Resources { registers: 160, ..original }, 512).map(|p| p.what), Some(What::Registers));
        // One block of two warps is all that fits.
        let few = check(Resources { static_shared: 40_000, dynamic_shared: 120_000, ..original }, 64);
        assert_eq!(few.map(|p| (p.what, p.needed, p.limit)), Some((What::Occupancy, 2, 4)));
    }
}
