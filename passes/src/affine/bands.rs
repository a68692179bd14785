//! Bands of a schedule of which the threads of a launch are made: what one thread does, and what those of a block have together.

use mlir_bridge::isl::{Code, Error, Node, Set, UnionMap, UnionSet, code_of};
use serde::{Deserialize, Serialize};

use crate::affine::{
    Description, Reason,
    accesses::extent,
    columns,
    host::Launch,
    plan::Wishes,
    sets::{Sets, not_above},
    shape::{ROW, Shape},
    teams::{self, Taken, Team},
    threads::{OnChip, Threads},
};

/// What a launch's threads come from.
pub struct Band {
    /// The instances.
    pub domain: UnionSet,
    /// Their threads.
    pub times: UnionMap,
    /// The instances of one thread.
    pub mine: UnionSet,
    /// What is below the threads.
    pub below: Node,
    /// The order of instances below.
    pub order: UnionMap,
    /// What is known of parameters and threads.
    pub known: Set,
    /// Whether the threads are rounds of a loop that adds to arrays ([`super::sums`]).
    pub adds: bool,
}

/// What the threads of a launch have together, and the shape of their blocks then.
#[derive(Serialize, Deserialize)]
pub struct Shares {
    /// What is on the chip.
    pub on_chip: OnChip,
    /// How rows of threads may have a point together.
    pub team: Option<Team>,
    /// [`Launch::transposed`].
    pub transposed: Option<[f64; 2]>,
    /// The threads of a block in each dimension.
    pub block: Vec<u32>,
}

impl Band {
    /// What one of the threads does.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn code(&self) -> Result<Code, Error> {
        code_of(&self.order.intersect_domain(&self.mine)?, &self.known)
    }

    /// What the threads of a tile do where they had better go along rows of memory than each down a column ([`columns`]). What the host launches again and
    /// again is small, and stays in a cache as it is.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn along_rows(&self, description: &Description<'_>, launch: &Launch) -> Result<Option<Code>, Error> {
        let [thread] = &launch.threads[..] else { return Ok(None) };
        let is_plain = launch.around.is_empty()
            && launch.on_chip.phases.is_empty()
            && launch.team.is_none()
            && launch.transposed.is_none();
        if !is_plain || !columns::goes_down(description, &launch.code, &thread.name) {
            return Ok(None);
        }
        // No thread of a tile is behind the last one.
        let points = self.domain.apply(&self.times)?.to_set()?;
        let known = self.known.intersect(&not_above(&points, |_| vec![thread.name.clone()])?)?;
        let code = code_of(&self.order.intersect_domain(&self.mine)?, &known)?;
        Ok(columns::along_rows(&code, &thread.name))
    }

    /// Whether each of the threads of the box around some instances has one.
    fn is_box(&self, instances: &UnionSet, dimensions: usize) -> Result<bool, Error> {
        let points = instances.apply(&self.times)?;
        let names: Vec<String> = (0..dimensions).map(|at| format!("t{at}")).collect();
        let outside = names.iter().try_fold(points.context().no_instances()?, |outside, name| {
            let one = UnionMap::parse(points.context(), &format!("{{ [{}] -> [{name}] }}", names.join(", ")))?;
            // Beside a point in all dimensions but one.
            let others = names.iter().filter(|other| *other != name).cloned().collect::<Vec<_>>().join(", ");
            let others = UnionMap::parse(points.context(), &format!("{{ [{}] -> [{others}] }}", names.join(", ")))?;
            let within = points.apply(&one)?.apply(&one.reverse()?)?;
            let beside = points.apply(&others)?.apply(&others.reverse()?)?;
            outside.union(&within.intersect(&beside)?.subtract(&points)?)
        })?;
        outside.is_empty()
    }

    /// What the threads have together; of what depends on the code, none without.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn shares(
        &self,
        description: &Description<'_>,
        sets: &Sets,
        launch: &Launch,
        code: Option<&Code>,
        wishes: Wishes<'_>,
    ) -> Result<Shares, Reason> {
        let Wishes { superposition: wanted, for_processors, .. } = wishes;
        let Self { domain, times, mine, below, known, .. } = self;
        let sets = &Sets { known: known.clone(), ..sets.clone() };
        let threads = &launch.threads;
        let shape_of = if for_processors { Shape::for_processors } else { Shape::usual };
        let usual = shape_of(threads.len());
        let launch = Threads { sets, description, domain, times, threads, mine, below, shape: &usual };
        let on_chip = launch.on_chip()?;
        // Memory that is gone through once is fetched ahead along rows.
        let may_be_row = for_processors && on_chip.phases.is_empty() && has_long_rows(description);
        let mut is_row = may_be_row && !launch.has_rounds()?;
        // Statements of a launch may have boxes of their own, as at the end of a row.
        for statement in 0..description.statements.len() {
            is_row = is_row && self.is_box(&launch.instances(statement, domain)?, threads.len())?;
        }
        let block = if is_row { Shape::row(threads.len()).block } else { usual.block.clone() };
        let Some(code) = code else {
            return Ok(Shares { on_chip, team: None, transposed: None, block });
        };
        let team = Team::of(&launch, code, &on_chip, wanted)?;
        if team.as_ref().is_none_or(|team| team.taken == Taken::Never) {
            let shape = Shape::transposing(threads.len());
            let launch = Threads { shape: &shape, ..launch };
            if let Some((made, transactions)) = teams::transposed(&launch, code, &on_chip, wanted)? {
                return Ok(Shares { on_chip: made, team, transposed: Some(transactions), block: shape.block });
            }
        }
        Ok(Shares { on_chip, team, transposed: None, block: usual.block })
    }
}

/// Whether no array is known to have rows that are shorter than a block along one.
fn has_long_rows(description: &Description<'_>) -> bool {
    description.arrays.iter().all(|array| {
        let [.., rows, elements] = &array.strides[..] else { return true };
        extent(rows, elements).is_none_or(|(count, param)| param.is_some() || count >= ROW.into())
    })
}
