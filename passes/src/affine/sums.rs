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

use crate::affine::{
    Description, Reason,
    accesses::Access,
    bands::Band,
    host::{Launch, Sum},
    lines::{are_apart, has, is_beside},
    reductions::{Combination, combining},
    sets::{Sets, ranges},
    threads::Phase,
};

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
        let variable = *description.statements[nest[0]].scope.variables.first()?;
        let rounds = Rounds { description, nest, variable };
        if !nest.iter().all(|statement| rounds.is_plain(*statement)) {
            return None;
        }
        let (mut arrays, mut across, mut along) = (Vec::new(), Vec::new(), Vec::new());
        for array in 0..description.arrays.len() {
            match rounds.written(array)? {
                Written::Never => {}
                Written::Own(statements) => along.extend(statements),
                Written::Sum(how, statements) => {
                    arrays.push((array, how));
                    across.extend(statements);
                }
            }
        }
        // Rows that both read come from far away once.
        let rows = |statements: Vec<usize>| -> Vec<usize> {
            statements.into_iter().flat_map(|statement| rounds.rows(statement)).collect()
        };
        let read_along = rows(along);
        let is_shared = rows(across).into_iter().any(|array| read_along.contains(&array));
        is_shared.then_some(Self { variable, arrays })
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

    /// Lets the threads of the loop's launch go by tiles that have arrays of their own.
    ///
    /// # Errors
    /// Not all between two elements of an array is added to, or isl's budget is spent.
    pub fn add(
        &self,
        description: &Description<'_>,
        sets: &Sets,
        launch: &mut Launch,
        band: &Band,
    ) -> Result<(), Reason> {
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
        Ok(())
    }
}

/// What the rounds of a loop do to an array.
enum Written {
    /// They leave it as it is.
    Never,
    /// Each has elements of its own, one of which these statements write in a loop.
    Own(Vec<usize>),
    /// They combine numbers into it, by these statements.
    Sum(Combination, Vec<usize>),
}

/// The rounds of a loop around some statements.
struct Rounds<'d, 'c> {
    description: &'d Description<'c>,
    nest: &'d [usize],
    variable: usize,
}

impl<'d, 'c> Rounds<'d, 'c> {
    /// The accesses of a statement.
    fn accesses(&self, statement: usize) -> &'d [Access<'c>] {
        &self.description.accesses[self.description.statements[statement].accesses.clone()]
    }

    /// The same to an array.
    fn accesses_to(&self, statement: usize, array: usize) -> Vec<&'d Access<'c>> {
        self.accesses(statement).iter().filter(|access| access.array == array).collect()
    }

    /// Whether a statement has one loop more at most, and nothing is decided in it.
    fn is_plain(&self, statement: usize) -> bool {
        let what = &self.description.statements[statement];
        what.scope.variables.len() <= 2 && what.ops.iter().all(|op| op.num_regions() == 0)
    }

    /// What becomes of an array; none for what keeps rounds in order.
    fn written(&self, array: usize) -> Option<Written> {
        let to = |statement: &usize| self.accesses_to(*statement, array);
        let all: Vec<&Access<'_>> = self.nest.iter().flat_map(to).collect();
        if !all.iter().any(|access| access.writes) {
            return Some(Written::Never);
        }
        if are_apart(&all, self.variable, &[]) {
            let one = self.nest.iter().copied().filter(|statement| self.writes_one(*statement, array));
            return Some(Written::Own(one.collect()));
        }
        let statements: Vec<usize> = self.nest.iter().copied().filter(|statement| !to(statement).is_empty()).collect();
        let mut ways = statements.iter().map(|statement| combined(&to(statement)).map(|(how, _)| how));
        let how = ways.next()??;
        let is_sum = ways.all(|other| other == Some(how)) && self.description.arrays[array].strides.len() == 1;
        is_sum.then_some(Written::Sum(how, statements))
    }

    /// Whether a statement in an inner loop writes the same element of an array in all of its rounds.
    fn writes_one(&self, statement: usize, array: usize) -> bool {
        let accesses = self.accesses_to(statement, array);
        let mut products = accesses.iter().flat_map(|access| &access.sums).flat_map(|sum| sum.terms());
        self.description.statements[statement].scope.variables.len() == 2
            && accesses.iter().any(|access| access.writes)
            && products.all(|(product, _)| product.variable.is_none_or(|other| other == self.variable))
    }

    /// The arrays of which a statement accesses a row in its inner loop, another one in each round of the outer one.
    fn rows(&self, statement: usize) -> Vec<usize> {
        let is_row = |access: &&Access<'_>| {
            let Some((last, others)) = access.sums.split_last() else { return false };
            let inner = self.description.statements[statement].scope.variables.get(1);
            inner.is_some_and(|inner| is_beside(access, *inner) && has(last, *inner) && !has(last, self.variable))
                && others.iter().any(|sum| has(sum, self.variable))
        };
        self.accesses(statement).iter().filter(is_row).map(|access| access.array).collect()
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
