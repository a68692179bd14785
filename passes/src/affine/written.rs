//! Nests as they are written: no loop is moved, and which of them run in parallel is asked of the dependences.
//!
//! ```text
//!   for m in 0 .. 2:                                  host: for m, i: launch of threads j, k
//!     for i: for j, k: a[m][i + 1][j][k] -= ...;            for m: launch of threads j, k
//!     for j, k: a[m][n][j][k] = ...;
//! ```
//!
//! For isl to find a schedule takes linear programs of all statements, which are too large for some nests; this takes a question for each loop. Programs
//! have most of their parallel loops where threads are to be, and those that were written for one processor have their outer ones there.

use mlir_bridge::isl::{Context, Error, Node, Schedule, UnionMap, UnionSet};

use crate::affine::{
    Description, Reason,
    accesses::Access,
    dependences::places,
    lines::{are_apart, has, is_beside},
    poly::variable_name,
    sets::{Sets, points_at, rounds_of},
    sums::Sums,
};

/// Loops of fewer rounds altogether are no threads where there are parallel loops within them.
const FEW_ROUNDS: u64 = 64;

/// The loops of a nest.
pub enum Written {
    /// A statement.
    Leaf,
    /// Loops, one within the other, of which these run in parallel.
    Loops(Vec<(usize, bool)>, Box<Written>),
    /// One after the other, with the statements of each.
    Parts(Vec<(Vec<usize>, Written)>),
}

