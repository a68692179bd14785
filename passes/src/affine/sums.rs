//! Loops whose rounds have nothing to do with one another but that they add to the same array, on processors.
//!
//! ```text
//!   for i:  for j: t[i] += a[i][j] * x[j]        tile of rounds i:  for j: t[i] += a[i][j] * x[j]     for j: y[j] += own[0][j] + own[1][j] + ..
//!           for j: y[j] += a[i][j] * t[i]                           for j: own[j] += a[i][j] * t[i]
//! ```
//!
//! Two launches in sequence read `a` twice, which is all that such a nest takes where `a` is large. So a tile of rounds has an array of its own, which
//! starts with what changes nothing, and what tiles have is combined in the end. Numbers are combined in another order then ([`reductions`]).
//!
//! [`reductions`]: crate::affine::reductions

use mlir_bridge::{
    ir::{Op, Value},
    isl::{Error, UnionSet},
};
use serde::{Deserialize, Serialize};

use crate::affine::{
    Description, Reason,
    accesses::Access,
    bands::Band,
    host::Launch,
    lines::{are_apart, has, is_beside},
    reductions::{Combination, combining},
    sets::{Range, Sets, ranges},
    threads::Phase,
};

/// An array that the rounds of a loop combine numbers into.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sum {
    /// The array, of one dimension.
    pub array: usize,
    /// How.
    pub how: Combination,
    /// The elements.
    pub elements: Range,
}

/// A loop of which each round has elements of its own but for such arrays.
pub struct Sums {
    /// Its variable.
    pub variable: usize,
    /// The arrays.
    arrays: Vec<(usize, Combination)>,
}

impl Sums {
    /// The first loop of a nest that reads an array by its rows, in one statement that combines numbers for each row and in another one that does so for
    /// each column. What is beside it in the nest has one loop at most.
    pub fn of(description: &Description<'_>) -> Option<Self> {
        let Description { statements, .. } = description;
        let outer = |statement: &usize| statements[*statement].scope.variables.first().copied();
        let all: Vec<usize> = (0..statements.len()).collect();
        let mut nests = all.chunk_by(|one, other| outer(one) == outer(other)).filter(|nest| outer(&nest[0]).is_some());
        let found = nests.find_map(|nest| Self::of_loop(description, nest))?;
        let is_short = |statement: &usize| {
            outer(statement) == Some(found.variable) || statements[*statement].scope.variables.len() < 2
        };
        all.iter().all(is_short).then_some(found)
    }

