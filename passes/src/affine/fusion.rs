//! Loops that have nothing to do with one another but that they read the same: threads do both, and what they read comes from memory once.
//!
//! ```text
//!   for i, j: ex[i][j] -= hz[i][j] - hz[i][j - 1];      thread i, j: ex[i][j] -= hz[i][j] - hz[i][j - 1];
//!   for i, j: ey[i][j] -= hz[i][j] - hz[i - 1][j];                   ey[i][j] -= hz[i][j] - hz[i - 1][j];
//! ```
//!
//! isl puts together what hands numbers on. Statements of which none does are beside one another in its tree, in any order.

use mlir_bridge::isl::{Error, Node, Schedule, Step, UnionMap};

use crate::affine::{Description, plan::coincident, sets::Sets};

/// A schedule in which such loops are one.
///
/// # Errors
/// isl's budget is spent.
pub fn fused(description: &Description<'_>, sets: &Sets, schedule: Schedule) -> Result<Schedule, Error> {
    if description.statements.len() < 2 {
        return Ok(schedule);
    }
    let fusion = Fusion { description, sets };
    let root = schedule.root()?;
    match fusion.below(&root)? {
        Some(root) => root.schedule(),
        None => Ok(schedule),
    }
}

struct Fusion<'d, 'c> {
    description: &'d Description<'c>,
    sets: &'d Sets,
}

impl Fusion<'_, '_> {
    /// A node with all that is below it; none where nothing is different.
    fn below(&self, node: &Node) -> Result<Option<Node>, Error> {
        let mut made = node.clone();
        let mut is_other = false;
        for at in 0..made.children()?.len() {
            if let Some(child) = self.below(&made.child_at(at)?)? {
                (made, is_other) = (child.parent()?, true);
            }
        }
        if made.step() == Step::Set
            && let Some(one) = self.one(&made)?
        {
            return Ok(Some(one));
        }
        Ok(is_other.then_some(made))
    }

    /// The parts of a set as one band, where each is a loop of threads that do one thing, and reads what the first does.
    fn one(&self, set: &Node) -> Result<Option<Node>, Error> {
        let parts = set.children()?.iter().map(Node::child).collect::<Result<Vec<_>, _>>()?;
        let Some((first, others)) = parts.split_first() else { return Ok(None) };
        let members = if first.step() == Step::Band { first.members()? } else { 0 };
        for part in &parts {
            let is_band = part.step() == Step::Band && part.members()? == members;
            if !is_band || coincident(part)? < members || part.child()?.step() != Step::Leaf {
                return Ok(None);
            }
        }
        let reads = self.reads(first)?;
        for other in others {
            let mut is_same = false;
            for (array, of_other) in self.reads(other)? {
                for (_, of_first) in reads.iter().filter(|(read, _)| *read == array) {
                    is_same = is_same || !of_first.intersect(&of_other)?.is_empty()?;
                }
            }
            if !is_same {
                return Ok(None);
            }
        }
        let mut times = first.band_times()?;
        for other in others {
            times = times.union(&other.band_times()?)?;
        }
        let mut place = set.clone();
        for at in 0..parts.len() {
            place = place.child_at(at)?.child()?.delete()?.parent()?.parent()?;
        }
        place.insert_band(&times, &vec![true; members], true).map(Some)
    }

    /// Which elements threads of a band read, of arrays with as many dimensions at least.
    fn reads(&self, band: &Node) -> Result<Vec<(usize, UnionMap)>, Error> {
        let (domain, threads, members) = (band.domain()?, band.band_times()?.reverse()?, band.members()?);
        let mut reads = Vec::new();
        for (access, elements) in self.description.accesses.iter().zip(&self.sets.accesses) {
            let mine = elements.intersect_domain(&domain)?;
            if !access.writes && access.sums.len() >= members && !mine.is_empty()? {
                reads.push((access.array, threads.apply_range(&mine)?));
            }
        }
        Ok(reads)
    }
}