impl Written {
    /// The loops of what is described.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn of(description: &Description<'_>, sets: &Sets) -> Result<Self, Reason> {
        let all: Vec<usize> = (0..description.statements.len()).collect();
        let loops = Loops { description, sets };
        let mut written = loops.below(&all, 0, &mut Vec::new())?;
        written.widen(description);
        Ok(written)
    }

    /// Whether there is a parallel loop.
    fn is_parallel(&self) -> bool {
        match self {
            Self::Leaf => false,
            Self::Loops(loops, body) => loops.iter().any(|(_, parallel)| *parallel) || body.is_parallel(),
            Self::Parts(parts) => parts.iter().any(|(_, part)| part.is_parallel()),
        }
    }

    /// Whether no loop is left to one thread alone, and no thread goes along a row that its neighbours go across to.
    pub fn has_threads(&self, description: &Description<'_>) -> bool {
        match self {
            Self::Leaf => true,
            Self::Loops(loops, body) => {
                let Some(first) = loops.iter().position(|(_, parallel)| *parallel) else {
                    return !matches!(**body, Self::Leaf) && body.has_threads(description);
                };
                let (threads, rounds): (Vec<_>, Vec<_>) = loops[first..].iter().partition(|(_, parallel)| *parallel);
                let goes_along = |(variable, _): &(usize, bool)| goes_along(description, *variable);
                threads.iter().any(goes_along) || !(rounds.iter().any(goes_along) || body.goes_along(description))
            }
            Self::Parts(parts) => parts.iter().all(|(_, part)| part.has_threads(description)),
        }
    }

    /// Whether one of the loops goes along rows.
    fn goes_along(&self, description: &Description<'_>) -> bool {
        match self {
            Self::Leaf => false,
            Self::Loops(loops, body) => {
                loops.iter().any(|(variable, _)| goes_along(description, *variable)) || body.goes_along(description)
            }
            Self::Parts(parts) => parts.iter().any(|(_, part)| part.goes_along(description)),
        }
    }

    /// Leaves the threads to inner loops where outer ones have few rounds.
    fn widen(&mut self, description: &Description<'_>) {
        match self {
            Self::Leaf => {}
            Self::Parts(parts) => parts.iter_mut().for_each(|(_, part)| part.widen(description)),
            Self::Loops(loops, body) => {
                body.widen(description);
                let mut first = 0;
                while let Some(from) = loops[first..].iter().position(|(_, parallel)| *parallel).map(|at| first + at) {
                    let to =
                        loops[from..].iter().position(|(_, parallel)| !parallel).map_or(loops.len(), |at| from + at);
                    let counts = loops[from..to].iter().map(|(variable, _)| count(description, *variable));
                    let is_few = counts.product::<Option<u64>>().is_some_and(|count| count < FEW_ROUNDS);
                    let is_parallel_below = loops[to..].iter().any(|(_, parallel)| *parallel) || body.is_parallel();
                    if !is_few || !is_parallel_below {
                        break;
                    }
                    loops[from..to].iter_mut().for_each(|(_, parallel)| *parallel = false);
                    first = to;
                }
            }
        }
    }

    /// The same where the rounds of a loop add to arrays: if it is a loop of many rounds whose inner ones are not parallel.
    pub fn with_sums(mut self, description: &Description<'_>, sums: &Sums) -> Option<Self> {
        let is_few = count(description, sums.variable).is_some_and(|count| count < FEW_ROUNDS);
        let is_it = |part: &&mut Self| matches!(part, Self::Loops(loops, _) if loops[0].0 == sums.variable);
        let parts = match &mut self {
            Self::Parts(parts) => parts.iter_mut().map(|(_, part)| part).collect(),
            whole => vec![whole],
        };
        let Some(Self::Loops(loops, _)) = parts.into_iter().find(is_it) else { return None };
        loops[0].1 = true;
        let is_alone = loops.get(1).is_none_or(|(_, parallel)| !parallel);
        (is_alone && !is_few).then_some(self)
    }

    /// The same as a schedule of `domain`.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn schedule(&self, description: &Description<'_>, domain: &UnionSet) -> Result<Schedule, Reason> {
        let all: Vec<usize> = (0..description.statements.len()).collect();
        let place = Schedule::unordered(domain)?.root()?.child()?;
        Ok(self.insert(domain.context(), description, &all, place)?.schedule()?)
    }

    /// Inserts it at `place`; gives the place again.
    fn insert(
        &self,
        context: &Context,
        description: &Description<'_>,
        statements: &[usize],
        place: Node,
    ) -> Result<Node, Error> {
        match self {
            Self::Leaf => Ok(place),
            Self::Parts(parts) => {
                let filters = parts.iter().map(|(part, _)| instances(description, part, context));
                let mut place = place.insert_parts(&filters.collect::<Result<Vec<_>, _>>()?, true)?;
                for (at, (part, written)) in parts.iter().enumerate() {
                    let below = place.child_at(at)?.child()?;
                    place = written.insert(context, description, part, below)?.parent()?.parent()?;
                }
                Ok(place)
            }
            Self::Loops(loops, body) => {
                let mut place = place;
                let bands: Vec<&[(usize, bool)]> = loops.chunk_by(|(_, one), (_, other)| *one && *other).collect();
                for band in &bands {
                    let names: Vec<String> = band.iter().map(|(variable, _)| variable_name(*variable)).collect();
                    let times = rounds_of(context, description, statements, &names)?;
                    let coincident: Vec<bool> = band.iter().map(|(_, parallel)| *parallel).collect();
                    place = place.insert_band(&times, &coincident, coincident[0])?.child()?;
                }
                place = body.insert(context, description, statements, place)?;
                bands.iter().try_fold(place, |place, _| place.parent())
            }
        }
    }
}

/// Whether most of the accesses that a loop of many rounds has to do with are to neighbouring elements in neighbouring rounds.
fn goes_along(description: &Description<'_>, variable: usize) -> bool {
    if count(description, variable).is_some_and(|count| count < FEW_ROUNDS) {
        return false;
    }
    let is_in = |access: &&Access<'_>| access.sums.iter().any(|sum| has(sum, variable));
    let (beside, others): (Vec<_>, Vec<_>) =
        description.accesses.iter().filter(is_in).partition(|access| is_beside(access, variable));
    beside.len() > others.len()
}

/// How often a loop goes round, where its bounds are numbers.
fn count(description: &Description<'_>, variable: usize) -> Option<u64> {
    let name = variable_name(variable);
    let statement = description.statements.iter().find(|statement| statement.scope.variables.contains(&variable))?;
    statement.scope.constraints.iter().find_map(|text| {
        let (low, high) = text.split_once(&format!(" <= {name} < "))?;
        u64::try_from(high.parse::<i64>().ok()? - low.parse::<i64>().ok()?).ok()
    })
}