    /// The same of the loop around some statements.
    fn of_loop(description: &Description<'_>, nest: &[usize]) -> Option<Self> {
        let Description { statements, accesses, arrays, .. } = description;
        let variable = *statements[nest[0]].scope.variables.first()?;
        let is_plain = |statement: &usize| {
            let statement = &statements[*statement];
            statement.scope.variables.len() <= 2 && statement.ops.iter().all(|op| op.num_regions() == 0)
        };
        if !nest.iter().all(is_plain) {
            return None;
        }
        let mut sums = Vec::new();
        let (mut across, mut along) = (Vec::new(), Vec::new());
        for (array, what) in arrays.iter().enumerate() {
            let of = |statement: &usize| {
                let mine = &accesses[statements[*statement].accesses.clone()];
                mine.iter().filter(|access| access.array == array).collect::<Vec<_>>()
            };
            let all: Vec<&Access<'_>> = nest.iter().flat_map(of).collect();
            if all.iter().all(|access| !access.writes) {
                continue;
            }
            if are_apart(&all, variable, &[]) {
                let is_line = |access: &Access<'_>| {
                    let mut products = access.sums.iter().flat_map(|sum| sum.terms());
                    products.all(|(product, _)| product.variable.is_none_or(|other| other == variable))
                };
                let is_row = |statement: &&usize| {
                    let mine = of(statement);
                    statements[**statement].scope.variables.len() == 2
                        && mine.iter().any(|access| access.writes)
                        && mine.iter().all(|access| is_line(access))
                };
                along.extend(nest.iter().filter(is_row).copied());
                continue;
            }
            let mut how = None;
            for statement in nest.iter().filter(|statement| !of(statement).is_empty()) {
                let (combination, _) = combined(&of(statement))?;
                if *how.get_or_insert(combination) != combination || what.strides.len() != 1 {
                    return None;
                }
                across.push(*statement);
            }
            sums.push((array, how?));
        }
        // Rows that both read come from far away once.
        let rows = |statement: &usize| {
            let mine = &accesses[statements[*statement].accesses.clone()];
            let is_row = |access: &&Access<'_>| {
                let Some((last, others)) = access.sums.split_last() else { return false };
                let inner = statements[*statement].scope.variables.get(1);
                inner.is_some_and(|inner| is_beside(access, *inner) && has(last, *inner) && !has(last, variable))
                    && others.iter().any(|sum| has(sum, variable))
            };
            mine.iter().filter(is_row).map(|access| access.array).collect::<Vec<_>>()
        };
        let read_along: Vec<usize> = along.iter().flat_map(rows).collect();
        let is_shared = across.iter().flat_map(rows).any(|array| read_along.contains(&array));
        is_shared.then_some(Self { variable, arrays: sums })
    }

    /// Whether the loop is around some of the instances.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn is_around(&self, description: &Description<'_>, instances: &UnionSet) -> Result<bool, Error> {
        let outer = |statement: &usize| description.statements[*statement].scope.variables.first();
        let mine = (0..description.statements.len()).filter(|statement| outer(statement) == Some(&self.variable));
        let mine: Vec<String> = mine.map(|statement| description.instance(statement)).collect();
        let mine = UnionSet::parse(instances.context(), &format!("{{ {} }}", mine.join("; ")))?;
        Ok(!instances.intersect(&mine)?.is_empty()?)
    }

    /// Lets the threads of the loop's launch go by tiles that have arrays of their own. Whether it is that one.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn add(
        &self,
        description: &Description<'_>,
        sets: &Sets,
        launch: &mut Launch,
        band: &Band,
    ) -> Result<bool, Reason> {
        if !self.is_around(description, &band.domain)? {
            return Ok(false);
        }
        for (array, how) in &self.arrays {
            let mut all = band.domain.context().no_instances()?;
            for (access, elements) in description.accesses.iter().zip(&sets.accesses) {
                if access.array == *array {
                    all = all.union(&elements.intersect_domain(&band.domain)?.range()?)?;
                }
            }
            // What is between the first and the last one is written in the end: it is no one else's.
            let all = all.to_set()?.coalesce()?;
            let between = all.remove_divs()?.simple_hull()?.to_union()?.subtract(&all.to_union()?)?;
            if !between.is_empty()? {
                return Err(Reason::Sequential);
            }
            let elements = ranges(&all, &sets.known, |_| format!("e{array}"))?;
            let elements = elements.into_iter().next().ok_or(Reason::Shape)?;
            launch.sums.push(Sum { array: *array, how: *how, elements });
        }
        let what = &mut launch.on_chip;
        if what.phases.iter().any(|phase| matches!(phase, Phase::Pieces(_))) {
            what.phases.clear();
        }
        launch.is_tiled = true;
        Ok(true)
    }
}

/// How a statement whose accesses to an array these are combines numbers into an element of it, and the operations that do.
pub fn combined<'c>(accesses: &[&Access<'c>]) -> Option<(Combination, Vec<Op<'c>>)> {
    let [one, other] = accesses else { return None };
    let (load, store) = if one.writes { (other, one) } else { (one, other) };
    if load.writes || !store.writes || load.sums != store.sums || load.op.result(0).ty() != store.op.operand(0).ty() {
        return None;
    }
    let (mut steps, mut how) = (Vec::new(), None);
    let is_combined = comes(load.op.result(0), store.op.operand(0), &mut how, &mut steps);
    Some((how.filter(|_| is_combined)?, steps))
}

/// Whether a value is another one that numbers are combined with, in one way, and that nothing else sees.
fn comes<'c>(from: Value<'c>, to: Value<'c>, how: &mut Option<Combination>, steps: &mut Vec<Op<'c>>) -> bool {
    if to.uses().len() != 1 {
        return false;
    }
    if from == to {
        return how.is_some();
    }
    let Some(op) = to.defining_op() else { return false };
    let Some((combination, operands)) = combining(op) else { return false };
    if *how.get_or_insert(combination) != combination {
        return false;
    }
    steps.push(op);
    let is_from = operands.iter().any(|operand| comes(from, op.operand(*operand), how, steps));
    if !is_from {
        steps.pop();
    }
    is_from
}
