//! Nests whose outermost loop has to go round by round for all of its statements, while each does in parallel what it does in a round.
//!
//! ```text
//!   for t: for i: b[i] = f(a[i - 1], a[i + 1]);      host: for t: launch of threads i; launch of threads i
//!          for i: a[i] = b[i];
//! ```
//!
//! isl finds the same, but tries first whether some dimension carries nothing of the nest as a whole. That is a linear program of all coefficients of all
//! statements, and with conditions for each dependence; to see that there is none takes it the longer the more there are. Such a dimension is the
//! same at both ends of each dependence, and so for all pairs that the same equations hold of: which is soon asked.

use mlir_bridge::isl::{Error, Node, Schedule, Set, Step, UnionMap, UnionSet};

use crate::affine::{
    Description, Reason,
    dependences::Dependences,
    plan::coincident,
    poly::variable_name,
    sets::{points_at, rounds_of},
    sizes::Copy,
};

/// What the round that all is within is called.
const ROUND: &str = "r";

/// A schedule of rounds of the outermost loop, if it is such a nest.
///
/// # Errors
/// isl's budget is spent.
pub fn schedule(
    description: &Description<'_>,
    domain: &UnionSet,
    dependences: &Dependences,
) -> Result<Option<Schedule>, Reason> {
    let Some(variable) = outermost(description) else { return Ok(None) };
    if !dependences.are_circular(description.statements.len()) {
        return Ok(None);
    }
    let Dependences { all, flow, .. } = dependences;
    let context = domain.context();
    let parse = |text: &str| UnionMap::parse(context, text);
    let statements: Vec<usize> = (0..description.statements.len()).collect();
    let rounds = rounds_of(context, description, &statements, &[variable_name(variable)])?;
    let between = rounds.reverse()?.apply_range(all)?.apply_range(&rounds)?;
    if between.is_subset(&parse("{ [o] -> [o] }")?)? {
        return Ok(None);
    }
    let none = parse("{ }")?;
    let same = all.affine_hull()?;
    context.schedule_whole(true);
    let apart = Schedule::compute(domain, &none, &same, &none);
    context.schedule_whole(false);
    let has_same = match apart {
        Ok(apart) => has_same(&apart.root()?.child()?)?,
        // There is nothing to carry.
        Err(Error::Failed(_)) => false,
        Err(Error::Budget) => return Err(Reason::Budget),
    };
    if has_same {
        return Ok(None);
    }
    let round = points_at(&rounds, &[ROUND.into()], domain)?;
    let within = |map: &UnionMap| map.intersect_domain(&round)?.intersect_range(&round);
    let (all, flow) = (within(all)?, within(flow)?);
    let inner = Schedule::compute(&round, &all, &all, &flow)?.root()?.child()?;
    if !are_parallel(&inner)? {
        return Ok(None);
    }
    let place = Schedule::unordered(domain)?.root()?.child()?;
    let place = place.insert_band(&rounds, &[false], false)?.child()?;
    let copy = Copy { values: Set::parse(context, "{ : }")?, names: vec![ROUND.into()] };
    Ok(Some(copy.below(&inner, place)?.schedule()?))
}

/// Whether there is a dimension that is the same at both ends of all that is related. Where there is none isl takes statements one after the other.
fn has_same(node: &Node) -> Result<bool, Error> {
    match node.step() {
        Step::Band => Ok(coincident(node)? > 0),
        step => Ok(step != Step::Sequence),
    }
}

/// Whether all outermost bands have one.
fn are_parallel(node: &Node) -> Result<bool, Error> {
    match node.step() {
        Step::Band => Ok(coincident(node)? > 0),
        _ => node.children()?.iter().try_fold(true, |are, child| Ok(are && are_parallel(child)?)),
    }
}

/// The loop around all statements, before and behind which there is none.
fn outermost(description: &Description<'_>) -> Option<usize> {
    let (first, others) = description.statements.split_first()?;
    let place = first.times.iter().position(|time| time.starts_with('i'))?;
    let is_around = others.iter().all(|other| other.times.get(..=place) == first.times.get(..=place));
    first.scope.variables.first().copied().filter(|_| is_around)
}