/// The instances of statements.
fn instances(description: &Description<'_>, statements: &[usize], context: &Context) -> Result<UnionSet, Error> {
    let all: Vec<String> = statements.iter().map(|statement| description.instance(*statement)).collect();
    UnionSet::parse(context, &format!("{{ {} }}", all.join("; ")))
}

/// The loops of a nest of which it is asked whether they run in parallel.
struct Loops<'d, 'c> {
    description: &'d Description<'c>,
    sets: &'d Sets,
}

impl Loops<'_, '_> {
    /// What is at a place of the times of statements, and behind it, within loops with such variables.
    fn below(&self, statements: &[usize], mut place: usize, around: &mut Vec<usize>) -> Result<Written, Reason> {
        let (mut loops, outer) = (Vec::new(), around.len());
        let body = loop {
            let mut parts: Vec<(Option<&str>, Vec<usize>)> = Vec::new();
            for statement in statements {
                let time = self.description.statements[*statement].times.get(place).map(String::as_str);
                match parts.last_mut().filter(|(last, _)| *last == time) {
                    Some((_, part)) => part.push(*statement),
                    None => parts.push((time, vec![*statement])),
                }
            }
            match parts[..] {
                [(None, _)] => break Written::Leaf,
                [(Some(time), _)] => {
                    place += 1;
                    if let Some(variable) = time.strip_prefix('i').and_then(|number| number.parse().ok()) {
                        loops.push((variable, self.is_parallel(statements, variable, around)?));
                        around.push(variable);
                    }
                }
                _ => {
                    let part = |(_, part): (_, Vec<usize>)| {
                        let written = self.below(&part, place, around)?;
                        Ok::<_, Reason>((part, written))
                    };
                    break Written::Parts(parts.into_iter().map(part).collect::<Result<_, _>>()?);
                }
            }
        };
        around.truncate(outer);
        Ok(if loops.is_empty() { body } else { Written::Loops(loops, Box::new(body)) })
    }

    /// Whether no two rounds of a loop have to stay in order, in one round of those around.
    fn is_parallel(&self, statements: &[usize], variable: usize, around: &[usize]) -> Result<bool, Reason> {
        let Description { accesses, arrays, .. } = self.description;
        let of = |statement: &usize| self.description.statements[*statement].accesses.clone();
        let body: Vec<&Access<'_>> = statements.iter().flat_map(of).map(|number| &accesses[number]).collect();
        for array in 0..arrays.len() {
            let all: Vec<&Access<'_>> = body.iter().copied().filter(|access| access.array == array).collect();
            let is_written = all.iter().any(|access| access.writes);
            if is_written
                && !are_apart(&all, variable, around)
                && self.are_related(statements, variable, around, array)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether some accesses to an array are in two rounds of a loop and one of those around.
    fn are_related(
        &self,
        statements: &[usize],
        variable: usize,
        around: &[usize],
        array: usize,
    ) -> Result<bool, Error> {
        let Self { description, sets: Sets { domain, accesses, .. } } = self;
        let context = domain.context();
        let rounds = rounds_of(context, description, statements, &[variable_name(variable)])?;
        let names: Vec<String> = around.iter().copied().map(variable_name).collect();
        let times = rounds_of(context, description, statements, &names)?;
        let fixed: Vec<String> = names.iter().map(|name| name.replace('i', "r")).collect();
        let round = points_at(&times, &fixed, domain)?;
        let same = UnionMap::parse(context, "{ [o] -> [o] }")?;
        let is_in = |statement, access: &Access<'_>| access.array == array && statements.contains(&statement);
        let places = places(description, &round, accesses, is_in)?;
        for (at, one) in places.iter().enumerate() {
            let touched = rounds.reverse()?.apply_range(&one.relation)?;
            for other in places[at..].iter().filter(|other| one.writes || other.writes) {
                let between = touched.apply_range(&other.relation.reverse()?)?.apply_range(&rounds)?;
                if !between.is_subset(&same)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
