//! Nests whose outer loops go through lines of which each has elements of its own.
//!
//! ```text
//!   for k, j: for i: a[k][i][j] -= b[k][i][j] * a[k][i - 1][j]      a thread for each (k, j) goes down its line, as the program does
//!   for i: for k, j: ...                                            the same: what lines do to one another is nothing
//! ```
//!
//! That they are such is seen by the subscripts, and threads do what is below in the order of the program. So there is nothing to ask of isl
//! about dependences and schedules, which take it the longer the more statements there are, and what a line has is loaded once for all of them.

use mlir_bridge::isl::{Schedule, Term, UnionMap};

use crate::affine::{
    Description, Reason,
    accesses::Access,
    plan::Plan,
    poly::{Poly, Product, variable_name},
    sets::{Range, Sets},
};

/// So many dimensions the threads of lines have at most.
const MOST_DIMENSIONS: usize = 3;

/// Those of the loops around all of a nest whose rounds are such lines.
pub struct Lines {
    /// Their variables, from the outermost.
    variables: Vec<usize>,
    /// Where these are in the times of all statements, and what says nothing of their order.
    places: Vec<usize>,
}

impl Lines {
    /// The lines of a nest of several statements, of which neighbours have elements beside one another; what they read is no other line's either, but
    /// what none of them has a place of its own in.
    pub fn of(description: &Description<'_>) -> Option<Self> {
        let Description { statements, accesses, arrays, .. } = description;
        let (first, others) = statements.split_first()?;
        let is_common = |at: usize| others.iter().all(|other| other.times.get(at) == first.times.get(at));
        let common = (0..first.times.len()).take_while(|at| is_common(*at)).count();
        let of = |array: usize| accesses.iter().filter(move |access| access.array == array);
        let written: Vec<Vec<&Access<'_>>> = (0..arrays.len())
            .map(|array| of(array).collect())
            .filter(|all: &Vec<&Access<'_>>| all.iter().any(|access| access.writes))
            .collect();
        let (mut variables, mut places, mut loops) = (Vec::new(), Vec::new(), first.scope.variables.iter());
        for place in (0..common).filter(|place| first.times[*place].starts_with('i')) {
            let variable = *loops.next()?;
            if written.iter().all(|accesses| are_apart(accesses, variable, &[])) {
                variables.push(variable);
                places.push(place);
            }
        }
        // Neighbours are in the innermost of them, most often.
        let further = variables.len().saturating_sub(MOST_DIMENSIONS);
        variables.drain(..further);
        places.drain(..further);
        places.extend((0..common).filter(|place| !first.times[*place].starts_with('i')));
        let are_beside = |variable: &usize| accesses.iter().all(|access| is_beside(access, *variable));
        let is_own = |access| is_own(access, &variables);
        let are_lines = !others.is_empty() && variables.iter().any(are_beside) && accesses.iter().all(is_own);
        are_lines.then_some(Self { variables, places })
    }

    /// The lines as threads, and what each of them does in the order of the program.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn schedule(&self, description: &Description<'_>, sets: &Sets) -> Result<Schedule, Reason> {
        let longest = description.statements.iter().map(|statement| statement.times.len()).max().unwrap_or(0);
        let times = |of: &dyn Fn(&[String]) -> Vec<String>| {
            let all = description.statements.iter().enumerate().map(|(number, statement)| {
                format!("{} -> [{}]", description.instance(number), of(&statement.times).join(", "))
            });
            let text = format!("{}{{ {} }}", description.params(), all.collect::<Vec<_>>().join("; "));
            UnionMap::parse(sets.domain.context(), &text)?.intersect_domain(&sets.domain)
        };
        let threads = times(&|_| self.variables.iter().copied().map(variable_name).collect())?;
        let below = times(&|all| {
            let is_below = |(place, _): &(usize, &String)| !self.places.contains(place);
            let mut rest: Vec<String> = all.iter().enumerate().filter(is_below).map(|(_, time)| time.clone()).collect();
            rest.resize(longest - self.places.len(), "0".into());
            rest
        })?;
        let top = Schedule::unordered(&sets.domain)?.root()?.child()?;
        let coincident = vec![true; self.variables.len()];
        Ok(top.insert_band(&below, &[], false)?.insert_band(&threads, &coincident, true)?.schedule()?)
    }
}

/// Whether a launch of a plan has a block of threads, as far as is known.
pub fn has_threads_enough(plan: &Plan) -> bool {
    let count = |range: &Range| match (&range.first, &range.last) {
        (Term::Number(first), Term::Number(last)) => Some(last - first + 1),
        _ => None,
    };
    plan.grids.iter().any(|(threads, block)| {
        let known: Option<i64> = threads.ranges.iter().map(count).product();
        known.is_none_or(|known| known >= block.iter().copied().map(i64::from).product())
    })
}

/// The products of a sum that a variable is in.
fn with(sum: &Poly, variable: usize) -> impl Iterator<Item = (usize, i64)> {
    sum.terms()
        .filter(move |(product, _)| product.variable == Some(variable))
        .map(|(product, factor)| (product.params.len(), factor))
}

/// Whether a variable is in a sum.
pub fn has(sum: &Poly, variable: usize) -> bool {
    with(sum, variable).next().is_some()
}

/// Whether two rounds of a loop never access one element of an array, in one round of those around: one of its subscripts is the same everywhere, and
/// another one in each round.
pub fn are_apart(accesses: &[&Access<'_>], variable: usize, around: &[usize]) -> bool {
    let Some((first, others)) = accesses.split_first() else { return true };
    let is_alone = |sum: &Poly| {
        let mut variables = sum.terms().filter_map(|(product, _)| product.variable);
        has(sum, variable) && variables.all(|other| other == variable || around.contains(&other))
    };
    let mut sums = first.sums.iter().enumerate();
    sums.any(|(at, sum)| is_alone(sum) && others.iter().all(|other| other.sums[at] == *sum))
}

/// Whether neighbouring rounds of a loop access neighbouring elements, or the same.
pub fn is_beside(access: &Access<'_>, variable: usize) -> bool {
    access.sums.split_last().is_none_or(|(last, others)| {
        with(last, variable).all(|(params, factor)| params == 0 && factor.abs() == 1)
            && !others.iter().any(|sum| has(sum, variable))
    })
}

/// Whether what is accessed in several rounds of further loops is that of one line, or the same for all of them.
fn is_own(access: &Access<'_>, lines: &[usize]) -> bool {
    let used = lines.iter().filter(|line| access.sums.iter().any(|sum| has(sum, **line))).count();
    let is_line = |product: &Product| product.variable.is_none_or(|other| lines.contains(&other));
    let is_once = access.sums.iter().all(|sum| sum.terms().all(|(product, _)| is_line(product)));
    is_once || used == lines.len() || used == 0
}
